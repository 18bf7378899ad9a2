//! What messages take on single links.

use crate::whatif::reference::SLOW_LINK;
use mpiscope_model::Node;
use rustc_hash::FxHashMap;

/// From one node to another.
pub(crate) type Link = (Node, Node);

/// What messages of similar sizes take on a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnLink {
    /// What they take.
    pub(crate) own_ns: f64,
    /// What they would take, as a share of that; 1 where the link is not slow throughout.
    pub(crate) share: f64,
}

impl OnLink {
    pub(crate) fn is_slow(&self) -> bool {
        self.share < 1.0
    }

    /// What its messages would take.
    pub(crate) fn quiet_ns(&self) -> f64 {
        self.own_ns * self.share
    }
}

/// What messages take on all links.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnLinks {
    /// By link and bin of sizes, where enough messages say so.
    pub(crate) by_size: FxHashMap<(Link, u32), OnLink>,
    /// By link where a size is rare, how many times as long as in the reference messages of all sizes take.
    pub(crate) by_link: FxHashMap<Link, f64>,
}

impl OnLinks {
    /// Whether some link may be slow throughout.
    pub(crate) fn has_slow(&self) -> bool {
        self.by_size.values().any(OnLink::is_slow) || self.by_link.values().any(|slower| *slower > SLOW_LINK)
    }
}
