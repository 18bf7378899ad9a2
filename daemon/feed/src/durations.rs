//! How long the calls of a function took: those of a selection beside all of the run, and which of them took how long.

use crate::call_source::CallSource;
use crate::calls::Calls;
use crate::column::{F64Column, U32Column};
use crate::question::DurationsQuestion;
use crate::question::wanted;
use crate::selected::slices;
use mpiscope_matching::{Density, duration_bin};
use mpiscope_model::{Call, Function, Nanoseconds};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bins in which a duration doubles: four bars are enough to tell two humps apart.
const BINS_PER_OCTAVE: u32 = 4;

/// How often calls of a function took how long. A row of polls counts once, with the mean of its polls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallDurations {
    /// The range, as far as the run goes.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// A duration is in bin `floor(bins_per_octave * log2(1 + ns))`.
    pub bins_per_octave: u32,
    /// Bins with calls, in order.
    pub bin: U32Column,
    /// Calls of the selected ranks that begin in the range.
    pub selected: F64Column,
    /// Calls of all ranks in the whole run.
    pub run: F64Column,
    /// The longest of the selected calls that took as long as was asked for, longest first, and how many there are.
    pub longest: Calls,
}

/// The bin of this histogram that a bin of the density is in.
fn coarse(bin: u16) -> u32 {
    u32::from(bin) * BINS_PER_OCTAVE / mpiscope_matching::BINS_PER_OCTAVE
}

/// The longest of many calls.
struct Longest {
    most: usize,
    calls: Vec<Call>,
    /// How many were added.
    total: u64,
}

impl Longest {
    fn add(&mut self, call: &Call) {
        self.total += 1;
        self.calls.push(*call);
        if self.calls.len() >= 2 * self.most.max(1) {
            self.cut();
        }
    }

    /// Longest first, and no more than are wanted.
    fn cut(&mut self) {
        self.calls.sort_unstable_by_key(|call| {
            (Reverse(call.each_ns()), call.start_ns, call.rank, call.thread, call.function)
        });
        self.calls.truncate(self.most);
    }

    /// Those of a range, and how many there are.
    fn columns(mut self, range_ns: &Range<Nanoseconds>) -> Calls {
        self.cut();
        let is_all = self.calls.len() as u64 == self.total;
        let mut columns = Calls {
            from_ns: range_ns.start,
            to_ns: range_ns.end,
            total: self.total,
            share: f64::from(is_all),
            all_from_ns: self.calls.last().filter(|_| !is_all).map_or(0, Call::each_ns),
            ..Calls::default()
        };
        self.calls.iter().for_each(|call| columns.push(call));
        columns
    }
}

/// By bin, how many calls are selected, and how many there are; none is selected yet.
fn run_counts(run: &Density, function: Option<Function>) -> BTreeMap<u32, (u64, u64)> {
    let is_asked = |id: Function| function.is_none_or(|function| function == id);
    let mut counts: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (key, count) in run.cells().into_iter().filter(|(key, _)| is_asked(key.function)) {
        counts.entry(coarse(key.bin)).or_default().1 += count;
    }
    counts
}

/// Shows the calls of the selection that begin in its range; see [`durations`].
fn visit_asked(
    question: &DurationsQuestion,
    (until_ns, call_count): (Nanoseconds, u64),
    calls: &dyn CallSource,
    is_wanted: &dyn Fn() -> bool,
    take: &mut dyn FnMut(&Call),
) -> Result<(), String> {
    let DurationsQuestion { range_ns, ranks, function, .. } = question;
    let is_asked = |id: Function| function.is_none_or(|function| function == id);
    for slice_ns in slices(range_ns, call_count, until_ns) {
        wanted(is_wanted)?;
        calls.visit_of(&slice_ns, ranks, &mut |call| {
            if slice_ns.contains(&call.start_ns) && is_asked(call.function) {
                take(call);
            }
        })?;
    }
    Ok(())
}

/// What is asked for of calls; how far the run is known, and how many calls it has. `run` counts all of them.
pub(crate) fn durations(
    question: &DurationsQuestion,
    (until_ns, call_count): (Nanoseconds, u64),
    calls: &dyn CallSource,
    run: &Density,
    is_wanted: &dyn Fn() -> bool,
) -> Result<CallDurations, String> {
    let DurationsQuestion { range_ns, ranks, function, listed_ns, most } = question;
    let mut counts = run_counts(run, *function);
    let mut longest = Longest { most: *most as usize, calls: Vec::new(), total: 0 };
    let is_run = ranks.is_none() && range_ns.start == 0 && range_ns.end >= until_ns;
    if is_run && listed_ns.is_empty() {
        counts.values_mut().for_each(|(selected, run)| *selected = *run);
    } else {
        let mut add = |call: &Call| {
            let each_ns = call.each_ns();
            counts.entry(coarse(duration_bin(each_ns))).or_default().0 += 1;
            if listed_ns.contains(&each_ns) {
                longest.add(call);
            }
        };
        visit_asked(question, (until_ns, call_count), calls, is_wanted, &mut add)?;
    }
    Ok(CallDurations {
        from_ns: range_ns.start.min(until_ns),
        to_ns: range_ns.end.min(until_ns),
        bins_per_octave: BINS_PER_OCTAVE,
        bin: counts.keys().copied().collect(),
        selected: counts.values().map(|(selected, _)| *selected).collect(),
        run: counts.values().map(|(_, run)| *run).collect(),
        longest: longest.columns(range_ns),
    })
}
