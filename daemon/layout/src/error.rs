//! What is wrong with a layout file, and where.

use crate::limits::{
    MOST_DEPTH, MOST_FILE_BYTES, MOST_LAYOUTS, MOST_NAME_BYTES, MOST_OPERATIONS, MOST_POINTS_PER_RANK,
    MOST_STATEMENTS,
};
use std::fmt;
use thiserror::Error;

/// A character of a layout file. Lines and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character of the line.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// Why a layout was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{position}: {error}")]
pub struct LayoutError {
    /// Where.
    pub position: Position,
    /// What.
    pub error: SyntaxError,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// Something else stands where a part of a statement should.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What would have been right.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A parenthesis is open where the expression cannot go on.
    #[error("expected an operator or `)` for the `(` at {open}, found {found}")]
    Unclosed {
        /// Where it was opened.
        open: Position,
        /// What is there.
        found: String,
    },
    /// Neither given nor set.
    #[error("unknown name `{name}`{}", did_you_mean(nearest))]
    UnknownName {
        /// The name as written.
        name: String,
        /// A known name that looks like it.
        nearest: Option<String>,
    },
    /// No function has this name.
    #[error("unknown function `{name}`{}", did_you_mean(nearest))]
    UnknownFunction {
        /// The name as written.
        name: String,
        /// A function whose name looks like it.
        nearest: Option<String>,
    },
    /// Set, but only further down.
    #[error("`{name}` is used before it is set in line {line}")]
    UsedBeforeSet {
        /// The name as written.
        name: String,
        /// The line that sets it.
        line: u32,
    },
    /// A function has too few or too many arguments.
    #[error("expected {expected} for `{function}`, found {found}")]
    Arguments {
        /// The function.
        function: &'static str,
        /// How many it takes.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A layout sets no coordinates.
    #[error("expected `x`, `y` and `z`: nothing in this layout places a rank")]
    NoPoint,
    /// A point has not all coordinates.
    #[error("expected `{missing}`: the layout sets `{present}` but not `{missing}`")]
    MissingCoordinate {
        /// A coordinate that is set.
        present: String,
        /// One that is not.
        missing: String,
    },
    /// A block is not ended.
    #[error("expected END_VIZ before {found}: layout `{name}` is not ended")]
    NotEnded {
        /// The layout.
        name: String,
        /// What comes instead.
        found: &'static str,
    },
    /// The file is too long.
    #[error("the file has more than {MOST_FILE_BYTES} bytes; split it")]
    FileTooLong,
    /// The file has too many layouts.
    #[error("the file has more than {MOST_LAYOUTS} layouts; split it")]
    TooManyLayouts,
    /// A layout's name is too long.
    #[error("the name of the layout has more than {MOST_NAME_BYTES} bytes")]
    NameTooLong,
    /// A layout has too many statements.
    #[error("the layout has more than {MOST_STATEMENTS} statements")]
    TooManyStatements,
    /// A layout has too many operations.
    #[error("the layout has more than {MOST_OPERATIONS} numbers, names and operators")]
    TooManyOperations,
    /// An expression is nested too deeply.
    #[error("the expression has more than {MOST_DEPTH} parentheses within each other")]
    TooDeep,
    /// A layout has too many points per rank.
    #[error("the layout has more than {MOST_POINTS_PER_RANK} points per rank")]
    TooManyPointsPerRank,
}

impl SyntaxError {
    pub(crate) fn located(self, position: Position) -> LayoutError {
        LayoutError { position, error: self }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
