//! What pages ask about all ranks at a time: figures by rank, and where a layout puts ranks.

use crate::question::invalid_message::InvalidMessage;
use crate::rank_metric::RankMetric;
use mpiscope_model::{Comm, Function, Nanoseconds, Site};
use std::ops::Range;

/// A layout and its name must be no longer than this.
pub const LAYOUT_SOURCE_BYTES_MAX: usize = 64 << 10;
const NAME_BYTES_MAX: usize = 256;
/// Metrics of one question.
const METRICS_MAX: usize = 32;
/// Values that a layout can ask for.
pub(crate) const EVENTS_MAX: usize = 4;

/// Which figures of the ranks are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricsQuestion {
    /// The range; the whole run where it begins at 0 and ends after it.
    pub range_ns: Range<Nanoseconds>,
    /// Which figures.
    pub metrics: Vec<RankMetric>,
    /// Calls of this function only, for figures of calls; of all where none is given.
    pub function: Option<Function>,
    /// Calls from this call site only, likewise.
    pub site: Option<Site>,
    /// Only while ranks were in this phase, for figures of calls and messages.
    pub phase: Option<Comm>,
}

/// Where a layout is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LayoutSourceChoice {
    /// It comes with mpiscope.
    Bundled,
    /// It is in the file that the program was given.
    File,
    /// It is this text.
    Text(String),
}

/// Which points are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayoutQuestion {
    /// Where the layout is found.
    pub source: LayoutSourceChoice,
    /// Its name; the first one of a text or a file where it is empty.
    pub name: String,
    /// The values of its events, at most four: no name, no values.
    pub events: MetricsQuestion,
}

/// Which layouts are to be kept, or forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SaveLayoutQuestion {
    /// Where.
    pub keeper: LayoutKeeper,
    /// Layouts without an error; empty to forget one.
    pub text: String,
    /// The one that is to be forgotten.
    pub name: String,
}

/// Which figures of functions by rank are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LandscapeQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The most rows of ranks.
    pub most_rows: u32,
}

/// Where layouts are kept that users save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LayoutKeeper {
    /// With the recording: whoever opens it has them.
    Recording,
    /// For the user: all runs have them.
    User,
}

impl LayoutKeeper {
    pub(crate) const ALL: [(Self, &str); 2] = [(Self::Recording, "recording"), (Self::User, "user")];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, of)| *of == name).map(|(keeper, _)| keeper)
    }
}

/// A number that no function has is that of none.
pub(crate) fn function_number(id: u32) -> Function {
    Function::try_from(id).unwrap_or(Function::MAX)
}

pub(crate) fn metrics(names: &[String], most: usize) -> Result<Vec<RankMetric>, InvalidMessage> {
    if names.len() > most {
        return Err(InvalidMessage(format!("at most {most} metrics can be asked for")));
    }
    let metric = |name: &String| {
        RankMetric::named(name).ok_or_else(|| InvalidMessage(format!("there is no metric {name:?}")))
    };
    names.iter().map(metric).collect()
}

pub(crate) fn metrics_question(
    range_ns: Range<Nanoseconds>,
    names: &[String],
    (function, site, phase): (Option<u32>, Option<Site>, Option<Comm>),
) -> Result<MetricsQuestion, InvalidMessage> {
    let function = function.map(function_number);
    Ok(MetricsQuestion { range_ns, metrics: metrics(names, METRICS_MAX)?, function, site, phase })
}

pub(crate) fn layout_question(
    source: Option<String>,
    is_file: bool,
    name: String,
    events: MetricsQuestion,
) -> Result<LayoutQuestion, InvalidMessage> {
    if name.len() > NAME_BYTES_MAX || events.metrics.len() > EVENTS_MAX {
        return Err(InvalidMessage(
            "the name of the layout is too long, or it has too many events".to_owned(),
        ));
    }
    let source = match source {
        Some(text) if text.len() > LAYOUT_SOURCE_BYTES_MAX => {
            return Err(InvalidMessage(format!("a layout has at most {LAYOUT_SOURCE_BYTES_MAX} bytes")));
        }
        Some(text) => LayoutSourceChoice::Text(text),
        None if is_file => LayoutSourceChoice::File,
        None => LayoutSourceChoice::Bundled,
    };
    Ok(LayoutQuestion { source, name, events })
}

pub(crate) fn save_layout_question(
    keeper: &str,
    text: String,
    name: String,
) -> Result<SaveLayoutQuestion, InvalidMessage> {
    let keeper = LayoutKeeper::named(keeper).ok_or_else(|| {
        InvalidMessage(format!("layouts are kept by \"recording\" or \"user\", not {keeper:?}"))
    })?;
    if text.len() > LAYOUT_SOURCE_BYTES_MAX || name.len() > NAME_BYTES_MAX {
        return Err(InvalidMessage(format!("a layout has at most {LAYOUT_SOURCE_BYTES_MAX} bytes")));
    }
    Ok(SaveLayoutQuestion { keeper, text, name })
}
