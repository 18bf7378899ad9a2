//! What processes on other hosts are for.

/// What processes on other hosts do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// They have a share of the live analysis.
    Analyse,
    /// They read calls.
    Record,
}

impl Task {
    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Analyse => "live analysis",
            Self::Record => "recording",
        }
    }

    /// The command of mpiscope that does it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Analyse => "join",
            Self::Record => "read",
        }
    }
}
