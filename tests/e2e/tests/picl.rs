//! PICL traces: what goes out comes back, and traces of other writers become recordings.

use mpiscope_harness::{Ended, LIMIT, Mpi, Recorded, folder, mpiscope, record, report, run};
use mpiscope_model::{Call, Message};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn command(words: &[&str], file: &Path, output: &Path) -> Ended {
    run(mpiscope(words).unwrap().arg(file).arg("-o").arg(output), LIMIT).unwrap()
}

/// Exports a recording and imports the trace; gives the new recording and the messages of the export.
fn round_trip(recording: &Path) -> (PathBuf, String) {
    let (trace, back) = (recording.with_extension("picl"), recording.with_extension("imported"));
    let ended = command(&["export", "--format", "picl"], recording, &trace);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let remarks = ended.errors();
    let ended = command(&["import"], &trace, &back);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    (back, remarks)
}

/// What has to come back: calls and polls by function with their time, messages, bytes, what has no partner, nodes.
fn essence(recording: &Path) -> Value {
    let report = report(recording).unwrap();
    let functions = report["functions"].as_array().unwrap().iter();
    let functions: Vec<Value> = functions
        .map(|row| json!([row["name"], row["calls"], row["polls"], row["seconds"], row["max_ns"]]))
        .collect();
    let totals = &report["totals"];
    let nodes = report["job"]["nodes"].as_array().unwrap().iter();
    let nodes: Vec<Value> = nodes.map(|node| json!([node["name"], node["ranks"]])).collect();
    let of = [
        "calls",
        "polls",
        "messages",
        "bytes",
        "intra_messages",
        "inter_messages",
        "unmatched_sends",
        "unmatched_receives",
    ];
    json!([functions, of.map(|name| &totals[name]), nodes, report["missing"]])
}

/// Messages as both sides know them, without the numbers of communicators, which may be others.
fn messages(recorded: &Recorded) -> Vec<(u32, u32, i32, u64, u64, u64)> {
    let of = |one: &Message| {
        let Message { src, dst, tag, bytes, send_ns, recv_ns, .. } = *one;
        (src.0, dst.0, tag, bytes, send_ns, recv_ns)
    };
    let mut messages: Vec<_> = recorded.messages.iter().map(of).collect();
    messages.sort_unstable();
    messages
}

/// Calls with their times and threads, and the place of a collective among those of its communicator.
fn calls(recorded: &Recorded) -> Vec<(u32, u16, u64, u64, String, u64)> {
    let of = |call: &Call| {
        let name = recorded.name(call).to_owned();
        (call.rank.0, call.thread, call.start_ns, call.end_ns, name, call.count)
    };
    let mut calls: Vec<_> = recorded.calls.iter().map(of).collect();
    calls.sort_unstable();
    calls
}

fn assert_same_rows(before: &Path, after: &Path, what: &str) {
    let [before, after] = [before, after].map(|recording| Recorded::load(recording).unwrap());
    assert!(!before.messages.is_empty(), "{what}");
    assert_eq!(messages(&after), messages(&before), "{what}");
    assert_eq!(calls(&after), calls(&before), "{what}");
}

#[test]
fn what_goes_out_as_picl_comes_back() {
    for mpi in Mpi::sample_or_skip("picl what_goes_out_as_picl_comes_back") {
        for app in ["forms", "threads", "collectives", "split", "persistent", "out_of_order"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            let ended = run(&mut record(&mpi, 4, &mpi.app(app).unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            let (back, remarks) = round_trip(&out);
            assert_eq!(essence(&back), essence(&out), "{app}: {remarks}");
            assert_same_rows(&out, &back, app);
            // A loss is reported once.
            assert_eq!(remarks.matches("call sites are left out").count(), 1, "{remarks}");
        }
    }
}

#[test]
fn simulated_jobs_come_back_with_their_verdict() {
    for (style, disturb) in
        [("waitall", "imbalance"), ("blocking", "serialized-root"), ("polling", "drifting-imbalance")]
    {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let words = ["synth", "--pattern", "cg", "--ranks", "16", "--nodes", "4", "--seconds", "0.5"];
        let more = ["--rate", "100000", "--style", style, "--disturb", disturb, "-o"];
        let ended = run(mpiscope(&words).unwrap().args(more).arg(&out), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let (back, _) = round_trip(&out);
        assert_eq!(essence(&back), essence(&out), "{style}");
        assert_same_rows(&out, &back, style);
        let cause = |recording: &Path| report(recording).unwrap()["verdict"]["cause"].clone();
        assert_eq!(cause(&back), cause(&out), "{style} {disturb}");
    }
}

#[test]
fn a_table_says_which_rank_was_on_which_node() {
    let folder = folder().unwrap();
    let [trace, nodes, out] = ["ring.picl", "nodes.csv", "imported"].map(|name| folder.path().join(name));
    std::fs::write(&trace, ring(4, 10)).unwrap();
    std::fs::write(&nodes, "rank,node\n0,left\n1,left\n2,right\n3,right\n").unwrap();
    let mut import = mpiscope(&["import"]).unwrap();
    let ended = run(import.arg(&trace).arg("--nodes").arg(&nodes).arg("-o").arg(&out), LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let found = essence(&out);
    assert_eq!(found[2], json!([["left", [0, 1]], ["right", [2, 3]]]));
    // Of the four messages of a round two go to the other node.
    assert_eq!(found[1].as_array().unwrap()[4..6], [json!(20), json!(20)]);
    assert_eq!(found[3], json!([]));
}

/// Exchanges in a ring as MPICL writes them, one processor behind the other.
fn ring(ranks: u32, rounds: u32) -> String {
    let mut lines = String::new();
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        lines += &format!("-3 -901 0.0 {rank} 0 0\n-3 3 0.0 {rank} 0 0\n");
        for round in 0..rounds {
            let us = |us: u32| format!("{:.6}", f64::from(round * 100 + us) / 1e6);
            let [post, posted, send, sent, end] = [10, 12, 20, 25, 60].map(us);
            lines += &format!(
                "-3 -57 {post} {rank} 0 3 2 5 {before} 0\n-4 -57 {posted} {rank} 0 1 2 {round}\n\
                 -3 -21 {send} {rank} 0 4 2 {} 5 {next} 0\n-4 -21 {sent} {rank} 0 0\n\
                 -3 -61 {sent} {rank} 0 1 2 {round}\n-4 -61 {end} {rank} 0 4 2 {} 5 {before} 0\n",
                8 * (rank + 1),
                8 * (before + 1),
            );
        }
        lines += &format!("-4 3 1.0 {rank} 0 0\n-4 -901 1.0 {rank} 0 0\n");
    }
    lines
}

#[test]
fn a_trace_of_another_writer_becomes_a_recording() {
    let folder = folder().unwrap();
    let (trace, out) = (folder.path().join("ring.trf"), folder.path().join("imported"));
    std::fs::write(&trace, ring(8, 100) + "-3 -52 0.9").unwrap();
    let ended = command(&["import"], &trace, &out);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    assert_eq!(
        ended.errors().matches("left out of the trace: 8 user events").count(),
        1,
        "{}",
        ended.errors()
    );
    let row = |name: &str, us: u64| json!([name, 800, 0, 800.0 * us as f64 / 1e6, us * 1000]);
    let mut found = essence(&out);
    found[0].as_array_mut().unwrap().sort_by_key(|row| row[0].as_str().unwrap_or_default().to_owned());
    let bytes: u32 = (1..=8).map(|rank| 8 * rank * 100).sum();
    let missing = found[3].take();
    assert_eq!(missing.as_array().unwrap().len(), 2, "{missing}");
    assert!(missing[0].as_str().unwrap().starts_with("the nodes of ranks are not known"));
    assert_eq!(missing[1], "line 4833 of the trace, its last: it is truncated");
    let expected = json!([
        [row("MPI_Irecv", 2), row("MPI_Send", 5), row("MPI_Wait", 35)],
        [2400, 0, 800, bytes, 800, 0, 0, 0],
        [["unknown", [0, 1, 2, 3, 4, 5, 6, 7]]],
        null,
    ]);
    assert_eq!(found, expected);
}

#[test]
fn a_trace_that_makes_no_sense_leaves_the_folder_as_it_was() {
    let folder = folder().unwrap();
    let (trace, out) = (folder.path().join("t.picl"), folder.path().join("imported"));
    let refused = |text: &str, says: &str| {
        std::fs::write(&trace, text).unwrap();
        let ended = command(&["import"], &trace, &out);
        let errors = ended.errors();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{errors}");
        assert!(errors.lines().count() == 1 && errors.contains(says), "{errors}");
    };
    let whole = ring(2, 2);
    let all = [
        (
            format!("{whole}-3 -21 0.5 0 0 four\n"),
            "t.picl, line 33: the number of data fields is expected, not \"four\"",
        ),
        (format!("{whole}-3 -21 0.5 999999999999 0 0\n"), "t.picl, line 33: a processor is expected"),
        (format!("{whole}-3 -21 0.5 500000 0 0\n"), "t.picl: line 33 names processor 500000"),
        (format!("{whole}-3 -21 1e99 0 0 0\n"), "t.picl, line 33: a time of a run"),
        (String::new(), "there are no processors in it"),
        ("rank,type\n0,send\n".into(), "t.picl, line 1:"),
    ];
    for (text, says) in &all {
        refused(text, says);
        assert!(!out.exists());
    }
    std::fs::create_dir(&out).unwrap();
    refused(&all[0].0, all[0].1);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}
