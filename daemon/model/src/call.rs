use crate::ids::{Comm, Function, Nanoseconds, Rank, Site};

/// A longer time between two rows of polls is work: the collector leaves out more than two thirds of it.
pub const MOST_BETWEEN_POLLS_NS: Nanoseconds = 20_000;

/// One MPI call on one rank, or a run of failed polls folded into one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Who called.
    pub rank: Rank,
    /// Which of the rank's threads, numbered as they first called MPI.
    pub thread: u16,
    /// What was called.
    pub function: Function,
    /// When the call was entered.
    pub start_ns: Nanoseconds,
    /// When it returned. Rows of polls of several functions by turns share the time of their loop.
    pub end_ns: Nanoseconds,
    /// The one other rank of the call (or the root of a collective); none where there is none or several.
    pub peer: Option<Rank>,
    /// The tag of the one message of the call.
    pub tag: Option<i32>,
    /// What the call sent, or received where it sent nothing.
    pub bytes: u64,
    /// The communicator; none where the call has none or it is not known.
    pub comm: Option<Comm>,
    /// Its call site; none where unknown. Polls in a row have that of the first poll of the function.
    pub site: Option<Site>,
    /// Polls folded into this row, else 1.
    pub count: u64,
    /// Which of the collectives of its communicator it was part in, as the collector numbers them; none for other calls.
    pub instance: Option<u32>,
}

crate::numbers! {
    Call { rank, thread, function, start_ns, end_ns, peer, tag, bytes, comm, site, count, instance }
}

impl Default for Call {
    /// One call of nothing by rank 0 at the start of the run, to be filled in.
    fn default() -> Self {
        Self {
            rank: Rank(0),
            thread: 0,
            function: 0,
            start_ns: 0,
            end_ns: 0,
            peer: None,
            tag: None,
            bytes: 0,
            comm: None,
            site: None,
            count: 1,
            instance: None,
        }
    }
}

impl Call {
    /// The time between entry and return.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// How long one call of it took: a row of folded polls stands for many.
    #[must_use]
    pub fn each_ns(&self) -> u64 {
        match self.count {
            // A division takes as long as ten other instructions.
            0 | 1 => self.duration_ns(),
            count => self.duration_ns() / count,
        }
    }
}
