//! The functions of a run, as its summary lists them.

use mpiscope_matching::Counts;

/// Each function with its calls and its time, the longest time first.
pub(crate) fn functions_by_time(counts: &Counts) -> Vec<(String, u64, u64)> {
    let named = |function| mpiscope_wire::by_id(function).map(|entry| entry.name.to_owned());
    let functions = counts.functions_by_time().into_iter();
    functions
        .filter_map(|(function, totals)| {
            Some((named(function)?, totals.calls + totals.polls, totals.time_ns))
        })
        .collect()
}
