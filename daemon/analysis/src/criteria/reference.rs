//! What a run's own criteria are held against.

use super::Version;

/// Criteria from elsewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Reference {
    /// There are none.
    #[default]
    None,
    /// Those of a quiet network: they serve where the run's own say nothing, and where it was never quiet.
    Quiet(Version),
    /// Those that somebody wants the run to be judged by, as of a good run; its own serve only where these say nothing.
    Given(Version),
}

impl Reference {
    /// What a run that learnt this is judged by.
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
