//! Tables come back as messages, and an error names its line.

use super::event::Event;
use super::event_stream::write_events;
use super::node_table;
use super::reader::TableReader;
use super::records::Records;
use super::summary::TableSummary;
use crate::external_sort::Sorter;
use mpiscope_ingest::Ingest;
use mpiscope_matching::Matcher;
use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_wire::id;
use proptest::prelude::*;
use std::collections::BTreeMap;

mod written;

const HEADER: &str = "rank,type,timestamp_ns,source,destination,size";

fn events(text: &str) -> anyhow::Result<(Vec<Event>, TableSummary)> {
    let mut events = Vec::new();
    let table = TableReader::open(Records::from_input(text.as_bytes(), "t.csv".into()))?;
    let summary = table.read_events(|event| {
        events.push(event);
        Ok(())
    })?;
    Ok((events, summary))
}

fn wrong(text: &str) -> String {
    events(text).unwrap_err().to_string()
}

#[test]
fn columns_come_in_any_order_and_may_be_more() {
    let plain = events(&format!("{HEADER}\n0,send,5,0,1,8\n1,receive,9,0,1,8\n")).unwrap();
    let send = Event {
        timestamp_ns: 5,
        duration_ns: 0,
        bytes: 8,
        rank: 0,
        peer: 1,
        tag: 0,
        comm: 0,
        function: id::SEND,
        sends: true,
    };
    let receive = Event { timestamp_ns: 9, rank: 1, peer: 0, function: id::RECV, sends: false, ..send };
    assert_eq!(plain.0, [send, receive]);
    assert_eq!((plain.1.untimed, plain.1.from_ns, plain.1.to_ns, plain.1.rank_count()), (2, 5, 9, 2));

    let more = "Size, call ,x,tag,destination,source,comm,\"duration_ns\",timestamp_ns,type,rank\r\n\
                8,MPI_Isend,,3,1,0,\"a, b\",2,5,send,0\r\n\
                8,MPI_Waitall,,,1,0,c,4,9,receive,1\r\n\
                8,,,7,1,0,MPI_COMM_WORLD,,9,receive,1\r\n";
    let (found, summary) = events(more).unwrap();
    let send = Event { duration_ns: 2, tag: 3, comm: 1, function: id::ISEND, ..send };
    let waited = Event { duration_ns: 4, comm: 2, function: id::WAITALL, ..receive };
    assert_eq!(found, [send, waited, Event { tag: 7, ..receive }]);
    assert_eq!((summary.untimed, summary.from_ns, summary.to_ns), (1, 5, 9));
    assert_eq!(summary.members[&2].iter().copied().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(
        TableReader::open(Records::from_input(more.as_bytes(), String::new())).unwrap().ignored(),
        ["x"]
    );
}

#[test]
fn what_is_wrong_with_a_line_is_reported() {
    let line =
        |line: &str| wrong(&format!("\u{feff}{HEADER},tag,duration_ns,call\n0,send,5,0,1,8,,,\n{line}\n"));
    let expected = |line: &str, text: &str| assert_eq!(line, format!("t.csv, line 3: {text}"));
    let whole = "a whole number from 0 to";
    expected(&line("0,send,5,0,1,8"), "9 fields are expected as in the header, not 6");
    expected(&line("0,put,5,0,1,8,,,"), "send or receive is expected in type, not \"put\"");
    expected(&line("-1,send,5,0,1,8,,,"), &format!("{whole} 1048575 is expected in rank, not \"-1\""));
    let long = "99999999999999999999999999999999999999999999";
    expected(
        &line(&format!("0,send,5,0,1,{long},,,")),
        &format!("{whole} {} is expected in size, not \"{}...\"", 1_u64 << 62, &long[..40]),
    );
    expected(&line("0,send,5,1,0,8,,,"), "the rank that sends, 0, is expected in source, not \"1\"");
    expected(
        &line("0,receive,5,0,1,8,,,"),
        "the rank that receives, 0, is expected in destination, not \"1\"",
    );
    expected(
        &line("0,send,5,0,1,8,2147483648,,"),
        &format!("{whole} 2147483647 is expected in tag, not \"2147483648\""),
    );
    expected(
        &line("0,send,5,0,1,8,,,MPI_Recv"),
        "the name of a function that sends, as MPI_Isend is expected in call, not \"MPI_Recv\"",
    );
    expected(
        &line("1,receive,5,0,1,8,,,MPI_Barrier"),
        "the name of a function that receives, as MPI_Waitall is expected in call, not \"MPI_Barrier\"",
    );
    expected(
        &line(&format!("0,send,5,0,1,{},,,", 1_u64 << 62)),
        "the sizes of all lines add up to more than 4 EiB",
    );
}

#[test]
fn a_table_needs_a_header_and_events() {
    let columns = "rank, type, timestamp_ns, source, destination, size";
    let expected = format!("a header with the columns {columns} is expected");
    assert_eq!(wrong(""), format!("t.csv is empty; {expected}"));
    assert_eq!(wrong("0,send,5,0,1,8\n"), format!("t.csv, line 1: {expected}; there is no column rank"));
    assert_eq!(wrong(&format!("{HEADER},rank\n")), "t.csv, line 1: there are two columns rank");
    assert_eq!(wrong(&format!("{HEADER}\n\n")), "t.csv: there are no events behind the header");
}

#[test]
fn ranks_have_no_gaps_and_each_has_one_node() {
    let text = format!("{HEADER}\n0,send,5,0,3,8\n");
    let summary = || events(&text).unwrap().1;
    assert_eq!(
        summary().check_ranks().unwrap_err(),
        "2 ranks are named nowhere, rank 1 the first of them, but rank 3 is; ranks are counted from 0 without gaps, and \
         a file of nodes names those that do not talk"
    );
    let nodes_of = |text: &str| {
        let mut summary = summary();
        let nodes =
            node_table::read_nodes(Records::from_input(text.as_bytes(), "n.csv".into()), &mut summary)?;
        anyhow::Ok((nodes, summary.check_ranks()))
    };
    let ((nodes, ignored), checked) = nodes_of("node,why,rank\nb,,3\na,,0\na,,1\n\"b\",,2\nc,,4\n").unwrap();
    assert_eq!((nodes.concat(), ignored, checked), ("aabbc".into(), vec!["why".into()], Ok(())));
    let wrong = |text: &str| nodes_of(text).unwrap_err().to_string();
    assert_eq!(wrong("rank,node\n0,a\n1,a\n3,a\n"), "n.csv: there is no node of rank 2");
    assert_eq!(
        wrong("rank,node\n0,a\n0,b\n"),
        "n.csv, line 3: a rank that has no node yet is expected in rank, not \"0\""
    );
    assert_eq!(wrong("rank,node\n0,\n"), "n.csv, line 2: the name of a node is expected in node, not \"\"");
    assert!(wrong("rank|node\n").ends_with("there is no column rank"));
}

/// A table, read as a run is read.
struct ReadBack {
    calls: Vec<Call>,
    messages: Vec<Message>,
    comms: BTreeMap<Comm, u64>,
    unmatched: (u64, u64),
    faults: usize,
}

fn read_back(text: &str, capacity: usize, slots: usize) -> ReadBack {
    read_back_within(text, capacity, slots, |_| 0)
}

/// Likewise where calls may overlap by a time that follows from the resolution of the table.
fn read_back_within(text: &str, capacity: usize, slots: usize, overlap_ns: fn(u64) -> u64) -> ReadBack {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::with_capacity(folder.path(), capacity);
    let table = TableReader::open(Records::from_input(text.as_bytes(), "t.csv".into())).unwrap();
    let summary = table.read_events(|event| sorter.push(event)).unwrap();
    summary.check_ranks().unwrap();
    let nodes: Vec<String> = (0..summary.rank_count()).map(|rank| format!("n{}", rank / 2)).collect();
    let comms = summary.comms();
    let job = summary.job_description(&nodes, &comms, "t".into(), Vec::new());
    let (mut ingest, mut matcher) = (Ingest::new(), Matcher::default());
    let mut until_ns = 0;
    let mut read_back = ReadBack {
        calls: Vec::new(),
        messages: Vec::new(),
        comms: BTreeMap::new(),
        unmatched: (0, 0),
        faults: 0,
    };
    let limits = (slots, overlap_ns(summary.resolution_ns));
    write_events(&job, sorter.finish().unwrap(), summary.from_ns, limits, &mut |message| {
        if let Some(batch) = ingest.step(message) {
            batch.ranks.iter().for_each(|info| matcher.place(info.rank, info.node));
            read_back.messages.extend(matcher.feed(&batch.events).messages);
            // What was declared read before is not told now.
            assert!(batch.calls.iter().all(|call| call.end_ns >= until_ns));
            until_ns = batch.until_ns;
            read_back.calls.extend(batch.calls);
            read_back.comms.extend(batch.comms.iter().map(|info| (info.comm, info.id)));
            read_back.faults += batch.faults.len();
        }
    })
    .unwrap();
    read_back.messages.extend(matcher.finish().messages);
    read_back.unmatched = (matcher.unmatched_sends(), matcher.unmatched_receives());
    read_back
}

/// A message as a table tells of it: from, to, tag, communicator, bytes, and the two calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    src: u32,
    dst: u32,
    tag: i32,
    comm: u32,
    bytes: u64,
    send_ns: u64,
    receive_ns: u64,
    send_takes_ns: u64,
    receive_takes_ns: u64,
}

/// Messages that do not overtake each other, with times of their own, and the lines of their table in any order.
fn jobs() -> impl Strategy<Value = (Vec<Sent>, Vec<String>)> {
    let message = (0_u32..5, 0_u32..5, 0_i32..2, 0_u32..3, 0_u64..1 << 34, 0_u64..5_000, 0_u64..5_000);
    proptest::collection::vec(message, 1..60)
        .prop_flat_map(|drawn| {
            let times: Vec<u64> = (0..2 * drawn.len() as u64).map(|at| 10_000 + 37 * at).collect();
            let lines: Vec<usize> = (0..2 * drawn.len()).collect();
            (Just(drawn), Just(times).prop_shuffle(), Just(lines).prop_shuffle())
        })
        .prop_map(|(drawn, times, lines)| {
            let mut sent: Vec<Sent> = drawn
                .iter()
                .zip(times.chunks(2))
                .map(|(&(src, dst, tag, comm, bytes, send_takes_ns, receive_takes_ns), times)| {
                    let (send_ns, receive_ns) = (times[0], times[1]);
                    Sent { src, dst, tag, comm, bytes, send_ns, receive_ns, send_takes_ns, receive_takes_ns }
                })
                .collect();
            // The first receive of a channel is of the first send.
            let mut channels: BTreeMap<(u32, u32, i32, u32), Vec<usize>> = BTreeMap::new();
            for (at, one) in sent.iter().enumerate() {
                channels.entry((one.src, one.dst, one.tag, one.comm)).or_default().push(at);
            }
            for channel in channels.values_mut() {
                let mut received: Vec<u64> = channel.iter().map(|&at| sent[at].receive_ns).collect();
                received.sort_unstable();
                channel.sort_by_key(|&at| sent[at].send_ns);
                channel.iter().zip(received).for_each(|(&at, receive_ns)| sent[at].receive_ns = receive_ns);
            }
            let line = |&at: &usize| {
                let one = &sent[at / 2];
                let Sent { src, dst, tag, bytes, .. } = one;
                let comm = ["MPI_COMM_WORLD", "\"rows, \"\"first\"\"\"", "columns"][one.comm as usize];
                let (rank, kind, at_ns, takes_ns) = if at % 2 == 0 {
                    (src, "send", one.send_ns, one.send_takes_ns)
                } else {
                    (dst, "receive", one.receive_ns, one.receive_takes_ns)
                };
                format!("{rank},{kind},{at_ns},{src},{dst},{bytes},{tag},{comm},{takes_ns}")
            };
            let lines = lines.iter().map(line).collect();
            (sent, lines)
        })
}

proptest! {
    #[test]
    fn messages_come_back_as_they_were((mut sent, lines) in jobs(), capacity in 1_usize..50, slots in 1_usize..50) {
        // All ranks are named.
        let idle = (0..5).map(|rank| format!("{rank},send,0,{rank},{rank},0,77,,0\n"));
        let text = format!("{HEADER},tag,comm,duration_ns\n{}\n{}", lines.join("\n"), idle.collect::<String>());
        let mut read_back = read_back(&text, capacity, slots);
        prop_assert_eq!((read_back.faults, read_back.unmatched), (0, (5, 0)));
        prop_assert_eq!(read_back.calls.len(), 2 * sent.len() + 5);

        // The table's own numbers of communicators follow its lines.
        let mut names = vec!["MPI_COMM_WORLD"];
        for line in &lines {
            let name = ["rows", "columns"].into_iter().find(|name| line.contains(name));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        for one in &mut sent {
            let name = ["MPI_COMM_WORLD", "rows", "columns"][one.comm as usize];
            one.comm = names.iter().position(|&known| known == name).unwrap() as u32;
        }
        read_back.messages.sort_by_key(|message| message.send_ns);
        sent.sort_by_key(|one| one.send_ns);
        for (message, one) in read_back.messages.iter().zip(&sent) {
            let found = (message.src.0, message.dst.0, message.tag, read_back.comms[&message.comm], message.bytes);
            prop_assert_eq!(found, (one.src, one.dst, one.tag, u64::from(one.comm), one.bytes));
            prop_assert_eq!((message.send_ns, message.recv_ns), (one.send_ns, one.receive_ns));
            prop_assert_eq!(message.inter, one.src / 2 != one.dst / 2);
            let waits_ns = one.receive_ns - one.receive_takes_ns;
            prop_assert_eq!(message.t_msg_ns, one.receive_ns.saturating_sub(one.send_ns.max(waits_ns)));
        }
        prop_assert_eq!(read_back.messages.len(), sent.len());

        // Calls of one thread do not overlap.
        read_back.calls.sort_by_key(|call| (call.rank, call.thread, call.end_ns, call.start_ns));
        for pair in read_back.calls.windows(2) {
            let same = (pair[0].rank, pair[0].thread) == (pair[1].rank, pair[1].thread);
            prop_assert!(!same || pair[0].thread == 63 || pair[0].end_ns <= pair[1].start_ns, "{pair:?}");
        }
    }
}

#[test]
fn events_of_one_moment_keep_the_order_of_their_lines() {
    // The first receive began while another was under way, the second did not: they are of two threads.
    let text = "rank,type,timestamp_ns,source,destination,size,duration_ns\n\
                0,send,1,0,1,10,0\n0,send,2,0,1,20,0\n0,send,3,0,1,30,0\n\
                1,receive,50,0,1,10,40\n1,receive,60,0,1,20,50\n1,receive,60,0,1,30,0\n";
    let read_back = read_back(text, 10, 100);
    let mut found: Vec<(u64, u64)> =
        read_back.messages.iter().map(|message| (message.send_ns, message.t_msg_ns)).collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 40), (1, 50), (2, 0)]);
    let threads: Vec<(u64, u16)> = read_back
        .calls
        .iter()
        .filter(|call| call.rank == Rank(1))
        .map(|call| (call.bytes, call.thread))
        .collect();
    assert_eq!(threads, [(10, 0), (20, 1), (30, 1)]);
}

#[test]
fn calls_that_overlap_by_the_resolution_follow_each_other() {
    // Times are whole microseconds: the second send seems to begin before the first is over.
    let text = "rank,type,timestamp_ns,source,destination,size,duration_ns\n\
                0,send,1000,0,1,10,3000\n0,send,3000,0,1,20,2000\n0,send,4000,0,1,30,5000\n\
                1,receive,20000,0,1,10,9000\n1,receive,30000,0,1,20,9000\n1,receive,40000,0,1,30,9000\n";
    let calls = |overlap_ns| {
        let read_back = read_back_within(text, 10, 100, overlap_ns);
        let of_sender = read_back.calls.into_iter().filter(|call| call.rank == Rank(0));
        of_sender.map(|call| (call.bytes, call.thread, call.start_ns, call.end_ns)).collect::<Vec<_>>()
    };
    assert!(calls(|_| 0).iter().any(|(_, thread, ..)| *thread > 0));
    let consecutive = calls(|resolution_ns| resolution_ns);
    assert!(consecutive.iter().all(|(_, thread, ..)| *thread == 0), "{consecutive:?}");
    assert!(consecutive.windows(2).all(|two| two[0].3 <= two[1].2), "{consecutive:?}");
}
