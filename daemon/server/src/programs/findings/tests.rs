use super::*;
use crate::programs::filter::Filter;
use crate::programs::finding_position::FindingPosition;
use crate::programs::moment::Moment;
use mpiscope_feed::{Attribution, CallSource, Diagnosis, Hang, HangSentence, Library, Quiet};
use mpiscope_model::Call;
use mpiscope_protocol::{Direction, Subscribe, Topic};
use std::ops::Range;

#[derive(Debug)]
struct Nothing;

impl CallSource for Nothing {
    fn visit(&self, _: &Range<Nanoseconds>, _: &mut dyn FnMut(&Call)) -> Result<(), String> {
        Ok(())
    }
}

fn found(attributed: &[(f64, f64, &str)]) -> FindingsReport {
    let attribution = attributed.iter().map(|&(from_s, to_s, cause)| Attribution {
        from_s,
        to_s,
        cause: cause.to_owned(),
        avoidable_s: 0.5,
        confidence: 0.9,
        ..Attribution::default()
    });
    let quiet = Quiet { from_s: 2.0, to_s: 3.0, is_quiet: false, slower: 4.0 };
    let diagnosis =
        Diagnosis { attribution: attribution.collect(), quiet: vec![quiet], ..Diagnosis::default() };
    FindingsReport { diagnosis, ..FindingsReport::default() }
}

fn hang() -> Hangs {
    let text = "Ranks 1 and 2 wait for each other.".to_owned();
    let sentences = vec![HangSentence { text, ranks: vec![1, 2] }];
    let hang =
        Hang { kind: HangKind::Deadlock, since_s: 2.0, stuck: vec![2, 1], sentences, ..Hang::default() };
    Hangs { count: 1, newest: vec![hang], ..Hangs::default() }
}

/// All batches on the way to a time: late ones, and the names in them.
fn way(
    position: &mut FindingPosition,
    all: &[Finding],
    asked: &Subscribe,
    (direction, to_ns): (Direction, u64),
) -> Vec<(u32, Vec<String>)> {
    let library = Library::new(Box::new(Nothing));
    let filter = Filter::new(asked, &library, &Moment::default()).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = position.next((all, &filter, &library), direction, to_ns) {
        assert!(batch.rows() <= 1);
        let name = |of: Finding| format!("{}{}", of.finding, if of.is_withdrawn { " gone" } else { "" });
        batches.push((batch.late, batch.findings.unwrap().into_iter().map(name).collect()));
    }
    assert_eq!(position.at_ns(), to_ns);
    batches
}

fn names(of: &[(u32, &str)]) -> Vec<(u32, Vec<String>)> {
    of.iter().map(|(late, name)| (*late, vec![(*name).to_owned()])).collect()
}

const END_NS: u64 = 10_000_000_000;

#[test]
fn findings_come_in_the_order_of_time_both_ways_and_one_by_one() {
    let all =
        findings(Some(&found(&[(0.0, 2.0, "none"), (4.0, 5.0, "cpu"), (1.0, 4.0, "pattern")])), &hang());
    assert!(all.iter().all(|of| !of.text.is_empty()));
    assert_eq!(all[2].ranks, [(1, 2)]);
    assert_eq!(all[2].to_ns, None);
    let asked = Subscribe::new(Topic::Findings, 1);
    let mut position = FindingPosition::new(1, 1, 0, false);
    let order = [
        "cause/pattern/-1/1000000000",
        "disturbance/2000000000",
        "hang/deadlock/2000000000",
        "cause/cpu/-1/4000000000",
    ];
    let forward: Vec<(u32, &str)> = order.iter().map(|name| (0, *name)).collect();
    assert_eq!(way(&mut position, &all, &asked, (Direction::Forward, END_NS)), names(&forward));
    let backward: Vec<(u32, &str)> = order.iter().rev().map(|name| (0, *name)).collect();
    assert_eq!(way(&mut position, &all, &asked, (Direction::Backward, 0)), names(&backward));
    // As after a clock that went back, they come again.
    assert_eq!(way(&mut position, &all, &asked, (Direction::Forward, END_NS)), names(&forward));
    let mut later = FindingPosition::new(1, 1, 2_000_000_001, false);
    assert_eq!(way(&mut later, &all, &asked, (Direction::Forward, END_NS)), names(&[(0, order[3])]));
}

#[test]
fn what_changes_comes_again_and_what_is_not_held_any_more_once() {
    let asked = Subscribe::new(Topic::Findings, 1);
    let before = findings(Some(&found(&[(1.0, 4.0, "pattern"), (4.0, 5.0, "cpu")])), &Hangs::default());
    let mut position = FindingPosition::new(1, 1, 0, false);
    assert_eq!(way(&mut position, &before, &asked, (Direction::Forward, END_NS)).len(), 3);
    assert_eq!(way(&mut position, &before, &asked, (Direction::Forward, END_NS)), names(&[]));
    let after = findings(Some(&found(&[(1.0, 6.0, "pattern")])), &Hangs::default());
    let changed = [(1, "cause/pattern/-1/1000000000"), (1, "cause/cpu/-1/4000000000 gone")];
    assert_eq!(way(&mut position, &after, &asked, (Direction::Forward, END_NS)), names(&changed));
    assert_eq!(way(&mut position, &after, &asked, (Direction::Forward, END_NS)), names(&[]));
    // Who wants what is new does not get what was known.
    let mut newest = FindingPosition::new(1, 1, END_NS, true);
    assert_eq!(way(&mut newest, &before, &asked, (Direction::Forward, END_NS)), names(&[]));
    assert_eq!(way(&mut newest, &after, &asked, (Direction::Forward, END_NS)), names(&changed));
}

#[test]
fn ranks_select_what_is_about_them_and_about_the_whole_job() {
    let all = findings(Some(&found(&[])), &hang());
    let of = |ranks| {
        let asked = Subscribe { ranks, ..Subscribe::new(Topic::Findings, 1) };
        way(&mut FindingPosition::new(1, 1, 0, false), &all, &asked, (Direction::Forward, END_NS)).len()
    };
    assert_eq!((of(vec![(0, 0)]), of(vec![(2, 9)])), (1, 2));
}

#[test]
fn of_too_many_findings_the_last_hang_is_kept() {
    let mut found = found(&[(1.0, 4.0, "pattern")]);
    let quiet = |at| Quiet { from_s: f64::from(at), to_s: 1e6, is_quiet: false, slower: 4.0 };
    found.diagnosis.quiet = (0..2 * MOST as u32).map(quiet).collect();
    let mut hangs = hang();
    hangs.newest[0].since_s = 1e6;
    let all = findings(Some(&found), &hangs);
    assert_eq!(all.len(), MOST);
    assert!(all.is_sorted_by(|one, other| place(one) <= place(other)));
    assert_eq!(all.last().map(|of| of.kind), Some(FindingKind::Hang));
    assert_eq!(all.iter().filter(|of| of.kind == FindingKind::Cause).count(), 1);
}

#[test]
fn a_sentence_begins_with_the_first_of_its_ranks() {
    assert_eq!([subject(&[3]), subject(&[0, 2, 4, 6, 8])], ["Rank 3", "Ranks 0, 2, 4 and 2 more"]);
}
