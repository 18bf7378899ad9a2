use super::*;
use mpiscope_model::{Asks, Call, Comm, Node, Peer, ProcessState, Rank, RankCpus, RankInfo};
use mpiscope_wire::id;

const SECOND: u64 = 1_000_000_000;

/// A job of four ranks at 3 s that has hung since 1 s: all others wait for a message of rank 3. It was reported.
fn hung_job(watcher: &mut HangWatcher) -> Engine {
    let mut engine = Engine::new(1_000_000);
    for rank in 0..4 {
        let (library, state) = (String::new(), ProcessState::Running);
        let info = RankInfo {
            rank: Rank(rank),
            world_size: 4,
            node: Node(0),
            pid: 1,
            library,
            state,
            cost_per_call_ns: 0.0,
            cpus: RankCpus::default(),
        };
        engine.ranks.insert(Rank(rank), info);
    }
    ends(&mut engine, SECOND);
    engine.until_ns = 3 * SECOND;
    let asks = Asks::Receive { from: Peer::Rank(Rank(3)), tag: Some(7), comm: Some(Comm::WORLD) };
    let waits = |rank| InFlight {
        rank: Rank(rank),
        function: id::RECV,
        since_ns: SECOND,
        asks,
        ..InFlight::default()
    };
    let lines = watcher.see(&engine, &[waits(0), waits(1), waits(2)]).expect("it hangs");
    assert!(lines[0].starts_with("the job hangs"), "{lines:?}");
    engine
}

fn ends(engine: &mut Engine, end_ns: u64) {
    let calls: Vec<Call> =
        (0..4).map(|rank| Call { rank: Rank(rank), function: id::RECV, end_ns, ..Call::default() }).collect();
    engine.hang_detector.feed(&calls, &[], &[], &[]);
}

#[test]
fn a_job_that_was_over_before_anybody_looked_is_reported_as_moving_again() {
    let mut watcher = HangWatcher::new(Some(Duration::from_secs(1)));
    let mut engine = hung_job(&mut watcher);
    ends(&mut engine, 4 * SECOND);
    assert_eq!(watcher.end(&engine), ["the job moves again, after 3.0 s"]);
    assert_eq!(watcher.hangs().newest[0].until_s, Some(4.0));
}

#[test]
fn a_job_that_was_killed_as_it_stood_did_not_move_again() {
    let mut watcher = HangWatcher::new(Some(Duration::from_secs(1)));
    let engine = hung_job(&mut watcher);
    assert_eq!(watcher.end(&engine), Lines::new());
    assert_eq!(watcher.hangs().newest[0].until_s, None);
}

#[test]
fn one_that_was_taken_over_from_its_log_knows_how_the_last_stretch_ended() {
    let mut first = HangWatcher::new(Some(Duration::from_secs(1)));
    let mut engine = hung_job(&mut first);
    let mut second = HangWatcher::going_on(None, first.hangs().clone());
    ends(&mut engine, 4 * SECOND);
    second.end(&engine);
    assert_eq!(second.hangs().newest[0].until_s, Some(4.0));
}
