//! What the page and outside views receive: one snapshot, then numbered deltas.
//!
//! What it is: the state that viewers see and its bytes, protocol version 2, MessagePack with numeric columns as
//! little-endian blobs (see [`message`]). What it is not: sockets, tasks, clocks, or the counting itself; time comes
//! in with each [`Update`]. Who calls it: the one task that owns the run's counters calls [`FeedState::apply`] some
//! ten times a second; `mpiscope-server` calls [`FeedState::next_after`] for each viewer.
//!
//! What must hold: a snapshot with number `n` followed by the deltas `n+1 ... m` gives the snapshot `m`; deltas carry
//! absolute values, so that applying one is assignment; everything kept is bounded, in rows or in bytes.

pub mod exchange;
pub mod message;

mod access;
mod aligned;
mod annotations;
mod arrivals;
mod by_rank;
mod call_sites;
mod call_source;
mod calls;
mod column;
mod compare;
mod course;
mod criteria;
mod dependencies;
mod durations;
mod event;
mod evolution;
mod expanded;
mod figures;
mod found;
mod history;
mod known_names;
mod library;
mod overview;
mod panels;
mod parts;
mod pending;
mod perspective;
mod range_verdict;
mod rank_figures;
mod rank_layout;
mod rank_metrics;
mod rank_phases;
mod rank_places;
mod rank_suggestion;
mod rank_sums;
mod region_windows;
mod regions;
mod rows;
mod selected;
mod shares;
mod standing;
mod state;
mod surroundings;
mod switch;
#[cfg(test)]
mod types;

pub use access::{Access, AccessKind, IssuedLink, NewLink};
pub use aligned::{AlignedCourse, AlignedSection, Alignment, Stretch, StretchPart};
pub use annotations::{Annotation, Annotations, AnnotationsKind, ValueSeries};
pub use arrivals::{Late, Timed};
pub use by_rank::ByRank;
pub use call_sites::{NO_SITE, SiteSource, SiteSum, SiteSums, SiteTimes, Sites, SourceText};
pub use call_source::CallSource;
pub use calls::{Calls, NO_TAG, NONE};
pub use column::{F64Column, U32Column};
pub use compare::{
    BudgetChange, ByChange, CauseChange, CollectiveChange, Compared, ComparedCourse, Comparison,
    CriterionChange, EfficiencyChange, FunctionChange, JobChange, LinePair, Noise, QualityChange,
    RegionChange, Side, SiteChange, TotalsChange, VerdictChange,
};
pub use course::{Avoidable, Course, RangeBudget};
pub use criteria::{Criteria, FunctionCriterion};
pub use dependencies::{
    Cone, ConeMessages, ConeRanks, CourseSizes, Courses, CriticalPath, Dag, DagBars, DagEdges, DagNodes,
    DagRanks, GroupGraph, MessageRows, MessageSource, Messages, Pairs,
};
pub use durations::CallDurations;
pub use event::Event;
pub use evolution::{Bands, Evolution, Pending, Points, RegionCourse, SegmentRow};
pub use expanded::ExpandedMessage;
pub use figures::{Change, Count, CountChange, Figure, Words, WordsChange};
pub use found::{
    Advised, Attribution, Basis, BasisState, By, CpuContention, Diagnosis, Disturbance, Efficiency, Found,
    GatheredWait, Parts, Quiet, SiteWait, SlowLink, SlowLinks, Source, SourceRank, SourceTime, Stopped,
    StoppedRank, Verdict, Wait, WhatIf, Without,
};
pub use library::{FunctionName, Library, Usual};
pub use overview::Overview;
pub use panels::{PanelMessage, PanelMessageKind, PanelTab, Panels, PanelsKind};
pub use pending::{PendingEdges, PendingGroups, PendingMessages};
pub use perspective::{Perspective, RunEdge};
pub use range_verdict::{RangeVerdict, RangeVerdicts, SourcePart};
pub use rank_layout::{LayoutItem, LayoutKeeper, LayoutNote, LayoutSource, LayoutStore, Layouts, RankLayout};
pub use rank_metrics::{Landscape, MetricColumn, RankMetric, RankMetrics};
pub use rank_phases::{Phase, PhaseMark, phase_spans};
pub use rank_suggestion::Suggestion;
pub use region_windows::{Counted, RegionWindow, Scope};
pub use regions::{Between, Region, Regions, runs};
pub use rows::{FunctionRow, Job, JobState, NodeRow, RankRow, RunSource, TimelineIncrement, Update};
pub use selected::{Selected, SelectedFunctions, SelectedRanks, SelectedRegions};
pub use shares::Shares;
pub use standing::{Standing, Still, StillCall, StillKind, StillRoot, StillSentence};
pub use state::{EncodeError, FeedState, Limits, Step, encode};
pub use surroundings::{Remap, RemapFile, RemapFormat, RemapSource};
pub use switch::Switch;

/// The times of one recording on the clock of another.
pub use mpiscope_matching::TimeMap;

/// The version of the messages. A reader that knows another one says so and stops.
pub const PROTOCOL: u32 = 2;
