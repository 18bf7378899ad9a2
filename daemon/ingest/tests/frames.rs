//! Frames in, model out: what a small job wrote, what a job may write by mistake or on purpose.

use mpiscope_ingest::Ingest;
use mpiscope_model::{Batch, Comm, Event, ProcessState, Rank, Site};
use mpiscope_wire::{
    Asked, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, EndState, Entry, Flight, Lost,
    Message, ModuleDefinition, NO_COMM, PEER_NONE, Part, PartFlags, PathPart, Process, RunStart,
    SiteDefinition, Slot, Slots, Sync, id,
};
use proptest::prelude::*;

fn start() -> Message {
    let command = vec!["a".into()];
    Message::RunStart(RunStart {
        run: "run".into(),
        node: "node".into(),
        unix_ns: 1,
        monotonic_ns: 1000,
        command,
    })
}

fn process(number: u32, rank: u32) -> Message {
    Message::Process(Process {
        process: number,
        pid: 100 + number,
        made_ns: 1,
        rank,
        world_size: 2,
        clock: ClockKind::Monotonic,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: "node".into(),
    })
}

fn slots(process: u32, from: u64, slots: Vec<Slot>) -> Message {
    Message::Slots(Slots { process, ring: 0, from, slots })
}

fn sample(monotonic_ns: u64) -> Message {
    Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns })
}

fn world(own_rank: u32) -> Slot {
    CommDefinition {
        index: 0,
        kind: CommKind::Communicator,
        id: 0,
        size: 2,
        own_rank,
        leader: 0,
        parent: NO_COMM,
        other: None,
    }
    .encode()
}

fn call(function: u16, flags: CallFlags, start: u64, peer: i32, bytes: u64) -> Call {
    Call { flags, function, duration: 10, start, peer, comm: 0, site: 0, tag: 7, bytes }
}

fn send_at(start: u64) -> Slot {
    call(id::SEND, CallFlags::SEND, start, 1, 8).encode()
}

fn fed(messages: Vec<Message>) -> Batch {
    let mut ingest = Ingest::new();
    messages.into_iter().for_each(|message| ingest.feed(message));
    ingest.take()
}

fn part(post: u64, bytes: u64) -> Slot {
    Part { flags: PartFlags::COMPLETED, tag: 3, post, peer: 1, comm: 0, bytes }.encode()
}

#[test]
fn ticks_of_a_process_are_times_of_the_run() {
    let mut ingest = Ingest::new();
    let Message::Process(counting) = process(1, 1) else { unreachable!() };
    let counting = Message::Process(Process { clock: ClockKind::TimeStampCounter, ..counting });
    let sample = |ticks, monotonic_ns| Message::ClockSample(ClockSample { ticks, monotonic_ns });
    // The run starts at 1000; the counter runs at two ticks a nanosecond, then at four.
    for message in
        [start(), process(0, 0), counting, sample(5000, 1000), sample(5200, 1100), sample(5600, 1200)]
    {
        ingest.feed(message);
    }
    let since_ns = |process, since_ticks| {
        let (rank, thread, function, site) = (0, 0, 20, 0);
        let flight = Flight { process, rank, thread, function, site, since_ticks, asked: Asked::Nothing };
        ingest.in_flight(0, &flight).map(|call| call.since_ns)
    };
    assert_eq!([900, 1000, 1150, 7000].map(|ticks| since_ns(0, ticks)), [0, 0, 150, 6000].map(Some));
    let counted = [4000, 5000, 5100, 5400, 5600, 6000].map(|ticks| since_ns(1, ticks));
    assert_eq!(counted, [0, 0, 50, 150, 200, 333].map(Some), "after the last pair, as over all");
    assert_eq!(since_ns(2, 5000), None);
}

#[test]
fn a_call_becomes_a_row_with_times_of_the_run() {
    let send = call(id::SEND, CallFlags::SEND, 1500, 1, 64).encode();
    let batch =
        fed(vec![start(), process(0, 0), sample(1100), slots(0, 0, vec![world(0), send]), sample(2000)]);
    let row = batch.calls[0];
    assert_eq!(
        (row.start_ns, row.end_ns, row.peer, row.tag, row.bytes),
        (500, 510, Some(Rank(1)), Some(7), 64)
    );
    assert_eq!((row.comm, row.count, batch.comms.len(), batch.until_ns), (Some(Comm::WORLD), 1, 1, 100));
    assert!(matches!(batch.events[0], Event::Send { to: Rank(1), bytes: 64, begin_ns: 500, .. }));
}

#[test]
fn nothing_is_known_before_the_next_sample() {
    let mut ingest = Ingest::new();
    for message in [start(), process(0, 0), sample(1100), slots(0, 0, vec![world(0), send_at(1500)])] {
        ingest.feed(message);
    }
    assert_eq!(ingest.take().calls.len(), 0);
    ingest.settle_rest();
    assert_eq!(ingest.take().calls.len(), 1, "unless the input ends");
}

#[test]
fn a_failed_single_poll_differs_from_a_successful_one() {
    let failed = call(id::TEST, CallFlags::FOLDED, 1200, PEER_NONE, 1).encode();
    let found = call(id::TEST, CallFlags::NONE, 1400, PEER_NONE, 0).encode();
    let all = vec![world(0), failed, found, call(id::TEST, CallFlags::FOLDED, 1600, PEER_NONE, 1).encode()];
    let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(2000)]);
    assert!(batch.calls.iter().all(|row| row.count == 1));
    assert_eq!(batch.lone_polls, [0, 2]);
}

#[test]
fn polls_are_counted_and_begin_the_wait() {
    let polls = call(id::TEST, CallFlags::FOLDED, 1200, PEER_NONE, 1_000_000).encode();
    let test = call(id::TEST, CallFlags::NONE, 1400, PEER_NONE, 0).encode();
    let all = vec![world(0), polls, part(4, 8), test];
    let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(2000)]);
    let counts: Vec<(u64, u64)> = batch.calls.iter().map(|row| (row.count, row.bytes)).collect();
    assert_eq!(counts, [(1_000_000, 0), (1, 8)]);
    assert!(batch.lone_polls.is_empty(), "their count says it");
    assert!(matches!(batch.events[0], Event::Receive { begin_ns: 200, end_ns: 410, alone: true, .. }));
}

#[test]
fn one_who_works_between_polls_does_not_wait() {
    let polls = |at| call(id::TEST, CallFlags::FOLDED, at, PEER_NONE, 1000).encode();
    let test = |at| call(id::TEST, CallFlags::NONE, at, PEER_NONE, 0).encode();
    // Nothing in between; work before the one that finds something; work between two rows of polls.
    for (polled, found, begin_ns) in
        [([1200, 1210], 1300, 200), ([1200, 1210], 60_000, 59_000), ([1200, 60_000], 60_100, 59_000)]
    {
        let all = vec![world(0), polls(polled[0]), polls(polled[1]), part(4, 8), test(found)];
        let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(70_000)]);
        let begun = batch.events.iter().find_map(|event| match event {
            Event::Receive { begin_ns, .. } => Some(*begin_ns),
            _ => None,
        });
        assert_eq!(begun, Some(begin_ns));
    }
}

#[test]
fn a_call_with_several_messages_has_no_peer() {
    let wait = call(id::WAITALL, CallFlags::NONE, 1400, PEER_NONE, 0).encode();
    let exchange = call(id::SENDRECV, CallFlags::SEND, 1500, 1, 32).encode();
    let inline = Part { flags: PartFlags::INLINE, tag: 3, post: 0, peer: 1, comm: 0, bytes: 16 }.encode();
    let all = vec![world(0), part(1, 8), part(2, 8), wait, part(3, 8), wait, inline, exchange];
    let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(2000)]);
    let rows: Vec<_> = batch.calls.iter().map(|row| (row.peer, row.tag, row.bytes)).collect();
    assert_eq!(rows, [(None, None, 16), (Some(Rank(1)), Some(3), 8), (None, None, 32)]);
    let alone: Vec<bool> = batch
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Receive { alone, .. } => Some(*alone),
            _ => None,
        })
        .collect();
    assert_eq!(alone, [false, false, true, true]);
}

#[test]
fn a_wait_of_hours_and_a_message_of_terabytes_keep_their_size() {
    let mut send = call(id::SEND, CallFlags::SEND, 1500, 1, 3 << 40);
    send.duration = 7_200_000_000_000;
    let all = vec![world(0), send.encode_wide(), send.encode()];
    let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(8_000_000_000_000)]);
    assert_eq!((batch.calls[0].duration_ns(), batch.calls[0].bytes), (7_200_000_000_000, 3 << 40));
}

#[test]
fn repeated_slots_count_once_and_missing_ones_are_reported() {
    let batch = fed(vec![
        start(),
        process(0, 0),
        slots(0, 0, vec![world(0), send_at(1100), send_at(1200)]),
        slots(0, 1, vec![send_at(1100), send_at(1200), send_at(1300)]),
        slots(0, 9, vec![send_at(1900)]),
        sample(3000),
    ]);
    assert_eq!(batch.calls.len(), 4);
    assert_eq!(batch.losses.unwrap().unreadable, 5);
    assert!(batch.events.contains(&Event::Lost { rank: Rank(0) }));
    assert_eq!(batch.faults[0].text, "5 slots of ring 0 are missing");
}

#[test]
fn losses_are_cumulative_and_mark_the_place() {
    let send = send_at(1500);
    let numbers = Sync { peer: 1, comm: 0, sent: 9, received: 0 }.encode();
    let all = vec![world(0), send, Entry::encode_lost(8), numbers, send, Entry::encode_lost(8), send];
    let lost = Lost { process: 0, ring_full: 8, no_ring: 2, unreadable: 0, state: EndState::Aborted };
    let batch = fed(vec![start(), process(0, 0), slots(0, 0, all), sample(3000), Message::Lost(lost)]);
    let marks = batch.events.iter().filter(|event| matches!(event, Event::Lost { .. })).count();
    assert_eq!((marks, batch.losses.unwrap().total()), (1, 10));
    assert!(batch.events.contains(&Event::Numbers {
        rank: Rank(0),
        comm: Comm::WORLD,
        peer: Rank(1),
        sent: 9,
        received: 0
    }));
    assert_eq!(batch.ranks.last().unwrap().state, ProcessState::Aborted);
}

#[test]
fn members_share_a_communicator_whatever_their_own_numbers() {
    let define = |index| {
        CommDefinition {
            index,
            kind: CommKind::Communicator,
            id: 77,
            size: 2,
            own_rank: 0,
            leader: 0,
            parent: 0,
            other: None,
        }
        .encode()
    };
    let send = |comm| Call { comm, ..call(id::SEND, CallFlags::SEND, 1500, 1, 8) }.encode();
    let batch = fed(vec![
        start(),
        process(0, 0),
        process(1, 1),
        slots(0, 0, vec![world(0), define(3), send(3)]),
        slots(1, 0, vec![world(1), define(9), send(9)]),
        sample(3000),
    ]);
    let comms: Vec<_> = batch.calls.iter().map(|row| row.comm).collect();
    assert_eq!((comms, batch.comms.len()), (vec![Some(Comm(1)), Some(Comm(1))], 2));
    assert_eq!(batch.comms[1].parent, Some(Comm::WORLD));
}

#[test]
fn a_hostile_job_is_reported_and_costs_only_itself() {
    let strange = call(9999, CallFlags::SEND, 1500, 1, 8).encode();
    let beyond = call(id::SEND, CallFlags::SEND, 1500, 5, 8).encode();
    let all = vec![[0xFF; 4], world(0), strange, beyond, send_at(1600)];
    let unknown = slots(4, 0, vec![send_at(1600)]);
    let batch = fed(vec![start(), unknown, process(0, 0), slots(0, 0, all), sample(3000)]);
    assert_eq!(batch.calls.len(), 1);
    assert_eq!(batch.losses.unwrap().unreadable, 4);
    assert_eq!(batch.faults.len(), 4);
}

#[test]
fn records_of_a_process_or_ring_that_nobody_knows_count_as_lost() {
    let no_ring = Message::Slots(Slots { process: 0, ring: 64, from: 0, slots: vec![send_at(1100); 2] });
    let of_nobody = slots(9, 0, vec![send_at(1100); 3]);
    let batch = fed(vec![start(), process(0, 0), no_ring, of_nobody, sample(2000)]);
    assert_eq!(batch.losses.unwrap().unreadable, 5);
}

#[test]
fn several_threads_of_a_rank_are_merged_by_time() {
    let ring = |ring, all: Vec<Slot>| Message::Slots(Slots { process: 0, ring, from: 0, slots: all });
    let batch = fed(vec![
        start(),
        process(0, 0),
        ring(0, vec![world(0), send_at(1500), send_at(1700)]),
        ring(1, vec![Entry::encode_thread(4, 9), world(0), send_at(1400), send_at(1600)]),
        sample(3000),
    ]);
    let times: Vec<u64> = batch
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Send { begin_ns, .. } => Some(*begin_ns),
            _ => None,
        })
        .collect();
    assert_eq!(times, [400, 500, 600, 700]);
    assert!(batch.calls.iter().any(|row| row.thread == 4));
}

proptest! {
    #[test]
    fn garbage_never_panics(
        words in proptest::collection::vec(any::<[u64; 4]>(), 0..60),
        kinds in proptest::collection::vec(0_u64..9, 60),
        from: u64,
        samples in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..5),
    ) {
        let mut ingest = Ingest::new();
        ingest.feed(start());
        ingest.feed(process(0, 0));
        let of_kind = |(slot, kind): (&Slot, &u64)| [slot[0] & !0xFF | kind, slot[1], slot[2], slot[3]];
        ingest.feed(slots(0, from, words.iter().zip(&kinds).map(of_kind).collect()));
        for (ticks, monotonic_ns) in samples {
            ingest.feed(Message::ClockSample(ClockSample { ticks, monotonic_ns }));
        }
        ingest.settle_rest();
        let batch = ingest.take();
        prop_assert!(batch.calls.iter().all(|row| row.start_ns <= row.end_ns));
    }

    #[test]
    fn the_split_into_messages_does_not_matter(sizes in proptest::collection::vec(1_usize..8, 1..20)) {
        let mut all = vec![world(0)];
        for at in 0..40 {
            all.push(part(at, at));
            all.push(call(id::WAIT, CallFlags::NONE, 1100 + at * 20, PEER_NONE, 0).encode());
        }
        let whole = fed(vec![start(), process(0, 0), slots(0, 0, all.clone()), sample(9000)]);
        let (mut messages, mut from) = (vec![start(), process(0, 0)], 0);
        for size in sizes.iter().cycle() {
            let until = (from + size).min(all.len());
            messages.push(slots(0, from as u64, all[from..until].to_vec()));
            from = until;
            if from == all.len() {
                break;
            }
        }
        messages.push(sample(9000));
        let pieces = fed(messages);
        prop_assert_eq!(pieces.calls, whole.calls);
        prop_assert_eq!(pieces.events, whole.events);
    }
}

/// What a process says of a site: the module, its path, and the place in it.
fn site(number: u32, module: u32, path: &str, offset: u64) -> Vec<Slot> {
    let mut all = vec![ModuleDefinition::new(module, path.as_bytes(), &[]).encode()];
    all.extend(PathPart::all(module, path.as_bytes()).map(|part| part.encode()));
    all.push(SiteDefinition { number, module, offset, parent: 0 }.encode());
    all
}

fn from_site(site: u32, start: u64) -> Slot {
    Call { site, ..call(id::BARRIER, CallFlags::NONE, start, PEER_NONE, 0) }.encode()
}

#[test]
fn the_same_place_of_the_same_file_is_one_site_on_all_ranks() {
    let path = "/a/path/of/more/than/one/slot";
    let one =
        [vec![world(0)], site(1, 0, path, 0x10), vec![from_site(1, 1200)], site(2, 0, path, 0x20)].concat();
    let one = [one, vec![from_site(2, 1300), from_site(1, 1400), from_site(0, 1450)]].concat();
    let other =
        [vec![world(1)], site(9, 4, path, 0x20), vec![from_site(9, 1200), from_site(8, 1300)]].concat();
    let messages =
        vec![start(), process(0, 0), process(1, 1), slots(0, 0, one), slots(1, 0, other), sample(2000)];
    let mut ingest = Ingest::for_diagnosis();
    messages.into_iter().for_each(|message| ingest.feed(message));
    let batch = ingest.take();
    let definitions: Vec<_> =
        batch.sites.iter().map(|site| (site.site.0, site.module.as_str(), site.offset)).collect();
    assert_eq!(definitions, [(0, path, 0x10), (1, path, 0x20)]);
    let rows: Vec<_> = batch.calls.iter().map(|row| (row.rank.0, row.site)).collect();
    let expected = [
        (0, Some(Site(0))),
        (0, Some(Site(1))),
        (0, Some(Site(0))),
        (0, None),
        (1, Some(Site(1))),
        (1, None),
    ];
    assert_eq!(rows, expected);
    assert_eq!(batch.activities.iter().map(|of| (of.rank.0, of.site)).collect::<Vec<_>>(), expected);
    // That of a call without a site is not missed, that of a number which nobody explained is.
    assert_eq!(ingest.calls_beyond_sites(), 1);
}

#[test]
fn calls_beyond_the_last_number_of_a_process_are_counted() {
    let full = SiteDefinition { number: 0, module: 0, offset: 0, parent: 0 }.encode();
    let all = vec![world(0), from_site(0, 1200), full, from_site(0, 1300), from_site(0, 1400)];
    let mut ingest = Ingest::new();
    for message in [start(), process(0, 0), slots(0, 0, all), sample(2000)] {
        ingest.feed(message);
    }
    assert_eq!((ingest.take().calls.len(), ingest.calls_beyond_sites()), (3, 2));
}
