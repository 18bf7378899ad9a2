//! Which test runs when: first those that share the processors, then those that run alone.

use anyhow::{Result, ensure};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct State {
    shared: VecDeque<String>,
    alone: VecDeque<String>,
    running: usize,
    alone_runs: bool,
}

/// The tests that still have to run.
#[derive(Debug, Default)]
pub struct Schedule {
    state: Mutex<State>,
    ended: Condvar,
}

/// Which tests are special: each list has the beginnings of names, one a line, with the reason behind `#`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Lists<'a> {
    /// Tests that run alone.
    pub alone: &'a str,
    /// Tests that only the full check runs.
    pub full_only: &'a str,
    /// Whether this is the full check.
    pub is_full: bool,
}

/// The beginnings of names in a list; each fits a test.
fn name_starts<'a>(file: &str, list: &'a str, all: &[String]) -> Result<Vec<&'a str>> {
    let starts = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let starts: Vec<&str> = starts.filter(|start| !start.is_empty()).collect();
    for start in &starts {
        ensure!(all.iter().any(|name| name.starts_with(start)), "{file}: no test is called {start}...");
    }
    Ok(starts)
}

fn starts_with_one(name: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.starts_with(start))
}

/// The right to run one test; it ends when dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    schedule: &'a Schedule,
    name: String,
    is_alone: bool,
}

impl Turn<'_> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether nothing runs beside it.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.schedule.lock();
        state.running -= 1;
        state.alone_runs = false;
        self.schedule.ended.notify_all();
    }
}

impl Schedule {
    /// Tests whose names hold one of the words; without words all, but those that the lists leave to the full check.
    ///
    /// # Errors
    /// When a line of the lists fits no test.
    pub fn new(all: &[String], words: &[String], lists: &Lists<'_>) -> Result<Self> {
        let alone = name_starts("alone.txt", lists.alone, all)?;
        let full_only = name_starts("full.txt", lists.full_only, all)?;
        let mut state = State::default();
        for name in all {
            let is_wanted = if words.is_empty() {
                lists.is_full || !starts_with_one(name, &full_only)
            } else {
                words.iter().any(|word| name.contains(word.as_str()))
            };
            if is_wanted {
                let queue = if starts_with_one(name, &alone) { &mut state.alone } else { &mut state.shared };
                queue.push_back(name.clone());
            }
        }
        Ok(Self { state: Mutex::new(state), ended: Condvar::new() })
    }

    /// How many have not begun.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.lock();
        state.shared.len() + state.alone.len()
    }

    /// How many of them run alone.
    #[must_use]
    pub fn len_alone(&self) -> usize {
        self.lock().alone.len()
    }

    /// Whether all have begun.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next test that may run; `None` when all have begun.
    pub fn next(&self) -> Option<Turn<'_>> {
        let mut state = self.lock();
        loop {
            let name = if state.alone_runs {
                None
            } else if let Some(name) = state.shared.pop_front() {
                Some(name)
            } else if state.alone.is_empty() {
                return None;
            } else if state.running == 0 {
                state.alone_runs = true;
                state.alone.pop_front()
            } else {
                None
            };
            if let Some(name) = name {
                state.running += 1;
                return Some(Turn { schedule: self, name, is_alone: state.alone_runs });
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn taken(schedule: &Schedule) -> Vec<String> {
        std::iter::from_fn(|| schedule.next().map(|turn| turn.name().to_owned())).collect()
    }

    fn alone(list: &str) -> Lists<'_> {
        Lists { alone: list, ..Lists::default() }
    }

    #[test]
    fn tests_that_run_alone_come_last() {
        let all = names(&["noisy::a", "page::b", "page::c"]);
        let lists = alone("# why\nnoisy::  # verdicts\n\n");
        assert_eq!(taken(&Schedule::new(&all, &[], &lists).unwrap()), ["page::b", "page::c", "noisy::a"]);
        let one = Schedule::new(&all, &names(&["::a", "::c"]), &lists).unwrap();
        assert_eq!((one.len(), one.len_alone()), (2, 1));
        let turn_of = |turn: Turn<'_>| (turn.name().to_owned(), turn.is_alone());
        let turns: Vec<_> = std::iter::from_fn(|| one.next().map(turn_of)).collect();
        assert_eq!(turns, [("page::c".to_owned(), false), ("noisy::a".to_owned(), true)]);
    }

    #[test]
    fn a_line_that_fits_no_test_is_an_error() {
        let all = names(&["page::b"]);
        for (alone, full_only, file) in [("pages::", "", "alone.txt"), ("", "pages::", "full.txt")] {
            let error = Schedule::new(&all, &[], &Lists { alone, full_only, is_full: false }).unwrap_err();
            assert!(error.to_string().contains(file) && error.to_string().contains("pages::"), "{error}");
        }
    }

    #[test]
    fn tests_of_the_full_check_run_there_or_when_named() {
        let all = names(&["page::b", "million::c"]);
        let short = Lists { full_only: "million::  # minutes", ..Lists::default() };
        assert_eq!(taken(&Schedule::new(&all, &[], &short).unwrap()), ["page::b"]);
        assert_eq!(taken(&Schedule::new(&all, &names(&["million"]), &short).unwrap()), ["million::c"]);
        let full = Lists { is_full: true, ..short };
        assert_eq!(Schedule::new(&all, &[], &full).unwrap().len(), 2);
    }

    #[test]
    fn nothing_runs_beside_a_test_that_runs_alone() {
        let all = names(&["page::b", "noisy::a", "noisy::c"]);
        let schedule = Schedule::new(&all, &[], &alone("noisy::")).unwrap();
        let shared = schedule.next().unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| taken(&schedule));
            drop(shared);
            assert_eq!(other.join().unwrap(), ["noisy::a", "noisy::c"]);
        });
        assert!(schedule.next().is_none());
    }
}
