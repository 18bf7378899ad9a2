//! What a run's own criteria are held against.

use super::version::Version;

/// Criteria from elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Reference {
    /// There are none.
    #[default]
    None,
    /// Criteria of a quiet network: used where the run has none of its own, and where it was never quiet.
    Quiet(Version),
    /// Given criteria, as of a good run; the run's own serve only where these have none.
    Given(Version),
}

impl Reference {
    /// The criteria for a run that learnt these.
    #[must_use]
    pub fn with(&self, learnt: Version) -> Version {
        match self {
            Reference::None => learnt,
            Reference::Quiet(quiet) => learnt.held_against(quiet),
            Reference::Given(given) => given.or(&learnt),
        }
    }

    /// Whether there are any.
    #[must_use]
    pub fn is_some(&self) -> bool {
        *self != Reference::None
    }
}
