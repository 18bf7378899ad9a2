//! Who sent how much to whom in a range, and how late it was.

use crate::column::{F64Column, U32Column};
use crate::dependencies::gather;
use crate::message_source::MessageSource;
use mpiscope_diagnosis::Version;
use mpiscope_model::{Message, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::{ControlFlow, Range};

/// Pairs of one answer, those with the most messages; a page draws no more.
const MOST_PAIRS: usize = 500_000;
/// Pairs that are counted; messages of further ones are only counted together.
const MOST_COUNTED: usize = 4_000_000;

/// What ranks sent each other, one pair a place in all columns: by sender, then receiver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pairs {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// Who sent.
    pub src: U32Column,
    /// Who received.
    pub dst: U32Column,
    /// Messages that arrived in the range.
    pub messages: F64Column,
    /// Their bytes.
    pub bytes: F64Column,
    /// Those with an exact transfer time, where the expected one is known.
    pub exact: F64Column,
    /// How many times as long as usual those took, in the mean; not a number without any.
    pub latency: F64Column,
    /// Messages of pairs that are not here.
    pub left_out: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    messages: u64,
    bytes: u64,
    exact: u64,
    /// Of what they took, each by what is usual.
    by_usual: f64,
}

/// Sums up all messages that arrived in a range.
pub(super) fn pairs(
    source: &dyn MessageSource,
    range_ns: &Range<Nanoseconds>,
    criteria: Option<&Version>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Pairs, String> {
    let mut sums: FxHashMap<(Rank, Rank), Sum> = FxHashMap::default();
    let mut left_out = 0;
    gather::visit(source, range_ns, is_wanted, &mut |messages| {
        for message in messages.iter().filter(|message| range_ns.contains(&message.recv_ns)) {
            let pair = (message.src, message.dst);
            if sums.len() >= MOST_COUNTED && !sums.contains_key(&pair) {
                left_out += 1;
            } else {
                add(sums.entry(pair).or_default(), message, criteria);
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut rows: Vec<((Rank, Rank), Sum)> = sums.into_iter().collect();
    if rows.len() > MOST_PAIRS {
        rows.sort_unstable_by_key(|&(pair, sum)| (Reverse(sum.messages), pair));
        left_out += rows.drain(MOST_PAIRS..).map(|(_, sum)| sum.messages).sum::<u64>();
    }
    rows.sort_unstable_by_key(|(pair, _)| *pair);
    let of = |value: fn(&Sum) -> u64| rows.iter().map(|(_, sum)| value(sum)).collect();
    let mean = |sum: &Sum| if sum.exact > 0 { sum.by_usual / sum.exact as f64 } else { f64::NAN };
    Ok(Pairs {
        from_ns: range_ns.start,
        to_ns: range_ns.end,
        src: rows.iter().map(|((src, _), _)| src.0).collect(),
        dst: rows.iter().map(|((_, dst), _)| dst.0).collect(),
        messages: of(|sum| sum.messages),
        bytes: of(|sum| sum.bytes),
        exact: of(|sum| sum.exact),
        latency: rows.iter().map(|(_, sum)| mean(sum)).collect(),
        left_out,
    })
}

fn add(sum: &mut Sum, message: &Message, criteria: Option<&Version>) {
    sum.messages += 1;
    sum.bytes = sum.bytes.saturating_add(message.bytes);
    if let Some(latency) = criteria.and_then(|criteria| criteria.exact_latency(message)) {
        sum.exact += 1;
        sum.by_usual += latency;
    }
}
