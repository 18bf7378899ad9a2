//! Messages that are in flight at a moment: sent, and not received yet.
//!
//! In: the messages around the moment, the sends that nobody received so far, where ranks run. Out: how much is in flight
//! between groups of ranks, and since when. It must never read the whole run for one moment, nor answer with more than can
//! be drawn: what is left out is counted.

mod groups;
mod unreceived;

pub(crate) use unreceived::{Unreceived, UnreceivedSends};

use crate::calls::NONE;
use crate::column::{F64Column, U32Column};
use crate::dependencies::Dependencies;
use crate::question::{PendingQuestion, is_among};
use crate::regions::Regions;
use groups::Order;
pub use groups::PendingGroups;
use mpiscope_matching::UnreceivedSend;
use mpiscope_model::{Message, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::{ControlFlow, Range};
use unreceived::Uncounted;

/// Rows that are read for one moment. Segments and row groups that do not reach over it are not read; of a run in which
/// very many messages take very long this may still not be enough.
pub(crate) const MOST_READ: u64 = 16 << 20;

/// What is in flight at a moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PendingMessages {
    /// The moment: the one that was asked for, or the last that is known.
    pub at_ns: u64,
    /// The messages in flight.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of them, those without a receive so far.
    pub unreceived: u64,
    /// Sends without a receive that were too many to be kept; null where sends without a receive are not known at all.
    pub left_out_sends: Option<u64>,
    /// Not all rows around the moment were read: what is here is the least that there is.
    pub is_partial: bool,
    /// The groups of ranks, in the order of their nodes or regions.
    pub groups: PendingGroups,
    /// Pairs of groups with messages in flight: those of the group that was opened last first, then those with the most.
    pub edges: PendingEdges,
    /// The pair with the oldest message, as a place in `edges`; null where nothing is in flight.
    pub oldest: Option<u32>,
    /// Pairs of groups that are not here.
    pub edges_left_out: u64,
    /// Their messages.
    pub messages_left_out: u64,
}

/// What is in flight from one group to another, or within one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PendingEdges {
    /// The group that sent.
    pub from: U32Column,
    /// The group that is to receive.
    pub to: U32Column,
    /// Messages.
    pub messages: F64Column,
    /// Their bytes.
    pub bytes: F64Column,
    /// When the oldest was sent.
    pub since_ns: F64Column,
    /// The sender of the oldest.
    pub src: U32Column,
    /// Its receiver.
    pub dst: U32Column,
    /// Its bytes.
    pub oldest_bytes: F64Column,
}

#[derive(Debug, Clone, Copy)]
struct Sum {
    messages: u64,
    bytes: u64,
    /// The oldest; of several the one from the lowest rank, to the lowest, with the fewest bytes.
    oldest: (Nanoseconds, Rank, Rank, u64),
}

/// Pairs of groups with what is in flight between them.
#[derive(Debug, Default)]
struct Tally {
    pairs: FxHashMap<(u32, u32), Sum>,
    messages: u64,
    bytes: u64,
}

impl Tally {
    /// Messages whose ranks are in no group are only counted together.
    fn add(&mut self, message: &Message, groups: &FxHashMap<Rank, u32>) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(message.bytes);
        let (Some(&from), Some(&to)) = (groups.get(&message.src), groups.get(&message.dst)) else { return };
        let oldest = (message.send_ns, message.src, message.dst, message.bytes);
        let sum = self.pairs.entry((from, to)).or_insert(Sum { messages: 0, bytes: 0, oldest });
        sum.messages += 1;
        sum.bytes = sum.bytes.saturating_add(message.bytes);
        sum.oldest = sum.oldest.min(oldest);
    }
}

/// Whether a message is from or to a rank that is asked for.
fn concerns(question: &PendingQuestion, src: Rank, dst: Rank) -> bool {
    let ranks = question.ranks.as_deref();
    is_among(ranks, src) || is_among(ranks, dst)
}

fn is_in_flight(question: &PendingQuestion, message: &Message, at_ns: Nanoseconds) -> bool {
    message.send_ns <= at_ns && at_ns < message.recv_ns && concerns(question, message.src, message.dst)
}

/// The sends until a time that nobody has received.
fn unreceived_until(
    question: &PendingQuestion,
    unreceived: Option<&UnreceivedSends>,
    at_ns: Nanoseconds,
) -> Uncounted {
    let sends = unreceived.map(|known| known.sends.as_slice()).unwrap_or_default().iter();
    let was_sent = |send: &&UnreceivedSend| send.send_ns <= at_ns && concerns(question, send.src, send.dst);
    Uncounted::from_sends(sends.filter(was_sent).copied())
}

/// What is in flight at the moment that is asked for. `keys` are the ranks with their nodes or regions.
pub(crate) fn pending(
    question: &PendingQuestion,
    source: &Dependencies,
    unreceived: Option<&UnreceivedSends>,
    keys: impl Iterator<Item = (u32, Rank)>,
    most_read: u64,
    is_wanted: &dyn Fn() -> bool,
) -> Result<PendingMessages, String> {
    let at_ns = unreceived.map_or(question.at_ns, |known| question.at_ns.min(known.until_ns));
    let mut uncounted = unreceived_until(question, unreceived, at_ns);
    let order = Order::sorted(keys);
    let groups = order.groups(&question.open);
    let numbers = order.numbers(&groups);
    let (mut tally, mut read, mut is_partial) = (Tally::default(), 0, false);
    source.visit(&(at_ns..at_ns.saturating_add(1)), is_wanted, &mut |messages| {
        is_partial = read >= most_read;
        if is_partial {
            return ControlFlow::Break(());
        }
        read += messages.len() as u64;
        for message in messages.iter().filter(|message| is_in_flight(question, message, at_ns)) {
            uncounted.is_received(message);
            tally.add(message, &numbers);
        }
        ControlFlow::Continue(())
    })?;
    let received = tally.messages;
    uncounted.into_messages().for_each(|message| tally.add(&message, &numbers));
    let mut answer = PendingMessages {
        at_ns,
        messages: tally.messages,
        bytes: tally.bytes,
        unreceived: tally.messages - received,
        left_out_sends: unreceived.map(|known| known.left_out),
        is_partial,
        groups: order.columns(&groups),
        ..PendingMessages::default()
    };
    answer.fill(tally, &parts_of_last(&question.open, &groups), question.most as usize);
    Ok(answer)
}

/// Which groups are a part of the one that was opened last: whoever opens it wants to see what its parts do, however little
/// that is.
fn parts_of_last(open: &[(u32, u32)], groups: &[Range<usize>]) -> Vec<bool> {
    let last = open
        .last()
        .map_or(0..0, |&(place, length)| place as usize..(place as usize).saturating_add(length as usize));
    groups.iter().map(|group| last.start <= group.start && group.end <= last.end).collect()
}

impl PendingMessages {
    /// `is_near`: of each group, whether its edges come first.
    fn fill(&mut self, tally: Tally, is_near: &[bool], most: usize) {
        let (mut sent, mut received) = (vec![0_u64; is_near.len()], vec![0_u64; is_near.len()]);
        let mut edges: Vec<((u32, u32), Sum)> = tally.pairs.into_iter().collect();
        for ((from, to), sum) in &edges {
            sent[*from as usize] += sum.messages;
            received[*to as usize] += sum.messages;
        }
        (self.groups.sent, self.groups.received) =
            (sent.into_iter().collect(), received.into_iter().collect());
        edges.sort_unstable_by_key(|&(pair, sum)| {
            let is_far = !(is_near[pair.0 as usize] || is_near[pair.1 as usize]);
            (is_far, Reverse(sum.messages), sum.oldest, pair)
        });
        let oldest = (0..edges.len()).min_by_key(|&at| (edges[at].1.oldest, edges[at].0));
        // The oldest is there in any case.
        let oldest = oldest.map(|at| {
            let place = at.min(most.saturating_sub(1));
            edges.swap(at, place);
            place
        });
        let left_out = edges.split_off(edges.len().min(most));
        self.edges_left_out = left_out.len() as u64;
        self.oldest = oldest.map(|at| at as u32);
        for (pair, sum) in &edges {
            self.edges.push(*pair, sum);
        }
        let shown: u64 = edges.iter().map(|(_, sum)| sum.messages).sum();
        self.messages_left_out = self.messages - shown;
    }
}

impl PendingEdges {
    fn push(&mut self, (from, to): (u32, u32), sum: &Sum) {
        let (since_ns, src, dst, bytes) = sum.oldest;
        self.from.0.push(from);
        self.to.0.push(to);
        self.messages.0.push(sum.messages as f64);
        self.bytes.0.push(sum.bytes as f64);
        self.since_ns.0.push(since_ns as f64);
        self.src.0.push(src.0);
        self.dst.0.push(dst.0);
        self.oldest_bytes.0.push(bytes as f64);
    }
}

/// The key of each rank that is in a region; ranks in none come last.
pub(crate) fn by_region(ranks: &[Rank], regions: &Regions) -> Vec<(u32, Rank)> {
    let mut ranges: Vec<(Rank, Rank, u32)> = Vec::new();
    for region in &regions.regions {
        ranges.extend(region.ranks.iter().map(|&(first, last)| (Rank(first), Rank(last), region.id)));
    }
    ranges.sort_unstable();
    let key = |rank: Rank| {
        let after = ranges.partition_point(|&(first, ..)| first <= rank);
        let (_, last, id) = after.checked_sub(1).map(|at| ranges[at])?;
        (rank <= last).then_some(id)
    };
    ranks.iter().map(|&rank| (key(rank).unwrap_or(NONE), rank)).collect()
}

#[cfg(test)]
mod tests;
