use super::*;
use crate::{CallSource, FunctionName, MessageSource, Messages};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, Default)]
struct Stored(Arc<Mutex<Vec<Call>>>);

impl CallSource for Stored {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.0.lock().unwrap().iter().filter(within).for_each(visitor);
        Ok(())
    }
}

impl MessageSource for Stored {
    fn visit(
        &self,
        _: &Range<Nanoseconds>,
        _: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        Ok(())
    }
}

const NAMES: [&str; 8] = [
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Barrier",
    "MPI_Alltoallv",
    "MPI_Scan",
    "MPI_Gatherv",
];

fn flow(function: Function) -> Option<Flow> {
    match *NAMES.get(usize::from(function))? {
        "MPI_Bcast" => Some(Flow::FromRoot),
        "MPI_Reduce" | "MPI_Gatherv" => Some(Flow::ToRoot),
        "MPI_Scan" => Some(Flow::FromLower),
        _ => Some(Flow::All),
    }
}

fn library(calls: Vec<Call>, members: u32) -> (Library, Stored) {
    let stored = Stored(Arc::new(Mutex::new(calls)));
    let names = (0..).zip(NAMES).map(|(id, name)| FunctionName { id, name, family: "any" });
    let library = Library::new(Box::new(stored.clone()))
        .with_messages(Messages { source: Box::new(stored.clone()), flow })
        .with_functions(names);
    library.set_communicators(&[CommInfo { comm: Comm::WORLD, size: members, ..CommInfo::default() }]);
    (library, stored)
}

fn call(rank: u32, instance: u32, function: usize, (start_ns, end_ns): (u64, u64), bytes: u64) -> Call {
    let root = matches!(NAMES[function], "MPI_Bcast" | "MPI_Reduce" | "MPI_Gatherv").then_some(1);
    let function = function as Function;
    let (peer, comm, instance) = (root, Some(Comm::WORLD), Some(instance));
    Call {
        rank: Rank(rank),
        function,
        start_ns,
        end_ns,
        peer: peer.map(Rank),
        bytes,
        comm,
        instance,
        ..Call::default()
    }
}

/// Source, destination, bytes and collective.
type Pair = (u32, u32, u64, u32);

fn pairs(rows: &[ExpandedMessage]) -> Vec<Pair> {
    let pair = |row: &ExpandedMessage| {
        let Message { src, dst, bytes, .. } = row.message;
        (src.0, dst.0, bytes, row.collective.unwrap().1)
    };
    let mut pairs: Vec<Pair> = rows.iter().map(pair).collect();
    pairs.sort_unstable();
    pairs
}

fn all(library: &Library, range_ns: Range<u64>) -> Vec<ExpandedMessage> {
    let mut rows = Vec::new();
    library.visit_collectives(&range_ns, &mut |row| rows.push(*row)).unwrap();
    rows
}

#[test]
fn data_goes_as_each_collective_says() {
    let ranks = 4_u32;
    let calls: Vec<Call> = (0..NAMES.len())
        .flat_map(|of| {
            (0..ranks).map(move |rank| {
                let at_ns = of as u64 * 100;
                call(rank, of as u32, of, (at_ns + u64::from(rank), at_ns + 50 + u64::from(rank)), 8)
            })
        })
        .collect();
    let (library, _) = library(calls, ranks);
    let pairs = pairs(&all(&library, 0..10_000));
    let of = |collective: u32| -> Vec<(u32, u32, u64)> {
        pairs
            .iter()
            .filter(|pair| pair.3 == collective)
            .map(|&(from, to, bytes, _)| (from, to, bytes))
            .collect()
    };
    let each = |bytes| -> Vec<(u32, u32, u64)> {
        let from = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to, bytes)));
        from.filter(|(from, to, _)| from != to).collect()
    };
    assert_eq!(of(0), [(1, 0, 8), (1, 2, 8), (1, 3, 8)]);
    assert_eq!(of(1), [(0, 1, 8), (2, 1, 8), (3, 1, 8)]);
    assert_eq!((of(2), of(3), of(4), of(5)), (each(8), each(2), each(0), each(UNKNOWN)));
    assert_eq!(of(6), [(0, 1, 8), (0, 2, 8), (0, 3, 8), (1, 2, 8), (1, 3, 8), (2, 3, 8)]);
    assert_eq!(of(7), of(1));
    // What receivers wait for, and when both know.
    let row = all(&library, 0..100).into_iter().find(|row| row.message.dst == Rank(0)).unwrap();
    assert_eq!((row.message.send_ns, row.message.recv_ns, row.known_ns), (1, 50, 51));
    assert_eq!((row.message.t_msg_ns, row.message.late_sender_ns), (49, 1));
}

#[test]
fn of_many_members_each_is_a_row() {
    let calls = (0..65).map(|rank| call(rank, 0, 2, (0, 10 + u64::from(rank)), 8)).collect();
    let (library, _) = library(calls, 65);
    let rows = all(&library, 0..1_000);
    assert_eq!(rows.len(), 65);
    assert!(rows.iter().all(|row| row.message.dst == Rank::NONE && row.message.t_msg_ns == UNKNOWN));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// However a run is cut into stretches, and however far members lie apart, each pair is in one stretch.
    #[test]
    fn any_stretches_have_each_pair_once(
        kinds in prop::collection::vec(0..NAMES.len(), 1..8),
        waits in prop::collection::vec(0_u64..30_000_000, 8 * 4),
        mut cuts in prop::collection::vec(0_u64..300_000_000, 0..9),
        late in prop::collection::vec(any::<bool>(), 8 * 4),
    ) {
        let mut at_ns = [0_u64; 4];
        let mut calls = Vec::new();
        for (instance, &kind) in kinds.iter().enumerate() {
            for rank in 0..4 {
                let start_ns = at_ns[rank] + 1;
                at_ns[rank] = start_ns + waits[instance * 4 + rank];
                calls.push(call(rank as u32, instance as u32, kind, (start_ns, at_ns[rank]), 16));
            }
        }
        let (whole, _) = library(calls.clone(), 4);
        let end_ns = 1_000_000_000;
        let expected = pairs(&all(&whole, 0..end_ns));
        let rooted = |kind: &usize| matches!(NAMES[*kind], "MPI_Bcast" | "MPI_Reduce" | "MPI_Gatherv");
        let count = |kind: &usize| if rooted(kind) { 3 } else if NAMES[*kind] == "MPI_Scan" { 6 } else { 12 };
        prop_assert_eq!(expected.len(), kinds.iter().map(count).sum::<usize>());
        cuts.extend([0, end_ns]);
        cuts.sort_unstable();
        let mut seen = Vec::new();
        cuts.windows(2).for_each(|cut| seen.extend(all(&whole, cut[0]..cut[1])));
        prop_assert_eq!(pairs(&seen), expected.clone());
        // Some become known after all others, one by one.
        let (after, before): (Vec<Call>, Vec<Call>) =
            calls.iter().zip(&late).map(|(call, late)| (*call, *late)).fold(Default::default(), |mut of: (Vec<_>, Vec<_>), (call, late)| {
                if late { of.0.push(call) } else { of.1.push(call) }
                of
            });
        let (partial, stored) = library(before, 4);
        let mut seen = all(&partial, 0..end_ns);
        for (at, call) in after.iter().enumerate() {
            stored.0.lock().unwrap().push(*call);
            // The next may be there already, and is not known to be.
            if let Some(next) = after.get(at + 1) {
                stored.0.lock().unwrap().push(*next);
                seen.extend(partial.late_collective(call, || after[at + 1..].to_vec()).unwrap());
                stored.0.lock().unwrap().pop();
            } else {
                seen.extend(partial.late_collective(call, Vec::new).unwrap());
            }
        }
        prop_assert_eq!(pairs(&seen), expected);
    }
}
