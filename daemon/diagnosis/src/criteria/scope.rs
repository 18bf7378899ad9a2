//! Whether a message stays on its node.

/// Where the two ends of a message are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// On one node.
    Intra,
    /// On two.
    Inter,
}

mpiscope_model::numbers! { enum Scope { Intra = 0, Inter = 1 } }

impl Scope {
    /// Of a message between nodes, or not.
    #[must_use]
    pub fn between_nodes(inter: bool) -> Self {
        if inter { Scope::Inter } else { Scope::Intra }
    }

    /// The word for files and people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Scope::Intra => "intra",
            Scope::Inter => "inter",
        }
    }
}
