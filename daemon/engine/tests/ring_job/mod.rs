//! A job whose ranks send in a ring, as the messages of a log.

use mpiscope_wire::{
    self as wire, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, NO_COMM, Process,
    RunEnd, RunStart, Slot, Slots, id,
};

pub(crate) const RANKS: u32 = 12;
pub(crate) const PASSES: u64 = 3;
/// Enough for several threads.
pub(crate) const STEPS_OF_PASS: u64 = 4_000;
const STEP_NS: u64 = 50_000;

fn start() -> wire::Message {
    let (run, node) = ("run".into(), "node".into());
    wire::Message::RunStart(RunStart { run, node, unix_ns: 1, monotonic_ns: 0, command: Vec::new() })
}

fn process(rank: u32) -> wire::Message {
    wire::Message::Process(Process {
        process: rank,
        pid: 100 + rank,
        made_ns: 1,
        rank,
        world_size: RANKS,
        clock: ClockKind::Monotonic,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: format!("node{}", rank % 3),
    })
}

/// Each rank sends to the next and receives from the one before.
fn step(rank: u32, number: u64) -> [Slot; 2] {
    let at_ns = 1_000 + number * STEP_NS + u64::from(rank) * 7;
    let call = |flags, function, peer: u32, start| Call {
        flags,
        function,
        duration: 5_000,
        start,
        peer: peer as i32,
        comm: 0,
        site: 0,
        tag: 3,
        bytes: 8 * (1 + number % 5),
    };
    [
        call(CallFlags::SEND, id::SEND, (rank + 1) % RANKS, at_ns).encode(),
        call(CallFlags::RECEIVE, id::RECV, (rank + RANKS - 1) % RANKS, at_ns + 10_000).encode(),
    ]
}

fn world(own_rank: u32) -> Slot {
    CommDefinition {
        index: 0,
        kind: CommKind::Communicator,
        id: 0,
        size: RANKS,
        own_rank,
        leader: 0,
        parent: NO_COMM,
        other: None,
    }
    .encode()
}

pub(crate) fn messages() -> Vec<wire::Message> {
    let sample = |monotonic_ns| wire::Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns });
    let mut messages = vec![start()];
    messages.extend((0..RANKS).map(process));
    messages.push(sample(1));
    for pass in 0..PASSES {
        for rank in 0..RANKS {
            let first = if pass == 0 { vec![world(rank)] } else { Vec::new() };
            let numbers = pass * STEPS_OF_PASS..(pass + 1) * STEPS_OF_PASS;
            let slots: Vec<Slot> =
                first.into_iter().chain(numbers.flat_map(|number| step(rank, number))).collect();
            let from = pass * 2 * STEPS_OF_PASS + u64::from(pass > 0);
            messages.push(wire::Message::Slots(Slots { process: rank, ring: 0, from, slots }));
        }
        messages.push(sample((pass + 1) * STEPS_OF_PASS * STEP_NS));
    }
    let monotonic_ns = (PASSES * STEPS_OF_PASS + 1) * STEP_NS;
    messages.push(wire::Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    messages
}
