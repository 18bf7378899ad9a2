//! A job that endlessly defines something new: memory is bounded, and what is left out is counted.

use mpiscope_ingest::Ingest;
use mpiscope_model::Batch;
use mpiscope_wire::{
    Agent, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, EndState, Entry, GridPart,
    LastCalls, Lost, MOST_NAME_BYTES, Message, ModuleDefinition, NO_COMM, NO_MODULE, NamePart, Origin, Part,
    PartFlags, PathPart, Process, RunStart, SiteDefinition, Slot, Slots, Sync, id,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Room for what such a job says, here.
const BUDGET_BYTES: usize = 1 << 20;
/// The process may grow by so much all the same: what a batch holds, and what tables that grow leave behind.
const GROWN_BYTES: usize = 48 << 20;
/// Slots that would take much more than that if all that they say were kept.
const SLOTS: u64 = 1_000_000;
const AT_ONCE: u64 = 1000;

fn start() -> Message {
    let (run, node) = ("run".into(), "node".into());
    Message::RunStart(RunStart { run, node, unix_ns: 1, monotonic_ns: 0, command: Vec::new() })
}

fn process(number: u32) -> Process {
    Process {
        process: number,
        pid: 100 + number,
        made_ns: 1,
        rank: number,
        world_size: 1 << 23,
        clock: ClockKind::Monotonic,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: "node".into(),
    }
}

fn sample(monotonic_ns: u64) -> Message {
    Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns })
}

fn definition(number: u64, kind: CommKind) -> Slot {
    let (index, own_rank) = (number as u32 & 0xFF_FFFF, number as u32 % 1000);
    CommDefinition { index, kind, id: number, size: 1000, own_rank, leader: 0, parent: NO_COMM, other: None }
        .encode()
}

fn call(start: u64) -> Slot {
    let (flags, function) = (CallFlags::NONE, id::BARRIER);
    Call { flags, function, duration: 10, start, peer: -1, comm: NO_COMM, site: 0, tag: 0, bytes: 0 }.encode()
}

/// The process that runs the tests is measured, so one comes after the other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the system says that this process has in memory.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("the second is resident")
        * 4096
}

/// The slots of a stream by their turn.
type SlotsOf<'a> = &'a dyn Fn(u64) -> Vec<Slot>;

/// Feeds a stream of slots, some at once, and a clock sample behind them; gives the batches to `see`.
fn feed(ingest: &mut Ingest, slots_of: impl Fn(u64) -> Vec<Slot>, mut see: impl FnMut(Batch)) {
    let mut from = 0;
    let mut now_ns = 10_000;
    for first in (0..SLOTS).step_by(AT_ONCE as usize) {
        let slots: Vec<Slot> = (first..first + AT_ONCE).flat_map(&slots_of).collect();
        let count = slots.len() as u64;
        ingest.feed(Message::Slots(Slots { process: 0, ring: 0, from, slots }));
        from += count;
        now_ns += 1000;
        ingest.feed(sample(now_ns));
        see(ingest.take());
    }
}

fn ingest() -> Ingest {
    let mut ingest = Ingest::for_diagnosis().within(BUDGET_BYTES);
    for message in [start(), Message::Process(process(0)), sample(1000), sample(2000)] {
        ingest.feed(message);
    }
    ingest
}

#[test]
fn endless_definitions_do_not_grow_what_is_kept() {
    let _alone = alone();
    let name = "x".repeat(MOST_NAME_BYTES);
    let names = |number: u64| {
        NamePart::all(number as u32 & 0xFF_FFFF, &name).map(|part| part.encode()).collect::<Vec<_>>()
    };
    let path = "y".repeat(60_000);
    let streams: [(&str, SlotsOf<'_>); 9] = [
        ("communicators", &|number| vec![definition(number, CommKind::Communicator)]),
        ("windows", &|number| vec![definition(number, CommKind::Window)]),
        ("files with long names", &|number| {
            let mut all = vec![definition(number, CommKind::File)];
            all.extend(names(number).into_iter().take(if number % 50 == 0 { 20 } else { 0 }));
            all
        }),
        ("handles", &|number| vec![Entry::encode_handle(0, number)]),
        ("parts without a call", &|number| {
            vec![
                Part { flags: PartFlags::COMPLETED, tag: 1, post: number, peer: 0, comm: 0, bytes: 1 }
                    .encode(),
            ]
        }),
        ("numbers without a call", &|number| {
            let sync = Sync { peer: number as i32 & 0xFFFF, comm: 0, sent: number, received: 0 }.encode();
            if number == 0 { vec![definition(0, CommKind::Communicator), sync] } else { vec![sync] }
        }),
        ("losses without a call", &|number| vec![Entry::encode_lost(number + 1)]),
        ("coordinates", &|number| {
            let comm = number as u32 % 4000;
            let dimension = (number / 4000) as u8;
            let part =
                GridPart { comm, dimension, dimensions: 255, is_periodic: false, coordinate: 1, size: 2 };
            if number < 4000 { vec![definition(number, CommKind::Communicator)] } else { vec![part.encode()] }
        }),
        ("modules and places", &|number| {
            let place = SiteDefinition {
                number: number as u32 & 0xF_FFFF,
                module: NO_MODULE,
                offset: number,
                parent: number as u32 >> 20,
            }
            .encode();
            if number % 1000 != 0 {
                return vec![place];
            }
            let number = number as u32 / 1000;
            let module = ModuleDefinition::new(number, path.as_bytes(), &[]).encode();
            std::iter::once(module)
                .chain(PathPart::all(number, path.as_bytes()).map(|part| part.encode()))
                .collect()
        }),
    ];
    for (what, slots_of) in streams {
        let mut ingest = ingest();
        let before = resident_bytes();
        let (mut defined, mut unreadable) = (0, 0);
        feed(&mut ingest, slots_of, |batch| {
            defined +=
                batch.comms.len() + batch.comm_names.len() + batch.coordinates.len() + batch.sites.len();
            unreadable = batch.losses.map_or(unreadable, |losses| losses.unreadable);
        });
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < GROWN_BYTES, "{what}: {} MiB more", grown >> 20);
        assert!(defined < BUDGET_BYTES / 16, "{what}: {defined} entries");
        let is_reported = ingest.left_out() > 0 || unreadable > 0;
        assert!(is_reported || what.ends_with("without a call"), "{what}: nothing says that it was left out");
    }
}

#[test]
fn endless_processes_and_nodes_are_left_out_and_told() {
    let _alone = alone();
    let mut ingest = ingest();
    let mut ranks = 0;
    for number in 1..100_000 {
        ingest.feed(Message::Process(Process { node: format!("node {number}"), ..process(number) }));
        let lost = Lost {
            process: number + 500_000,
            ring_full: 1,
            no_ring: 0,
            unreadable: 0,
            state: EndState::Running,
        };
        ingest.feed(Message::Lost(lost));
        ingest.feed(Message::LastCalls(LastCalls { process: number, calls: Vec::new() }));
        ranks += ingest.take().ranks.len();
    }
    assert!((100..10_000).contains(&ranks), "{ranks}");
    assert!(ingest.left_out() > 90_000);
}

#[test]
fn what_means_nothing_for_want_of_room_does_not_mean_what_it_did_before() {
    let _alone = alone();
    let mut ingest = ingest();
    let mut known = 0;
    feed(
        &mut ingest,
        |number| vec![definition(number, CommKind::Communicator)],
        |batch| known += batch.comms.len(),
    );
    assert!(known < SLOTS as usize / 2);
    // Number 7 found room and means something else now, for which there is none.
    let again = CommDefinition {
        index: 7,
        kind: CommKind::Communicator,
        id: u64::MAX,
        size: 2,
        own_rank: 0,
        leader: 0,
        parent: NO_COMM,
        other: None,
    };
    let on_it = Call {
        flags: CallFlags::NONE,
        function: id::BARRIER,
        duration: 1,
        start: 5000,
        peer: -1,
        comm: 7,
        site: 0,
        tag: 0,
        bytes: 0,
    };
    let slots = vec![on_it.encode(), again.encode(), on_it.encode()];
    ingest.feed(Message::Slots(Slots { process: 0, ring: 0, from: SLOTS, slots }));
    ingest.feed(sample(u64::MAX / 2));
    let comms: Vec<bool> = ingest.take().calls.iter().map(|call| call.comm.is_some()).collect();
    assert_eq!(comms, [true, false]);
}

#[test]
fn slots_that_wait_for_a_clock_that_is_never_compared_are_bounded() {
    let _alone = alone();
    let mut ingest = ingest();
    ingest.feed(Message::Agent(Agent { agent: 1, identity: 7, node: "other".into() }));
    ingest.feed(Message::Origin(Origin { agent: 1, sequence: 0 }));
    ingest.feed(Message::Process(process(0)));
    let before = resident_bytes();
    let mut faults = 0;
    for from in 0..3000 {
        let slots = vec![call(1); 1000];
        ingest.feed(Message::Slots(Slots { process: 0, ring: 0, from: from * 1000, slots }));
        ingest.feed(sample(from));
        faults += ingest.take().faults.len();
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < GROWN_BYTES, "{} MiB more", grown >> 20);
    assert!(faults > 0, "nothing says that they are missing");
}

/// Whatever is sized by time would be sized by what a job says.
#[test]
fn a_call_that_says_it_returned_in_the_future_returned_before_it_was_read() {
    let _alone = alone();
    let mut ingest = ingest();
    let slots = vec![call(3000), call(u64::MAX - 5), call(9_000_000_000)];
    ingest.feed(Message::Slots(Slots { process: 0, ring: 0, from: 0, slots }));
    ingest.feed(sample(5000));
    let times: Vec<(u64, u64)> =
        ingest.take().calls.iter().map(|call| (call.start_ns, call.end_ns)).collect();
    assert_eq!(times, [(3000, 3010), (5000, 5000), (5000, 5000)]);
    // A log that was cut off: later is possible, and not at the end of all days.
    let slots = vec![call(9_000_000_000), call(u64::MAX - 5)];
    ingest.feed(Message::Slots(Slots { process: 0, ring: 0, from: 3, slots }));
    ingest.settle_rest();
    let ends: Vec<u64> = ingest.take().calls.iter().map(|call| call.end_ns).collect();
    assert_eq!(ends, [9_000_000_010, 5000 + 24 * 3_600_000_000_000]);
}
