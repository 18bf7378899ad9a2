//! The shared clock: where all views that follow it are. Wall time is passed in.

use crate::exchange::{Command, Mode, PerspectiveKind, PerspectiveMessage, Selection};

/// Slower and faster than this makes no picture.
const RATES: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

/// What there is to be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunEdge {
    /// Up to when calls are known.
    pub until_ns: f64,
    /// Whether that moves.
    pub live: bool,
}

/// The clock. Times of the run in nanoseconds, as pages have them.
#[derive(Debug, Clone, PartialEq)]
pub struct Perspective {
    version: u64,
    mode: Mode,
    time_ns: f64,
    rate: f64,
    /// The wall time at which it was at `time_ns`.
    since_ms: f64,
    selection: Selection,
    /// How often it went elsewhere without passing what lies between.
    jumps: u64,
}

fn within_rates(rate: f64) -> f64 {
    rate.abs().clamp(*RATES.start(), *RATES.end()).copysign(rate)
}

impl Perspective {
    /// At the end of what is known: now, or where a recording ends.
    #[must_use]
    pub fn new(known: RunEdge) -> Self {
        let mode = if known.live { Mode::Live } else { Mode::Paused };
        Self {
            version: 1,
            mode,
            // The end, also of a recording that is still being read.
            time_ns: f64::MAX,
            rate: 1.0,
            since_ms: 0.0,
            selection: Selection::default(),
            jumps: 0,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn time_ns(&self, wall_ms: f64, known: RunEdge) -> f64 {
        match self.mode {
            Mode::Live => known.until_ns,
            Mode::Paused => self.time_ns.clamp(0.0, known.until_ns.max(0.0)),
            Mode::Playing => {
                let moved_ns = (wall_ms - self.since_ms).max(0.0) * 1e6 * self.rate;
                (self.time_ns + moved_ns).clamp(0.0, known.until_ns.max(0.0))
            }
        }
    }

    /// Whether it runs, and has to be moved on.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.mode == Mode::Playing
    }

    /// Grows with every move.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Grows whenever it goes elsewhere without passing what lies between.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// It stops where there is no more to show, and goes on live where that moves on. Says whether that happened.
    pub fn look_after(&mut self, wall_ms: f64, known: RunEdge) -> bool {
        // Where a run ended while it was followed, its end is shown.
        if self.mode == Mode::Live && !known.live {
            self.stop_at(known.until_ns, wall_ms);
            return true;
        }
        if self.mode != Mode::Playing {
            return false;
        }
        let time_ns = self.time_ns(wall_ms, known);
        if self.rate > 0.0 && time_ns >= known.until_ns {
            self.stop_at(known.until_ns, wall_ms);
            if known.live {
                (self.mode, self.rate) = (Mode::Live, 1.0);
            }
            return true;
        }
        if self.rate < 0.0 && time_ns <= 0.0 {
            self.stop_at(0.0, wall_ms);
            return true;
        }
        false
    }

    fn stop_at(&mut self, time_ns: f64, wall_ms: f64) {
        self.version += 1;
        self.mode = Mode::Paused;
        self.time_ns = time_ns;
        self.since_ms = wall_ms;
    }

    /// Does what a page wants.
    pub fn command(&mut self, command: Command, wall_ms: f64, known: RunEdge) {
        let now_ns = self.time_ns(wall_ms, known);
        let within = |time_ns: f64| time_ns.clamp(0.0, known.until_ns.max(0.0));
        self.version += 1;
        match command {
            Command::Live => {
                self.jumps += 1;
                self.mode = if known.live { Mode::Live } else { Mode::Paused };
                (self.time_ns, self.rate) = (known.until_ns, 1.0);
            }
            Command::Pause => (self.mode, self.time_ns) = (Mode::Paused, now_ns),
            Command::Rate(rate) => {
                self.time_ns = now_ns;
                if self.mode != Mode::Live {
                    self.rate = within_rates(rate);
                }
            }
            Command::Play(rate) => self.play(rate, now_ns, known),
            Command::Seek(time_ns) => {
                if self.mode == Mode::Live {
                    self.mode = Mode::Paused;
                }
                self.jumps += 1;
                self.time_ns = within(time_ns);
            }
            Command::Step(by_ns) => (self.mode, self.time_ns) = (Mode::Paused, within(now_ns + by_ns)),
            Command::Select(selection) => {
                self.selection = selection;
                self.time_ns = now_ns;
            }
            Command::Follow(_) | Command::Record(_) | Command::Issue(_) | Command::Revoke(_) => {
                self.time_ns = now_ns;
            }
        }
        self.since_ms = wall_ms;
    }

    fn play(&mut self, rate: f64, now_ns: f64, known: RunEdge) {
        self.rate = within_rates(rate);
        let at_end = !known.live && rate > 0.0 && now_ns >= known.until_ns;
        self.jumps += u64::from(at_end);
        // From the end it begins again, as players do.
        (self.mode, self.time_ns) = (Mode::Playing, if at_end { 0.0 } else { now_ns });
    }

    /// What pages receive.
    #[must_use]
    pub fn message(&self, wall_ms: f64, known: RunEdge, pages: u32, followers: u32) -> PerspectiveMessage {
        PerspectiveMessage {
            kind: PerspectiveKind::Perspective,
            version: self.version,
            mode: self.mode,
            time_ns: self.time_ns(wall_ms, known),
            rate: self.rate,
            selection: self.selection.clone(),
            pages,
            followers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: RunEdge = RunEdge { until_ns: 10e9, live: true };
    const RECORDED: RunEdge = RunEdge { until_ns: 10e9, live: false };

    #[test]
    fn it_follows_now_until_it_is_moved_and_returns() {
        let mut clock = Perspective::new(LIVE);
        assert_eq!(clock.time_ns(0.0, RunEdge { until_ns: 11e9, live: true }), 11e9);
        clock.command(Command::Seek(3e9), 0.0, LIVE);
        assert_eq!((clock.mode, clock.time_ns(5_000.0, LIVE)), (Mode::Paused, 3e9));
        clock.command(Command::Play(2.0), 5_000.0, LIVE);
        assert_eq!(clock.time_ns(6_000.0, LIVE), 5e9);
        assert!(!clock.look_after(6_000.0, LIVE));
        assert!(clock.look_after(9_000.0, LIVE));
        assert_eq!((clock.mode, clock.rate), (Mode::Live, 1.0));
    }

    #[test]
    fn backward_it_stops_at_the_start_and_at_the_end_it_begins_again() {
        let mut clock = Perspective::new(RECORDED);
        assert_eq!((clock.mode, clock.time_ns(9.0, RECORDED)), (Mode::Paused, 10e9));
        clock.command(Command::Play(-10.0), 0.0, RECORDED);
        assert_eq!(clock.time_ns(500.0, RECORDED), 5e9);
        assert!(clock.look_after(2_000.0, RECORDED));
        assert_eq!((clock.mode, clock.time_ns(3_000.0, RECORDED)), (Mode::Paused, 0.0));
        clock.command(Command::Live, 0.0, RECORDED);
        assert_eq!((clock.mode, clock.time_ns(0.0, RECORDED)), (Mode::Paused, 10e9));
        clock.command(Command::Play(1.0), 0.0, RECORDED);
        assert_eq!(clock.time_ns(1_000.0, RECORDED), 1e9);
        assert!(clock.look_after(20_000.0, RECORDED));
        assert_eq!((clock.mode, clock.time_ns(0.0, RECORDED)), (Mode::Paused, 10e9));
    }

    #[test]
    fn a_recording_opens_at_its_end_also_while_it_is_read() {
        let clock = Perspective::new(RunEdge { until_ns: 0.0, live: false });
        assert_eq!((clock.mode, clock.time_ns(0.0, RECORDED)), (Mode::Paused, 10e9));
    }

    #[test]
    fn a_step_stops_and_nothing_leaves_the_run() {
        let mut clock = Perspective::new(RECORDED);
        clock.command(Command::Step(-1e6), 0.0, RECORDED);
        assert_eq!((clock.mode, clock.time_ns(0.0, RECORDED)), (Mode::Paused, 10e9 - 1e6));
        for command in
            [Command::Seek(-5.0), Command::Step(-1e300), Command::Seek(1e300), Command::Step(1e300)]
        {
            clock.command(command, 0.0, RECORDED);
            assert!((0.0..=10e9).contains(&clock.time_ns(0.0, RECORDED)));
        }
        clock.command(Command::Play(0.0), 0.0, RECORDED);
        assert!(clock.rate > 0.0);
        clock.command(Command::Pause, 0.0, RECORDED);
        clock.command(Command::Rate(-0.01), 0.0, RECORDED);
        assert_eq!((clock.mode, clock.rate), (Mode::Paused, -0.01), "how long calls take to fade");
    }

    #[test]
    fn a_selection_does_not_move_it() {
        let mut clock = Perspective::new(LIVE);
        clock.command(Command::Play(-1.0), 0.0, LIVE);
        let selection = Selection { hidden: vec![4], ..Selection::default() };
        clock.command(Command::Select(selection), 1_000.0, LIVE);
        assert_eq!(clock.time_ns(2_000.0, LIVE), 8e9);
        assert_eq!(clock.message(0.0, LIVE, 2, 1).selection.hidden, [4]);
    }

    #[test]
    fn the_end_of_a_run_that_was_followed_stays_in_view() {
        let mut clock = Perspective::new(LIVE);
        assert!(clock.look_after(0.0, RECORDED));
        assert_eq!((clock.mode, clock.time_ns(99.0, RECORDED)), (Mode::Paused, 10e9));
    }
}
