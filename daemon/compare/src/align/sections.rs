//! Which sections of two runs are the same, and why runs are aligned as they are.

use super::anchors::PhaseSpan;
use crate::align::anchors::RunAnchors;
use crate::align::site_name::SiteName;
use mpiscope_matching::{Alignment, Anchor, LEAST_TURNS, TimeMap};
use mpiscope_model::Nanoseconds;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// By what two runs are put on one clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlignBy {
    /// By phase or by turn, whichever cuts the runs finer, else by start.
    #[default]
    Auto,
    /// Both runs count from their start.
    Start,
    /// Phases that the program names with MPI_Pcontrol.
    Phase,
    /// Turns of the main loop.
    Turn,
}

impl AlignBy {
    /// The word of the command line, of JSON and of the protocol.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Start => "start",
            Self::Phase => "phase",
            Self::Turn => "turn",
        }
    }
}

/// A part that both runs have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name of the phase; empty for a turn.
    pub name: String,
    /// Which of that name, from 1 on.
    pub number: u32,
    /// When A was in it.
    pub a_ns: Range<Nanoseconds>,
    /// When B was in it, on its own clock.
    pub b_ns: Range<Nanoseconds>,
}

/// Two runs on the clock of A.
#[derive(Debug, Clone, Default)]
pub struct Aligned {
    /// By what they are aligned.
    pub by: AlignBy,
    /// Why, and what was matched.
    pub reason: String,
    /// From the clock of one to that of the other.
    pub map: TimeMap,
    /// Turns or phases that were matched.
    pub matched: u32,
    /// How many A has.
    pub of_a: u32,
    /// How many B has.
    pub of_b: u32,
    /// Those that are in another order in B.
    pub crossed: u32,
    /// The call that marks a turn, in words.
    pub marker: Option<String>,
    /// Those that were matched, in the order of A.
    pub sections: Vec<Section>,
}

/// Aligned as asked. Where that is not possible, both runs count from their start, and the reason says why.
#[must_use]
pub fn choose(a: &RunAnchors, b: &RunAnchors, asked: AlignBy) -> Aligned {
    let from_start = |reason: String| Aligned { by: AlignBy::Start, reason, ..Aligned::default() };
    match asked {
        AlignBy::Start => from_start("Both runs count from their start.".into()),
        AlignBy::Phase | AlignBy::Turn => align(a, b, asked).unwrap_or_else(|why| {
            from_start(format!("Both runs count from their start, not aligned by {}: {why}", asked.word()))
        }),
        AlignBy::Auto => match (align(a, b, AlignBy::Phase), align(a, b, AlignBy::Turn)) {
            // The finer one says more of where the runs differ.
            (Ok(phases), Ok(turns)) if phases.sections.len() >= turns.sections.len() => phases,
            (_, Ok(turns)) => turns,
            (Ok(phases), Err(_)) => phases,
            (Err(no_phases), Err(no_turns)) => {
                from_start(format!("Both runs count from their start. {no_phases} {no_turns}"))
            }
        },
    }
}

/// Aligned by phase or by turn.
///
/// # Errors
/// Why that is not possible, in a sentence.
pub(crate) fn align(a: &RunAnchors, b: &RunAnchors, by: AlignBy) -> Result<Aligned, String> {
    if by == AlignBy::Phase { by_phase(a, b) } else { by_turn(a, b) }
}

fn by_phase(a: &RunAnchors, b: &RunAnchors) -> Result<Aligned, String> {
    let (in_a, in_b) = (&a.phases, &b.phases);
    match (in_a.is_empty(), in_b.is_empty()) {
        (true, true) => return Err("The program names no phases with MPI_Pcontrol.".into()),
        (true, false) => return Err("A has no phases named with MPI_Pcontrol.".into()),
        (false, true) => return Err("B has no phases named with MPI_Pcontrol.".into()),
        (false, false) => {}
    }
    let (of_a, of_b) = (edges(in_a), edges(in_b));
    let Alignment { pairs, crossed, map } = Alignment::new(&of_a, &of_b);
    let sections = phase_sections(&of_a, &of_b, &pairs);
    if sections.is_empty() {
        return Err("No phase of A is in B.".into());
    }
    let matched = sections.len() as u32;
    let (of_a, of_b) = (in_a.len() as u32, in_b.len() as u32);
    let crossed = crossed.div_ceil(2) as u32;
    let counts = if (matched, matched) == (of_a, of_b) {
        format!("all {matched} matched")
    } else {
        format!("{matched} matched; A has {of_a}, B has {of_b}")
    };
    let order = if crossed > 0 { format!(", {crossed} in another order") } else { String::new() };
    Ok(Aligned {
        by: AlignBy::Phase,
        reason: format!("Aligned by phase, as named with MPI_Pcontrol: {counts}{order}."),
        map,
        matched,
        of_a,
        of_b,
        crossed,
        marker: None,
        sections,
    })
}

/// The phases whose beginnings and ends were both matched.
fn phase_sections(
    of_a: &[Anchor<Edge<'_>>],
    of_b: &[Anchor<Edge<'_>>],
    pairs: &[(usize, usize)],
) -> Vec<Section> {
    let ends: BTreeMap<(&str, u32), (usize, usize)> = pairs
        .iter()
        .filter(|&&(at, _)| of_a[at].0.2)
        .map(|&(at_a, at_b)| ((of_a[at_a].0.0, of_a[at_a].0.1), (at_a, at_b)))
        .collect();
    let begins = pairs.iter().filter(|&&(at, _)| !of_a[at].0.2);
    let sections = begins.filter_map(|&(begin_a, begin_b)| {
        let (name, number, _) = of_a[begin_a].0;
        let &(end_a, end_b) = ends.get(&(name, number))?;
        Some(Section {
            name: name.to_owned(),
            number,
            a_ns: of_a[begin_a].1..of_a[end_a].1,
            b_ns: of_b[begin_b].1..of_b[end_b].1,
        })
    });
    sections.collect()
}

/// A phase, which of its name, and whether it is the end.
type Edge<'a> = (&'a str, u32, bool);

fn edges(phases: &[PhaseSpan]) -> Vec<Anchor<Edge<'_>>> {
    let both = phases.iter().flat_map(|phase| {
        let (name, number, span_ns) = (phase.name.as_str(), phase.number, &phase.span_ns);
        // A phase whose end was not recorded has a beginning.
        let end = (span_ns.end != Nanoseconds::MAX).then_some(((name, number, true), span_ns.end));
        [Some(((name, number, false), span_ns.start)), end].into_iter().flatten()
    });
    both.collect()
}

fn by_turn(a: &RunAnchors, b: &RunAnchors) -> Result<Aligned, String> {
    let (of_a, of_b) = (a.marker(), b.marker());
    // A loop that is irregular in one run is found by the call that marks it in the other.
    let candidates = [
        of_a.filter(|_| of_a == of_b).map(|site| (site.clone(), site.clone())),
        of_a.and_then(|site| Some((site.clone(), b.counterpart(site, a)?))),
        of_b.and_then(|site| Some((a.counterpart(site, b)?, site.clone()))),
    ];
    let turns = candidates.into_iter().flatten().find_map(|(in_a, in_b)| {
        let (starts_a, starts_b) = (a.starts(&in_a), b.starts(&in_b));
        (starts_a.len().min(starts_b.len()) > LEAST_TURNS).then_some((in_b, starts_a, starts_b))
    });
    let Some((marker, starts_a, starts_b)) = turns else {
        return Err(no_common_loop(of_a, of_b));
    };
    let number = |starts: &[Nanoseconds]| starts.iter().copied().enumerate().collect::<Vec<Anchor<usize>>>();
    let Alignment { pairs, crossed, map } = Alignment::new(&number(&starts_a), &number(&starts_b));
    let sections = pairs.windows(2).filter(|pair| pair[0].0 + 1 == pair[1].0).map(|pair| Section {
        name: String::new(),
        number: pair[0].0 as u32 + 1,
        a_ns: starts_a[pair[0].0]..starts_a[pair[1].0],
        b_ns: starts_b[pair[0].1]..starts_b[pair[1].1],
    });
    let (matched, of_a, of_b) = (pairs.len() as u32, starts_a.len() as u32, starts_b.len() as u32);
    let (marker, counts) = (words(&marker), matched_turns(of_a, of_b));
    Ok(Aligned {
        by: AlignBy::Turn,
        reason: format!("Aligned by turn of the main loop, marked by {marker}: {counts}."),
        map,
        matched,
        of_a,
        of_b,
        crossed: crossed as u32,
        marker: Some(marker),
        sections: sections.collect(),
    })
}

/// How many of the turns of A and B match, in words.
fn matched_turns(of_a: u32, of_b: u32) -> String {
    match of_a.cmp(&of_b) {
        Ordering::Equal => format!("turns 1 to {of_a} matched"),
        Ordering::Greater => format!("turns 1 to {of_b} of {of_a} matched, B has no more"),
        Ordering::Less => format!("turns 1 to {of_a} of {of_b} matched, A has no more"),
    }
}

/// Why runs with these calls as their markers cannot be aligned by turn.
fn no_common_loop(of_a: Option<&SiteName>, of_b: Option<&SiteName>) -> String {
    match (of_a, of_b) {
        (None, None) => {
            "No main loop was found: no call comes regularly during at least half of a run.".into()
        }
        (Some(site), _) => {
            format!("The main loop of A is marked by {}, which B does not call.", words(site))
        }
        (None, Some(site)) => {
            format!("The main loop of B is marked by {}, which A does not call.", words(site))
        }
    }
}

/// A call and its call site, for people.
fn words(site: &SiteName) -> String {
    let name = site.calls.and_then(mpiscope_wire::by_id).map_or("?", |entry| entry.name);
    match (site.file.as_str(), site.line) {
        ("", _) => name.to_owned(),
        (file, Some(line)) => format!("{name} at {file}:{line}"),
        (file, None) => format!("{name} at {file}"),
    }
}

impl Section {
    /// "turns 3 to 7", "phase solve, 3 to 7"; one of them where the last is the first.
    pub(crate) fn words(name: &str, first: u32, last: u32, is_only: bool) -> String {
        match (name.is_empty(), first == last) {
            (true, true) => format!("turn {first}"),
            (true, false) => format!("turns {first} to {last}"),
            (false, _) if is_only => format!("phase {name}"),
            (false, true) => format!("phase {name}, number {first}"),
            (false, false) => format!("phase {name}, {first} to {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors::tests::{anchors, call, mark};
    use super::*;
    use mpiscope_model::{Call, Comm, Site};
    use mpiscope_wire::id;

    /// A loop whose turns take 100 ns and what is given more.
    fn turning(turns: u64, line: u32, more_ns: impl Fn(u64) -> u64) -> RunAnchors {
        let starts = (0..turns).scan(1_000, |next, turn| {
            let start = *next;
            *next += 100 + more_ns(turn + 1);
            Some(start)
        });
        let calls: Vec<Call> = starts.map(|start| call(id::BARRIER, Site(0), start)).collect();
        let end_ns = calls[calls.len() - 1].end_ns;
        anchors(&calls, &[line], end_ns)
    }

    #[test]
    fn turns_are_matched_by_number_and_the_longer_ones_are_known() {
        let a = turning(100, 7, |_| 0);
        let b = turning(100, 9, |turn| if (41..=60).contains(&turn) { 900 } else { 0 });
        let aligned = choose(&a, &b, AlignBy::Auto);
        assert_eq!((aligned.by, aligned.matched, aligned.sections.len()), (AlignBy::Turn, 100, 99));
        assert!(aligned.reason.ends_with("at loop.c:9: turns 1 to 100 matched."), "{}", aligned.reason);
        let longer = aligned.sections.iter().filter(|of| of.b_ns.end - of.b_ns.start > 500);
        assert_eq!(longer.map(|of| of.number).collect::<Vec<_>>(), (41..=60).collect::<Vec<u32>>());
        assert_eq!(aligned.map.to_a(1_000.0 + 40.0 * 100.0 + 20.0 * 1_000.0), 1_000.0 + 60.0 * 100.0);
    }

    #[test]
    fn a_loop_that_is_irregular_in_one_run_is_found_by_the_other() {
        let a = turning(50, 7, |_| 0);
        // Four turns take nearly all of the time.
        let b = turning(50, 7, |turn| if turn % 12 == 0 { 90_000 } else { 0 });
        assert!(b.marker().is_none());
        assert_eq!(align(&a, &b, AlignBy::Turn).unwrap().matched, 50);
        assert_eq!(align(&b, &a, AlignBy::Turn).unwrap().matched, 50);
    }

    #[test]
    fn turns_beyond_the_shorter_run_are_counted() {
        let (a, b) = (turning(500, 7, |_| 0), turning(480, 7, |_| 0));
        let reason = choose(&a, &b, AlignBy::Turn).reason;
        assert!(reason.ends_with(": turns 1 to 480 of 500 matched, B has no more."), "{reason}");
        let reason = choose(&b, &a, AlignBy::Turn).reason;
        assert!(reason.ends_with(": turns 1 to 480 of 500 matched, A has no more."), "{reason}");
    }

    #[test]
    fn phases_are_matched_by_name_and_number() {
        let a = [
            mark(Comm(4), 3, 100),
            mark(Comm(4), -3, 200),
            mark(Comm(5), 3, 300),
            mark(Comm(5), -3, 400),
            mark(Comm(4), 3, 500),
        ];
        let b = [
            mark(Comm(4), 3, 150),
            mark(Comm(4), -3, 400),
            mark(Comm(4), 3, 500),
            mark(Comm(4), -3, 600),
            mark(Comm(5), 3, 700),
        ];
        let (a, b) = (anchors(&a, &[], 1_000), anchors(&b, &[], 1_000));
        let aligned = align(&a, &b, AlignBy::Phase).unwrap();
        let solve = Section { name: "solve".into(), number: 1, a_ns: 110..200, b_ns: 160..400 };
        assert_eq!((aligned.sections, aligned.of_a, aligned.of_b), (vec![solve], 3, 3));
        assert!(
            aligned.reason.ends_with(": 1 matched; A has 3, B has 3, 1 in another order."),
            "{}",
            aligned.reason
        );
    }

    #[test]
    fn what_cannot_be_aligned_counts_from_the_start_and_says_why() {
        let (a, none) = (turning(50, 7, |_| 0), anchors(&[], &[], 1_000));
        let aligned = choose(&a, &none, AlignBy::Turn);
        assert_eq!((aligned.by, aligned.map.to_a(500.0)), (AlignBy::Start, 500.0));
        assert!(aligned.reason.contains("marked by") && aligned.reason.ends_with("which B does not call."));
        let reason = choose(&a, &none, AlignBy::Phase).reason;
        assert!(reason.contains("not aligned by phase: The program names no phases"), "{reason}");
        let reason = choose(&none, &none, AlignBy::Auto).reason;
        assert!(reason.contains("names no phases") && reason.contains("No main loop was found"), "{reason}");
    }
}
