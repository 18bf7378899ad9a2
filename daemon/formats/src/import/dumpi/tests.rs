//! Texts as dumpi2ascii writes them become calls and messages.

use super::rank_files::RankFiles;
use super::{find_rank_files, rank_in, read_trace, size};
use crate::import::log_stream::CommMembers;
use crate::import::trace::Trace;
use crate::import::trace_piece::PieceKind;
use crate::progress::NoProgress;
use anyhow::Result;
use mpiscope_wire::id;
use std::path::Path;

/// A call of two hundredths of a second, with its lines between.
fn call(name: &str, at: u32, lines: &str) -> String {
    let when = |at: u32| format!("walltime 7.{at:02}, cputime 0.1 seconds in thread 0.\n");
    let lines = if lines.is_empty() { String::new() } else { format!("{}\n", lines.replace("; ", "\n")) };
    format!("MPI_{name} entering at {}{lines}MPI_{name} returning at {}", when(at), when(at + 2))
}

const INT: &str = "int count=3; MPI_Datatype datatype=9 (MPI_INT)";
const WORLD: &str = "MPI_Comm comm=2 (MPI_COMM_WORLD)";

fn written(folder: &Path, ranks: &[String]) -> RankFiles {
    for (rank, text) in ranks.iter().enumerate() {
        std::fs::write(folder.join(format!("dumpi-x-{rank:04}.txt")), text).unwrap();
    }
    find_rank_files(&folder.join("dumpi-x-0001.txt")).unwrap().unwrap()
}

fn trace(ranks: &[String]) -> Result<Trace> {
    let folder = tempfile::tempdir().unwrap();
    let texts = written(folder.path(), ranks);
    assert_eq!(texts.count(), ranks.len());
    read_trace(texts, folder.path(), &NoProgress)
}

/// Calls in the order of time: rank and function, and before each its messages in short.
fn described(trace: Trace) -> Vec<String> {
    let mut lines = Vec::new();
    for piece in trace.pieces {
        lines.push(match piece.unwrap().kind {
            PieceKind::Posted(transfer) => format!("posts {}", transfer.peer),
            PieceKind::Message(of) => {
                let way = if of.is_receive { "from" } else { "to" };
                format!("{way} {} tag {} comm {} bytes {}", of.peer, of.tag, of.comm, of.bytes)
            }
            PieceKind::Completed(number) => format!("completes {number}"),
            PieceKind::Phase(mark) => format!("phase {}", mark.phase),
            PieceKind::Call(call) => {
                let name = mpiscope_wire::by_id(call.function).unwrap().name;
                let of = call.collective.map_or(String::new(), |of| format!(" {:?} {}", of.root, of.bytes));
                format!("{} {name} {}{of}", call.rank, call.start_ns)
            }
        });
    }
    lines
}

#[test]
fn messages_are_found_by_requests_and_statuses() {
    let zero = [
        "hostname=one\n".into(),
        call("Comm_size", 0, WORLD),
        call(
            "Irecv",
            10,
            &format!(
                "{INT}; int source=-1 (MPI_ANY_SOURCE); int tag=-1 (MPI_ANY_TAG); {WORLD}; MPI_Request request=[5]"
            ),
        ),
        call("Irecv", 20, &format!("{INT}; int source=1; int tag=4; {WORLD}; MPI_Request request=[6]")),
        call("Test", 30, "MPI_Request request=[5]; int flag=0; MPI_Status status=<IGNORED>"),
        call(
            "Waitall",
            40,
            "int count=2; MPI_Request requests[2]=[5, 6]; MPI_Status statuses[2]=[{bytes=8, cancelled=0, source=1, tag=3, error=0}, \
             {bytes=12, cancelled=0, source=1, tag=4, error=0}]",
        ),
        call("Send", 50, &format!("{INT}; int dest=-2; int tag=0; {WORLD}")),
        call(
            "Alltoall",
            60,
            "int sendcount=2; MPI_Datatype sendtype=14 (MPI_DOUBLE); int recvcount=2; MPI_Datatype recvtype=14 (MPI_DOUBLE); MPI_Comm comm=2 (MPI_COMM_WORLD)",
        ),
        call("Finalize", 70, ""),
        "Datatype 28 (user-defined) has size 100\n".into(),
    ];
    let one = [
        call(
            "Isend",
            11,
            &format!(
                "int count=2; MPI_Datatype datatype=9 (MPI_INT); int dest=0; int tag=3; {WORLD}; MPI_Request request=[9]"
            ),
        ),
        call("Ssend", 21, &format!("{INT}; int dest=0; int tag=4; {WORLD}")),
        call(
            "Waitany",
            31,
            "int count=2; MPI_Request requests[2]=[1, 9]; int index=1; MPI_Status status=<IGNORED>",
        ),
        call("Bcast", 61, &format!("{INT}; int root=1; {WORLD}")),
        call("Finalize", 70, ""),
        "hostname=two\n".into(),
    ];
    let trace = trace(&[zero.concat(), one.concat()]).unwrap();
    assert_eq!((trace.calls, trace.from_ns, trace.to_ns), (12, 7_100_000_000, 7_720_000_000));
    assert_eq!(trace.nodes, ["one", "two"]);
    let expected = ["1 call of functions that are not recorded: MPI_Comm_size"];
    assert_eq!(trace.missing[..1], expected);
    assert!(trace.missing[1].starts_with("the clocks of the nodes") && trace.missing.len() == 2);
    let expected = [
        "0 MPI_Irecv 7100000000",
        "to 0 tag 3 comm 0 bytes 8",
        "1 MPI_Isend 7110000000",
        "0 MPI_Irecv 7200000000",
        "to 0 tag 4 comm 0 bytes 12",
        "1 MPI_Ssend 7210000000",
        "0 MPI_Test 7300000000",
        "1 MPI_Waitany 7310000000",
        "from 1 tag 4 comm 0 bytes 12",
        "from 1 tag 3 comm 0 bytes 8",
        "0 MPI_Waitall 7400000000",
        "0 MPI_Send 7500000000",
        "0 MPI_Alltoall 7600000000 None 32",
        "1 MPI_Bcast 7610000000 Some(1) 12",
        "0 MPI_Finalize 7700000000",
        "1 MPI_Finalize 7700000000",
    ];
    let mut found = described(trace);
    // Of two channels either may come first.
    found[8..10].sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(found, expected);
}

#[test]
fn persistent_requests_and_own_communicators() {
    let split = |color: i32, key: i32, new: i32| {
        call(
            "Comm_split",
            0,
            &format!(
                "MPI_Comm oldcomm=2 (MPI_COMM_WORLD); int color={color}; int key={key}; MPI_Comm newcomm={new} (user-defined-comm)"
            ),
        )
    };
    let of = "int count=1; MPI_Datatype datatype=28 (user-defined)";
    let zero = [
        split(0, 1, 4),
        call(
            "Recv_init",
            10,
            &format!(
                "{of}; int source=0; int tag=1; MPI_Comm comm=4 (user-defined-comm); MPI_Request request=[5]"
            ),
        ),
        call("Start", 20, "MPI_Request request=[5]"),
        call("Wait", 30, "MPI_Request request=[5]; MPI_Status status=<IGNORED>"),
        call("Startall", 40, "int count=1; MPI_Request requests[1]=[5]"),
        call(
            "Waitsome",
            50,
            "int count=1; MPI_Request requests[1]=[5]; int outcount=1; int indices[1]=[0]; MPI_Status statuses[1]=[{bytes=7, cancelled=0, source=0, tag=1, error=0}]",
        ),
        "Datatype 28 (user-defined) has size 100\n".into(),
    ];
    let one = [split(7, 0, 9)];
    let two = [
        split(0, 0, 6),
        call(
            "Send_init",
            11,
            &format!(
                "{of}; int dest=1; int tag=1; MPI_Comm comm=6 (user-defined-comm); MPI_Request request=[2]"
            ),
        ),
        call("Start", 21, "MPI_Request request=[2]"),
        call("Start", 41, "MPI_Request request=[2]"),
        "Datatype 28 (user-defined) has size 7\n".into(),
    ];
    let trace = trace(&[zero.concat(), one.concat(), two.concat()]).unwrap();
    let group = |members: &[u32]| CommMembers::Group(members.to_vec());
    assert!(trace.comms.values().any(|members| *members == group(&[2, 0])));
    let lines = described(trace);
    let with = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
    // What was not told by a status is what the receive had room for.
    assert_eq!((with("to 0 tag 1"), with("from 2 tag 1"), with("from 2 tag 1 comm 2 bytes 7")), (2, 2, 1));
    assert_eq!(with("from 2 tag 1 comm 2 bytes 100"), 1);
}

#[test]
fn what_makes_no_sense_is_reported_with_file_and_line() {
    let wrong = |text: String| {
        let rank = call("Init", 0, "");
        let error = trace(&[text, rank]).map(|_| ()).unwrap_err().to_string();
        error.rsplit('/').next().unwrap().to_owned()
    };
    let send = |datatype: i32| {
        format!("int count=1; MPI_Datatype datatype={datatype} (x); int dest=1; int tag=1; {WORLD}")
    };
    assert_eq!(
        wrong(call("Send", 0, &send(28))),
        "dumpi-x-0000.txt, line 7: the size of datatype 28 of MPI_Send is missing: write the texts with dumpi2ascii -a"
    );
    assert_eq!(
        wrong(call("Send", 0, "int count=1; MPI_Datatype datatype=9 (x)")),
        "dumpi-x-0000.txt, line 4: MPI_Send says no comm"
    );
    let twice = [call("Init", 5, ""), call("Finalize", 6, "")].concat();
    assert!(wrong(twice).starts_with("dumpi-x-0000.txt, line 4: MPI_Finalize begins before"));
    let empty = call("Comm_size", 0, WORLD);
    let folder = tempfile::tempdir().unwrap();
    let alone = written(folder.path(), &[empty.clone(), empty]);
    let none = read_trace(alone, folder.path(), &NoProgress).map(|_| ()).unwrap_err();
    assert!(none.to_string().contains("no calls that are recorded"));
}

#[test]
fn texts_are_found_by_the_name_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let text = call("Init", 0, "");
    for name in ["t-00.txt", "t-02.txt", "t-x.txt", "t-3.txt", "u-01.txt", "t-04.log"] {
        std::fs::write(place(name), &text).unwrap();
    }
    for name in ["t-00.txt", "t-02.txt"] {
        let found = find_rank_files(&place(name)).unwrap().unwrap();
        let paths: Vec<_> = found.paths().map(|path| path.cloned()).collect();
        assert_eq!(paths, [Some(place("t-00.txt")), None, Some(place("t-02.txt"))]);
    }
    std::fs::write(place("t-99999.txt"), &text).unwrap();
    let missing = find_rank_files(&place("t-02.txt")).unwrap_err().to_string();
    assert!(missing.contains("t-02.txt: only 3 ranks of 100000 have a text"), "{missing}");
    assert!(missing.ends_with("/t-01.txt"), "{missing}");
    std::fs::write(place("plain.txt"), &text).unwrap();
    assert!(
        find_rank_files(&place("plain.txt"))
            .unwrap_err()
            .to_string()
            .contains("ends with the number of its rank")
    );
    std::fs::write(place("t-00.bin"), b"\xFF\xAA\xDDDUMPI and more").unwrap();
    assert!(
        find_rank_files(&place("t-00.bin"))
            .unwrap_err()
            .to_string()
            .contains("have dumpi2ascii -a write a text")
    );
    std::fs::write(place("events-0000.csv"), "rank,type\n").unwrap();
    assert!(find_rank_files(&place("events-0000.csv")).unwrap().is_none());
    assert!(find_rank_files(&place("nothing-0000.txt")).unwrap().is_none());
    assert_eq!(size("Datatype 28 (user-defined) has size 100"), Some((28, 100)));
    assert_eq!(size("Datatype 28 has size 100"), Some((28, 100)));
    assert_eq!(rank_in("dumpi-2013.09.26-0007.bin.txt"), Some(("dumpi-2013.09.26", "0007", ".bin.txt")));
    assert_eq!(
        (rank_in("t-12"), rank_in("t-1a.txt"), rank_in("t-.txt")),
        (Some(("t", "12", "")), None, None)
    );
    assert_eq!(id::SEND, 10);
}

/// The footer counts what the trace leaves out; sizes of pairs are known without being told, and a request may have no
/// brackets.
#[test]
fn calls_that_the_trace_leaves_out_are_counted() {
    let zero = [
        call("Irecv", 10, &format!("{INT}; int source=1; int tag=4; {WORLD}; MPI_Request request=6")),
        call("Wait", 20, "MPI_Request request=6; MPI_Status status=<IGNORED>"),
        call(
            "Reduce",
            30,
            &format!("int count=2; MPI_Datatype datatype=23 (MPI_DOUBLE_INT); int root=0; {WORLD}"),
        ),
        call("Finalize", 40, ""),
        "MPI_Send called 10 times and ignored 2 times\nMPIO_Wait called 0 times and ignored 1 times\n".into(),
        "MPI_Reduce called 1 times and ignored 0 times\n".into(),
    ];
    let one = [
        call("Send", 11, &format!("{INT}; int dest=0; int tag=4; {WORLD}")),
        call("Finalize", 40, ""),
        "MPI_Recv called 0 times and ignored 4 times\n".into(),
    ];
    let trace = trace(&[zero.concat(), one.concat()]).unwrap();
    assert_eq!(trace.missing[0], "7 calls: left out of the trace when it was recorded");
    let lines = described(trace);
    assert!(lines.contains(&"from 1 tag 4 comm 0 bytes 12".to_owned()), "{lines:?}");
    assert!(lines.contains(&"0 MPI_Reduce 7300000000 Some(0) 24".to_owned()), "{lines:?}");
}

/// Rank 1 has no text; that of rank 2 ends within a call, and that of rank 0 says that there is a fourth rank.
#[test]
fn missing_texts_and_those_that_are_cut_off_are_named() {
    let send = |to: u32| format!("{INT}; int dest={to}; int tag=1; {WORLD}");
    let zero = [
        call("Comm_size", 0, &format!("{WORLD}; int size=4")),
        call("Send", 10, &send(1)),
        call("Finalize", 20, ""),
    ]
    .concat();
    let two = [call("Send", 11, &send(3)), call("Recv", 30, &send(0))].concat();
    let two = &two[..two.rfind("MPI_Recv returning").unwrap()];
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t-0.txt"), zero).unwrap();
    std::fs::write(folder.path().join("t-2.txt"), two).unwrap();
    let found = find_rank_files(&folder.path().join("t-0.txt")).unwrap().unwrap();
    let trace = read_trace(found, folder.path(), &NoProgress).unwrap();
    assert_eq!((trace.nodes.len(), trace.calls), (4, 3));
    let expected = [
        "calls of ranks without a text: rank 1 (t-1.txt), rank 3 (t-3.txt) (t-0.txt, line 4: MPI_COMM_WORLD has 4)",
        "calls after the end of texts without MPI_Finalize: rank 2 (t-2.txt, line 13, within MPI_Recv); 1 call without an \
         end left out",
        "1 call of functions that are not recorded: MPI_Comm_size",
    ];
    assert_eq!(trace.missing[..3], expected);
    // The job that a text tells of is not this one.
    let wrong = |size: u32| {
        let text = call("Comm_size", 0, &format!("{WORLD}; int size={size}"));
        std::fs::write(folder.path().join("t-0.txt"), text).unwrap();
        let texts = find_rank_files(&folder.path().join("t-0.txt")).unwrap().unwrap();
        read_trace(texts, folder.path(), &NoProgress).map(|_| ()).unwrap_err().to_string()
    };
    let text = wrong(5);
    assert!(text.contains("only 2 ranks of 5 have a text (t-0.txt, line 4: MPI_COMM_WORLD has 5)"), "{text}");
    let text = wrong(2);
    assert!(
        text.contains("t-0.txt, line 4: MPI_COMM_WORLD has 2, so") && text.contains("t-2.txt is"),
        "{text}"
    );
}
