//! Why a run takes longer than it has to.

/// What is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blame {
    /// Where ranks run.
    Mapping,
    /// How work and waiting are spread over ranks.
    Pattern,
    /// Others use the network.
    Background,
    /// Others use the processors.
    Cpu,
}

impl Blame {
    /// All, in order.
    pub const ALL: [Blame; 4] = [Blame::Mapping, Blame::Pattern, Blame::Background, Blame::Cpu];

    /// The words of all, in order.
    pub const WORDS: [&str; 4] =
        [Blame::Mapping.word(), Blame::Pattern.word(), Blame::Background.word(), Blame::Cpu.word()];

    /// The word for files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Blame::Mapping => "mapping",
            Blame::Pattern => "pattern",
            Blame::Background => "background",
            Blame::Cpu => "cpu",
        }
    }
}
