//! Blocking and nonblocking messages.

use crate::error::{Error, named};
use std::str::FromStr;

/// How a rank waits for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `MPI_Send`, `MPI_Recv`, `MPI_Sendrecv`.
    Blocking,
    /// `MPI_Irecv`, `MPI_Isend`, `MPI_Waitall`.
    #[default]
    Waitall,
    /// `MPI_Irecv`, `MPI_Isend`, `MPI_Test` or `MPI_Testall` until it succeeds.
    Polling,
}

const STYLES: [(&str, Style); 3] =
    [("blocking", Style::Blocking), ("waitall", Style::Waitall), ("polling", Style::Polling)];

impl FromStr for Style {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        named("style", &STYLES, name)
    }
}
