//! What the scheduler did to ranks: recorded, and reported as the table has it.

use mpiscope_harness::processes::{self, until};
use mpiscope_harness::{
    Family, LIMIT, Mpi, Recorded, Running, Signal, folder, folder_in, mpiscope, others_take_cpus, record,
    report, run, skip,
};
use mpiscope_model::CpuSet;
use mpiscope_model::words::plural;
use mpiscope_recording::Recording;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

const RANKS: u32 = 16;

/// Two processors that this process may use; one when there is no other. On any machine this number of ranks then
/// waits.
fn two_processors() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    let numbers = list.split(',').flat_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap()
    });
    numbers.take(2).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn ranks_that_wait_for_a_cpu_are_reported_as_in_the_table() {
    const NAME: &str = "scheduling ranks_that_wait_for_a_cpu_are_reported_as_in_the_table";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, NAME) else { return };
    if Command::new("taskset").arg("--version").output().is_err() {
        return skip(NAME, "taskset is not installed");
    }
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("halo3d").unwrap();
    let words = ["-c", &two_processors(), app.to_str().unwrap(), "300", "8", "1"];
    let ended = run(&mut record(&mpi, RANKS, "taskset".as_ref(), &words, &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let sentence = "CPUs on average and waited for a CPU ";
    assert!(ended.errors().contains(sentence), "{}", ended.errors());

    let recording = Recording::open(&out).unwrap();
    let mut rows = recording.scheduling();
    let mut last = BTreeMap::new();
    for row in rows.by_ref().flatten() {
        let before = last.insert(row.rank, row).unwrap_or(row);
        assert!(before.at_ns <= row.at_ns && before.run_ns <= row.run_ns && before.wait_ns <= row.wait_ns);
    }
    assert!(rows.faults().is_empty(), "{:?}", rows.faults());
    assert_eq!(last.len(), RANKS as usize, "every rank is looked at");
    let end_ns = Recorded::load(&out).unwrap().calls.iter().map(|call| call.end_ns).max().unwrap();
    assert!(last.values().all(|row| row.at_ns > 0 && row.at_ns < end_ns + 5_000_000_000));
    let (run_ns, wait_ns) =
        last.values().fold((0, 0), |(run_ns, wait_ns), row| (run_ns + row.run_ns, wait_ns + row.wait_ns));
    assert!(wait_ns > run_ns / 4, "sixteen ranks on two processors ran {run_ns} ns and waited {wait_ns} ns");

    let report = report(&out).unwrap();
    let node = &report["job"]["nodes"][0]["name"];
    let ranks = report["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), last.len());
    for (found, row) in ranks.iter().zip(last.values()) {
        let expected = serde_json::json!({
            "rank": row.rank.0, "node": node, "state": "finalized",
            "run_s": row.run_ns as f64 / 1e9, "wait_s": row.wait_ns as f64 / 1e9,
            "stopped_s": row.stopped_ns as f64 / 1e9, "blocked_s": row.blocked_ns as f64 / 1e9,
            "major_faults": row.major_faults,
            "voluntary": row.voluntary, "involuntary": row.involuntary,
        });
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&found[key], value, "{key} of {found}");
        }
    }
    let text = mpiscope(&["report"]).unwrap().arg(&out).output().unwrap();
    assert!(String::from_utf8_lossy(&text.stdout).contains(sentence));
}

#[test]
fn a_rank_that_the_kernel_blocks_is_named() {
    const NAME: &str = "scheduling a_rank_that_the_kernel_blocks_is_named";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, NAME) else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("kernel_sleep").unwrap();
    let ended = run(&mut record(&mpi, 3, &app, &["1500"], &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let ranks = report(&out).unwrap()["ranks"].clone();
    let blocked_s = |rank: usize| ranks[rank]["blocked_s"].as_f64().unwrap();
    assert!((1.0..2.0).contains(&blocked_s(1)), "{ranks}");
    assert!([0, 2].iter().all(|&rank| blocked_s(rank) < 0.5), "{ranks}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    assert!(text.contains("The kernel blocked rank 1 for 1."), "{text}");
    // It did not work: that is no advice to move work away from it.
    assert!(text.contains("the kernel blocks rank 1 for 1."), "{text}");
    assert!(text.contains("Find out what rank 1 waits for: ") && !text.contains("Move work away"), "{text}");
}

#[test]
fn pages_that_a_blocked_rank_reads_from_a_disk_are_counted() {
    const NAME: &str = "scheduling pages_that_a_blocked_rank_reads_from_a_disk_are_counted";
    const PAGES: u64 = 3_000;
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, NAME) else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("kernel_sleep").unwrap();
    // On a disk: folders for temporary files may be in memory.
    let on_disk = folder_in(&mpiscope_harness::target()).unwrap();
    let pages = on_disk.path().join("pages");
    let words = ["1500", pages.to_str().unwrap()];
    let ended = run(&mut record(&mpi, 3, &app, &words, &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    // The program's own count; some systems keep pages of a file in memory against its will.
    let output = ended.output();
    let line = output.lines().find(|line| line.contains(" major faults, ")).unwrap();
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let (faults, in_memory) = (numbers.next().unwrap(), numbers.next().unwrap());
    if in_memory > 0 {
        return skip(NAME, &format!("{in_memory} pages of a file on the disk stayed in memory"));
    }
    let found = report(&out).unwrap();
    let reported = found["ranks"][1]["major_faults"].as_u64().unwrap();
    // The end of MPI may need pages, too.
    assert!(faults >= PAGES && (faults..faults + PAGES).contains(&reported), "{reported} of {faults}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    let sentence =
        format!("Rank 1 had {}: pages that were read from a disk", plural(reported, "major page fault"));
    assert_eq!(text.matches(&sentence).count(), 1, "{text}");
}

#[test]
fn the_cpus_that_ranks_are_bound_to_are_reported() {
    const NAME: &str = "scheduling the_cpus_that_ranks_are_bound_to_are_reported";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, NAME) else { return };
    if Command::new("taskset").arg("--version").output().is_err() {
        return skip(NAME, "taskset is not installed");
    }
    let cpus = two_processors();
    let cpus: Vec<&str> = cpus.split(',').collect();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("ring").unwrap();
    // Rank 0 is alone on the first CPU, ranks 1 and 2 share the last one.
    let binding = format!(
        "case $OMPI_COMM_WORLD_RANK in 0) cpu={first} ;; *) cpu={last} ;; esac; exec taskset -c $cpu \"$0\" \"$@\""
    );
    let words = ["-c", &binding, app.to_str().unwrap()];
    let ended = run(&mut record(&mpi, 3, "sh".as_ref(), &words, &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let found = report(&out).unwrap();
    let ranks: Vec<_> = found["ranks"].as_array().unwrap().iter().map(|rank| rank["cpus"].clone()).collect();
    assert_eq!(ranks, [first, last, last]);
    let node = &found["job"]["nodes"][0];
    assert_eq!(node["usable_cpus"].as_f64(), Some(cpus.len() as f64), "{node}");
    assert_eq!(node["is_bound"], cpus.len() > 1, "{node}");
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    assert_eq!(node["cpus"].as_u64(), Some(CpuSet::parse(&online).unwrap().count().into()), "{node}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    let expected = if cpus.len() > 1 { "2 CPUs (1.5 ranks per CPU)" } else { "1 CPU (3 ranks per CPU)" };
    assert!(text.contains(&format!("3 ranks on 1 node, {expected}")), "{text}");
}

/// Times a process gave its CPU away, such as by sleeping.
fn sleeps(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

/// Stops rank 1 of a ring for a while, in its own work or in MPI, and checks that the report names it. The words are the
/// program's arguments; the ranks' work takes two seconds.
fn stop_rank_1(name: &str, words: &[&str], in_its_work: bool) {
    const WORK_S: f64 = 2.0;
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, name) else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("patterns").unwrap();
    let running = Running::start(&mut record(&mpi, 4, &app, words, &out).unwrap()).unwrap();
    let is_rank_1 = |process: &u32| {
        processes::variable(*process, "OMPI_COMM_WORLD_RANK").as_deref() == Some("1")
            && processes::has_loaded(*process, ".ring")
    };
    let rank_1 = until(LIMIT, || running.family().into_iter().find(is_rank_1)).unwrap();
    let before = sleeps(rank_1).unwrap();
    until(LIMIT, || sleeps(rank_1).filter(|sleeps| *sleeps > before + 50)).unwrap();
    let begun = until(LIMIT, || {
        let begun = Instant::now();
        processes::signal(rank_1, Signal::STOP);
        let stands = || processes::state(rank_1).is_none_or(|state| "TZ".contains(state)).then_some(());
        until(LIMIT, stands)?;
        // It sleeps in its work, and polls in MPI.
        let is_asleep = processes::was_asleep(rank_1).expect("rank 1 ended before it was stopped");
        if is_asleep == in_its_work {
            return Some(begun);
        }
        processes::signal(rank_1, Signal::CONT);
        None
    })
    .unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    processes::signal(rank_1, Signal::CONT);
    let lasted_s = begun.elapsed().as_secs_f64();
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());

    let report = report(&out).unwrap();
    let stopped_s: Vec<f64> =
        report["ranks"].as_array().unwrap().iter().map(|rank| rank["stopped_s"].as_f64().unwrap()).collect();
    assert!((stopped_s[1] - lasted_s).abs() < 0.4 * lasted_s, "{stopped_s:?} of {lasted_s}");
    assert!([0, 2, 3].iter().all(|rank| stopped_s[*rank] == 0.0), "{stopped_s:?}");
    let verdict = &report["verdict"];
    assert_eq!(verdict["cause"], "cpu", "{verdict}");
    let saved_s = verdict["avoidable_wall_s"].as_f64().unwrap();
    assert!(saved_s > 0.5 * lasted_s, "{verdict}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    assert!(text.contains("A signal or a debugger stopped rank 1 for "), "{text}");
    // Where others had the CPUs for longer than that, they are what to look for first.
    let is_disturbed = ended.own_clock_s() > 1.2 * (WORK_S + lasted_s);
    let says =
        ["rank 1 was stopped for ", "Find out who stops rank 1"].iter().all(|words| text.contains(words));
    if !says && !is_disturbed {
        skip(name, &others_take_cpus().unwrap_or_else(|| panic!("{text}")));
    }
}

#[test]
fn a_rank_stopped_in_its_work_is_named() {
    let words = ["ring", "400", "5000", "1"];
    stop_rank_1("scheduling a_rank_stopped_in_its_work_is_named", &words, true);
}

#[test]
fn a_rank_stopped_in_mpi_is_named() {
    // Rank 2 works for twice as long: rank 1 is in MPI half of the time.
    let words = ["ring", "200", "5000", "2", "1000", "2"];
    stop_rank_1("scheduling a_rank_stopped_in_mpi_is_named", &words, false);
}
