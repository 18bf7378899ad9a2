//! One subscription: what it sends next, by its pace.

use super::filter::Filter;
use super::finding_position::FindingPosition;
use super::moment::Moment;
use super::rows::{Position, ROWS_MAX, ROWS_USUAL, Row};
use super::windows::WindowRow;
use mpiscope_feed::{ExpandedMessage, Library};
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_protocol::{
    Batch, Begin, Direction, End, Jump, Pace, Recording, Reply, Subscribe, Topic, Verdict,
};
use std::time::{Duration, Instant};

/// A client that does not keep up with the clock for so long is taken to where the clock is.
const PATIENCE: Duration = Duration::from_secs(2);

/// What goes through the run. A topic has one type of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Calls,
    Messages,
    Expanded,
    Windows,
    Findings,
}

impl Rows {
    fn asked(asked: &Subscribe) -> Self {
        match asked.what {
            Topic::Messages if asked.expand_collectives => Self::Expanded,
            Topic::Messages => Self::Messages,
            Topic::Windows => Self::Windows,
            Topic::Findings => Self::Findings,
            Topic::Calls | Topic::Verdicts => Self::Calls,
        }
    }
}

/// Where it is.
#[derive(Debug)]
enum Place {
    Rows(Position),
    Findings(FindingPosition, Filter),
}

impl Place {
    fn at_ns(&self) -> Nanoseconds {
        match self {
            Place::Rows(position) => position.at_ns(),
            Place::Findings(position, _) => position.at_ns(),
        }
    }

    fn jump(&mut self, to_ns: Nanoseconds) {
        match self {
            Place::Rows(position) => position.jump(to_ns),
            Place::Findings(position, _) => position.jump(to_ns),
        }
    }

    fn next<R: Row>(
        &mut self,
        library: &Library,
        direction: Direction,
        to_ns: Nanoseconds,
    ) -> Result<Option<Batch>, String> {
        match self {
            Place::Rows(position) => position.next::<R>(library, direction, to_ns),
            Place::Findings(..) => Ok(None),
        }
    }

    fn newest<R: Row>(&mut self, library: &Library, to_ns: Nanoseconds) -> Result<Option<Batch>, String> {
        match self {
            Place::Rows(position) => position.newest::<R>(library, to_ns),
            Place::Findings(..) => Ok(None),
        }
    }

    fn skip<R: Row>(&mut self, library: &Library, to_ns: Nanoseconds) -> Result<(), String> {
        match self {
            Place::Rows(position) => position.skip::<R>(library, to_ns),
            Place::Findings(..) => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Subscription {
    id: u32,
    what: Topic,
    recording: Recording,
    rows: Rows,
    pace: Pace,
    direction: Direction,
    position: Place,
    window_ns: u64,
    note: Option<String>,
    jumps: u64,
    /// In step with the clock: where the last batch ended.
    sent_ns: Nanoseconds,
    /// Since when it has not been where the clock is.
    behind: Option<Instant>,
    verdict: Option<Verdict>,
    has_ended: bool,
}

impl Subscription {
    /// # Errors
    /// One sentence about what makes no sense.
    pub(super) fn new(asked: &Subscribe, library: &Library, moment: &Moment) -> Result<Self, String> {
        let filter = Filter::new(asked, library, moment)?;
        let (window_ns, note) = (filter.window_ns(), filter.note());
        let moment = &bounded(asked.what, window_ns, library, moment);
        let at_ns = begin_ns(asked, moment)?;
        if asked.pace == Pace::Newest && asked.direction == Direction::Backward {
            return Err("what is new comes forward; leave the direction out".to_owned());
        }
        let rows = Rows::asked(asked);
        let position = if rows == Rows::Findings {
            let most = asked.most.map_or(ROWS_USUAL, |most| (most as usize).clamp(1, ROWS_MAX));
            let is_new_only =
                asked.pace == Pace::Newest || (asked.pace, asked.from) == (Pace::Fast, Begin::Now);
            let is_new_only = is_new_only && asked.direction == Direction::Forward;
            Place::Findings(FindingPosition::new(asked.id, most, at_ns, is_new_only), filter)
        } else {
            Place::Rows(Position::new(asked, filter, at_ns, library))
        };
        Ok(Self {
            id: asked.id,
            what: asked.what,
            recording: asked.recording,
            rows,
            pace: asked.pace,
            direction: asked.direction,
            position,
            window_ns,
            note,
            jumps: moment.jumps,
            sent_ns: at_ns,
            behind: None,
            verdict: None,
            has_ended: false,
        })
    }

    pub(super) fn topic(&self) -> Topic {
        self.what
    }

    pub(super) fn recording(&self) -> Recording {
        self.recording
    }

    /// What of its filter is not known yet.
    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// What it sends next, if anything.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn next(&mut self, library: &Library, moment: &Moment) -> Result<Option<Reply>, String> {
        if self.what == Topic::Verdicts {
            return Ok(self.next_verdict(moment));
        }
        let moment = &bounded(self.what, self.window_ns, library, moment);
        // Nothing follows an end, also of rows that become known late.
        if self.has_ended {
            return Ok(None);
        }
        match self.pace {
            Pace::Clock => self.in_step(library, moment),
            Pace::Newest => {
                let batch = self.newest(library, moment)?;
                Ok(self.or_end(batch, moment.is_over))
            }
            Pace::Fast => {
                let to_ns = match self.direction {
                    Direction::Forward => moment.complete_ns,
                    Direction::Backward => 0,
                };
                let batch = self.towards(library, moment, self.direction, to_ns)?;
                let is_there = match self.direction {
                    Direction::Forward => self.position.at_ns() >= to_ns,
                    Direction::Backward => self.position.at_ns() == to_ns,
                };
                let is_over = is_there && (moment.is_over || self.direction == Direction::Backward);
                Ok(self.or_end(batch, is_over))
            }
        }
    }

    /// Whether it has more to say at this moment.
    pub(super) fn has_more(&self, library: &Library, moment: &Moment, has_replied: bool) -> bool {
        let moment = &bounded(self.what, self.window_ns, library, moment);
        match (self.what, self.pace, self.direction) {
            // Its end may follow.
            (Topic::Verdicts, ..) => has_replied,
            // A clock that runs is always elsewhere the next time: that is for the next frame.
            (_, Pace::Clock, _) => {
                let target_ns = self.target_ns(moment);
                self.position.at_ns() != target_ns || !moment.is_moving && self.sent_ns != target_ns
            }
            (_, Pace::Fast, Direction::Backward) => has_replied || self.position.at_ns() > 0,
            _ => has_replied || self.position.at_ns() < moment.complete_ns,
        }
    }

    fn target_ns(&self, moment: &Moment) -> Nanoseconds {
        if moment.is_clock_at_end {
            return moment.complete_ns;
        }
        // What ends at the time that is shown is shown.
        after(moment.clock_ns).min(moment.complete_ns)
    }

    fn in_step(&mut self, library: &Library, moment: &Moment) -> Result<Option<Reply>, String> {
        let (target_ns, at_ns) = (self.target_ns(moment), self.position.at_ns());
        if std::mem::replace(&mut self.jumps, moment.jumps) != moment.jumps {
            self.behind = None;
            if target_ns != at_ns {
                self.position.jump(target_ns);
                self.sent_ns = target_ns;
                let (from_ns, to_ns) = (at_ns as f64, target_ns as f64);
                return Ok(Some(Reply::Jump(Jump { id: self.id, from_ns, to_ns })));
            }
        }
        if target_ns == at_ns {
            self.behind = None;
        } else if moment.is_moving && self.behind.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            self.behind = None;
            self.skip(library, target_ns)?;
            return Ok(None);
        }
        let direction = if target_ns < at_ns { Direction::Backward } else { Direction::Forward };
        let mut batch = self.towards(library, moment, direction, target_ns)?;
        let is_there = !moment.is_moving && self.position.at_ns() == target_ns;
        if batch.is_none() && is_there && self.sent_ns != target_ns {
            batch = Some(self.none_left(library));
        }
        if batch.is_some() {
            self.sent_ns = self.position.at_ns();
        }
        Ok(batch.map(Reply::Batch))
    }

    /// That there are no more rows up to where the clock stands.
    fn none_left(&mut self, library: &Library) -> Batch {
        let position = match &mut self.position {
            Place::Rows(position) => position,
            Place::Findings(position, _) => return position.none_left(self.sent_ns),
        };
        match self.rows {
            Rows::Messages => position.none_left::<Message>(library, self.sent_ns),
            Rows::Expanded => position.none_left::<ExpandedMessage>(library, self.sent_ns),
            Rows::Windows => position.none_left::<WindowRow>(library, self.sent_ns),
            Rows::Calls | Rows::Findings => position.none_left::<Call>(library, self.sent_ns),
        }
    }

    fn towards(
        &mut self,
        library: &Library,
        moment: &Moment,
        direction: Direction,
        to_ns: Nanoseconds,
    ) -> Result<Option<Batch>, String> {
        if let Place::Findings(position, filter) = &mut self.position {
            return Ok(position.next((moment.findings.as_slice(), filter, library), direction, to_ns));
        }
        match self.rows {
            Rows::Messages => self.position.next::<Message>(library, direction, to_ns),
            Rows::Expanded => self.position.next::<ExpandedMessage>(library, direction, to_ns),
            Rows::Windows => self.position.next::<WindowRow>(library, direction, to_ns),
            Rows::Calls | Rows::Findings => self.position.next::<Call>(library, direction, to_ns),
        }
    }

    fn newest(&mut self, library: &Library, moment: &Moment) -> Result<Option<Batch>, String> {
        let to_ns = moment.complete_ns;
        match self.rows {
            Rows::Findings => self.towards(library, moment, Direction::Forward, to_ns),
            Rows::Messages => self.position.newest::<Message>(library, to_ns),
            Rows::Expanded => self.position.newest::<ExpandedMessage>(library, to_ns),
            Rows::Windows => self.position.newest::<WindowRow>(library, to_ns),
            Rows::Calls => self.position.newest::<Call>(library, to_ns),
        }
    }

    fn skip(&mut self, library: &Library, to_ns: Nanoseconds) -> Result<(), String> {
        match self.rows {
            // They are few.
            Rows::Findings => Ok(()),
            Rows::Messages => self.position.skip::<Message>(library, to_ns),
            Rows::Expanded => self.position.skip::<ExpandedMessage>(library, to_ns),
            Rows::Windows => self.position.skip::<WindowRow>(library, to_ns),
            Rows::Calls => self.position.skip::<Call>(library, to_ns),
        }
    }

    fn or_end(&mut self, batch: Option<Batch>, is_over: bool) -> Option<Reply> {
        if batch.is_none() && is_over && !std::mem::replace(&mut self.has_ended, true) {
            return Some(Reply::End(End { id: self.id }));
        }
        batch.map(Reply::Batch)
    }

    fn next_verdict(&mut self, moment: &Moment) -> Option<Reply> {
        let verdict = moment.verdict.as_ref().map(|verdict| Verdict { id: self.id, ..verdict.clone() });
        if verdict.is_some() && verdict != self.verdict {
            self.verdict.clone_from(&verdict);
            return verdict.map(Reply::Verdict);
        }
        self.or_end(None, moment.is_over)
    }
}

/// Where a subscription begins.
///
/// # Errors
/// One sentence when that is no time of the run.
fn begin_ns(asked: &Subscribe, moment: &Moment) -> Result<Nanoseconds, String> {
    let (start, now, clock) = (0, moment.complete_ns, after(moment.clock_ns).min(moment.complete_ns));
    Ok(match (asked.pace, asked.from) {
        (Pace::Clock, _) | (Pace::Fast, Begin::Clock) => clock,
        (Pace::Newest, _) | (Pace::Fast, Begin::Now) => now,
        (Pace::Fast, Begin::Start) if asked.direction == Direction::Backward => now,
        (Pace::Fast, Begin::Start) => start,
        // Backward from what is known, since what comes later would be passed unseen.
        (Pace::Fast, Begin::TimeNs(time_ns)) if time_ns >= 0.0 => match asked.direction {
            Direction::Forward => time_ns as Nanoseconds,
            Direction::Backward => (time_ns as Nanoseconds).min(now),
        },
        (Pace::Fast, Begin::TimeNs(time_ns)) => return Err(format!("{time_ns} is no time of the run")),
    })
}

/// A search for the next row of a subscription after, or before, the shared clock.
#[derive(Debug)]
pub(super) struct Search {
    search: Subscription,
    moment: Moment,
    direction: Direction,
    to_ns: Nanoseconds,
}

impl Search {
    /// # Errors
    /// One sentence about what makes no sense.
    pub(super) fn new(
        asked: &Subscribe,
        library: &Library,
        moment: &Moment,
        direction: Direction,
    ) -> Result<Self, String> {
        let one =
            Subscribe { most: Some(1), pace: Pace::Fast, direction, from: Begin::Start, ..asked.clone() };
        let mut search = Subscription::new(&one, library, moment)?;
        let moment = bounded(asked.what, search.window_ns, library, moment);
        let (at_ns, to_ns) = match direction {
            Direction::Forward => (after(moment.clock_ns), moment.complete_ns),
            Direction::Backward => (moment.clock_ns.min(moment.complete_ns), 0),
        };
        search.position.jump(at_ns);
        Ok(Self { search, moment, direction, to_ns })
    }

    /// Searches on for a while; the time of the row once it is found.
    ///
    /// # Errors
    /// One sentence when there is none, or rows cannot be read.
    pub(super) fn step(&mut self, library: &Library) -> Result<Option<Nanoseconds>, String> {
        if let Some(batch) = self.search.towards(library, &self.moment, self.direction, self.to_ns)?
            && let Some(time_ns) = first_ns(&batch)
        {
            return Ok(Some(time_ns as Nanoseconds));
        }
        let is_there = match self.direction {
            Direction::Forward => self.search.position.at_ns() >= self.to_ns,
            Direction::Backward => self.search.position.at_ns() <= self.to_ns,
        };
        if is_there { Err("there is no such row on this side of the clock".to_owned()) } else { Ok(None) }
    }
}

/// The first nanosecond after a time.
fn after(time_ns: Nanoseconds) -> Nanoseconds {
    time_ns.saturating_add(1)
}

/// The place of the only row of a batch in the order of time.
fn first_ns(batch: &Batch) -> Option<f64> {
    if let Some(calls) = &batch.calls {
        return calls.end_ns.first().copied();
    }
    if let Some(windows) = &batch.windows {
        return windows.to_ns.first().map(|to_ns| to_ns - 1.0);
    }
    if let Some(findings) = &batch.findings {
        return findings.first().map(|finding| finding.from_ns);
    }
    let messages = batch.messages.as_ref()?;
    messages.known_ns.first().or(messages.receive_ns.first()).copied()
}

/// What a topic has of a moment: windows are as far as all in them is known and diagnosed, and what was diagnosed is over when
/// it was diagnosed with all that is known.
fn bounded(what: Topic, window_ns: u64, library: &Library, moment: &Moment) -> Moment {
    let mut moment = moment.clone();
    if matches!(what, Topic::Windows | Topic::Findings) {
        moment.is_over = moment.is_diagnosed();
    }
    if what == Topic::Windows {
        let window_ns = window_ns.max(1);
        moment.complete_ns = if moment.is_over {
            moment.complete_ns.div_ceil(window_ns).saturating_mul(window_ns)
        } else {
            let diagnosed_ns = library.diagnosed_ns().unwrap_or_default();
            moment.complete_ns.min(diagnosed_ns) / window_ns * window_ns
        };
    }
    moment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::stored::Stored;
    use mpiscope_feed::{Region, Regions};

    #[test]
    fn a_region_may_come_until_the_last_diagnosis() {
        let library = Library::new(Box::new(Stored::default()));
        let regions = vec![Region { id: 0, ..Region::default() }];
        library.set_regions(&Regions { version: 1, count: 1, regions, ..Regions::default() });
        let asked = Subscribe { region: Some(1), ..Subscribe::new(Topic::Calls, 1) };
        let of = |is_over, is_final| {
            let verdict = Verdict {
                id: 0,
                cause: "none".to_owned(),
                avoidable_s: 0.0,
                avoidable_wall_s: 0.0,
                share: 0.0,
                confidence: 1.0,
                basis: "whole".to_owned(),
                is_final,
            };
            let moment = Moment { is_over, verdict: Some(verdict), ..Moment::default() };
            Subscription::new(&asked, &library, &moment).map(|of| of.note())
        };
        let unknown = "there is no region 1; there is 0";
        assert_eq!(of(false, false), Ok(Some(format!("{unknown} so far"))));
        assert_eq!(of(true, false), Ok(Some(format!("{unknown} so far"))));
        assert_eq!(of(true, true), Err(unknown.to_owned()));
    }
}
