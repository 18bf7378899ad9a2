//! What is exported comes back.

use super::{ReadBack, read_back};
use crate::export::gather::TraceContents;
use crate::export::item::{Item, MessageEnd};
use crate::export::picl::{PiclNames, write_items};
use crate::external_sort::Sorter;
use mpiscope_model::{Call, Comm, CommInfo, Message, Rank};
use mpiscope_wire::{FUNCTIONS, id};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const RANKS: u32 = 4;
/// Communicators: the world, and two with gaps between their numbers.
const COMMS: [Comm; 3] = [Comm::WORLD, Comm(3), Comm(8)];

/// The plan of a call: rank, thread, what, how long until it begins, how long it takes, and three numbers for the rest.
type Plan = (u32, u16, usize, u64, u64, (usize, u32, i32));

fn function(name: &str) -> u16 {
    FUNCTIONS.iter().find(|entry| entry.name == name).unwrap().id
}

const SENDS: [&str; 4] = ["MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Ssend_c"];
const RECEIVES: [&str; 4] = ["MPI_Recv", "MPI_Waitall", "MPI_Wait", "MPI_Waitsome"];
const COLLECTIVES: [&str; 6] =
    ["MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Iallreduce", "MPI_Gatherv", "MPI_Scan"];
const OTHERS: [&str; 4] = ["MPI_Init", "MPI_Test", "MPI_Irecv", "MPI_Comm_free"];

#[derive(Debug, Default)]
struct Run {
    calls: Vec<Call>,
    messages: Vec<Message>,
}

/// Takes one of the messages that were sent to a rank before a moment.
fn take_sent(sent: &mut Vec<(usize, Message)>, rank: u32, until_ns: u64, pick: usize) -> Option<Message> {
    let open = |(_, one): &(usize, Message)| one.dst.0 == rank && one.send_ns < until_ns;
    let all: Vec<usize> = (0..sent.len()).filter(|&at| open(&sent[at])).collect();
    let &at = all.get(pick % all.len().max(1))?;
    Some(sent.remove(at).1)
}

/// Carries out a plan. All times of a rank differ: each message has one call at either end.
fn run(plan: &[Plan]) -> Run {
    let mut clocks = [0; RANKS as usize];
    let mut run = Run::default();
    // Messages that are not received yet, each with its call.
    let mut sent: Vec<(usize, Message)> = Vec::new();
    for &(rank, thread, what, wait_ns, takes_ns, (pick, peer, tag)) in plan {
        let clock = &mut clocks[rank as usize];
        let start_ns = *clock + wait_ns + 1;
        let end_ns = start_ns + takes_ns + 1;
        *clock = end_ns;
        let mut call = Call { rank: Rank(rank), thread, start_ns, end_ns, ..Call::default() };
        let comm = COMMS[pick % COMMS.len()];
        let names: &[&str] = [&SENDS[..], &RECEIVES, &COLLECTIVES, &OTHERS][what];
        let name = names[pick / COMMS.len() % names.len()];
        call.function = function(name);
        match what {
            0 => {
                let bytes = u64::from(peer) * 1_000_000_007 % (1 << 40);
                (call.peer, call.tag, call.comm, call.bytes) =
                    (Some(Rank(peer)), Some(tag), Some(comm), bytes);
                let message = Message {
                    src: Rank(rank),
                    dst: Rank(peer),
                    tag,
                    comm,
                    bytes,
                    send_ns: start_ns,
                    ..NO_MESSAGE
                };
                sent.push((run.calls.len(), message));
            }
            1 => {
                // A call may receive several messages, in any order; MPI_Recv receives one.
                let most = if name == "MPI_Recv" { 1 } else { pick % 4 };
                for _ in 0..most {
                    let Some(message) = take_sent(&mut sent, rank, end_ns, pick) else { break };
                    run.messages.push(Message { recv_ns: end_ns, ..message });
                }
            }
            2 => {
                (call.comm, call.bytes, call.instance) = (Some(comm), 0, Some(0));
                if name != "MPI_Barrier" {
                    call.bytes = u64::from(peer) << 20;
                }
                call.peer = ["MPI_Bcast", "MPI_Gatherv"].contains(&name).then_some(Rank(peer));
            }
            _ if name == "MPI_Test" => call.count = u64::from(peer) * 1000 + 1,
            _ => {}
        }
        run.calls.push(call);
    }
    // What is never received is alone on its channel: else a receive would have taken it.
    for (at, _) in sent {
        run.calls[at].tag = Some(1000 + at as i32);
    }
    number_collectives(&mut run.calls);
    run
}

const NO_MESSAGE: Message = Message {
    src: Rank(0),
    dst: Rank(0),
    tag: 0,
    comm: Comm::WORLD,
    bytes: 0,
    send_ns: 0,
    recv_ns: 0,
    t_msg_ns: 0,
    late_sender_ns: 0,
    late_receiver_ns: None,
    inter: false,
    exact: false,
};

/// Counts the collectives of each communicator on each rank.
fn number_collectives(calls: &mut [Call]) {
    calls.sort_by_key(|call| (call.end_ns, call.rank));
    let mut counts: HashMap<(Rank, Option<Comm>), u32> = HashMap::new();
    for call in calls.iter_mut().filter(|call| call.instance.is_some()) {
        let count = counts.entry((call.rank, call.comm)).or_default();
        call.instance = Some(*count);
        *count += 1;
    }
}

fn exported(run: &Run) -> (Vec<u8>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut about, mut sorter) = (TraceContents::default(), Sorter::with_capacity(folder.path(), 7));
    for call in &run.calls {
        about.call(call);
        sorter.push(Item::Call(*call)).unwrap();
    }
    for (number, message) in (0..).zip(&run.messages) {
        about.message(message);
        for end in MessageEnd::both(number, message) {
            sorter.push(Item::MessageEnd(end)).unwrap();
        }
    }
    for rank in Rank::all(RANKS) {
        about.threads.entry(rank).or_default().insert(0);
    }
    let mut functions = vec![String::new(); usize::from(FUNCTIONS.last().unwrap().id) + 1];
    for entry in FUNCTIONS {
        functions[usize::from(entry.id)] = entry.name.into();
    }
    let leader = |comm| CommInfo { comm, size: RANKS, leader: Rank(2), ..CommInfo::default() };
    let names = PiclNames {
        functions,
        comms: COMMS.map(leader).into(),
        hosts: Rank::all(RANKS).map(|rank| (rank, format!("host {}", rank.0 / 2))).collect(),
    };
    let items = sorter.finish().unwrap();
    let (remarks, bytes) = write_items(items, (&about, &names), 0, folder.path(), Vec::new()).unwrap();
    (bytes, remarks)
}

/// What the format can say of a call: collectives have their communicator, by its place among those in use.
type Essence = (Rank, u16, u16, u64, u64, u64, Option<(u32, u32, Option<Rank>, u64)>);

fn essence(calls: &[Call], place: &dyn Fn(Comm) -> u32) -> Vec<Essence> {
    let of = |call: &Call| {
        let collective =
            call.instance.map(|instance| (instance, place(call.comm.unwrap()), call.peer, call.bytes));
        (call.rank, call.thread, call.function, call.start_ns, call.end_ns, call.count, collective)
    };
    let mut found: Vec<Essence> = calls.iter().map(of).collect();
    found.sort_unstable();
    found
}

fn moved(messages: &[Message], place: &dyn Fn(Comm) -> u32) -> Vec<(Rank, Rank, u32, i32, u64, u64, u64)> {
    let of = |one: &Message| {
        let Message { src, dst, tag, comm, bytes, send_ns, recv_ns, .. } = *one;
        (src, dst, place(comm), tag, bytes, send_ns, recv_ns)
    };
    let mut found: Vec<_> = messages.iter().map(of).collect();
    found.sort_unstable();
    found
}

fn assert_comes_back(run: &Run) -> ReadBack {
    let (trace, remarks) = exported(run);
    assert!(remarks.is_empty(), "{remarks:?}");
    let back =
        read_back(&trace).unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&trace)));
    assert_eq!((back.faults, &back.notes, &back.missing), (0, &Vec::new(), &Vec::new()));
    let named = run.calls.iter().filter(|call| call.instance.is_some()).filter_map(|call| call.comm);
    let sends = run.calls.iter().filter(|call| call.tag.is_some()).filter_map(|call| call.comm);
    let used: BTreeSet<Comm> = named.chain(sends).filter(|&comm| comm != Comm::WORLD).collect();
    let places: BTreeMap<Comm, u32> = used.into_iter().zip(1..).chain([(Comm::WORLD, 0)]).collect();
    let before = |comm: Comm| places[&comm];
    let after = |comm: Comm| back.comms[&comm] as u32;
    let text = String::from_utf8_lossy(&trace);
    assert_eq!(essence(&back.calls, &after), essence(&run.calls, &before), "{text}");
    assert_eq!(moved(&back.messages, &after), moved(&run.messages, &before), "{text}");
    assert_eq!(back.nodes, ["host 0", "host 0", "host 1", "host 1"]);
    back
}

proptest! {
    #[test]
    fn calls_and_messages_come_back(
        plan in proptest::collection::vec(
            (0..RANKS, 0_u16..3, 0_usize..4, 0_u64..2_000_000_000, 0_u64..1000, (0_usize..64, 0..RANKS, 0..5)),
            1..60,
        ),
    ) {
        assert_comes_back(&run(&plan));
    }
}

/// Two messages of one channel are received the other way round: the later one by a call that ends first.
#[test]
fn receives_out_of_order_keep_their_messages() {
    let call = |rank, name: &str, start_ns, end_ns| Call {
        rank,
        function: function(name),
        start_ns,
        end_ns,
        ..Call::default()
    };
    let send = |start_ns, bytes| Call {
        peer: Some(Rank(1)),
        tag: Some(4),
        comm: Some(Comm::WORLD),
        bytes,
        ..call(Rank(0), "MPI_Isend", start_ns, start_ns + 1)
    };
    let message =
        |send_ns, recv_ns, bytes| Message { dst: Rank(1), tag: 4, bytes, send_ns, recv_ns, ..NO_MESSAGE };
    let run = Run {
        calls: vec![
            send(10, 100),
            send(20, 200),
            call(Rank(1), "MPI_Wait", 5, 50),
            call(Rank(1), "MPI_Wait", 51, 90),
        ],
        messages: vec![message(10, 90, 100), message(20, 50, 200)],
    };
    let back = assert_comes_back(&run);
    assert_eq!(back.unmatched, (0, 0));
}

/// A send and a receive without the other side are written from their rows.
#[test]
fn calls_without_a_partner_stay_without_one() {
    let row = |rank, function, peer| Call {
        rank,
        function,
        start_ns: 10,
        end_ns: 20,
        peer: Some(peer),
        tag: Some(3),
        comm: Some(Comm::WORLD),
        bytes: 77,
        ..Call::default()
    };
    let run = Run {
        calls: vec![row(Rank(0), id::SEND, Rank(1)), row(Rank(2), id::RECV, Rank(3))],
        messages: Vec::new(),
    };
    let back = assert_comes_back(&run);
    assert_eq!(back.unmatched, (1, 1));
    assert!(back.calls.iter().all(|call| (call.bytes, call.tag) == (77, Some(3))));
}
