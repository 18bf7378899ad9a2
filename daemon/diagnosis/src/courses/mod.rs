//! Messages over a range, bin by bin: between nodes and within them, how evenly ranks talked, and what messages of
//! about one size took. These are the three views of the PCLVis paper.

mod balance;
mod sizes;
#[cfg(test)]
mod tests;

pub use balance::BinBalance;
pub use sizes::{MOST_CLASSES, SizeClass};

use crate::criteria::Scope;
use balance::Balances;
use mpiscope_model::{Message, Nanoseconds, Rank};
use sizes::Sizes;
use std::ops::Range;

/// Messages that ended in a bin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BinTraffic {
    /// How many of them went between nodes.
    pub inter: u64,
    /// How many stayed on their node.
    pub intra: u64,
    /// The payload of the former.
    pub inter_bytes: u64,
    /// Of the latter.
    pub intra_bytes: u64,
}

/// Takes in the messages that ended in a range, in any order. Memory is bounded by bins, by ranks and by sizes.
#[derive(Debug)]
pub struct MessageCourses {
    range_ns: Range<Nanoseconds>,
    width_ns: Nanoseconds,
    traffic: Vec<BinTraffic>,
    balances: Balances,
    sizes: [Sizes; 2],
    messages: u64,
    left_out: u64,
}

impl MessageCourses {
    /// Over a range, with this number of bins of one width at most; the last may reach beyond the range.
    #[must_use]
    pub fn over(range_ns: Range<Nanoseconds>, most_bins: u32) -> Self {
        let length_ns = range_ns.end.saturating_sub(range_ns.start).max(1);
        let width_ns = length_ns.div_ceil(u64::from(most_bins.max(1)));
        let bins = length_ns.div_ceil(width_ns) as usize;
        Self {
            range_ns,
            width_ns,
            traffic: vec![BinTraffic::default(); bins],
            balances: Balances::new(bins),
            sizes: [Sizes::new(bins), Sizes::new(bins)],
            messages: 0,
            left_out: 0,
        }
    }

    /// Adds a message that ended in the range and has a counted rank. Balance is over the counted ranks.
    pub fn add(&mut self, message: &Message, is_counted: impl Fn(Rank) -> bool) {
        if !self.range_ns.contains(&message.recv_ns) {
            return;
        }
        let bin = ((message.recv_ns - self.range_ns.start) / self.width_ns) as usize;
        let ends = [message.src, message.dst].map(|rank| is_counted(rank).then_some(rank));
        if ends == [None, None] {
            return;
        }
        if !self.balances.add(bin, ends) {
            self.left_out += 1;
            return;
        }
        self.messages += 1;
        let traffic = &mut self.traffic[bin];
        let (messages, bytes) = if message.inter {
            (&mut traffic.inter, &mut traffic.inter_bytes)
        } else {
            (&mut traffic.intra, &mut traffic.intra_bytes)
        };
        *messages += 1;
        *bytes = bytes.saturating_add(message.bytes);
        self.sizes[Scope::between_nodes(message.inter) as usize].add(bin, message.bytes, message.t_msg_ns);
    }

    /// How long a bin is.
    #[must_use]
    pub fn width_ns(&self) -> Nanoseconds {
        self.width_ns
    }

    /// The messages of each bin.
    #[must_use]
    pub fn traffic(&self) -> &[BinTraffic] {
        &self.traffic
    }

    /// How evenly ranks talked in each bin; none without messages.
    #[must_use]
    pub fn balances(&self) -> Vec<Option<BinBalance>> {
        self.balances.bins()
    }

    /// The sizes with the most messages between nodes, or within them where there are none between, by size.
    #[must_use]
    pub fn classes(&self) -> Vec<SizeClass> {
        let inter = &self.sizes[Scope::Inter as usize];
        if inter.is_empty() { self.sizes[Scope::Intra as usize].classes(false) } else { inter.classes(true) }
    }

    /// Messages that were taken in.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Messages of the range for whose ranks there was no room.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}
