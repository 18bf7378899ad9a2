//! Messages find the calls that sent and received them.

use super::{CallSink, CallWithEnds, Sweep};
use crate::export::item::{Item, MessageEnd};
use crate::external_sort::Sorter;
use anyhow::Result;
use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_wire::id;

/// What the sink gets, as text.
#[derive(Default)]
struct CallLines(Vec<String>);

impl CallSink for CallLines {
    fn call(&mut self, placed: &CallWithEnds, next_ns: Option<u64>) -> Result<()> {
        let Call { rank, thread, start_ns, end_ns, .. } = placed.call;
        let numbers = |ends: &[MessageEnd]| ends.iter().map(|end| end.message).collect::<Vec<_>>();
        let (sent, received) = (numbers(&placed.sent), numbers(&placed.received));
        self.0.push(format!(
            "{rank}.{thread} {start_ns}-{end_ns} sent {sent:?} received {received:?} next {next_ns:?}"
        ));
        Ok(())
    }

    fn alone(&mut self, thread: u16, end: &MessageEnd) -> Result<()> {
        self.0.push(format!("{}.{thread} {} alone {}", end.rank, end.at_ns, end.message));
        Ok(())
    }

    fn rank_is_over(&mut self, rank: Rank) -> Result<()> {
        self.0.push(format!("{rank} is over"));
        Ok(())
    }
}

fn call(rank: u32, thread: u16, function: u16, start_ns: u64, end_ns: u64) -> Call {
    Call { rank: Rank(rank), thread, function, start_ns, end_ns, ..Call::default() }
}

fn message(src: u32, dst: u32, send_ns: u64, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        tag: 0,
        comm: Comm::WORLD,
        bytes: 8,
        send_ns,
        recv_ns,
        t_msg_ns: 1,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: false,
        exact: true,
    }
}

fn swept(calls: &[Call], messages: &[Message]) -> (Vec<String>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::with_capacity(folder.path(), 3);
    for (number, message) in (0..).zip(messages) {
        MessageEnd::both(number, message)
            .into_iter()
            .for_each(|end| sorter.push(Item::MessageEnd(end)).unwrap());
    }
    calls.iter().for_each(|call| sorter.push(Item::Call(*call)).unwrap());
    let mut lines = CallLines::default();
    let mut sweep = Sweep::new(&mut lines);
    for item in sorter.finish().unwrap() {
        sweep.item(&item.unwrap()).unwrap();
    }
    let moved = sweep.finish().unwrap();
    (lines.0, moved)
}

#[test]
fn a_message_goes_from_the_call_that_began_then_to_the_one_that_ended_then() {
    let calls = [
        call(0, 0, id::ISEND, 10, 20),
        call(0, 0, id::WAITALL, 20, 30),
        call(1, 0, id::RECV, 5, 20),
        call(1, 0, id::RECV, 20, 25),
    ];
    // Both of rank 1 touch 20: the first ended then.
    let messages = [message(0, 1, 10, 20), message(1, 0, 5, 30), message(0, 1, 10, 25)];
    let (lines, moved) = swept(&calls, &messages);
    let expected = [
        "0.0 10-20 sent [0, 2] received [] next Some(20)",
        "0.0 20-30 sent [] received [1] next None",
        "0 is over",
        "1.0 5-20 sent [1] received [0] next Some(20)",
        "1.0 20-25 sent [] received [2] next None",
        "1 is over",
    ];
    assert_eq!((lines.iter().map(String::as_str).collect::<Vec<_>>(), moved), (expected.to_vec(), 0));
}

#[test]
fn of_several_threads_the_one_that_fits_has_it() {
    let with = |call: Call, peer, tag| Call { peer: Some(peer), tag: Some(tag), ..call };
    let calls = [
        with(call(0, 0, id::SEND, 10, 20), Rank(2), 5),
        with(call(0, 1, id::SEND, 10, 30), Rank(1), 6),
        with(call(0, 2, id::SEND, 10, 30), Rank(1), 5),
        call(0, 3, id::BARRIER, 10, 50),
        call(0, 4, id::RECV, 10, 50),
        call(0, 5, id::RECV, 10, 50),
    ];
    let (tag_5, tag_6) =
        (Message { tag: 5, ..message(0, 1, 10, 60) }, Message { tag: 6, ..message(0, 1, 10, 60) });
    let (lines, _) = swept(&calls, &[tag_6, tag_5, message(7, 0, 1, 50), message(7, 0, 1, 50)]);
    assert!(lines.contains(&"0.1 10-30 sent [0] received [] next None".to_owned()), "{lines:?}");
    assert!(lines.contains(&"0.2 10-30 sent [1] received [] next None".to_owned()), "{lines:?}");
    // Each of two that received at the same moment has one, and the barrier none.
    let of = |thread: &str| lines.iter().find(|line| line.starts_with(thread)).unwrap();
    assert!(of("0.3").contains("received []"), "{lines:?}");
    assert!(of("0.4").contains("received [2]") ^ of("0.4").contains("received [3]"), "{lines:?}");
    assert!(of("0.5").contains("received [2]") ^ of("0.5").contains("received [3]"), "{lines:?}");
}

#[test]
fn what_has_no_call_goes_to_the_one_under_way_or_stands_alone() {
    let calls = [call(0, 0, id::WAITALL, 10, 20), call(0, 0, id::SEND, 40, 50)];
    let messages = [message(0, 9, 15, 99), message(0, 9, 30, 99), message(0, 9, 60, 99)];
    let (lines, _) = swept(&calls, &messages);
    let expected = [
        "0.0 10-20 sent [0] received [] next Some(30)",
        "0.0 30 alone 1",
        "0.0 40-50 sent [] received [] next Some(60)",
        "0.0 60 alone 2",
        "0 is over",
    ];
    assert_eq!(lines[..expected.len()], expected);
    assert_eq!(lines[expected.len()..], ["9.0 99 alone 0", "9.0 99 alone 1", "9.0 99 alone 2", "9 is over"]);
}

#[test]
fn calls_of_one_thread_that_overlap_are_put_one_behind_the_other() {
    let calls = [
        call(0, 0, id::RECV, 0, 30),
        call(0, 0, id::RECV, 10, 20),
        call(0, 0, id::RECV, 15, 50),
        call(0, 0, id::RECV, 50, 50),
        call(0, 0, id::RECV, 50, 50),
    ];
    let (lines, moved) = swept(&calls, &[message(3, 0, 1, 50)]);
    let times: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!((&times[..5], moved), (&["0-30", "30-30", "30-50", "50-50", "50-50"][..], 2));
    assert_eq!(lines.iter().filter(|line| line.contains("received [0]")).count(), 1);
}
