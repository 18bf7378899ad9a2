//! Recordings that no run left: `mpiscope synth` and `mpiscope import`, and what other commands make of them.

use crate::support::{Feed, Page, block_on};
use mpiscope_feed::message::{Kind, Message};
use mpiscope_feed::{JobState, RunSource};
use mpiscope_harness::{Ended, LIMIT, Recorded, Running, Signal, folder, mpiscope, processes, report, run};
use mpiscope_model::Rank;
use serde_json::Value;
use std::path::Path;

const SYNTH: [&str; 9] =
    ["synth", "--pattern", "halo2d", "--ranks", "16", "--nodes", "4", "--seconds", "0.5"];

fn command(arguments: &[&str], out: &Path) -> Ended {
    run(mpiscope(arguments).unwrap().arg("-o").arg(out), LIMIT).unwrap()
}

fn synth(more: &[&str], out: &Path) -> (Ended, Value) {
    let ended = command(&[&SYNTH[..], &["--rate", "100000"], more].concat(), out);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let truth = serde_json::from_slice(&std::fs::read(out.join("truth.json")).unwrap()).unwrap();
    (ended, truth)
}

fn import(table: &str, more: &[&str], folder: &Path) -> Ended {
    let file = folder.join("events.csv");
    std::fs::write(&file, table).unwrap();
    command(&[&["import", file.to_str().unwrap()][..], more].concat(), &folder.join("imported"))
}

/// One line, status 2, and no folder.
fn assert_refused(ended: &Ended, out: &Path, says: &str) {
    let errors = ended.errors();
    assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{errors}");
    assert!(errors.lines().count() == 1 && errors.contains(says), "{errors}");
    assert!(!out.exists(), "{}", out.display());
}

/// The state that a page gets of a recording.
fn replayed(out: &Path) -> Message {
    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(out)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let state = block_on(async {
        let mut feed = Feed::open(&page).await;
        loop {
            if let mpiscope_feed::exchange::Outgoing::State(message) = feed.hear().await.unwrap()
                && message.kind == Kind::Snapshot
            {
                return *message;
            }
        }
    });
    processes::signal(running.process(), Signal::INT);
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
    state
}

#[test]
fn a_simulated_job_is_reported_as_its_truth_says() {
    let folder = folder().unwrap();
    for (name, disturb) in
        [("sound", &[][..]), ("robbed", &["--disturb", "stolen-cpu", "--disturb", "bad-mapping"])]
    {
        let out = folder.path().join(name);
        let (ended, truth) = synth(disturb, &out);
        let report = report(&out).unwrap();
        let (totals, figure) = (&report["totals"], |name: &str| truth[name].as_u64().unwrap());
        let total = |name: &str| totals[name].as_u64().unwrap();
        assert_eq!(total("calls") + total("polls"), figure("calls"));
        assert_eq!(total("messages"), figure("intra_messages") + figure("inter_messages"));
        for key in ["bytes", "intra_messages", "inter_messages", "lost_calls"] {
            assert_eq!(total(key), figure(key), "{key} of {name}");
        }
        assert_eq!((total("unmatched_sends"), total("unmatched_receives")), (0, 0));
        assert_eq!((report["job"]["ranks"].as_u64(), report["job"]["exit"].as_i64()), (Some(16), Some(0)));
        assert_eq!(report["job"]["nodes"].as_array().unwrap().len(), 4);
        assert_eq!(report["missing"], serde_json::json!([]));
        // Who talked with whom.
        let recorded = Recorded::load(&out).unwrap();
        let pairs: Vec<Value> = recorded
            .pairs()
            .iter()
            .map(|((src, dst), (messages, bytes))| serde_json::json!([src, dst, messages, bytes]))
            .collect();
        assert_eq!(truth["pairs"], Value::from(pairs));
        // stderr names what is in the file.
        let cause = truth["main"]["cause"].as_str().unwrap();
        let stderr = ended.errors();
        assert_eq!(stderr.lines().count(), 3, "{stderr}");
        assert_eq!(cause == "none", disturb.is_empty(), "{truth}");
        assert_eq!(stderr.contains(&format!("the cause is {cause} ")), cause != "none", "{stderr}");
    }
}

#[test]
fn a_simulated_job_is_shown_and_placed_anew() {
    let folder = folder().unwrap();
    let out = folder.path().join("scattered");
    let (_, truth) = synth(&["--disturb", "bad-mapping", "--style", "polling"], &out);
    let state = replayed(&out);
    let job = state.job.unwrap();
    assert_eq!((job.source, job.state, job.ranks), (RunSource::Replay, JobState::Ended, 16));
    let totals = state.totals.unwrap();
    assert_eq!(totals.calls + totals.polls, truth["calls"].as_u64().unwrap());
    assert!(totals.polls > 0);
    let file = folder.path().join("ranks");
    let mut remap = mpiscope(&["remap", "--format", "rankfile", "-o"]).unwrap();
    let ended = run(remap.arg(&file).arg(&out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let ranks = std::fs::read_to_string(&file).unwrap();
    assert_eq!(ranks.lines().filter(|line| line.starts_with("rank ")).count(), 16, "{ranks}");
    let remap = &report(&out).unwrap()["remap"];
    assert!(remap["inter_messages_after"].as_u64() < remap["inter_messages_before"].as_u64(), "{remap}");
}

#[test]
fn the_same_seed_makes_the_same_recording() {
    let folder = folder().unwrap();
    let made = |name: &str, seed: &str| {
        let out = folder.path().join(name);
        synth(&["--seed", seed], &out);
        Recorded::load(&out).unwrap().messages
    };
    let first = made("first", "7");
    assert!(first == made("second", "7"));
    assert!(first != made("third", "8"));
}

#[test]
fn a_job_that_cannot_be_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let out = folder.path().join("none");
    let refused = |more: &[&str], says: &str| {
        assert_refused(&command(&[&SYNTH[..], more].concat(), &out), &out, says);
    };
    refused(&["--rate", "100000", "--disturb", "rain"], "\"rain\" is no disturbance; there are bad-mapping");
    refused(&["--rate", "100000", "--style", "brutal"], "\"brutal\" is no style");
    refused(&["--rate", "1e15"], "more than this job can make");
    refused(&["--rate", "-1"], "");
    let plain = ["synth", "--ranks", "4", "--seconds", "1", "--rate", "10000", "--pattern"];
    assert_refused(
        &command(&[&plain[..], &["star"]].concat(), &out),
        &out,
        "\"star\" is no pattern; there are ring",
    );
    let crowded = command(&[&plain[..], &["ring", "--nodes", "5"]].concat(), &out);
    assert_refused(&crowded, &out, "runs on 1 to 4 nodes, not on 5");
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let folder = folder().unwrap();
    let file = folder.path().join("events.csv");
    std::fs::write(&file, TABLE).unwrap();
    for arguments in [[&SYNTH[..], &["--rate", "100000"]].concat(), vec!["import", file.to_str().unwrap()]] {
        let ended = command(&arguments, folder.path());
        assert_eq!(ended.status, 2);
        assert!(ended.errors().contains("is not empty: choose another folder with -o"), "{}", ended.errors());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

const TABLE: &str = "rank,type,timestamp_ns,source,destination,size\r\n\
                     0,send,1000,0,1,64\r\n1,receive,3000,0,1,64\r\n\
                     1,receive,9000,2,1,128\r\n2,send,4000,2,1,128\r\n0,send,9500,0,2,1\r\n";

#[test]
fn a_table_is_reported_and_shown() {
    let folder = folder().unwrap();
    let nodes = folder.path().join("nodes.csv");
    std::fs::write(&nodes, "rank,node\n0,one\n1,one\n2,other\n").unwrap();
    let ended = import(TABLE, &["--nodes", nodes.to_str().unwrap()], folder.path());
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let out = folder.path().join("imported");
    let report = report(&out).unwrap();
    let total = |name: &str| report["totals"][name].as_u64().unwrap();
    assert_eq!((total("calls"), total("messages"), total("bytes")), (5, 2, 192));
    assert_eq!((total("intra_messages"), total("inter_messages"), total("unmatched_sends")), (1, 1, 1));
    assert_eq!(report["job"]["exit"], Value::Null);
    assert_eq!(report["job"]["nodes"][1]["name"], "other");
    let missing = report["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 1, "{missing:?}");
    let sentence = missing[0].as_str().unwrap();
    assert!(sentence.contains("no delay budget") && ended.errors().contains(sentence), "{sentence}");
    let recorded = Recorded::load(&out).unwrap();
    let mut messages: Vec<_> = recorded
        .messages
        .iter()
        .map(|message| (message.src, message.dst, message.bytes, message.send_ns, message.recv_ns))
        .collect();
    messages.sort_unstable();
    assert_eq!(messages, [(Rank(0), Rank(1), 64, 0, 2000), (Rank(2), Rank(1), 128, 3000, 8000)]);
    let state = replayed(&out);
    assert_eq!((state.job.unwrap().ranks, state.totals.unwrap().messages), (3, 2));
}

/// A report of a part of a recording, its size classes only.
fn size_classes(out: &Path, options: &[&str]) -> Value {
    let ended = run(mpiscope(&["report", "--json"]).unwrap().arg(out).args(options), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    serde_json::from_str::<Value>(&ended.output()).unwrap()["message_sizes"].take()
}

#[test]
fn messages_of_a_table_are_counted_by_size_class() {
    let folder = folder().unwrap();
    let mut table = String::from("rank,type,timestamp_ns,source,destination,size\n");
    // From rank 0 to 1 in the first millisecond, and from 2 to 1 in the second one.
    for (source, begin_ns, sizes) in
        [(0, 1_000, &[0_u64, 0, 1, 2, 3, 4, 7, 8][..]), (2, 1_001_000, &[7, 1023, 1024, 1 << 40])]
    {
        for (at, bytes) in sizes.iter().enumerate() {
            let send_ns = begin_ns + 1_000 * at;
            let recv_ns = send_ns + 500;
            table.push_str(&format!("{source},send,{send_ns},{source},1,{bytes}\n"));
            table.push_str(&format!("1,receive,{recv_ns},{source},1,{bytes}\n"));
        }
    }
    let ended = import(&table, &[], folder.path());
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let out = folder.path().join("imported");
    let class = |(from, to, messages, bytes): (u64, u64, u64, u64)| serde_json::json!({"from_bytes": from, "to_bytes": to, "messages": messages, "bytes": bytes});
    let first = [(0, 1, 2, 0), (1, 2, 1, 1), (2, 4, 2, 5), (4, 8, 2, 11), (8, 16, 1, 8)].map(class);
    let large = 1 << 40;
    let second =
        [(4, 8, 1, 7), (512, 1024, 1, 1023), (1024, 2048, 1, 1024), (large, 2 * large, 1, large)].map(class);
    let mut all = [&first[..3], &[class((4, 8, 3, 18)), first[4].clone()]].concat();
    all.extend_from_slice(&second[1..]);
    assert_eq!(size_classes(&out, &[]), Value::from(all.clone()));
    for options in [["--to", "0.0005"], ["--rank", "0"]] {
        assert_eq!(size_classes(&out, &options), Value::from(&first[..]), "{options:?}");
    }
    for options in [["--from", "0.0005"], ["--rank", "2"]] {
        assert_eq!(size_classes(&out, &options), Value::from(&second[..]), "{options:?}");
    }
    // Without sums they are those of the rows.
    std::fs::remove_file(out.join("summary/message_sizes.parquet")).unwrap();
    assert_eq!(size_classes(&out, &[]), Value::from(all));
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_left() {
    let folder = folder().unwrap();
    let out = folder.path().join("imported");
    let refused = |table: &str, says: &str| assert_refused(&import(table, &[], folder.path()), &out, says);
    refused(&format!("{TABLE}-1,send,1,0,1,8\n"), "events.csv, line 7: a whole number from 0 to");
    refused(&format!("{TABLE}0,sent,1,0,1,8\n"), "line 7: send or receive is expected in type, not \"sent\"");
    refused(&format!("{TABLE}0,send,1,0,1\n"), "line 7: 6 fields are expected as in the header, not 5");
    refused(
        &format!("{TABLE}0,send,1,0,9,8\n"),
        "6 ranks are named nowhere, rank 3 the first of them, but rank 9 is",
    );
    refused("0,send,1,0,1,8\n", "line 1: a header with the columns rank, type");
    refused("", "is empty");
    let missing = command(&["import", "/does/not/exist"], &out);
    assert_refused(&missing, &out, "cannot read /does/not/exist");
}
