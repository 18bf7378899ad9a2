//! What is written from the table of MPI functions.

pub(crate) mod functions;
