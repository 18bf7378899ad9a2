//! How the rows of a segment are cut into row groups: each a stretch of time, to keep seeks cheap.
//!
//! Rows arrive in about the order of their ends, and pieces of that order end one after the other. A row longer than
//! such a piece goes to groups of its own behind them: it would stretch its group over the whole run.

use crate::row::SegmentRow;
use mpiscope_model::deal_out;

/// When rows were.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// The first begin.
    pub(crate) from_ns: u64,
    pub(crate) first_end_ns: u64,
    /// The last end.
    pub(crate) to_ns: u64,
}

impl Default for Span {
    /// Of no rows.
    fn default() -> Self {
        Self { from_ns: u64::MAX, first_end_ns: u64::MAX, to_ns: 0 }
    }
}

impl Span {
    #[inline]
    pub(crate) fn add<R: SegmentRow>(&mut self, row: &R) {
        let end_ns = row.end_ns();
        self.from_ns = self.from_ns.min(row.begin_ns());
        self.first_end_ns = self.first_end_ns.min(end_ns);
        self.to_ns = self.to_ns.max(end_ns);
    }

    /// From the first end to the last.
    pub(crate) fn ends_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.first_end_ns)
    }
}

/// Shows the groups of a segment to `put`, each in order.
pub(crate) fn for_each_group<'a, R: SegmentRow, E>(
    rows: &'a [R],
    ends_ns: u64,
    rows_per_group: usize,
    mut put: impl FnMut(&[&'a R]) -> Result<(), E>,
) -> Result<(), E> {
    let most_ns = if rows.len() <= rows_per_group {
        u64::MAX
    } else {
        ends_ns / rows.len().div_ceil(rows_per_group) as u64
    };
    let is_long = |row: &R| row.end_ns().saturating_sub(row.begin_ns()) > most_ns;
    let (mut group, mut keys, mut long) = (Vec::new(), Vec::new(), Vec::new());
    let mut put_sorted = |keys: &mut Vec<(R::Key, u32)>| {
        // Keys are sorted instead of rows, which are several times as large.
        sort::<R>(keys);
        group.clear();
        group.extend(keys.iter().map(|&(_, at)| &rows[at as usize]));
        keys.clear();
        if group.is_empty() { Ok(()) } else { put(&group) }
    };
    for (piece, first) in rows.chunks(rows_per_group).zip((0..).step_by(rows_per_group)) {
        for (row, at) in piece.iter().zip(first..) {
            if is_long(row) { long.push(at) } else { keys.push((row.key(), at)) }
        }
        put_sorted(&mut keys)?;
    }
    for piece in long.chunks(rows_per_group) {
        keys.extend(piece.iter().map(|&at| (rows[at as usize].key(), at)));
        put_sorted(&mut keys)?;
    }
    Ok(())
}

/// Lanes are counted if there are at most this many times as many as rows, as a rule.
const LANES_PER_ROW: u64 = 4;

/// Sorts keys of rows. Most rows of a lane come in order: dealt out to their lanes, few of them have to be sorted.
fn sort<R: SegmentRow>(keys: &mut Vec<(R::Key, u32)>) {
    let lane = |(key, _): &(R::Key, u32)| R::lane(key);
    let most = keys.iter().map(lane).max().unwrap_or(0);
    if most >= LANES_PER_ROW * keys.len() as u64 {
        keys.sort_unstable();
        return;
    }
    let (numbers, ends) = deal_out(keys.len(), most as usize + 1, |number| lane(&keys[number]) as usize);
    let mut sorted: Vec<_> = numbers.into_iter().map(|number| keys[number as usize]).collect();
    let mut begin = 0;
    for end in ends {
        put_in_order(&mut sorted[begin..end]);
        begin = end;
    }
    *keys = sorted;
}

/// So far from its place a key is, as a rule, among those of its lane: messages that one call received are no more.
const NEAR: usize = 32;

/// Sorts keys that are in order but for some that are near their places.
fn put_in_order<K: Ord + Copy>(keys: &mut [K]) {
    for at in 1..keys.len() {
        let key = keys[at];
        if key >= keys[at - 1] {
            continue;
        }
        let from = at.saturating_sub(NEAR);
        let place =
            from + keys[from..at].iter().rposition(|before| *before <= key).map_or(0, |before| before + 1);
        if place == from && from > 0 && keys[from - 1] > key {
            // There may be long stretches in order, which this finds.
            keys.sort();
            return;
        }
        keys.copy_within(place..at, place + 1);
        keys[place] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, for_each_group, put_in_order, sort};
    use crate::row::SegmentRow;
    use mpiscope_model::{Call, Rank};
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn groups(rows: &[Call], rows_per_group: usize) -> Vec<Vec<Call>> {
        let mut groups = Vec::new();
        let mut span = Span::default();
        rows.iter().for_each(|row| span.add(row));
        let Ok(()) = for_each_group::<_, Infallible>(rows, span.ends_ns(), rows_per_group, |group| {
            groups.push(group.iter().map(|call| **call).collect());
            Ok(())
        });
        groups
    }

    #[test]
    fn one_call_that_waits_all_the_time_is_in_nobodys_way() {
        let mut rows: Vec<Call> = (0..1_000)
            .map(|at| Call { rank: Rank(1), start_ns: at * 10, end_ns: at * 10 + 9, ..Call::default() })
            .collect();
        rows.push(Call { end_ns: 10_000, ..Call::default() });
        let groups = groups(&rows, 100);
        assert_eq!(groups.last().map(Vec::len), Some(1));
        for group in &groups[..groups.len() - 1] {
            let from_ns = group.iter().map(|call| call.start_ns).min().unwrap();
            let to_ns = group.iter().map(|call| call.end_ns).max().unwrap();
            assert!(to_ns - from_ns <= 1_000);
        }
    }

    proptest! {
        #[test]
        fn rows_of_lanes_are_sorted_as_single_rows_are(
            stretches in proptest::collection::vec((prop_oneof![0_u32..4, 0_u32..4_000], 0_u64..9_000, 1_u64..60, 0_u64..3), 0..40),
        ) {
            let of_stretch = |(rank, from_ns, count, each_ns): (u32, u64, u64, u64)| {
                (0..count).map(move |at| Call { rank: Rank(rank), start_ns: from_ns + at * each_ns, ..Call::default() })
            };
            let rows: Vec<Call> = stretches.into_iter().flat_map(of_stretch).collect();
            let mut found: Vec<_> = rows.iter().zip(0..).map(|(row, at)| (row.key(), at)).collect();
            let mut plain = found.clone();
            sort::<Call>(&mut found);
            plain.sort();
            prop_assert_eq!(found, plain);
        }

        #[test]
        fn keys_near_their_places_or_far_from_them_are_sorted(
            mut keys in proptest::collection::vec(0_u16..90, 0..200),
            far in proptest::collection::vec(0_u16..90, 0..2),
        ) {
            // In order but for neighbours, and maybe some behind them.
            keys.sort();
            keys.chunks_mut(7).for_each(<[u16]>::reverse);
            keys.extend(far);
            let mut plain = keys.clone();
            plain.sort();
            put_in_order(&mut keys);
            prop_assert_eq!(keys, plain);
        }

        #[test]
        fn groups_hold_every_row_once_and_in_order(
            times in proptest::collection::vec((0_u32..4, 0_u64..5_000, 0_u64..3_000), 0..300),
            rows_per_group in 1_usize..70,
        ) {
            let rows: Vec<Call> = times
                .iter()
                .map(|&(rank, at, long)| Call { rank: Rank(rank), start_ns: at, end_ns: at + long, ..Call::default() })
                .collect();
            let groups = groups(&rows, rows_per_group);
            for group in &groups {
                prop_assert!(group.len() <= rows_per_group);
                prop_assert!(group.is_sorted_by_key(|call| (call.rank, call.start_ns)));
            }
            let key = |call: &Call| (call.rank, call.start_ns, call.end_ns);
            let (mut found, mut expected) = (groups.concat(), rows);
            found.sort_by_key(key);
            expected.sort_by_key(key);
            prop_assert_eq!(found, expected);
        }
    }
}
