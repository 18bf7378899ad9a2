//! Which moment is asked about, and how ranks are grouped.

use crate::question::invalid_message::InvalidMessage;
use crate::question::ranks::Ranks;
use mpiscope_model::Nanoseconds;

/// The most pairs of groups of one answer, and what it has where nobody says.
pub const PENDING_EDGES_MAX: u64 = 2_000;
/// Likewise.
pub const PENDING_EDGES_USUAL: u64 = 200;
/// The most groups that are open: one within the other.
const OPEN_MAX: usize = 8;

/// What ranks have in common that are shown as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Where they run.
    Node,
    /// The region that they are in.
    Region,
    /// Nothing but that their numbers follow each other.
    Rank,
}

impl Grouping {
    pub(crate) fn named(by: &str) -> Result<Self, InvalidMessage> {
        match by {
            "" | "node" => Ok(Grouping::Node),
            "region" => Ok(Grouping::Region),
            "rank" => Ok(Grouping::Rank),
            other => Err(InvalidMessage(format!("ranks cannot be grouped by {other:?}"))),
        }
    }
}

/// Which messages in flight are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingQuestion {
    /// The moment.
    pub at_ns: Nanoseconds,
    /// Messages from or to these ranks.
    pub ranks: Ranks,
    /// How ranks are grouped where they are too many.
    pub by: Grouping,
    /// Groups that are open, each by its first place in the order of the ranks and its length; outer ones first.
    pub open: Vec<(u32, u32)>,
    /// The most pairs of groups.
    pub most: u32,
}

impl PendingQuestion {
    pub(crate) fn checked(
        at_ns: Nanoseconds,
        ranks: Ranks,
        by: &str,
        open: &[(u32, u32)],
        most: u64,
    ) -> Result<Self, InvalidMessage> {
        if open.len() > OPEN_MAX {
            return Err(InvalidMessage(format!("at most {OPEN_MAX} groups can be open")));
        }
        let by = Grouping::named(by)?;
        Ok(Self { at_ns, ranks, by, open: open.to_vec(), most: most as u32 })
    }
}
