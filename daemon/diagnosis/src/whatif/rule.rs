//! The rules by which replays conclude what the recording does not say.
//!
//! Each can be left out, to see what it is worth on runs whose causes are known (`mpiscope-scenarios --ablation`).

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Rule {
    /// Only ranks that call from the same sites do the same work. Without it, all ranks do.
    Classes,
    /// Balance is restored within segments in which each rank's share stays the same. Without it, over the whole run.
    Segments,
    /// Where the ranks with more work change from step to step, it is balanced within each step. Without it, within segments.
    Steps,
    /// A rank loses work where it differs from others. Without it, all of its work is scaled.
    Between,
    /// What a rank does alone is done by others meanwhile, and nothing is sent for it any more. Without it, the rank does its share.
    Alone,
    /// A thread that deals takes requests as they come. Without it, in the recorded order.
    Dealers,
    /// A call that took far longer than usual waited until a peer entered MPI. Without it, that is unexplained.
    Blocked,
    /// A member of a collective waited for another's entry. Without it, only for those that the function names.
    Members,
    /// A call on a window waited for another rank to enter MPI. Without it, for nobody.
    Windows,
    /// Messages come late on a link where most calls waited for no entry. Without it, entries are looked for there, too.
    LateLinks,
    /// A call that sent on a slow link ended when its message had left. Without it, what it received may have ended it.
    Drained,
    /// A link that is slow throughout says nothing of others, and stays slow. Without it, all links are alike, and `Drained` finds
    /// nothing.
    SlowLinks,
    /// Of several messages, the one that ended a call is drawn by how likely each came last. Without it, it is the nearest to the
    /// usual.
    LastDrawn,
    /// What messages take that did not end a call is bounded by that end. Without it, only those count that did.
    Bounds,
    /// Messages of all sizes tell together when the network was quiet. Without it, each size has its own quarter of the run.
    QuietTogether,
    /// Messages of all sizes tell together when the network was slower. Without it, each size by itself, and
    /// `CollectivesMeanwhile` finds less.
    SlowerTogether,
    /// Collectives are slower while messages are. Without it, they tell by themselves alone.
    CollectivesMeanwhile,
    /// What a message took that did not end its call is drawn. Without it, it is the median.
    UnknownDrawn,
    /// Who comes to a small collective after its data is there leaves at once. Without it, it takes as long as recorded.
    Arrivals,
    /// The time without a CPU made longer what took longer than usual at its place. Without it, what was longest.
    BeyondUsual,
    /// A call took long because a rank that it needed had no CPU. Without it, only the call's own rank counts.
    Starved,
    /// Ranks that poll less leave the CPUs that they share to others. Without it, and without
    /// `EvenDelays` then, they wait for one as recorded.
    SharedCpus,
    /// Ranks whose work is balanced wait equally for the CPUs that they share. Without it, as recorded.
    EvenDelays,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::Classes,
        Self::Segments,
        Self::Steps,
        Self::Between,
        Self::Alone,
        Self::Dealers,
        Self::Blocked,
        Self::Members,
        Self::Windows,
        Self::LateLinks,
        Self::Drained,
        Self::SlowLinks,
        Self::LastDrawn,
        Self::Bounds,
        Self::QuietTogether,
        Self::SlowerTogether,
        Self::CollectivesMeanwhile,
        Self::UnknownDrawn,
        Self::Arrivals,
        Self::BeyondUsual,
        Self::Starved,
        Self::SharedCpus,
        Self::EvenDelays,
    ];
}

/// The rules that are followed: all, but for those that are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// A bit for each rule that is left out.
    left_out: u32,
}

impl Rules {
    pub(crate) fn leave_out(&mut self, rule: Rule) {
        self.left_out |= 1 << rule as u32;
    }

    pub(crate) fn has(self, rule: Rule) -> bool {
        self.left_out >> rule as u32 & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_left_out_alone() {
        for left_out in Rule::ALL {
            let mut rules = Rules::default();
            assert!(Rule::ALL.iter().all(|rule| rules.has(*rule)));
            rules.leave_out(left_out);
            assert!(Rule::ALL.iter().all(|rule| rules.has(*rule) == (*rule != left_out)));
        }
    }
}
