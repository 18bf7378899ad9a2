//! The recorder: what the agent read becomes rows of the recording and figures of the page.

mod catching_up;
mod finishing;
mod log_pieces;
mod sharing;
mod state;

pub use state::{Diagnose, END_UNKNOWN, Recorder, window_row};
