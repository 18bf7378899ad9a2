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
    let mut job = Job::default();
    let mut now = [0_u64; RANKS as usize];
    let mut started: [Vec<u32>; RANKS as usize] = Default::default();
    for (step, lengths) in steps {
        let mut at = 0;
        let mut next = |rank: u32| {
            let begin = now[rank as usize] + lengths[at % 8];
            let end = begin + lengths[(at + 1) % 8];
            at += 1;
            now[rank as usize] = end;
            (begin, end)
        };
        match *step {
            Step::Message { from, to, send, bytes } => {
                let send = [Blocking::Never, Blocking::Perhaps, Blocking::Always][send as usize];
                // To oneself only what does not block.
                let send = if from == to { Blocking::Never } else { send };
                job.send_by(send, from, to, bytes, next(from));
                job.receive(to, from, bytes, next(to));
            }
            Step::Exchange { first, second } if first != second => {
                job.sendrecv(first, second, second, 100, next(first));
                job.sendrecv(second, first, first, 100, next(second));
            }
            Step::Exchange { first, .. } => job.other(first, next(first)),
            Step::Many { to } => {
                let from: Vec<u32> = (0..RANKS).filter(|&from| from != to).collect();
                let (begin, _) = next(to);
                job.post(to, &from, begin);
                now[to as usize] = now[to as usize].max(begin + 10 * from.len() as u64);
                for &from in &from {
                    let begin = now[from as usize] + lengths[1];
                    now[from as usize] = begin + lengths[2];
                    job.send_by(Blocking::Never, from, to, 100, (begin, begin + lengths[2]));
                }
                let begin = now[to as usize] + lengths[3];
                now[to as usize] = begin + lengths[4];
                job.wait_all(to, &from, 100, (begin, begin + lengths[4]));
            }
            Step::Barrier => {
                (0..RANKS).for_each(|rank| job.collective(rank, BARRIER, Flow::All, None, next(rank)));
            }
            Step::Broadcast { root } => {
                let flow = Flow::FromRoot;
                (0..RANKS).for_each(|rank| job.collective(rank, BCAST, flow, Some(root), next(rank)));
            }
            Step::Reduce { root } => {
                let flow = Flow::ToRoot;
                (0..RANKS).for_each(|rank| job.collective(rank, 52, flow, Some(root), next(rank)));
            }
            Step::Polls { rank } => {
                let at = next(rank);
                job.call(rank, 34, at, Effect::Polls);
            }
            Step::Start { flow, root } => {
                let root = Some(root).filter(|_| matches!(flow, Flow::FromRoot | Flow::ToRoot));
                for rank in 0..RANKS {
                    let at = next(rank);
                    let of = job.next_on(Comm::WORLD, rank, 103, flow, root);
                    job.call(rank, 103, at, Effect::Start(of));
                    started[rank as usize].push(of.number);
                }
            }
            Step::Complete { rank, polls, many } => {
                let from = if many { vec![(rank + 1) % RANKS, (rank + 2) % RANKS] } else { Vec::new() };
                let begin = now[rank as usize];
                job.post(rank, &from, begin);
                now[rank as usize] = begin + 10 * from.len() as u64;
                let mut go = |rank: u32, idle_ns: u64, length_ns: u64| {
                    let begin = now[rank as usize] + idle_ns;
                    now[rank as usize] = begin + length_ns;
                    (begin, begin + length_ns)
                };
                for &from in &from {
                    job.send_by(Blocking::Never, from, rank, 100, go(from, lengths[0], lengths[1]));
                }
                let since_ns = polls.then(|| {
                    let at = go(rank, lengths[2], lengths[3]);
                    job.call(rank, 34, at, Effect::Polls);
                    at.0
                });
                let at = go(rank, lengths[4], lengths[5]);
                if many {
                    job.wait_all(rank, &from, 100, at);
                } else {
                    job.other(rank, at);
                }
                if let Some(last) = job.activities.last_mut() {
                    last.since_ns = since_ns.unwrap_or(at.0);
                }
                job.collects(rank, &std::mem::take(&mut started[rank as usize]));
            }
            Step::Between { flow, root } => {
                let flow = if flow == Flow::FromLower { Flow::All } else { flow };
                for rank in 0..RANKS {
                    let deals = (rank > 1) != (root > 1) || rank == root;
                    let root = Some(root).filter(|_| flow != Flow::All && deals);
                    let of = job.next_on(Comm(1), rank, 54, flow, root);
                    let at = next(rank);
                    job.call(rank, 54, at, Effect::Collective(of));
                }
            }
            Step::Lost { from, to } => job.receive(to, from, 77, next(to)),
            Step::Unreceived { from, to } => job.send_by(Blocking::Never, from, to, 99, next(from)),
        }
    }
    for (rank, now) in now.into_iter().enumerate() {
        job.other(rank as u32, (now + 1, now + 2));
    }
    job
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
