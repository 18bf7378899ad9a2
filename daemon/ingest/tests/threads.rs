//! What becomes known is the same however many threads read slots, and however many messages come at once.

use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Call as Row, Collected, Event, Losses, Nanoseconds, Rank, SiteInfo};
use mpiscope_wire::{
    Agent, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, Entry, Message,
    ModuleDefinition, NO_COMM, Origin, PEER_ANY, PEER_NONE, Part, PartFlags, PathPart, Process, RoundTrip,
    RunEnd, RunStart, SiteDefinition, Slot, Slots, Sync, id,
};
use proptest::prelude::*;
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

/// Messages of some turns; in each an agent tells what its ranks did.
fn messages(choices: &[u64]) -> Vec<Message> {
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
            if is_first {
                messages.push(process(agent, number));
            }
            let own = choice.rotate_left(number * 11 + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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
        }
        let monotonic_ns = u64::from(agent) * AHEAD_NS + (turn + 1) * STEP_NS;
        messages.push(Message::ClockSample(ClockSample { ticks: 3 * monotonic_ns, monotonic_ns }));
    }
    let monotonic_ns = (choices.len() as u64 + 1) * STEP_NS;
    messages.push(Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    messages
}

/// All that became known, in an order that no split changes.
#[derive(Debug, Default)]
struct Outcome {
    rows: BTreeMap<(Rank, u16), Vec<Row>>,
    lone_polls: BTreeMap<(Rank, u16), Vec<Nanoseconds>>,
    activities: BTreeMap<(Rank, u16), Vec<Activity>>,
    collected: BTreeMap<Rank, Vec<Collected>>,
    events: BTreeMap<Rank, Vec<(Event, Nanoseconds)>>,
    sites: Vec<SiteInfo>,
    comms: Vec<(u32, u64)>,
    faults: Vec<String>,
    losses: Losses,
    beyond_sites: u64,
    until_ns: Nanoseconds,
}

impl Outcome {
    fn add(&mut self, batch: Batch) {
        for &at in &batch.lone_polls {
            let row = batch.calls[at];
            self.lone_polls.entry((row.rank, row.thread)).or_default().push(row.start_ns);
        }
        for row in batch.calls {
            self.rows.entry((row.rank, row.thread)).or_default().push(row);
        }
        for activity in batch.activities {
            self.activities.entry((activity.rank, activity.call.thread())).or_default().push(activity);
        }
        for collected in batch.collected.into_iter().chain(batch.undiagnosed) {
            self.collected.entry(collected.rank).or_default().push(collected);
        }
        assert_eq!(batch.events.len(), batch.events_end_ns.len());
        for (event, end_ns) in batch.events.into_iter().zip(batch.events_end_ns) {
            self.events.entry(event.rank()).or_default().push((event, end_ns));
        }
        self.sites.extend(batch.sites);
        self.comms.extend(batch.comms.iter().map(|info| (info.comm.0, info.id)));
        self.faults.extend(batch.faults.into_iter().map(|fault| fault.text));
        self.losses = batch.losses.unwrap_or(self.losses);
        self.until_ns = batch.until_ns;
    }
}

/// What differs, if anything does; all of it would be pages.
fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    fn first_difference<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
        name: &str,
        one: &BTreeMap<K, Vec<V>>,
        other: &BTreeMap<K, Vec<V>>,
    ) -> Option<String> {
        let keys = one.keys().chain(other.keys());
        let key = keys.into_iter().find(|key| one.get(key) != other.get(key))?;
        let (one, other) = (one.get(key).map(Vec::as_slice), other.get(key).map(Vec::as_slice));
        let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
        let at = (0..).find(|&at| one.get(at) != other.get(at))?;
        Some(format!("{name} of {key:?}, number {at}: {:?} and {:?}", one.get(at), other.get(at)))
    }
    let rest = |known: &Outcome| {
        let Outcome { sites, comms, faults, losses, beyond_sites, until_ns, .. } = known;
        format!("{sites:?} {comms:?} {losses:?} {beyond_sites} {until_ns} {faults:?}")
    };
    first_difference("rows", &one.rows, &other.rows)
        .or_else(|| first_difference("lone polls", &one.lone_polls, &other.lone_polls))
        .or_else(|| first_difference("activities", &one.activities, &other.activities))
        .or_else(|| first_difference("collected", &one.collected, &other.collected))
        .or_else(|| first_difference("events", &one.events, &other.events))
        .or_else(|| (rest(one) != rest(other)).then(|| format!("{}\n{}", rest(one), rest(other))))
}

/// What is known after batches of this number of messages. Also how many batches there were behind others.
fn outcome(messages: &[Message], at_once: usize, ingest: Ingest) -> (Outcome, usize) {
    let (mut known, mut beside, mut ingest) = (Outcome::default(), 0, ingest);
    for messages in messages.chunks(at_once) {
        messages.iter().for_each(|message| ingest.feed(message.clone()));
        known.add(ingest.take());
        while let Some(batch) = ingest.more() {
            // What is behind others defines nothing.
            assert!(batch.sites.is_empty() && batch.comms.is_empty() && batch.ranks.is_empty());
            known.add(batch);
            beside += 1;
        }
    }
    known.faults.sort();
    known.beyond_sites = ingest.calls_beyond_sites();
    (known, beside)
}

proptest! {
    #[test]
    fn threads_and_batches_do_not_matter(
        choices in proptest::collection::vec(any::<u64>(), 1..60),
        at_once in 1_usize..80,
        threads in 2_usize..5,
    ) {
        let messages = messages(&choices);
        let one = || Ingest::for_diagnosis();
        let (expected, none) = outcome(&messages, 1, one());
        prop_assert_eq!(none, 0);
        prop_assert_eq!(difference(&outcome(&messages, at_once, one()).0, &expected), None);
        let several = one().with_threads(threads).with_least_for_thread(1);
        prop_assert_eq!(difference(&outcome(&messages, at_once, several).0, &expected), None);
    }
}

#[test]
fn many_slots_are_read_on_several_threads() {
    let choices: Vec<u64> = (1..400_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let messages = messages(&choices);
    let (expected, _) = outcome(&messages, messages.len(), Ingest::for_diagnosis());
    let several = Ingest::for_diagnosis().with_threads(3).with_least_for_thread(4);
    let (found, beside) = outcome(&messages, 300, several);
    assert!(beside > 2, "{beside} batches");
    assert_eq!(difference(&found, &expected), None);
    let rows: usize = found.rows.values().map(Vec::len).sum();
    assert!(rows > 1_000, "{rows} rows");
    // Put together they are one batch.
    let (mut ingest, mut joined) =
        (Ingest::for_diagnosis().with_threads(3).with_least_for_thread(4), Outcome::default());
    for messages in messages.chunks(300) {
        messages.iter().for_each(|message| ingest.feed(message.clone()));
        let mut batch = ingest.take();
        std::iter::from_fn(|| ingest.more()).for_each(|behind| batch.append(behind));
        joined.add(batch);
    }
    joined.faults.sort();
    joined.beyond_sites = ingest.calls_beyond_sites();
    assert_eq!(difference(&joined, &expected), None);
    // Without a budget for what waits nothing is read at once, and what there is no room for is counted alike.
    let scarce =
        |threads| Ingest::for_diagnosis().within(30_000).with_threads(threads).with_least_for_thread(1);
    assert_eq!(outcome(&messages, 300, scarce(3)).0.losses, outcome(&messages, 300, scarce(1)).0.losses);
}
