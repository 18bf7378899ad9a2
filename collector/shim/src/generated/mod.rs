//! The symbols that stand before those of the MPI library, and the names of what stands behind them. An exception of C++
//! may pass through them, as it would through MPI.
#![expect(unsafe_code, reason = "symbols that the program calls")]

mod c;
pub(crate) mod declarations;
mod fortran;
pub(crate) mod names;
