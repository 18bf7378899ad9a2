//! What each rank's time was spent on, by window, for a view of the whole run: computing, transfer, and waiting by cause.
//!
//! Sums over all time, never a sample. Several levels bound the memory: fine windows of groups of ranks, longer windows of
//! single ranks. A cell holds the same nanoseconds in whatever order intervals come and however windows were joined.

use super::causes::{Cause, Causes};
use mpiscope_model::{Nanoseconds, Rank};
use std::ops::Range;
use std::sync::Arc;

/// What time is spent on, in the order of a cell's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareKind {
    /// Between calls, with a CPU.
    Compute,
    /// Waiting for a CPU, in calls or between them.
    CpuWait,
    /// Messages on their way.
    Transfer,
    /// The rest of the time in MPI.
    Library,
    /// Waiting for ranks that compute longer.
    WaitingForWork,
    /// Waiting for ranks that wait for a CPU.
    WaitingForCore,
    /// Waiting for what the network delays.
    WaitingForNetwork,
    /// Waiting for the inter-node cost.
    WaitingForDistance,
    /// Waiting for what every job has: transfers, collectives, unknown reasons.
    WaitingForRest,
}

/// How many kinds there are.
pub const SHARE_KINDS: usize = 9;
/// Nanoseconds by kind. Waiting by cause is a difference of two paths: single parts of it may be negative.
pub type ShareCell = [i64; SHARE_KINDS];

/// The shortest window, a power of two: some 4 ms, and 17 ms with many ranks. Shorter ones hold less than a call each.
const LEAST_WIDTH_NS: u64 = 1 << 22;
const LEAST_WIDTH_OF_MANY_NS: u64 = 1 << 24;
const MANY_RANKS: usize = 1_024;
/// The longest: two of them have all time that there can be.
const LONGEST_WIDTH_NS: u64 = 1 << 63;
/// Cells of the level of single ranks, and of each other level; a cell has 72 bytes.
const MOST_CELLS: usize = 1 << 18;
const MOST_CELLS_OF_GROUPS: usize = 1 << 17;
/// Ranks in a group, as a power of two, and from how many ranks on there is such a level.
const GROUPS: [(u32, usize); 2] = [(4, 513), (8, 8_193)];

/// The operator. A clone is cheap: it shares windows, and one that goes on growing is copied then.
#[derive(Debug, Clone)]
pub struct RankShares {
    ranks: usize,
    levels: Vec<Level>,
}

mpiscope_model::numbers! { RankShares { ranks, levels } }

/// Sums of groups of `1 << shift` ranks.
#[derive(Debug, Clone)]
struct Level {
    shift: u32,
    most_cells: usize,
    width_ns: u64,
    rows: usize,
    /// By window, then by group.
    windows: Vec<Arc<Vec<ShareCell>>>,
}

mpiscope_model::numbers! { Level { shift, most_cells, width_ns, rows, windows } }

/// A part of the sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShareTable {
    /// Where the first window begins.
    pub from_ns: Nanoseconds,
    /// How long each is.
    pub width_ns: u64,
    /// How many there are.
    pub windows: usize,
    /// Ranks in a row, and the number of the first row.
    pub ranks_per_row: u32,
    /// The first rank of the first row.
    pub first_rank: Rank,
    /// How many rows there are.
    pub rows: usize,
    /// By row, then by window.
    pub cells: Vec<ShareCell>,
}

impl Default for RankShares {
    fn default() -> Self {
        Self { ranks: 0, levels: vec![Level::new(0, MOST_CELLS)] }
    }
}

impl PartialEq for RankShares {
    /// Where nothing was written does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.ranks == other.ranks
            && self.levels.len() == other.levels.len()
            && self.levels.iter().zip(&other.levels).all(|(one, other)| one.is_same(other))
    }
}

impl Eq for RankShares {}

impl RankShares {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks == 0
    }

    /// Ranks, up to the last that did something.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// A rank will do something. Levels that are there from the start have the shortest windows.
    pub(super) fn expect(&mut self, rank: Rank) {
        if rank.index() >= self.ranks {
            self.grow(rank.index() + 1);
        }
    }

    /// Calls that end before a time will be settled.
    pub(super) fn reach(&mut self, until_ns: Nanoseconds) {
        self.levels.iter_mut().for_each(|level| level.reach(until_ns));
    }

    /// An interval of one cause, outside of waiting.
    #[inline]
    pub(super) fn direct(&mut self, rank: Rank, cause: Cause, from_ns: u64, to_ns: u64) {
        self.add(rank, from_ns, to_ns, direct_parts(kind_of(cause)));
    }

    /// Time between calls, and how much of it was without a CPU.
    #[inline]
    pub(super) fn compute(&mut self, rank: Rank, from_ns: u64, to_ns: u64, cpu_wait_ns: u64) {
        if cpu_wait_ns == 0 {
            return self.add(rank, from_ns, to_ns, direct_parts(ShareKind::Compute));
        }
        let whole_ns = to_ns.saturating_sub(from_ns);
        let until = |x: u64| share(cpu_wait_ns as i64, x, whole_ns);
        self.add(rank, from_ns, to_ns, |cell, from, to| {
            let cpu_wait = until(to) - until(from);
            cell[ShareKind::CpuWait as usize] += cpu_wait;
            cell[ShareKind::Compute as usize] += (to - from) as i64 - cpu_wait;
        });
    }

    /// Waiting: its pieces, so long in all, and what it was made of.
    pub(super) fn waiting(&mut self, rank: Rank, pieces: &[(u64, u64)], whole_ns: u64, by: Causes) {
        let mut parts = ShareCell::default();
        for cause in Cause::ALL {
            parts[awaited_kind_of(cause) as usize] += by[cause];
        }
        let mut before_ns = 0;
        for &(from_ns, to_ns) in pieces {
            self.add(rank, from_ns, to_ns, |cell, from, to| {
                add_waited(cell, &parts, (before_ns + from, before_ns + to), whole_ns);
            });
            before_ns += to_ns - from_ns;
        }
    }

    /// Adds an interval to all levels; `each` adds what lies between two offsets into it to a cell.
    #[inline]
    fn add(&mut self, rank: Rank, from_ns: u64, to_ns: u64, each: impl Fn(&mut ShareCell, u64, u64)) {
        if from_ns >= to_ns {
            return;
        }
        self.expect(rank);
        for level in &mut self.levels {
            // Mostly it lies in one window that is there already.
            match level.only_cell(rank, from_ns, to_ns) {
                Some(cell) => each(cell, 0, to_ns - from_ns),
                None => level.spread(rank, from_ns, to_ns, &each),
            }
        }
    }

    #[cold]
    fn grow(&mut self, ranks: usize) {
        self.ranks = ranks;
        for (shift, from_ranks) in GROUPS {
            if ranks >= from_ranks && self.levels.iter().all(|level| level.shift != shift) {
                let folded = self.levels.last().map(|level| level.folded(shift));
                self.levels.extend(folded);
            }
        }
        let least_ns = if ranks < MANY_RANKS { LEAST_WIDTH_NS } else { LEAST_WIDTH_OF_MANY_NS };
        for level in &mut self.levels {
            while level.width_ns < least_ns {
                level.join();
            }
            level.rows = ranks.div_ceil(1 << level.shift);
            level.fit(level.windows.len());
        }
    }

    /// The sums of a range of time and ranks, the last without, in rows of about N ranks, or more where there would be too
    /// many cells, and at most N windows and cells.
    #[must_use]
    pub fn table(
        &self,
        range_ns: &Range<Nanoseconds>,
        ranks: &Range<Rank>,
        ranks_per_row: u32,
        (most_windows, most_cells): (usize, usize),
    ) -> ShareTable {
        let mut shift = ranks_per_row.max(1).ilog2();
        let (start, end) = (ranks.start.index(), ranks.end.index().min(self.ranks));
        let count = end.saturating_sub(start);
        while count.div_ceil(1 << shift) > most_cells.max(1) {
            shift += 1;
        }
        let level = self.levels.iter().rev().find(|level| level.shift <= shift).unwrap_or(&self.levels[0]);
        let first = start.min(end) >> shift;
        let rows = end.div_ceil(1 << shift).saturating_sub(first);
        let width_ns = level.width_ns;
        let most = most_windows.min(most_cells / rows.max(1)).max(1);
        let (Range { start: begin, end: stop }, step) = level.windows_in(range_ns, most);
        let windows = (stop - begin).div_ceil(step);
        let mut cells = vec![ShareCell::default(); rows * windows];
        for (at, window) in level.windows[begin..stop].iter().enumerate() {
            for row in 0..rows {
                let per_row = shift - level.shift;
                let from = ((first + row) << per_row).min(window.len());
                let to = ((first + row + 1) << per_row).min(window.len());
                window[from..to].iter().for_each(|cell| sum(&mut cells[row * windows + at / step], cell));
            }
        }
        ShareTable {
            from_ns: begin as u64 * width_ns,
            width_ns: width_ns * step as u64,
            windows,
            ranks_per_row: 1 << shift,
            first_rank: Rank::from_index(first << shift),
            rows,
            cells,
        }
    }

    /// Takes in what another one has taken in since it was emptied last.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.ranks > self.ranks {
            self.grow(other.ranks);
        }
        for theirs in &other.levels {
            let Some(level) = self.levels.iter_mut().find(|level| level.shift == theirs.shift) else {
                continue;
            };
            while level.width_ns < theirs.width_ns {
                level.join();
            }
            for (at, window) in theirs.windows.iter().enumerate() {
                let written = window.iter().enumerate().filter(|(_, cell)| **cell != ShareCell::default());
                for (row, parts) in written {
                    let first_rank = Rank::from_index(row << theirs.shift);
                    sum(level.cell(first_rank, at as u64 * theirs.width_ns), parts);
                }
            }
        }
    }

    /// An empty one for the same ranks, with windows as long.
    pub(super) fn emptied(&self) -> Self {
        let empty = |&Level { shift, most_cells, width_ns, rows, .. }: &Level| Level {
            shift,
            most_cells,
            width_ns,
            rows,
            windows: Vec::new(),
        };
        let levels = self.levels.iter().map(empty);
        Self { ranks: self.ranks, levels: levels.collect() }
    }

    /// All cells that hold something, by level, window and group, of levels with at most N cells.
    #[must_use]
    pub fn rows(&self, most_cells: usize) -> Vec<ShareRow> {
        let mut rows = Vec::new();
        for level in &self.levels {
            let mut level = level.clone();
            level.most_cells = most_cells;
            level.fit(level.windows.len());
            for (at, window) in level.windows.iter().enumerate() {
                let begin_ns = at as u64 * level.width_ns;
                let written = window.iter().enumerate().filter(|(_, cell)| **cell != ShareCell::default());
                rows.extend(written.map(|(row, &parts)| ShareRow {
                    ranks: 1 << level.shift,
                    width_ns: level.width_ns,
                    from_ns: begin_ns,
                    first_rank: Rank::from_index(row << level.shift),
                    parts,
                }));
            }
        }
        rows
    }

    /// What was kept before.
    #[must_use]
    pub fn restored(ranks: usize, rows: impl Iterator<Item = ShareRow>) -> Self {
        let mut shares = Self::default();
        shares.grow(ranks);
        for row in rows {
            let shift = row.ranks.max(1).ilog2();
            let Some(level) = shares.levels.iter_mut().find(|level| level.shift == shift) else { continue };
            // A wrong number must not fill the memory.
            if row.first_rank.index() >= ranks || row.width_ns > Nanoseconds::MAX / 2 {
                continue;
            }
            while level.width_ns < row.width_ns {
                level.join();
            }
            sum(level.cell(row.first_rank, row.from_ns), &row.parts);
        }
        shares
    }
}

/// A cell with its place, as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareRow {
    /// Ranks in a group of its level.
    pub ranks: u32,
    /// How long windows of its level are.
    pub width_ns: u64,
    /// Where its window begins.
    pub from_ns: Nanoseconds,
    /// The first rank of its group.
    pub first_rank: Rank,
    /// What time was spent on.
    pub parts: ShareCell,
}

impl Level {
    /// The windows of a range of time, and how many to join to have at most `most`.
    fn windows_in(&self, range_ns: &Range<Nanoseconds>, most: usize) -> (Range<usize>, usize) {
        let begin = ((range_ns.start / self.width_ns) as usize).min(self.windows.len());
        let stop = (range_ns.end.div_ceil(self.width_ns) as usize).clamp(begin, self.windows.len());
        // Windows that are joined begin at multiples, as if the level had joined them.
        let mut step = 1_usize;
        while stop.div_ceil(step) - begin / step > most && begin / step != (stop - 1) / step {
            step *= 2;
        }
        (begin / step * step..stop, step)
    }

    fn new(shift: u32, most_cells: usize) -> Self {
        Self { shift, most_cells, width_ns: LEAST_WIDTH_NS, rows: 0, windows: Vec::new() }
    }

    /// The same in larger groups.
    fn folded(&self, shift: u32) -> Self {
        let fold = |window: &Arc<Vec<ShareCell>>| {
            let groups = window.chunks(1 << (shift - self.shift));
            Arc::new(
                groups
                    .map(|group| {
                        let mut cell = ShareCell::default();
                        group.iter().for_each(|of| sum(&mut cell, of));
                        cell
                    })
                    .collect(),
            )
        };
        let windows = self.windows.iter().map(fold).collect();
        Self { windows, width_ns: self.width_ns, ..Self::new(shift, MOST_CELLS_OF_GROUPS) }
    }

    /// Joins windows until N more fit.
    fn fit(&mut self, mut windows: usize) {
        while windows > 1 && windows * self.rows > self.most_cells {
            self.join();
            windows = windows.div_ceil(2);
        }
    }

    fn join(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2).min(LONGEST_WIDTH_NS);
        let pairs = self.windows.chunks(2).map(|pair| {
            let Some(other) = pair.get(1) else { return Arc::clone(&pair[0]) };
            let mut joined = pair[0].as_ref().clone();
            joined.resize(joined.len().max(other.len()), ShareCell::default());
            joined.iter_mut().zip(other.iter()).for_each(|(one, other)| sum(one, other));
            Arc::new(joined)
        });
        self.windows = pairs.collect();
    }

    /// Joins windows until one at a time fits. Returns its place.
    fn make_room(&mut self, at_ns: Nanoseconds) -> usize {
        let mut at = (at_ns / self.width_ns) as usize;
        while self.width_ns < LONGEST_WIDTH_NS && (at + 1).saturating_mul(self.rows) > self.most_cells {
            self.join();
            at = (at_ns / self.width_ns) as usize;
        }
        at
    }

    fn reach(&mut self, until_ns: Nanoseconds) {
        self.make_room(until_ns.saturating_sub(1));
    }

    #[inline]
    fn cell(&mut self, rank: Rank, at_ns: Nanoseconds) -> &mut ShareCell {
        let row = rank.index() >> self.shift;
        let mut at = (at_ns / self.width_ns) as usize;
        if at >= self.windows.len() {
            at = self.make_room(at_ns);
            if at >= self.windows.len() {
                self.windows.resize_with(at + 1, Arc::default);
            }
        }
        let window = Arc::make_mut(&mut self.windows[at]);
        if window.len() <= row {
            window.resize(self.rows.max(row + 1), ShareCell::default());
        }
        &mut window[row]
    }

    /// The cell of an interval that lies in one window, where that cell is there and nobody else holds it.
    #[inline]
    fn only_cell(&mut self, rank: Rank, from_ns: u64, to_ns: u64) -> Option<&mut ShareCell> {
        let shift = self.width_ns.trailing_zeros();
        let at = from_ns >> shift;
        if (to_ns - 1) >> shift != at {
            return None;
        }
        Arc::get_mut(self.windows.get_mut(at as usize)?)?.get_mut(rank.index() >> self.shift)
    }

    fn spread(&mut self, rank: Rank, from_ns: u64, to_ns: u64, each: &impl Fn(&mut ShareCell, u64, u64)) {
        // The width may grow while windows are made.
        self.cell(rank, to_ns - 1);
        let mut at_ns = from_ns;
        while at_ns < to_ns {
            let end_ns = (at_ns - at_ns % self.width_ns).saturating_add(self.width_ns).min(to_ns);
            each(self.cell(rank, at_ns), at_ns - from_ns, end_ns - from_ns);
            at_ns = end_ns;
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let nothing = Vec::new();
        let cell = |of: &Self, at: usize, row: usize| {
            let window = of.windows.get(at).map_or(&nothing, |window| window.as_ref());
            window.get(row).copied().unwrap_or_default()
        };
        let windows = self.windows.len().max(other.windows.len());
        self.width_ns == other.width_ns
            && self.rows == other.rows
            && (0..windows).all(|at| (0..self.rows).all(|row| cell(self, at, row) == cell(other, at, row)))
    }
}

#[inline]
fn sum(cell: &mut ShareCell, part: &ShareCell) {
    cell.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

/// What falls on the first `x` nanoseconds of a whole.
#[inline]
fn share(part_ns: i64, x: u64, whole_ns: u64) -> i64 {
    if x == 0 {
        0
    } else if x >= whole_ns {
        part_ns
    } else {
        (i128::from(part_ns) * i128::from(x) / i128::from(whole_ns)) as i64
    }
}

/// Time of one kind.
fn direct_parts(kind: ShareKind) -> impl Fn(&mut ShareCell, u64, u64) {
    move |cell, from, to| cell[kind as usize] += (to - from) as i64
}

/// Adds the parts of waiting between two offsets. Differences of rounded sums: joined windows have what one window would
/// have, and what rounding takes is work.
fn add_waited(cell: &mut ShareCell, parts: &ShareCell, (from, to): (u64, u64), whole_ns: u64) {
    let work = ShareKind::WaitingForWork as usize;
    let mut others = 0;
    for kind in (work + 1)..SHARE_KINDS {
        if parts[kind] != 0 {
            let part = share(parts[kind], to, whole_ns) - share(parts[kind], from, whole_ns);
            cell[kind] += part;
            others += part;
        }
    }
    cell[work] += (to - from) as i64 - others;
}

fn kind_of(cause: Cause) -> ShareKind {
    match cause {
        Cause::Compute => ShareKind::Compute,
        Cause::CpuWait => ShareKind::CpuWait,
        Cause::Base | Cause::Saved | Cause::Distance | Cause::ExcessInside | Cause::Excess => {
            ShareKind::Transfer
        }
        Cause::Operation | Cause::Other | Cause::Unknown => ShareKind::Library,
    }
}

fn awaited_kind_of(cause: Cause) -> ShareKind {
    match cause {
        Cause::Compute => ShareKind::WaitingForWork,
        Cause::CpuWait => ShareKind::WaitingForCore,
        Cause::ExcessInside | Cause::Excess => ShareKind::WaitingForNetwork,
        Cause::Saved | Cause::Distance => ShareKind::WaitingForDistance,
        Cause::Base | Cause::Operation | Cause::Other | Cause::Unknown => ShareKind::WaitingForRest,
    }
}

#[cfg(test)]
mod tests;
