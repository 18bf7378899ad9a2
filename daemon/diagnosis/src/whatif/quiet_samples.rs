//! The quietest stretches of the run.

use crate::whatif::median::median;
use std::ops::Range;

/// The run is looked at in this many stretches; the quietest quarter of them says what flights take.
pub(crate) const STRETCHES: usize = 12;
const QUIET_SHARE: usize = 4;

/// The samples of the quietest stretches, from all in the order of time.
pub(crate) fn quiet_samples<S: Copy>(samples: &[S], value: impl Fn(&S) -> u64) -> Vec<S> {
    quiet_stretches(samples, value).into_iter().flat_map(|stretch| &samples[stretch]).copied().collect()
}

/// The quietest stretches, from all samples in the order of time.
pub(crate) fn quiet_stretches<S>(samples: &[S], value: impl Fn(&S) -> u64) -> Vec<Range<usize>> {
    let length = (samples.len() / STRETCHES).max(1);
    let starts = (0..samples.len()).step_by(length);
    let stretches: Vec<Range<usize>> =
        starts.map(|start| start..(start + length).min(samples.len())).collect();
    let median = |stretch: &Range<usize>| median(samples[stretch.clone()].iter().map(&value)) as f64;
    let medians: Vec<f64> = stretches.iter().map(median).collect();
    quietest(&medians).into_iter().map(|at| stretches[at].clone()).collect()
}

/// Of stretches with these medians, the quietest.
pub(crate) fn quietest(medians: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..medians.len()).collect();
    order.sort_by(|one, other| medians[*one].total_cmp(&medians[*other]));
    order.truncate((medians.len() / QUIET_SHARE).max(1));
    order
}

/// The times of a stretch of samples in the order of time: up to the first sample of the next. Stretches divide all time.
pub(crate) fn times_of<S>(samples: &[S], stretch: &Range<usize>, at_ns: impl Fn(&S) -> u64) -> Range<u64> {
    let from_ns = if stretch.start == 0 { 0 } else { at_ns(&samples[stretch.start]) };
    from_ns..samples.get(stretch.end).map_or(u64::MAX, at_ns)
}

/// Whether a time is in one of several.
pub(crate) fn is_within(times: &[Range<u64>], at_ns: u64) -> bool {
    times.iter().any(|times| times.contains(&at_ns))
}
