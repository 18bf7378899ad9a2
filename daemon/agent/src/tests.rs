//! The agent on ring files that these tests write themselves.

use super::pace::GATHERING;
use super::watched_file::MOST_SLOTS;
use super::*;
use mpiscope_ring::clock::counter;
use mpiscope_ring::{Capacities, Identity, Writer};
use mpiscope_wire::{
    Asked, Call, CallFlags, ClockKind, Entry, NO_COMM, NamePart, PEER_NONE, Packed, Slot, id,
};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const MADE_NS: u64 = 5;

fn ring_file(folder: &Path, pid: u32, rank: u32, clock: ClockKind) -> Writer {
    ring_file_of_size(folder, pid, rank, clock, 64)
}

fn ring_file_of_size(folder: &Path, pid: u32, rank: u32, clock: ClockKind, first_slots: u32) -> Writer {
    let identity = Identity {
        pid,
        made_ns: MADE_NS + u64::from(rank),
        rank,
        world_size: 4,
        clock,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: "node".into(),
        constants: [-1, -2, -1],
    };
    let capacities = Capacities { first_slots, other_slots: 64, rings: 3 };
    Writer::create(folder, &identity, capacities, || mpiscope_ring::Waker::open(folder).ok()).unwrap()
}

fn agent(folder: &Path) -> Agent {
    Agent::new(vec![folder.to_owned()], Resume::default(), None)
}

#[test]
fn calls_in_flight_are_seen_while_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::process::id();
    let counting = ring_file(folder.path(), own, 0, ClockKind::TimeStampCounter);
    let reporting = ring_file(folder.path(), own, 3, ClockKind::Monotonic);
    let main = counting.claim(0).unwrap().1.in_flight();
    let (_, idle) = counting.claim(1).unwrap();
    let (ring, other) = reporting.claim(7).unwrap();

    let mut agent = agent(folder.path());
    let (entered_ticks, entered_ns) = (counter(), monotonic_ns());
    main.enter((id::RECV, 0), entered_ticks, Asked::Nothing);
    other.in_flight().enter((id::BARRIER, 0), entered_ns, Asked::Nothing);
    std::thread::sleep(Duration::from_millis(20));
    agent.pass(&mut |_| {});

    let calls = agent.in_flight_if_due().unwrap();
    assert!(agent.in_flight_if_due().is_none(), "not so soon again");
    let call = |process, rank, thread, function, since_ticks| Flight {
        process,
        rank,
        thread,
        function,
        since_ticks,
        site: 0,
        asked: Asked::Nothing,
    };
    let expected = [call(0, 0, 0, id::RECV, entered_ticks), call(1, 3, 7, id::BARRIER, entered_ns)];
    assert_eq!(calls, expected);

    main.leave();
    reporting.give_back(ring);
    assert_eq!(agent.in_flight(), []);
    idle.in_flight().enter((id::SEND, 0), entered_ticks, Asked::Nothing);
    assert_eq!(agent.in_flight(), [call(0, 0, 1, id::SEND, entered_ticks)]);
}

#[test]
fn an_agent_that_rests_is_called_before_a_ring_is_full() {
    let (folder, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let journal = mpiscope_recording::WalWriter::create(log.path()).unwrap();
    let mut agent = Agent::new(vec![folder.path().to_owned()], Resume::default(), Some(Box::new(journal)));
    agent.sleeper = Some(Arc::new(Sleeper::open(folder.path()).unwrap()));
    // As if all ranks had come long ago: it rests for long. An unknown rank comes all the same.
    let long_ago = Instant::now().checked_sub(GATHERING).unwrap();
    let pass = |agent: &mut Agent| {
        let slots = agent.pass(&mut drop).slots as u64;
        agent.pace.find(long_ago);
        slots
    };
    const LONG: Duration = Duration::from_secs(2);
    let first_slots = 1 << 12;
    for rank in 0..2 {
        let writer =
            ring_file_of_size(folder.path(), std::process::id(), rank, ClockKind::Monotonic, first_slots);
        let wanted = 5 * u64::from(first_slots);
        let read = AtomicU64::new(pass(&mut agent));
        let unread = |written: u64| written - read.load(Ordering::Relaxed).min(written);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let (_, mut producer) = writer.claim(0).unwrap();
                let write = |written: &u64| {
                    // However late the other thread runs, it has been called by then and is waited for.
                    while unread(*written) >= u64::from(first_slots) * 3 / 4 {
                        std::thread::yield_now();
                    }
                    producer.push(&[], &[1; 4], 1)
                };
                (0..wanted).filter(write).count() as u64
            });
            let mut in_vain = 0;
            while !writing.is_finished() {
                let begun = Instant::now();
                agent.rest(LONG);
                in_vain += u32::from(begun.elapsed() >= LONG);
                if agent.is_worth_a_pass(LITTLE_SLOTS, LONG) {
                    read.fetch_add(pass(&mut agent), Ordering::Relaxed);
                }
            }
            read.fetch_add(pass(&mut agent), Ordering::Relaxed);
            assert_eq!((writing.join().unwrap(), read.load(Ordering::Relaxed)), (wanted, wanted));
            // Nobody calls after the last slots, nor if a ring that is not known yet was filled before the agent rested.
            // Without calls it would rest for so long six times.
            assert!(in_vain <= 2, "{in_vain} rests in vain");
        });
    }
}

#[test]
fn nobody_waits_in_a_process_that_is_gone_or_in_a_ring_that_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::process::id();
    // No process has this number.
    let gone = ring_file(folder.path(), u32::MAX, 0, ClockKind::Monotonic);
    let damaged = ring_file(folder.path(), own, 1, ClockKind::Monotonic);
    let cut = ring_file(folder.path(), own, 2, ClockKind::Monotonic);
    let words = [&gone, &damaged, &cut].map(|writer| writer.claim(0).unwrap().1.in_flight());
    let sound = damaged.claim(1).unwrap().1.in_flight();
    let mut agent = agent(folder.path());
    let ranks = |agent: &Agent| -> Vec<(u32, u16)> {
        agent.in_flight().iter().map(|call| (call.rank, call.thread)).collect()
    };
    agent.scan(&mut drop);
    words.iter().chain([&sound]).for_each(|word| word.enter((id::RECV, 0), 1, Asked::Nothing));
    assert_eq!(agent.in_flight().len(), 4, "as long as nobody has looked");

    let file = |rank: u32| {
        let path = folder.path().join(format!("{own}-{}.ring", MADE_NS + u64::from(rank)));
        std::fs::OpenOptions::new().write(true).open(path).unwrap()
    };
    // The first ring says that it wrote more than it has room for: its header lies on the second page.
    std::os::unix::fs::FileExt::write_all_at(&file(1), &u64::MAX.to_le_bytes(), 4096).unwrap();
    file(2).set_len(4096).unwrap();
    agent.pass(&mut drop);
    assert_eq!(ranks(&agent), [(1, 1)]);
    let faults = agent.take_faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[test]
fn all_that_is_left_of_processes_that_are_gone_is_read_without_patience() {
    let folder = tempfile::tempdir().unwrap();
    let gone = ring_file_of_size(folder.path(), u32::MAX, 0, ClockKind::Monotonic, 1 << 15);
    // More than a pass takes.
    let written = 3 * MOST_SLOTS + 5;
    let (_, mut producer) = gone.claim(0).unwrap();
    assert!((0..written).all(|_| producer.push(&[], &[1; 4], 1)));
    let mut agent = agent(folder.path());
    let mut read = 0;
    agent.drain(Duration::ZERO, &mut |message| {
        read += message.slot_count();
        // Many travel packed, and few as they are.
        assert_eq!(matches!(message, Message::Packed(_)), message.slot_count() > 5);
    });
    assert_eq!(read, written);
}

#[test]
fn a_ring_that_somebody_fills_for_a_process_that_is_gone_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let gone = ring_file_of_size(folder.path(), u32::MAX, 0, ClockKind::Monotonic, 1 << 10);
    let (_, mut producer) = gone.claim(0).unwrap();
    let mut write = || producer.push(&[], &[1; 4], 1);
    write();
    let (mut agent, mut read) = (agent(folder.path()), 0);
    agent.drain(Duration::ZERO, &mut |message| {
        if message.slot_count() > 0 {
            read += message.slot_count();
            // As long as anything is read, more comes.
            write();
        }
    });
    assert!(read < 10, "{read} slots");
}

#[test]
fn one_that_takes_over_says_first_whose_messages_follow() {
    let folder = tempfile::tempdir().unwrap();
    for (origin, sent) in [(3, 2), (OWN, 1)] {
        let resume = Resume { origin, ..Resume::default() };
        let mut agent = Agent::new(vec![folder.path().to_owned()], resume, None);
        let mut messages = Vec::new();
        agent.tell(Message::ClockSample(clock_sample()), &mut |message| messages.push(message));
        assert_eq!(messages.len(), sent);
        let own = Message::Origin(Origin { agent: OWN, sequence: 0 });
        assert_eq!(messages.first() == Some(&own), origin != OWN);
    }
}

/// A journal that has everything at once.
struct Safe;

impl Journal for Safe {
    fn write(&mut self, _: &[u8]) -> anyhow::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_is_forgotten_when_it_is_gone_and_many_programs_in_a_row_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Agent::new(vec![folder.path().to_owned()], Resume::default(), Some(Box::new(Safe)));
    std::fs::write(folder.path().join("junk.ring"), "no ring").unwrap();
    for program in 0..5 {
        // No process has this number.
        drop(ring_file(folder.path(), u32::MAX, program % 4, ClockKind::Monotonic));
        agent.pass_all(&mut drop);
        agent.pass_all(&mut drop);
        assert_eq!(
            (agent.ring_files.len(), agent.finder.known.len()),
            (0, 1),
            "only what cannot be read stays known"
        );
    }
    let faults = agent.take_faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
}

/// A row of a call with this number.
fn call(number: u64) -> Slot {
    let call = Call {
        flags: CallFlags::NONE,
        function: id::BARRIER,
        duration: 1,
        start: number,
        peer: PEER_NONE,
        comm: NO_COMM,
        site: 0,
        tag: 0,
        bytes: 0,
    };
    call.encode()
}

/// An agent that keeps the newest slots while recording is off.
fn flight_recorder(folder: &Path, span: Duration) -> Agent {
    let mut agent = Agent::new(vec![folder.to_owned()], Resume::default(), Some(Box::new(Safe)));
    agent.hold = Some(span);
    agent
}

fn slots_in(messages: &[Message]) -> Vec<Slots> {
    let slots = messages.iter().filter_map(|message| match message {
        Message::Slots(slots) => Some(slots.clone()),
        Message::Packed(Packed { process, ring, from, slots: packed }) => {
            let mut slots = Vec::new();
            assert!(packed.unpack(&mut slots));
            Some(Slots { process: *process, ring: *ring, from: *from, slots })
        }
        _ => None,
    });
    slots.collect()
}

/// Until where slots were skipped, each time.
fn skips_in(messages: &[Message]) -> Vec<u64> {
    let skips = messages.iter().filter_map(|message| match message {
        Message::Skipped(skipped) => Some(skipped.to),
        _ => None,
    });
    skips.collect()
}

#[test]
fn what_is_held_back_is_the_newest_and_stands_alone() {
    const SPAN: Duration = Duration::from_millis(250);
    let folder = tempfile::tempdir().unwrap();
    let writer = ring_file(folder.path(), std::process::id(), 0, ClockKind::Monotonic);
    let (_, mut producer) = writer.claim(0).unwrap();
    let mut agent = flight_recorder(folder.path(), SPAN);
    let mut sent = Vec::new();
    agent.switch(false, &mut |message| sent.push(message));

    let (mut made, mut anew) = (0_u64, true);
    while !sent.iter().any(|message| matches!(message, Message::Skipped(_))) {
        for _ in 0..5 {
            let before = Entry::encode_thread(made, 0);
            let before = if anew { std::slice::from_ref(&before) } else { &[] };
            assert!(producer.push(before, &call(made), 1), "there is room again after every pass");
            made += 1;
            anew = producer.begins_anew();
        }
        agent.pass(&mut |message| sent.push(message));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(slots_in(&sent), []);
    let skipped = skips_in(&sent).into_iter().max().expect("what is old goes");

    sent.clear();
    agent.switch(true, &mut |message| sent.push(message));
    let sent_slots = slots_in(&sent);
    assert_eq!(sent_slots[0].from, skipped, "nothing is missing between");
    assert!(
        matches!(Entry::decode(&sent_slots[0].slots[0]), Some(Entry::Thread { .. })),
        "it needs nothing of what went"
    );
    let rows: Vec<u64> = sent_slots
        .iter()
        .flat_map(|slots| &slots.slots)
        .filter_map(|slot| match Entry::decode(slot) {
            Some(Entry::Call(call)) => Some(call.start),
            _ => None,
        })
        .collect();
    let left_out = sent.iter().find_map(|message| match message {
        Message::Unrecorded(unrecorded) => Some(unrecorded.calls),
        _ => None,
    });
    assert_eq!(rows, (left_out.unwrap()..made).collect::<Vec<_>>(), "each is there or counted");
    sent.clear();
    assert!(producer.push(&[], &call(made), 1));
    agent.pass(&mut |message| sent.push(message));
    assert_eq!(slots_in(&sent).len(), 1, "from now on it is sent at once");
}

/// Definitions are repeated with the next call. A rank that hangs makes none: what lies before is still needed, also where
/// it has told the place of the call that it hangs in.
#[test]
fn what_a_hanging_rank_did_last_is_kept() {
    const SPAN: Duration = Duration::from_millis(40);
    for tells_place in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let writer = ring_file(folder.path(), std::process::id(), 0, ClockKind::Monotonic);
        let (_, mut producer) = writer.claim(0).unwrap();
        let mut agent = flight_recorder(folder.path(), SPAN);
        agent.switch(false, &mut drop);
        let mut made = 0;
        loop {
            agent.pass(&mut drop);
            assert!(producer.push(&[], &call(made), 1));
            made += 1;
            if producer.begins_anew() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if tells_place {
            assert!(producer.push(&[], &Entry::encode_thread(0, 0), 0));
        }
        agent.pass(&mut drop);
        std::thread::sleep(2 * SPAN);
        let mut sent = Vec::new();
        agent.pass(&mut drop);
        agent.switch(true, &mut |message| sent.push(message));
        let slots = slots_in(&sent).into_iter().flat_map(|piece| piece.slots);
        let last = slots.rev().find_map(|slot| match Entry::decode(&slot) {
            Some(Entry::Call(call)) => Some(call.start),
            _ => None,
        });
        assert_eq!(last, Some(made - 1), "tells its place: {tells_place}");
    }
}

/// A writer makes calls, at the beginning of each stretch with definitions, until a number of stretches were dropped. Then
/// recording is switched on. Returns what is handed out.
fn handed_out(
    span: Duration,
    stretches: usize,
    mut definitions: impl FnMut(usize) -> Vec<Slot>,
) -> Vec<Slot> {
    let folder = tempfile::tempdir().unwrap();
    let writer = ring_file(folder.path(), std::process::id(), 0, ClockKind::Monotonic);
    let (_, mut producer) = writer.claim(0).unwrap();
    let mut agent = flight_recorder(folder.path(), span);
    let mut sent = Vec::new();
    agent.switch(false, &mut |message| sent.push(message));
    let (mut made, mut stretch) = (0, 0);
    let mut untold = definitions(0);
    while skips_in(&sent).len() < stretches {
        assert!(producer.push(&std::mem::take(&mut untold), &call(made), 1));
        made += 1;
        if producer.begins_anew() {
            stretch += 1;
            untold = definitions(stretch);
        }
        agent.pass(&mut |message| sent.push(message));
        std::thread::sleep(Duration::from_millis(1));
    }
    let skipped = skips_in(&sent);
    assert!(skipped.is_sorted(), "{skipped:?}");
    sent.clear();
    agent.switch(true, &mut |message| sent.push(message));
    let mut next = *skipped.last().unwrap();
    let mut slots = Vec::new();
    for piece in slots_in(&sent) {
        assert_eq!(piece.from, next, "nothing is missing between");
        next += piece.slots.len() as u64;
        slots.extend(piece.slots);
    }
    slots
}

/// What comes before the first call.
fn definitions_of(slots: &[Slot]) -> &[Slot] {
    let is_call = |slot: &Slot| matches!(Entry::decode(slot), Some(Entry::Call(_)));
    &slots[..slots.iter().position(is_call).unwrap()]
}

/// A communicator is defined with the first call that uses it. A rank that hangs in a later one may not have repeated that
/// since. Later definitions build on earlier ones, also where only some of them are repeated.
#[test]
fn definitions_are_kept_in_their_order_however_old_they_are() {
    let all: Vec<Slot> = (1..5).map(|comm| Entry::encode_handle(comm, 0x44)).collect();
    let slots = handed_out(Duration::from_millis(40), 4, |stretch| match stretch {
        0 => all[..3].to_vec(),
        1 => vec![all[0], all[2]],
        2 => vec![all[0], all[3]],
        _ => Vec::new(),
    });
    assert_eq!(definitions_of(&slots), all);
}

/// The parts of a name have no numbers: another name of a communicator takes the place of the one before.
#[test]
fn of_a_communicator_the_last_name_is_kept() {
    let name = |text: &str| -> Vec<Slot> { NamePart::all(1, text).map(|part| part.encode()).collect() };
    let (one, other) = (name(&format!("{}one", "x".repeat(24))), name(&format!("{}two", "x".repeat(24))));
    let handle = Entry::encode_handle(1, 0x44);
    let slots = handed_out(Duration::from_millis(40), 3, |stretch| match stretch {
        0 => [vec![handle], one.clone()].concat(),
        1 => [other.clone(), vec![handle]].concat(),
        _ => Vec::new(),
    });
    assert_eq!(definitions_of(&slots), [vec![handle], other].concat());
}
