//! Incremental operators: batches in, deltas out.
//!
//! In: calls, messages and scheduler figures. Out: matched messages, counts, criteria, the delay budget and the
//! verdict, a better placement, regions and their evolution, logical time, the dependency graph, and summaries for
//! views (timeline, density, samples, courses, thinned messages). It does no I/O, has no threads and reads no clock.
//! The daemon calls it, live and in replay. Any split of the input into batches gives the same result, state is
//! bounded, counts can be merged.

mod balance;
mod budget;
mod by_site;
mod counts;
mod courses;
mod criteria;
mod critical;
mod dag;
mod density;
mod evolution;
mod hang;
mod logical;
mod matching;
mod pair;
mod placement;
mod regions;
mod sample;
mod spread;
mod thinned;
mod timeline;
mod verdict;
mod window_events;
mod windowed;

pub use balance::{Balance, RankBalance, flatness};
pub use budget::{
    Budget, BudgetOptions, Budgeter, CAUSES, Cause, Causes, Course, ExactMessages, Latency, Ledger,
    RankBudget, RankShares, SHARE_KINDS, ShareCell, ShareKind, ShareRow, ShareTable, SiteWaiting, SiteWaits,
    Spared, Stretch, WaitKey, WaitState, WaitTotals, WindowBudget,
};
pub use by_site::BySite;
pub use counts::{Counts, FunctionTotals, RankTotals, SiteTotals, WindowTotals};
pub use courses::{BinBalance, BinTraffic, MOST_CLASSES, MessageCourses, SizeClass};
pub use criteria::{
    CollectiveCriterion, CollectiveKey, Criteria, MessageCriterion, MessageTime, Reference, Scope, Version,
    bin_sizes, size_bin,
};
pub use critical::{CriticalPath, PathKind, PathPart, PathStep};
pub use dag::{Bar, Dag, DagEdge, DagNode, DagScope};
pub use density::{BINS_PER_OCTAVE, Density, DensityHistory, DensityKey, duration_bin};
pub use evolution::{
    Band, Bands, Evolution, EvolutionOptions, Kind, Pending, Point, Provisional, Ratios, RegionOfRank,
    Segment, Series, Tally, Window, pending,
};
pub use hang::{Clash, Doing, HangDetector, LastCall, Moment, Need, Root, Stillness, Waiting};
pub use logical::{Cone, EventId, LogicalEvent, LogicalEventKind, LogicalTime, Meeting, Member};
pub use matching::{
    Link, Matched, Matcher, MatchingLimits, OpenPost, UnreceivedSend, WaitingSend, receivers,
};
pub use placement::{Advice, Flow, Traffic, advise, capacities};
pub use regions::{
    Clustering, CollectiveTraffic, Cut, Exchange, Follower, Lateness, MOST_EXACT, Method, PairLateness,
    Region, TalkGraph, Tracker, exchanges, modularity, regions, talk_graph,
};
pub use sample::{Durations, Sample};
pub use thinned::Thinned;
pub use timeline::{Bins, Timeline, TimelineCell};
pub use verdict::{Assessment, Basis, Remark, ReplaySavings, Verdict};
pub use window_events::{WindowEvents, by_window};
pub use windowed::Windowed;
