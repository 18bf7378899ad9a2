//! The sums of a run, as its recording keeps them. With them a long recording opens without reading its calls.

use crate::counted::RowSums;
use crate::engine::WindowCell;
use mpiscope_feed::Overview;
use mpiscope_matching::{
    Counts, Density, DensityKey, FunctionTotals, MessageSizes, RankTotals, SiteTotals, SizeTotals,
};
use mpiscope_model::{Call, Function, Message, Rank, Site};
use mpiscope_recording::{
    DensityRow, DurationRow, FunctionRow, MessageSizeRow, PairRow, RankRow, SiteRow, StartRow, Summary,
    WindowSumRow,
};
use mpiscope_topology as topology;
use mpiscope_verdict::Processors;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most windows of the timeline that are kept.
const MOST_WINDOWS: usize = 4096;

/// What is summed up of a run beside its counts, all of it as calls and messages become known.
#[derive(Debug)]
pub struct Sums {
    /// Densities and thinned messages for pages.
    pub overview: Overview,
    /// Who talked with whom.
    pub traffic: SharedTraffic,
    /// Messages by size class; not known of recordings of earlier versions.
    pub sizes: Option<MessageSizes>,
    /// Calls of each function by window.
    pub windows: BTreeMap<(u64, Function), u64>,
}

/// Who talked with whom so far, shared between whoever takes messages in and those who ask.
#[derive(Debug, Clone, Default)]
pub struct SharedTraffic(Arc<Mutex<topology::Traffic>>);

impl SharedTraffic {
    /// A panic elsewhere while the lock was held leaves sums that are still sound.
    pub fn lock(&self) -> MutexGuard<'_, topology::Traffic> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            overview: Overview::default(),
            traffic: SharedTraffic::default(),
            sizes: Some(MessageSizes::default()),
            windows: BTreeMap::new(),
        }
    }
}

impl Sums {
    /// Nothing yet; the overview is one that others may share.
    pub(crate) fn sharing(overview: Overview) -> Self {
        Self { overview, ..Self::default() }
    }

    /// Forgets all, also for those who share it: it will be taken in again.
    pub fn clear(&mut self) {
        self.overview.clear();
        *self.traffic.lock() = topology::Traffic::default();
        (self.sizes, self.windows) = (Some(MessageSizes::default()), BTreeMap::new());
    }

    /// Takes in what became known.
    pub fn add(&mut self, calls: &[Call], messages: &[Message], windows: &[WindowCell]) {
        self.overview.add(calls);
        self.traffic.lock().feed(messages);
        if let Some(sizes) = &mut self.sizes {
            sizes.feed(messages);
        }
        self.windows(windows);
    }

    /// Likewise, of rows that others summed up.
    pub fn add_counted(&mut self, rows: &[RowSums], windows: &[WindowCell]) {
        for RowSums { calls, traffic, sizes } in rows {
            self.overview.add_sums(calls);
            self.traffic.lock().merge(traffic);
            self.sizes.iter_mut().for_each(|own| own.merge(sizes));
        }
        self.windows(windows);
    }

    /// Takes in what was counted for the recording's windows.
    fn windows(&mut self, cells: &[WindowCell]) {
        for ((window, _, function), totals) in cells {
            *self.windows.entry((*window, *function)).or_default() += totals.calls;
        }
    }

    /// As they are kept.
    pub fn summary(&self, counts: &Counts, processors: &Processors) -> Summary {
        let (mut timeline, density) = self.overview.parts();
        // Closer looks are what is beside segments for.
        while timeline.windows() > MOST_WINDOWS {
            timeline.widen(2 * timeline.window_ns());
        }
        Summary {
            functions: sorted(counts.functions().map(|(function, totals)| FunctionRow {
                function,
                calls: totals.calls,
                polls: totals.polls,
                bytes: totals.bytes,
                time_ns: totals.time_ns,
                longest_ns: totals.max_ns(),
            })),
            durations: sorted(counts.functions().flat_map(|(function, totals)| {
                totals.durations().map(move |(up_to_ns, calls)| DurationRow { function, up_to_ns, calls })
            })),
            ranks: sorted(counts.ranks().map(|(rank, totals)| {
                let RankTotals { calls, time_ns, sent, sent_bytes, received, last_ns } = *totals;
                RankRow { rank, calls, time_ns, sent, sent_bytes, received, last_ns }
            })),
            sites: counts.sites().iter().map(site_row).filter(|row| row.calls > 0).collect(),
            pairs: self.pairs(),
            sizes: self.sizes.as_ref().map(|sizes| sizes.classes().map(size_row).collect()),
            densities: density.chapters().flat_map(|(range, density)| densities(&range, density)).collect(),
            starts: timeline
                .cells()
                .into_iter()
                .map(|cell| StartRow {
                    window_ns: timeline.window_ns(),
                    from_ns: cell.start_ns,
                    function: cell.function,
                    calls: cell.calls,
                    ..StartRow::default()
                })
                .collect(),
            windows: self.window_rows(counts.window_ns()),
            scheduling: processors.all().copied().collect(),
        }
    }

    fn window_rows(&self, window_ns: u64) -> Vec<WindowSumRow> {
        self.windows
            .iter()
            .map(|(&(window, function), &calls)| WindowSumRow {
                from_ns: window * window_ns,
                to_ns: (window + 1) * window_ns,
                function,
                calls,
            })
            .collect()
    }

    fn pairs(&self) -> Vec<PairRow> {
        let traffic = self.traffic.lock();
        let mut rows: Vec<PairRow> = traffic
            .pairs()
            .map(|(one, other, topology::Flow { messages, bytes })| PairRow {
                one: Some(one),
                other: Some(other),
                messages,
                bytes,
            })
            .collect();
        rows.sort_unstable_by_key(|row| (row.one, row.other));
        let topology::Flow { messages, bytes } = traffic.left_out();
        if messages > 0 {
            rows.push(PairRow { one: None, other: None, messages, bytes });
        }
        rows
    }

    /// What was kept; the overview is one that others may share.
    pub(crate) fn restored(summary: &Summary, window_ns: u64, overview: Overview) -> Self {
        let mut sums = Self::sharing(overview);
        sums.overview.restore(|timeline, density| {
            for row in &summary.starts {
                timeline.widen(row.window_ns);
                timeline.add(row.function, row.from_ns, row.calls);
            }
            for chapter in summary.densities.chunk_by(|a, b| (a.from_ns, a.to_ns) == (b.from_ns, b.to_ns)) {
                let mut cells = Density::new(chapter[0].ranks);
                for row in chapter {
                    let at = row.rank.0 / cells.ranks_per_row();
                    let key = DensityKey { row: at, function: row.function, bin: row.bin as u16 };
                    cells.add_cell(key, row.calls);
                }
                density.add_chapter(&(chapter[0].from_ns..chapter[0].to_ns), &cells);
            }
        });
        for row in &summary.pairs {
            let flow = topology::Flow { messages: row.messages, bytes: row.bytes };
            match (row.one, row.other) {
                (Some(one), Some(other)) => sums.traffic.lock().add(one, other, flow),
                _ => sums.traffic.lock().leave_out(flow),
            }
        }
        sums.sizes = summary.sizes.as_deref().map(sizes);
        for row in &summary.windows {
            *sums.windows.entry((row.from_ns / window_ns.max(1), row.function)).or_default() += row.calls;
        }
        sums
    }
}

/// The counts that were kept.
pub(crate) fn counts(summary: &Summary, window_ns: u64) -> Counts {
    let functions = summary.functions.iter().map(|row| {
        let mut totals = FunctionTotals::default().with_longest(row.longest_ns);
        (totals.calls, totals.polls) = (row.calls, row.polls);
        (totals.bytes, totals.time_ns) = (row.bytes, row.time_ns);
        let durations = summary.durations.iter().filter(|duration| duration.function == row.function);
        durations.for_each(|duration| totals.add_duration(duration.up_to_ns, duration.calls));
        (row.function, totals)
    });
    let ranks = summary.ranks.iter().map(|row| {
        let RankRow { rank, calls, time_ns, sent, sent_bytes, received, last_ns } = *row;
        (rank, RankTotals { calls, time_ns, sent, sent_bytes, received, last_ns })
    });
    let sites = summary.sites.iter().map(|row| {
        let SiteRow { site, calls, polls, bytes, time_ns, function } = *row;
        let function = function.and_then(|function| Function::try_from(function).ok());
        (site, SiteTotals { calls, polls, bytes, time_ns, function })
    });
    Counts::from_totals(window_ns, functions, ranks, sites)
}

fn site_row((site, totals): (Option<Site>, &SiteTotals)) -> SiteRow {
    let SiteTotals { calls, polls, bytes, time_ns, function } = *totals;
    SiteRow { site, calls, polls, bytes, time_ns, function: function.map(u32::from) }
}

fn sizes(rows: &[MessageSizeRow]) -> MessageSizes {
    let mut sizes = MessageSizes::default();
    for &MessageSizeRow { from_bytes, messages, bytes, .. } in rows {
        sizes.add(MessageSizes::class(from_bytes), SizeTotals { messages, bytes });
    }
    sizes
}

fn size_row((class, totals): (u32, SizeTotals)) -> MessageSizeRow {
    let (from_bytes, to_bytes) = MessageSizes::sizes(class);
    MessageSizeRow { from_bytes, to_bytes, messages: totals.messages, bytes: totals.bytes }
}

fn densities(range: &std::ops::Range<u64>, density: &Density) -> Vec<DensityRow> {
    let row = |(key, calls): (DensityKey, u64)| DensityRow {
        from_ns: range.start,
        to_ns: range.end,
        rank: Rank(key.row * density.ranks_per_row()),
        ranks: density.ranks_per_row(),
        function: key.function,
        bin: key.bin.into(),
        calls,
    };
    density.cells().into_iter().map(row).collect()
}

/// Rows in the order of their first columns: the same run must give the same bytes.
fn sorted<R: Ord>(rows: impl Iterator<Item = R>) -> Vec<R> {
    let mut rows: Vec<R> = rows.collect();
    rows.sort_unstable();
    rows
}
