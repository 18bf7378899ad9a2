//! The distances that ranks can be divided by.

use super::cut::Cut;

/// How the distance of two ranks is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// By the fewest hops between them; weights do not count.
    Paper,
    /// By all walks along the edges, the heavier an edge the likelier; this is a metric.
    #[default]
    FreeEnergy,
}

impl Method {
    /// The default cut.
    #[must_use]
    pub fn usual_cut(self) -> Cut {
        match self {
            Method::Paper => Cut::At(2.0),
            Method::FreeEnergy => Cut::Auto,
        }
    }
}
