//! `mpiscope import` of traces: OTF2 archives that `export` wrote, one that is made as other tools make them, and texts of a
//! DUMPI trace.

use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, folder, mpiscope, processes, record, report, root, run,
    skip,
};
use mpiscope_model::CommKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn command(words: &[&str], file: &Path, output: &Path) -> Ended {
    run(mpiscope(words).unwrap().arg(file).arg("-o").arg(output), LIMIT).unwrap()
}

/// An archive of a recording; says that the test is skipped where the library is not there.
fn archive(test: &str, recording: &Path) -> Option<PathBuf> {
    let archive = recording.with_extension("archive");
    let ended = command(&["export", "--format", "otf2"], recording, &archive);
    if ended.status == 2 && ended.errors().contains("install libopen-trace-format2-10") {
        skip(test, "the OTF2 library is not on this machine");
        return None;
    }
    assert_eq!(ended.status, 0, "{}", ended.errors());
    Some(archive)
}

fn imported(archive: &Path) -> (PathBuf, Ended) {
    let out = archive.with_extension("imported");
    let ended = command(&["import"], archive, &out);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    (out, ended)
}

/// What has to come back: calls and polls by function with their time, messages, bytes, nodes.
fn essence(report: &Value) -> Value {
    let functions = report["functions"].as_array().unwrap().iter();
    let functions: Vec<Value> = functions
        .map(|row| json!([row["name"], row["calls"], row["polls"], row["seconds"], row["max_ns"]]))
        .collect();
    let totals = &report["totals"];
    let nodes = report["job"]["nodes"].as_array().unwrap().iter();
    let nodes: Vec<Value> = nodes.map(|node| json!([node["name"], node["ranks"]])).collect();
    let of = ["calls", "polls", "messages", "bytes", "intra_messages", "inter_messages"];
    json!([functions, of.map(|name| &totals[name]), nodes])
}

#[test]
fn what_goes_out_as_otf2_comes_back() {
    let test = "traces what_goes_out_as_otf2_comes_back";
    for mpi in Mpi::sample_or_skip(test) {
        for app in ["forms", "threads", "collectives", "split", "persistent", "out_of_order"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            let ended = run(&mut record(&mpi, 4, &mpi.app(app).unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            let Some(archive) = archive(test, &out) else { return };
            let (back, ended) = imported(&archive);
            let (before, after) = (report(&out).unwrap(), report(&back).unwrap());
            assert_eq!(essence(&after), essence(&before), "{app} {}", ended.errors());
            assert_eq!(after["missing"], json!([]), "{app}");
            let unmatched = [&after["totals"]["unmatched_sends"], &after["totals"]["unmatched_receives"]];
            assert_eq!(unmatched, [0, 0], "{app}");
            // Call sites come back as words; those with the same words are one.
            let places = |report: &Value| {
                let mut places: BTreeMap<String, u64> = BTreeMap::new();
                for site in report["sites"].as_array().unwrap() {
                    let calls = places.entry(site["place"].as_str().unwrap().to_owned()).or_default();
                    *calls += site["calls"].as_u64().unwrap();
                }
                places
            };
            assert_eq!(places(&after), places(&before), "{app}");
        }
    }
}

#[test]
fn simulated_jobs_come_back_with_their_verdict() {
    let test = "traces simulated_jobs_come_back_with_their_verdict";
    for (style, disturb) in
        [("waitall", "imbalance"), ("blocking", "serialized-root"), ("polling", "stolen-cpu")]
    {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let words = [
            "synth",
            "--pattern",
            "cg",
            "--ranks",
            "16",
            "--nodes",
            "4",
            "--seconds",
            "0.5",
            "--rate",
            "100000",
        ];
        let more = ["--style", style, "--disturb", disturb, "-o"];
        let ended = run(mpiscope(&words).unwrap().args(more).arg(&out), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let Some(archive) = archive(test, &out) else { return };
        let (back, _) = imported(&archive);
        let (before, after) = (report(&out).unwrap(), report(&back).unwrap());
        assert_eq!(essence(&after), essence(&before), "{style}");
        // Scheduler figures are in no archive; everything else that the diagnosis needs is.
        if disturb != "stolen-cpu" {
            assert_eq!(after["verdict"]["cause"], before["verdict"]["cause"], "{style} {disturb}");
        }
    }
}

#[test]
fn an_archive_of_another_tool_becomes_a_recording() {
    let test = "traces an_archive_of_another_tool_becomes_a_recording";
    let python = std::env::var_os("MPISCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let folder = folder().unwrap();
    let foreign = folder.path().join("foreign");
    if !run(Command::new(&python).args(["-c", "import otf2"]), LIMIT).is_ok_and(|ended| ended.status == 0) {
        skip(test, &format!("{} cannot import otf2", python.to_string_lossy()));
        return;
    }
    let script = root().join("tests/e2e/write_otf2.py");
    let written = run(Command::new(&python).arg(script).arg(&foreign), LIMIT).unwrap();
    assert_eq!(written.status, 0, "{}", written.errors());
    let out = folder.path().join("imported");
    let ended = command(&["import"], &foreign.join("traces.otf2"), &out);
    if ended.errors().contains("install libopen-trace-format2-10") {
        skip(test, "the OTF2 library is not on this machine");
        return;
    }
    assert_eq!(ended.status, 0, "{}", ended.errors());
    // What others than MPI did is counted by kind, and said once.
    let left_out = "left out of the archive: 5 short functions, 4 metric values, 8 one-sided events, 2 thread events, \
                    4 call path samples, 1 non-rank location";
    assert_eq!(ended.errors().matches(left_out).count(), 1, "{}", ended.errors());
    assert!(ended.errors().contains("kept as phases: 4 calls of functions: main"), "{}", ended.errors());
    let found = report(&out).unwrap();
    let nodes = json!([["left", [0, 2]], ["right", [1, 3]]]);
    // 50 exchanges of four ranks, and one message on a communicator whose first rank is the world's last. Times were in
    // microseconds.
    let seconds = |count: u32, each_us: u32| json!(f64::from(count) * f64::from(each_us) / 1e6);
    let row = |name: &str, calls: u32, each_us: u32| {
        json!([name, calls, 0, seconds(calls, each_us), each_us * 1000])
    };
    let mut functions = vec![
        row("MPI_Bcast", 4, 500),
        row("MPI_Iallreduce", 4, 5),
        row("MPI_Irecv", 200, 10),
        row("MPI_Isend", 200, 10),
        // The function of the program on each rank begins and ends.
        row("MPI_Pcontrol", 8, 0),
        row("MPI_Recv", 1, 200),
        row("MPI_Send", 1, 10),
        row("MPI_Wait", 4, 30),
        row("MPI_Waitall", 200, 100),
        row("MPI_Win_fence", 4, 10),
    ];
    let bytes = (0..4).map(|rank| 50 * (100 + rank)).sum::<u64>() + (1 << 33);
    let mut essence = essence(&found);
    let by_name = |row: &Value| row[0].as_str().unwrap_or_default().to_owned();
    essence[0].as_array_mut().unwrap().sort_by_key(by_name);
    functions.sort_by_key(by_name);
    assert_eq!(essence, json!([functions, [626, 0, 201, bytes, 1, 200], nodes]));
    let totals = &found["totals"];
    assert_eq!([&totals["unmatched_sends"], &totals["unmatched_receives"]], [0, 0]);
    let missing = "4 calls of functions that are not recorded: MPI_Comm_size";
    assert_eq!(found["missing"], json!([missing]));
    // Functions of the program are where calls are made.
    let sites = found["sites"].as_array().unwrap();
    let calls_of = |place: &str| -> u64 {
        let of_place = sites.iter().filter(|site| site["place"] == place);
        of_place.map(|site| site["calls"].as_u64().unwrap()).sum()
    };
    assert_eq!((calls_of("main"), calls_of("solve")), (614, 4), "{sites:?}");
    let recorded = Recorded::load(&out).unwrap();
    let phases: Vec<_> = recorded.comms.iter().filter(|comm| comm.kind == CommKind::Phase).collect();
    assert_eq!(phases.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>(), ["main"]);
    for (level, count) in [(3, 4), (-3, 4)] {
        let marks = recorded.calls.iter().filter(|call| recorded.name(call) == "MPI_Pcontrol");
        let of_level = marks.filter(|call| call.tag == Some(level) && call.comm == Some(phases[0].comm));
        assert_eq!(of_level.count(), count, "{level}");
    }
    // Each rank waits for the nonblocking collective where it completes it.
    let started = recorded.calls.iter().filter(|call| recorded.name(call) == "MPI_Iallreduce");
    assert_eq!(started.map(|call| (call.bytes, call.instance)).collect::<Vec<_>>(), [(80, Some(1)); 4]);
}

/// The text of a rank that sends to the next and receives from the one before, with requests that complete in the other order
/// than they were made.
fn dumpi_text(rank: u64, ranks: u64, exchanges: u64) -> String {
    let mut text = format!("version=1.1.0\nhostname=host-{}\n", rank / 2);
    let mut now_us = 5_000_000 + rank;
    let mut call = |name: &str, takes_us: u64, lines: &[String]| {
        let when = |way: &str, us: u64| {
            let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
            format!(
                "{name} {way} at walltime {seconds}.{rest:06}000, cputime 0.000000000 seconds in thread 0.\n"
            )
        };
        let (begin_us, end_us) = (now_us + 1, now_us + 1 + takes_us);
        now_us = end_us;
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        text += &format!("{}{lines}{}", when("entering", begin_us), when("returning", end_us));
    };
    let line = |line: &str| line.to_owned();
    let world = || line("MPI_Comm comm=2 (MPI_COMM_WORLD)");
    let (after, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    call("MPI_Init", 100, &[line("int argc=1"), line("string argv[1]=[\"a, b\"]")]);
    call("MPI_Comm_rank", 1, &[world(), format!("int rank={rank}")]);
    for exchange in 0..exchanges {
        for number in [0, 1] {
            let of = |name: &str, peer: u64| {
                [
                    format!("int count={}", 10 + 10 * number + exchange),
                    line("MPI_Datatype datatype=14 (MPI_DOUBLE)"),
                    format!("int {name}={peer}"),
                    line("int tag=7"),
                    world(),
                    format!("MPI_Request request=[{}]", 2 + 2 * number + u64::from(name == "dest")),
                ]
            };
            call("MPI_Irecv", 2, &of("source", before));
            call("MPI_Isend", 2, &of("dest", after));
        }
        for number in [1, 0] {
            let bytes = 8 * (10 + 10 * number + exchange);
            let status = format!("[{{bytes={bytes}, cancelled=0, source={before}, tag=7, error=0}}]");
            call(
                "MPI_Wait",
                50,
                &[format!("MPI_Request request=[{}]", 2 + 2 * number), format!("MPI_Status status={status}")],
            );
        }
        let ignored = line("MPI_Status statuses[2]=<IGNORED>");
        call("MPI_Waitall", 1, &[line("int count=2"), line("MPI_Request requests[2]=[3, 5]"), ignored]);
    }
    call("MPI_Barrier", 20, &[world()]);
    text + "Datatype 14 (MPI_DOUBLE) has size 8\nMPI_Send called 0 times and ignored 0 times\n"
}

#[test]
fn the_texts_of_a_dumpi_trace_become_a_recording() {
    let folder = folder().unwrap();
    let (ranks, exchanges) = (4_u64, 50_u64);
    for rank in 0..ranks {
        std::fs::write(
            folder.path().join(format!("dumpi-run-{rank:04}.txt")),
            dumpi_text(rank, ranks, exchanges),
        )
        .unwrap();
    }
    let out = folder.path().join("imported");
    let ended = command(&["import"], &folder.path().join("dumpi-run-0002.txt"), &out);
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let found = report(&out).unwrap();
    let row = |name: &str, each_us: u64, calls: u64| {
        json!([name, calls, 0, (calls * each_us) as f64 / 1e6, each_us * 1000])
    };
    let all = ranks * exchanges;
    let mut functions = vec![
        row("MPI_Barrier", 20, ranks),
        row("MPI_Init", 100, ranks),
        row("MPI_Irecv", 2, 2 * all),
        row("MPI_Isend", 2, 2 * all),
        row("MPI_Wait", 50, 2 * all),
        row("MPI_Waitall", 1, all),
    ];
    let mut essence = essence(&found);
    let by_name = |row: &Value| row[0].as_str().unwrap_or_default().to_owned();
    essence[0].as_array_mut().unwrap().sort_by_key(by_name);
    functions.sort_by_key(by_name);
    let bytes = ranks * 8 * (0..exchanges).map(|exchange| 30 + 2 * exchange).sum::<u64>();
    let nodes = json!([["host-0", [0, 1]], ["host-1", [2, 3]]]);
    let totals = [7 * all + 2 * ranks, 0, 2 * all, bytes, all, all];
    assert_eq!(essence, json!([functions, totals, nodes]));
    let unmatched = [&found["totals"]["unmatched_sends"], &found["totals"]["unmatched_receives"]];
    assert_eq!(unmatched, [0, 0]);
    // The second of two messages is waited for first, and each wait still has its own.
    let recorded = Recorded::load(&out).unwrap();
    assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new());
    let missing = found["missing"].to_string();
    assert!(missing.contains("MPI_Comm_rank") && missing.contains("the clocks of the nodes"), "{missing}");
}

#[test]
fn what_is_no_archive_is_refused_and_leaves_nothing() {
    let test = "traces what_is_no_archive_is_refused_and_leaves_nothing";
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let words = ["synth", "--pattern", "ring", "--ranks", "4", "--seconds", "0.1", "--rate", "10000", "-o"];
    run(mpiscope(&words).unwrap().arg(&out), LIMIT).unwrap();
    let Some(archive) = archive(test, &out) else { return };
    let refused = |file: &Path, more: &[&str], says: &str| {
        let target = folder.path().join("target");
        let ended = command(&[&["import"], more].concat(), file, &target);
        let errors = ended.errors();
        assert_eq!((ended.status, errors.lines().count()), (2, 1), "{errors}");
        assert!(errors.contains(says) && !target.exists(), "{errors}");
    };
    let anchor = archive.join("traces.otf2");
    refused(&anchor, &["--nodes", "nodes.csv"], "--nodes goes with a table or a PICL trace");
    refused(&folder.path().join("none.otf2"), &[], "none.otf2: No such file");
    let text = folder.path().join("text.otf2");
    std::fs::write(&text, "rank,type\n").unwrap();
    refused(&text, &[], "text.otf2");
    // Definitions that are cut, and events that are damaged or gone.
    let broken = |name: &str, harm: &dyn Fn(&Path)| {
        let copy = folder.path().join(name);
        run(Command::new("cp").arg("-r").arg(&archive).arg(&copy), LIMIT).unwrap();
        harm(&copy);
        refused(&copy.join("traces.otf2"), &[], "traces.otf2");
    };
    let cut = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    };
    broken("a", &|copy| cut(copy.join("traces.def")));
    broken("b", &|copy| std::fs::remove_file(copy.join("traces/2.evt")).unwrap());
    broken("c", &|copy| cut(copy.join("traces/1.evt")));
}

#[test]
fn an_import_that_is_given_up_leaves_nothing() {
    let test = "traces an_import_that_is_given_up_leaves_nothing";
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let words = ["synth", "--pattern", "halo2d", "--ranks", "16", "--seconds", "8", "--rate", "200000", "-o"];
    run(mpiscope(&words).unwrap().arg(&out), LIMIT).unwrap();
    let Some(archive) = archive(test, &out) else { return };
    let target = folder.path().join("target");
    let import =
        || Running::start(mpiscope(&["import"]).unwrap().arg(&archive).arg("-o").arg(&target)).unwrap();
    let assert_given_up = |running: Running| {
        processes::signal(running.process(), Signal::INT);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(
            (ended.status, ended.errors().as_str()),
            (130, "mpiscope: interrupted: nothing was imported\n")
        );
    };
    // Once while it writes, and once as soon as its handler is there.
    let running = import();
    processes::until(LIMIT, || target.join("manifest.json").is_file().then_some(()))
        .expect("nothing is written");
    assert_given_up(running);
    assert!(!target.exists());
    // A folder that was there and empty stays so.
    std::fs::create_dir(&target).unwrap();
    let running = import();
    processes::until(LIMIT, || target.join("manifest.json").is_file().then_some(()))
        .expect("nothing is written");
    assert_given_up(running);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}
