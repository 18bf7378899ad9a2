//! Which calls or messages are of interest.

use mpiscope_model::{Call, Function, Message, Rank, Site};
use std::ops::RangeInclusive;

/// Which rows are of interest.
pub trait Filter<R> {
    /// Whether a row is.
    fn keeps(&self, row: &R) -> bool;

    /// Whether any row can be, when the numbers of a column are within bounds.
    fn may_keep(&self, column: &str, least: i64, greatest: i64) -> bool;
}

/// Calls that match all fields; an empty field matches any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// By one of these.
    pub ranks: Option<Vec<RangeInclusive<Rank>>>,
    /// Of one of these.
    pub functions: Option<Vec<Function>>,
    /// With one of these.
    pub peers: Option<Vec<RangeInclusive<Rank>>>,
    /// With this number of bytes.
    pub bytes: Option<RangeInclusive<u64>>,
    /// That took so long.
    pub duration_ns: Option<RangeInclusive<u64>>,
    /// From one of these places.
    pub sites: Option<Vec<Site>>,
}

/// Messages that match all fields; an empty field matches any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// From or to one of these.
    pub ranks: Option<Vec<RangeInclusive<Rank>>>,
    /// With this number of bytes.
    pub bytes: Option<RangeInclusive<u64>>,
    /// That took so long.
    pub t_msg_ns: Option<RangeInclusive<u64>>,
}

fn within<T: PartialOrd>(wanted: Option<&Vec<RangeInclusive<T>>>, value: &T) -> bool {
    wanted.is_none_or(|ranges| ranges.iter().any(|range| range.contains(value)))
}

/// Whether ranges of numbers overlap the span between two bounds.
fn meets(mut wanted: impl Iterator<Item = RangeInclusive<i64>>, least: i64, greatest: i64) -> bool {
    wanted.any(|range| *range.start() <= greatest && *range.end() >= least)
}

/// Numbers beyond those that a file has as positive ones.
fn signed(range: &RangeInclusive<u64>) -> RangeInclusive<i64> {
    let of = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    of(*range.start())..=of(*range.end())
}

fn ranks(ranges: &[RangeInclusive<Rank>]) -> impl Iterator<Item = RangeInclusive<i64>> + '_ {
    ranges.iter().map(|range| i64::from(range.start().0)..=i64::from(range.end().0))
}

impl Filter<Call> for CallFilter {
    fn keeps(&self, call: &Call) -> bool {
        within(self.ranks.as_ref(), &call.rank)
            && self.functions.as_ref().is_none_or(|wanted| wanted.contains(&call.function))
            && (self.peers.is_none() || call.peer.is_some_and(|peer| within(self.peers.as_ref(), &peer)))
            && self.bytes.as_ref().is_none_or(|range| range.contains(&call.bytes))
            && self.duration_ns.as_ref().is_none_or(|range| range.contains(&call.duration_ns()))
            && self.sites.as_ref().is_none_or(|wanted| call.site.is_some_and(|site| wanted.contains(&site)))
    }

    fn may_keep(&self, column: &str, least: i64, greatest: i64) -> bool {
        // Bits of large numbers look negative in a file: nothing is known then.
        if least < 0 {
            return true;
        }
        match column {
            "rank" => self.ranks.as_ref().is_none_or(|wanted| meets(ranks(wanted), least, greatest)),
            "peer" => self.peers.as_ref().is_none_or(|wanted| meets(ranks(wanted), least, greatest)),
            "bytes" => self.bytes.iter().all(|range| meets([signed(range)].into_iter(), least, greatest)),
            "function" => self.functions.as_ref().is_none_or(|wanted| {
                meets(wanted.iter().map(|&function| function.into()..=function.into()), least, greatest)
            }),
            "site" => self.sites.as_ref().is_none_or(|wanted| {
                meets(wanted.iter().map(|&site| site.0.into()..=site.0.into()), least, greatest)
            }),
            _ => true,
        }
    }
}

impl Filter<Message> for MessageFilter {
    fn keeps(&self, message: &Message) -> bool {
        (within(self.ranks.as_ref(), &message.src) || within(self.ranks.as_ref(), &message.dst))
            && self.bytes.as_ref().is_none_or(|range| range.contains(&message.bytes))
            && self.t_msg_ns.as_ref().is_none_or(|range| range.contains(&message.t_msg_ns))
    }

    fn may_keep(&self, column: &str, least: i64, greatest: i64) -> bool {
        let range = match column {
            "bytes" => &self.bytes,
            "t_msg_ns" => &self.t_msg_ns,
            _ => return true,
        };
        least < 0 || range.iter().all(|range| meets([signed(range)].into_iter(), least, greatest))
    }
}
