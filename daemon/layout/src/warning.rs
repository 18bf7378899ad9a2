//! What a user should know about a layout that works.

use crate::error::Position;
use std::fmt;

/// A warning about a layout, and the place in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutWarning {
    /// Where.
    pub position: Position,
    /// What.
    pub kind: WarningKind,
}

impl fmt::Display for LayoutWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.position, self.kind)
    }
}

/// The kinds of warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// An earlier layout has the same name.
    Duplicate {
        /// The name.
        name: String,
        /// The line where the layout that counts begins.
        first_line: u32,
    },
    /// A numbered point that is not drawn.
    UnusedPoint {
        /// Its number.
        number: usize,
    },
    /// The run has no such metadata.
    MissingMetadata {
        /// The key as written.
        key: String,
    },
    /// Nothing was chosen for an event.
    MissingEvent {
        /// Its number.
        number: usize,
    },
    /// Some points have coordinates that are no finite numbers.
    NotFinite {
        /// How many.
        points: usize,
        /// Of how many.
        of: usize,
    },
}

impl fmt::Display for WarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { name, first_line } => {
                write!(formatter, "layout `{name}` is not used: line {first_line} has one of the same name")
            }
            Self::UnusedPoint { number } => {
                write!(
                    formatter,
                    "point {number} is not drawn: points go on from `x0`, or `x` alone is drawn"
                )
            }
            Self::MissingMetadata { key } => write!(formatter, "metadata `{key}` is missing; 0 is used"),
            Self::MissingEvent { number } => write!(formatter, "event{number} has no values; 0 is used"),
            Self::NotFinite { points, of } => {
                write!(formatter, "{points} of {of} points are not drawn: a coordinate is no finite number")
            }
        }
    }
}
