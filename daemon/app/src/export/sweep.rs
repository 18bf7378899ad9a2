//! Rank by rank, through time: which call sent and which received each message, on which thread.
//!
//! A recording's messages know ranks and times: a message was sent by a call that began at its `send_ns` and received by one
//! that ended at its `recv_ns`. Where several threads made such calls at the same nanosecond, the one that fits best takes it.
//! What no call of the rank began or ended goes to a call that was under way, or else stands alone.

use super::item::{End, Item};
use anyhow::Result;
use mpiscope_model::{Call, Nanoseconds, Rank};
use mpiscope_wire::{Family, by_id};
use std::collections::BTreeMap;

/// A call, and what it sent and received.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) call: Call,
    pub(crate) sent: Vec<End>,
    pub(crate) received: Vec<End>,
}

/// Takes calls: those of a thread in the order of time, one rank after the other.
pub(crate) trait Stage {
    /// A call that is over; the next of its thread begins no earlier than `next_ns`, if there is one.
    fn call(&mut self, placed: &Placed, next_ns: Option<Nanoseconds>) -> Result<()>;
    /// An end of a message without a call, of a thread of its rank in whose order it comes.
    fn alone(&mut self, thread: u16, end: &End) -> Result<()>;
    /// The rank is over.
    fn rank_is_over(&mut self, rank: Rank) -> Result<()>;
}

/// Sweeps items that come in order.
pub(crate) struct Sweep<'a> {
    stage: &'a mut dyn Stage,
    rank: Option<Rank>,
    at_ns: Nanoseconds,
    /// What begins at this moment, and which messages begin or end at it.
    beginning: Vec<Placed>,
    ends: Vec<End>,
    /// The newest call of each thread.
    newest: BTreeMap<u16, Placed>,
    /// Calls that began before the one before them on their thread had ended, and are put behind it.
    pub(crate) moved: u64,
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(stage: &'a mut dyn Stage) -> Self {
        Self {
            stage,
            rank: None,
            at_ns: 0,
            beginning: Vec::new(),
            ends: Vec::new(),
            newest: BTreeMap::new(),
            moved: 0,
        }
    }

    pub(crate) fn item(&mut self, item: &Item) -> Result<()> {
        let (rank, at_ns) = match item {
            Item::Call(call) => (call.rank, call.start_ns),
            Item::End(end) => (end.rank, end.at_ns),
        };
        if self.rank != Some(rank) {
            self.end_rank()?;
            self.rank = Some(rank);
        } else if at_ns != self.at_ns {
            self.moment()?;
        }
        self.at_ns = at_ns;
        match item {
            Item::Call(call) => {
                self.beginning.push(Placed { call: *call, sent: Vec::new(), received: Vec::new() });
            }
            Item::End(end) => self.ends.push(*end),
        }
        Ok(())
    }

    /// That was all.
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.end_rank()?;
        Ok(self.moved)
    }

    fn end_rank(&mut self) -> Result<()> {
        self.moment()?;
        for placed in std::mem::take(&mut self.newest).values() {
            self.stage.call(placed, None)?;
        }
        self.rank.take().map_or(Ok(()), |rank| self.stage.rank_is_over(rank))
    }

    /// All of a moment is known.
    fn moment(&mut self) -> Result<()> {
        let at_ns = self.at_ns;
        let mut alone = Vec::new();
        for end in self.ends.drain(..) {
            let known = self.beginning.iter_mut().chain(self.newest.values_mut());
            // Of calls that fit alike the first that has none yet, so that each of several threads gets its own.
            let best =
                known.filter_map(|placed| Some((fits(placed, &end)?, placed))).max_by_key(|(fit, _)| *fit);
            match best {
                Some((_, placed)) if end.is_receive => placed.received.push(end),
                Some((_, placed)) => placed.sent.push(end),
                None => alone.push(end),
            }
        }
        let mut beginning = std::mem::take(&mut self.beginning);
        for placed in beginning.drain(..) {
            self.begin(placed)?;
        }
        self.beginning = beginning;
        for end in alone {
            // Nothing is under way: what is there is over.
            let thread = self.newest.keys().next().copied().unwrap_or_default();
            if let Some(over) = self.newest.remove(&thread) {
                self.stage.call(&over, Some(at_ns))?;
            }
            self.stage.alone(thread, &end)?;
        }
        Ok(())
    }

    fn begin(&mut self, mut placed: Placed) -> Result<()> {
        if let Some(before) = self.newest.remove(&placed.call.thread) {
            if placed.call.start_ns < before.call.end_ns {
                self.moved += 1;
                placed.call.start_ns = before.call.end_ns;
                placed.call.end_ns = placed.call.end_ns.max(before.call.end_ns);
            }
            self.stage.call(&before, Some(placed.call.start_ns))?;
        }
        self.newest.insert(placed.call.thread, placed);
        Ok(())
    }
}

/// How well an end of a message fits a call; not at all where the call was not under way.
fn fits(placed: &Placed, end: &End) -> Option<(bool, bool, bool, bool, bool)> {
    let call = &placed.call;
    if end.at_ns < call.start_ns || end.at_ns > call.end_ns {
        return None;
    }
    let (its_moment, taken) = if end.is_receive {
        (call.end_ns, placed.received.len())
    } else {
        (call.start_ns, placed.sent.len())
    };
    let family = by_id(call.function).map(|entry| entry.family);
    let moves = match family {
        Some(Family::Send) => true,
        Some(Family::Receive | Family::Complete) => end.is_receive,
        _ => false,
    };
    let same = |own: Option<u32>, other: u32| own.is_none_or(|own| own == other);
    Some((
        its_moment == end.at_ns,
        moves,
        same(call.comm, end.comm) && same(call.peer, end.peer),
        call.tag.is_none_or(|tag| tag == end.tag),
        taken == 0,
    ))
}
