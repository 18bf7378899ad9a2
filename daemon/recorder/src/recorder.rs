//! The recorder: what the agent read becomes rows of the recording and figures of the page.

mod finishing;
mod reading;
mod state;

pub use state::{Diagnose, END_UNKNOWN, Recorder, window_row};
