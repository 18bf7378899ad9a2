//! What pages receive: one snapshot, then numbered deltas, and answers about any range of the run.
//!
//! In: [`Update`]s with their time, some ten times a second, and questions. Out: messages in MessagePack, with columns of
//! numbers as little-endian blobs (see [`message`]). It never counts by itself, and has no socket, thread or clock.
//!
//! A snapshot with number `n` followed by the deltas `n+1 ... m` gives the snapshot `m`: deltas carry absolute values, so
//! to apply one is assignment. Everything that is kept has a bound, in rows or in bytes. The task that owns the counters
//! calls [`FeedState::apply`], and the server calls [`FeedState::next_after`] for each page.

pub mod exchange;
pub mod message;

mod access;
mod aligned;
mod annotations;
mod answering;
mod arrivals;
mod by_rank;
mod call_sites;
mod call_source;
mod calls;
mod column;
mod compare;
mod compared_course;
mod course;
mod criteria;
mod dependencies;
mod durations;
mod event;
mod evolution;
mod expanded_collectives;
mod figures;
mod findings;
mod function_figures;
mod hang;
mod history;
mod library;
mod message_source;
mod names;
mod overlap;
mod overview;
mod panels;
mod parts;
mod pending;
mod perspective;
mod question;
mod range_verdict;
mod rank_figures;
mod rank_layout;
mod rank_metric;
mod rank_phases;
mod rank_places;
mod rank_suggestion;
mod rank_sums;
mod rank_values;
mod region_windows;
mod regions;
mod rows;
mod selected;
mod shares;
mod site_sums;
mod site_times;
mod state;
mod surroundings;
mod switch;

pub use access::{Access, AccessKind, IssuedLink, NewLink};
pub use aligned::{AlignedCourse, AlignedSection, Alignment, Stretch, StretchPart};
pub use annotations::{Annotation, Annotations, AnnotationsKind, ValueSeries};
pub use arrivals::{Late, Timed};
pub use by_rank::{Avoidable, ByRank};
pub use call_sites::{NO_SITE, SiteSource, SiteTimes, Sites, SourceText};
pub use call_source::CallSource;
pub use calls::{Calls, NO_TAG, NONE};
pub use column::{F64Column, U32Column};
pub use compare::{
    BudgetChange, ByChange, CauseChange, CollectiveChange, Compared, Comparison, CriterionChange,
    EfficiencyChange, FunctionChange, JobChange, LinePair, Noise, QualityChange, RegionChange, Side,
    SiteChange, TotalsChange, VerdictChange,
};
pub use compared_course::ComparedCourse;
pub use course::{Course, RangeBudget, RangeVerdicts};
pub use criteria::{Criteria, FunctionCriterion};
pub use dependencies::{
    Cone, ConeMessages, ConeRanks, CourseSizes, Courses, CriticalPath, Dag, DagBars, DagEdges, DagNodes,
    DagRanks, GroupGraph, MessageRows, Pairs,
};
pub use durations::CallDurations;
pub use event::Event;
pub use evolution::{Bands, Evolution, Pending, Points, RegionCourse, SegmentRow};
pub use expanded_collectives::ExpandedMessage;
pub use figures::{Change, Count, CountChange, Figure, Words, WordsChange};
pub use findings::{
    Advised, Attribution, Basis, BasisState, Blocked, BlockedRank, By, CpuContention, Diagnosis, Disturbance,
    Efficiency, FindingsReport, GatheredWait, Parts, Quiet, SiteWait, SlowLink, SlowLinks, Source,
    SourceRank, SourceTime, Stopped, StoppedRank, Verdict, Wait, WhatIf, Without,
};
pub use function_figures::FunctionFigures;
pub use hang::{Hang, HangCall, HangKind, HangRoot, HangSentence, Hangs};
pub use library::{FunctionName, Library, Usual};
pub use message_source::{MessageSource, Messages};
pub use overview::{CallCounts, CallSums, Overview};
pub use panels::{PanelMessage, PanelMessageKind, PanelTab, Panels, PanelsKind};
pub use pending::{PendingEdges, PendingGroups, PendingMessages};
pub use perspective::{Perspective, RunEdge};
pub use question::LayoutKeeper;
pub use range_verdict::{RangeVerdict, SourcePart};
pub use rank_layout::{LayoutItem, LayoutNote, LayoutSource, LayoutStore, Layouts, RankLayout};
pub use rank_metric::RankMetric;
pub use rank_phases::{Phase, PhaseMark, phase_spans};
pub use rank_suggestion::Suggestion;
pub use rank_values::{Landscape, MetricColumn, RankMetrics};
pub use region_windows::{Counted, RegionWindow, Scope};
pub use regions::{Between, Region, Regions, runs};
pub use rows::{FunctionRow, Job, JobState, NodeRow, RankRow, RunSource, TimelineIncrement, Update};
pub use selected::{Selected, SelectedFunctions, SelectedRanks, SelectedRegions, SelectedSizes};
pub use shares::Shares;
pub use site_sums::{SiteSum, SiteSums};
pub use state::{EncodeError, FeedState, Limits, Step, encode};
pub use surroundings::{Remap, RemapFile, RemapFormat, RemapSource};
pub use switch::Switch;

/// The times of one recording on the clock of another.
pub use mpiscope_matching::TimeMap;

#[cfg(test)]
mod tests {
    mod types;
}
