//! Criteria from a recording: medians of what messages and collectives took.

use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_recording::Recording;
use mpiscope_verdict::criteria_file::{CollectiveCriterion, CriteriaFile, MessageCriterion, Scope};
use mpiscope_wire::{Family, by_id, id};
use std::collections::BTreeMap;

/// What a recording says. Which calls of collectives belong together is known by their order alone, so they count only
/// where all are `complete`.
pub(crate) fn measured(recording: &Recording, complete: bool) -> CriteriaFile {
    let job = &recording.manifest().job;
    let fullest = job.nodes.iter().map(|node| node.ranks.len()).max().unwrap_or_default();
    let mut criteria = CriteriaFile::new(
        job.mpi.clone(),
        u32::try_from(job.nodes.len()).unwrap_or(u32::MAX),
        u32::try_from(fullest).unwrap_or(u32::MAX),
        job.started_unix_ns / 1_000_000_000,
    );
    let mut messages = Messages::default();
    recording.messages().flatten().for_each(|message| messages.add(&message));
    criteria.messages = messages.criteria();
    if complete {
        let mut collectives = Collectives::default();
        recording.calls().flatten().for_each(|call| collectives.add(&call));
        criteria.collectives = collectives.criteria();
    }
    criteria
}

/// The times of messages between two ranks: upwards, downwards.
type BothWays = [Vec<u64>; 2];

/// The times of exact messages, by scope and size and then by pair of ranks.
#[derive(Default)]
struct Messages(BTreeMap<(Scope, u64), BTreeMap<(Rank, Rank), BothWays>>);

impl Messages {
    fn add(&mut self, message: &Message) {
        if !message.exact {
            return;
        }
        let scope = if message.inter { Scope::Inter } else { Scope::Intra };
        let Message { src, dst, .. } = *message;
        let pairs = self.0.entry((scope, message.bytes)).or_default();
        pairs.entry((src.min(dst), src.max(dst))).or_default()[usize::from(src > dst)].push(message.t_msg_ns);
    }

    fn criteria(self) -> Vec<MessageCriterion> {
        let criterion = |((scope, size), pairs): ((Scope, u64), BTreeMap<_, BothWays>)| {
            let mut directions: Vec<BothWays> = pairs.into_values().collect();
            let samples = directions.iter().flatten().map(|times| times.len() as u64).sum();
            let factor = normal_factor(&directions);
            let median_ns = match scope {
                Scope::Intra => median(&mut directions.into_iter().flatten().flatten().collect::<Vec<_>>()),
                Scope::Inter => between_clocks(&mut directions),
            };
            let normal_ns = Some((median_ns as f64 * factor) as u64);
            MessageCriterion { scope, size, samples, median_ns, normal_ns }
        };
        self.0.into_iter().map(criterion).collect()
    }
}

/// By how much 95 of 100 messages at most exceed the median of their direction: clocks that are apart shift all of them.
fn normal_factor(directions: &[BothWays]) -> f64 {
    let mut ratios: Vec<f64> = Vec::new();
    for times in directions.iter().flatten() {
        let median_ns = median(&mut times.clone()).max(1) as f64;
        ratios.extend(times.iter().map(|time_ns| *time_ns as f64 / median_ns));
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let at = (ratios.len() * 95).div_ceil(100).saturating_sub(1);
    ratios.get(at).map_or(1.0, |ratio| ratio.max(1.0))
}

/// What the two clocks of a pair are apart is added to one direction and taken from the other. So the median of a pair is
/// the mean of those of its directions, of pairs that have both; and of all pairs, their median.
fn between_clocks(directions: &mut [BothWays]) -> u64 {
    let both = directions.iter_mut().filter(|ways| ways.iter().all(|times| !times.is_empty()));
    let mut means: Vec<u64> = both.map(|[up, down]| u64::midpoint(median(up), median(down))).collect();
    if means.is_empty() {
        return median(&mut directions.iter().flatten().flatten().copied().collect::<Vec<_>>());
    }
    median(&mut means)
}

/// The lower one of two in the middle; 0 of none.
fn median(times: &mut [u64]) -> u64 {
    if times.is_empty() {
        return 0;
    }
    let middle = (times.len() - 1) / 2;
    *times.select_nth_unstable(middle).1
}

/// One rank's part in a collective.
#[derive(Debug, Clone, Copy)]
struct Part {
    function: u16,
    begin_ns: u64,
    end_ns: u64,
    bytes: u64,
    root: Option<Rank>,
}

/// The parts of each communicator, by rank and in order.
#[derive(Default)]
struct Collectives(BTreeMap<Comm, BTreeMap<Rank, Vec<Part>>>);

impl Collectives {
    fn add(&mut self, call: &Call) {
        let known = by_id(call.function)
            .is_some_and(|entry| matches!(entry.family, Family::Rooted | Family::All | Family::Barrier));
        let Some(comm) = call.comm.filter(|_| known) else { return };
        let part = Part {
            function: call.function,
            begin_ns: call.start_ns,
            end_ns: call.end_ns,
            bytes: call.bytes,
            root: call.peer,
        };
        self.0.entry(comm).or_default().entry(call.rank).or_default().push(part);
    }

    fn criteria(mut self) -> Vec<CollectiveCriterion> {
        let mut times: BTreeMap<(u16, u32, u64), Vec<u64>> = BTreeMap::new();
        for members in self.0.values_mut() {
            members.values_mut().for_each(|parts| parts.sort_by_key(|part| part.begin_ns));
            let shortest = members.values().map(Vec::len).min().unwrap_or_default();
            for turn in 0..shortest {
                let parts: Vec<(Rank, Part)> =
                    members.iter().map(|(&rank, parts)| (rank, parts[turn])).collect();
                let Some((_, first)) = parts.first() else { continue };
                // Where a rank made another call than the others, its calls are not what they seem to be.
                if parts.iter().any(|(_, part)| part.function != first.function) {
                    break;
                }
                let bytes = parts.iter().map(|(_, part)| part.bytes).max().unwrap_or_default();
                let ranks = u32::try_from(parts.len()).unwrap_or(u32::MAX);
                times.entry((first.function, ranks, bytes)).or_default().extend(operations(&parts));
            }
        }
        let mut criteria: Vec<CollectiveCriterion> = times
            .into_iter()
            .filter(|(_, times)| !times.is_empty())
            .map(|((function, ranks, bytes), mut times)| CollectiveCriterion {
                function: by_id(function).map_or("?", |entry| entry.name).to_owned(),
                ranks,
                bytes,
                is_root: false,
                samples: times.len() as u64,
                median_ns: median(&mut times),
            })
            .collect();
        criteria.sort_by(|left, right| {
            let key = |one: &CollectiveCriterion| (one.function.clone(), one.ranks, one.bytes);
            key(left).cmp(&key(right))
        });
        criteria
    }
}

/// How long the parts took once those that they wait for were there; of parts that wait for nobody, nothing.
fn operations(parts: &[(Rank, Part)]) -> Vec<u64> {
    let Some((_, first)) = parts.first() else { return Vec::new() };
    let last_ns = parts.iter().map(|(_, part)| part.begin_ns).max().unwrap_or_default();
    let root = |wanted: bool| parts.iter().filter(move |(rank, part)| (part.root == Some(*rank)) == wanted);
    let since = |part: &Part, begin_ns: u64| part.end_ns.saturating_sub(begin_ns);
    match first.function {
        id::BCAST | id::SCATTER | id::SCATTERV => {
            let Some((_, sender)) = root(true).next() else { return Vec::new() };
            root(false).map(|(_, part)| since(part, part.begin_ns.max(sender.begin_ns))).collect()
        }
        id::REDUCE | id::GATHER | id::GATHERV => root(true).map(|(_, part)| since(part, last_ns)).collect(),
        id::BARRIER | id::ALLREDUCE | id::ALLGATHER | id::ALLTOALL => {
            parts.iter().map(|(_, part)| since(part, last_ns)).collect()
        }
        // Nonblocking ones end elsewhere, and scans wait for some ranks only.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(rank: u32, function: u16, start_ns: u64, end_ns: u64, root: Option<u32>) -> Call {
        Call {
            rank: Rank(rank),
            function,
            start_ns,
            end_ns,
            peer: root.map(Rank),
            bytes: 8,
            comm: Some(Comm::WORLD),
            ..Call::default()
        }
    }

    fn criteria(calls: &[Call]) -> Vec<(String, u32, u64, u64)> {
        let mut collectives = Collectives::default();
        calls.iter().for_each(|call| collectives.add(call));
        let all = collectives.criteria().into_iter();
        all.map(|one| (one.function, one.ranks, one.samples, one.median_ns)).collect()
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(
            [median(&mut []), median(&mut [5]), median(&mut [9, 1]), median(&mut [9, 1, 4])],
            [0, 5, 1, 4]
        );
    }

    fn message(src: u32, dst: u32, t_msg_ns: u64, inter: bool, exact: bool) -> Message {
        let late_receiver_ns = None;
        Message {
            src: Rank(src),
            dst: Rank(dst),
            tag: 0,
            comm: Comm::WORLD,
            bytes: 8,
            send_ns: 0,
            recv_ns: 0,
            t_msg_ns,
            late_sender_ns: 0,
            late_receiver_ns,
            inter,
            exact,
        }
    }

    #[test]
    fn what_clocks_are_apart_is_not_in_what_a_message_takes() {
        let mut messages = Messages::default();
        // One clock is 6 ahead, of the other pair 100.
        for (src, dst, t_msg_ns) in [(0, 1, 16), (0, 1, 17), (0, 1, 15), (1, 0, 4), (2, 3, 0), (3, 2, 200)] {
            messages.add(&message(src, dst, t_msg_ns, true, true));
        }
        messages.add(&message(0, 1, 1_000, true, false));
        for t_msg_ns in [1, 2, 9] {
            messages.add(&message(0, 2, t_msg_ns, false, true));
        }
        let found: Vec<_> =
            messages.criteria().iter().map(|one| (one.scope, one.samples, one.median_ns)).collect();
        assert_eq!(found, [(Scope::Intra, 3, 2), (Scope::Inter, 6, 10)]);
        // Where there is one direction only, it is all that is known.
        assert_eq!(between_clocks(&mut [[vec![7, 9, 8], vec![]]]), 8);
    }

    #[test]
    fn a_barrier_begins_with_its_last_rank() {
        let calls = [
            call(0, id::BARRIER, 0, 130, None),
            call(1, id::BARRIER, 100, 120, None),
            call(2, id::BARRIER, 50, 140, None),
        ];
        assert_eq!(criteria(&calls), [("MPI_Barrier".to_owned(), 3, 3, 30)]);
    }

    #[test]
    fn a_broadcast_begins_with_its_root_and_a_reduction_ends_there() {
        let bcast = |rank, start_ns, end_ns| call(rank, id::BCAST, start_ns, end_ns, Some(1));
        let reduce = |rank, start_ns, end_ns| call(rank, id::REDUCE, start_ns, end_ns, Some(0));
        // The rows of a rank may come in any order.
        let calls = [
            reduce(0, 200, 260),
            bcast(0, 0, 110),
            bcast(1, 100, 101),
            bcast(2, 105, 125),
            reduce(1, 240, 241),
            reduce(2, 220, 225),
        ];
        let expected = [("MPI_Bcast".to_owned(), 3, 2, 10), ("MPI_Reduce".to_owned(), 3, 1, 20)];
        assert_eq!(criteria(&calls), expected);
    }

    #[test]
    fn calls_that_do_not_belong_together_say_nothing() {
        let calls = [
            call(0, id::BARRIER, 0, 10, None),
            call(1, id::BARRIER, 0, 10, None),
            call(0, id::ALLREDUCE, 20, 30, None),
            call(1, id::BARRIER, 20, 30, None),
            call(0, id::BARRIER, 40, 50, None),
            call(1, id::BARRIER, 40, 50, None),
        ];
        assert_eq!(criteria(&calls), [("MPI_Barrier".to_owned(), 2, 2, 10)]);
    }
}
