//! Work follows calls, not the time between them.

use super::*;

const WINDOW_NS: u64 = 1_000;
const PATIENCE_NS: u64 = 10_000;
/// A hundred years after the first calls.
const LATE_NS: u64 = 1 << 61;

fn budgeter(job: &Job) -> Budgeter {
    let options =
        BudgetOptions { window_ns: WINDOW_NS, patience_ns: PATIENCE_NS, ..BudgetOptions::default() };
    let mut budgeter = Budgeter::new(options);
    (0..2).for_each(|rank| budgeter.place(Rank(rank), Node(0)));
    budgeter.feed(&job.activities, &Matched::default(), &[]);
    budgeter
}

/// Settles the windows that have to be; says where they end.
fn settled(budgeter: &mut Budgeter) -> Vec<Nanoseconds> {
    let mut ends_ns = Vec::new();
    while let Some(end_ns) = budgeter.next_window_end_ns() {
        assert!(ends_ns.len() < 100, "windows without calls are settled one by one: {ends_ns:?}");
        budgeter.skip(end_ns - WINDOW_NS);
        budgeter.settle(end_ns);
        ends_ns.push(end_ns);
    }
    ends_ns
}

fn window_end(at_ns: Nanoseconds) -> Nanoseconds {
    (at_ns / WINDOW_NS + 1) * WINDOW_NS
}

#[test]
fn windows_between_calls_are_skipped() {
    let mut job = Job::default();
    job.other(0, (0, 10));
    job.other(0, (LATE_NS, LATE_NS + 10));
    let mut budgeter = budgeter(&job);
    // The window after one in which something was settled tries again what waits.
    assert_eq!(settled(&mut budgeter), [WINDOW_NS, 2 * WINDOW_NS, window_end(LATE_NS)]);
    assert_eq!(budgeter.settled_ns(), window_end(LATE_NS));
    assert_eq!(budgeter.evolution().final_ns(), window_end(LATE_NS));
    assert_eq!(budgeter.ledger().total().compute_ns, LATE_NS - 10);
}

#[test]
fn windows_in_which_calls_only_wait_are_skipped() {
    let mut job = Job::default();
    job.receive(0, 1, 8, (0, 10));
    job.other(1, (LATE_NS, LATE_NS + 10));
    let mut budgeter = budgeter(&job);
    let given_up_ns = window_end(10 + PATIENCE_NS);
    assert_eq!(
        settled(&mut budgeter),
        [WINDOW_NS, given_up_ns, given_up_ns + WINDOW_NS, window_end(LATE_NS)]
    );
    assert_eq!(budgeter.given_up(), 1);
}

#[test]
fn what_becomes_known_has_the_next_window_settled() {
    let mut job = Job::default();
    job.receive(0, 1, 8, (0, 10));
    let mut budgeter = budgeter(&job);
    budgeter.settle(WINDOW_NS);
    assert_eq!(budgeter.next_window_end_ns(), Some(window_end(10 + PATIENCE_NS)));
    let mut more = Job::default();
    more.other(1, (LATE_NS, LATE_NS + 10));
    budgeter.feed(&more.activities, &Matched::default(), &[]);
    assert_eq!(budgeter.next_window_end_ns(), Some(2 * WINDOW_NS));
}
