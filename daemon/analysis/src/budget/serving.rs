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
                if let Some(last) = self.last.replace(from).filter(|&last| last != from) {
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
            if std::mem::replace(after, from) == from {
                self.foreseen += u32::from(*turns > 1);
            } else {
                self.unforeseen += 1;
            }
        }
        if self.foreseen + self.unforeseen < ENOUGH_TURNS {
            return;
        }
        let turns = self.senders.values().map(|(_, turns)| *turns);
        let (most, least) = (turns.clone().max().unwrap_or_default(), turns.min().unwrap_or_default());
        if self.foreseen >= self.unforeseen {
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
