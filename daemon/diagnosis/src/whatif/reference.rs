//! What messages and collectives take where nothing disturbs the network, as it was measured at another time.

use mpiscope_model::{Function, Nanoseconds};
use rustc_hash::FxHashMap;

/// What takes this many times the reference in the quietest quarter of a run was never quiet. Smaller differences do not
/// count: the reference was measured at another time.
const NEVER_QUIET: f64 = 1.25;
/// A single link is slow if it takes this many times the reference, and longer than is normal.
pub(crate) const SLOW_LINK: f64 = 2.0;

/// Medians by size, in nanoseconds.
#[derive(Debug, Clone, Default)]
struct BySize(Vec<(f64, f64)>);

impl BySize {
    fn add(&mut self, bytes: u64, ns: Nanoseconds) {
        let at = self.0.partition_point(|(size, _)| *size < bytes as f64);
        self.0.insert(at, (bytes as f64, ns as f64));
    }

    fn ns(&self, bytes: u32) -> Option<f64> {
        at_size(&self.0, |point| *point, bytes)
    }
}

/// Where a size lies among points in the order of size. Beyond the last one values grow as they did from half that size; sizes
/// next to each other tell nothing of that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    one: usize,
    other: usize,
    share: f64,
}

impl Place {
    /// None where there are no points.
    pub(crate) fn new<P>(points: &[P], bytes_of: impl Fn(&P) -> f64, bytes: u32) -> Option<Self> {
        let size = f64::from(bytes);
        let last = points.len().checked_sub(1)?;
        let after = points.partition_point(|point| bytes_of(point) < size);
        let one = match after {
            0 => 0,
            _ if after <= last => after - 1,
            _ => points
                .iter()
                .rposition(|point| 2.0 * bytes_of(point) <= bytes_of(&points[last]))
                .unwrap_or(last),
        };
        let other = after.min(last);
        let [from, to] = [one, other].map(|at| bytes_of(&points[at]));
        Some(Self {
            one,
            other,
            share: if one == other { 0.0 } else { (size - from) / (to - from).max(1e-9) },
        })
    }

    /// What points have there.
    pub(crate) fn value<P>(self, points: &[P], value: impl Fn(&P) -> f64) -> f64 {
        let [from, to] = [self.one, self.other].map(|at| value(&points[at]));
        let there = from + (to - from) * self.share;
        if self.share > 1.0 { there.max(to) } else { there }
    }
}

/// The value of a size, from points in the order of size.
pub(crate) fn at_size<P>(points: &[P], value: impl Fn(&P) -> (f64, f64), bytes: u32) -> Option<f64> {
    let place = Place::new(points, |point| value(point).0, bytes)?;
    Some(place.value(points, |point| value(point).1))
}

/// All that was measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reference {
    /// Within nodes, and between them.
    messages: [BySize; 2],
    /// Up to how long is normal between nodes.
    normal: BySize,
    /// By function and number of ranks.
    collectives: FxHashMap<(Function, u32), BySize>,
}

impl Reference {
    pub(crate) fn message(&mut self, is_inter: bool, bytes: u64, [median_ns, normal_ns]: [Nanoseconds; 2]) {
        self.messages[usize::from(is_inter)].add(bytes, median_ns);
        if is_inter {
            self.normal.add(bytes, normal_ns);
        }
    }

    /// Whether it is known what any message between nodes takes.
    pub(crate) fn knows_messages(&self) -> bool {
        !self.messages[1].0.is_empty()
    }

    /// What a message takes; none where that was not measured.
    pub(crate) fn message_ns(&self, is_inter: bool, bytes: u32) -> Option<f64> {
        self.messages[usize::from(is_inter)].ns(bytes)
    }

    pub(crate) fn collective(&mut self, function: Function, ranks: u32, bytes: u64, median_ns: Nanoseconds) {
        self.collectives.entry((function, ranks)).or_default().add(bytes, median_ns);
    }

    pub(crate) fn knows_collective(&self, function: Function, ranks: u32) -> bool {
        self.collectives.contains_key(&(function, ranks))
    }

    /// What a message between nodes takes in an undisturbed network, as a share of what it takes in the quietest quarter of the
    /// run, by what half of them and nearly all of them take there. What is longer than that half is so by as much less as
    /// messages of the reference differ less from each other.
    pub(crate) fn share_of_message(&self, bytes: u32, [median_ns, normal_ns]: [f64; 2], ns: f64) -> f64 {
        let usual_ns = self.message_ns(true, bytes);
        let share = undisturbed_share(usual_ns, median_ns);
        let (Some(usual_ns), Some(most_ns)) = (usual_ns, self.normal.ns(bytes)) else { return share };
        let (own_spread, spread) =
            ((normal_ns / median_ns.max(1.0)).ln(), (most_ns / usual_ns.max(1.0)).ln());
        if share < 1.0 && own_spread > spread && spread > 0.0 && ns > 0.0 {
            share * (ns / median_ns.max(1.0)).powf(spread / own_spread - 1.0)
        } else {
            share
        }
    }

    /// Likewise of a message on one link, by what its messages take: nodes that are far from each other are no disturbance, so
    /// half of them must take longer than nearly all of the reference did.
    pub(crate) fn share_on_link(&self, bytes: u32, own_ns: f64) -> f64 {
        match (self.message_ns(true, bytes), self.normal.ns(bytes)) {
            (Some(median_ns), Some(normal_ns)) if own_ns > normal_ns.max(SLOW_LINK * median_ns) => {
                median_ns / own_ns
            }
            _ => 1.0,
        }
    }

    /// Likewise what a collective takes after its last entry.
    pub(crate) fn share_of_collective(
        &self,
        (function, ranks, bytes): (Function, u32, u32),
        own_ns: f64,
    ) -> f64 {
        let known = self.collectives.get(&(function, ranks));
        undisturbed_share(known.and_then(|sizes| sizes.ns(bytes)), own_ns)
    }
}

fn undisturbed_share(reference_ns: Option<f64>, own_ns: f64) -> f64 {
    match reference_ns {
        Some(reference_ns) if own_ns > NEVER_QUIET * reference_ns => reference_ns / own_ns,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_between_and_beyond_what_was_measured_are_on_a_line() {
        let mut of = Reference::default();
        assert_eq!(of.share_of_message(8, [1e9; 2], 1e9), 1.0);
        for (bytes, ns) in [(1_000, 20), (0, 10), (2_000, 40)] {
            of.message(true, bytes, [ns, 3 * ns]);
        }
        assert_eq!(of.share_of_message(0, [100.0; 2], 100.0), 0.1);
        assert_eq!(of.share_of_message(500, [150.0; 2], 150.0), 0.1);
        assert_eq!(of.share_of_message(4_000, [800.0; 2], 800.0), 0.1);
        assert_eq!(of.share_of_message(4_000, [90.0; 2], 90.0), 1.0);
        // Sizes next to each other are no line.
        of.message(true, 2_050, [90, 90]);
        let share = |own_ns| of.share_of_message(1_000_000, [own_ns; 2], own_ns);
        assert_eq!(share(1e6), share(1e7) * 10.0);
        assert!(of.message_ns(true, 1_000_000).unwrap() < 100_000.0);
    }

    #[test]
    fn messages_differ_no_more_than_undisturbed_ones() {
        let mut of = Reference::default();
        of.message(true, 8, [100, 200]);
        let undisturbed_ns = |ns: f64| ns * of.share_of_message(8, [1_000.0, 4_000.0], ns);
        assert_eq!(undisturbed_ns(1_000.0), 100.0);
        assert!((undisturbed_ns(4_000.0) - 200.0).abs() < 1e-9);
        assert!((undisturbed_ns(250.0) - 50.0).abs() < 1e-9);
        // Where they differ less from each other, that stays.
        assert!((1_500.0 * of.share_of_message(8, [1_000.0, 1_500.0], 1_500.0) - 150.0).abs() < 1e-9);
    }

    #[test]
    fn a_link_is_slow_beyond_what_is_normal() {
        let mut of = Reference::default();
        assert_eq!(of.share_on_link(8, 1e9), 1.0);
        of.message(true, 8, [100, 500]);
        of.message(true, 1_000, [100, 110]);
        assert_eq!([400.0, 1_000.0].map(|own_ns| of.share_on_link(8, own_ns)), [1.0, 0.1]);
        assert_eq!([150.0, 400.0].map(|own_ns| of.share_on_link(1_000, own_ns)), [1.0, 0.25]);
    }

    #[test]
    fn collectives_are_distinguished_by_function_and_ranks() {
        let mut of = Reference::default();
        of.collective(7, 4, 8, 10);
        assert_eq!(of.share_of_collective((7, 4, 8), 100.0), 0.1);
        assert_eq!(
            (of.share_of_collective((7, 8, 8), 100.0), of.share_of_collective((6, 4, 8), 100.0)),
            (1.0, 1.0)
        );
    }
}
