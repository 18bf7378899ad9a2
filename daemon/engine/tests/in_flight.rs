//! The engine on what an agent reads from the rings of these tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use mpiscope_agent::{Agent, OWN, Resume, run_start};
use mpiscope_engine::Engine;
use mpiscope_model::{InFlight, Rank};
use mpiscope_ring::clock::{clock_sample, counter, monotonic_ns};
use mpiscope_ring::{Capacities, Identity, Writer};
use mpiscope_wire::{Asked, ClockKind, Flight, Message, id};
use std::path::Path;
use std::time::Duration;

fn ring_file(folder: &Path, rank: u32, clock: ClockKind) -> Writer {
    let identity = Identity {
        pid: std::process::id(),
        made_ns: 5 + u64::from(rank),
        rank,
        world_size: 4,
        clock,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: "node".into(),
        constants: [-1, -2, -1],
    };
    let capacities = Capacities { first_slots: 64, other_slots: 64, rings: 3 };
    Writer::create(folder, &identity, capacities, || mpiscope_ring::Waker::open(folder).ok()).unwrap()
}

#[test]
fn calls_in_flight_are_those_of_ranks_and_in_run_time() {
    let folder = tempfile::tempdir().unwrap();
    let counting = ring_file(folder.path(), 0, ClockKind::TimeStampCounter);
    let monotonic = ring_file(folder.path(), 3, ClockKind::Monotonic);
    let main = counting.claim(0).unwrap().1.in_flight();
    let (_ring, other) = monotonic.claim(7).unwrap();

    let mut engine = Engine::new(1_000_000);
    engine.feed(run_start("run", &[]));
    engine.feed(Message::ClockSample(clock_sample()));
    let mut agent = Agent::new(vec![folder.path().to_owned()], Resume::default(), None);
    let (entered_ticks, entered_ns) = (counter(), monotonic_ns());
    main.enter((id::RECV, 0), entered_ticks, Asked::Nothing);
    other.in_flight().enter((id::BARRIER, 0), entered_ns, Asked::Nothing);
    std::thread::sleep(Duration::from_millis(20));
    agent.pass(&mut |message| drop(engine.feed(message)));

    let calls: [Flight; 2] = agent.in_flight_if_due().unwrap().try_into().unwrap();
    let start_ns = engine.ingest().started().unwrap().monotonic_ns;
    let since_ns = entered_ns - start_ns;
    let in_flight = engine.in_flight(&calls.map(|call| (OWN, call)));
    assert_eq!(
        in_flight[1],
        InFlight { rank: Rank(3), thread: 7, function: id::BARRIER, since_ns, ..InFlight::default() }
    );
    assert!(in_flight[0].since_ns.abs_diff(since_ns) < 1_000_000, "{} for {since_ns}", in_flight[0].since_ns);
    let unknown = Flight { process: 9, ..calls[0] };
    assert_eq!(engine.in_flight(&[(OWN, unknown), (1, calls[0])]), []);
}
