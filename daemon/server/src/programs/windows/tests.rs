use super::super::rows::Position;
use super::super::stored::{Stored, add};
use super::*;
use crate::programs::moment::Moment;
use mpiscope_feed::{Course, Messages, Parts, Region, Regions};
use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_protocol::{Direction, Subscribe, Topic};
use proptest::prelude::*;
use std::collections::BTreeMap;

const WIDTH_NS: u64 = 1_000_000;

/// Ranks 0 and 1 are region 4, ranks 2 and 3 are region 7, others are in none.
fn library() -> (Library, Stored) {
    let stored = Stored::default();
    let library = Library::new(Box::new(stored.clone()))
        .with_messages(Messages { source: Box::new(stored.clone()), flow: |_| None });
    let region = |id, ranks| Region { id, ranks: vec![ranks], ..Region::default() };
    let regions = vec![region(4, (0, 1)), region(7, (2, 3))];
    library.set_regions(&Regions { version: 1, count: 2, regions, ..Regions::default() });
    (library, stored)
}

fn call(rank: u32, end_ns: u64) -> Call {
    Call {
        rank: Rank(rank),
        start_ns: end_ns.saturating_sub(700_000),
        end_ns,
        bytes: 3,
        count: 2,
        ..Call::default()
    }
}

fn message(src: u32, dst: u32, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        tag: 0,
        comm: Comm::WORLD,
        bytes: 5,
        send_ns: recv_ns,
        recv_ns,
        t_msg_ns: 0,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: false,
        exact: false,
    }
}

/// Calls and messages by window and regions.
type Table = BTreeMap<(u64, u32, u32, u32), (u64, u64)>;

fn region(rank: u32) -> u32 {
    [4, 4, 7, 7].get(rank as usize).copied().unwrap_or(NONE)
}

fn expected(calls: &[Call], messages: &[Message]) -> Table {
    let mut table = Table::new();
    for call in calls {
        table.entry((call.end_ns / WIDTH_NS, region(call.rank.0), NONE, 0)).or_default().0 += 1;
    }
    for message in messages {
        let (one, other) = (region(message.src.0), region(message.dst.0));
        let window = message.recv_ns / WIDTH_NS;
        // None comes before any.
        let (low, high) =
            if one == NONE || other != NONE && one < other { (one, other) } else { (other, one) };
        let key = if one == other { (window, one, NONE, 0) } else { (window, low, high, 1) };
        table.entry(key).or_default().1 += 1;
    }
    table
}

/// What a subscription gets; rows that come late replace those of their window.
fn all(position: &mut Position, library: &Library, direction: Direction, to_ns: u64, table: &mut Table) {
    loop {
        let Some(batch) = position.next::<WindowRow>(library, direction, to_ns).unwrap() else {
            if position.at_ns() == to_ns { return } else { continue }
        };
        let rows = batch.windows.unwrap();
        for at in 0..rows.from_ns.len() {
            let window = (rows.from_ns[at] as u64) / WIDTH_NS;
            assert_eq!(rows.to_ns[at] as u64, (window + 1) * WIDTH_NS);
            assert_eq!(rows.polls[at], rows.calls[at]);
            let key = (window, rows.region[at], rows.other[at], rows.between[at]);
            let before = table.insert(key, (rows.calls[at] as u64, rows.messages[at] as u64));
            assert!(before.is_none() || batch.late > 0, "{key:?} came twice");
        }
        if batch.late == 0 {
            let order = rows.from_ns.windows(2);
            assert!(order.into_iter().all(|two| if direction == Direction::Forward {
                two[0] <= two[1]
            } else {
                two[0] >= two[1]
            }));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Forward and backward, in batches of any size, with calls and messages that become known late.
    #[test]
    fn windows_have_all_calls_and_messages_once(
        calls in prop::collection::vec((0_u32..6, 0_u64..400_000_000, any::<bool>()), 0..60),
        messages in prop::collection::vec((0_u32..6, 0_u32..6, 0_u64..400_000_000, any::<bool>()), 0..60),
        most in 1_u32..40,
        is_backward in any::<bool>(),
        is_at_once in any::<bool>(),
    ) {
        let (library, stored) = library();
        let of = |late: bool| {
            let calls = calls.iter().filter(|call| call.2 == late).map(|&(rank, end_ns, _)| call(rank, end_ns));
            let messages = messages.iter().filter(|message| message.3 == late);
            let messages = messages.map(|&(from, to, at_ns, _)| message(from, to, at_ns));
            (calls.collect::<Vec<_>>(), messages.collect::<Vec<_>>())
        };
        let ((early, early_messages), (late, late_messages)) = (of(false), of(true));
        add(&library, &stored, &early, &early_messages);
        let end_ns = 400 * WIDTH_NS;
        library.complete_until(end_ns);
        let direction = if is_backward { Direction::Backward } else { Direction::Forward };
        let window_ns = Some(WIDTH_NS as f64);
        let asked = Subscribe { most: Some(most), direction, window_ns, ..Subscribe::new(Topic::Windows, 1) };
        let filter = Filter::new(&asked, &library, &Moment::default()).unwrap();
        let (from_ns, to_ns) = if is_backward { (end_ns, 0) } else { (0, end_ns) };
        let mut position = Position::new(&asked, filter, from_ns, &library);
        let mut table = Table::new();
        all(&mut position, &library, direction, to_ns, &mut table);
        prop_assert_eq!(&table, &expected(&early, &early_messages));
        // One by one, or all at once, which a batch may not hold.
        if is_at_once {
            add(&library, &stored, &late, &late_messages);
            all(&mut position, &library, direction, to_ns, &mut table);
        }
        for call in late.iter().filter(|_| !is_at_once) {
            add(&library, &stored, &[*call], &[]);
            all(&mut position, &library, direction, to_ns, &mut table);
        }
        for message in late_messages.iter().filter(|_| !is_at_once) {
            add(&library, &stored, &[], &[*message]);
            all(&mut position, &library, direction, to_ns, &mut table);
        }
        let (calls, messages) = ([early, late].concat(), [early_messages, late_messages].concat());
        if most > 9 {
            prop_assert_eq!(table, expected(&calls, &messages));
        }
    }
}

#[test]
fn time_is_shared_out_by_length_and_ranks() {
    let (library, _) = library();
    let mut by_rank = mpiscope_feed::ByRank::new(0, 4 * WIDTH_NS, 4);
    by_rank.push((0..4).map(|rank| {
        let parts = Parts { total_s: 8.0, waiting_s: f64::from(rank), ..Parts::default() };
        (parts, [0.0, f64::from(rank), 0.0, 0.0])
    }));
    library.set_course(Course { width_ns: 4 * WIDTH_NS, to_ns: 3 * WIDTH_NS, by_rank, ..Course::default() });
    let mut rows = Vec::new();
    library.visit_region_windows(&(0..9 * WIDTH_NS), WIDTH_NS, &None, &mut |row| rows.push(*row)).unwrap();
    // Nothing was diagnosed after the third window.
    let shares: Vec<(u64, Scope, f64, f64)> = rows
        .iter()
        .map(|row| {
            let (parts, avoidable) = row.diagnosed.unwrap();
            (row.from_ns, row.scope, parts[1], avoidable[1])
        })
        .collect();
    let third = 1.0 / 3.0;
    let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert_eq!(shares.len(), 6);
    for (at, (from_ns, scope, waiting_s, pattern_s)) in shares.into_iter().enumerate() {
        let (region, all) = if at % 2 == 0 { (4, 1.0) } else { (7, 5.0) };
        assert_eq!((from_ns, scope), (at as u64 / 2 * WIDTH_NS, Scope::Within(Some(region))));
        assert!(close(waiting_s, all * third) && close(pattern_s, all * third));
    }
}
