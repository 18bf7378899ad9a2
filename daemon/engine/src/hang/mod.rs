//! Whether the job hangs, and the report of that: once on the terminal, to pages, and in the recording.

mod file;
mod report;
#[cfg(test)]
mod tests;
mod words;

pub use file::{FILE, read, write};
pub use report::last_calls;

use crate::engine::Engine;
use mpiscope_diagnosis::HangAnalysis;
use mpiscope_feed::{Hang, Hangs};
use mpiscope_model::InFlight;
use std::time::{Duration, Instant};

/// How often a hanging job is looked at again.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// What a stretch lasts at least where nobody says it.
const LEAST_STRETCH: Duration = Duration::from_secs(1);
/// Stretches that are kept.
const MOST_KEPT: usize = 64;
/// After this number of waits for ranks that may go on, the terminal lists no more of them.
const MOST_REPORTED: usize = 5;
/// That many ranks, of all, have to wait for others that may go on.
const LEAST_SHARE: f64 = 0.5;

/// Watches how long nothing moved.
#[derive(Debug)]
pub struct HangWatcher {
    /// How long nothing may move; none for any time.
    patience: Option<Duration>,
    hangs: Hangs,
    /// Since when the last hang goes on.
    now: Option<u64>,
    looked: Option<Instant>,
    /// How many hangs were waits for ranks that may go on.
    wait_count: usize,
    is_reported: bool,
}

/// The lines for the terminal.
pub(crate) type Lines = Vec<String>;

impl HangWatcher {
    /// One that reports when nothing moved for so long; none for any time.
    pub fn new(patience: Option<Duration>) -> Self {
        Self { patience, hangs: Hangs::default(), now: None, looked: None, wait_count: 0, is_reported: false }
    }

    /// One that goes on where a predecessor stopped.
    pub fn going_on(patience: Option<Duration>, hangs: Hangs) -> Self {
        let open = hangs.newest.last().filter(|hang| hang.until_s.is_none());
        let now = open.map(|hang| (hang.since_s * 1e9) as u64);
        Self { hangs, now, ..Self::new(patience) }
    }

    /// What pages show and the recording keeps.
    pub fn hangs(&self) -> &Hangs {
        &self.hangs
    }

    /// Looks at the job as it is now. Returns lines for the terminal if anything is new.
    pub fn see(&mut self, engine: &Engine, in_flight: &[InFlight]) -> Option<Lines> {
        let patience = self.patience?;
        let moved_ns = engine.hang_detector.moved_ns(in_flight);
        if self.has_moved(moved_ns) {
            return Some(self.moves(moved_ns));
        }
        let quiet = Duration::from_nanos(engine.until_ns.saturating_sub(moved_ns));
        if in_flight.is_empty() || quiet < patience {
            self.looked = None;
            return None;
        }
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
            return None;
        }
        self.looked = Some(Instant::now());
        let hang = engine.look(in_flight);
        let is_first = self.now.is_none();
        if is_first && !is_worth_telling(&hang) {
            return None;
        }
        self.now = Some(moved_ns);
        self.take(report::hang(engine, &hang), is_first)
    }

    /// Whether a job may hang, as far as its current calls show: half of its ranks have been in one for that long, and
    /// nobody is in another.
    pub fn suspects(&self, engine: &Engine, in_flight: &[InFlight]) -> bool {
        let Some(patience) = self.patience else { return false };
        let is_old =
            |call: &InFlight| engine.until_ns.saturating_sub(call.since_ns) >= patience.as_nanos() as u64;
        let waiting = in_flight.iter().filter(|call| is_old(call)).count();
        let share = waiting as f64 / f64::from(engine.world_size().max(1));
        waiting == in_flight.len() && share >= LEAST_SHARE
    }

    fn take(&mut self, hang: Hang, is_first: bool) -> Option<Lines> {
        if !is_first {
            let last = self.hangs.newest.last_mut()?;
            // Who is gone may have gone meanwhile; a longer hang alone is no news.
            let is_news = (hang.kind, &hang.stuck) != (last.kind, &last.stuck);
            *last = hang;
            return is_news.then(|| if self.is_reported { report::lines(last) } else { Lines::new() });
        }
        let is_grave = hang.kind != mpiscope_feed::HangKind::Waits;
        self.is_reported = is_grave || self.wait_count < MOST_REPORTED;
        self.wait_count += usize::from(!is_grave);
        let mut lines = if self.is_reported { report::lines(&hang) } else { Lines::new() };
        if !is_grave && self.wait_count == MOST_REPORTED {
            lines.push("of further such stretches only page and report will tell".into());
        }
        self.hangs.count += 1;
        if self.hangs.newest.len() == MOST_KEPT {
            self.hangs.newest.remove(0);
        }
        self.hangs.newest.push(hang);
        Some(lines)
    }

    /// Whether that is after the last hang. When a call was entered is known a little better later; what
    /// moves does so after all the time that made it a stretch.
    fn has_moved(&self, moved_ns: u64) -> bool {
        let half_ns = self.patience.unwrap_or(LEAST_STRETCH).as_nanos() as u64 / 2;
        self.now.is_some_and(|since_ns| moved_ns > since_ns + half_ns)
    }

    fn moves(&mut self, moved_ns: u64) -> Lines {
        (self.now, self.looked) = (None, None);
        let Some(hang) = self.hangs.newest.last_mut() else { return Lines::new() };
        hang.until_s = Some(moved_ns as f64 / 1e9);
        let hung = Duration::from_secs_f64((moved_ns as f64 / 1e9 - hang.since_s).max(0.0));
        if !self.is_reported {
            return Lines::new();
        }
        vec![format!("the job moves again, after {:.1} s", hung.as_secs_f64())]
    }

    /// The run has ended: what its processes were in when they ended. Also reports on a job that moved again and
    /// ended before anybody looked.
    pub fn end(&mut self, engine: &Engine) -> Lines {
        last_calls(engine, &mut self.hangs);
        let moved_ns = engine.hang_detector.moved_ns(&[]);
        if self.has_moved(moved_ns) { self.moves(moved_ns) } else { Lines::new() }
    }
}

/// Whether ranks wait for ever, or enough ranks wait for others. A master that waits for computing workers is not
/// reported.
fn is_worth_telling(hang: &HangAnalysis) -> bool {
    let waiting = hang.waiting_ranks().len();
    let is_stuck = !hang.stuck.is_empty() || !hang.clashes.is_empty();
    is_stuck || waiting > 0 && waiting as f64 >= LEAST_SHARE * hang.ranks as f64
}
