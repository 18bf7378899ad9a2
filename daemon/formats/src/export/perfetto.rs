//! Writes a trace for Perfetto.

use super::filter::Filter;
use super::gather::{Gathered, gather_items};
use super::item::MessageEnd;
use super::source::{Source, name_of};
use super::summary::ExportSummary;
use super::sweep::{CallSink, CallWithEnds, Sweep, moved_remark};
use crate::external_sort::{SortRecord, Sorter};
use crate::progress::{PROGRESS_INTERVAL, Progress, report_items};
use anyhow::Result;
use mpiscope_model::words::plural;
use mpiscope_model::{Call, Comm, Nanoseconds, Rank, Site};
use mpiscope_recording::{MessageArrow, Perfetto, Slice};
use std::io::Write;
use std::path::Path;

/// One end of an arrow that waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ArrowEnd {
    arrow: MessageArrow,
    is_head: bool,
}

impl SortRecord for ArrowEnd {
    /// The ends of an arrow follow each other, its beginning first.
    type Key = (u64, bool);
    const BYTES: usize = 24;

    fn key(&self) -> (u64, bool) {
        (self.arrow.id, self.is_head)
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let MessageArrow { id, thread: (rank, thread), at_ns } = self.arrow;
        let place = u64::from(rank.0) | u64::from(thread) << 32 | u64::from(self.is_head) << 48;
        bytes.extend([id, at_ns, place].map(u64::to_le_bytes).as_flattened());
    }

    fn read_from(bytes: &[u8]) -> Self {
        let mut words = [0; 3];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [id, at_ns, place] = words;
        let thread = (Rank(place as u32), (place >> 32) as u16);
        Self { arrow: MessageArrow { id, thread, at_ns }, is_head: place >> 48 != 0 }
    }
}

/// Writes slices, and keeps the ends of arrows until both are known.
struct Drawing<'a, W> {
    trace: Perfetto<W>,
    arrows: Sorter<ArrowEnd>,
    functions: &'a [String],
    comms: Vec<String>,
    sites: Vec<String>,
}

impl<W: Write> Drawing<'_, W> {
    fn ends(&mut self, ends: &[MessageEnd], call: &Call, at_ns: Nanoseconds) -> Result<()> {
        for end in ends {
            let arrow = MessageArrow { id: end.message, thread: (call.rank, call.thread), at_ns };
            self.arrows.push(ArrowEnd { arrow, is_head: end.is_receive })?;
        }
        Ok(())
    }
}

impl<W: Write> CallSink for Drawing<'_, W> {
    fn call(&mut self, placed: &CallWithEnds, next_ns: Option<Nanoseconds>) -> Result<()> {
        let call = &placed.call;
        // A call that takes no time is drawn with the smallest visible length, where there is room.
        let has_room = next_ns.is_none_or(|next_ns| next_ns > call.start_ns);
        let end_ns = if has_room { call.end_ns.max(call.start_ns + 1) } else { call.end_ns };
        self.trace.slice(&Slice {
            call,
            end_ns,
            function: name_of(self.functions, Some(call.function.into())),
            comm: name_of(&self.comms, call.comm.map(Comm::index)),
            site: name_of(&self.sites, call.site.map(Site::index)),
        })?;
        if end_ns > call.start_ns {
            self.ends(&placed.sent, call, call.start_ns)?;
            self.ends(&placed.received, call, end_ns - 1)?;
        }
        Ok(())
    }

    fn alone(&mut self, _: u16, _: &MessageEnd) -> Result<()> {
        Ok(())
    }

    fn rank_is_over(&mut self, _: Rank) -> Result<()> {
        Ok(())
    }
}

/// Draws the messages; returns how many.
fn draw_arrows<W: Write>(
    trace: &mut Perfetto<W>,
    arrows: Sorter<ArrowEnd>,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut drawn = 0;
    let mut begun: Option<MessageArrow> = None;
    for end in arrows.finish()? {
        let ArrowEnd { arrow, is_head } = end?;
        if !is_head {
            begun = Some(arrow);
            continue;
        }
        // An arrow that ends before it begins cannot be drawn. This happens where clocks are not known well enough.
        if let Some(from) = begun.take().filter(|from| from.id == arrow.id && from.at_ns <= arrow.at_ns) {
            trace.arrow(&from, &arrow)?;
            drawn += 1;
            if drawn % PROGRESS_INTERVAL == 0 {
                progress.step(PROGRESS_INTERVAL)?;
            }
        }
    }
    Ok(drawn)
}

/// What the trace shows otherwise than it was.
fn remarks(without_arrow: u64, moved: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    if without_arrow > 0 {
        let left = plural(without_arrow, "message");
        remarks.push(format!("{left} without an arrow: they end before they begin, or one of their calls is not there or has no length"));
    }
    remarks.extend(moved_remark(moved));
    remarks
}

/// Writes a trace; what has to be sorted waits in a file without a name in `folder`.
///
/// # Errors
/// When the recording cannot be read, the trace cannot be written, or the work is given up.
pub fn write_perfetto<W: Write>(
    source: &mut Source<'_>,
    filter: &Filter,
    folder: &Path,
    target: W,
    progress: &dyn Progress,
) -> Result<(ExportSummary, W)> {
    let Gathered { items, about } = gather_items(source, filter, folder, progress)?;
    let hosts = source.hosts();
    let ranks: Vec<(Rank, String, Vec<u16>)> = about
        .threads
        .iter()
        .map(|(rank, threads)| {
            (*rank, hosts.get(rank).cloned().unwrap_or_default(), threads.iter().copied().collect())
        })
        .collect();
    let mut drawing = Drawing {
        trace: Perfetto::begin(target, &ranks)?,
        arrows: Sorter::new(folder),
        functions: &source.functions,
        comms: source.comm_names(),
        sites: source.site_names(),
    };
    progress.begin("writing", Some(about.calls + 3 * about.messages))?;
    let mut sweep = Sweep::new(&mut drawing);
    for item in report_items(items, progress) {
        sweep.item(&item?)?;
    }
    let moved = sweep.finish()?;
    let Drawing { mut trace, arrows, .. } = drawing;
    let drawn = draw_arrows(&mut trace, arrows, progress)?;
    let remarks = remarks(about.messages.saturating_sub(drawn), moved);
    let exported = ExportSummary { calls: about.calls, messages: about.messages, remarks };
    Ok((exported, trace.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_arrows_come_back_from_their_form_in_a_file() {
        let arrow = MessageArrow { id: u64::MAX, thread: (Rank(u32::MAX), u16::MAX), at_ns: 5 };
        for end in [ArrowEnd { arrow, is_head: true }, ArrowEnd { arrow, is_head: false }] {
            let mut bytes = Vec::new();
            end.write_to(&mut bytes);
            assert_eq!((bytes.len(), ArrowEnd::read_from(&bytes)), (ArrowEnd::BYTES, end));
        }
    }
}
