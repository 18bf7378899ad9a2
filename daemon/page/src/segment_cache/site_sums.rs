//! What calls sum to by call site and function: row groups that lie in a range are summed up once and kept as sums, those at
//! its ends are read. Time and memory follow the number of row groups and call sites, not that of calls.
//!
//! Of very many calls only some are read at once: whoever asks again gets more of them, and in the end all.

use super::cache::{SegmentCache, by_ranks};
use super::sum_cache::{Ranked, Selected, SumCache, of_ranks};
use mpiscope_feed::exchange::Ranks;
use mpiscope_feed::{SiteSum, SiteSums};
use mpiscope_model::{Call, Function, Nanoseconds, Rank, Site};
use mpiscope_recording::{CallFilter, Filter as _, SegmentIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What is read to sum up calls.
const COLUMNS: &[&str] = &["rank", "function", "start_ns", "end_ns", "bytes", "site"];
/// Sums by rank of a row group are kept where they are at most one for this number of its calls.
const CALLS_PER_RANKED: usize = 8;

fn by_rank(calls: &[Call]) -> Ranked {
    let mut sums: FxHashMap<(Rank, Option<Site>, Function), SiteSum> = FxHashMap::default();
    for call in calls {
        let key = (call.rank, call.site, call.function);
        sums.entry(key).or_default().add(SiteSum::of_call(call, &(0..Nanoseconds::MAX)));
    }
    sums.into_iter().map(|((rank, site, function), sum)| (rank, site, function, sum)).collect()
}

fn add_calls(sums: &mut SiteSums, calls: &[Call], filter: &CallFilter, range: &Range<Nanoseconds>) {
    for call in calls.iter().filter(|call| filter.keeps(call)) {
        sums.add(call.site, call.function, SiteSum::of_call(call, range));
    }
    sums.note_rows(calls.len() as u64, 0);
}

impl SegmentCache<Call> {
    fn sum_cache(&self) -> MutexGuard<'_, SumCache> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_by_site(
        &self,
        range: &Range<Nanoseconds>,
        ranks: &Ranks,
        sums: &mut SiteSums,
        is_wanted: &dyn Fn() -> bool,
    ) {
        let filter = by_ranks(ranks);
        let (waiting, segments) = self.parts(range);
        for (rows, sealed) in waiting {
            add_calls(sums, rows.get(sealed..).unwrap_or_default(), &filter, range);
        }
        self.forget_sums_of_segments_that_are_gone();
        let mut unread = Vec::new();
        for segment in segments {
            if !is_wanted() {
                return;
            }
            let Some(index) = self.index(&segment) else { continue };
            for (number, group) in index.groups().iter().enumerate() {
                if group.from_ns >= range.end || group.to_ns < range.start || !group.may_have(&filter) {
                    continue;
                }
                if group.from_ns < range.start || group.to_ns >= range.end {
                    add_calls(sums, &self.read(&index, number), &filter, range);
                    continue;
                }
                let known = self.sum_cache().selected(ranks, &(segment.file.clone(), number));
                match known {
                    Some(known) => add_sums(sums, &known, group.rows()),
                    None => unread.push((Arc::clone(&index), number)),
                }
            }
        }
        self.add_unread(unread, ranks, sums, is_wanted);
    }

    fn forget_sums_of_segments_that_are_gone(&self) {
        let files: FxHashSet<String> = {
            let inner = self.lock();
            let most = inner.segments.len();
            if self.sum_cache().selections.iter().all(|selection| selection.files.len() <= most) {
                return;
            }
            inner.segments.iter().map(|segment| segment.file.clone()).collect()
        };
        self.sum_cache().retain(&files);
    }

    /// Reads row groups from all over the range: what is counted of many then says something of all.
    fn add_unread(
        &self,
        unread: Vec<(Arc<SegmentIndex>, usize)>,
        ranks: &Ranks,
        sums: &mut SiteSums,
        is_wanted: &dyn Fn() -> bool,
    ) {
        let mut spread: Vec<(usize, (Arc<SegmentIndex>, usize))> = unread.into_iter().enumerate().collect();
        spread.sort_by_key(|(at, _)| at.reverse_bits());
        let mut rows_left = Some(self.sum_cache().limits.rows_at_once);
        for (_, (index, number)) in spread {
            if !is_wanted() {
                return;
            }
            let rows = index.groups()[number].rows();
            if rows_left == Some(0) {
                sums.note_rows(0, rows);
                continue;
            }
            let (selected, is_kept) = self.sum_group(&index, number, ranks);
            add_sums(sums, &selected, rows);
            // What is not kept is not there the next time either: then all of it is read now.
            rows_left = rows_left.filter(|_| is_kept).map(|left| left.saturating_sub(rows));
        }
    }

    fn sum_group(&self, index: &SegmentIndex, number: usize, ranks: &Ranks) -> (Selected, bool) {
        let (calls, _) = self.reader.group_columns::<Call>(index, number, Some(COLUMNS));
        let ranked = by_rank(&calls);
        let selected = of_ranks(&ranked, ranks);
        let key = (index.file().to_owned(), number);
        let mut cache = self.sum_cache();
        let is_kept = cache.keep(ranks, &key, &selected);
        if ranked.len() * CALLS_PER_RANKED <= calls.len() {
            cache.keep_ranked(&key, ranked);
        }
        (selected, is_kept)
    }
}

fn add_sums(sums: &mut SiteSums, selected: &Selected, rows: u64) {
    selected.iter().for_each(|&(site, function, sum)| sums.add(site, function, sum));
    sums.note_rows(rows, 0);
}

#[cfg(test)]
mod tests {
    use super::super::sum_cache::SumLimits;
    use mpiscope_feed::exchange::{Ranks, is_among};
    use mpiscope_feed::{CallSource as _, NO_SITE, SiteSum, SiteSums};
    use mpiscope_model::{Call, Function, Nanoseconds, Rank, Site};
    use mpiscope_recording::SegmentWriter;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::sync::Arc;

    type Calls = super::SegmentCache<Call>;

    fn some_call() -> impl Strategy<Value = Call> {
        let long_ns = prop_oneof![9 => 0_u64..40, 1 => 0_u64..3_000];
        (0_u32..6, 1_u16..4, 0_u64..3_000, long_ns, 0_u64..100, prop::option::of(0_u32..3)).prop_map(
            |(rank, function, start_ns, long_ns, bytes, site)| Call {
                rank: Rank(rank),
                function,
                start_ns,
                end_ns: start_ns + long_ns,
                bytes,
                site: site.map(Site),
                ..Call::default()
            },
        )
    }

    type Rows = BTreeMap<(u32, Function), SiteSum>;

    fn expected(calls: &[Call], range: &Range<Nanoseconds>, ranks: &Ranks, hidden: &[u32]) -> Rows {
        let mut sums = Rows::new();
        for call in calls {
            if is_among(ranks.as_deref(), call.rank) && !hidden.contains(&call.function.into()) {
                let key = (call.site.map_or(NO_SITE, |site| site.0), call.function);
                sums.entry(key).or_default().add(SiteSum::of_call(call, range));
            }
        }
        sums.retain(|_, sum| *sum != SiteSum::default());
        sums
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever is sealed, asked before, and kept: in the end each answer is what adding up call by call gives.
        #[test]
        fn sums_are_those_of_a_plain_look_once_all_calls_are_counted(
            mut calls in prop::collection::vec(some_call(), 0..500),
            looks in prop::collection::vec(
                (0_u64..3_200, 0_u64..3_200, prop::option::of((0_u32..6, 0_u32..3)), 0_u32..4),
                1..20,
            ),
            rows_at_once in prop_oneof![Just(1_u64), Just(40), Just(1_000)],
            (selected_bytes, ranked_bytes) in (prop_oneof![0_usize..3_000, Just(1 << 20)], prop_oneof![0_usize..3_000, Just(1 << 20)]),
            calls_come_later in any::<bool>(),
        ) {
            calls.sort_by_key(|call| call.end_ns);
            let folder = tempfile::tempdir().unwrap();
            let dir = folder.path().to_path_buf();
            let mut writer = SegmentWriter::<Call>::open(&dir, 100, 1).unwrap().with_rows_per_group(16);
            let cache = Calls::new(dir, 40 * size_of::<Call>());
            cache.sum_cache().limits = SumLimits { rows_at_once, selected_bytes, ranked_bytes };
            let mut segments = Vec::new();
            let mut pieces = calls.chunks(37);
            let mut known = 0;
            let mut add = |known: &mut usize| {
                let Some(piece) = pieces.next() else { return false };
                writer.push(piece, &mut segments).unwrap();
                cache.add(Arc::new(piece.to_vec()), writer.waiting_rows(), &segments);
                *known += piece.len();
                true
            };
            while !calls_come_later && add(&mut known) {}
            for (one, other, ranks, hidden) in looks {
                add(&mut known);
                let (range, hidden) = (one.min(other)..one.max(other), [hidden]);
                let range = if range.end > 3_000 { 0..Nanoseconds::MAX } else { range };
                let ranks = ranks.map(|(first, more)| vec![(Rank(first), Rank(first + more))]);
                let mut share = 0.0;
                let mut questions = 0;
                let found = loop {
                    let mut sums = SiteSums::without(&hidden);
                    cache.sum_by_site(&range, &ranks, &mut sums, &|| true).unwrap();
                    let now = sums.counted_share();
                    prop_assert!(now > share, "{} is no more than {}", now, share);
                    share = now;
                    questions += 1;
                    if share >= 1.0 {
                        break sums;
                    }
                };
                prop_assert!(rows_at_once < 1_000 || questions == 1);
                let found: Rows = found.iter().map(|(site, function, sum)| ((site, function), sum)).collect();
                prop_assert_eq!(found, expected(&calls[..known], &range, &ranks, &hidden));
                let kept = cache.sum_cache();
                prop_assert!(kept.ranked_bytes <= ranked_bytes);
                let bytes: usize = kept.selections.iter().map(|selection| selection.bytes).sum();
                prop_assert!(bytes <= selected_bytes);
            }
        }
    }

    fn cache_of_segments(dir: &std::path::Path, calls: &[Call]) -> (Calls, Vec<mpiscope_recording::Segment>) {
        let mut writer = SegmentWriter::<Call>::open(dir, 64, 1).unwrap().with_rows_per_group(32);
        let cache = Calls::new(dir.to_path_buf(), 1);
        let mut segments = Vec::new();
        writer.push(calls, &mut segments).unwrap();
        cache.add(Arc::new(calls.to_vec()), writer.waiting_rows(), &segments);
        (cache, segments)
    }

    fn steady_calls(count: u64) -> Vec<Call> {
        let call = |at| Call {
            rank: Rank((at % 2) as u32),
            start_ns: at * 10,
            end_ns: at * 10 + 9,
            ..Call::default()
        };
        (0..count).map(call).collect()
    }

    #[test]
    fn what_was_summed_up_once_is_not_read_again_for_other_ranges_and_ranks() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, segments) = cache_of_segments(folder.path(), &steady_calls(640));
        let ask = |range: Range<Nanoseconds>, ranks: Ranks| {
            let mut sums = SiteSums::without(&[]);
            cache.sum_by_site(&range, &ranks, &mut sums, &|| true).unwrap();
            sums.iter().map(|(.., sum)| sum.calls).sum::<u64>()
        };
        assert_eq!(ask(0..Nanoseconds::MAX, None), 640);
        // Nothing that is read from now on is there.
        for segment in &segments {
            std::fs::remove_file(folder.path().join(&segment.file)).unwrap();
        }
        assert_eq!(ask(0..Nanoseconds::MAX, None), 640);
        assert_eq!(ask(320..960, None), 64);
        assert_eq!(ask(0..Nanoseconds::MAX, Some(vec![(Rank(1), Rank(1))])), 320);
    }

    #[test]
    fn sums_of_segments_that_are_gone_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, segments) = cache_of_segments(folder.path(), &steady_calls(640));
        let ask = || {
            let mut sums = SiteSums::without(&[]);
            cache.sum_by_site(&(0..Nanoseconds::MAX), &None, &mut sums, &|| true).unwrap();
            sums.iter().map(|(.., sum)| sum.calls).sum::<u64>()
        };
        assert_eq!(ask(), 640);
        let before = cache.sum_cache().selections[0].bytes;
        cache.add(Arc::default(), 0, &segments[8..]);
        assert_eq!(ask(), 128);
        assert_eq!(cache.sum_cache().selections[0].bytes * 5, before);
    }
}
