//! Whether the totals of a recording are those of its rows.

use super::report::{CheckReport, Fault, Kind, RecordingCondition};
use super::rows::AllSums;
use mpiscope_model::words::{count, plural};
use mpiscope_recording::Manifest;

pub(super) fn check(manifest: &Manifest, sums: &AllSums, found: &mut CheckReport) {
    if !matches!(found.condition, RecordingCondition::Complete | RecordingCondition::Incomplete) {
        // While rows wait to be sealed there are fewer in segments than there were.
        return;
    }
    let totals = &manifest.totals;
    let AllSums { calls, messages, windows } = sums;
    let mut compared = vec![
        ("calls", totals.calls, calls.listed),
        ("messages", totals.messages, messages.listed),
        (
            "messages within and between nodes",
            totals.messages,
            totals.intra_messages.saturating_add(totals.inter_messages),
        ),
    ];
    // What rows that are lost add up to nobody knows. Where the beginning was dropped, windows reach over the edge.
    if calls.rows == calls.listed {
        compared.push(("polls", totals.polls, calls.polls));
    }
    if messages.rows == messages.listed {
        compared.push(("bytes", totals.bytes, messages.bytes));
        compared.push(("messages between nodes", totals.inter_messages, messages.inter));
    }
    if windows.rows == windows.listed && manifest.cut.is_none() {
        compared.push(("calls in windows", totals.calls, windows.calls));
        compared.push(("polls in windows", totals.polls, windows.polls));
    }
    let faults =
        compared.iter().filter(|(_, stated, counted)| stated != counted).map(|(what, stated, counted)| {
            Fault::new(
                "manifest.json",
                format!("says {} {what}, and there are {}", count(*stated), count(*counted)),
            )
        });
    let faults = faults.collect();
    let words =
        format!("{} and {}, as their rows", plural(totals.calls, "call"), plural(totals.messages, "message"));
    found.kinds.push(Kind { name: "totals", files: 0, rows: 0, words, faults });
}
