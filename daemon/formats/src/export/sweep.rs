//! Finds the calls that sent and received each message, rank by rank in the order of time.
//!
//! A message of a recording has ranks and times: it was sent by a call that began at its `send_ns` and received by one that ended
//! at its `recv_ns`. If several threads made such calls at the same nanosecond, the call that fits best gets the message. If no
//! call began or ended then, a call that was under way gets it. Without such a call the message end stands alone.

use super::item::{Item, MessageEnd};
use anyhow::Result;
use mpiscope_model::words::plural;
use mpiscope_model::{Call, Nanoseconds, Rank};
use mpiscope_wire::{Family, by_id};
use std::collections::BTreeMap;

/// A sentence about calls that were moved, if there are any.
pub(super) fn moved_remark(moved: u64) -> Option<String> {
    let calls = plural(moved, "call");
    (moved > 0).then(|| format!("{calls} began before the one before had ended, and are put behind it"))
}

/// A call with the messages that it sent and received.
#[derive(Debug, Clone)]
pub(crate) struct CallWithEnds {
    pub(crate) call: Call,
    pub(crate) sent: Vec<MessageEnd>,
    pub(crate) received: Vec<MessageEnd>,
}

/// Takes in calls, one rank after the other; calls of a thread come in the order of time.
pub(crate) trait CallSink {
    /// Takes a call. The next call of its thread, if there is one, begins no earlier than `next_ns`.
    fn call(&mut self, placed: &CallWithEnds, next_ns: Option<Nanoseconds>) -> Result<()>;
    /// Takes a message end without a call. It comes in the order of the calls of `thread`.
    fn alone(&mut self, thread: u16, end: &MessageEnd) -> Result<()>;
    /// Ends the rank.
    fn rank_is_over(&mut self, rank: Rank) -> Result<()>;
}

/// Goes over sorted items.
pub(crate) struct Sweep<'a> {
    sink: &'a mut dyn CallSink,
    rank: Option<Rank>,
    at_ns: Nanoseconds,
    /// Calls that begin at the current moment, and message ends of it.
    beginning: Vec<CallWithEnds>,
    ends: Vec<MessageEnd>,
    /// The newest call of each thread.
    newest: BTreeMap<u16, CallWithEnds>,
    /// Calls that began before the one before them on their thread had ended, and are put behind it.
    pub(crate) moved: u64,
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(sink: &'a mut dyn CallSink) -> Self {
        Self {
            sink,
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
            Item::MessageEnd(end) => (end.rank, end.at_ns),
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
                self.beginning.push(CallWithEnds { call: *call, sent: Vec::new(), received: Vec::new() });
            }
            Item::MessageEnd(end) => self.ends.push(*end),
        }
        Ok(())
    }

    /// Ends the sweep. Returns the number of moved calls.
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.end_rank()?;
        Ok(self.moved)
    }

    fn end_rank(&mut self) -> Result<()> {
        self.moment()?;
        for placed in std::mem::take(&mut self.newest).values() {
            self.sink.call(placed, None)?;
        }
        self.rank.take().map_or(Ok(()), |rank| self.sink.rank_is_over(rank))
    }

    /// Assigns the message ends of the current moment.
    fn moment(&mut self) -> Result<()> {
        let at_ns = self.at_ns;
        let mut alone = Vec::new();
        for end in self.ends.drain(..) {
            let known = self.beginning.iter_mut().chain(self.newest.values_mut());
            // Among calls that fit equally, one that has no message yet: each of several threads gets its own.
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
            // No call is under way: the newest calls have ended.
            let thread = self.newest.keys().next().copied().unwrap_or_default();
            if let Some(over) = self.newest.remove(&thread) {
                self.sink.call(&over, Some(at_ns))?;
            }
            self.sink.alone(thread, &end)?;
        }
        Ok(())
    }

    fn begin(&mut self, mut placed: CallWithEnds) -> Result<()> {
        if let Some(before) = self.newest.remove(&placed.call.thread) {
            if placed.call.start_ns < before.call.end_ns {
                self.moved += 1;
                placed.call.start_ns = before.call.end_ns;
                placed.call.end_ns = placed.call.end_ns.max(before.call.end_ns);
            }
            self.sink.call(&before, Some(placed.call.start_ns))?;
        }
        self.newest.insert(placed.call.thread, placed);
        Ok(())
    }
}

/// How well a message end fits a call; none if the call was not under way.
fn fits(placed: &CallWithEnds, end: &MessageEnd) -> Option<(bool, bool, bool, bool, bool)> {
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
    let is_same_comm = call.comm.is_none_or(|comm| comm == end.comm);
    let is_same_peer = call.peer.is_none_or(|peer| peer == end.peer);
    Some((
        its_moment == end.at_ns,
        moves,
        is_same_comm && is_same_peer,
        call.tag.is_none_or(|tag| tag == end.tag),
        taken == 0,
    ))
}

#[cfg(test)]
mod tests;
