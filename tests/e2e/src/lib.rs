//! Tests of the whole product, as a user has it: the built program and collector, and programs under real MPI.
//!
//! Everything is in `tests/`; what they share is in `mpiscope-harness`. Build the product first:
//! `cargo build --release -p mpiscope-app` and `cargo build -p mpiscope-shim --profile shim`. Run them one after the
//! other (`--test-threads=1`): they start many processes. With `MPISCOPE_FULL=1` they run every combination.
