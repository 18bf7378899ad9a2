//! One subscription: what it sends next, by its pace.

use super::filter::Filter;
use super::rows::Position;
use mpiscope_feed::Library;
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_protocol::{Batch, Begin, Direction, End, Jump, Pace, Reply, Subscribe, Topic, Verdict};
use std::time::{Duration, Instant};

/// A client that does not keep up with the clock for so long is taken to where the clock is.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the run and the shared clock stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Moment {
    /// All rows before this are known.
    pub(super) complete_ns: Nanoseconds,
    /// There will be no more.
    pub(super) is_over: bool,
    /// Where the shared clock is.
    pub(super) clock_ns: Nanoseconds,
    /// Whether it moves by itself.
    pub(super) is_moving: bool,
    /// How often it went elsewhere without passing what lies between.
    pub(super) jumps: u64,
    /// Why time was lost, for any subscription.
    pub(super) verdict: Option<Verdict>,
}

#[derive(Debug)]
pub(super) struct Subscription {
    id: u32,
    what: Topic,
    pace: Pace,
    direction: Direction,
    position: Position,
    jumps: u64,
    /// Since when it has not been where the clock is.
    behind: Option<Instant>,
    verdict: Option<Verdict>,
    has_ended: bool,
}

impl Subscription {
    /// # Errors
    /// One sentence about what makes no sense.
    pub(super) fn new(asked: &Subscribe, library: &Library, moment: &Moment) -> Result<Self, String> {
        let filter = Filter::new(asked, library)?;
        let (start, now, clock) = (0, moment.complete_ns, after(moment.clock_ns).min(moment.complete_ns));
        let at_ns = match (asked.pace, asked.from) {
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
        };
        if asked.pace == Pace::Newest && asked.direction == Direction::Backward {
            return Err("what is new comes forward; leave the direction out".to_owned());
        }
        Ok(Self {
            id: asked.id,
            what: asked.what,
            pace: asked.pace,
            direction: asked.direction,
            position: Position::new(asked, filter, at_ns, library),
            jumps: moment.jumps,
            behind: None,
            verdict: None,
            has_ended: false,
        })
    }

    /// What it sends next, if anything.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn next(&mut self, library: &Library, moment: &Moment) -> Result<Option<Reply>, String> {
        if self.what == Topic::Verdicts {
            return Ok(self.next_verdict(moment));
        }
        // Nothing follows an end, also of rows that become known late.
        if self.has_ended {
            return Ok(None);
        }
        match self.pace {
            Pace::Clock => self.in_step(library, moment),
            Pace::Newest => {
                let batch = match self.what {
                    Topic::Messages => self.position.newest::<Message>(library, moment.complete_ns),
                    _ => self.position.newest::<Call>(library, moment.complete_ns),
                }?;
                Ok(self.or_end(batch, moment.is_over))
            }
            Pace::Fast => {
                let to_ns = match self.direction {
                    Direction::Forward => moment.complete_ns,
                    Direction::Backward => 0,
                };
                let batch = self.towards(library, self.direction, to_ns)?;
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
    pub(super) fn has_more(&self, moment: &Moment, has_replied: bool) -> bool {
        match (self.what, self.pace, self.direction) {
            // A clock that runs is always elsewhere the next time: that is for the next frame.
            (Topic::Calls | Topic::Messages, Pace::Clock, _) => {
                self.position.at_ns() != self.target_ns(moment)
            }
            (Topic::Calls | Topic::Messages, Pace::Fast, Direction::Backward) => {
                has_replied || self.position.at_ns() > 0
            }
            (Topic::Calls | Topic::Messages, ..) => has_replied || self.position.at_ns() < moment.complete_ns,
            // Its end may follow.
            (Topic::Verdicts, ..) => has_replied,
        }
    }

    fn target_ns(&self, moment: &Moment) -> Nanoseconds {
        // What ends at the time that is shown is shown.
        after(moment.clock_ns).min(moment.complete_ns)
    }

    fn in_step(&mut self, library: &Library, moment: &Moment) -> Result<Option<Reply>, String> {
        let (target_ns, at_ns) = (self.target_ns(moment), self.position.at_ns());
        if std::mem::replace(&mut self.jumps, moment.jumps) != moment.jumps {
            self.behind = None;
            if target_ns != at_ns {
                self.position.jump(target_ns);
                let (from_ns, to_ns) = (at_ns as f64, target_ns as f64);
                return Ok(Some(Reply::Jump(Jump { id: self.id, from_ns, to_ns })));
            }
        }
        if target_ns == at_ns {
            self.behind = None;
        } else if moment.is_moving && self.behind.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            self.behind = None;
            match self.what {
                Topic::Messages => self.position.skip::<Message>(library, target_ns)?,
                _ => self.position.skip::<Call>(library, target_ns)?,
            }
            return Ok(None);
        }
        let direction = if target_ns < at_ns { Direction::Backward } else { Direction::Forward };
        Ok(self.towards(library, direction, target_ns)?.map(Reply::Batch))
    }

    fn towards(
        &mut self,
        library: &Library,
        direction: Direction,
        to_ns: Nanoseconds,
    ) -> Result<Option<Batch>, String> {
        match self.what {
            Topic::Messages => self.position.next::<Message>(library, direction, to_ns),
            _ => self.position.next::<Call>(library, direction, to_ns),
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

/// A search for the next row of a subscription after, or before, the shared clock.
#[derive(Debug)]
pub(super) struct Search {
    search: Subscription,
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
        let (at_ns, to_ns) = match direction {
            Direction::Forward => (after(moment.clock_ns), moment.complete_ns),
            Direction::Backward => (moment.clock_ns.min(moment.complete_ns), 0),
        };
        search.position.jump(at_ns);
        Ok(Self { search, direction, to_ns })
    }

    /// Searches on for a while; the time of the row once it is found.
    ///
    /// # Errors
    /// One sentence when there is none, or rows cannot be read.
    pub(super) fn step(&mut self, library: &Library) -> Result<Option<Nanoseconds>, String> {
        if let Some(batch) = self.search.towards(library, self.direction, self.to_ns)? {
            let calls = batch.calls.as_ref().and_then(|calls| calls.end_ns.first());
            let messages = batch.messages.as_ref().and_then(|messages| messages.receive_ns.first());
            if let Some(&time_ns) = calls.or(messages) {
                return Ok(Some(time_ns as Nanoseconds));
            }
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
