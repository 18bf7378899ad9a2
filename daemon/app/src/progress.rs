//! How far a command is, for somebody who watches: a bar on stderr, where that is a terminal.

use crate::interrupt::Interrupt;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// How often the bar is drawn at the most.
const DRAWS_PER_SECOND: u8 = 10;
/// How often a bar that does not move says that something goes on.
const BEAT: Duration = Duration::from_millis(200);

/// A bar, and whether somebody wants all this to end.
pub(crate) struct Progress {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Progress {
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        // On anything but a terminal it draws nothing.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        Self { bar, interrupt: interrupt.clone() }
    }

    /// Something begins that takes so many steps; how many is not always known.
    pub(crate) fn begin(&self, what: &'static str, steps: Option<u64>) -> Result<()> {
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

    /// So many steps were made; fails when it is time to give up.
    pub(crate) fn step(&self, steps: u64) -> Result<()> {
        self.bar.inc(steps);
        self.interrupt.check()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
