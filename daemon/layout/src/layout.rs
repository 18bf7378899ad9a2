//! A layout that was parsed: operations in postfix order, and where the points of a rank come from.

use crate::error::Position;
use crate::function::{Binary, Unary};
use crate::given::Given;
use crate::inputs::EVENTS;
use crate::warning::LayoutWarning;

/// A step of an expression. It takes its operands from a stack and leaves its result there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Operation {
    Number(f64),
    Load(Source),
    /// The key with this number.
    Metadata(usize),
    /// A random number for each rank, by this seed.
    Random(u64),
    One(Unary),
    Two(Binary),
    /// Condition, value where it is not 0, value where it is.
    If,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Given(Given),
    /// The variable with this number.
    Variable(usize),
}

/// `name = expression`.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) variable: usize,
    /// Where its operations end; they begin where those of the statement before end.
    pub(crate) end: usize,
}

/// Coordinates and color of a point.
#[derive(Debug, Clone)]
pub(crate) struct PointSources {
    pub(crate) coordinates: [Source; 3],
    pub(crate) color: Source,
}

/// A key of metadata, and where it is first asked for.
#[derive(Debug, Clone)]
pub(crate) struct MetadataUse {
    pub(crate) key: String,
    pub(crate) position: Position,
}

/// A layout of ranks in space. Get one from [`LayoutFile`](crate::LayoutFile), then [`Layout::evaluate`] it.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(crate) name: String,
    pub(crate) position: Position,
    pub(crate) operations: Vec<Operation>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) variable_count: usize,
    pub(crate) points: Vec<PointSources>,
    /// Whether each axis is normalized.
    pub(crate) restrict: Option<Source>,
    pub(crate) metadata: Vec<MetadataUse>,
    /// Where each event is first asked for.
    pub(crate) events: [Option<Position>; EVENTS],
    pub(crate) warnings: Vec<LayoutWarning>,
}

impl Layout {
    /// Its name as written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it begins in its file.
    pub fn position(&self) -> Position {
        self.position
    }

    /// How many points each rank has.
    pub fn points_per_rank(&self) -> usize {
        self.points.len()
    }

    /// How many operations it takes to place one rank.
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }

    /// The keys of metadata that it asks for, as first written.
    pub fn metadata_keys(&self) -> impl Iterator<Item = &str> {
        self.metadata.iter().map(|asked| asked.key.as_str())
    }

    /// Which events it asks for.
    pub fn events(&self) -> [bool; EVENTS] {
        self.events.map(|position| position.is_some())
    }

    /// What is to be known of it whatever the run is.
    pub fn warnings(&self) -> &[LayoutWarning] {
        &self.warnings
    }
}
