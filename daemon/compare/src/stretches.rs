//! Where B loses time against A, or gains it: turns or phases in a row that took another time, and in what.

use crate::align::{Aligned, Section};
use crate::functions::stand_out;
use crate::noise::{LEAST_S, LEAST_SHARE, RATIO, SPREADS};
use crate::wording::{on, time};
use mpiscope_feed::{CallSource, Stretch, StretchPart};
use mpiscope_model::{Call, Function, Nanoseconds};
use std::collections::BTreeMap;
use std::ops::Range;

/// What has less than this part of the difference is not the reason for it.
const LEAST_PART: f64 = 0.25;
const MOST_PARTS: usize = 3;
const MOST_STRETCHES: usize = 12;

/// The calls of both runs, and how many ranks each has.
pub(crate) struct BothCalls<'a> {
    pub(crate) a: &'a dyn CallSource,
    pub(crate) b: &'a dyn CallSource,
    pub(crate) ranks: (u32, u32),
}

/// The stretches of an alignment, the largest loss first, then the largest gain.
///
/// # Errors
/// One sentence when calls cannot be read.
pub(crate) fn stretches(
    aligned: &Aligned,
    calls: &BothCalls<'_>,
    shorter_s: f64,
) -> Result<Vec<Stretch>, String> {
    let mut rows: BTreeMap<&str, Vec<&Section>> = BTreeMap::new();
    aligned.sections.iter().for_each(|section| rows.entry(&section.name).or_default().push(section));
    let least_s = LEAST_S.max(LEAST_SHARE * shorter_s);
    let of_row = |sections: &Vec<&Section>| {
        let different = different(sections, least_s);
        let stretch = |range: Range<usize>| Stretch::across(&sections[range], sections.len() == 1);
        different.into_iter().map(stretch).collect::<Vec<_>>()
    };
    let mut found: Vec<Stretch> = rows.values().flat_map(of_row).collect();
    found.sort_by(|one, other| other.difference_s.abs().total_cmp(&one.difference_s.abs()));
    found.truncate(MOST_STRETCHES);
    found.sort_by(|one, other| {
        let is_gain = |of: &Stretch| of.difference_s < 0.0;
        let size = |of: &Stretch| of.difference_s.abs();
        is_gain(one).cmp(&is_gain(other)).then(size(other).total_cmp(&size(one)))
    });
    explain(&mut found, calls)?;
    Ok(found)
}

fn length_s(range_ns: &Range<Nanoseconds>) -> f64 {
    range_ns.end.saturating_sub(range_ns.start) as f64 / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Sections in a row that took another time, where that is more than noise.
fn different(sections: &[&Section], least_s: f64) -> Vec<Range<usize>> {
    let differences: Vec<f64> = sections.iter().map(|of| length_s(&of.b_ns) - length_s(&of.a_ns)).collect();
    let usual_s = median(sections.iter().map(|of| length_s(&of.a_ns)).collect());
    let apart = differences.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    // A median of distances as the standard deviation of what is as far from each other.
    let spread_s = 1.4826 / std::f64::consts::SQRT_2 * median(apart.collect());
    let counts = |range: &Range<usize>| {
        let difference = differences[range.clone()].iter().sum::<f64>().abs();
        let a_s: f64 = sections[range.clone()].iter().map(|of| length_s(&of.a_ns)).sum();
        let chance = SPREADS * spread_s * (range.len() as f64).sqrt();
        difference >= least_s.max((RATIO - 1.0) * a_s).max(chance)
    };
    let threshold = (SPREADS * spread_s).max((RATIO - 1.0) * usual_s).max(1e-9);
    let mut found: Vec<Range<usize>> = Vec::new();
    for direction in [1.0, -1.0] {
        // Bounded: most of a stretch took another time, and one turn that took far longer does not reach to the next one.
        let score = |of: &f64| ((of * direction - threshold) / threshold).clamp(-1.0, 1.0);
        let scores: Vec<f64> = differences.iter().map(score).collect();
        found.extend(maximal_sums(&scores).into_iter().filter(counts));
    }
    // Each may take a little longer, and none of them enough to differ from chance alone.
    if found.is_empty() && counts(&(0..sections.len())) && !sections.is_empty() {
        found.push(0..sections.len());
    }
    found
}

/// All maximal ranges with a positive sum, in order: none can be made larger by more or fewer values (Ruzzo and Tompa).
fn maximal_sums(values: &[f64]) -> Vec<Range<usize>> {
    /// A range, and the sums of all values before its beginning and up to its end.
    struct Candidate {
        range: Range<usize>,
        before: f64,
        until: f64,
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut sum = 0.0;
    for (at, value) in values.iter().enumerate() {
        let before = sum;
        sum += value;
        if *value <= 0.0 {
            continue;
        }
        let mut last = Candidate { range: at..at + 1, before, until: sum };
        while let Some(lower) = candidates.iter().rposition(|other| other.before < last.before) {
            if candidates[lower].until >= last.until {
                break;
            }
            last = Candidate {
                range: candidates[lower].range.start..last.range.end,
                before: candidates[lower].before,
                until: last.until,
            };
            candidates.truncate(lower);
        }
        candidates.push(last);
    }
    candidates.into_iter().map(|of| of.range).collect()
}

trait Across {
    fn across(sections: &[&Section], is_only: bool) -> Self;
}

impl Across for Stretch {
    fn across(sections: &[&Section], is_only: bool) -> Self {
        let (first, last) = (sections[0], sections[sections.len() - 1]);
        let sum = |range: fn(&Section) -> &Range<Nanoseconds>| {
            sections.iter().map(|section| length_s(range(section))).sum::<f64>()
        };
        let (a_s, b_s) = (sum(|of| &of.a_ns), sum(|of| &of.b_ns));
        Self {
            name: first.name.clone(),
            first: first.number,
            last: last.number,
            a_from_ns: first.a_ns.start,
            a_to_ns: last.a_ns.end,
            b_from_ns: first.b_ns.start,
            b_to_ns: last.b_ns.end,
            a_s,
            b_s,
            difference_s: b_s - a_s,
            parts: Vec::new(),
            sentence: Section::words(&first.name, first.number, last.number, is_only),
        }
    }
}

/// What each rank did in a stretch, in seconds.
#[derive(Debug, Clone, Default)]
struct Activity(BTreeMap<Function, Vec<f64>>);

impl Activity {
    fn add(&mut self, call: &Call, range_ns: &Range<Nanoseconds>, ranks: u32) {
        let inside_ns = call.end_ns.min(range_ns.end).saturating_sub(call.start_ns.max(range_ns.start));
        if inside_ns == 0 || call.rank.0 >= ranks {
            return;
        }
        let of = self.0.entry(call.function).or_insert_with(|| vec![0.0; ranks as usize]);
        of[call.rank.index()] += inside_ns as f64 / 1e9;
    }

    /// Of a function on a rank; of all without one.
    fn seconds(&self, function: Option<Function>, rank: usize) -> f64 {
        let on_rank = |times: &Vec<f64>| times.get(rank).copied().unwrap_or_default();
        match function {
            Some(function) => self.0.get(&function).map_or(0.0, on_rank),
            None => self.0.values().map(on_rank).sum(),
        }
    }
}

/// Completes each stretch with what the difference was spent in, and its sentence.
fn explain(stretches: &mut [Stretch], calls: &BothCalls<'_>) -> Result<(), String> {
    let of_a: Vec<_> = stretches.iter().map(|of| of.a_from_ns..of.a_to_ns).collect();
    let of_b: Vec<_> = stretches.iter().map(|of| of.b_from_ns..of.b_to_ns).collect();
    let in_a = activities(calls.a, &of_a, calls.ranks.0)?;
    let in_b = activities(calls.b, &of_b, calls.ranks.1)?;
    for ((stretch, a), b) in stretches.iter_mut().zip(&in_a).zip(&in_b) {
        stretch.parts = parts(stretch, (a, b), calls.ranks);
        stretch.sentence = sentence(stretch);
    }
    Ok(())
}

fn activities(
    calls: &dyn CallSource,
    ranges_ns: &[Range<Nanoseconds>],
    ranks: u32,
) -> Result<Vec<Activity>, String> {
    let mut activities = vec![Activity::default(); ranges_ns.len()];
    let from_ns = ranges_ns.iter().map(|range| range.start).min().unwrap_or_default();
    let to_ns = ranges_ns.iter().map(|range| range.end).max().unwrap_or_default();
    if to_ns > from_ns {
        calls.visit(&(from_ns..to_ns), &mut |call| {
            for (activity, range_ns) in activities.iter_mut().zip(ranges_ns) {
                activity.add(call, range_ns, ranks);
            }
        })?;
    }
    Ok(activities)
}

fn parts(stretch: &Stretch, (a, b): (&Activity, &Activity), ranks: (u32, u32)) -> Vec<StretchPart> {
    let functions = a.0.keys().chain(b.0.keys()).copied();
    let mut functions: Vec<Option<Function>> = functions.map(Some).collect();
    functions.sort_unstable();
    functions.dedup();
    // What is in no function is outside of MPI.
    functions.push(None);
    let part = |function| part(stretch, function, (a, b), ranks);
    let mut parts: Vec<StretchPart> = functions.into_iter().map(part).collect();
    let direction = stretch.difference_s.signum();
    parts.retain(|part| part.difference_s * direction >= LEAST_PART * stretch.difference_s.abs());
    let ranks_of = |part: &StretchPart| {
        let named: u32 = part.ranks.iter().map(|(first, last)| last - first + 1).sum();
        if named == 0 { ranks.0.max(ranks.1) } else { named }
    };
    // By all that ranks spent in it.
    let size = |part: &StretchPart| part.difference_s * direction * f64::from(ranks_of(part));
    parts.sort_by(|one, other| size(other).total_cmp(&size(one)));
    parts.truncate(MOST_PARTS);
    parts
}

/// How much longer a stretch took in a function, or outside of MPI, and on which ranks.
fn part(
    stretch: &Stretch,
    function: Option<Function>,
    (a, b): (&Activity, &Activity),
    ranks: (u32, u32),
) -> StretchPart {
    let seconds = |of: &Activity, length_s: f64, rank: usize| match function {
        Some(_) => of.seconds(function, rank),
        None => length_s - of.seconds(None, rank),
    };
    let side = |of: &Activity, length_s: f64, ranks: u32| {
        (0..ranks as usize).map(|rank| seconds(of, length_s, rank)).collect::<Vec<f64>>()
    };
    let (times_a, times_b) = (side(a, stretch.a_s, ranks.0), side(b, stretch.b_s, ranks.1));
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    let name = function.map(|id| mpiscope_wire::by_id(id).map_or("?", |entry| entry.name).to_owned());
    let mut difference_s = mean(&times_b) - mean(&times_a);
    let mut on_ranks = Vec::new();
    if ranks.0 == ranks.1 {
        let changes: Vec<f64> = times_b.iter().zip(&times_a).map(|(b, a)| b - a).collect();
        on_ranks = stand_out(&changes);
        let each = on_ranks.iter().flat_map(|&(first, last)| first..=last);
        let each: Vec<f64> = each.map(|rank| changes[rank as usize]).collect();
        if !each.is_empty() {
            difference_s = mean(&each);
        }
    }
    StretchPart { function: name, difference_s, ranks: on_ranks }
}

/// "turns 210 to 300 took 3.10 s more (+34 %), in MPI_Allreduce on ranks 0-7".
fn sentence(stretch: &Stretch) -> String {
    let Stretch { sentence: sections, difference_s, a_s, .. } = stretch;
    let than = if *difference_s > 0.0 { "more" } else { "less" };
    let share = if *a_s > 0.0 { format!(" ({:+.0} %)", 100.0 * difference_s / a_s) } else { String::new() };
    let part = |part: &StretchPart| {
        let place = part.function.as_ref().map_or("outside of MPI".into(), |name| format!("in {name}"));
        format!("{place}{}", on(&part.ranks))
    };
    let parts: Vec<String> = stretch.parts.iter().map(part).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(", {}", parts.join("; ")) };
    format!("{sections} took {} {than}{share}{parts}", time(difference_s.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::AlignBy;
    use mpiscope_model::Rank;
    use proptest::prelude::*;

    /// Calls in memory.
    #[derive(Debug)]
    struct Stored(Vec<Call>);

    impl CallSource for Stored {
        fn visit(&self, _: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
            self.0.iter().for_each(visitor);
            Ok(())
        }
    }

    const MS: u64 = 1_000_000;

    /// Turns of 10 ms and what is given more; ranks other than 1 wait for rank 1 at their end.
    fn run(more_ms: impl Fn(u32) -> u64) -> (Vec<Range<u64>>, Stored) {
        let (mut turns, mut calls, mut now) = (Vec::new(), Vec::new(), 5 * MS);
        for turn in 1..=100 {
            let end = now + (10 + more_ms(turn)) * MS;
            for rank in 0..4 {
                let start_ns = if rank == 1 { end - MS } else { now + 9 * MS };
                calls.push(Call { rank: Rank(rank), function: 40, start_ns, end_ns: end, ..Call::default() });
            }
            turns.push(now..end);
            now = end;
        }
        (turns, Stored(calls))
    }

    fn compared(a: impl Fn(u32) -> u64, b: impl Fn(u32) -> u64) -> Vec<Stretch> {
        let ((turns_a, calls_a), (turns_b, calls_b)) = (run(a), run(b));
        let sections = turns_a.into_iter().zip(turns_b).zip(1..).map(|((a_ns, b_ns), number)| Section {
            name: String::new(),
            number,
            a_ns,
            b_ns,
        });
        let aligned = Aligned { by: AlignBy::Turn, sections: sections.collect(), ..Aligned::default() };
        stretches(&aligned, &BothCalls { a: &calls_a, b: &calls_b, ranks: (4, 4) }, 1.0).unwrap()
    }

    #[test]
    fn turns_that_took_longer_are_named_with_the_function_and_the_ranks() {
        let found = compared(|_| 0, |turn| if (21..=30).contains(&turn) { 5 } else { 0 });
        let name = mpiscope_wire::by_id(40).unwrap().name;
        let sentence = format!("turns 21 to 30 took 50.0 ms more (+50 %), in {name} on ranks 0, 2\u{2013}3");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].sentence.replace('-', "\u{2013}"),
            format!("{sentence}; outside of MPI on rank 1")
        );
        assert!((found[0].difference_s - 0.05).abs() < 1e-9);
        assert_eq!(found[0].b_to_ns - found[0].b_from_ns, 150 * MS);
    }

    #[test]
    fn losses_come_before_gains_and_the_largest_first() {
        let a = |turn| if turn <= 10 { 20 } else { 0 };
        let b = |turn| if turn == 50 { 30 } else { u64::from(turn > 90) * 8 };
        let found: Vec<_> = compared(a, b).into_iter().map(|of| (of.first, of.last)).collect();
        assert_eq!(found, [(91, 100), (50, 50), (1, 10)]);
    }

    #[test]
    fn equal_runs_have_no_stretches_and_a_slower_program_has_one() {
        assert_eq!(compared(|turn| u64::from(turn % 3), |turn| u64::from(turn % 3)), []);
        let found = compared(|_| 0, |turn| 2 + u64::from(turn % 2));
        assert_eq!(found.iter().map(|of| (of.first, of.last)).collect::<Vec<_>>(), [(1, 100)]);
    }

    proptest! {
        #[test]
        fn maximal_sums_are_apart_and_each_is_positive_at_both_ends(values in prop::collection::vec(-9..9_i32, 0..60)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = maximal_sums(&values);
            let sum = |range: Range<usize>| values[range].iter().sum::<f64>();
            for range in &found {
                for cut in range.start + 1..range.end {
                    prop_assert!(sum(range.start..cut) > 0.0 && sum(cut..range.end) > 0.0);
                }
            }
            prop_assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let positive = values.iter().enumerate().filter(|(_, value)| **value > 0.0);
            prop_assert!(positive.into_iter().all(|(at, _)| found.iter().any(|range| range.contains(&at))));
            // The best of all is one of them.
            let all = (0..values.len()).flat_map(|from| (from + 1..=values.len()).map(move |to| from..to));
            let best = all.map(sum).fold(0.0, f64::max);
            prop_assert_eq!(found.into_iter().map(sum).fold(0.0, f64::max), best);
        }
    }
}
