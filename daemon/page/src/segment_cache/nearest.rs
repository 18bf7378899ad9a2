//! The nearest call after or before a time: row groups are read in the order of how near their calls can be, until none that is
//! left can have a nearer one.

use super::cache::{SegmentCache, by_ranks};
use mpiscope_feed::exchange::EventQuestion;
use mpiscope_model::{Call, Nanoseconds};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What was not read yet, the nearest on top: how near its calls can be, the number of its segment, and of a row group in it.
type Ahead = BinaryHeap<Reverse<(Nanoseconds, usize, Option<usize>)>>;

impl SegmentCache<Call> {
    pub(super) fn nearest_to(&self, question: &EventQuestion) -> Option<Call> {
        let (waiting, segments) = self.parts(&(0..Nanoseconds::MAX));
        let nearer = |nearest, calls: &[Call]| {
            calls
                .iter()
                .filter(|call| question.accepts(call))
                .fold(nearest, |nearest, call| question.nearer(nearest, *call))
        };
        let mut nearest = waiting
            .iter()
            .fold(None, |nearest, (rows, sealed)| nearer(nearest, rows.get(*sealed..).unwrap_or_default()));
        let filter = by_ranks(&question.ranks);
        let mut ahead = Ahead::new();
        for (at, segment) in segments.iter().enumerate() {
            let away_ns = question.nearest_ns(segment.from_ns, segment.to_ns);
            ahead.extend(away_ns.map(|away_ns| Reverse((away_ns, at, None))));
        }
        while let Some(Reverse((away_ns, at, group))) = ahead.pop() {
            if nearest.is_some_and(|nearest: Call| question.away_ns(nearest.start_ns) < away_ns) {
                break;
            }
            let Some(index) = self.index(&segments[at]) else { continue };
            if let Some(number) = group {
                nearest = nearer(nearest, &self.read(&index, number));
                continue;
            }
            for (number, group) in index.groups().iter().enumerate() {
                let away_ns = question.nearest_ns(group.from_ns, group.to_ns);
                let away_ns = away_ns.filter(|_| group.may_have(&filter));
                ahead.extend(away_ns.map(|away_ns| Reverse((away_ns, at, Some(number)))));
            }
        }
        nearest
    }
}
