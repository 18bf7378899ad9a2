//! The live analysis shared with other processes: on this host and on others, whatever becomes of them.

use crate::support::hosts::{Job, assert_exact};
use crate::support::{Feed, Page, block_on, hosts_for_two_more, run_with_options};
use mpiscope_feed::FindingsReport;
use mpiscope_feed::message::Message;
use mpiscope_harness::{
    LIMIT, Lab, LabOptions, Mpi, Placement, Running, Signal, Start, daemon_of, folder, processes, report, run,
};
use std::path::Path;
use std::time::Duration;

const RANKS: u32 = 4;

/// A program under `mpiscope run`. Two more processes on this host share the analysis.
fn shared_run(mpi: &Mpi, [app, arguments @ ..]: &[&str; 3], folder: &Path, out: &Path) -> Running {
    let hosts = hosts_for_two_more(folder);
    run_with_options(mpi, RANKS, (app, arguments), out, &["--hostfile", &hosts])
}

/// The processes with shares of the analysis of a run: those that read calls, or others where nobody else does.
fn sharers(running: &Running) -> Vec<u32> {
    let Ok(daemon) = daemon_of(running) else { return Vec::new() };
    let shares = |process: &u32| {
        processes::command_line(*process).last().is_some_and(|word| word == "read" || word == "join")
    };
    processes::children(daemon).into_iter().filter(shares).collect()
}

/// Whether a process analyses: the threads of a flow have the name of what started them.
fn analyses(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "analysis").count() > 0
}

/// The next live findings, and all texts of faults and notices until then.
async fn next_found(feed: &mut Feed, texts: &mut Vec<String>) -> FindingsReport {
    loop {
        let Message { found, faults, .. } = feed.state().await;
        if let Some(faults) = faults {
            *texts = faults.newest.into_iter().map(|fault| fault.text).collect();
        }
        if let Some(found) = found {
            return found;
        }
    }
}

/// Rank 1 works for 5 ms in each step.
#[test]
fn a_verdict_comes_from_several_processes_and_goes_on_when_they_are_killed() {
    for mpi in Mpi::sample_or_skip(
        "analysis_hosts a_verdict_comes_from_several_processes_and_goes_on_when_they_are_killed",
    ) {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let words = ["uneven", "3000", "4000"];
        let running = shared_run(&mpi, &words, folder.path(), &out);
        let page = Page::open(&running, "mpiscope: live page");
        let mut texts = Vec::new();
        let killed_at_s = block_on(async {
            let mut feed = Feed::open(&page).await;
            let first = next_found(&mut feed, &mut texts).await;
            assert_eq!((first.left_out_calls, first.from_s), (0, 0.0));
            assert!(sharers(&running).len() == 2 && sharers(&running).into_iter().all(analyses));
            let (mut killed, mut until_s) = (0, first.until_s);
            // Each of them twice: the second time there is nobody who takes over but the daemon.
            while let Some(process) = sharers(&running).pop() {
                processes::signal(process, Signal::KILL);
                killed += 1;
                // All until now is found again, without the one that is gone.
                loop {
                    let found = next_found(&mut feed, &mut texts).await;
                    assert_eq!((found.left_out_calls, found.from_s), (0, 0.0), "{killed} killed");
                    if found.is_final {
                        return f64::INFINITY;
                    }
                    if texts.iter().filter(|text| text.contains(" is gone")).count() == killed {
                        until_s = found.until_s.max(until_s);
                        break;
                    }
                }
            }
            assert_eq!(killed, 4, "{texts:?}");
            let last = next_found(&mut feed, &mut texts).await;
            assert!(last.is_final || last.diagnosis.waits.first().is_some_and(|wait| wait.awaited == 1));
            until_s
        });
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(ended.errors().contains("the live analysis is shared with localhost, localhost"));
        assert!(killed_at_s.is_finite(), "the job was over before all were killed: {texts:?}");
        assert_eq!(
            texts.iter().filter(|text| text.contains("it gets none any more")).count(),
            2,
            "{texts:?}"
        );
        assert_exact(&out, &ended, RANKS);
        let verdict = &report(&out).unwrap()["verdict"];
        assert!(["pattern", "cpu"].contains(&verdict["cause"].as_str().unwrap()), "{verdict}");
    }
}

/// What is dropped from the log cannot be read by anybody: then others have shares of the analysis alone, and what one of them knew is
/// left out.
#[test]
fn with_a_log_that_is_cut_others_only_analyse() {
    for mpi in Mpi::sample_or_skip("analysis_hosts with_a_log_that_is_cut_others_only_analyse") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let hosts = hosts_for_two_more(folder.path());
        let options = ["--hostfile", &hosts, "--keep", "10m"];
        let running = run_with_options(&mpi, RANKS, ("uneven", &["1500", "4000"]), &out, &options);
        let page = Page::open(&running, "mpiscope: live page");
        let mut texts = Vec::new();
        block_on(async {
            let mut feed = Feed::open(&page).await;
            let first = next_found(&mut feed, &mut texts).await;
            let killed = sharers(&running).pop().expect("others have shares");
            processes::signal(killed, Signal::KILL);
            loop {
                let found = next_found(&mut feed, &mut texts).await;
                assert!(!found.is_final, "{texts:?}");
                if found.from_s > first.from_s {
                    assert!(found.left_out_calls > 0);
                    break;
                }
            }
        });
        assert!(texts.iter().any(|text| text.contains("shares the live analysis is gone")), "{texts:?}");
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_exact(&out, &ended, RANKS);
    }
}

/// The daemon is killed: its successor brings other processes together, and those of the first end.
#[test]
fn a_successor_of_the_daemon_shares_the_analysis_again() {
    for mpi in Mpi::sample_or_skip("analysis_hosts a_successor_of_the_daemon_shares_the_analysis_again") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let words = ["uneven", "1500", "4000"];
        let running = shared_run(&mpi, &words, folder.path(), &out);
        let both = || Some(sharers(&running)).filter(|found| found.len() == 2);
        let first = processes::until(LIMIT, both).unwrap();
        let daemon = daemon_of(&running).unwrap();
        processes::signal(daemon, Signal::KILL);
        let is_another = || daemon_of(&running).is_ok_and(|process| process != daemon);
        let later = || if is_another() { both() } else { None };
        let second = processes::until(LIMIT, later).expect("the successor brings others together");
        assert!(second.iter().all(|process| !first.contains(process)));
        let are_gone = || first.iter().all(|process| !processes::is_running(*process)).then_some(());
        processes::until(LIMIT, are_gone).expect("those of the first daemon end");
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_exact(&out, &ended, RANKS);
        let are_gone = || second.iter().all(|process| !processes::is_running(*process)).then_some(());
        processes::until(LIMIT, are_gone).expect("they end with the run");
    }
}

#[test]
fn hosts_share_the_analysis_through_ssh_and_one_that_cannot_is_named() {
    let test = "analysis_hosts hosts_share_the_analysis_through_ssh_and_one_that_cannot_is_named";
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(3).sshd(), test).unwrap() else { return };
    for mpi in Mpi::sample_or_skip(test) {
        let (hosts, settings) = (lab.shared().join("hosts"), lab.shared().join("settings.toml"));
        std::fs::write(&hosts, "node1\nnode2\nnode3\nnode4\n").unwrap();
        let words = lab.launcher(&mpi, 6, Placement::Cyclic, Start::Ssh, None, None).unwrap();
        let shell = words.iter().find(|word| word.to_string_lossy().ends_with("/ssh")).unwrap();
        std::fs::write(&settings, format!("[analysis]\nshell = [{shell:?}]\n")).unwrap();
        let out = lab.shared().join("recording");
        let options = ["--hostfile", hosts.to_str().unwrap(), "--config", settings.to_str().unwrap()];
        let job = Job::new(&mpi, "uneven").arguments(&["1500", "4000"]).started(Start::Ssh).with(&options);
        let ended = run(&mut job.recorded_with_page(&lab, 6, &out), Duration::from_secs(120)).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let errors = ended.errors();
        assert!(errors.contains("mpiscope: the live analysis is shared with node2, node3\n"), "{errors}");
        assert!(errors.contains("mpiscope: the recording is shared with node2, node3\n"), "{errors}");
        assert!(errors.contains("mpiscope: node4 has no share of the recording: "), "{errors}");
        assert!(!errors.contains("is gone"), "{errors}");
        assert_exact(&out, &ended, 6);
    }
}
