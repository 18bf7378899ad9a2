use super::*;
use mpiscope_topology::Member;
use proptest::prelude::*;

fn call(rank: u32, function: Function, start_ns: u64, end_ns: u64) -> Call {
    Call {
        rank: Rank(rank),
        function,
        start_ns,
        end_ns,
        site: Some(Site(function.into())),
        ..Call::default()
    }
}

fn steps_of(path: &CriticalPath) -> Vec<(u32, u64, u64, PathKind, u32)> {
    let (steps, is_joined) = path.steps();
    assert!(!is_joined);
    steps.iter().map(|step| (step.rank.0, step.from_ns, step.to_ns, step.kind, step.other.0)).collect()
}

#[test]
fn a_late_sender_is_on_the_path_and_an_early_one_is_not() {
    // Rank 0 computes until 50 and sends; rank 1 waits from 10 to 60. Rank 2 sent early.
    let calls = [call(0, 1, 50, 55), call(1, 2, 10, 60), call(2, 1, 5, 6), call(1, 2, 70, 72)];
    let late = Message {
        src: Rank(0),
        dst: Rank(1),
        send_ns: 50,
        recv_ns: 60,
        late_sender_ns: 40,
        ..Message::default()
    };
    let early = Message { src: Rank(2), dst: Rank(1), send_ns: 5, recv_ns: 72, ..Message::default() };
    let mut path = CriticalPath::new(0..100);
    path.back(0, &calls, &[late, early], &[]);
    use PathKind::{Call as In, Compute, Transfer};
    let expected =
        [(0, 0, 50, Compute, 0), (1, 50, 60, Transfer, 0), (1, 60, 70, Compute, 1), (1, 70, 72, In, 1)];
    assert_eq!(steps_of(&path), expected);
    // Computing is named by the call that it leads to.
    let parts: Vec<_> = path
        .parts()
        .iter()
        .map(|part| (part.kind, part.function, part.site.map(|site| site.0), part.ns))
        .collect();
    let expected = [
        (Compute, Some(1), Some(1), 50),
        (Compute, Some(2), Some(2), 10),
        (Transfer, Some(2), Some(2), 10),
        (In, Some(2), Some(2), 2),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn a_collective_leads_to_the_last_that_entered_and_a_blocked_send_to_its_receiver() {
    let calls = [call(0, 3, 10, 42), call(1, 3, 40, 41), call(1, 1, 0, 30), call(2, 2, 28, 30)];
    let members = [(0, 10, 42), (1, 40, 41)];
    let members =
        members.map(|(rank, enter_ns, exit_ns)| Member { rank: Rank(rank), enter_ns, exit_ns }).to_vec();
    let meeting = Meeting { flow: Flow::All, root: None, members };
    let message = Message {
        src: Rank(1),
        dst: Rank(2),
        send_ns: 0,
        recv_ns: 30,
        late_receiver_ns: Some(28),
        ..Message::default()
    };
    let mut path = CriticalPath::new(0..100);
    path.back(0, &calls, &[message], &[meeting]);
    use PathKind::{Collective, Compute, Transfer};
    let expected = [
        (2, 0, 28, Compute, 2),
        (1, 28, 30, Transfer, 2),
        (1, 30, 40, Compute, 1),
        (0, 40, 42, Collective, 1),
    ];
    assert_eq!(steps_of(&path), expected);
}

#[test]
fn members_that_no_one_waits_for_are_not_on_the_path() {
    let members = [(0, 10, 50), (1, 40, 41)].map(|(rank, enter_ns, exit_ns)| Member {
        rank: Rank(rank),
        enter_ns,
        exit_ns,
    });
    let of = |flow, root| Meeting { flow, root: Some(root), members: members.to_vec() };
    let calls = [call(0, 3, 10, 50), call(1, 3, 40, 41)];
    let ranks = |meeting: Meeting| {
        let mut path = CriticalPath::new(0..100);
        path.back(0, &calls, &[], &[meeting]);
        steps_of(&path).iter().map(|step| step.0).collect::<Vec<_>>()
    };
    assert_eq!(ranks(of(Flow::FromRoot, Rank(1))), [1, 0]);
    assert_eq!(ranks(of(Flow::FromRoot, Rank(0))), [0, 0]);
    assert_eq!(ranks(of(Flow::ToRoot, Rank(1))), [0, 0]);
    assert_eq!(ranks(of(Flow::ToRoot, Rank(0))), [1, 0]);
}

#[test]
fn too_many_steps_are_joined_and_their_sums_stay_exact() {
    let calls: Vec<_> = (0..60_000).map(|at| call(0, (at % 2) as u16, at * 10, at * 10 + 4)).collect();
    let mut path = CriticalPath::new(0..600_000);
    path.back(0, &calls, &[], &[]);
    let (steps, is_joined) = path.steps();
    assert!(is_joined && steps.len() <= 2 * MOST_STEPS);
    assert!(steps.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
    let parts = path.parts();
    assert_eq!(parts.iter().map(|part| part.ns).sum::<u64>(), 599_994);
    assert_eq!(
        parts.iter().filter(|part| part.kind == PathKind::Call).map(|part| part.ns).sum::<u64>(),
        240_000
    );
}

/// A ring: each rank waits for its neighbour in each turn.
fn ring(turns: u64, work: &[u64]) -> (Vec<Call>, Vec<Message>, u64) {
    let ranks = work.len();
    let (mut calls, mut messages) = (Vec::new(), Vec::new());
    let mut now = vec![0_u64; ranks];
    for turn in 0..turns {
        let sends: Vec<u64> =
            (0..ranks).map(|rank| now[rank] + work[(rank + turn as usize) % ranks]).collect();
        for rank in 0..ranks {
            calls.push(call(rank as u32, 1, sends[rank], sends[rank] + 1));
            let src = (rank + ranks - 1) % ranks;
            let (begin, end) = (sends[rank] + 2, (sends[rank] + 2).max(sends[src]) + 7);
            calls.push(call(rank as u32, 2, begin, end));
            messages.push(Message {
                src: Rank(src as u32),
                dst: Rank(rank as u32),
                send_ns: sends[src],
                recv_ns: end,
                late_sender_ns: sends[src].saturating_sub(begin),
                ..Message::default()
            });
            now[rank] = end;
        }
    }
    let end = now.into_iter().max().unwrap_or_default();
    (calls, messages, end)
}

proptest! {
    #[test]
    fn chunks_give_the_path_of_the_whole_and_it_has_no_gaps(
        work in proptest::collection::vec(1_u64..200, 2..7), turns in 1_u64..30, cuts in proptest::collection::vec(0_u64..4_000, 0..6),
    ) {
        let (calls, messages, end) = ring(turns, &work);
        let mut whole = CriticalPath::new(0..end);
        whole.back(0, &calls, &messages, &[]);
        let mut cuts: Vec<u64> = cuts.into_iter().filter(|cut| *cut < end).collect();
        cuts.extend([0, end]);
        cuts.sort_unstable();
        let mut path = CriticalPath::new(0..end);
        for pair in cuts.windows(2).rev() {
            let (from, to) = (pair[0], pair[1]);
            let some: Vec<_> = calls.iter().filter(|call| call.start_ns < to && call.end_ns > from).copied().collect();
            let overlapping: Vec<_> = messages.iter().filter(|of| of.send_ns < to && of.recv_ns > from).copied().collect();
            path.back(from, &some, &overlapping, &[]);
        }
        let (steps, _) = path.steps();
        prop_assert!(steps.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
        prop_assert_eq!(steps.iter().map(|step| step.to_ns - step.from_ns).sum::<u64>(), end);
        let ranks = |path: &CriticalPath| {
            let mut by: std::collections::BTreeMap<(u32, PathKind), u64> = std::collections::BTreeMap::new();
            for step in path.steps().0 {
                *by.entry((step.rank.0, step.kind)).or_default() += step.to_ns - step.from_ns;
            }
            by
        };
        prop_assert_eq!(ranks(&path), ranks(&whole));
    }
}
