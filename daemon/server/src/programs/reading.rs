//! Reading rows for a client, away from the task that serves it and in turn with all others.
//!
//! What must hold: of all programs one reads at a time, also where a client leaves while its rows are read; nothing that
//! waits here keeps its client from being served.

use super::moment::Moment;
use super::requests::write;
use super::second::SecondRecording;
use super::subscription::{Search, Subscription};
use crate::live::Source;
use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{Batch, Format, Recording, Reply, Subscribe, Topic};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use warp::ws::Message;

/// Who may read, of all programs and of all pages.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    pub(super) source: Source,
    pub(super) readers: Arc<Semaphore>,
}

/// What was read for a subscription.
pub(super) struct Read {
    pub(super) id: u32,
    pub(super) subscription: Subscription,
    pub(super) message: Result<Option<Message>, String>,
    /// Whether there may be more at once.
    pub(super) has_more: bool,
}

/// What is being read; nothing where that failed.
pub(super) type Reading = Pin<Box<dyn Future<Output = Option<Read>> + Send>>;

/// How the run and the shared clock are now.
pub(super) fn moment(source: &Source) -> Moment {
    moment_and_clock(source).0
}

/// Likewise, with the time of the shared clock.
fn moment_and_clock(source: &Source) -> (Moment, f64) {
    let (known, is_over) = source.known_or_over();
    let (clock_ns, is_moving, jumps) = source.stage.moment(known);
    let until_ns = known.until_ns as Nanoseconds;
    let moment = Moment {
        complete_ns: if is_over {
            source.library.last_ns().max(until_ns).saturating_add(1)
        } else {
            until_ns
        },
        is_over,
        clock_ns: clock_ns as Nanoseconds,
        is_moving,
        jumps,
        verdict: source.verdict(),
        findings: Arc::default(),
        is_clock_at_end: is_over && clock_ns as Nanoseconds >= until_ns,
    };
    (moment, clock_ns)
}

/// The second recording, if a subscription is to that.
///
/// # Errors
/// One sentence where there is none.
pub(super) fn second_of(source: &Source, recording: Recording) -> Result<Option<&SecondRecording>, String> {
    match (recording, source.second()) {
        (Recording::A, _) => Ok(None),
        (Recording::B, Some(second)) => Ok(Some(second)),
        (Recording::B, None) => {
            Err("there is no recording b: `mpiscope replay A --with B` replays two".to_owned())
        }
    }
}

/// The moment of a second recording.
pub(super) fn moment_of_second(source: &Source, second: &SecondRecording) -> Moment {
    let (of_a, clock_ns) = moment_and_clock(source);
    second.moment(&of_a, clock_ns)
}

/// Likewise, for a subscription to a topic.
pub(super) fn moment_for(source: &Source, what: Topic) -> Moment {
    let findings = if what == Topic::Findings { source.findings() } else { Arc::default() };
    Moment { findings, ..moment(source) }
}

impl Turns {
    /// Waits for a turn; it ends when dropped, by whoever reads and not by whoever waits for that.
    async fn take(&self) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let turn = self.source.board.turns().acquire_owned().await.ok()?;
        let reader = Arc::clone(&self.readers).acquire_owned().await.ok()?;
        Some((turn, reader))
    }

    /// Reads what a subscription sends next.
    pub(super) fn read(&self, id: u32, mut subscription: Subscription, format: Format) -> Reading {
        let turns = self.clone();
        Box::pin(async move {
            let permits = turns.take().await?;
            let read = spawn_blocking(move || {
                let source = &turns.source;
                let second = second_of(source, subscription.recording()).ok().flatten();
                let (library, moment) = match second {
                    Some(second) => (&second.library, moment_of_second(source, second)),
                    None => (&source.library, moment_for(source, subscription.topic())),
                };
                let reply = subscription.next(library, &moment);
                let has_replied = matches!(reply, Ok(Some(_)));
                let has_more = subscription.has_more(library, &moment, has_replied);
                let reply = reply.map(|reply| reply.map(|reply| named(source, second, reply)));
                let message = reply.map(|reply| reply.and_then(|reply| write(&reply, format)));
                drop(permits);
                Read { id, subscription, message, has_more }
            });
            // A panic while rows are read ends this client alone.
            read.await.ok()
        })
    }

    /// Looks for the next row of a subscription on one side of the clock, a stretch at a turn.
    ///
    /// # Errors
    /// One sentence when there is none, or rows cannot be read.
    pub(super) async fn find(
        &self,
        asked: &Subscribe,
        direction: mpiscope_protocol::Direction,
    ) -> Result<f64, String> {
        let (source, asked) = (self.source.clone(), asked.clone());
        let recording = asked.recording;
        // Call sites may have to be looked up in files first.
        let begun = spawn_blocking(move || match second_of(&source, recording)? {
            Some(second) => {
                Search::new(&asked, &second.library, &moment_of_second(&source, second), direction)
            }
            None => Search::new(&asked, &source.library, &moment_for(&source, asked.what), direction),
        });
        let mut search = begun.await.map_err(|_| "the search failed".to_owned())??;
        loop {
            let permits = self.take().await.ok_or("mpiscope ends")?;
            let source = self.source.clone();
            let step = spawn_blocking(move || {
                let second = second_of(&source, recording).ok().flatten();
                let found = search.step(second.map_or(&source.library, |second| &second.library));
                let clock_ns = |time_ns: Nanoseconds| {
                    second.map_or(time_ns as f64, |second| second.map.to_a(time_ns as f64))
                };
                let found = found.map(|time_ns| time_ns.map(clock_ns));
                drop(permits);
                (search, found)
            });
            let (rest, found) = step.await.map_err(|_| "the search failed".to_owned())?;
            if let Some(time_ns) = found? {
                return Ok(time_ns);
            }
            search = rest;
        }
    }
}

/// A reply on the shared clock. Where there are two recordings, a batch names its own.
fn named(source: &Source, second: Option<&SecondRecording>, reply: Reply) -> Reply {
    match (second, reply) {
        (Some(second), reply) => second.on_clock_of_a(reply),
        (None, Reply::Batch(batch)) if source.second().is_some() => {
            Reply::Batch(Batch { recording: Some(Recording::A), ..batch })
        }
        (None, reply) => reply,
    }
}

/// Waits for what is being read, if anything is.
pub(super) async fn finished(reading: &mut Option<Reading>) -> Option<Read> {
    let Some(current) = reading else { return pending().await };
    let read = current.await;
    *reading = None;
    read
}
