//! Agents of several nodes: their processes and clocks are their own, and who takes over learns how far each has come.

use mpiscope_ingest::{Ingest, KnownAgent};
use mpiscope_model::{Batch, Event, Node, ProcessState, Rank};
use mpiscope_wire::{
    Agent, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, Contact, Cpus, EndState, Entry,
    Heard, Lost, Message, NO_COMM, Origin, Process, RoundTrip, RunEnd, RunStart, Scheduling, Slots, id,
};
use std::collections::BTreeMap;

const AHEAD_NS: u64 = 1_000_000_000_000;

fn start() -> Message {
    Message::RunStart(RunStart {
        run: "run".into(),
        node: "one".into(),
        unix_ns: 1,
        monotonic_ns: 1000,
        command: Vec::new(),
    })
}

fn process(number: u32, rank: u32, node: &str) -> Message {
    Message::Process(Process {
        process: number,
        pid: 100,
        made_ns: 1,
        rank,
        world_size: 2,
        clock: ClockKind::Monotonic,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: node.into(),
    })
}

/// A send to the other rank at this time of the node's clock.
fn send(from: u64, rank: u32, at_ns: u64) -> Message {
    let world = CommDefinition {
        index: 0,
        kind: CommKind::Communicator,
        id: 0,
        size: 2,
        own_rank: rank,
        leader: 0,
        parent: NO_COMM,
        other: None,
    };
    let call = Call {
        flags: CallFlags::SEND,
        function: id::SEND,
        duration: 10,
        start: at_ns,
        peer: 1 - rank as i32,
        comm: 0,
        site: 0,
        tag: 7,
        bytes: 8,
    };
    Message::Slots(Slots { process: 0, ring: 0, from, slots: vec![world.encode(), call.encode()] })
}

fn sample(monotonic_ns: u64) -> Message {
    Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns })
}

fn agent() -> Message {
    Message::Agent(Agent { agent: 1, identity: 99, node: "two".into() })
}

fn origin(agent: u32, sequence: u64) -> Message {
    Message::Origin(Origin { agent, sequence })
}

fn round_trip() -> Message {
    let offset_ns = -(AHEAD_NS as i64);
    Message::RoundTrip(RoundTrip { agent: 1, local_ns: AHEAD_NS + 1500, offset_ns, uncertainty_ns: 5 })
}

fn feed(ingest: &mut Ingest, messages: Vec<Message>) -> Batch {
    messages.into_iter().for_each(|message| ingest.feed(message));
    ingest.take()
}

fn sends(batch: &Batch) -> Vec<(u32, u64)> {
    let sends = batch.events.iter().filter_map(|event| match event {
        Event::Send { rank, begin_ns, .. } => Some((rank.0, *begin_ns)),
        _ => None,
    });
    sends.collect()
}

#[test]
fn the_same_numbers_on_two_nodes_are_two_processes_on_one_clock() {
    let mut ingest = Ingest::new();
    let batch = feed(
        &mut ingest,
        vec![
            start(),
            process(0, 0, "one"),
            send(0, 0, 1500),
            sample(2000),
            agent(),
            round_trip(),
            origin(1, 0),
            process(0, 1, "two"),
            sample(AHEAD_NS + 1600),
            send(0, 1, AHEAD_NS + 1700),
            sample(AHEAD_NS + 1900),
            origin(0, 0),
            send(2, 0, 2100),
            sample(2500),
        ],
    );
    let (ours, theirs): (Vec<_>, Vec<_>) = sends(&batch).into_iter().partition(|(rank, _)| *rank == 0);
    assert_eq!(ours, [(0, 500), (0, 1100)]);
    assert_eq!(theirs.len(), 1);
    assert!(theirs[0].1.abs_diff(700) <= 5, "{theirs:?}");
    assert_eq!(batch.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(batch.faults.is_empty(), "{:?}", batch.faults);
    assert_eq!(ingest.clocks().iter().map(|(node, _)| *node).collect::<Vec<_>>(), [Node(0), Node(1)]);
    assert_eq!(ingest.processes(0).collect::<Vec<_>>(), [(0, (100, 1))]);
}

#[test]
fn what_waits_for_a_clock_beyond_the_budget_is_counted_as_lost_once() {
    let slots = |to: u64| (0..to).step_by(2).map(|from| send(from, 1, AHEAD_NS + 1700 + from));
    for goes_on in [false, true] {
        let mut ingest = Ingest::new().within(16_000);
        let before =
            feed(&mut ingest, [start(), agent(), origin(1, 0), process(0, 1, "two")].into_iter().collect());
        assert!(before.faults.is_empty());
        let waiting = feed(&mut ingest, slots(400).collect());
        assert!(waiting.faults[0].text.contains("more waits for the clock of"), "{:?}", waiting.faults);
        let mut messages = vec![round_trip(), sample(AHEAD_NS + 1600), sample(AHEAD_NS + 2900)];
        if goes_on {
            messages.extend([send(400, 1, AHEAD_NS + 3000), sample(AHEAD_NS + 3900)]);
        }
        let after = feed(&mut ingest, messages);
        ingest.settle_rest();
        let rest = ingest.take();
        let settled = (after.calls.len() + rest.calls.len()) as u64;
        assert!((10..200).contains(&settled), "{settled}");
        let made = 200 + u64::from(goes_on);
        let lost = rest.losses.or(after.losses).unwrap().unreadable;
        // A call is a slot, and with each came the definition of its communicator.
        assert_eq!(2 * settled + lost, 2 * made, "{goes_on}");
    }
}

#[test]
fn packed_slots_that_wait_for_a_clock_count_as_what_they_come_to() {
    let Message::Slots(sent) = send(0, 1, AHEAD_NS + 1700) else { panic!("not packed yet") };
    let many = vec![sent.slots[1]; 500];
    let waits = |from| Message::of_slots(0, 0, from, &many);
    assert!(matches!(waits(0), Message::Packed(packed) if packed.slots.bytes() < 6_000));
    let mut ingest = Ingest::new().within(20_000);
    let head = vec![start(), agent(), origin(1, 0), process(0, 1, "two"), waits(0)];
    let faults = feed(&mut ingest, head).faults;
    assert!(faults.is_empty(), "{faults:?}");
    let faults = feed(&mut ingest, vec![waits(500)]).faults;
    assert!(faults[0].text.contains("more waits for the clock of"), "{faults:?}");
}

#[test]
fn slots_of_a_node_wait_until_its_clock_was_compared() {
    let mut ingest = Ingest::new();
    let before = feed(
        &mut ingest,
        vec![
            start(),
            agent(),
            origin(1, 0),
            process(0, 1, "two"),
            send(0, 1, AHEAD_NS + 1700),
            sample(AHEAD_NS + 1800),
            sample(AHEAD_NS + 1900),
        ],
    );
    assert!(before.calls.is_empty());
    let after = feed(&mut ingest, vec![round_trip(), sample(AHEAD_NS + 2000)]);
    assert_eq!(after.calls.len(), 1);
}

#[test]
fn a_clock_never_compared_is_reported() {
    let mut ingest = Ingest::new();
    feed(&mut ingest, vec![start(), agent(), origin(1, 0), process(0, 1, "two"), send(0, 1, 5)]);
    ingest.settle_rest();
    let batch = ingest.take();
    assert_eq!(batch.calls.len(), 1);
    assert!(batch.faults.iter().any(|fault| fault.text.contains("clock of two")), "{:?}", batch.faults);
}

#[test]
fn who_takes_over_learns_how_far_each_has_come() {
    let mut ingest = Ingest::new();
    let messages = vec![
        start(),
        process(0, 0, "one"),
        agent(),
        round_trip(),
        origin(1, 40),
        process(0, 1, "two"),
        sample(AHEAD_NS + 1600),
        send(0, 1, AHEAD_NS + 1700),
        origin(0, 0),
        send(0, 0, 1100),
        sample(2000),
        origin(1, 43),
        sample(AHEAD_NS + 1900),
    ];
    feed(&mut ingest, messages);
    let known =
        KnownAgent { agent: 1, identity: 99, node: "two".into(), next_sequence: 44, is_finished: false };
    assert_eq!(ingest.agents().collect::<Vec<_>>(), [known]);
    assert_eq!(ingest.positions(1, 0).collect::<Vec<_>>(), [(0, 2)]);
}

#[test]
fn repeated_messages_count_once() {
    let mut ingest = Ingest::new();
    let messages = || {
        let calls = send(0, 1, AHEAD_NS + 1700);
        vec![origin(1, 0), process(0, 1, "two"), sample(AHEAD_NS + 1600), calls, sample(AHEAD_NS + 1900)]
    };
    let mut all = vec![start(), agent(), round_trip()];
    all.extend(messages());
    all.extend(messages());
    assert_eq!(feed(&mut ingest, all).calls.len(), 1);
}

#[test]
fn ranks_of_a_node_that_is_not_heard_of_are_silent_until_it_is() {
    let mut ingest = Ingest::new();
    let states = |batch: &Batch| -> Vec<ProcessState> { batch.ranks.iter().map(|info| info.state).collect() };
    let contact = |is_there| {
        let heard = if is_there { Heard::Again } else { Heard::Missed };
        Message::Contact(Contact { agent: 1, heard })
    };
    feed(&mut ingest, vec![start(), process(0, 0, "one"), agent(), origin(1, 0), process(0, 1, "two")]);
    let away = feed(&mut ingest, vec![contact(false)]);
    assert_eq!((states(&away), away.ranks[0].rank), (vec![ProcessState::Silent], Rank(1)));
    assert_eq!(states(&feed(&mut ingest, vec![contact(true)])), [ProcessState::Running]);
    let lost = Lost { process: 0, ring_full: 0, no_ring: 0, unreadable: 0, state: EndState::Finalized };
    feed(&mut ingest, vec![Message::Lost(lost)]);
    assert_eq!(states(&feed(&mut ingest, vec![contact(false)])), []);
}

#[test]
fn hosts_that_have_not_sent_everything_are_known() {
    let mut ingest = Ingest::new();
    let hosts = |ingest: &Ingest| -> Vec<(String, Option<u64>)> {
        ingest.unfinished_hosts().map(|(node, until_ns)| (node.to_owned(), until_ns)).collect()
    };
    feed(&mut ingest, vec![start(), process(0, 0, "one"), agent(), origin(1, 0), process(0, 1, "two")]);
    assert_eq!(hosts(&ingest), [("two".to_owned(), None)]);
    feed(&mut ingest, vec![sample(AHEAD_NS + 1900)]);
    assert_eq!(hosts(&ingest), [("two".to_owned(), None)], "its clock was not compared");
    feed(&mut ingest, vec![round_trip()]);
    assert_eq!(hosts(&ingest), [("two".to_owned(), Some(900))]);
    feed(&mut ingest, vec![Message::Contact(Contact { agent: 1, heard: Heard::Finished })]);
    assert_eq!(hosts(&ingest), []);
}

#[test]
fn how_well_clocks_agree_is_known_once_they_were_compared() {
    let mut ingest = Ingest::new();
    feed(&mut ingest, vec![start(), process(0, 0, "one"), agent(), origin(1, 0), process(0, 1, "two")]);
    assert_eq!(ingest.clock_uncertainties(), BTreeMap::from([(Node(0), 0)]), "that of the run is right");
    feed(&mut ingest, vec![round_trip()]);
    let compared = ingest.clock_uncertainties();
    // That of the round trip, and what rounding adds.
    assert!((5..7).contains(&compared[&Node(1)]), "{compared:?}");
}

#[test]
fn a_node_far_behind_holds_nothing_up() {
    let mut ingest = Ingest::new();
    let second = 1_000_000_000;
    let mut all = vec![start(), agent(), round_trip(), origin(1, 0)];
    all.extend([sample(AHEAD_NS + 2000), sample(AHEAD_NS + 3000)]);
    all.extend([origin(0, 0), sample(second), sample(second + 1)]);
    assert_eq!(feed(&mut ingest, all).until_ns, 1000, "the slower of two");
    let later = feed(&mut ingest, vec![sample(9 * second), sample(9 * second + 1)]);
    assert_eq!(later.until_ns, 9 * second - 1000);
    let end = feed(&mut ingest, vec![Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns: 10 * second })]);
    assert_eq!(end.until_ns, 10 * second - 1000);
}

#[test]
fn what_the_scheduler_did_is_on_the_clock_of_the_run() {
    let mut ingest = Ingest::new();
    let figures = Scheduling {
        process: 0,
        monotonic_ns: AHEAD_NS + 1500,
        run_ns: 2,
        wait_ns: 3,
        voluntary: 4,
        involuntary: 5,
        stopped_ns: 6,
        blocked_ns: 1,
        major_faults: 7,
    };
    let batch = feed(
        &mut ingest,
        vec![
            start(),
            agent(),
            round_trip(),
            origin(1, 0),
            process(0, 1, "two"),
            Message::Scheduling(figures),
            Message::Scheduling(Scheduling { process: 9, ..figures }),
        ],
    );
    let [row] = batch.scheduling.as_slice() else { panic!("{:?}", batch.scheduling) };
    assert_eq!(
        (row.rank, row.at_ns, row.run_ns, row.wait_ns, row.involuntary, row.stopped_ns, row.major_faults),
        (Rank(1), 500, 2, 3, 5, 6, 7)
    );
    // Its agent is started again and sums from 0.
    let again = [(9, 1), (2, 2), (3, 3)].map(|(stopped_ns, after_ns)| {
        let monotonic_ns = AHEAD_NS + 1500 + after_ns;
        Message::Scheduling(Scheduling { stopped_ns, monotonic_ns, ..figures })
    });
    let rows = feed(&mut ingest, again.into()).scheduling;
    assert_eq!(rows.iter().map(|row| row.stopped_ns).collect::<Vec<_>>(), [9, 11, 12]);
    assert_eq!(rows.iter().map(|row| row.blocked_ns).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn the_cpus_of_a_rank_are_known_when_they_change() {
    let mut ingest = Ingest::new();
    let cpus = |process, allowed: &str| {
        Message::Cpus(Cpus { process, on_host: 8, quota_milli: 500, allowed: allowed.into() })
    };
    let known = |batch: Batch| -> Vec<_> {
        batch.ranks.iter().map(|info| (info.rank, info.cpus.allowed.as_str().to_owned())).collect()
    };
    let first = [start(), process(0, 1, "one"), cpus(0, "0-1,1"), cpus(9, "0")];
    assert_eq!(known(feed(&mut ingest, first.into())), [(Rank(1), String::new()), (Rank(1), "0-1".into())]);
    assert_eq!(known(feed(&mut ingest, vec![cpus(0, "1,0")])), [], "the same as before");
    let batch = feed(&mut ingest, vec![cpus(0, "5")]);
    assert_eq!((batch.ranks[0].cpus.on_host, batch.ranks[0].cpus.quota_milli), (8, 500));
    assert_eq!(known(batch), [(Rank(1), "5".into())]);
    assert_eq!(
        known(feed(&mut ingest, vec![cpus(0, "no list")])),
        [(Rank(1), String::new())],
        "not known any more"
    );
}

#[test]
fn messages_of_nobody_are_faults() {
    let mut ingest = Ingest::new();
    let batch = feed(
        &mut ingest,
        vec![
            start(),
            origin(5, 0),
            Message::Agent(Agent { agent: 9, identity: 1, node: "nine".into() }),
            Message::Slots(Slots { process: 3, ring: 0, from: 0, slots: vec![Entry::encode_thread(0, 0)] }),
            sample(5),
        ],
    );
    assert_eq!(batch.faults.len(), 3, "{:?}", batch.faults);
}
