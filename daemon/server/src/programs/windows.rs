//! Windows of regions as rows of a subscription.
//!
//! A window's place in the order of time is its last nanosecond. When a call or a message of a window becomes known late,
//! all rows of that window come again and replace those of before.

use super::filter::Filter;
use super::rows::{Key, LateRows, Marks, Row, or};
use mpiscope_feed::exchange::Ranks;
use mpiscope_feed::{Library, RegionWindow, Scope, Timed};
use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{Batch, NONE, WindowColumns};
use std::collections::BTreeSet;
use std::ops::Range;

/// Windows that are summed up at once.
const AT_ONCE: u64 = 64;
/// Late calls and messages whose windows are summed up at once.
const LATE_AT_ONCE: usize = 256;

/// A window of a region or of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowRow(RegionWindow);

impl Timed for WindowRow {
    fn at_ns(&self) -> Nanoseconds {
        self.0.to_ns - 1
    }
}

/// The range of all windows that a range touches.
fn whole(range_ns: &Range<Nanoseconds>, width_ns: u64) -> Range<Nanoseconds> {
    let from_ns = range_ns.start / width_ns * width_ns;
    from_ns..range_ns.end.div_ceil(width_ns).saturating_mul(width_ns)
}

impl Row for WindowRow {
    fn key(&self) -> Key {
        let (one, other) = match self.0.scope {
            Scope::Within(region) => (or(region), 0),
            Scope::Between(one, other) => (or(one), 1 + or(other)),
        };
        [self.at_ns(), u64::from(other > 0), one, other, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    fn keeps(&self, _: &Filter, _: &Ranks) -> bool {
        true
    }

    fn late(
        library: &Library,
        after: Marks,
        most: usize,
        (filter, ranks): (&Filter, &Ranks),
    ) -> Result<LateRows<Self>, String> {
        let mut calls = library.late_calls(after.calls, LATE_AT_ONCE);
        let mut messages = library.late_messages(after.messages, LATE_AT_ONCE - calls.rows.len());
        let times: Vec<Nanoseconds> =
            calls.rows.iter().map(Timed::at_ns).chain(messages.rows.iter().map(Timed::at_ns)).collect();
        let width_ns = filter.window_ns();
        let (mut windows, mut rows, mut taken) = (BTreeSet::new(), Vec::new(), 0);
        for at_ns in &times {
            let window = at_ns / width_ns;
            if !windows.contains(&window) {
                let range_ns = window * width_ns..(window + 1).saturating_mul(width_ns);
                let before = rows.len();
                Self::visit(library, &range_ns, (filter, ranks), &mut |row| rows.push(*row))?;
                // What does not fit comes the next time.
                if before > 0 && rows.len() > most {
                    rows.truncate(before);
                    break;
                }
                windows.insert(window);
            }
            taken += 1;
        }
        let calls_left = calls.rows.len().saturating_sub(taken);
        let messages_left = times.len() - taken - calls_left;
        calls.next -= calls_left as u64;
        messages.next -= messages_left as u64;
        Ok(LateRows {
            rows,
            missed: calls.missed + messages.missed,
            next: Marks { calls: calls.next, messages: messages.next },
            has_more: calls.has_more() || messages.has_more(),
        })
    }

    fn came_into(library: &Library, after: Marks, range_ns: &Range<Nanoseconds>, filter: &Filter) -> bool {
        let range_ns = whole(range_ns, filter.window_ns());
        library.any_late_call(after.calls, &range_ns) || library.any_late_message(after.messages, &range_ns)
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        (filter, ranks): (&Filter, &Ranks),
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        library.visit_region_windows(range_ns, filter.window_ns(), ranks, &mut |row| {
            visitor(&WindowRow(*row));
        })
    }

    fn longest_ns(filter: &Filter) -> u64 {
        filter.window_ns().saturating_mul(AT_ONCE)
    }

    fn fill(batch: &mut Batch, rows: &[Self], _: &Library) {
        let mut columns = WindowColumns::default();
        rows.iter().for_each(|row| push(&mut columns, &row.0));
        batch.windows = Some(Box::new(columns));
    }
}

fn push(columns: &mut WindowColumns, row: &RegionWindow) {
    let (region, other, is_between) = match row.scope {
        Scope::Within(region) => (region, None, false),
        Scope::Between(one, other) => (one, other, true),
    };
    columns.from_ns.push(row.from_ns as f64);
    columns.to_ns.push(row.to_ns as f64);
    columns.region.push(region.unwrap_or(NONE));
    columns.other.push(other.unwrap_or(NONE));
    columns.between.push(is_between.into());
    let counted = &row.counted;
    columns.calls.push(counted.calls as f64);
    columns.polls.push(counted.polls as f64);
    columns.bytes.push(counted.bytes as f64);
    columns.mpi_ns.push(counted.mpi_ns as f64);
    columns.messages.push(counted.messages as f64);
    columns.message_bytes.push(counted.message_bytes as f64);
    columns.exact.push(counted.exact as f64);
    columns.delayed.push(counted.delayed as f64);
    columns.latency.push(counted.latency());
    let (parts, avoidable) = row.diagnosed.unwrap_or(([f64::NAN; 9], [f64::NAN; 4]));
    let [total, waiting, compute, base, distance, excess, operation, other, unknown] = parts;
    columns.total_s.push(total);
    columns.waiting_s.push(waiting);
    columns.waiting_compute_s.push(compute);
    columns.waiting_base_s.push(base);
    columns.waiting_distance_s.push(distance);
    columns.waiting_excess_s.push(excess);
    columns.waiting_operation_s.push(operation);
    columns.waiting_other_s.push(other);
    columns.waiting_unknown_s.push(unknown);
    let [mapping, pattern, background, cpu] = avoidable;
    columns.mapping_s.push(mapping);
    columns.pattern_s.push(pattern);
    columns.background_s.push(background);
    columns.cpu_s.push(cpu);
}

#[cfg(test)]
mod tests;
