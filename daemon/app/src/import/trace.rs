//! A trace that was read and found sound, whatever its format.

use super::pairing::{Received, put_in_order};
use super::step::Step;
use super::telling::Members;
use crate::sorting::{Sorted, Sorter};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// More ranks than any job has.
pub(crate) const MOST_RANKS: usize = 1 << 20;
/// Members of all communicators together; they stay in memory.
pub(crate) const MOST_MEMBERS: usize = 1 << 22;
/// Times add up without getting too large.
pub(crate) const MOST_NS: u64 = 1 << 62;
/// Sums of sizes up to here have room for more.
const MOST_BYTES: u64 = 1 << 62;

/// All that is told of it.
pub(crate) struct Trace {
    pub(crate) steps: Sorted<Step>,
    pub(crate) calls: u64,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// When the run began, in nanoseconds since 1970; 0 where that is not known.
    pub(crate) unix_ns: u64,
    pub(crate) nodes: Vec<String>,
    pub(crate) comms: BTreeMap<u32, Members>,
    /// Where calls were made, by number from 1 on.
    pub(crate) places: Vec<String>,
    /// What the recording will not have, a sentence each.
    pub(crate) missing: Vec<String>,
    /// What to say to whoever imports it, and nobody else.
    pub(crate) notes: Vec<String>,
}

/// A piece of a trace as it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Step(Step),
    Received(Received),
}

/// Takes what is found, in any order.
pub(crate) type Sink<'a> = dyn FnMut(Found) -> Result<()> + 'a;

/// What is found, until all of it is.
pub(crate) struct Collecting {
    steps: Sorter<Step>,
    received: Sorter<Received>,
}

impl Collecting {
    pub(crate) fn new(scratch: &Path) -> Self {
        Self { steps: Sorter::new(scratch), received: Sorter::new(scratch) }
    }

    pub(crate) fn push(&mut self, found: Found) -> Result<()> {
        match found {
            Found::Step(step) => self.steps.push(step),
            Found::Received(received) => self.received.push(received),
        }
    }

    /// All, in the order of time.
    pub(crate) fn finish(self) -> Result<Sorted<Step>> {
        let Self { mut steps, received } = self;
        put_in_order(received.finish()?, &mut steps)?;
        steps.finish()
    }
}

/// No run takes so long: a year.
const LONG_SPAN_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// What to say of times that no run spans: most likely one of the two at the ends is wrong.
pub(crate) fn long_span(name: &str, span_ns: u64, from: &str, to: &str) -> Option<String> {
    let years = span_ns as f64 / LONG_SPAN_NS as f64;
    (span_ns > LONG_SPAN_NS)
        .then(|| format!("{name}: its times span {years:.1} years, from {from} to {to}: check both"))
}

/// A sum of sizes; none where it is too large for sums of times to be right.
pub(crate) fn sum_bytes(sum: u64, more: u64) -> Option<u64> {
    sum.checked_add(more).filter(|&sum| sum <= MOST_BYTES)
}
