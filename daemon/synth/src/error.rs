//! What is wrong with a spec, in one sentence each.

use thiserror::Error;

/// Why a job cannot be simulated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A name that nothing has.
    #[error("{name:?} is no {what}; there are {allowed}")]
    Name {
        /// What was given.
        name: String,
        /// What it should have been.
        what: &'static str,
        /// What there is.
        allowed: String,
    },
    /// The pattern does not exist for this number of ranks.
    #[error("{pattern} needs {needed}, not {ranks} ranks")]
    Ranks {
        /// Which pattern.
        pattern: &'static str,
        /// What it needs.
        needed: &'static str,
        /// What was asked for.
        ranks: u32,
    },
    /// More or fewer nodes than can be.
    #[error("a job of {ranks} ranks runs on 1 to {ranks} nodes, not on {nodes}")]
    Nodes {
        /// Ranks.
        ranks: u32,
        /// What was asked for.
        nodes: u32,
    },
    /// A number outside of what makes sense.
    #[error("{what} has to be {needed}, not {given}")]
    Range {
        /// Of what.
        what: &'static str,
        /// What is allowed.
        needed: &'static str,
        /// What was given.
        given: String,
    },
    /// Calls and messages alone take longer than the rate leaves.
    #[error("{rate:.0} calls a second are more than this job can make; it makes at most some {most:.0}")]
    Rate {
        /// What was asked for.
        rate: f64,
        /// What it can, about.
        most: f64,
    },
    /// The run ends before one step does.
    #[error(
        "a step makes {calls:.0} calls, and {rate} calls a second are fewer than that in {seconds} seconds"
    )]
    Short {
        /// Calls of a step, about.
        calls: f64,
        /// What was asked for.
        rate: f64,
        /// How long the run is to be.
        seconds: f64,
    },
}

/// The thing of a name, or what names there are.
pub(crate) fn named<T: Copy>(what: &'static str, all: &[(&'static str, T)], name: &str) -> Result<T, Error> {
    all.iter().find(|(known, _)| *known == name).map(|(_, thing)| *thing).ok_or_else(|| Error::Name {
        name: name.to_owned(),
        what,
        allowed: listed(all.iter().map(|(name, _)| *name)),
    })
}

/// Names as a list in a sentence.
pub(crate) fn listed(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
