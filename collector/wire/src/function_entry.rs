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

impl FunctionEntry {
    /// Whether all who share a window or a file make the call together. They may wait in it for some of the others.
    #[must_use]
    pub fn is_made_by_all(&self) -> bool {
        let name = self.name.strip_suffix("_c").unwrap_or(self.name);
        match (self.family, name.strip_prefix("MPI_").unwrap_or(name)) {
            (Family::OneSided, name) => matches!(name, "Win_fence" | "Win_free"),
            (
                Family::Io,
                "File_close" | "File_preallocate" | "File_seek_shared" | "File_set_atomicity"
                | "File_set_info" | "File_set_size" | "File_set_view" | "File_sync",
            ) => true,
            // What only starts is waited for later.
            (Family::Io, name) => {
                !name.starts_with("File_i") && ["_all", "_ordered"].iter().any(|part| name.contains(part))
            }
            _ => false,
        }
    }
}
