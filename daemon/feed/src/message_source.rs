//! Where the messages of a run come from.

use mpiscope_model::{Flow, Function, Message, Nanoseconds};
use std::fmt;
use std::ops::{ControlFlow, Range};

/// Where the messages of a run can be read.
pub trait MessageSource: Send + Sync + fmt::Debug {
    /// Shows the messages that are in a range, also in part, each once, some at a time and in any order; there may be
    /// others among them.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn visit(
        &self,
        range_ns: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String>;
}

/// What is needed to say what led to what.
#[derive(Debug)]
pub struct Messages {
    /// Where they are read.
    pub source: Box<dyn MessageSource>,
    /// Who waits for whom in a collective; none for other functions.
    pub flow: fn(Function) -> Option<Flow>,
}
