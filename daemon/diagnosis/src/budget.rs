//! The delay budget: every call is cut into consecutive pieces, and waiting is charged to whatever delayed the awaited
//! rank.
//!
//! Every thread carries its path: the sum, by cause, of the way that led to this moment. A receive that waited
//! continues with its sender's path, a blocked sender with its receiver's, a member of a collective with that of the
//! awaited member. The difference to a thread's own path is the waiting, by cause.
//!
//! A window is settled when all calls that ended in it are in, one window after the other. The result therefore
//! depends neither on batches nor on the order in which ranks arrive. A call whose other side is missing holds its
//! thread up; when the patience ends, its time counts as unknown.

mod budgeter;
mod by_rank;
mod causes;
mod collect;
mod collectives;
mod course;
mod cut;
mod inbox;
mod knowledge;
mod learning;
mod ledger;
mod measure;
mod meet;
mod observation;
mod options;
mod owners;
mod path;
mod pushes;
mod quiet;
mod receive;
mod send;
mod settle;
mod settled_calls;
mod shard;
mod shares;
mod steal;
mod steps;
mod sums;
mod thread;
mod thread_table;
mod thresholds;
mod versions;
mod waits;
mod window_budget;
mod window_end;
mod work;

pub use budgeter::{Budgeter, ThreadPath};
pub use causes::{Budget, CAUSES, Cause, Causes};
pub use course::Course;
pub use knowledge::Knowledge;
pub use ledger::Ledger;
pub use options::{BudgetOptions, Latency};
pub use owners::{Neighbours, Owners};
pub use pushes::Pushes;
pub use quiet::Stretch;
pub use settle::Overdue;
pub use shard::Shard;
pub use shares::{RankShares, SHARE_KINDS, ShareCell, ShareKind, ShareRow, ShareTable};
pub use waits::{SiteWaiting, SiteWaits, WaitKey, WaitState, WaitTotals};
pub use window_budget::{ExactMessages, RankBudget, Spared, WindowBudget};
pub use window_end::{Report, ShardResult, WindowEnd};

#[cfg(test)]
mod tests;
