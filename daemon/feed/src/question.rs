//! What pages ask. It knows nothing of the answers.

mod invalid_message;
mod kinds;
mod pending;
mod range;
mod rank;
mod ranks;
mod wanted;

pub use invalid_message::InvalidMessage;
pub use kinds::{Question, REPLACEABLE};
pub use pending::{Grouping, PENDING_EDGES_MAX, PENDING_EDGES_USUAL, PendingQuestion};
pub use range::{
    ConeQuestion, CoursesQuestion, DagQuestion, DurationsQuestion, EventQuestion, GroupGraphQuestion,
    RowsQuestion, SelectedQuestion, SharesQuestion,
};
pub use rank::{
    LAYOUT_SOURCE_BYTES_MAX, LandscapeQuestion, LayoutKeeper, LayoutQuestion, LayoutSourceChoice,
    MetricsQuestion, SaveLayoutQuestion,
};
pub(crate) use rank::{function_number, layout_question, metrics_question, save_layout_question};
pub use ranks::{Ranks, common_ranks, is_among, rank_ranges};
pub(crate) use wanted::{REPLACED, wanted};
