//! Figures as rows of the feed.

use crate::processors::Processors;
use mpiscope_analysis::Counts;
use mpiscope_feed::{FunctionRow, RankRow};
use mpiscope_model::{InFlight, RankInfo};

/// The functions that were called, and those that were entered and have not returned for the first time.
pub(crate) fn function_rows(counts: &Counts, in_flight: &[InFlight]) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = counts
        .functions()
        .filter_map(|(function, totals)| {
            let entry = mpiscope_wire::by_id(function)?;
            Some(FunctionRow {
                function,
                name: entry.name,
                family: entry.family.word(),
                calls: totals.calls,
                polls: totals.polls,
                bytes: totals.bytes,
                time_ns: totals.time_ns,
                p50_ns: totals.quantile_ns(0.5),
                p99_ns: totals.quantile_ns(0.99),
                max_ns: totals.max_ns(),
            })
        })
        .collect();
    for call in in_flight {
        if !rows.iter().any(|row| row.function == call.function) {
            rows.extend(mpiscope_wire::by_id(call.function).map(|entry| FunctionRow {
                function: call.function,
                name: entry.name,
                family: entry.family.word(),
                ..FunctionRow::default()
            }));
        }
    }
    rows
}

pub(crate) fn rank_rows<'a>(
    counts: &Counts,
    processors: &Processors,
    ranks: impl Iterator<Item = &'a RankInfo>,
) -> Vec<RankRow> {
    ranks
        .map(|info| {
            let totals = counts.rank(info.rank);
            let scheduling = processors.of(info.rank).copied().unwrap_or_default();
            RankRow {
                rank: info.rank,
                node: info.node,
                calls: totals.calls,
                sent: totals.sent,
                received: totals.received,
                bytes_sent: totals.sent_bytes,
                mpi_time_ns: totals.time_ns,
                run_ns: scheduling.run_ns,
                wait_ns: scheduling.wait_ns,
                involuntary: scheduling.involuntary,
                state: info.state,
            }
        })
        .collect()
}
