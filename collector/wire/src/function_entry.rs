//! An entry of the table of MPI functions.

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
