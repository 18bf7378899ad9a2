//! How far a command is, for somebody who watches: a bar on stderr, where that is a terminal.

use crate::interrupt::Interrupt;
use anyhow::Result;
use indicatif::{ProgressDrawTarget, ProgressStyle};
use mpiscope_formats::Progress;
use std::time::Duration;

/// How often the bar is drawn at the most.
const DRAWS_PER_SECOND: u8 = 10;
/// How often a bar that does not move says that something goes on.
const BEAT: Duration = Duration::from_millis(200);

/// A bar, and whether somebody wants all this to end.
pub(crate) struct ProgressBar {
    bar: indicatif::ProgressBar,
    interrupt: Interrupt,
}

impl ProgressBar {
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        // On anything but a terminal it draws nothing.
        let bar = indicatif::ProgressBar::with_draw_target(
            None,
            ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND),
        );
        Self { bar, interrupt: interrupt.clone() }
    }
}

impl Progress for ProgressBar {
    fn begin(&self, what: &'static str, steps: Option<u64>) -> Result<()> {
        let template = match steps {
            Some(_) => "{msg} {wide_bar} {percent:>3} %, {eta} left",
            None => "{msg} {spinner} {human_pos}",
        };
        self.bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        self.bar.reset();
        self.bar.set_message(what);
        match steps {
            Some(steps) => self.bar.set_length(steps),
            None => self.bar.unset_length(),
        }
        self.bar.enable_steady_tick(BEAT);
        self.interrupt.check()
    }

    fn step(&self, steps: u64) -> Result<()> {
        self.bar.inc(steps);
        self.interrupt.check()
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
