//! The MPI functions that are recorded: their stable ids, names and families.

pub use crate::generated::functions::{FUNCTIONS, id};

/// What a function is for; related functions share a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Start and end of MPI.
    Setup,
    /// Sends, and exchanges that send.
    Send,
    /// Receives.
    Receive,
    /// Calls that complete requests: waits and tests.
    Complete,
    /// Probes.
    Probe,
    /// Collectives from one rank to all or from all to one.
    Rooted,
    /// Collectives from all ranks to all.
    All,
    /// Barriers.
    Barrier,
    /// Collectives among neighbours of a topology.
    Neighbor,
    /// Work on communicators.
    Communicator,
    /// One-sided communication.
    OneSided,
    /// Files.
    Io,
}

impl Family {
    /// The word for files and the page.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Family::Setup => "setup",
            Family::Send => "send",
            Family::Receive => "receive",
            Family::Complete => "complete",
            Family::Probe => "probe",
            Family::Rooted => "rooted",
            Family::All => "all",
            Family::Barrier => "barrier",
            Family::Neighbor => "neighbor",
            Family::Communicator => "communicator",
            Family::OneSided => "one-sided",
            Family::Io => "io",
        }
    }
}

/// One function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionEntry {
    /// Its number, never changed or reused.
    pub id: u16,
    /// Its name in C.
    pub name: &'static str,
    /// What it is for.
    pub family: Family,
    /// Whether it asks and returns at once: programs call it in loops.
    pub polls: bool,
}

/// One more than the greatest id.
const IDS: usize = FUNCTIONS[FUNCTIONS.len() - 1].id as usize + 1;

/// By id, the place in [`FUNCTIONS`], counted from 1.
const PLACES: [u16; IDS] = {
    let (mut places, mut at) = ([0; IDS], 0);
    while at < FUNCTIONS.len() {
        places[FUNCTIONS[at].id as usize] = at as u16 + 1;
        at += 1;
    }
    places
};
const _: () = assert!(FUNCTIONS.len() < u16::MAX as usize);

/// The function of an id.
#[inline]
#[must_use]
pub fn by_id(id: u16) -> Option<&'static FunctionEntry> {
    let place = *PLACES.get(usize::from(id))?;
    FUNCTIONS.get(usize::from(place).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_and_returns_at_once_polls_and_nothing_else() {
        let polls = FUNCTIONS.iter().filter(|function| function.polls).map(|function| function.name);
        let expected = [
            "MPI_Test",
            "MPI_Testall",
            "MPI_Testany",
            "MPI_Testsome",
            "MPI_Iprobe",
            "MPI_Improbe",
            "MPI_Parrived",
            "MPI_Request_get_status",
            "MPI_Win_test",
        ];
        assert_eq!(polls.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_id_finds_its_function() {
        for function in FUNCTIONS {
            assert_eq!(by_id(function.id), Some(function));
        }
        assert_eq!((by_id(0), by_id(u16::MAX)), (None, None));
    }
}
