//! Incremental operators: batches in, deltas out.
//!
//! What it is: matching of sends with receives, counts, what messages usually take (criteria), where time went
//! (budget) and why (verdict), a better placement, regions of ranks that talk mostly among themselves and how latency
//! went in each (evolution), what led to what (logical time, dependency graph), and the summaries that views of the whole
//! run are drawn from (timeline, density, samples) and those of a range (courses of messages, thinned messages). What it is not: I/O, threads, a clock. Who uses it: the
//! daemon, live and in replay. What must hold: any split of the input into batches gives the same result, state is
//! bounded, counts can be merged.

mod balance;
mod budget;
mod by_site;
mod counts;
mod courses;
mod criteria;
mod dag;
mod density;
mod evolution;
mod logical;
mod matching;
mod pair;
mod placement;
mod regions;
mod sample;
mod spread;
mod standing;
mod thinned;
mod timeline;
mod verdict;
mod window_events;
mod windowed;

pub use balance::{Balance, RankBalance, flatness};
pub use budget::{
    Budget, BudgetOptions, Budgeter, CAUSES, Cause, Causes, Course, Judged, Latency, Ledger, RankBudget,
    SiteWaiting, SiteWaits, Spared, Stretch, WaitKey, WaitState, WaitTotals, WindowBudget,
};
pub use by_site::BySite;
pub use counts::{Counts, FunctionTotals, RankTotals, SiteTotals, WindowTotals};
pub use courses::{BinBalance, BinTraffic, MOST_CLASSES, MessageCourses, SizeClass};
pub use criteria::{
    CollectiveCriterion, CollectiveKey, Criteria, MessageCriterion, Reference, Scope, Version, bin_sizes,
    size_bin,
};
pub use dag::{Bar, Dag, DagEdge, DagNode, DagScope};
pub use density::{BINS_PER_OCTAVE, Density, DensityHistory, DensityKey, duration_bin};
pub use evolution::{
    Evolution, EvolutionOptions, Kind, Pending, Point, Provisional, RegionOfRank, Segment, Series, Tally,
    Window, pending,
};
pub use logical::{Cone, EventId, LogicalDeed, LogicalEvent, LogicalTime, Meeting, Member};
pub use matching::{
    Link, Matched, Matcher, MatchingLimits, OpenPost, UnreceivedSend, WaitingSend, receivers,
};
pub use placement::{Advice, Flow, Traffic, advise, capacities};
pub use regions::{
    Clustering, CollectiveTraffic, Cut, Exchange, Follower, Lateness, MOST_EXACT, Method, PairLateness,
    Region, TalkGraph, Tracker, exchanges, modularity, regions, talk_graph,
};
pub use sample::{Durations, Sample};
pub use standing::{Clash, Doing, LastCall, Moment, Need, Root, Standing, Stillness, Waiting};
pub use thinned::Thinned;
pub use timeline::{Bins, Timeline, TimelineCell};
pub use verdict::{Assessment, Basis, Remark, ReplaySavings, Verdict};
pub use window_events::{WindowEvents, by_window};
pub use windowed::Windowed;
