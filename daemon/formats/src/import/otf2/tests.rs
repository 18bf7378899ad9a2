//! Events of a location become calls with their messages, and what makes no sense is refused.

use super::call_sites::CallSite;
use super::location::{EventCounts, LocationReader};
use super::processes::Processes;
use crate::import::log_stream::CommMembers;
use crate::import::receive_order::CompletedReceive;
use crate::import::trace::TraceItem;
use crate::import::trace_piece::{
    CallKey, Collective, PhaseMark, PieceKind, TraceCall, TracePiece, Transfer,
};
use anyhow::Result;
use mpiscope_otf2::{
    CollectiveOp, Definitions, Event, Group, GroupKind, InterComm, Location, LocationGroup, NO_ROOT,
    PARADIGM_MPI, Region, TreeNode, UNDEFINED,
};
use mpiscope_wire::id;
use std::num::NonZeroU32;

/// Two nodes with two processes each, whose ranks go the other way round than their numbers; one has a second thread.
fn definitions() -> Definitions {
    let mut found = Definitions { ticks_per_s: 1_000_000_000, ..Definitions::default() };
    let words = [
        "",
        "node",
        "machine",
        "one",
        "two",
        "mpi_send",
        "MPI_Waitall",
        "MPI_Comm_size",
        "main",
        "MPI_Bcast",
        "MPI_Ibarrier",
        "solve",
        "solve",
    ];
    found.strings = (0..).zip(words.map(str::to_owned)).collect();
    let part = |name, class, parent| TreeNode { name, class, parent };
    found.tree_nodes =
        [(0, part(2, 2, UNDEFINED)), (1, part(3, 1, 0)), (2, part(4, 1, 0)), (3, part(0, 0, 2))].into();
    // The last is on a part of its node.
    let places = [(10, 1), (11, 1), (12, 2), (13, 3)];
    found.location_groups = places
        .map(|(group, tree_node)| (group, LocationGroup { name: 0, is_process: true, tree_node }))
        .into();
    let location = |location, group| Location { location, name: 0, is_thread: true, events: 0, group };
    found.locations =
        vec![location(0, 10), location(1, 11), location(2, 12), location(3, 13), location(9, 13)];
    let names = [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 10), (6, 11), (7, 12)];
    let region = |name| Region { name, is_mpi: true, is_function: name > 10, file: UNDEFINED };
    found.regions = names.map(|(number, name)| (number, region(name))).into();
    let group = |kind, members: &[u64]| Group { paradigm: PARADIGM_MPI, kind, members: members.to_vec() };
    found.groups = [
        (0, group(GroupKind::CommLocations, &[3, 2, 1, 0])),
        (1, group(GroupKind::CommGroup, &[0, 1, 2, 3])),
        (2, group(GroupKind::CommGroup, &[2, 0])),
        (3, group(GroupKind::CommSelf, &[])),
        (4, group(GroupKind::CommGroup, &[1, 3])),
    ]
    .into();
    found.comms = [(7, 1), (8, 2), (9, 3)].into();
    found.inter_comms = [(10, InterComm { first: 2, second: 4 })].into();
    found
}

fn processes() -> Processes {
    Processes::from_definitions(&definitions()).unwrap()
}

#[test]
fn ranks_nodes_and_communicators_are_as_defined() {
    let found = processes();
    assert_eq!(found.nodes, ["two", "two", "one", "one"]);
    let threads: Vec<_> = found.threads.into_iter().collect();
    assert_eq!(threads, [(0, (3, 0)), (1, (2, 0)), (2, (1, 0)), (3, (0, 0)), (9, (0, 1))]);
    assert_eq!(found.comms[&7], 0);
    assert_eq!(found.members[&found.comms[&8]], CommMembers::Group(vec![2, 0]));
    assert_eq!(found.members[&found.comms[&9]], CommMembers::Alone);
    assert_eq!(found.members[&found.comms[&10]], CommMembers::Between(vec![2, 0], vec![1, 3]));
    // Some tools name a function anew on each rank.
    assert_eq!(found.functions, [(6, 11), (7, 11)].into());
    assert_eq!((found.regions[&0], found.regions[&2], found.regions.get(&3)), (Some(id::SEND), None, None));
    let wrong = |change: fn(&mut Definitions)| {
        let mut definitions = definitions();
        change(&mut definitions);
        Processes::from_definitions(&definitions).unwrap_err().to_string()
    };
    assert!(wrong(|of| of.groups.get_mut(&0).unwrap().members.push(77)).contains("not all defined"));
    assert!(wrong(|of| of.groups.get_mut(&0).unwrap().members.push(9)).contains("several ranks"));
    let none =
        Processes::from_definitions(&Definitions { ticks_per_s: 1, ..Definitions::default() }).unwrap_err();
    assert_eq!(none.to_string(), "there are no processes in it");
}

/// Groups of any kind and paradigm are groups of ranks, or their communicators are passed over.
#[test]
fn groups_of_all_kinds_and_paradigms_are_read() {
    const MEASUREMENT_SYSTEM: u8 = 6;
    const OPENMP: u8 = 3;
    let mut found = definitions();
    let group = |paradigm, kind, members: &[u64]| Group { paradigm, kind, members: members.to_vec() };
    found.groups.extend([
        // Their positions are among their own locations, where these are given.
        (20, group(MEASUREMENT_SYSTEM, GroupKind::CommLocations, &[0, 2])),
        (21, group(MEASUREMENT_SYSTEM, GroupKind::CommGroup, &[1, 0])),
        (22, group(13, GroupKind::CommGroup, &[1, 0])),
        (23, group(MEASUREMENT_SYSTEM, GroupKind::Locations, &[1, 3])),
        (24, group(PARADIGM_MPI, GroupKind::CommLocationGroups, &[13, 10])),
        // Threads of one process, and what no communicator can be of.
        (30, group(OPENMP, GroupKind::CommLocations, &[3, 9])),
        (31, group(OPENMP, GroupKind::CommGroup, &[0, 1])),
        (32, group(PARADIGM_MPI, GroupKind::CommGroup, &[4])),
        (33, group(MEASUREMENT_SYSTEM, GroupKind::Metrics, &[0])),
        (34, group(99, GroupKind::Unknown, &[0])),
    ]);
    found.comms = (20..35).map(|group| (group, group)).collect();
    found.comms.insert(50, 1);
    found.inter_comms =
        [(40, InterComm { first: 2, second: 77 }), (41, InterComm { first: 2, second: 23 })].into();
    let processes = Processes::from_definitions(&found).unwrap();
    let members = |comm: u32| {
        let number = processes.comms.get(&comm).unwrap_or_else(|| panic!("{comm} has no members"));
        processes.members[number].clone()
    };
    assert_eq!(members(20), CommMembers::Group(vec![3, 1]));
    assert_eq!(members(21), CommMembers::Group(vec![1, 3]));
    assert_eq!(members(22), CommMembers::Group(vec![1, 0]));
    assert_eq!(members(23), CommMembers::Group(vec![2, 0]));
    assert_eq!(members(24), CommMembers::Group(vec![0, 3]));
    assert_eq!(members(41), CommMembers::Between(vec![2, 0], vec![2, 0]));
    assert_eq!(processes.comms[&50], 0);
    let mut unknown_comm_events: Vec<u32> = processes.unknown_comms.iter().copied().collect();
    unknown_comm_events.sort_unstable();
    // Those of 25 to 29 have no group at all.
    assert_eq!(unknown_comm_events, [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 40]);
}

/// Without groups of MPI, those of another paradigm say who the ranks are; without any, processes are numbered.
#[test]
fn ranks_are_found_without_mpi() {
    let mut found = definitions();
    found.groups.values_mut().for_each(|group| group.paradigm = 6);
    assert_eq!(Processes::from_definitions(&found).unwrap().threads[&0], (3, 0));
    // Threads of one process are no ranks.
    found.groups.get_mut(&0).unwrap().members = vec![3, 9];
    assert_eq!(Processes::from_definitions(&found).unwrap().threads[&0], (0, 0));
    // A group of nobody says nothing.
    found = definitions();
    let world = found.groups.insert(0, Group { members: Vec::new(), ..found.groups[&0].clone() }).unwrap();
    found.groups.insert(90, world);
    let processes = Processes::from_definitions(&found).unwrap();
    assert_eq!((processes.threads[&0], processes.unknown_comms.len()), ((3, 0), 0));
    found.groups.clear();
    let processes = Processes::from_definitions(&found).unwrap();
    assert_eq!((processes.threads[&0], processes.unknown_comms.len()), ((0, 0), 4));
}

#[test]
fn messages_of_communicators_of_others_are_counted() {
    let mut found = definitions();
    found.comms.insert(60, 77);
    let processes = Processes::from_definitions(&found).unwrap();
    let mut counts = EventCounts::default();
    let mut thread = LocationReader::new(&processes, &mut counts, 7, (0, 0));
    let bcast = CollectiveOp::Bcast as u8;
    let events = [
        Event::Send { peer: 9, comm: 60, tag: 5, bytes: 100 },
        Event::CollectiveEnd { op: bcast, comm: 60, root: 9, sent: 0, received: 70, request: None },
        enter(3),
        Event::Send { peer: 1, comm: 7, tag: 5, bytes: 100 },
    ];
    for event in events {
        thread.event(5, &event, &mut |_| Ok(())).unwrap();
    }
    thread.finish(&mut |_| Ok(())).unwrap();
    assert_eq!((counts.unknown_comm_events, counts.calls, counts.regions), (2, 1, 1));
}

fn heard(of: (u32, u16), events: &[(u64, Event)]) -> Result<(Vec<TraceItem>, EventCounts)> {
    let (processes, mut counts, mut found) = (processes(), EventCounts::default(), Vec::new());
    let mut thread = LocationReader::new(&processes, &mut counts, 7, of);
    for (at_ns, event) in events {
        thread.event(*at_ns, event, &mut |one| {
            found.push(one);
            Ok(())
        })?;
    }
    thread.finish(&mut |one| {
        found.push(one);
        Ok(())
    })?;
    Ok((found, counts))
}

fn enter(region: u32) -> Event {
    Event::Enter { region, number: None, string: None }
}

fn leave(region: u32) -> Event {
    Event::Leave { region }
}

/// A call of the thread by its number, with when it ends.
fn called(call: u64, function: u16, (start_ns, end_ns): (u64, u64)) -> (CallKey, TraceCall) {
    let called = TraceCall { start_ns, rank: 0, thread: 1, function, count: 1, site: 0, collective: None };
    (CallKey { end_ns, thread: 7, call }, called)
}

fn step((key, called): (CallKey, TraceCall)) -> TraceItem {
    TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Call(called) })
}

#[test]
fn a_call_has_what_lies_between_its_ends() {
    let send = |peer, comm| Event::Send { peer, comm, tag: 5, bytes: 100 };
    let receive =
        |peer, comm, request, number| Event::Receive { peer, comm, tag: 6, bytes: 200, request, number };
    let events = [
        // Entered before the trace begins.
        (1, leave(3)),
        (2, enter(3)),
        (3, Event::Enter { region: 0, number: Some(4), string: Some(2) }),
        (4, send(1, 7)),
        // What is within a call is its own business.
        (5, enter(1)),
        (6, leave(1)),
        (7, Event::Posted { request: 70 }),
        (9, leave(0)),
        (10, enter(1)),
        (12, receive(0, 8, None, None)),
        (12, receive(0, 9, Some(70), None)),
        (12, receive(1, 10, Some(71), Some(99))),
        (13, leave(1)),
        (14, enter(2)),
        (15, leave(2)),
        // Outside of all calls, and one from and to nobody.
        (16, receive(3, 7, None, None)),
        (16, receive(u32::MAX - 1, 7, None, None)),
        (16, send(u32::MAX - 1, 7)),
        (16, Event::Posted { request: 75 }),
        (20, leave(3)),
        (21, enter(4)),
        (
            22,
            Event::CollectiveEnd {
                op: CollectiveOp::Bcast as u8,
                comm: 8,
                root: 1,
                sent: 0,
                received: 70,
                request: None,
            },
        ),
        (23, leave(4)),
        (24, Event::CollectiveEnd { op: 0, comm: 7, root: NO_ROOT, sent: 0, received: 0, request: None }),
        (25, enter(0)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let transfer = |peer, comm, is_receive| {
        let (tag, bytes) = if is_receive { (6, 200) } else { (5, 100) };
        Transfer { peer, tag, comm, bytes, is_receive, post: None }
    };
    let received = |key, peer, comm, order| {
        TraceItem::Receive(CompletedReceive { rank: 0, order, key, transfer: transfer(peer, comm, true) })
    };
    let collective = |comm, root, bytes| Some(Collective { comm, root, bytes, started: None });
    let sends = called(0, id::SEND, (3, 9));
    let waits = called(1, id::WAITALL, (10, 13));
    let alone = called(2, id::RECV, (16, 16));
    let bcast = called(3, id::BCAST, (21, 23));
    let barrier = called(4, id::BARRIER, (24, 24));
    let expected = [
        TraceItem::Piece(TracePiece {
            key: sends.0,
            order: 1,
            kind: PieceKind::Message(transfer(1, 0, false)),
        }),
        step((sends.0, TraceCall { count: 4, site: 1, ..sends.1 })),
        // Posted when the call began, when that is given, and when its message was sent.
        received(waits.0, 2, 1, (10, 2)),
        received(waits.0, 0, 2, (7, 3)),
        // The rank is in the first group, so positions are those in the second.
        received(waits.0, 3, 3, (99, 4)),
        // Without a call site of its own it is called by the function around it.
        step((waits.0, TraceCall { site: 2, ..waits.1 })),
        received(alone.0, 3, 0, (16, 5)),
        step(alone),
        step((bcast.0, TraceCall { collective: collective(1, Some(0), 70), ..bcast.1 })),
        step((barrier.0, TraceCall { collective: collective(0, None, 0), ..barrier.1 })),
    ];
    assert_eq!(found, expected);
    assert_eq!((counts.calls, counts.from, counts.to.0, counts.cut_off), (5, Some((3, 7)), 24, 1));
    assert_eq!((counts.unknown, counts.incomplete_receives), ([(2, 1)].into(), 1));
    let sites: Vec<_> = counts.call_sites.iter().collect();
    assert_eq!(sites, [CallSite::String(2), CallSite::Region(3, id::WAITALL)]);
}

#[test]
fn nonblocking_collectives_belong_to_the_calls_that_start_and_complete_them() {
    let end = |op: CollectiveOp, comm, sent, request| Event::CollectiveEnd {
        op: op as u8,
        comm,
        root: NO_ROOT,
        sent,
        received: 0,
        request: Some(request),
    };
    let events = [
        (1, enter(5)),
        (2, Event::CollectiveStarted { request: 70 }),
        (3, leave(5)),
        (4, enter(5)),
        (4, Event::CollectiveStarted { request: 71 }),
        (5, leave(5)),
        // They complete in the other order, and one in the call that starts it.
        (6, enter(1)),
        (7, end(CollectiveOp::Barrier, 8, 0, 71)),
        (7, end(CollectiveOp::Allreduce, 7, 40, 70)),
        (8, leave(1)),
        (9, enter(5)),
        (9, Event::CollectiveStarted { request: 72 }),
        (9, end(CollectiveOp::Barrier, 7, 0, 72)),
        (10, leave(5)),
        (11, enter(5)),
        (11, Event::CollectiveStarted { request: 73 }),
        (12, leave(5)),
        // Nobody started it; and that of 73 never completes.
        (13, enter(1)),
        (14, end(CollectiveOp::Barrier, 7, 0, 99)),
        (15, leave(1)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let started =
        |comm, bytes, number| Collective { comm, root: None, bytes, started: NonZeroU32::new(number) };
    let start = |call, ends, of| {
        let (key, made) = called(call, id::IBARRIER, ends);
        step((key, TraceCall { collective: of, ..made }))
    };
    let waits = called(2, id::WAITALL, (6, 8));
    let completed = |order, number| {
        TraceItem::Piece(TracePiece { key: waits.0, order, kind: PieceKind::Completed(number) })
    };
    let expected = [
        start(1, (4, 5), Some(started(1, 0, 1))),
        start(0, (1, 3), Some(started(0, 40, 2))),
        completed(0, 1),
        completed(1, 2),
        step(waits),
        start(3, (9, 10), Some(Collective { comm: 0, root: None, bytes: 0, started: None })),
        step(called(5, id::WAITALL, (13, 15))),
        start(4, (11, 12), None),
    ];
    assert_eq!(found, expected);
    assert_eq!((counts.calls, counts.unmatched_completions), (6, 1));
}

#[test]
fn a_request_that_is_used_again_loses_no_call() {
    let end = |at_ns, request| {
        let (op, root) = (CollectiveOp::Barrier as u8, NO_ROOT);
        let end = Event::CollectiveEnd { op, comm: 7, root, sent: 0, received: 0, request: Some(request) };
        (at_ns, end)
    };
    let events = [
        (1, enter(5)),
        (2, Event::CollectiveStarted { request: 70 }),
        (3, leave(5)),
        (4, enter(5)),
        (4, Event::CollectiveStarted { request: 70 }),
        (5, leave(5)),
        (6, enter(1)),
        end(7, 70),
        (8, leave(1)),
        // The second one completes in the call that starts it.
        (9, enter(5)),
        (9, Event::CollectiveStarted { request: 71 }),
        (10, leave(5)),
        (11, enter(5)),
        (11, Event::CollectiveStarted { request: 71 }),
        end(12, 71),
        (13, leave(5)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let barrier = |started| Some(Collective { comm: 0, root: None, bytes: 0, started });
    let start = |call, ends, of| {
        let (key, made) = called(call, id::IBARRIER, ends);
        step((key, TraceCall { collective: of, ..made }))
    };
    let waits = called(2, id::WAITALL, (6, 8));
    let expected = [
        start(0, (1, 3), None),
        start(1, (4, 5), barrier(NonZeroU32::new(1))),
        TraceItem::Piece(TracePiece { key: waits.0, order: 0, kind: PieceKind::Completed(1) }),
        step(waits),
        start(4, (11, 13), barrier(None)),
        start(3, (9, 10), None),
    ];
    assert_eq!(found, expected);
    assert_eq!((counts.calls, counts.unmatched_completions), (5, 0));
}

#[test]
fn receives_and_probes_that_are_used_again_are_counted() {
    let probed = |message| Event::Probed { peer: 1, comm: 7, tag: 6, message };
    let events = [
        (1, enter(1)),
        (2, probed(5)),
        (2, probed(5)),
        (3, Event::MatchedPosted { message: 5, request: 50 }),
        (4, probed(6)),
        (4, Event::MatchedPosted { message: 6, request: 50 }),
        (5, Event::Posted { request: 60 }),
        (5, Event::Posted { request: 60 }),
        (6, leave(1)),
    ];
    let (_, counts) = heard((0, 1), &events).unwrap();
    // Two that are replaced, and two that are not over at the end.
    assert_eq!((counts.incomplete_receives, counts.unmatched_completions), (4, 1));
}

#[test]
fn messages_that_were_probed_for_are_received() {
    let probed = |peer, message| Event::Probed { peer, comm: 7, tag: 6, message };
    let events = [
        (1, enter(1)),
        (2, probed(1, 5)),
        (2, probed(2, 6)),
        // A plain probe.
        (2, probed(3, u64::MAX)),
        (3, leave(1)),
        (4, enter(1)),
        (4, Event::MatchedPosted { message: 5, request: 50 }),
        (4, Event::MatchedReceive { message: 6, bytes: 200 }),
        (5, Event::MatchedCompleted { request: 50, bytes: 200 }),
        (6, Event::MatchedReceive { message: 7, bytes: 200 }),
        (7, leave(1)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let (probe, receive) = (called(0, id::WAITALL, (1, 3)), called(1, id::WAITALL, (4, 7)));
    let received = |peer, order| {
        let transfer = Transfer { peer, tag: 6, comm: 0, bytes: 200, is_receive: true, post: None };
        TraceItem::Receive(CompletedReceive { rank: 0, order: (2, order), key: receive.0, transfer })
    };
    assert_eq!(found, [step(probe), received(2, 1), received(1, 2), step(receive)]);
    assert_eq!(counts.unmatched_completions, 1);
}

#[test]
fn what_makes_no_sense_is_reported() {
    let wrong = |events: &[(u64, Event)]| heard((0, 0), events).unwrap_err().to_string();
    let send = |peer, comm, tag, bytes| Event::Send { peer, comm, tag, bytes };
    assert_eq!(wrong(&[(5, enter(0)), (4, leave(0))]), "times run backwards, from 5 to 4 ns");
    assert!(wrong(&[(u64::MAX, enter(0))]).contains("beyond what any run takes"));
    assert_eq!(wrong(&[(1, send(4, 7, 0, 0))]), "communicator 7 has no rank 4");
    assert_eq!(wrong(&[(1, send(1, 9, 0, 0))]), "communicator 9 has no rank 1");
    assert_eq!(wrong(&[(1, send(0, 99, 0, 0))]), "communicator 99 is not defined");
    assert_eq!(wrong(&[(1, send(0, 7, 1 << 31, 0))]), "at 1 ns a message has a tag of 2147483648");
    let half = send(0, 7, 0, 1 << 61);
    assert!(wrong(&[(1, half), (1, half), (1, half)]).contains("4 EiB"));
    let deep: Vec<(u64, Event)> = (0..1 << 17).map(|_| (1, enter(3))).collect();
    assert!(wrong(&deep).contains("within each other"));
}

/// A function of the program is a phase between the first call of its location and the last.
#[test]
fn functions_of_the_program_are_phases() {
    let (us, solve) = (|us: u64| 1_000 * us, 6);
    let events = [
        // Left before the first call.
        (us(0), enter(solve)),
        (us(1), leave(solve)),
        // Entered before it.
        (us(2), enter(solve)),
        (us(400), enter(0)),
        // Within a call.
        (us(401), enter(solve)),
        (us(402), leave(solve)),
        (us(410), leave(0)),
        // A short one.
        (us(500), enter(solve)),
        (us(590), leave(solve)),
        (us(600), enter(solve)),
        (us(700), leave(solve)),
        (us(800), leave(solve)),
        // Left after the last call, or never.
        (us(900), enter(solve)),
        (us(900), enter(solve)),
        (us(1000), enter(0)),
        (us(1010), leave(0)),
        (us(1200), leave(solve)),
        // Entered after it.
        (us(1300), enter(solve)),
        (us(1500), leave(solve)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let mark = |at_us, call, is_begin| {
        let kind = PieceKind::Phase(PhaseMark { rank: 0, thread: 1, phase: 0, is_begin });
        TraceItem::Piece(TracePiece { key: CallKey { end_ns: us(at_us), thread: 7, call }, order: 0, kind })
    };
    let send = |call, from, to| {
        let (key, made) = called(call, id::SEND, (us(from), us(to)));
        step((key, TraceCall { site: 1, ..made }))
    };
    let expected = [
        send(3, 400, 410),
        mark(600, 6, true),
        mark(700, 7, false),
        mark(400, 2, true),
        mark(800, 8, false),
        send(11, 1000, 1010),
        mark(900, 10, true),
        mark(1010, 12, false),
        mark(900, 9, true),
        mark(1010, 15, false),
    ];
    assert_eq!(found, expected);
    assert_eq!((counts.phases.phases, counts.phases.left_out, counts.regions), (4, 3, 1));
    assert_eq!(counts.phases.iter().collect::<Vec<_>>(), [11]);
    assert_eq!((counts.calls, counts.from, counts.to), (2, Some((us(400), 7)), (us(1010), 7)));
}

/// Some tools leave regions that they never entered, or leave an outer one first.
#[test]
fn regions_that_do_not_nest_are_counted() {
    let events = [
        (1, enter(3)),
        (2, leave(4)),
        (3, enter(0)),
        (5, leave(3)),
        (6, leave(0)),
        (7, enter(0)),
        (8, leave(0)),
    ];
    let (found, counts) = heard((0, 1), &events).unwrap();
    let first = called(0, id::SEND, (3, 5));
    assert_eq!(found, [step((first.0, TraceCall { site: 1, ..first.1 })), step(called(1, id::SEND, (7, 8)))]);
    assert_eq!((counts.calls, counts.unmatched_leaves), (2, 2));
}
