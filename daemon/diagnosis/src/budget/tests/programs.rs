//! What has to hold for any program, whatever its times, in whatever batches it comes.

use super::*;
use proptest::prelude::*;

/// One thing that happens in a random program.
#[derive(Debug, Clone)]
enum Step {
    Message {
        from: u32,
        to: u32,
        send: u8,
        bytes: u64,
    },
    Exchange {
        first: u32,
        second: u32,
    },
    Many {
        to: u32,
    },
    Barrier,
    Broadcast {
        root: u32,
    },
    Reduce {
        root: u32,
    },
    Polls {
        rank: u32,
    },
    /// All enter a collective that they complete later.
    Start {
        flow: Flow,
        root: u32,
    },
    /// A rank completes what it entered, perhaps after polling for it, perhaps with messages.
    Complete {
        rank: u32,
        polls: bool,
        many: bool,
    },
    /// A collective between two groups.
    Between {
        flow: Flow,
        root: u32,
    },
    /// A receive whose send nobody saw.
    Lost {
        from: u32,
        to: u32,
    },
    Unreceived {
        from: u32,
        to: u32,
    },
}

const RANKS: u32 = 4;

fn step() -> impl Strategy<Value = Step> {
    let rank = 0..RANKS;
    let flows = || prop::sample::select(vec![Flow::All, Flow::FromRoot, Flow::ToRoot, Flow::FromLower]);
    prop_oneof![
        6 => (rank.clone(), rank.clone(), 0_u8..3, 0_u64..300)
            .prop_map(|(from, to, send, bytes)| Step::Message { from, to, send, bytes }),
        2 => (rank.clone(), rank.clone()).prop_map(|(first, second)| Step::Exchange { first, second }),
        2 => rank.clone().prop_map(|to| Step::Many { to }),
        1 => Just(Step::Barrier),
        1 => rank.clone().prop_map(|root| Step::Broadcast { root }),
        1 => rank.clone().prop_map(|root| Step::Reduce { root }),
        1 => rank.clone().prop_map(|rank| Step::Polls { rank }),
        2 => (flows(), rank.clone()).prop_map(|(flow, root)| Step::Start { flow, root }),
        3 => (rank.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(rank, polls, many)| Step::Complete { rank, polls, many }),
        1 => (flows(), rank.clone()).prop_map(|(flow, root)| Step::Between { flow, root }),
        1 => (rank.clone(), rank.clone()).prop_map(|(from, to)| Step::Lost { from, to }),
        1 => (rank.clone(), rank).prop_map(|(from, to)| Step::Unreceived { from, to }),
    ]
}

/// A program whose calls have an order but whose times are any: nobody's clock is trusted to fit another's.
fn program(steps: &[(Step, [u64; 8])]) -> Job {
    let mut running = Running::default();
    for (step, lengths) in steps {
        (running.lengths, running.taken) = (*lengths, 0);
        running.step(step);
    }
    let Running { mut job, now, .. } = running;
    for (rank, now) in now.into_iter().enumerate() {
        job.other(rank as u32, (now + 1, now + 2));
    }
    job
}

/// A program that is going on.
#[derive(Default)]
struct Running {
    job: Job,
    /// When the last call of each rank ended.
    now: [u64; RANKS as usize],
    /// The collectives that each rank has entered and not completed.
    started: [Vec<u32>; RANKS as usize],
    /// How long the step at hand computes and calls, and how many of these lengths it took.
    lengths: [u64; 8],
    taken: usize,
}

impl Running {
    /// The next call of a rank, after some time and of some length.
    fn go(&mut self, rank: u32, idle_ns: u64, length_ns: u64) -> (u64, u64) {
        let begin = self.now[rank as usize] + idle_ns;
        self.now[rank as usize] = begin + length_ns;
        (begin, begin + length_ns)
    }

    /// Likewise with the next of the step's lengths.
    fn next(&mut self, rank: u32) -> (u64, u64) {
        let at = self.taken;
        self.taken += 1;
        self.go(rank, self.lengths[at % 8], self.lengths[(at + 1) % 8])
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Message { from, to, send, bytes } => {
                let send = [Blocking::Never, Blocking::Perhaps, Blocking::Always][send as usize];
                // To oneself only what does not block.
                let send = if from == to { Blocking::Never } else { send };
                let at = self.next(from);
                self.job.send_by(send, from, to, bytes, at);
                self.receive(to, from, bytes);
            }
            Step::Exchange { first, second } if first != second => {
                for (rank, other) in [(first, second), (second, first)] {
                    let at = self.next(rank);
                    self.job.sendrecv(rank, other, other, 100, at);
                }
            }
            Step::Exchange { first, .. } => {
                let at = self.next(first);
                self.job.other(first, at);
            }
            Step::Many { to } => self.many(to),
            Step::Barrier => self.collective(BARRIER, Flow::All, None),
            Step::Broadcast { root } => self.collective(BCAST, Flow::FromRoot, Some(root)),
            Step::Reduce { root } => self.collective(52, Flow::ToRoot, Some(root)),
            Step::Polls { rank } => {
                let at = self.next(rank);
                self.job.call(rank, 34, at, Effect::Polls);
            }
            Step::Start { flow, root } => self.start(flow, root),
            Step::Complete { rank, polls, many } => self.complete(rank, polls, many),
            Step::Between { flow, root } => self.between(flow, root),
            Step::Lost { from, to } => self.receive(to, from, 77),
            Step::Unreceived { from, to } => {
                let at = self.next(from);
                self.job.send_by(Blocking::Never, from, to, 99, at);
            }
        }
    }

    fn receive(&mut self, to: u32, from: u32, bytes: u64) {
        let at = self.next(to);
        self.job.receive(to, from, bytes, at);
    }

    fn collective(&mut self, function: u16, flow: Flow, root: Option<u32>) {
        for rank in 0..RANKS {
            let at = self.next(rank);
            self.job.collective(rank, function, flow, root, at);
        }
    }

    /// A rank receives a message of each other in one call.
    fn many(&mut self, to: u32) {
        let lengths = self.lengths;
        let from: Vec<u32> = (0..RANKS).filter(|&from| from != to).collect();
        let (begin, _) = self.next(to);
        self.job.post(to, &from, begin);
        self.now[to as usize] = self.now[to as usize].max(begin + 10 * from.len() as u64);
        for &from in &from {
            let at = self.go(from, lengths[1], lengths[2]);
            self.job.send_by(Blocking::Never, from, to, 100, at);
        }
        let at = self.go(to, lengths[3], lengths[4]);
        self.job.wait_all(to, &from, 100, at);
    }

    fn start(&mut self, flow: Flow, root: u32) {
        let root = Some(root).filter(|_| matches!(flow, Flow::FromRoot | Flow::ToRoot));
        for rank in 0..RANKS {
            let at = self.next(rank);
            let of = self.job.next_on(Comm::WORLD, rank, 103, flow, root);
            self.job.call(rank, 103, at, Effect::Start(of));
            self.started[rank as usize].push(of.number);
        }
    }

    fn complete(&mut self, rank: u32, polls: bool, many: bool) {
        let lengths = self.lengths;
        let from = if many { vec![(rank + 1) % RANKS, (rank + 2) % RANKS] } else { Vec::new() };
        let begin = self.now[rank as usize];
        self.job.post(rank, &from, begin);
        self.now[rank as usize] = begin + 10 * from.len() as u64;
        for &from in &from {
            let at = self.go(from, lengths[0], lengths[1]);
            self.job.send_by(Blocking::Never, from, rank, 100, at);
        }
        let since_ns = polls.then(|| {
            let at = self.go(rank, lengths[2], lengths[3]);
            self.job.call(rank, 34, at, Effect::Polls);
            at.0
        });
        let at = self.go(rank, lengths[4], lengths[5]);
        if many {
            self.job.wait_all(rank, &from, 100, at);
        } else {
            self.job.other(rank, at);
        }
        if let Some(last) = self.job.activities.last_mut() {
            last.since_ns = since_ns.unwrap_or(at.0);
        }
        self.job.collects(rank, &std::mem::take(&mut self.started[rank as usize]));
    }

    fn between(&mut self, flow: Flow, root: u32) {
        let flow = if flow == Flow::FromLower { Flow::All } else { flow };
        for rank in 0..RANKS {
            let deals = (rank > 1) != (root > 1) || rank == root;
            let root = Some(root).filter(|_| flow != Flow::All && deals);
            let of = self.job.next_on(Comm(1), rank, 54, flow, root);
            let at = self.next(rank);
            self.job.call(rank, 54, at, Effect::Collective(of));
        }
    }
}

/// Everything that can be asked.
type Outcome =
    (Ledger, Vec<(Rank, Nanoseconds, Causes)>, Vec<(WaitKey, WaitTotals)>, Version, u64, SiteWaits);

fn outcome(budgeter: &Budgeter) -> Outcome {
    let mut waits: Vec<_> = budgeter.waits().map(|(key, totals)| (*key, *totals)).collect();
    waits.sort_unstable_by_key(|(key, _)| *key);
    let mut paths: Vec<_> = budgeter.paths().collect();
    paths.sort_unstable_by_key(|(rank, ..)| *rank);
    (
        budgeter.ledger().clone(),
        paths,
        waits,
        budgeter.learnt(),
        budgeter.given_up(),
        budgeter.site_waits().clone(),
    )
}

fn options() -> BudgetOptions {
    BudgetOptions { window_ns: 500, patience_ns: 5_000, ..BudgetOptions::default() }
}

/// Feeds a program in slices of time, the ranks of each slice in some order.
fn run_in_slices(job: &Job, slice_ns: u64, turn: u32) -> Budgeter {
    let mut windowed = Windowed::new(options());
    place(&mut windowed, &[0, 0, 1, 1]);
    let last = job.activities.iter().map(|of| of.end_ns).max().unwrap_or_default();
    let ends = job.ends(&job.events);
    for slice in 0..=last / slice_ns {
        let is_in = |end_ns: u64| end_ns / slice_ns == slice;
        for at in 0..RANKS {
            let rank = Rank((at * turn + slice as u32) % RANKS);
            let calls: Vec<Activity> =
                job.activities.iter().filter(|of| of.rank == rank && is_in(of.end_ns)).copied().collect();
            let (events, events_end_ns): (Vec<Event>, Vec<u64>) = job
                .events
                .iter()
                .zip(&ends)
                .filter(|(event, end_ns)| event.rank() == rank && is_in(**end_ns))
                .map(|(event, end_ns)| (*event, *end_ns))
                .unzip();
            let is_collected =
                |of: &Collected| calls.iter().any(|call| (call.rank, call.call) == (of.rank, of.call));
            let collected = job.collected.iter().filter(|of| is_collected(of)).copied().collect();
            let batch = Batch { activities: calls, collected, events, events_end_ns, ..Batch::default() };
            windowed.feed(&batch, slice * slice_ns);
        }
        windowed.feed(&Batch::default(), (slice + 1) * slice_ns);
    }
    windowed.finish();
    windowed.budgeter
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn parts_sum_and_neither_batches_nor_order_matter(
        steps in proptest::collection::vec((step(), prop::array::uniform8(0_u64..2_000)), 0..60),
        slice_ns in 100_u64..5_000,
        turn in prop_oneof![Just(1_u32), Just(3)],
    ) {
        let job = program(&steps);
        let whole = run_in_slices(&job, u64::MAX / 4, 1);
        holds(&job, &whole);
        let sliced = run_in_slices(&job, slice_ns, turn);
        holds(&job, &sliced);
        let (whole, sliced) = (outcome(&whole), outcome(&sliced));
        let differ = |one: &Outcome, other: &Outcome| -> Vec<_> {
            one.2.iter().filter(|of| !other.2.contains(of)).copied().collect()
        };
        prop_assert_eq!(differ(&whole, &sliced), differ(&sliced, &whole));
        prop_assert_eq!(&whole.1, &sliced.1);
        prop_assert_eq!(&whole.3, &sliced.3);
        prop_assert_eq!(&whole.4, &sliced.4);
        for (one, other) in whole.0.windows().iter().zip(sliced.0.windows()) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(whole.0.ranks(), sliced.0.ranks());
        prop_assert_eq!(whole, sliced);
    }
}
