//! The cache, and what is read into it.

use super::sum_cache::{GroupKey, SumCache};
use mpiscope_feed::exchange::{EventQuestion, Ranks};
use mpiscope_feed::{CallSource, MessageSource, SiteSums};
use mpiscope_matching::Bins;
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_recording::{CallFilter, Filter, Group, Segment, SegmentIndex, SegmentReader, SegmentRow};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows in one step; a reader can stop between steps.
const AT_ONCE: usize = 1 << 16;

/// Shared between the thread that adds and those that answer.
#[derive(Debug)]
pub struct SegmentCache<R> {
    pub(super) reader: Arc<SegmentReader>,
    cache_bytes_max: usize,
    inner: Arc<Mutex<Inner<R>>>,
    pub(super) sums: Arc<Mutex<SumCache>>,
}

// Derived it would ask for rows that can be cloned.
impl<R> Clone for SegmentCache<R> {
    fn clone(&self) -> Self {
        let (reader, inner) = (Arc::clone(&self.reader), Arc::clone(&self.inner));
        Self { reader, cache_bytes_max: self.cache_bytes_max, inner, sums: Arc::clone(&self.sums) }
    }
}

#[derive(Debug)]
pub(super) struct Inner<R> {
    pub(super) segments: Vec<Segment>,
    /// Those who write segments.
    writers: Vec<Waiting<R>>,
    /// What lies where in segments that were opened; none of one that is damaged.
    indexes: FxHashMap<String, Option<Arc<SegmentIndex>>>,
    /// Row groups that were read, the newest use last.
    cache: VecDeque<(GroupKey, Arc<Vec<R>>)>,
}

/// The rows of a writer that are in no segment yet.
#[derive(Debug)]
struct Waiting<R> {
    /// With the number of the first of each piece.
    rows: VecDeque<(u64, Arc<Vec<R>>)>,
    /// The number of the next row, and of the first that is in no segment.
    next: u64,
    unsealed: u64,
}

// Derived it would ask for rows that have a default.
impl<R> Default for Waiting<R> {
    fn default() -> Self {
        Self { rows: VecDeque::new(), next: 0, unsealed: 0 }
    }
}

impl<R> Waiting<R> {
    fn add(&mut self, rows: Arc<Vec<R>>, waiting: usize) {
        let first = self.next;
        self.next += rows.len() as u64;
        self.unsealed = self.next.saturating_sub(waiting as u64);
        self.rows.push_back((first, rows));
        let unsealed = self.unsealed;
        while self.rows.front().is_some_and(|(first, rows)| first + rows.len() as u64 <= unsealed) {
            self.rows.pop_front();
        }
    }
}

impl<R: SegmentRow> SegmentCache<R> {
    /// The rows in segments under this folder, with their times as they were recorded.
    pub fn new(dir: PathBuf, cache_bytes_max: usize) -> Self {
        Self::from_reader(SegmentReader::uncorrected(dir), Vec::new(), cache_bytes_max)
    }

    /// The rows in these segments.
    pub fn from_reader(reader: SegmentReader, segments: Vec<Segment>, cache_bytes_max: usize) -> Self {
        let (writers, cache) = (Vec::new(), VecDeque::new());
        let inner = Inner { segments, writers, indexes: FxHashMap::default(), cache };
        let inner = Arc::new(Mutex::new(inner));
        Self { reader: Arc::new(reader), cache_bytes_max, inner, sums: Arc::default() }
    }

    /// A panic elsewhere while the lock was held leaves lists that are still sound.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner<R>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in rows that were given to the writer of segments. `waiting` of all its rows are in no segment yet; `segments`
    /// are all there are.
    pub fn add(&self, rows: Arc<Vec<R>>, waiting: usize, segments: &[Segment]) {
        self.add_of_each(vec![(rows, waiting)], segments);
    }

    /// Likewise of several writers: for each its rows, and how many of all its rows are in no segment.
    pub fn add_of_each(&self, rows: Vec<(Arc<Vec<R>>, usize)>, segments: &[Segment]) {
        let mut inner = self.lock();
        if inner.writers.len() < rows.len() {
            inner.writers.resize_with(rows.len(), Waiting::default);
        }
        for (writer, (rows, waiting)) in inner.writers.iter_mut().zip(rows) {
            writer.add(rows, waiting);
        }
        let ends =
            |of: &[Segment]| [of.first(), of.last()].map(|end| end.map(|segment| segment.file.clone()));
        if inner.segments.len() != segments.len() || ends(&inner.segments) != ends(segments) {
            inner.segments = segments.to_vec();
        }
    }

    /// Forgets all rows: they will be added again, and their segments have other names then.
    pub fn clear(&self) {
        let mut inner = self.lock();
        (inner.segments, inner.writers) = (Vec::new(), Vec::new());
        inner.indexes.clear();
        inner.cache.clear();
    }

    /// One that is damaged costs its own rows; whoever opened the recording says so.
    pub(super) fn index(&self, segment: &Segment) -> Option<Arc<SegmentIndex>> {
        if let Some(known) = self.lock().indexes.get(&segment.file) {
            return known.clone();
        }
        let index = self.reader.index::<R>(segment).ok().map(Arc::new);
        self.lock().indexes.insert(segment.file.clone(), index.clone());
        index
    }

    fn cached(&self, key: &GroupKey) -> Option<Arc<Vec<R>>> {
        let mut inner = self.lock();
        let at = inner.cache.iter().position(|(of, _)| of == key)?;
        let entry = inner.cache.remove(at)?;
        let rows = Arc::clone(&entry.1);
        inner.cache.push_back(entry);
        Some(rows)
    }

    pub(super) fn read(&self, index: &SegmentIndex, group: usize) -> Arc<Vec<R>> {
        let key = (index.file().to_owned(), group);
        if let Some(rows) = self.cached(&key) {
            return rows;
        }
        let rows = Arc::new(self.reader.group::<R>(index, group).0);
        let mut inner = self.lock();
        inner.cache.push_back((key, Arc::clone(&rows)));
        let mut bytes: usize = inner.cache.iter().map(|(_, rows)| size_of_val(rows.as_slice())).sum();
        while bytes > self.cache_bytes_max && inner.cache.len() > 1 {
            let Some((_, oldest)) = inner.cache.pop_front() else { break };
            bytes -= size_of_val(oldest.as_slice());
        }
        rows
    }

    /// What waits to be sealed, and the segments that overlap a range.
    pub(super) fn parts(&self, range: &Range<Nanoseconds>) -> (Vec<Unsealed<R>>, Vec<Segment>) {
        let inner = self.lock();
        let overlaps = |segment: &&Segment| segment.from_ns < range.end && segment.to_ns >= range.start;
        let waiting = inner.writers.iter().flat_map(|writer| {
            let sealed = |first: u64| writer.unsealed.saturating_sub(first) as usize;
            writer.rows.iter().map(move |(first, rows)| (Arc::clone(rows), sealed(*first)))
        });
        (waiting.collect(), inner.segments.iter().filter(overlaps).cloned().collect())
    }

    /// Shows all rows that may have some part in a range, some at a time; of row groups only those that are of interest.
    fn show(
        &self,
        range: &Range<Nanoseconds>,
        is_of_interest: &dyn Fn(&Group) -> bool,
        show: &mut dyn FnMut(&[R]) -> ControlFlow<()>,
    ) {
        let (waiting, segments) = self.parts(range);
        for (rows, sealed) in waiting {
            if show(rows.get(sealed..).unwrap_or_default()).is_break() {
                return;
            }
        }
        for segment in segments {
            if self.show_segment(&segment, range, is_of_interest, show).is_break() {
                return;
            }
        }
    }

    fn show_segment(
        &self,
        segment: &Segment,
        range: &Range<Nanoseconds>,
        is_of_interest: &dyn Fn(&Group) -> bool,
        show: &mut dyn FnMut(&[R]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(index) = self.index(segment) else { return ControlFlow::Continue(()) };
        for (number, group) in index.groups().iter().enumerate() {
            if group.from_ns < range.end && group.to_ns >= range.start && is_of_interest(group) {
                for rows in self.read(&index, number).chunks(AT_ONCE) {
                    show(rows)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Rows, and from where on they are in no segment.
type Unsealed<R> = (Arc<Vec<R>>, usize);

/// All row groups are.
fn always(_: &Group) -> bool {
    true
}

/// Calls of some ranks.
pub(super) fn by_ranks(ranks: &Ranks) -> CallFilter {
    let ranges = ranks.as_ref().map(|ranks| ranks.iter().map(|&(first, last)| first..=last).collect());
    CallFilter { ranks: ranges, ..CallFilter::default() }
}

impl CallSource for SegmentCache<Call> {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let overlaps = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.show(range, &always, &mut |calls| {
            calls.iter().filter(overlaps).for_each(&mut *visitor);
            ControlFlow::Continue(())
        });
        Ok(())
    }

    fn visit_of(
        &self,
        range: &Range<Nanoseconds>,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&Call),
    ) -> Result<(), String> {
        let filter = by_ranks(ranks);
        let is_asked_for =
            |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start && filter.keeps(call);
        self.show(range, &|group| group.may_have(&filter), &mut |calls| {
            calls.iter().filter(is_asked_for).for_each(&mut *visitor);
            ControlFlow::Continue(())
        });
        Ok(())
    }

    fn sum_by_site(
        &self,
        range: &Range<Nanoseconds>,
        ranks: &Ranks,
        sums: &mut SiteSums,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.add_by_site(range, ranks, sums, is_wanted);
        Ok(())
    }

    fn nearest(&self, question: &EventQuestion) -> Result<Option<Call>, String> {
        Ok(self.nearest_to(question))
    }

    fn count_starts(&self, bins: &mut Bins) -> Result<(), String> {
        let range = bins.from_ns..bins.to_ns();
        let (waiting, segments) = self.parts(&range);
        let count = |bins: &mut Bins, calls: &[Call]| {
            calls.iter().for_each(|call| bins.add(call.function, call.start_ns, 1));
        };
        for (rows, sealed) in waiting {
            count(bins, rows.get(sealed..).unwrap_or_default());
        }
        for segment in segments {
            if let Some(rows) = self.reader.starts(&segment, bins.bin_ns) {
                rows.iter().for_each(|row| bins.add(row.function, row.from_ns, row.calls));
            } else {
                let _ = self.show_segment(&segment, &range, &always, &mut |calls| {
                    count(bins, calls);
                    ControlFlow::Continue(())
                });
            }
        }
        Ok(())
    }
}

impl MessageSource for SegmentCache<Message> {
    fn visit(
        &self,
        range: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        self.show(range, &always, visitor);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;
    use mpiscope_recording::SegmentWriter;
    use proptest::prelude::*;

    fn call(number: u64) -> Call {
        Call {
            rank: Rank((number % 3) as u32),
            function: 1,
            start_ns: number * 10,
            end_ns: number * 10 + 5,
            bytes: number,
            ..Call::default()
        }
    }

    /// Whatever is sealed when, each call is shown once.
    #[test]
    fn every_call_is_shown_once_sealed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_path_buf();
        let mut writer = SegmentWriter::<Call>::open(&dir, 100, 1).unwrap().with_rows_per_group(30);
        // Memory for one row group: others are read again.
        let cache = SegmentCache::<Call>::new(dir, 30 * size_of::<Call>());
        let (mut segments, mut made) = (Vec::new(), 0);
        for piece in [3, 96, 1, 70, 40, 95, 0, 7] {
            let calls: Vec<Call> = (made..made + piece).map(call).collect();
            made += piece;
            writer.push(&calls, &mut segments).unwrap();
            cache.add(Arc::new(calls), writer.waiting_rows(), &segments);
            let mut seen = Vec::new();
            cache.visit(&(0..u64::MAX), &mut |call| seen.push(call.bytes)).unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..made).collect::<Vec<_>>());
            for bins in [1, 7, 300, 4_000] {
                let mut bins = Bins::of_a_power(&(0..made.max(1) * 10), bins);
                let mut plain = bins.clone();
                (0..made).map(call).for_each(|call| plain.add(call.function, call.start_ns, 1));
                cache.count_starts(&mut bins).unwrap();
                assert_eq!(bins, plain);
            }
        }
        assert_eq!(segments.len(), 3);
        let mut seen = Vec::new();
        cache.visit(&(995..1_021), &mut |call| seen.push(call.bytes)).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [99, 100, 101, 102]);
        assert!(cache.lock().cache.len() <= 2);
    }

    /// Shows all calls, and nothing but that.
    #[derive(Debug)]
    struct Plain(Vec<Call>);

    impl CallSource for Plain {
        fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
            let overlaps = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
            self.0.iter().filter(overlaps).for_each(visitor);
            Ok(())
        }
    }

    fn some_call() -> impl Strategy<Value = Call> {
        (0_u32..6, 1_u16..4, 0_u64..3_000, prop_oneof![9 => 0_u64..40, 1 => 0_u64..3_000]).prop_map(
            |(rank, function, start_ns, long)| Call {
                rank: Rank(rank),
                function,
                start_ns,
                end_ns: start_ns + long,
                ..Call::default()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// What is found by row groups is what looking at every call finds, sealed or not.
        #[test]
        fn calls_of_some_ranks_and_the_nearest_are_those_of_a_plain_look(
            mut calls in prop::collection::vec(some_call(), 0..400),
            looks in prop::collection::vec((0_u64..3_200, any::<bool>(), 0_u32..6, 0_u32..3), 1..20),
        ) {
            calls.sort_by_key(|call| call.end_ns);
            let folder = tempfile::tempdir().unwrap();
            let dir = folder.path().to_path_buf();
            let mut writer = SegmentWriter::<Call>::open(&dir, 100, 1).unwrap().with_rows_per_group(16);
            let cache = SegmentCache::<Call>::new(dir, 40 * size_of::<Call>());
            let mut segments = Vec::new();
            for piece in calls.chunks(37) {
                writer.push(piece, &mut segments).unwrap();
                cache.add(Arc::new(piece.to_vec()), writer.waiting_rows(), &segments);
            }
            let plain = Plain(calls);
            for (at_ns, is_back, first, more) in looks {
                let ranks = Some(vec![(Rank(first), Rank(first + more))]);
                let question = EventQuestion { at_ns, is_back, ranks: ranks.clone(), hidden: vec![2] };
                let nearest = cache.nearest(&question).unwrap();
                let expected = plain.nearest(&question).unwrap();
                let key = |call: Option<Call>| call.map(|call| (call.start_ns, call.rank));
                prop_assert_eq!(key(nearest), key(expected));
                let range = at_ns / 2..at_ns;
                let seen = |source: &dyn CallSource| {
                    let mut seen = Vec::new();
                    let mut take = |call: &Call| seen.push((call.rank, call.start_ns, call.end_ns, call.function));
                    source.visit_of(&range, &ranks, &mut take).unwrap();
                    seen.sort_unstable();
                    seen
                };
                prop_assert_eq!(seen(&cache), seen(&plain));
            }
        }
    }
}
