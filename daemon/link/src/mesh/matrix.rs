//! The connections of one process to the others, as they come.

use crate::encryption::Stream;
use crate::mesh::streams::{Remotes, STREAMS};

/// For each other process its connections, by the numbers of process and stream.
pub(crate) struct Matrix {
    number: usize,
    rows: Vec<[Option<Box<dyn Stream>>; STREAMS]>,
}

impl Matrix {
    /// That of the process with this number.
    pub(crate) fn new(number: usize, processes: usize) -> Self {
        Self { number, rows: (0..processes).map(|_| [None, None]).collect() }
    }

    /// Adds a connection, or replaces one whose other side has tried again.
    pub(crate) fn insert(&mut self, process: usize, stream: usize, connection: Box<dyn Stream>) {
        if let Some(entry) = self.rows.get_mut(process).and_then(|row| row.get_mut(stream)) {
            *entry = Some(connection);
        }
    }

    /// Whether all connections exist.
    pub(crate) fn is_complete(&self) -> bool {
        (0..self.rows.len()).all(|process| self.is_connected(process))
    }

    /// Whether all connections to this process exist; none to itself is needed.
    pub(crate) fn is_connected(&self, process: usize) -> bool {
        process == self.number || self.rows[process].iter().all(Option::is_some)
    }

    /// All connections by the number of the process, once they are complete.
    pub(crate) fn into_remotes(self) -> Vec<Option<Remotes>> {
        let remotes = |[first, second]: [Option<Box<dyn Stream>>; STREAMS]| Some([first?, second?]);
        self.rows.into_iter().map(remotes).collect()
    }
}
