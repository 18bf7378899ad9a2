//! Functions of the program become phases: how long each was, from the first call of its location to the last.

use crate::import::trace::{ItemSink, TraceItem};
use crate::import::trace_piece::{CallKey, PhaseMark, PieceKind, TracePiece};
use anyhow::Result;
use std::collections::HashMap;

/// Shorter ones are no phases: a program has millions of them, and what they are is in the call sites.
const MIN_PHASE_NS: u64 = 100_000;
/// Functions that become phases. Further ones are counted.
const MAX_NAMES: usize = 1 << 12;

/// Functions that became phases.
#[derive(Debug, Default)]
pub(crate) struct PhaseNames {
    numbers: HashMap<u32, u32>,
    found: Vec<u32>,
    /// How many phases there are.
    pub(crate) phases: u64,
    /// Functions that did not become phases: short ones, and those outside of all calls of their location.
    pub(crate) left_out: u64,
}

impl PhaseNames {
    /// The number of the function whose name is this string.
    fn number(&mut self, name: u32) -> Option<u32> {
        let next = self.found.len() as u32;
        match self.numbers.get(&name) {
            Some(&number) => Some(number),
            None if self.found.len() < MAX_NAMES => {
                self.found.push(name);
                self.numbers.insert(name, next);
                Some(next)
            }
            None => None,
        }
    }

    /// The strings that name them, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.found.iter().copied()
    }
}

/// When a function was entered or left, and the place of that among the calls of its location.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) at_ns: u64,
    pub(super) call: u64,
}

/// A function that was left after the first call.
#[derive(Debug)]
struct Left {
    name: u32,
    from: Moment,
    to: Moment,
}

/// The phases of one location.
#[derive(Debug)]
pub(super) struct Phases {
    rank: u32,
    thread: u16,
    /// The number of the location.
    location: u32,
    /// When its first call began, and when its last one ended.
    calls: Option<(u64, u64)>,
    /// They end with the last call, or when they were left if another call comes.
    left: Vec<Left>,
}

impl Phases {
    pub(super) fn new((rank, thread): (u32, u16), location: u32) -> Self {
        Self { rank, thread, location, calls: None, left: Vec::new() }
    }

    /// A function was left.
    pub(super) fn leave(&mut self, name: u32, from: Moment, to: Moment, names: &mut PhaseNames) {
        if self.calls.is_some() {
            self.left.push(Left { name, from, to });
        } else {
            names.left_out += 1;
        }
    }

    /// A call ended.
    pub(super) fn called(
        &mut self,
        (start_ns, end_ns): (u64, u64),
        names: &mut PhaseNames,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let first_ns = self.calls.map_or(start_ns, |(first_ns, _)| first_ns);
        self.calls = Some((first_ns, end_ns));
        self.finish(names, sink)
    }

    /// No call comes any more, or one that is later than all that was left.
    pub(super) fn finish(&mut self, names: &mut PhaseNames, sink: &mut ItemSink<'_>) -> Result<()> {
        let Some((first_ns, last_ns)) = self.calls else { return Ok(()) };
        for Left { name, from, to } in std::mem::take(&mut self.left) {
            let (from_ns, to_ns) = (from.at_ns.max(first_ns), to.at_ns.min(last_ns));
            let is_long = to_ns.checked_sub(from_ns).is_some_and(|ns| ns >= MIN_PHASE_NS);
            let Some(phase) = is_long.then(|| names.number(name)).flatten() else {
                names.left_out += 1;
                continue;
            };
            names.phases += 1;
            for (end_ns, call, is_begin) in [(from_ns, from.call, true), (to_ns, to.call, false)] {
                let key = CallKey { end_ns, thread: self.location, call };
                let mark = PhaseMark { rank: self.rank, thread: self.thread, phase, is_begin };
                sink(TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Phase(mark) }))?;
            }
        }
        Ok(())
    }
}
