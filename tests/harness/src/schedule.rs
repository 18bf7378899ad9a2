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

/// The right to run one test; it ends when dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    schedule: &'a Schedule,
    name: String,
}

impl Turn<'_> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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
    /// Tests whose names hold one of the words, or all without words. `alone` lists the beginnings of the names of tests
    /// that run alone, one a line, with the reason behind `#`.
    ///
    /// # Errors
    /// When a line of `alone` fits no test.
    pub fn new(all: &[String], words: &[String], alone: &str) -> Result<Self> {
        let begins = alone.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let begins: Vec<&str> = begins.filter(|begin| !begin.is_empty()).collect();
        for begin in &begins {
            ensure!(
                all.iter().any(|name| name.starts_with(begin)),
                "alone.txt: no test is called {begin}..."
            );
        }
        let mut state = State::default();
        for name in all
            .iter()
            .filter(|name| words.is_empty() || words.iter().any(|word| name.contains(word.as_str())))
        {
            let is_alone = begins.iter().any(|begin| name.starts_with(begin));
            if is_alone { &mut state.alone } else { &mut state.shared }.push_back(name.clone());
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
                return Some(Turn { schedule: self, name });
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

    #[test]
    fn tests_that_run_alone_come_last() {
        let all = names(&["judged::a", "page::b", "page::c"]);
        let alone = "# why\njudged::  # verdicts\n\n";
        assert_eq!(taken(&Schedule::new(&all, &[], alone).unwrap()), ["page::b", "page::c", "judged::a"]);
        let one = Schedule::new(&all, &names(&["::a", "::c"]), alone).unwrap();
        assert_eq!((one.len(), one.len_alone(), taken(&one)), (2, 1, names(&["page::c", "judged::a"])));
    }

    #[test]
    fn a_line_that_fits_no_test_is_an_error() {
        let error = Schedule::new(&names(&["page::b"]), &[], "pages::").unwrap_err();
        assert!(error.to_string().contains("pages::"), "{error}");
    }

    #[test]
    fn nothing_runs_beside_a_test_that_runs_alone() {
        let schedule =
            Schedule::new(&names(&["page::b", "judged::a", "judged::c"]), &[], "judged::").unwrap();
        let shared = schedule.next().unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| taken(&schedule));
            drop(shared);
            assert_eq!(other.join().unwrap(), ["judged::a", "judged::c"]);
        });
        assert!(schedule.next().is_none());
    }
}
