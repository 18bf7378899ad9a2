//! Random jobs on several hosts, as the messages of a log: drifting clocks, gaps, repeated and senseless slots.

use mpiscope_wire::{
    Agent, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, EndState, Entry,
    FRAME_HEADER_BYTES, FrameKind, Lost, Message, ModuleDefinition, NO_COMM, Origin, PEER_ANY, PEER_NONE,
    Packed, PackedSlots, Part, PartFlags, PathPart, Process, RoundTrip, RunEnd, RunStart, SiteDefinition,
    Skipped, Slot, Slots, Sync, id,
};
use std::collections::BTreeMap;

const AGENTS: u32 = 3;
const PROCESSES: u32 = 4;
const RANKS: u32 = AGENTS * PROCESSES;
const STEP_NS: u64 = 1_000_000;
/// The clock of each host is ahead by this much of that of the one before.
const AHEAD_NS: u64 = 1_000_000_000_000;

fn start() -> Message {
    let (run, node) = ("run".into(), "node0".into());
    Message::RunStart(RunStart { run, node, unix_ns: 1, monotonic_ns: 0, command: Vec::new() })
}

fn process(agent: u32, number: u32) -> Message {
    Message::Process(Process {
        process: number,
        pid: 100 + number,
        made_ns: 1,
        rank: agent * PROCESSES + number,
        world_size: RANKS,
        clock: if number == 0 { ClockKind::Monotonic } else { ClockKind::TimeStampCounter },
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: format!("node{agent}"),
    })
}

fn round_trip(agent: u32, turn: u64) -> Message {
    let ahead_ns = u64::from(agent) * AHEAD_NS;
    let local_ns = ahead_ns + turn * STEP_NS;
    // It drifts.
    let offset_ns = -(ahead_ns as i64) + (turn * 37) as i64;
    Message::RoundTrip(RoundTrip { agent, local_ns, offset_ns, uncertainty_ns: 900 })
}

/// What one ring gets in one turn, by a number that chooses.
fn slots_of(choice: u64, (agent, number): (u32, u32), turn: u64) -> Vec<Slot> {
    let at = |part: u64| (u64::from(agent) * AHEAD_NS + turn * STEP_NS + part * 700) * clock_rate(number);
    let peer = ((choice >> 3) % u64::from(RANKS)) as i32;
    let (flags, function) = match choice % 7 {
        0 => (CallFlags::SEND, id::SEND),
        1 => (CallFlags::RECEIVE, id::RECV),
        2 => (CallFlags::POST, id::IRECV),
        3 => (CallFlags::FOLDED, id::TEST),
        4 => (CallFlags::COLLECTIVE, id::ALLREDUCE),
        5 => (CallFlags::NONE, id::WAIT),
        // There is no such function.
        _ => (CallFlags::NONE, 60_000),
    };
    let peer = if choice % 7 >= 3 { PEER_NONE } else { peer };
    let comm = if choice & 1 << 20 == 0 { 0 } else { 5 };
    let site = (choice >> 21 & 3) as u32;
    let call = |part| {
        let (duration, tag) = (300 * clock_rate(number), (choice >> 8 & 3) as i32);
        Call { flags, function, duration, start: at(part), peer, comm, site, tag, bytes: choice >> 40 }
            .encode()
    };
    let world = |index, own_rank| CommDefinition {
        index,
        kind: CommKind::Communicator,
        id: u64::from(index),
        size: RANKS,
        own_rank,
        leader: 0,
        parent: NO_COMM,
        other: None,
    };
    let mut slots = Vec::new();
    if turn == 0 {
        slots.push(world(0, agent * PROCESSES + number).encode());
    }
    match choice >> 32 & 15 {
        0 => slots.push(world(5 + (choice >> 50 & 1) as u32, number).encode()),
        1 => {
            slots.push(ModuleDefinition::new(1, b"/a/program", &[]).encode());
            slots.extend(PathPart::all(1, b"/a/program").map(|part| part.encode()));
            let site = SiteDefinition { number: site.max(1), module: 1, offset: choice >> 60, parent: 0 };
            slots.push(site.encode());
        }
        2 => slots.push([0xFF; 4]),
        // A thread has one ring at a time.
        3 => slots.push(Entry::encode_thread(choice >> 58 << 1 | choice & 1, 9)),
        4 => slots.push(Sync { peer, comm: 0, sent: turn, received: turn }.encode()),
        5..=7 => {
            let flags =
                [PartFlags::COMPLETED, PartFlags::SENT, PartFlags::POSTED][(choice >> 32 & 15) as usize - 5];
            let peer = if choice & 1 << 31 == 0 { (choice >> 45 & 7) as i32 } else { PEER_ANY };
            slots.push(Part { flags, tag: 1, post: choice >> 56, peer, comm: 0, bytes: 8 }.encode());
        }
        _ => {}
    }
    slots.extend((0..choice >> 36 & 3).map(call));
    slots
}

fn clock_rate(number: u32) -> u64 {
    if number == 0 { 1 } else { 3 }
}

/// The same job where agents have packed slots, but for some. With `are_damaged`, some do not unpack.
pub(crate) fn packed(messages: &[Message], are_damaged: bool) -> Vec<Message> {
    let pack = |(at, message): (usize, &Message)| match message {
        Message::Slots(Slots { process, ring, from, slots }) if at % 5 > 0 => {
            let packed =
                Packed { process: *process, ring: *ring, from: *from, slots: PackedSlots::pack(slots) };
            if are_damaged && at % 7 == 0 { damaged(packed) } else { Message::Packed(packed) }
        }
        _ => message.clone(),
    };
    messages.iter().enumerate().map(pack).collect()
}

/// It has a byte more, and says so nowhere.
fn damaged(packed: Packed) -> Message {
    let mut bytes = Vec::new();
    Message::Packed(packed).encode(&mut bytes);
    bytes.push(0);
    Message::decode(FrameKind::Packed, &bytes[FRAME_HEADER_BYTES..]).expect("a sound head")
}

/// Messages of some turns; in each an agent tells what its ranks did.
pub(crate) fn messages(choices: &[u64]) -> Vec<Message> {
    let mut messages = vec![start()];
    messages.extend(
        (1..AGENTS).map(|agent| {
            Message::Agent(Agent { agent, identity: agent.into(), node: format!("node{agent}") })
        }),
    );
    let mut positions: BTreeMap<(u32, u32, u32), u64> = BTreeMap::new();
    let mut begun = [false; AGENTS as usize];
    for (turn, &choice) in (0..).zip(choices) {
        let agent = (choice % u64::from(AGENTS)) as u32;
        let is_first = !std::mem::replace(&mut begun[agent as usize], true);
        if agent > 0 && (is_first || choice & 16 == 0) {
            messages.push(round_trip(agent, turn));
        }
        messages.push(Message::Origin(Origin { agent, sequence: turn }));
        for number in 0..PROCESSES {
            let own = choice.rotate_left(number * 11 + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            // Some say late who they are.
            let is_late = own >> 33 & 3 == 0;
            if is_first && !is_late {
                messages.push(process(agent, number));
            }
            let ring = (own & 1) as u32;
            let slots = slots_of(own, (agent, number), turn);
            let position = positions.entry((agent, number, ring)).or_default();
            // Some is missing, some comes again.
            let from = match own >> 57 {
                0 => *position + 5,
                1 => position.saturating_sub(1),
                _ => *position,
            };
            *position = (*position).max(from + slots.len() as u64);
            messages.push(Message::Slots(Slots { process: number, ring, from, slots }));
            if is_first && is_late {
                messages.push(process(agent, number));
            }
            // Some is not wanted, and some did not fit.
            if own >> 23 & 15 == 0 {
                *position += 3;
                messages.push(Message::Skipped(Skipped { process: number, ring, to: *position }));
            }
            if own >> 27 & 15 == 0 {
                messages.push(Message::Lost(Lost {
                    process: number,
                    ring_full: turn,
                    no_ring: 1,
                    unreadable: 0,
                    state: EndState::Running,
                }));
            }
        }
        let monotonic_ns = u64::from(agent) * AHEAD_NS + (turn + 1) * STEP_NS;
        messages.push(Message::ClockSample(ClockSample { ticks: 3 * monotonic_ns, monotonic_ns }));
    }
    let monotonic_ns = (choices.len() as u64 + 1) * STEP_NS;
    messages.push(Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    messages
}
