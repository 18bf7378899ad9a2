//! `kill -9` at any moment, of any part: what the ranks did is in the recording or can be brought there, to the last call.

use crate::support::recordings::Rings;
use mpiscope_harness::{
    Chance, Ended, LIMIT, Mpi, Recorded, Running, Signal, Truth, check, folder, full_run, mpiscope,
    processes, record, repair, report, run,
};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

const RANKS: u32 = 2;
/// A second of traffic.
const TRAFFIC: [&str; 2] = ["1", "500"];
/// From before there is a daemon until it completes the recording.
const MOMENTS_MS: u64 = 1800;

/// The ranks need a second.
const LAUNCHER_ENDS_WITHIN: Duration = Duration::from_secs(30);

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The daemon, which `run` starts again.
    Daemon,
    /// `run`, after which the daemon goes on alone.
    Run,
    /// Both of them.
    Recorder,
    /// A rank of the job.
    Rank,
    /// Everything that `run` started, and `run`.
    Everything,
}

const VICTIMS: [Victim; 5] =
    [Victim::Daemon, Victim::Run, Victim::Recorder, Victim::Rank, Victim::Everything];

impl Victim {
    /// Whether the job is to notice nothing.
    fn spares_job(self) -> bool {
        matches!(self, Self::Daemon | Self::Run | Self::Recorder)
    }

    /// The processes that are there now. First those that would start others again.
    fn processes(self, running: &Running, program: &Path) -> Vec<u32> {
        let is = |process: u32, at: usize, word: &str| {
            processes::command_line(process).get(at).is_some_and(|found| found == word)
        };
        let daemons =
            || processes::children(running.process()).into_iter().filter(|&child| is(child, 1, "record"));
        match self {
            Self::Daemon => daemons().collect(),
            Self::Run => vec![running.process()],
            Self::Recorder => std::iter::once(running.process()).chain(daemons()).collect(),
            Self::Rank => {
                let ranks = running.family().into_iter();
                ranks.filter(|&process| is(process, 0, program.to_str().unwrap())).take(1).collect()
            }
            Self::Everything => std::iter::once(running.process()).chain(running.family()).collect(),
        }
    }
}

/// How many calls each rank made: those that had returned, up to those that had begun.
fn made(tallies: &Path) -> BTreeMap<u32, RangeInclusive<u64>> {
    let of = |rank: u32| {
        let Ok(bytes) = std::fs::read(tallies.join(rank.to_string())) else { return 0..=1 };
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|number| u64::from_le_bytes(number.try_into().unwrap())).collect();
        // Killed before it had counted anything there, a rank may have returned from its first call.
        if numbers.len() == 2 && numbers[0] > 0 { numbers[1].min(numbers[0])..=numbers[0] } else { 0..=1 }
    };
    (0..RANKS).map(|rank| (rank, of(rank))).collect()
}

/// What was recorded is what was made.
fn assert_all(what: &str, recorded: &Recorded, made: &BTreeMap<u32, RangeInclusive<u64>>) {
    for (rank, made) in made {
        let calls = recorded.calls.iter().filter(|call| call.rank.0 == *rank);
        let count: u64 = calls.map(|call| call.count).sum();
        assert!(made.contains(&count), "{what}: rank {rank} made {made:?} calls, {count} are recorded");
    }
    let lost = recorded.manifest.lost;
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{what}");
}

/// The launcher of Open MPI 4.1 hangs, without mpiscope as well, if a rank is killed while it connects. Somebody then ends it.
fn end_hanging_launcher(running: &Running, what: &str) {
    let is_launcher =
        |process: &u32| processes::command_line(*process).first().is_some_and(|word| word.contains("mpirun"));
    let launcher = || processes::children(running.process()).into_iter().find(is_launcher);
    let has_ended = processes::until(LAUNCHER_ENDS_WITHIN, || launcher().is_none().then_some(()));
    if has_ended.is_none() && running.errors_until_now().contains("PMIX ERROR: UNREACHABLE") {
        println!("{what}: the launcher hangs, and is killed");
        launcher().into_iter().for_each(|launcher| processes::signal(launcher, Signal::KILL));
    }
}

/// A run with a killed part; returns the state of its recording afterwards.
fn round(mpi: &Mpi, victim: Victim, after: Duration, what: &str) -> String {
    let folder = folder().unwrap();
    let (out, tallies) = (folder.path().join("recording"), folder.path().join("tallies"));
    std::fs::create_dir(&tallies).unwrap();
    let program = mpi.app("tally").unwrap();
    let arguments = [TRAFFIC[0], TRAFFIC[1], tallies.to_str().unwrap()];
    let running = Running::start(&mut record(mpi, RANKS, &program, &arguments, &out).unwrap()).unwrap();
    std::thread::sleep(after);
    let kill = || {
        let found = victim.processes(&running, &program);
        found.iter().for_each(|&process| processes::signal(process, Signal::KILL));
        found
    };
    let mut killed = kill();
    if victim == Victim::Everything {
        // Something may have been started while it was looked for. A killed process has no environment any more by which it
        // is found, and is still there until the system has taken its memory.
        processes::until(LIMIT, || {
            killed.extend(kill());
            let is_over =
                running.family().is_empty() && !killed.iter().any(|&process| processes::is_running(process));
            is_over.then_some(())
        })
        .unwrap_or_else(|| panic!("{what}: not everything ends"));
    }
    if victim == Victim::Rank {
        end_hanging_launcher(&running, what);
    }
    let ended = running.wait(LIMIT).unwrap();
    assert!(!ended.errors().contains("panicked"), "{what}: {}", ended.errors());
    let made = made(&tallies);
    assert_job(what, victim, &ended, &made);
    let (status, found) = check(&out).unwrap();
    if status == 2 {
        // Killed before there was a recording, and so before there was a job.
        assert!(made.values().all(|made| *made.start() == 0), "{what}: {made:?} and nothing recorded");
        return "nothing".to_owned();
    }
    let state = found["state"].as_str().unwrap().to_owned();
    if state == "killed" {
        assert_eq!(status, 1, "{what}: {found:#}");
        let reported = report(&out).unwrap();
        assert!(reported["missing"].to_string().contains("not completed"), "{what}: {reported:#}");
        let new = folder.path().join("repaired");
        let ended = repair(&out, &new).unwrap();
        assert_eq!(ended.status, 0, "{what}: {}", ended.errors());
        let (status, found) = check(&new).unwrap();
        assert_eq!(status, 0, "{what}: {found:#}");
        assert_all(what, &Recorded::load(&new).unwrap(), &made);
        let repaired = report(&new).unwrap();
        for figures in ["totals", "functions", "ranks"] {
            assert_eq!(repaired[figures], reported[figures], "{what}: {figures}");
        }
        // All that lay in them is in the new one.
        assert!(Rings::of_recording(&out).are_gone(), "{what}: rings are left");
    } else {
        assert_eq!(status, 0, "{what}: {found:#}");
        let recorded = Recorded::load(&out).unwrap();
        assert_all(what, &recorded, &made);
        let has_begun = made.values().any(|made| *made.start() > 0);
        let is_cut_short = has_begun && made.values().any(|made| *made.end() < ALL_CALLS);
        assert!(
            !is_cut_short || !recorded.manifest.missing.is_empty(),
            "{what}: nothing is reported as missing"
        );
    }
    if out.join("live.json").exists() {
        Rings::of_recording(&out).remove();
    }
    state
}

/// Those of each rank: three for each of its messages, the first and the last.
const ALL_CALLS: u64 = 3 * 500 + 2;

/// The job does not notice that its recorder is killed.
fn assert_job(what: &str, victim: Victim, ended: &Ended, made: &BTreeMap<u32, RangeInclusive<u64>>) {
    let has_begun = made.values().any(|made| *made.start() > 0);
    if victim.spares_job() && (has_begun || victim == Victim::Daemon) {
        assert_eq!(Truth::parse(&ended.stdout).unwrap().all_calls(), u64::from(RANKS) * ALL_CALLS, "{what}");
        assert!(made.values().all(|made| *made.start() == ALL_CALLS), "{what}: {made:?}");
        let expected = if victim == Victim::Daemon { [0, 0] } else { [137, 0] };
        assert!(expected.contains(&ended.status), "{what}: {} {}", ended.status, ended.errors());
    }
}

#[test]
fn nothing_is_lost_whoever_is_killed_and_when() {
    let test = "killed_anytime nothing_is_lost_whoever_is_killed_and_when";
    let mpis = Mpi::all_or_skip(test);
    if mpis.is_empty() {
        return;
    }
    let mut chance = Chance::for_test(test);
    let mut states: BTreeMap<String, u32> = BTreeMap::new();
    for turn in 0..if full_run() { 200 } else { 10 } {
        let mpi = &mpis[turn % mpis.len()];
        let victim = VICTIMS[turn % VICTIMS.len()];
        let after = Duration::from_millis(chance.below(MOMENTS_MS));
        let what = format!("turn {turn}, {victim:?} under {} after {after:?}", mpi.family.word());
        let state = round(mpi, victim, after, &what);
        println!("{what}: {state}");
        *states.entry(state).or_default() += 1;
    }
    println!("{states:?}");
    assert!(states.contains_key("complete") && states.contains_key("killed"), "{states:?}");
}

#[test]
fn a_killed_recording_differs_from_one_being_written() {
    let test = "killed_anytime a_killed_recording_differs_from_one_being_written";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let program = mpi.app("linger").unwrap();
    let running = Running::start(&mut record(&mpi, RANKS, &program, &["3", "500"], &out).unwrap()).unwrap();
    mpiscope_harness::until_log_has(&out, 20_000).unwrap();
    let (status, found) = check(&out).unwrap();
    assert_eq!(
        (status, &found["state"], &found["is_whole"]),
        (0, &"running".into(), &true.into()),
        "{found:#}"
    );
    // Nobody else writes there, and nobody takes it for over.
    let import = folder.path().join("table.csv");
    std::fs::write(
        &import,
        "rank,type,timestamp_ns,source,destination,size\n0,send,1,0,1,8\n1,receive,2,0,1,8\n",
    )
    .unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let refused = |words: &[&str]| {
        let ended = run(&mut mpiscope(words).unwrap(), LIMIT).unwrap();
        assert_eq!((ended.status, ended.errors().lines().count()), (2, 1), "{words:?}: {}", ended.errors());
        assert!(ended.errors().contains("is being recorded"), "{words:?}: {}", ended.errors());
    };
    refused(&["repair", &text(&out)]);
    refused(&["import", &text(&import), "-o", &text(&out)]);
    refused(&["run", "--out", &text(&out), "--", "true"]);
    refused(&[
        "synth",
        "--pattern",
        "ring",
        "--ranks",
        "2",
        "--seconds",
        "1",
        "--rate",
        "100",
        "-o",
        &text(&out),
    ]);
    let broken = folder.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("manifest.json"), "{").unwrap();
    refused(&["repair", &text(&broken), "-o", &text(&out)]);
    let ended = running.wait(LIMIT).unwrap();
    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_eq!(Recorded::load(&out).unwrap().differences(&truth), Vec::<String>::new());
    assert_eq!(check(&out).unwrap().0, 0);
}

#[test]
fn of_two_that_begin_at_once_one_records() {
    let test = "killed_anytime of_two_that_begin_at_once_one_records";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let program = mpi.app("linger").unwrap();
    for _ in 0..5 {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let start =
            || Running::start(&mut record(&mpi, 1, &program, &["0.3", "500"], &out).unwrap()).unwrap();
        let (one, other) = (start(), start());
        let ended = [one.wait(LIMIT).unwrap(), other.wait(LIMIT).unwrap()];
        let texts = ended.each_ref().map(Ended::errors);
        assert_eq!(texts.iter().filter(|text| text.contains("recording in")).count(), 1, "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("panicked") || text.contains("died")), "{texts:?}");
        assert_eq!(check(&out).unwrap().0, 0, "{texts:?}");
        assert_eq!(Recorded::load(&out).unwrap().calls.len(), 3 * 150 + 2);
    }
}
