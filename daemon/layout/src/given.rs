//! The names that a layout finds set.

/// A value that the run gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    Rank,
    RankCount,
    Node,
    Context,
    Thread,
    Color,
    Event(usize, EventValue),
    AxisSize(usize),
}

/// What a layout may ask of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventValue {
    Value,
    Least,
    Most,
    Mean,
}

use EventValue::{Least, Mean, Most, Value};

/// Names as users write them. Comparisons ignore case.
pub(crate) const GIVEN_NAMES: [(&str, Given); 25] = [
    ("rank", Given::Rank),
    ("maxRank", Given::RankCount),
    ("node", Given::Node),
    ("context", Given::Context),
    ("thread", Given::Thread),
    ("color", Given::Color),
    ("event0.val", Given::Event(0, Value)),
    ("event0.min", Given::Event(0, Least)),
    ("event0.max", Given::Event(0, Most)),
    ("event0.mean", Given::Event(0, Mean)),
    ("event1.val", Given::Event(1, Value)),
    ("event1.min", Given::Event(1, Least)),
    ("event1.max", Given::Event(1, Most)),
    ("event1.mean", Given::Event(1, Mean)),
    ("event2.val", Given::Event(2, Value)),
    ("event2.min", Given::Event(2, Least)),
    ("event2.max", Given::Event(2, Most)),
    ("event2.mean", Given::Event(2, Mean)),
    ("event3.val", Given::Event(3, Value)),
    ("event3.min", Given::Event(3, Least)),
    ("event3.max", Given::Event(3, Most)),
    ("event3.mean", Given::Event(3, Mean)),
    ("axisDimX", Given::AxisSize(0)),
    ("axisDimY", Given::AxisSize(1)),
    ("axisDimZ", Given::AxisSize(2)),
];
