//! What the page of a comparison draws: both recordings on one axis of time.

use crate::align::{AlignBy, Aligned};
use crate::aligned::{all_alignments, differences};
use crate::digest::Digest;
use anyhow::Result;
use mpiscope_feed::{AlignedCourse, Compared, ComparedCourse, Comparison, F64Column, Parts};
use mpiscope_matching::TimeMap;
use mpiscope_model::{Blame, Function};

/// The most slots that are drawn.
const MOST_SLOTS: u64 = 240;
/// Beginnings of turns or phases that the page has; with more, every second, third and so on.
const MOST_MARKS: usize = 1_000;
/// The parts of the time in MPI that are drawn, in this order.
const PARTS: [fn(&Parts) -> f64; 7] = [
    |parts| parts.waiting_s,
    |parts| parts.base_s,
    |parts| parts.distance_s,
    |parts| parts.excess_s,
    |parts| parts.operation_s,
    |parts| parts.other_s,
    |parts| parts.unknown_s,
];

/// What the page draws, for each way to align the two.
///
/// # Errors
/// In one line where calls cannot be read.
pub fn compared(mut comparison: Comparison, a: &Digest, b: &Digest) -> Result<Compared> {
    let alignments = all_alignments(a, b);
    let width_ns = width_ns(a, b, &alignments);
    let from_start = TimeMap::default();
    let course_of_a = course(a, width_ns, &from_start);
    let aligned = alignments.into_iter().map(|(by, aligned)| {
        let aligned = match aligned {
            Ok(aligned) => aligned,
            Err(reason) => {
                return Ok(AlignedCourse { by: by.word().into(), reason, ..AlignedCourse::default() });
            }
        };
        let of_b = (by != AlignBy::Start).then(|| course(b, width_ns, &aligned.map));
        let slots = of_b.as_ref().map_or(0, |of_b| of_b.slots.max(course_of_a.slots));
        let edges = of_b.iter().flat_map(|_| 0..=slots);
        let step = aligned.sections.len().div_ceil(MOST_MARKS).max(1);
        let marks: Vec<_> = aligned.sections.iter().step_by(step).collect();
        let name =
            |name: &str, number: u32| if name.is_empty() { number.to_string() } else { name.to_owned() };
        Ok(AlignedCourse {
            by: by.word().into(),
            is_possible: true,
            b_own_ns: edges.map(|edge| aligned.map.to_b((u64::from(edge) * width_ns) as f64)).collect(),
            mark_ns: marks.iter().map(|of| of.a_ns.start).collect(),
            mark_name: marks.iter().map(|of| name(&of.name, of.number)).collect(),
            stretches: differences(a, b, &aligned)?,
            reason: aligned.reason,
            b: of_b,
        })
    });
    let aligned = aligned.collect::<Result<Vec<_>>>()?;
    // The page has marks instead.
    comparison.alignment.sections.clear();
    Ok(Compared { comparison, b: course(b, width_ns, &from_start), a: course_of_a, aligned })
}

fn duration_ns(of: &Digest) -> u64 {
    let windows_ns = of.windows.count() as u64 * of.windows.width_ns;
    of.duration_s().map_or(windows_ns, |seconds| (seconds * 1e9).round() as u64)
}

/// How long the slots of both are: whole windows.
fn width_ns(a: &Digest, b: &Digest, alignments: &[(AlignBy, Result<Aligned, String>)]) -> u64 {
    let window_ns = a.windows.width_ns.max(b.windows.width_ns).max(1);
    let maps = alignments.iter().filter_map(|(_, aligned)| aligned.as_ref().ok());
    let ends_ns = maps.map(|aligned| aligned.map.to_a(duration_ns(b) as f64).round() as u64);
    let longest_ns = ends_ns.fold(duration_ns(a).max(duration_ns(b)), u64::max);
    longest_ns.div_ceil(MOST_SLOTS).div_ceil(window_ns).max(1) * window_ns
}

/// A run in slots of the clock that this map leads to.
fn course(of: &Digest, width_ns: u64, map: &TimeMap) -> ComparedCourse {
    let duration_ns = map.to_a(duration_ns(of) as f64).round() as u64;
    let slots = duration_ns.div_ceil(width_ns).max(1) as usize;
    let spread = |from_ns: u64, window_ns: u64, values: &[f64]| {
        spread((from_ns, window_ns), values, (width_ns, slots), map)
    };
    let functions: Vec<Function> = of.windows.functions.keys().copied().collect();
    let calls = functions.iter().flat_map(|function| {
        let calls: Vec<f64> =
            of.windows.functions[function].calls.iter().map(|calls| *calls as f64).collect();
        spread(0, of.windows.width_ns, &calls)
    });
    let course = of.findings.as_ref().map(|findings| &findings.course);
    let parts = course.into_iter().flat_map(|course| {
        PARTS.into_iter().flat_map(|part| {
            let values: Vec<f64> = course.parts.iter().map(part).collect();
            spread(course.from_ns, course.width_ns, &values)
        })
    });
    let avoidable = course.into_iter().flat_map(|course| {
        (0..Blame::ALL.len()).flat_map(|cause| {
            let values: Vec<f64> = course.avoidable.iter().map(|window| window[cause]).collect();
            spread(course.from_ns, course.width_ns, &values)
        })
    });
    ComparedCourse {
        duration_ns,
        width_ns,
        slots: slots as u32,
        calls: calls.collect(),
        parts: parts.collect::<F64Column>(),
        avoidable: avoidable.collect::<F64Column>(),
        function: functions.iter().map(|function| u32::from(*function)).collect(),
    }
}

/// Values of windows over slots: one that lies across two gives each its share. What is beyond the last goes into it.
fn spread(
    (from_ns, window_ns): (u64, u64),
    values: &[f64],
    (width_ns, slots): (u64, usize),
    map: &TimeMap,
) -> Vec<f64> {
    let mut sums = vec![0.0; slots];
    let (window_ns, width_ns) = (window_ns.max(1), width_ns as f64);
    for (at, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        let own_ns = from_ns.saturating_add((at as u64).saturating_mul(window_ns));
        let begin_ns = map.to_a(own_ns as f64);
        let length_ns = map.to_a(own_ns.saturating_add(window_ns) as f64) - begin_ns;
        let end_ns = begin_ns + length_ns;
        let slot = |ns: f64| ((ns / width_ns) as usize).min(slots - 1);
        let (first, last) = (slot(begin_ns), slot(end_ns));
        for (sum, slot) in sums[first..=last].iter_mut().zip(first..) {
            let to_ns = if slot + 1 == slots { f64::INFINITY } else { (slot + 1) as f64 * width_ns };
            let share_ns = end_ns.min(to_ns) - begin_ns.max(slot as f64 * width_ns);
            *sum += value * share_ns.max(0.0) / length_ns;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_matching::Alignment;

    #[test]
    fn windows_are_spread_over_slots_and_nothing_is_lost() {
        let own = TimeMap::default();
        assert_eq!(spread((0, 100), &[1.0, 2.0, 4.0, 8.0], (200, 2), &own), [3.0, 12.0]);
        assert_eq!(spread((50, 100), &[1.0, 2.0], (100, 3), &own), [0.5, 1.5, 1.0]);
        assert_eq!(spread((0, 300), &[3.0, 6.0], (200, 3), &own), [2.0, 1.0 + 2.0, 4.0]);
        let late = spread((0, 100), &[1.0; 9], (200, 3), &own);
        assert_eq!((late[0], late.iter().sum::<f64>()), (2.0, 9.0));
    }

    #[test]
    fn windows_of_a_slower_run_are_spread_over_the_clock_of_the_other() {
        // Its first half took twice as long.
        let map = Alignment::new(&[((), 100)], &[((), 200)]).map;
        assert_eq!(spread((0, 100), &[2.0, 4.0, 8.0], (50, 4), &map), [2.0, 4.0, 4.0, 4.0]);
        assert_eq!(spread((0, 200), &[6.0, 3.0], (100, 2), &map), [6.0, 3.0]);
    }

    #[test]
    fn both_have_slots_of_the_same_length() {
        let of = |seconds: f64, window_ns: u64| {
            let mut digest = Digest { windows: crate::windows::Windows::new(window_ns), ..Digest::default() };
            digest.job.duration_s = Some(seconds);
            digest
        };
        let (short, long) = (of(3.0, 100_000_000), of(100.0, 250_000_000));
        let width_ns = width_ns(&short, &long, &[]);
        assert_eq!(width_ns, 500_000_000);
        let slots = |of| course(of, width_ns, &TimeMap::default()).slots;
        assert_eq!((slots(&short), slots(&long)), (6, 200));
    }
}
