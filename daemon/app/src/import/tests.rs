//! A table becomes a recording; an import that fails leaves nothing, and may be repeated.

use super::*;
use crate::interrupt::is_of_others;
use mpiscope_engine::load::load;
use mpiscope_model::{Comm, Message, Rank};
use mpiscope_recording::{Recording, State};

const HEADER: &str = "rank,type,timestamp_ns,source,destination,size";

/// Imports a table into a folder.
fn imported(folder: &Path, table: &str, nodes: Option<&str>) -> Manifest {
    let (file, out) = (folder.join("t.csv"), folder.join("imported"));
    std::fs::write(&file, table).unwrap();
    let nodes = nodes.map(|text| {
        let file = folder.join("n.csv");
        std::fs::write(&file, text).unwrap();
        file
    });
    let run = read(&file, nodes.as_deref(), &out);
    record(run, vec!["import".into()], &out, &ProgressBar::new(&Interrupt::none(""))).unwrap().0
}

fn read(file: &Path, nodes: Option<&Path>, out: &Path) -> ImportedRun {
    let input = InputFile::recognize(file).unwrap();
    input.read(nodes, scratch(out), &ProgressBar::new(&Interrupt::none(""))).unwrap()
}

const TABLE: &str = "rank,type,timestamp_ns,source,destination,size,duration_ns,tag\n\
                     1,receive,1700000000000000900,0,1,100,300,4\n\
                     0,send,1700000000000000500,0,1,100,50,4\n\
                     1,receive,1700000000000001500,2,1,9000000000,100,0\n\
                     2,send,1700000000000000100,2,1,9000000000,1000,0\n\
                     2,send,1700000000000002100,2,0,1,5,0\n";

#[test]
fn a_table_becomes_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = imported(folder.path(), TABLE, Some("rank,node\n0,a\n1,a\n2,b\n"));
    assert_eq!((manifest.state, manifest.job.exit, manifest.missing.len()), (State::Complete, None, 0));
    assert!(manifest.job.is_imported());
    let out = folder.path().join("imported");
    let recording = Recording::open(&out).unwrap();
    let mut messages: Vec<Message> = recording.messages().by_ref().flatten().collect();
    messages.sort_by_key(|message| message.send_ns);
    let large = Message {
        src: Rank(2),
        dst: Rank(1),
        tag: 0,
        comm: Comm::WORLD,
        bytes: 9_000_000_000,
        send_ns: 0,
        recv_ns: 1400,
        t_msg_ns: 100,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: true,
        exact: false,
    };
    let small = Message {
        src: Rank(0),
        tag: 4,
        bytes: 100,
        send_ns: 400,
        recv_ns: 800,
        t_msg_ns: 300,
        inter: false,
        ..large
    };
    assert_eq!(messages, [large, small]);
    let loaded = load(&out, &recording).unwrap();
    assert_eq!((loaded.totals.calls, loaded.totals.unmatched_sends, loaded.totals.inter_messages), (5, 1, 1));
    let nodes: Vec<_> =
        loaded.job.nodes.iter().map(|node| (node.name.as_str(), node.ranks.clone())).collect();
    assert_eq!(nodes, [("a", vec![0, 1]), ("b", vec![2])]);
    assert_eq!(loaded.job.duration_s, Some(2005e-9));
}

#[test]
fn what_a_table_does_not_say_is_missing_from_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let table = format!("{HEADER}\n0,send,5,0,1,8\n1,receive,9,0,1,8\n");
    let manifest = imported(folder.path(), &table, None);
    assert_eq!(manifest.state, State::Complete);
    assert_eq!(
        manifest.missing,
        [
            "durations of calls are not in the table: of a message only the span from its send to its receive is \
             known, and there is no delay budget",
            "the nodes of ranks are not known: all are shown on one"
        ]
    );
    assert_eq!(manifest.job.nodes.len(), 1);
}

/// A zero among nanoseconds since 1970, and events years apart: what is done follows the events.
#[test]
fn times_that_no_run_spans_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let table = "rank,type,timestamp_ns,source,destination,size,duration_ns,tag\n\
                 0,send,0,0,1,100,50,4\n\
                 1,receive,1700000000000000900,0,1,100,300,4\n";
    let manifest = imported(folder.path(), table, None);
    assert_eq!((manifest.state, manifest.totals.messages), (State::Complete, 1));
    assert!(manifest.job.duration_s.is_some_and(|seconds| seconds.round() == 1.7e9));
}

fn options(folder: &Path, table: &str) -> ImportOptions {
    let file = folder.join("t.csv");
    std::fs::write(&file, table).unwrap();
    ImportOptions { file, nodes: None, output: folder.join("deep/out") }
}

#[test]
fn a_table_that_is_refused_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = options(folder.path(), &format!("{HEADER}\n0,send,x,0,1,8\n"));
    assert!(import(&wrong).is_err());
    assert!(!folder.path().join("deep").exists());
    import(&options(folder.path(), TABLE)).unwrap();
    assert_eq!(Manifest::read(&wrong.output).unwrap().state, State::Complete);
    // What is there of another stays.
    assert!(import(&options(folder.path(), TABLE)).is_err());
    assert_eq!(Manifest::read(&wrong.output).unwrap().state, State::Complete);
}

/// Somebody else begins to write there between the look at the folder and the recording.
#[test]
fn what_another_writes_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ImportOptions { file, output, .. } = options(folder.path(), TABLE);
    let run = read(&file, None, &output);
    imported(folder.path(), TABLE, None);
    let progress = ProgressBar::new(&Interrupt::none(""));
    let error = record(run, Vec::new(), &folder.path().join("imported"), &progress).unwrap_err();
    assert!(is_of_others(&error), "{error:#}");
}
