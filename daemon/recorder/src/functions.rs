//! The functions of a run, as its summary lists them.

use mpiscope_matching::FunctionTotals;
use mpiscope_model::Function;
use std::cmp::Reverse;

/// Each function with its calls and its time, the longest time first.
pub(crate) fn functions_by_time<'a>(
    functions: impl Iterator<Item = (Function, &'a FunctionTotals)>,
) -> Vec<(String, u64, u64)> {
    let row = |(function, totals): (Function, &FunctionTotals)| {
        let name = mpiscope_wire::by_id(function)?.name.to_owned();
        Some((name, totals.calls + totals.polls, totals.time_ns))
    };
    let mut functions: Vec<(String, u64, u64)> = functions.filter_map(row).collect();
    functions.sort_by_key(|(_, _, time_ns)| Reverse(*time_ns));
    functions
}
