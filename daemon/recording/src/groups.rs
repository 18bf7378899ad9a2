//! How the rows of a segment are cut into row groups: each a stretch of time, to keep seeks cheap.
//!
//! Rows arrive in about the order of their ends, and pieces of that order end one after the other. A row longer than
//! such a piece goes to groups of its own behind them: it would stretch its group over the whole run.

use crate::row::SegmentRow;

/// Shows the groups of a segment to `put`, each in order.
pub(crate) fn for_each_group<R: SegmentRow, E>(
    rows: &[R],
    rows_per_group: usize,
    mut put: impl FnMut(&[R]) -> Result<(), E>,
) -> Result<(), E> {
    let most_ns = if rows.len() <= rows_per_group {
        u64::MAX
    } else {
        end_span_ns(rows) / rows.len().div_ceil(rows_per_group) as u64
    };
    let is_long = |row: &R| row.end_ns().saturating_sub(row.begin_ns()) > most_ns;
    let (mut group, mut keys, mut long) = (Vec::new(), Vec::new(), Vec::new());
    let mut put_in_order = |rows: &[R], keys: &mut Vec<(R::Key, usize)>| {
        // Keys are sorted instead of rows, which are several times as large.
        sort(rows, keys);
        group.clear();
        group.extend(keys.iter().map(|&(_, at)| rows[at].clone()));
        keys.clear();
        if group.is_empty() { Ok(()) } else { put(&group) }
    };
    for piece in rows.chunks(rows_per_group) {
        for (at, row) in piece.iter().enumerate() {
            if is_long(row) { long.push(row.clone()) } else { keys.push((row.key(), at)) }
        }
        put_in_order(piece, &mut keys)?;
    }
    for piece in long.chunks(rows_per_group) {
        keys.extend(piece.iter().enumerate().map(|(at, row)| (row.key(), at)));
        put_in_order(piece, &mut keys)?;
    }
    Ok(())
}

/// A stretch in order has at least this many rows on average, or rows are sorted one by one.
const LEAST_STRETCH: usize = 4;

/// Sorts keys of rows. Most rows of a lane come in order, many at a time: then only these stretches have to be sorted.
fn sort<R: SegmentRow>(rows: &[R], keys: &mut Vec<(R::Key, usize)>) {
    let lane = |(_, at): &(R::Key, usize)| rows[*at].lane();
    let mut stretches: Vec<_> =
        keys.chunk_by(|one, other| lane(one) == lane(other) && one <= other).collect();
    if stretches.len() > keys.len() / LEAST_STRETCH {
        keys.sort();
        return;
    }
    stretches.sort_unstable_by_key(|stretch| stretch[0]);
    let mut sorted = stretches.concat();
    if !sorted.is_sorted() {
        sorted.sort();
    }
    *keys = sorted;
}

/// From the first end to the last.
pub(crate) fn end_span_ns<R: SegmentRow>(rows: &[R]) -> u64 {
    let first_ns = rows.iter().map(SegmentRow::end_ns).min().unwrap_or_default();
    let last_ns = rows.iter().map(SegmentRow::end_ns).max().unwrap_or_default();
    last_ns - first_ns
}

#[cfg(test)]
mod tests {
    use super::{for_each_group, sort};
    use crate::row::SegmentRow;
    use mpiscope_model::{Call, Rank};
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn groups(rows: &[Call], rows_per_group: usize) -> Vec<Vec<Call>> {
        let mut groups = Vec::new();
        let Ok(()) = for_each_group::<_, Infallible>(rows, rows_per_group, |group| {
            groups.push(group.to_vec());
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
        fn stretches_in_order_are_sorted_as_single_rows_are(
            stretches in proptest::collection::vec((0_u32..4, 0_u64..9_000, 1_u64..60, 0_u64..3), 0..40),
        ) {
            let of_stretch = |(rank, from_ns, count, each_ns): (u32, u64, u64, u64)| {
                (0..count).map(move |at| Call { rank: Rank(rank), start_ns: from_ns + at * each_ns, ..Call::default() })
            };
            let rows: Vec<Call> = stretches.into_iter().flat_map(of_stretch).collect();
            let mut found: Vec<_> = rows.iter().enumerate().map(|(at, row)| (row.key(), at)).collect();
            let mut plain = found.clone();
            sort(&rows, &mut found);
            plain.sort();
            prop_assert_eq!(found, plain);
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
