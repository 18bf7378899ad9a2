//! Threads that serve whoever comes first, as a master deals tasks to workers.
//!
//! Who gets which task is a matter of chance there: would all be a little earlier, others would come first. So nobody there
//! has to wait for those who came before it, and a worker that is always busy would not be earlier, but do less. What is
//! gained belongs to the tasks instead. Workers whose turns are shorter let all tasks together be done in less time: the
//! rates at which workers come add up, and each task that is dealt is earlier by what the server's level says until then.

use super::thread::ThreadId;
use super::whatif::{Gains, WHATIFS};
use mpiscope_model::Nanoseconds;
use rustc_hash::FxHashMap;

/// Senders of whom it is remembered who came after them.
const MOST_SENDERS: usize = 256;
/// After so many turns it is looked whether who comes next can be foreseen.
const ENOUGH_TURNS: u32 = 256;
/// Who came so many times more than another does not come in rounds.
const MORE_TURNS: u32 = 4;
/// No turn would be shorter than this part of what it was.
const SHORTEST: f64 = 0.05;

/// Who comes when to a thread, one at a time.
#[derive(Debug, Default)]
pub(super) struct Serving {
    last: Option<ThreadId>,
    /// By sender, who came after it the last time, and how often it came.
    senders: FxHashMap<ThreadId, (ThreadId, u32)>,
    foreseen: u32,
    unforeseen: u32,
    order: Order,
}

#[derive(Debug, Default)]
enum Order {
    #[default]
    Unknown,
    Fixed,
    Chance(Box<Clients>),
}

/// Those who are served.
#[derive(Debug, Default)]
struct Clients {
    /// By how much a task that is dealt now would be earlier.
    level: Gains,
    /// When each was served, the level then, and how often it would come in a time.
    served: FxHashMap<ThreadId, Served>,
    /// How often all of them would.
    rates: [f64; WHATIFS],
}

#[derive(Debug, Clone, Copy)]
struct Served {
    at_ns: Nanoseconds,
    level: Gains,
    rates: [f64; WHATIFS],
}

impl Serving {
    /// A message of somebody has been received alone, and on its way so much was gained. Says what that counts for.
    pub(super) fn come(&mut self, from: ThreadId, at_ns: Nanoseconds, gained: Gains) -> Gains {
        match &mut self.order {
            Order::Fixed => gained,
            Order::Unknown => {
                if let Some(last) = self.last.replace(from) {
                    self.turn(last, from);
                }
                gained
            }
            Order::Chance(clients) => clients.come(from, at_ns, &gained),
        }
    }

    /// Whether it deals tasks to somebody.
    pub(super) fn deals_to(&self, client: ThreadId) -> bool {
        matches!(&self.order, Order::Chance(clients) if clients.served.contains_key(&client))
    }

    fn turn(&mut self, last: ThreadId, from: ThreadId) {
        if self.senders.len() < MOST_SENDERS || self.senders.contains_key(&last) {
            let (after, turns) = self.senders.entry(last).or_insert((from, 0));
            *turns += 1;
            // Several messages of one are one turn as far as order goes.
            if last != from {
                let is_foreseen = std::mem::replace(after, from) == from;
                self.foreseen += u32::from(is_foreseen && *turns > 1);
                self.unforeseen += u32::from(!is_foreseen);
            }
        }
        if self.foreseen + self.unforeseen >= ENOUGH_TURNS {
            self.decide();
        }
    }

    fn decide(&mut self) {
        let turns = self.senders.values().map(|(_, turns)| *turns);
        let (most, least) = (turns.clone().max().unwrap_or_default(), turns.min().unwrap_or_default());
        // Half of the turns of a fixed order are not foreseen where one comes between all others.
        if self.unforeseen * 5 <= (self.foreseen + self.unforeseen) * 3 {
            self.order = Order::Fixed;
        } else if most >= least + MORE_TURNS {
            self.order = Order::Chance(Box::default());
        }
        (self.foreseen, self.unforeseen) = (0, 0);
        if !matches!(self.order, Order::Unknown) {
            self.senders = FxHashMap::default();
        }
    }
}

impl Clients {
    fn come(&mut self, from: ThreadId, at_ns: Nanoseconds, gained: &Gains) -> Gains {
        let before = self.served.get(&from).copied();
        let mut rates = before.map_or([0.0; WHATIFS], |before| before.rates);
        if let Some(before) = before {
            let turn_ns = at_ns.saturating_sub(before.at_ns).max(1) as f64;
            let since = gained.with(&before.level, |gained, level| gained - level);
            let mut more = Gains::default();
            for (case, rate) in rates.iter_mut().enumerate() {
                let would_ns = (turn_ns - since.0[case] as f64).max(SHORTEST * turn_ns);
                self.rates[case] += 1.0 / would_ns - *rate;
                *rate = 1.0 / would_ns;
                more.0[case] = ((turn_ns - would_ns) * *rate / self.rates[case]) as i64;
            }
            self.level += more;
        }
        self.served.insert(from, Served { at_ns, level: self.level, rates });
        self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::WhatIf;

    fn quiet(ns: i64) -> Gains {
        let mut gains = Gains::default();
        gains[WhatIf::Quiet] = ns;
        gains
    }

    /// A job of workers that take so long for a task, of which so much would be spared; says by how much the last of them
    /// would be earlier, and whether tasks are dealt at all.
    fn dealt(workers: &[(u64, i64)], tasks: usize) -> (i64, bool) {
        let mut serving = Serving::default();
        // When each is back, and what its task had gained when it got it.
        let mut out: Vec<(u64, i64)> = workers.iter().map(|&(turn_ns, _)| (turn_ns, 0)).collect();
        for _ in 0..tasks {
            let first = (0..out.len()).min_by_key(|&worker| out[worker].0).unwrap();
            let (at_ns, had) = out[first];
            let gained = serving.come(first as ThreadId, at_ns, quiet(had + workers[first].1));
            out[first] = (at_ns + workers[first].0, gained[WhatIf::Quiet]);
        }
        (out.iter().map(|(_, gained)| *gained).min().unwrap(), serving.deals_to(0))
    }

    #[test]
    fn workers_that_would_be_faster_let_all_tasks_be_done_sooner() {
        // Of every second worker's turns half would be spared.
        let turns = [1_009, 2_003, 1_501, 1_777, 1_303, 1_987, 1_117, 1_613, 1_447];
        let workers: Vec<(u64, i64)> =
            turns.iter().zip(0..).map(|(&turn, at)| (turn, turn as i64 / 2 * (at % 2))).collect();
        let (gained, is_dealt) = dealt(&workers, 20_000);
        assert!(is_dealt);
        let is: f64 = workers.iter().map(|&(turn, _)| 1.0 / turn as f64).sum();
        let would: f64 = workers.iter().map(|&(turn, spared)| 1.0 / (turn as f64 - spared as f64)).sum();
        let expected = 20_000.0 / is - 20_000.0 / would;
        assert!((gained as f64 - expected).abs() < 0.1 * expected, "{gained} of {expected}");
    }

    #[test]
    fn who_comes_in_rounds_is_waited_for() {
        let mut serving = Serving::default();
        // Three neighbours in each round, in an order that nobody foresees.
        for round in 0..5_000_u64 {
            let first = (round * round + round / 7) % 3;
            for at in 0..3 {
                let from = ((first + at * (1 + round % 2)) % 3) as ThreadId;
                let gains = quiet(i64::from(from) * 10);
                assert_eq!(serving.come(from, round * 1_000 + at, gains), gains);
            }
        }
        assert!(!serving.deals_to(0));
    }

    #[test]
    fn an_order_that_repeats_is_no_chance() {
        let mut serving = Serving::default();
        for turn in 0..5_000_usize {
            let from = [0, 1, 0, 2, 0, 0, 3][turn % 7];
            serving.come(from, turn as u64, quiet(5));
        }
        assert!(!serving.deals_to(0));
        assert!(matches!(serving.order, Order::Fixed) && serving.senders.is_empty());
    }
}
