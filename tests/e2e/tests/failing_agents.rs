//! Agents that fail for good, and spools that take nothing: each call is recorded or counted as lost, or the host is named
//! whose calls nobody counted.

use crate::support::hosts::{self, Job, agents, assert_exact, nodes_of_ranks};
use mpiscope_harness::{
    Ended, Family, LIMIT, Lab, LabOptions, Mpi, Recorded, Running, Signal, Truth, check, daemon_of, mpiscope,
    processes, repair, report, run, until_log_has,
};
use std::path::Path;
use std::process::Command;

const HOSTS: u32 = 2;

fn up(test: &str) -> Option<(Lab, Mpi)> {
    let mpi = Mpi::find_or_skip(Family::OpenMpi, test)?;
    Some((Lab::up_or_skip(&LabOptions::hosts(HOSTS), test).unwrap()?, mpi))
}

/// Runs a line of shell on a host.
fn shell(lab: &Lab, host: &str, line: &str) -> String {
    let ended = run(&mut lab.exec(host, &["sh", "-c", line]), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{line}: {}", ended.errors());
    ended.output()
}

/// Of its host nothing is heard any more: its agent is dead, and no other can be started.
fn end_agents(lab: &Lab, host: &str) {
    let program = mpiscope(&[]).unwrap().get_program().to_owned();
    shell(lab, host, &format!("mount -n --bind /dev/null {}", program.display()));
    let on_host = || agents(lab).into_iter().filter(|agent| agent.host == host).collect::<Vec<_>>();
    assert!(!on_host().is_empty());
    let gone = || {
        let left = on_host();
        left.iter().for_each(|agent| processes::signal(agent.process, Signal::KILL));
        left.is_empty().then_some(())
    };
    assert!(processes::until(LIMIT, gone).is_some());
}

fn has_sentence(missing: &serde_json::Value) -> bool {
    let texts = missing.as_array().unwrap().iter().filter_map(|text| text.as_str());
    let mut of_host = texts.filter(|text| text.starts_with("node2: cut off at "));
    of_host
        .next()
        .is_some_and(|text| text.ends_with("; calls that its ranks made after that are not counted"))
}

/// Every account of a recording names the host.
fn assert_named(recording: &Path) {
    let report = report(recording).unwrap();
    assert!(has_sentence(&report["missing"]), "{:#}", report["missing"]);
    assert_eq!(report["uncounted"][0]["node"], "node2", "{report:#}");
    let (status, found) = check(recording).unwrap();
    assert_eq!(status, 0, "{found:#}");
    assert!(has_sentence(&found["missing"]), "{found:#}");
    assert_eq!(found["uncounted"], report["uncounted"]);
    let text = run(mpiscope(&["report"]).unwrap().arg(recording), LIMIT).unwrap().output();
    assert!(text.contains("0, node2 not fully counted"), "{text}");
}

#[test]
fn a_host_whose_agent_stays_dead_is_named() {
    let Some((lab, mpi)) = up("failing_agents a_host_whose_agent_stays_dead_is_named") else { return };
    let out = lab.shared().join("dead");
    let mut command = Job::new(&mpi, "linger").arguments(&["8", "50"]).recorded(&lab, 4, &out);
    command.env("MPISCOPE_SITE", hosts::site(&lab, "[limits]\npatience_s = 3\n"));
    let running = Running::start(&mut command).unwrap();
    until_log_has(&out, 10_000).unwrap();
    end_agents(&lab, "node2");
    let warned = || running.errors_until_now().contains("nothing is heard of node2").then_some(());
    assert!(processes::until(LIMIT, warned).is_some(), "{}", running.errors_until_now());
    // A run whose recorder is killed now leaves this.
    let broken_off = lab.shared().join("broken-off");
    assert_eq!(run(Command::new("cp").arg("-a").args([&out, &broken_off]), LIMIT).unwrap().status, 0);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert!(ended.errors().contains("no call lost, node2 not fully counted"), "{}", ended.errors());
    assert_named(&out);
    let truth = Truth::parse(&ended.stdout).unwrap();
    let recorded = Recorded::load(&out).unwrap();
    let (totals, node) = (recorded.manifest.totals, nodes_of_ranks(&recorded));
    assert!(totals.calls + totals.polls < truth.all_calls());
    let after_ns = recorded.manifest.uncounted[0].after_ns.unwrap();
    let last_ns = |host: &str| {
        let of_host = recorded.calls.iter().filter(|call| node[&call.rank.0] == host);
        of_host.map(|call| call.start_ns).max().unwrap()
    };
    assert!(last_ns("node2") <= after_ns && after_ns < last_ns("node1"), "{after_ns}");
    // So does what is read of the log, and made of it.
    let missing = report(&broken_off).unwrap()["missing"].clone();
    assert!(has_sentence(&missing), "{missing:#}");
    let repaired = lab.shared().join("repaired");
    assert_eq!(repair(&broken_off, &repaired).unwrap().status, 0);
    assert_named(&repaired);
}

/// A job with its ranks on the second host. Rings and spools have folders of their own there, which MPI does not use.
fn spooling(lab: &Lab, mpi: &Mpi, messages: &str, out: &Path) -> Running {
    let job = Job::new(mpi, "million").arguments(&[messages]).on("node2").slots(2);
    let mut command = job.recorded(lab, 2, out);
    let site = "[limits]\nring_slots = 4096\n[paths]\nrings = \"/run/rings\"\nspool = \"/run/disk\"\n";
    command.env("MPISCOPE_SITE", hosts::site(lab, site));
    Running::start(&mut command).unwrap()
}

const MAKE_RINGS: &str = "mkdir /run/rings && mount -n -t tmpfs none /run/rings";

fn ended_well(lab: &Lab, running: Running) -> Ended {
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert!(processes::until(LIMIT, || agents(lab).is_empty().then_some(())).is_some());
    assert_eq!(shell(lab, "node2", "ls -d /run/rings/mpiscope-* /run/disk/* 2> /dev/null || :"), "");
    ended
}

#[test]
fn a_spool_without_space_costs_no_call() {
    let Some((lab, mpi)) = up("failing_agents a_spool_without_space_costs_no_call") else { return };
    shell(&lab, "node1", "mkdir /run/disk /run/rings");
    shell(&lab, "node2", MAKE_RINGS);
    // The other host lacks the folder; then there is one that is soon full.
    for prepare in [":", "mkdir /run/disk && mount -n -t tmpfs -o size=256k none /run/disk"] {
        shell(&lab, "node2", prepare);
        let out = lab.shared().join(format!("spool-{}", prepare.len()));
        let ended = ended_well(&lab, spooling(&lab, &mpi, "400000", &out));
        let truth = Truth::parse(&ended.stdout).unwrap();
        let recorded = Recorded::load(&out).unwrap();
        let (totals, lost) = (recorded.manifest.totals, recorded.manifest.lost);
        println!("{prepare}: {} calls, {lost:?} of {}", totals.calls + totals.polls, truth.all_calls());
        assert_eq!(totals.calls + totals.polls + lost.ring_full, truth.all_calls(), "{}", ended.errors());
        assert!(recorded.manifest.uncounted.is_empty());
        if lost.ring_full == 0 {
            assert_exact(&out, &ended, 2);
        }
    }
}

#[test]
fn calls_are_counted_where_nothing_can_be_spooled() {
    let Some((lab, mpi)) = up("failing_agents calls_are_counted_where_nothing_can_be_spooled") else {
        return;
    };
    let out = lab.shared().join("nowhere");
    shell(&lab, "node1", "mkdir /run/disk /run/rings");
    shell(&lab, "node2", MAKE_RINGS);
    // Enough for the job to go on until its ranks are stopped.
    let running = spooling(&lab, &mpi, "1000000", &out);
    until_log_has(&out, 10_000).unwrap();
    // Nothing moves until the last place for calls is gone: the host lacks the folder of the spool, the memory of its rings
    // is full, and the daemon takes nothing.
    let ranks = || hosts::processes_of(&lab, &["/million-"]);
    let stopped = ranks();
    assert_eq!(stopped.len(), 2, "{}", running.errors_until_now());
    stopped.iter().for_each(|rank| processes::signal(*rank, Signal::STOP));
    let daemon = daemon_of(&running).unwrap();
    processes::signal(daemon, Signal::STOP);
    let used = "$(df --output=used -k /run/rings | tail -n 1)";
    shell(&lab, "node2", &format!("mount -n -o remount,size=$(({used} + 1024))k /run/rings"));
    // What is acknowledged gives memory back: it is filled for as long as the job runs.
    let fill = "while true; do cat /dev/zero >> /run/rings/full; sleep 0.02; done";
    let filling = Running::start(&mut lab.exec("node2", &["sh", "-c", fill])).unwrap();
    let left = "$(df --output=avail -k /run/rings | tail -n 1)";
    shell(&lab, "node2", &format!("until [ {left} -eq 0 ]; do sleep 0.02; done"));
    stopped.iter().for_each(|rank| processes::signal(*rank, Signal::CONT));
    let all_ended = || ranks().is_empty().then_some(());
    assert!(processes::until(LIMIT, all_ended).is_some(), "{}", running.errors_until_now());
    processes::signal(daemon, Signal::CONT);
    let ended = ended_well(&lab, running);
    drop(filling);
    let truth = Truth::parse(&ended.stdout).unwrap();
    let recorded = Recorded::load(&out).unwrap();
    let (totals, lost) = (recorded.manifest.totals, recorded.manifest.lost);
    println!("{} calls, {lost:?} of {}", totals.calls + totals.polls, truth.all_calls());
    assert_eq!(totals.calls + totals.polls + lost.ring_full, truth.all_calls(), "{}", ended.errors());
    assert!(lost.ring_full > 0 && recorded.manifest.uncounted.is_empty(), "{lost:?}");
}
