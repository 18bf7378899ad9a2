//! How messages went over a range, as columns.

use crate::column::{F64Column, U32Column};
use crate::dependencies::gather;
use crate::message_source::MessageSource;
use crate::question::{CoursesQuestion, is_among};
use mpiscope_diagnosis::{BinTraffic, MessageCourses};
use mpiscope_model::Rank;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How messages that ended in a range went, in bins of one width: where, how evenly, and how slowly. The three views of
/// the PCLVis paper.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Courses {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// How long each bin is; the last may reach beyond the range, and has what ended in it.
    pub width_ns: u64,
    /// How many there are.
    pub bins: u32,
    /// Messages between nodes that ended in each bin.
    pub inter: F64Column,
    /// Messages within nodes.
    pub intra: F64Column,
    /// Bytes of those between nodes.
    pub inter_bytes: F64Column,
    /// Bytes of those within.
    pub intra_bytes: F64Column,
    /// How far ranks are from the mean of the messages that they sent and received, in the mean and in shares of it; of
    /// the ranks asked for that did any. Not a number where none did.
    pub uneven: F64Column,
    /// How far the one is that is farthest, in mean distances; 0 where all are even, not a number where none did any.
    pub greatest_load: F64Column,
    /// Which that is; the first of several. [`NONE`] where none did any.
    pub greatest_rank: U32Column,
    /// The sizes with the most messages: of those between nodes, or within where there are none between.
    pub sizes: Vec<CourseSizes>,
    /// What messages of each of these sizes took in the mean of a bin, in shares of what they took in the mean of the
    /// range, bounds included; all bins of the first size before those of the second. Not a number where there were none.
    pub slow: F64Column,
    /// Of these sizes the one whose bins differ least.
    pub calmest: Option<u32>,
    /// Messages that this is of.
    pub messages: u64,
    /// Messages of the range that it is not of, since there are too many ranks.
    pub left_out: u64,
}

/// Messages of about one size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CourseSizes {
    /// The least size.
    pub from: u64,
    /// The first that is not meant any more.
    pub to: u64,
    /// How many there are.
    pub messages: u64,
    /// Whether they went between nodes.
    pub is_inter: bool,
}

/// Reads how messages went.
pub(super) fn courses(
    source: &dyn MessageSource,
    question: &CoursesQuestion,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Courses, String> {
    let CoursesQuestion { range_ns, ranks, bins } = question;
    let ranks = ranks.as_deref();
    let mut courses = MessageCourses::over(range_ns.clone(), *bins);
    gather::visit(source, range_ns, is_wanted, &mut |messages| {
        messages.iter().for_each(|message| courses.add(message, |rank| is_among(ranks, rank)));
        ControlFlow::Continue(())
    })?;
    Ok(Courses::from_messages(question, &courses))
}

impl Courses {
    fn from_messages(question: &CoursesQuestion, courses: &MessageCourses) -> Self {
        let balances = courses.balances();
        let classes = courses.classes();
        let variation = |at: &usize| classes[*at].variation().unwrap_or(f64::INFINITY);
        let known = (0..classes.len()).filter(|at| classes[*at].variation().is_some());
        let calmest = known.min_by(|one, other| variation(one).total_cmp(&variation(other)));
        let of = |value: fn(&BinTraffic) -> u64| courses.traffic().iter().map(value).collect();
        Self {
            from_ns: question.range_ns.start,
            to_ns: question.range_ns.end,
            width_ns: courses.width_ns(),
            bins: courses.traffic().len() as u32,
            inter: of(|traffic| traffic.inter),
            intra: of(|traffic| traffic.intra),
            inter_bytes: of(|traffic| traffic.inter_bytes),
            intra_bytes: of(|traffic| traffic.intra_bytes),
            uneven: balances.iter().map(|bin| bin.map_or(f64::NAN, |bin| bin.uneven)).collect(),
            greatest_load: balances.iter().map(|bin| bin.map_or(f64::NAN, |bin| bin.greatest_load)).collect(),
            greatest_rank: balances
                .iter()
                .map(|bin| Rank::number_or_max(bin.map(|bin| bin.greatest_rank)))
                .collect(),
            sizes: classes
                .iter()
                .map(|class| CourseSizes {
                    from: class.from,
                    to: class.to,
                    messages: class.messages,
                    is_inter: class.is_inter,
                })
                .collect(),
            slow: classes.iter().flat_map(|class| &class.slow).map(|slow| slow.unwrap_or(f64::NAN)).collect(),
            calmest: calmest.map(|at| at as u32),
            messages: courses.messages(),
            left_out: courses.left_out(),
        }
    }
}
