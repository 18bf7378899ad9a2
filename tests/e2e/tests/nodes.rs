//! Jobs over several hosts: every call of every rank is there once, on one clock, on the right node, whatever becomes of
//! daemon, agents and links meanwhile.

use crate::support::hosts::{self, Job, agents, assert_exact, nodes_of_ranks};
use mpiscope_harness::{
    Ended, Family, LIMIT, Lab, LabOptions, Mpi, Placement, Recorded, Running, Signal, Start, Truth, check,
    daemon_of, full_run, mpiscope, processes, report, run, until_log_has,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A lab for this test, or the test is skipped.
macro_rules! lab_or_return {
    ($options:expr, $test:literal) => {
        match Lab::up_or_skip(&$options, concat!("nodes ", $test)).unwrap() {
            Some(lab) => lab,
            None => return,
        }
    };
}

/// Runs a program recorded over all hosts and compares with what it says of itself.
fn exact(lab: &Lab, job: &Job<'_>, ranks: u32) -> Recorded {
    let out = lab.shared().join(format!("{}-{}-{ranks}", job.app, job.mpi.family.word()));
    let ended = run(&mut job.recorded(lab, ranks, &out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let recorded = assert_exact(&out, &ended, ranks);
    assert!(recorded.manifest.missing.is_empty(), "{:?}", recorded.manifest.missing);
    assert_nothing_left(lab);
    recorded
}

/// No agent, no ring and no spool stays on any host.
fn assert_nothing_left(lab: &Lab) {
    let gone = processes::until(LIMIT, || agents(lab).is_empty().then_some(()));
    assert!(gone.is_some(), "agents stay: {:?}", agents(lab));
    for host in lab.hosts().unwrap() {
        let look = "ls -d /dev/shm/mpiscope-* /tmp/mpiscope-* 2> /dev/null | grep -v mpiscope-test-";
        let left = run(&mut lab.exec(&host, &["sh", "-c", look]), LIMIT).unwrap();
        assert_eq!(left.output(), "", "on {host}");
    }
}

fn on_hosts(family: Family, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(4).skewed_clocks(), test).unwrap() else { return };
    let apps = ["halo3d", "collectives", "master_worker", "forms", "ring"];
    for app in if full_run() { &apps[..] } else { &apps[..2] } {
        exact(&lab, &Job::new(&mpi, app), 16);
    }
}

#[test]
fn counts_are_exact_on_4_hosts_under_openmpi() {
    on_hosts(Family::OpenMpi, "nodes counts_are_exact_on_4_hosts_under_openmpi");
}

#[test]
fn counts_are_exact_on_4_hosts_under_mpich() {
    on_hosts(Family::Mpich, "nodes counts_are_exact_on_4_hosts_under_mpich");
}

#[test]
fn counts_are_exact_on_8_and_16_hosts() {
    let lab = lab_or_return!(LabOptions::hosts(16).skewed_clocks(), "counts_are_exact_on_8_and_16_hosts");
    for mpi in Mpi::all_or_skip("nodes counts_are_exact_on_8_and_16_hosts") {
        // Half of the hosts, then all of them.
        let halo = Job::new(&mpi, "halo3d").placed(Placement::Block);
        let recorded = exact(&lab, &halo.clone().slots(8), 64);
        assert_eq!(recorded.manifest.job.nodes.len(), 8);
        if full_run() || mpi.family == Family::OpenMpi {
            let recorded = exact(&lab, &halo.slots(8), 128);
            assert_eq!(recorded.manifest.job.nodes.len(), 16);
        }
    }
}

#[test]
fn every_rank_is_on_its_node() {
    let lab = lab_or_return!(LabOptions::hosts(4), "every_rank_is_on_its_node");
    for mpi in Mpi::all_or_skip("nodes every_rank_is_on_its_node") {
        let file = lab.shared().join(format!("placement.{}", mpi.family.word()));
        let (text, by_file) = hosts::placement_file(mpi.family);
        std::fs::write(&file, text).unwrap();
        let block: fn(u32) -> u32 = |rank| rank / 2;
        let cyclic: fn(u32) -> u32 = |rank| rank % 4;
        for (placement, node_of) in
            [(Placement::Block, block), (Placement::Cyclic, cyclic), (Placement::File(&file), by_file)]
        {
            let job = Job::new(&mpi, "ring").placed(placement).slots(2);
            let out = lab.shared().join(format!("placed-{}-{node_of:p}", mpi.family.word()));
            let ended = run(&mut job.recorded(&lab, 8, &out), LIMIT).unwrap();
            let recorded = assert_exact(&out, &ended, 8);
            let nodes = nodes_of_ranks(&recorded);
            let expected: BTreeMap<u32, String> =
                (0..8).map(|rank| (rank, format!("node{}", node_of(rank) + 1))).collect();
            assert_eq!(nodes, expected, "{placement:?}, {}", mpi.family.word());
            let inter = recorded.messages.iter().filter(|message| message.inter);
            let apart = inter.clone().filter(|message| nodes[&message.src.0] != nodes[&message.dst.0]);
            assert_eq!(inter.count(), apart.count());
            assert!(recorded.messages.iter().all(|m| m.inter == (nodes[&m.src.0] != nodes[&m.dst.0])));
        }
    }
}

#[test]
fn counts_are_exact_under_slurm() {
    let lab = lab_or_return!(LabOptions::hosts(4).slurm(), "counts_are_exact_under_slurm");
    for mpi in Mpi::all_or_skip("nodes counts_are_exact_under_slurm") {
        for app in ["halo3d", "collectives"] {
            let recorded = exact(&lab, &Job::new(&mpi, app).started(Start::Slurm), 16);
            assert_eq!(recorded.manifest.job.nodes.len(), 4);
        }
    }
}

#[test]
fn counts_are_exact_through_ssh() {
    let lab = lab_or_return!(LabOptions::hosts(3).sshd(), "counts_are_exact_through_ssh");
    for mpi in Mpi::all_or_skip("nodes counts_are_exact_through_ssh") {
        exact(&lab, &Job::new(&mpi, "halo3d").started(Start::Ssh), 6);
    }
}

#[test]
fn hosts_with_process_numbers_of_their_own() {
    let lab = lab_or_return!(LabOptions::hosts(3).own_pids(), "hosts_with_process_numbers_of_their_own");
    for mpi in Mpi::all_or_skip("nodes hosts_with_process_numbers_of_their_own") {
        exact(&lab, &Job::new(&mpi, "halo3d"), 6);
    }
}

/// The clock of each node in the report: how far it is ahead of the first host's at the start, by how many parts per
/// billion it is faster, and how far off that is at most.
fn clocks(out: &Path) -> BTreeMap<String, (i64, f64, u64)> {
    let report = report(out).unwrap();
    let nodes = report["job"]["nodes"].as_array().unwrap().iter();
    nodes
        .map(|node| {
            let clock = &node["clock"];
            let figures = (
                clock["ahead_ns"].as_i64().unwrap(),
                clock["drift_ppb"].as_f64().unwrap(),
                clock["uncertainty_ns"].as_u64().unwrap(),
            );
            (node["name"].as_str().unwrap().to_owned(), figures)
        })
        .collect()
}

/// No message ends before it begins, neither in the rows nor by the report's count; the report gives the clocks before
/// correction.
fn assert_causal(out: &Path, recorded: &Recorded) -> String {
    let wrong = recorded.messages.iter().filter(|message| message.recv_ns < message.send_ns).count();
    let totals = report(out).unwrap()["totals"].clone();
    assert_eq!((wrong, totals["clock_violations"].as_u64().unwrap()), (0, 0));
    format!("{} of {} before", totals["clock_violations_before"], recorded.messages.len())
}

#[test]
fn clocks_a_thousand_seconds_apart_are_one() {
    let lab = lab_or_return!(LabOptions::hosts(4).skewed_clocks(), "clocks_a_thousand_seconds_apart_are_one");
    let truth = lab.clock_offsets_ns().unwrap();
    for mpi in Mpi::sample_or_skip("nodes clocks_a_thousand_seconds_apart_are_one") {
        let out = lab.shared().join(mpi.family.word());
        let job = Job::new(&mpi, "linger").arguments(&["3", "200"]);
        let ended = run(&mut job.recorded(&lab, 8, &out), LIMIT).unwrap();
        let recorded = assert_exact(&out, &ended, 8);
        let violations = assert_causal(&out, &recorded);
        for (node, (ahead_ns, drift_ppb, uncertainty_ns)) in clocks(&out) {
            let true_ns = truth[&node] - truth["node1"];
            let wrong_ns = (ahead_ns - true_ns).unsigned_abs();
            println!(
                "{} {node}: wrong by {wrong_ns} of at most {uncertainty_ns} ns, drift {drift_ppb:.0} ppb, {violations}",
                mpi.family.word()
            );
            assert!(wrong_ns <= uncertainty_ns, "{node}: {ahead_ns} and not {true_ns}, +- {uncertainty_ns}");
            // A round trip on a machine that is very busy, and no more.
            assert!(uncertainty_ns < 50_000_000, "{node}: {uncertainty_ns}");
        }
    }
}

#[test]
fn clocks_that_drift_are_one() {
    let lab = lab_or_return!(LabOptions::hosts(3).skewed_clocks(), "clocks_that_drift_are_one");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes clocks_that_drift_are_one") else { return };
    let out = lab.shared().join("drift");
    let job = Job::new(&mpi, "linger").arguments(&["6", "200"]);
    let mut command = job.recorded(&lab, 6, &out);
    command.env("MPISCOPE_TEST_CLOCK_DRIFT", "node2=50000,node3=-50000");
    let ended = run(&mut command, LIMIT).unwrap();
    let recorded = assert_exact(&out, &ended, 6);
    let violations = assert_causal(&out, &recorded);
    let clocks = clocks(&out);
    println!("{clocks:?}, {violations}");
    for (node, drift_ppb) in [("node1", 0.0), ("node2", 50_000.0), ("node3", -50_000.0)] {
        let (_, found_ppb, uncertainty_ns) = clocks[node];
        // What is not known of the offset at both ends makes as much in the slope.
        let allowed_ppb = 2.0 * uncertainty_ns as f64 / 6.0 + 10.0;
        assert!((found_ppb - drift_ppb).abs() < allowed_ppb, "{node}: {found_ppb} ppb, +- {allowed_ppb}");
    }
}

/// A job of 64 ranks on 4 hosts that lasts this number of seconds.
fn lingering(lab: &Lab, mpi: &Mpi, seconds: u32, out: &Path) -> Running {
    let seconds = seconds.to_string();
    let job = Job::new(mpi, "linger").arguments(&[&seconds, "20"]);
    let running = Running::start(&mut job.recorded(lab, 64, out)).unwrap();
    until_log_has(out, 100_000).unwrap();
    running
}

fn ended_exactly(running: Running, out: &Path) -> Ended {
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_exact(out, &ended, 64);
    let (status, found) = check(out).unwrap();
    assert_eq!(status, 0, "{found:#}");
    ended
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// What can go wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The daemon is killed; `run` starts it again.
    Daemon,
    /// The daemon is suspended for a while.
    Pause(Duration),
    /// A host is cut off from all others for a while.
    Link(u64, Duration),
    /// The working process of a host's agent is killed.
    Worker(u64),
    /// All processes of a host's agent are killed.
    Agent(u64),
}

fn draw(dice: &mut Dice, longest: Duration) -> Fault {
    let host = 2 + dice.roll(3);
    let long = Duration::from_secs(1) + Duration::from_millis(dice.roll(longest.as_millis() as u64 - 999));
    match dice.roll(10) {
        0 => Fault::Daemon,
        1 | 2 => Fault::Pause(long.min(Duration::from_secs(5))),
        3..=5 => Fault::Link(host, long),
        6..=8 => Fault::Worker(host),
        _ => Fault::Agent(host),
    }
}

/// Whether the job, its launcher, is still there.
fn goes_on(running: &Running) -> bool {
    let is_daemon = |child: &u32| processes::command_line(*child).get(1).is_some_and(|word| word == "record");
    processes::children(running.process()).iter().any(|child| !is_daemon(child))
}

/// `has_time`: whether the job goes on for long enough.
fn inflict(fault: Fault, lab: &Lab, running: &Running, has_time: impl Fn() -> bool) {
    let daemon = || {
        let found = daemon_of(running);
        assert!(found.is_ok() || !goes_on(running), "{}", running.errors_until_now());
        found.ok()
    };
    match fault {
        Fault::Daemon => daemon().into_iter().for_each(|daemon| processes::signal(daemon, Signal::KILL)),
        Fault::Pause(during) => {
            let Some(daemon) = daemon() else { return };
            processes::signal(daemon, Signal::STOP);
            std::thread::sleep(during);
            processes::signal(daemon, Signal::CONT);
        }
        Fault::Link(host, during) => lab.cut(&format!("node{host}"), during).unwrap(),
        Fault::Worker(host) | Fault::Agent(host) => {
            let mut found = agents(lab);
            found.retain(|agent| agent.host == format!("node{host}"));
            if matches!(fault, Fault::Worker(_)) {
                found.retain(|agent| agent.is_worker);
            }
            // Finding them may have taken long.
            if has_time() {
                found.iter().for_each(|agent| processes::signal(agent.process, Signal::KILL));
            }
        }
    }
}

/// In the end of a job nothing is inflicted.
const LAST: Duration = Duration::from_secs(5);

/// Numbers of faults and runs, and the longest fault.
fn faults(test: &str, seed: u64, runs: u64, each: u64, longest: Duration) {
    let mpis = Mpi::all_or_skip(test);
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(4), test).unwrap() else { return };
    for number in 0..runs {
        let mpi = &mpis[number as usize % mpis.len()];
        // MPICH's UCX gives a host up that does not answer for some 16 s, also when several cuts add up to them: the job
        // ends or hangs by itself.
        let longest = if mpi.family == Family::Mpich { longest.min(Duration::from_secs(4)) } else { longest };
        let mut dice = Dice(seed.wrapping_add(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let pause = |dice: &mut Dice| Duration::from_millis(200 + dice.roll(1500));
        let drawn: Vec<(Fault, Duration)> =
            (0..each).map(|_| (draw(&mut dice, longest), pause(&mut dice))).collect();
        println!("run {number}, {}: {drawn:?}", mpi.family.word());
        let out = lab.shared().join(format!("faults-{number}"));
        let takes = |(fault, pause): &(Fault, Duration)| match fault {
            Fault::Pause(during) => *during + *pause,
            _ => *pause,
        };
        // As long as all of that, what it takes to inflict it on a busy machine, and the last cut.
        let inflicting = Duration::from_secs(5 + 2 * each);
        let whole = drawn.iter().map(takes).sum::<Duration>() + inflicting + longest;
        let begun = Instant::now();
        let running = lingering(&lab, mpi, whole.as_secs() as u32, &out);
        let first = processes::GoesFirst::new();
        // On a busy machine the job may be over sooner. An agent that dies once all ranks have made their last call has nobody
        // who starts it again.
        let has_time = || goes_on(&running) && begun.elapsed() + LAST <= whole;
        // A daemon that dies more than a few times is given up.
        let (mut deaths, mut inflicted) = (0, 0);
        for (fault, pause) in drawn {
            if !has_time() {
                break;
            }
            inflicted += 1;
            deaths += u64::from(matches!(fault, Fault::Daemon));
            if deaths <= 3 || !matches!(fault, Fault::Daemon) {
                inflict(fault, &lab, &running, has_time);
            }
            std::thread::sleep(pause);
        }
        drop(first);
        ended_exactly(running, &out);
        assert!(inflicted * 2 > each, "only {inflicted} of {each} while the job ran");
        println!("run {number}: exact after {inflicted}");
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn nothing_is_lost_or_doubled_whatever_dies_or_is_cut_off() {
    let test = "nodes nothing_is_lost_or_doubled_whatever_dies_or_is_cut_off";
    let (runs, each, longest) = if full_run() { (10, 10, 30) } else { (2, 4, 2) };
    faults(test, 5, runs, each, Duration::from_secs(longest));
}

#[test]
fn what_is_lost_while_an_agent_is_dead_is_counted() {
    let lab = lab_or_return!(LabOptions::hosts(2), "what_is_lost_while_an_agent_is_dead_is_counted");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes what_is_lost_while") else { return };
    let out = lab.shared().join("fast");
    // As fast as the ranks can, all of them on the second host, with rings that are soon full; until long after the last agent is
    // back, for nobody counts what ranks do that end before.
    let job = Job::new(&mpi, "million").arguments(&["8000000"]).on("node2").slots(2);
    let mut command = job.recorded(&lab, 2, &out);
    command.env("MPISCOPE_SITE", hosts::site(&lab, "[limits]\nring_slots = 4096\n"));
    let running = Running::start(&mut command).unwrap();
    until_log_has(&out, 1_000_000).unwrap();
    for _ in 0..3 {
        let killed: Vec<_> = agents(&lab).iter().map(|agent| agent.process).collect();
        killed.iter().for_each(|agent| processes::signal(*agent, Signal::KILL));
        let is_back = || agents(&lab).iter().any(|agent| !killed.contains(&agent.process)).then_some(());
        assert!(
            processes::until(LIMIT, is_back).is_some(),
            "no agent comes back: {}",
            running.errors_until_now()
        );
    }
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let truth = Truth::parse(&ended.stdout).unwrap();
    let recorded = Recorded::load(&out).unwrap();
    let (totals, lost) = (recorded.manifest.totals, recorded.manifest.lost);
    println!("{} recorded, {} lost of {}", totals.calls + totals.polls, lost.ring_full, truth.all_calls());
    assert_eq!(
        totals.calls + totals.polls + lost.ring_full,
        truth.all_calls(),
        "{lost:?}\n{}",
        ended.errors()
    );
    assert_eq!((lost.no_ring, lost.unreadable), (0, 0));
}

#[test]
fn agents_that_a_site_has_started_by_hand() {
    let lab = lab_or_return!(LabOptions::hosts(2), "agents_that_a_site_has_started_by_hand");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes agents_that_a_site_has_started_by_hand") else {
        return;
    };
    let out = lab.shared().join("by-hand");
    let mut command = Job::new(&mpi, "linger").arguments(&["3", "50"]).recorded(&lab, 4, &out);
    command.env("MPISCOPE_SITE", hosts::site(&lab, "[agents]\nstart = \"by-hand\"\n"));
    let running = Running::start(&mut command).unwrap();
    let warned = || running.errors_until_now().contains("mpiscope agent ").then_some(());
    assert!(processes::until(LIMIT, warned).is_some());
    assert!(agents(&lab).is_empty(), "no rank starts one");
    let product = mpiscope(&["agent"]).unwrap();
    let words = [product.get_program(), "agent".as_ref(), out.as_os_str()];
    // The daemon's own host needs none: a second reader of its rings would damage the recording.
    let needless = run(&mut lab.exec("node1", &words), LIMIT).unwrap();
    assert_eq!(needless.status, 0);
    assert!(needless.errors().contains("no agent is needed here"), "{}", needless.errors());
    let agent = Running::start(&mut lab.exec("node2", &words)).unwrap();
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(agent.wait(LIMIT).unwrap().status, 0);
    assert_exact(&out, &ended, 4);
    assert!(!out.join("agents.env").exists());
    assert_nothing_left(&lab);
}

#[test]
fn a_job_script_of_slurm() {
    let lab = lab_or_return!(LabOptions::hosts(3).slurm(), "a_job_script_of_slurm");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes a_job_script_of_slurm") else { return };
    let (out, saved) = (lab.shared().join("script"), lab.shared().join("saved"));
    let product = mpiscope(&[]).unwrap();
    let script = format!(
        "#!/bin/sh\nexec {} run --no-dashboard --out {} -- {} -n 6 {} 100\n",
        product.get_program().display(),
        out.display(),
        mpi.launcher.display(),
        mpi.app("halo3d").unwrap().display(),
    );
    let file = lab.shared().join("job.sh");
    std::fs::write(&file, script).unwrap();
    let mut command = lab.exec("node1", &["sbatch", "--wait", "-N3", "-n6", "-o"]);
    mpi.prepare(&mut command).unwrap();
    let ended = run(command.arg(&saved).arg(&file), LIMIT).unwrap();
    let text = std::fs::read(&saved).unwrap_or_default();
    assert_eq!(ended.status, 0, "{}{}", ended.errors(), String::from_utf8_lossy(&text));
    let written = Ended { status: 0, stdout: text, stderr: Vec::new() };
    let recorded = assert_exact(&out, &written, 6);
    assert_eq!(recorded.manifest.job.nodes.len(), 3);
}

#[test]
fn a_host_cut_off_for_good_is_reported_and_the_rest_is_whole() {
    let lab =
        lab_or_return!(LabOptions::hosts(3), "a_host_cut_off_for_good_is_reported_and_the_rest_is_whole");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes a_host_that_is_cut_off_for_good") else {
        return;
    };
    let out = lab.shared().join("cut");
    let job = Job::new(&mpi, "linger").arguments(&["600", "50"]);
    let mut command = job.recorded(&lab, 6, &out);
    command.env("MPISCOPE_SITE", hosts::site(&lab, "[limits]\npatience_s = 3\n"));
    let running = Running::start(&mut command).unwrap();
    until_log_has(&out, 20_000).unwrap();
    // Who never reported cannot fall silent.
    let has_reported = || {
        let manifest: Value = serde_json::from_slice(&fs::read(out.join("manifest.json")).ok()?).ok()?;
        manifest["job"]["nodes"].as_array()?.iter().find(|node| node["name"] == "node3").cloned()
    };
    assert!(processes::until(LIMIT, has_reported).is_some(), "{}", running.errors_until_now());
    lab.cut("node3", Duration::from_secs(300)).unwrap();
    // MPI itself ends the job sooner or later; whoever waits for that ends it.
    let warned = || running.errors_until_now().contains("nothing is heard of node3").then_some(());
    assert!(processes::until(LIMIT, warned).is_some(), "{}", running.errors_until_now());
    std::thread::sleep(Duration::from_millis(500));
    // Its launcher would wait for the host that is gone, and its ranks for each other.
    let of_job = hosts::processes_of(&lab, &["linger", "orted", "mpirun"]);
    of_job.into_iter().for_each(|process| processes::signal(process, Signal::KILL));
    let ended = running.wait(LIMIT).unwrap();
    let report = report(&out).unwrap();
    let missing = report["missing"].to_string();
    assert!(missing.contains("node3: cut off"), "{missing}\n{}", ended.errors());
    let recorded = Recorded::load(&out).unwrap();
    let states = hosts::states_of_ranks(&recorded);
    let node = nodes_of_ranks(&recorded);
    for (rank, state) in states {
        assert_eq!(state == "silent", node[&rank] == "node3", "rank {rank} is {state}");
    }
    assert!(recorded.calls.iter().filter(|call| node[&call.rank.0] != "node3").count() > 100);
}

#[test]
fn nobody_else_reads_rings_spools_or_recordings() {
    let lab = lab_or_return!(LabOptions::hosts(2), "nobody_else_reads_rings_spools_or_recordings");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes nobody_else_reads") else { return };
    let out = lab.shared().join("private");
    let job = Job::new(&mpi, "linger").arguments(&["4", "50"]);
    let running = Running::start(&mut job.recorded(&lab, 4, &out)).unwrap();
    until_log_has(&out, 5_000).unwrap();
    let look = format!(
        "find /dev/shm/mpiscope-* /tmp/mpiscope-[0-9]* {0} -readable -not -type l 2> /dev/null; \
         cat /proc/*/environ 2> /dev/null | grep -ac MPISCOPE_SECRET; ps -eo args | grep -c '[S]ECRET='",
        out.display()
    );
    for host in ["node1", "node2"] {
        let own = run(&mut lab.exec(host, &["sh", "-c", &look]), LIMIT).unwrap().output();
        assert!(own.contains(".ring"), "there is something to be read: {own}");
        let ended =
            run(lab.command("exec").args(["--user", "nobody", host, "sh", "-c", &look]), LIMIT).unwrap();
        assert_eq!(ended.output(), "0\n0\n", "on {host}");
    }
    let ended = running.wait(LIMIT).unwrap();
    assert_exact(&out, &ended, 4);
}

#[test]
fn ranks_that_find_no_way_to_the_daemon_run_as_ever() {
    let lab = lab_or_return!(LabOptions::hosts(2), "ranks_that_find_no_way_to_the_daemon_run_as_ever");
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "nodes ranks_that_find_no_way") else { return };
    let out = lab.shared().join("lonely");
    let mut command = Job::new(&mpi, "ring").recorded(&lab, 4, &out);
    // Nobody listens there.
    command.env("MPISCOPE_SITE", hosts::site(&lab, "[agents]\naddresses = [\"127.0.0.2\"]\n"));
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_eq!(Truth::parse(&ended.stdout).unwrap().pairs.len(), 4);
    let missing = report(&out).unwrap()["missing"].to_string();
    assert!(missing.contains("2 of 4 ranks"), "{missing}");
}
