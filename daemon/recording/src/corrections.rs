//! From the times that rows were sealed with to those of the last clock map. Whoever reads rows gets them through here.

use crate::manifest::{Manifest, Segment};
use mpiscope_model::{Call, Correction, Message, Rank};

/// What the last version of the clock map adds to the times of each rank.
#[derive(Debug, Clone, Default)]
pub struct Corrections {
    /// The version that needs no correction.
    last_version: u32,
    nodes: Vec<Correction>,
    /// By rank, an index into `nodes`; ranks without a correction are not in it.
    ranks: Vec<(Rank, usize)>,
}

static NOTHING: Correction = Correction::NOTHING;

impl Corrections {
    /// Those of the last version in a manifest. Where it corrects nothing, as for one node, rows are read as they are.
    #[must_use]
    pub fn from_manifest(manifest: &Manifest) -> Self {
        let Some(last) = manifest.clock.versions.last() else { return Self::default() };
        let mut corrections = Self { last_version: last.version, ..Self::default() };
        for clock in &last.nodes {
            let correction = Correction::new(clock.corrections.iter().copied());
            let Some(node) = manifest.job.nodes.get(clock.node as usize).filter(|_| !correction.is_nothing())
            else {
                continue;
            };
            let index = corrections.nodes.len();
            corrections.nodes.push(correction);
            corrections.ranks.extend(node.ranks.iter().map(|&rank| (Rank(rank), index)));
        }
        corrections.ranks.sort_unstable();
        corrections.ranks.dedup_by_key(|&mut (rank, _)| rank);
        corrections
    }

    /// The correction of a rank's times.
    #[must_use]
    pub fn of_rank(&self, rank: Rank) -> &Correction {
        let found = self.ranks.binary_search_by_key(&rank, |&(rank, _)| rank);
        found.map_or(&NOTHING, |at| &self.nodes[self.ranks[at].1])
    }

    /// Whether rows of a segment are to be corrected at all.
    pub(crate) fn concern(&self, segment: &Segment) -> bool {
        !self.nodes.is_empty() && segment.clock_version != self.last_version
    }

    /// The segment with the range of time in which its corrected rows lie.
    #[must_use]
    pub fn segment(&self, segment: &Segment) -> Segment {
        let (from_ns, to_ns) = self.range(segment, (segment.from_ns, segment.to_ns));
        Segment { from_ns, to_ns, ..segment.clone() }
    }

    /// The range of time in which corrected rows of a segment lie that were sealed with times in a range.
    pub(crate) fn range(&self, segment: &Segment, (from_ns, to_ns): (u64, u64)) -> (u64, u64) {
        if !self.concern(segment) {
            return (from_ns, to_ns);
        }
        let ranges = || self.nodes.iter().map(Correction::range_ns);
        // A rank whose node has no correction stays where it is.
        let least_ns = ranges().map(|(least_ns, _)| least_ns).fold(0, i64::min);
        let most_ns = ranges().map(|(_, most_ns)| most_ns).fold(0, i64::max);
        (from_ns.saturating_add_signed(least_ns), to_ns.saturating_add_signed(most_ns))
    }

    /// No time of a segment is moved by more.
    pub(crate) fn most_ns(&self, segment: &Segment) -> u64 {
        let ranges = self.nodes.iter().map(Correction::range_ns).filter(|_| self.concern(segment));
        ranges.map(|(least, most)| least.unsigned_abs().max(most.unsigned_abs())).max().unwrap_or_default()
    }

    pub(crate) fn call(&self, call: &mut Call) {
        let correction = self.of_rank(call.rank);
        call.start_ns = correction.apply(call.start_ns);
        call.end_ns = correction.apply(call.end_ns);
    }

    pub(crate) fn message(&self, message: &mut Message) {
        let (sender, receiver) = (self.of_rank(message.src), self.of_rank(message.dst));
        if !(sender.is_nothing() && receiver.is_nothing()) {
            *message = message.corrected(sender, receiver);
        }
    }
}
