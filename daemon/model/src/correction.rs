use crate::ids::Nanoseconds;
use crate::message::Message;

/// More than 70 years. The limit of all corrections keeps sums in range.
const MOST_NS: i64 = 1 << 61;

/// Converts times of one node from an earlier clock map to a later one, by adding a broken line over the earlier
/// times. The line is level before its first and after its last point.
///
/// By construction time never runs backward through it, whatever its points are: they come from files as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Correction {
    points: Vec<(Nanoseconds, i64)>,
}

impl Correction {
    /// The one that adds nothing.
    pub const NOTHING: Self = Self { points: Vec::new() };

    /// From pairs of a time and the amount to add. A pair that does not lie after the one before is passed over, and
    /// the amount falls no faster than time goes on.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (Nanoseconds, i64)>) -> Self {
        let mut points: Vec<(Nanoseconds, i64)> = Vec::new();
        for (time_ns, add_ns) in pairs {
            let add_ns = add_ns.clamp(-MOST_NS, MOST_NS);
            let add_ns = match points.last() {
                Some(&(last_ns, _)) if time_ns <= last_ns => continue,
                Some(&(last_ns, last_add_ns)) => {
                    add_ns.max(last_add_ns.saturating_sub_unsigned(time_ns - last_ns))
                }
                None => add_ns,
            };
            points.push((time_ns, add_ns));
        }
        if points.iter().all(|&(_, add_ns)| add_ns == 0) { Self::NOTHING } else { Self { points } }
    }

    /// The pairs, in order of time.
    #[must_use]
    pub fn points(&self) -> &[(Nanoseconds, i64)] {
        &self.points
    }

    /// Whether nothing is ever added.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.points.is_empty()
    }

    /// The least and the most that is ever added.
    #[must_use]
    pub fn range_ns(&self) -> (i64, i64) {
        let adds = || self.points.iter().map(|&(_, add_ns)| add_ns);
        (adds().min().unwrap_or(0), adds().max().unwrap_or(0))
    }

    /// What is added to a time.
    #[must_use]
    pub fn offset_at(&self, time_ns: Nanoseconds) -> i64 {
        self.line_at(time_ns).offset_at(time_ns)
    }

    /// A time by the later map. What would lie before the start of the run is its start.
    #[must_use]
    pub fn apply(&self, time_ns: Nanoseconds) -> Nanoseconds {
        time_ns.saturating_add_signed(self.offset_at(time_ns))
    }

    /// The same for many times that lie close together.
    #[must_use]
    pub fn nearby(&self) -> Nearby<'_> {
        Nearby { correction: self, line: self.line_at(0) }
    }

    fn line_at(&self, time_ns: Nanoseconds) -> Line {
        let after = self.points.partition_point(|&(point_ns, _)| point_ns <= time_ns);
        let level = |add_ns| Line { from_ns: 0, to_ns: Nanoseconds::MAX, add_ns, rise: 0 };
        match (after.checked_sub(1).map(|before| self.points[before]), self.points.get(after)) {
            (Some((from_ns, add_ns)), Some(&(to_ns, later_add_ns))) => {
                Line { from_ns, to_ns, add_ns, rise: later_add_ns - add_ns }
            }
            (Some((from_ns, add_ns)), None) => Line { from_ns, ..level(add_ns) },
            (None, Some(&(to_ns, add_ns))) => Line { to_ns, ..level(add_ns) },
            (None, None) => level(0),
        }
    }
}

/// A correction of times that lie close together: most are on the same line as the one before.
#[derive(Debug)]
pub struct Nearby<'a> {
    correction: &'a Correction,
    line: Line,
}

impl Nearby<'_> {
    /// What [`Correction::apply`] makes of a time.
    #[inline]
    pub fn apply(&mut self, time_ns: Nanoseconds) -> Nanoseconds {
        if !(self.line.from_ns..self.line.to_ns).contains(&time_ns) {
            self.line = self.correction.line_at(time_ns);
        }
        time_ns.saturating_add_signed(self.line.offset_at(time_ns))
    }
}

/// What is added from one point to the next.
#[derive(Debug, Clone, Copy)]
struct Line {
    from_ns: Nanoseconds,
    to_ns: Nanoseconds,
    add_ns: i64,
    rise: i64,
}

/// Whole numbers below this are exact as `f64`.
const EXACT: u64 = 1 << 53;

impl Line {
    /// Rounds down everywhere: a slope of no less than minus one then never makes time run backward.
    #[inline]
    fn offset_at(&self, time_ns: Nanoseconds) -> i64 {
        if self.rise == 0 {
            return self.add_ns;
        }
        let (run, step) = (self.to_ns - self.from_ns, time_ns - self.from_ns);
        let product = i64::try_from(step).ok().and_then(|step| self.rise.checked_mul(step));
        let part = match product {
            // The quotient is at least `1 / run` away from any whole number that it does not reach, which is more than it is
            // rounded by. Dividing whole numbers takes several times as long.
            Some(product) if product.unsigned_abs().max(run) < EXACT => {
                let quotient = product as f64 / run as f64;
                let whole = quotient as i64;
                whole - i64::from(whole as f64 > quotient)
            }
            // No more than `rise`.
            _ => (i128::from(self.rise) * i128::from(step)).div_euclid(i128::from(run)) as i64,
        };
        self.add_ns + part
    }
}

impl Message {
    /// The message by a later clock map: what sender and receiver saw moves with their nodes, and what lies between
    /// them is worked out anew.
    #[must_use]
    pub fn corrected(&self, sender: &Correction, receiver: &Correction) -> Self {
        let (s0, r1) = (self.send_ns, self.recv_ns);
        let c0 = if self.late_sender_ns > 0 {
            r1.min(s0).saturating_sub(self.late_sender_ns)
        } else {
            r1.saturating_sub(self.t_msg_ns)
        };
        // A blocked send ended after the receive was posted: its end bounds the time of the post.
        let posted =
            self.late_receiver_ns.filter(|&late_ns| late_ns > 0).map(|late_ns| s0.saturating_add(late_ns));
        let (s0, c0, r1) = (sender.apply(s0), receiver.apply(c0), receiver.apply(r1));
        Self {
            send_ns: s0,
            recv_ns: r1,
            t_msg_ns: r1.saturating_sub(s0.max(c0)),
            late_sender_ns: r1.min(s0).saturating_sub(c0),
            late_receiver_ns: match posted {
                Some(posted_ns) => Some(receiver.apply(posted_ns).saturating_sub(s0)),
                None => self.late_receiver_ns,
            },
            exact: self.exact && c0 <= s0,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Comm, Rank};
    use proptest::prelude::*;

    fn level(add_ns: i64) -> Correction {
        Correction::new([(0, add_ns)])
    }

    /// A message with all fields, computed by the formulas that define them.
    fn message(s0: u64, p0: u64, c0: u64, r1: u64) -> Message {
        Message {
            src: Rank(0),
            dst: Rank(1),
            tag: 0,
            comm: Comm::WORLD,
            bytes: 8,
            send_ns: s0,
            recv_ns: r1,
            t_msg_ns: r1.saturating_sub(s0.max(c0)),
            late_sender_ns: r1.min(s0).saturating_sub(c0),
            late_receiver_ns: Some(p0.saturating_sub(s0)),
            inter: true,
            exact: c0 <= s0,
        }
    }

    #[test]
    fn it_is_a_broken_line_that_is_level_outside() {
        let correction = Correction::new([(100, 10), (200, -10), (200, 99), (300, 20)]);
        assert_eq!(correction.points(), [(100, 10), (200, -10), (300, 20)]);
        assert_eq!(
            [0, 100, 150, 200, 250, 300, 999].map(|ns| correction.offset_at(ns)),
            [10, 10, 0, -10, 5, 20, 20]
        );
        assert_eq!(correction.range_ns(), (-10, 20));
        assert_eq!(level(-50).apply(20), 0);
        assert!(level(0).is_nothing() && Correction::default().is_nothing());
    }

    #[test]
    fn time_never_runs_backward_whatever_the_points_are() {
        let correction = Correction::new([(10, i64::MAX), (20, i64::MIN), (30, 5), (u64::MAX, i64::MIN)]);
        let times: Vec<u64> =
            [0, 10, 11, 15, 20, 25, 30, 1 << 40, u64::MAX].map(|ns| correction.apply(ns)).into();
        assert!(times.is_sorted(), "{times:?}");
        let steep = Correction::new([(1_000, 0), (2_000, -5_000), (9_000, 3)]);
        assert!((0..10_000).map(|ns| steep.apply(ns)).is_sorted());
    }

    proptest! {
        #[test]
        fn times_that_lie_close_together_move_as_by_plain_division(
            points in proptest::collection::vec((0_u64..1 << 50, -(1_i64 << 40)..1 << 40), 0..6),
            small in proptest::collection::vec((0_u64..100, -200_i64..200), 0..6),
            times in proptest::collection::vec(prop_oneof![0_u64..120, 0_u64..1 << 51], 1..40),
        ) {
            for mut pairs in [points, small] {
                pairs.sort_unstable();
                let correction = Correction::new(pairs);
                let mut nearby = correction.nearby();
                for &time_ns in &times {
                    let after = correction.points().partition_point(|point| point.0 <= time_ns);
                    let add_ns = match (correction.points()[..after].last(), correction.points().get(after)) {
                        (Some(before), Some(after)) => {
                            let rise = i128::from(after.1 - before.1) * i128::from(time_ns - before.0);
                            before.1 + rise.div_euclid(i128::from(after.0 - before.0)) as i64
                        }
                        (Some(point), None) | (None, Some(point)) => point.1,
                        (None, None) => 0,
                    };
                    prop_assert_eq!(correction.offset_at(time_ns), add_ns);
                    prop_assert_eq!(nearby.apply(time_ns), time_ns.saturating_add_signed(add_ns));
                }
            }
        }
    }

    #[test]
    fn the_times_of_a_message_are_those_of_the_corrected_moments() {
        // The receiver waits; it is busy; it ends before the send began by the clocks; all at once.
        for [s0, p0, c0, r1] in
            [[500, 550, 400, 900], [500, 300, 700, 900], [950, 900, 800, 900], [500, 500, 500, 500]]
        {
            for (sender_ns, receiver_ns) in [(0, 0), (7, 100), (-30, -250), (120, -60)] {
                let moved = message(s0, p0, c0, r1).corrected(&level(sender_ns), &level(receiver_ns));
                let add = |ns: u64, add_ns: i64| ns.saturating_add_signed(add_ns);
                let mut expected = message(
                    add(s0, sender_ns),
                    add(p0, receiver_ns),
                    add(c0, receiver_ns),
                    add(r1, receiver_ns),
                );
                expected.exact &= c0 <= s0;
                if p0 <= s0 {
                    expected.late_receiver_ns = Some(0);
                }
                assert_eq!(moved, expected, "{s0} {p0} {c0} {r1} moved by {sender_ns} and {receiver_ns}");
            }
        }
    }
}
