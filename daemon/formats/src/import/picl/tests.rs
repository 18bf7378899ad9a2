//! Traces of both revisions become calls and messages, and what makes no sense is refused with its line.

mod round_trip;

use super::is_trace;
use crate::import::{InputFile, InputFormat};
use crate::node_name::NODES_NOT_KNOWN;
use crate::progress::NoProgress;
use anyhow::Result;
use mpiscope_ingest::Ingest;
use mpiscope_matching::Matcher;
use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_wire::{FUNCTIONS, Message as LogMessage};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a recording of a trace would have.
#[derive(Debug, Default)]
struct ReadBack {
    calls: Vec<Call>,
    messages: Vec<Message>,
    /// What communicators call themselves.
    comms: BTreeMap<Comm, u64>,
    nodes: Vec<String>,
    notes: Vec<String>,
    missing: Vec<String>,
    unmatched: (u64, u64),
    faults: usize,
}

fn read_back(trace: &[u8]) -> Result<ReadBack> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.picl");
    std::fs::write(&file, trace).unwrap();
    let input = InputFile::recognize(&file)?;
    assert_eq!(input.format(), InputFormat::Picl);
    let run = input.read(None, folder.path(), &NoProgress)?;
    let (mut ingest, mut matcher) = (Ingest::new(), Matcher::default());
    let mut back =
        ReadBack { notes: run.notes().to_vec(), missing: run.missing().to_vec(), ..ReadBack::default() };
    run.write_log("t".into(), Vec::new(), &NoProgress, &mut |message| {
        if let LogMessage::Process(process) = &message {
            back.nodes.push(process.node.clone());
        }
        if let Some(batch) = ingest.step(message) {
            batch.ranks.iter().for_each(|info| matcher.place(info.rank, info.node));
            back.messages.extend(matcher.feed(&batch.events).messages);
            back.calls.extend(batch.calls);
            back.comms.extend(batch.comms.iter().map(|info| (info.comm, info.id)));
            back.faults += batch.faults.len();
        }
    })?;
    back.messages.extend(matcher.finish().messages);
    back.unmatched = (matcher.unmatched_sends(), matcher.unmatched_receives());
    Ok(back)
}

/// A call: rank, function, start and end in microseconds.
type Called = (u32, &'static str, u64, u64);

fn calls(back: &ReadBack) -> Vec<Called> {
    let name = |call: &Call| FUNCTIONS.iter().find(|entry| entry.id == call.function).unwrap().name;
    let mut calls: Vec<Called> = back
        .calls
        .iter()
        .map(|call| (call.rank.0, name(call), call.start_ns / 1000, call.end_ns / 1000))
        .collect();
    calls.sort_unstable();
    calls
}

/// A message: source, destination, tag, bytes, and when it was sent and received in microseconds.
fn messages(back: &ReadBack) -> Vec<(u32, u32, i32, u64, u64, u64)> {
    let one = |message: &Message| {
        let Message { src, dst, tag, bytes, send_ns, recv_ns, .. } = *message;
        (src.0, dst.0, tag, bytes, send_ns / 1000, recv_ns / 1000)
    };
    let mut messages: Vec<_> = back.messages.iter().map(one).collect();
    messages.sort_unstable();
    messages
}

fn wrong(trace: &str) -> String {
    let error = read_back(trace.as_bytes()).unwrap_err().to_string();
    let (_, behind) = error.split_once("t.picl").unwrap_or_else(|| panic!("{error}"));
    behind.trim_start_matches([',', ':']).trim_start().to_owned()
}

/// As MPICL writes it: nonblocking messages with their requests, a subset for a communicator, records of two processors in
/// any order, and fields of several kinds.
const NEW: &str = "\
-3 -901 0.000000 0 0 0
-3 -901 0.000000 1 0 0
-2 -904 0.000000 0 -1 3 2 4 4 0
-202 -812 0.0 -1 -1 3 2 5 1 0
-3 -57 0.000100 1 0 3 2 7 0 0
-4 -57 0.000110 1 0 1 2 3
-3 -61 0.000200 1 0 1 2 3
-4 -61 0.000900 1 0 4 2 800 7 0 0
-3 -402 0.001000 1 0 1 2 -1
-4 -402 0.001400 1 0 0
-3 -785 0.001500 1 0 3 2 -1 0 5
-4 -785 0.001700 1 0 1 2 64
-4 -901 0.001900 1 0 0

-3 -27 0.000300 0 0 4 2 800 7 1 0
-4 -27 0.000320 0 0 1 2 0
-3 1 0.000330 0 0 0
-3 -31 0.000340 0 0 1 2 0
-4 -31 0.000350 0 0 0
-4 1 0.000360 0 0 0
-3 -402 0.001200 0 0 1 2 -1
-4 -402 0.001400 0 0 0
-3 -911 0.001410 0 0 3 \"%d %s %s\" 5 hello you
-4 -911 0.001420 0 0 0
-3 -785 0.001500 0 0 3 2 64 0 5
-4 -785 0.001550 0 0 1 2 64
-3 -601 0.001600 0 0 0
-4 -601 0.001700 0 0 0
-3 -77 0.001600 0 0 0
-4 -77 0.001700 0 0 0
-101 -21 0.001700 0 0 2 2 5 5
-4 -901 0.001800 0 0 0
";

#[test]
fn a_trace_of_mpicl_becomes_calls_and_messages() {
    let back = read_back(NEW.as_bytes()).unwrap();
    let expected = [
        (0, "MPI_Barrier", 1200, 1400),
        (0, "MPI_Bcast", 1500, 1550),
        (0, "MPI_Isend", 300, 320),
        (0, "MPI_Wait", 340, 350),
        (1, "MPI_Barrier", 1000, 1400),
        (1, "MPI_Bcast", 1500, 1700),
        (1, "MPI_Irecv", 100, 110),
        (1, "MPI_Wait", 200, 900),
    ];
    assert_eq!(calls(&back), expected);
    assert_eq!(messages(&back), [(0, 1, 7, 800, 300, 900)]);
    assert_eq!((back.unmatched, back.faults), ((0, 0), 0));
    let of = |rank: u32, start_us: u64| {
        let found = |call: &&Call| (call.rank, call.start_ns / 1000) == (Rank(rank), start_us);
        *back.calls.iter().find(found).unwrap()
    };
    let (barrier, bcast) = (of(1, 1000), of(1, 1500));
    assert_eq!((barrier.comm.map(|comm| back.comms[&comm]), barrier.bytes), (Some(0), 0));
    assert_eq!(
        (bcast.comm.map(|comm| back.comms[&comm]), bcast.peer, bcast.bytes),
        (Some(1), Some(Rank(0)), 64)
    );
    assert_eq!(
        back.notes,
        ["left out of the trace: 1 event of type -77, 1 idle time, 1 statistics record, 1 user event"]
    );
    assert_eq!(back.missing, [NODES_NOT_KNOWN]);
    // Whatever ends the lines, and in whatever order processors come.
    let lines = NEW.replace('\n', "\r\n");
    let (one, other) = NEW.split_once("\n\n").unwrap();
    for same in [lines, format!("# a comment\n{other}{one}\n")] {
        let back = read_back(same.as_bytes()).unwrap();
        assert_eq!((calls(&back), messages(&back)), (expected.to_vec(), vec![(0, 1, 7, 800, 300, 900)]));
    }
}

/// As other tools write it: no process, three fields for a message, times with an exponent, receives that do not wait.
#[test]
fn a_trace_of_another_writer_becomes_calls_and_messages() {
    let trace = "-3 -901 0 0 -1 0 \n-3 -901 0 1 -1 0 \n\
                 -3 -21 1e-05 0 -1 3 2 1 42 1\n-4 -21 1e-05 0 -1 0\n\
                 -3 -51 5e-06 1 -1 1 2 2 -1\n-4 -51 2e-05 1 -1 3 2 1 42 0\n\
                 -4 -601 3e-05 1 0 0\n-4 -901 4e-05 1 -1 0 \n";
    let back = read_back(trace.as_bytes()).unwrap();
    assert_eq!(calls(&back), [(0, "MPI_Send", 10, 10), (1, "MPI_Recv", 5, 20)]);
    assert_eq!(messages(&back), [(0, 1, 42, 1, 10, 20)]);
    assert_eq!(back.notes.len(), 0);
}

const OLD: &str = "\
trace_start  clock 0 0 node 0 event 4 compstats 0 commstats 0
trace_start  clock 0 0 node 1 event 4 compstats 0 commstats 0
recv_blocking  clock 0 100 node 1 type 7
send  clock 0 300 node 0 to 1 type 7 lth 800
recv_waking  clock 0 900 node 1 from 0 type 7 lth 800
compstats  clock 0 900 node 1 busy 0 100 idle 0 800
send  clock 1 5 node 1 to 0 type 8 lth 16
recv  clock 1 9 node 0 from 1 type 8 lth 16
sync  clock 1 20 node 0
sync  clock 1 30 node 1
send  clock 1 40 node 1 to -32768 type 9 lth 4
block_begin  clock 1 50 node 1 block_type 3 location_type -1 parameter_type -1
close  clock 1 60 node -32768
trace_exit  clock 1 70 node 0 space 5000
";

#[test]
fn a_trace_of_the_first_format_becomes_calls_and_messages() {
    let back = read_back(OLD.as_bytes()).unwrap();
    let expected = [
        (0, "MPI_Barrier", 1_000_020, 1_000_020),
        (0, "MPI_Recv", 1_000_009, 1_000_009),
        (0, "MPI_Send", 300, 300),
        (1, "MPI_Barrier", 1_000_030, 1_000_030),
        (1, "MPI_Recv", 100, 900),
        (1, "MPI_Send", 1_000_005, 1_000_005),
        (1, "MPI_Send", 1_000_040, 1_000_040),
    ];
    assert_eq!(calls(&back), expected);
    assert_eq!(messages(&back), [(0, 1, 7, 800, 300, 900), (1, 0, 8, 16, 1_000_005, 1_000_009)]);
    assert_eq!(
        back.notes,
        ["left out of the trace: 1 block_begin record, 1 compstats record, 1 record of the host"]
    );
    // The same without words.
    let numbers = "1 0 0 0 4 0 0\n1 0 0 1 4 0 0\n7 0 100 1 7\n4 0 300 0 1 7 800\n8 0 900 1 0 7 800\n11 0 900 1 0 800\n\
                   4 1 5 1 0 8 16\n6 1 9 0 1 8 16\n10 1 20 0\n10 1 30 1\n4 1 40 1 -32768 9 4\n20 1 50 1 3 -1 -1\n\
                   13 1 60 -32768\n19 1 70 0 5000\n";
    let compact = read_back(numbers.as_bytes()).unwrap();
    assert_eq!((calls(&compact), messages(&compact)), (calls(&back), messages(&back)));
    assert_eq!(compact.notes, back.notes);
}

#[test]
fn a_user_event_with_the_name_of_a_function_is_a_call_with_its_messages() {
    let trace = "-5 9 0.0 -1 -1 2 \"%d %s\" 11 MPI_Waitall\n-5 4 0.0 -1 -1 2 \"%d %s\" 8 MPI_Test\n\
                 -5 8 0.0 -1 -1 2 \"%d %s\" 8 MPI_Fooo\n\
                 -3 -21 0.1 0 0 4 2 8 1 1 0\n-4 -21 0.2 0 0 0\n-3 -21 0.2 0 0 4 2 9 2 1 0\n-4 -21 0.3 0 0 0\n\
                 -3 9 0.1 1 0 0\n-3 -52 0.1 1 0 3 2 2 0 0\n-4 -52 0.5 1 0 4 2 9 2 0 0\n\
                 -3 -52 0.5 1 0 3 2 1 0 0\n-4 -52 0.5 1 0 4 2 8 1 0 0\n-4 9 0.5 1 0 0\n\
                 -3 4 0.6 1 0 4 2 17 -2 -1 0\n-4 4 0.7 1 0 0\n-3 8 0.7 1 0 0\n-4 8 0.8 1 0 0\n";
    let back = read_back(trace.as_bytes()).unwrap();
    let names: Vec<&str> = calls(&back).into_iter().map(|(_, name, ..)| name).collect();
    assert_eq!(names, ["MPI_Send", "MPI_Send", "MPI_Test", "MPI_Waitall"]);
    assert_eq!(
        messages(&back),
        [(0, 1, 1, 8, 100_000, 500_000), (0, 1, 2, 9, 200_000, 500_000)].map(|mut one| {
            // The run begins with its first call.
            one.4 -= 100_000;
            one.5 -= 100_000;
            one
        })
    );
    assert_eq!(back.calls.iter().map(|call| call.count).max(), Some(17));
    assert_eq!(back.missing[0], "1 call of functions that are not recorded: MPI_Fooo");
}

#[test]
fn a_truncated_trace_loses_its_last_record() {
    let cut = NEW.rfind("-3 -77").unwrap() + 12;
    let back = read_back(&NEW.as_bytes()[..cut]).unwrap();
    assert_eq!(calls(&back).len(), 8);
    assert_eq!(back.missing.last().unwrap(), "line 29 of the trace, its last: it is truncated");
    // Not over, or not begun.
    let cut = NEW.find("-4 -61").unwrap();
    let back = read_back(&[&NEW.as_bytes()[..cut], b"-4 -402 0.5 1 0 0\n"].concat()).unwrap();
    assert_eq!(calls(&back), [(1, "MPI_Irecv", 100, 110)]);
    assert_eq!(
        back.missing[..2],
        ["1 event: not over when the trace ends", "1 event: begun before the trace begins"]
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let line =
        |line: &str| wrong(&format!("-3 -901 0.0 0 0 0\n{line}\n-3 -402 0.1 1 0 0\n-4 -402 0.2 1 0 0\n"));
    let expected = |line: String, text: &str| assert_eq!(line, format!("line 2: {text}"));
    expected(
        line("0 1 2"),
        "a time of a run in seconds is expected, not \"2\""
            .replace("a time of a run in seconds is expected, not \"2\"", "a processor is missing")
            .as_str(),
    );
    expected(line("-3 x"), "the type of an event is expected, not \"x\"");
    expected(line("-3 -21 soon 0 0 0"), "a time of a run in seconds is expected, not \"soon\"");
    expected(line("-3 -21 1e30 0 0 0"), "a time of a run in seconds is expected, not \"1e30\"");
    expected(line("-3 -21 0.1 -1 0 0"), "a processor is expected, from 0 to 1048575, not -1");
    expected(line("-3 -21 0.1 1048576 0 0"), "a processor is expected, from 0 to 1048575, not 1048576");
    expected(line("-3 -21 0.1 0 0 -1"), "there cannot be -1 data fields");
    expected(line("-3 -21 0.1 0 0 4 2 1"), "4 data fields are announced, and there are 1");
    expected(
        line("-3 -21 0.1 0 0 9999999999999 2 1"),
        "9999999999999 data fields are announced, and there are 1",
    );
    expected(line("-3 99999999999 0.1 0 0 0"), "the type of an event cannot be 99999999999");
    expected(line("-202 -812 0.0 -1 -1 3 2 5 1 1"), "subset 5 has a processor twice");
    let message = |data: &str| wrong(&format!("-3 -21 0.1 0 0 3 2 {data}\n-4 -21 0.2 0 0 0\n"));
    assert_eq!(message("-5 1 0"), "line 2: a message cannot have -5 bytes");
    assert_eq!(message("9223372036854775807 1 0"), "line 2: a message cannot have 9223372036854775807 bytes");
    assert_eq!(message("5 4294967296 0"), "line 2: a message cannot have a type of 4294967296");
    let far = message("5 1 70000");
    assert!(far.contains("line 1 names processor 70000, but only 2 processors"), "{far}");
    assert_eq!(wrong(""), "there are no processors in it");
    assert_eq!(wrong("-3 -901 0.0 0 0 0\n"), "there are no calls of MPI in it");
    assert_eq!(wrong("\u{0}\u{1}"), "line 1: the type of a record is expected, not \"\"");
    let deep = "-3 -21 0.1 0 0 0\n".repeat((1 << 16) + 1);
    assert_eq!(wrong(&deep), "line 65537: more than 65536 calls begin within each other");
}

#[test]
fn times_may_be_below_zero_and_years_apart() {
    let trace = "-3 -402 -2.5 0 0 0\n-4 -402 -2.4 0 0 0\n-3 -402 99999999 0 0 0\n-4 -402 99999999.5 0 0 0\n";
    let back = read_back(trace.as_bytes()).unwrap();
    assert_eq!(
        calls(&back),
        [(0, "MPI_Barrier", 0, 100_000), (0, "MPI_Barrier", 100_000_001_500_000, 100_000_002_000_000)]
    );
    assert!(
        back.notes[0].contains("its times span 3.2 years, from -2.500000000 s (line 1)"),
        "{:?}",
        back.notes
    );
}

#[test]
fn a_table_may_say_which_rank_was_on_which_node() {
    let folder = tempfile::tempdir().unwrap();
    let (file, nodes) = (folder.path().join("t.trf"), folder.path().join("nodes.csv"));
    std::fs::write(&file, NEW).unwrap();
    let read = |text: &str| {
        std::fs::write(&nodes, text).unwrap();
        InputFile::recognize(&file)?.read(Some(&nodes), folder.path(), &NoProgress)
    };
    let run = read("rank,node,rack\n0,left,4\n1,right,5\n").unwrap();
    assert_eq!(run.missing().len(), 0);
    assert!(run.notes().iter().any(|note| note.contains("1 column ignored: rack")), "{:?}", run.notes());
    let mut names = Vec::new();
    let mut name = |message| {
        if let LogMessage::Process(process) = message {
            names.push(process.node);
        }
    };
    run.write_log("t".into(), Vec::new(), &NoProgress, &mut name).unwrap();
    assert_eq!(names, ["left", "right"]);
    let error = read("rank,node\n0,left\n").err().unwrap().to_string();
    assert!(error.contains("there is no node of rank 1"), "{error}");
}

#[test]
fn a_trace_is_recognized_by_its_name_or_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let is = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        is_trace(&file)
    };
    assert!(is("a.picl", "anything") && is("b.PICL", ""));
    assert!(is("c.trf", NEW) && is("d", OLD) && is("e", "1 0 0 0 4 0 0\n"));
    for text in
        ["", "rank,type,timestamp_ns\n0,send,5\n", "-3 -21 x 0 0 0\n", "MPI_Init entering at walltime 5"]
    {
        assert!(!is("f", text), "{text}");
    }
    assert!(!is_trace(folder.path()) && !is_trace(&folder.path().join("none")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Bytes of any kind are read or refused.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(read_back(&bytes));
    }

    /// So are traces in which fields were exchanged, lost or changed.
    #[test]
    fn damaged_traces_are_read_or_refused(
        is_old in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..10), 1..12),
    ) {
        let text = if is_old { OLD } else { NEW };
        let mut fields: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        let odd = ["", "-1 ", "\n", "99999999999999999999 ", "-9223372036854775808 ", "1e308 ", "\" ", "0 ", "- ", "5 "];
        for (at, change) in &changes {
            let at = at.index(fields.len());
            fields[at] = odd[*change];
        }
        if let Ok(back) = read_back(fields.concat().as_bytes()) {
            prop_assert!(back.calls.iter().all(|call| call.start_ns <= call.end_ns));
        }
    }
}
