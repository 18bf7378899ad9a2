//! What goes wrong with a flow.

use mpiscope_model::Batch;

/// Why a flow could not be started, fed, asked or finished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// There are no threads for the workers, or no connections between them.
    #[error("no workers: {0}")]
    NoWorkers(String),
    /// A worker panicked; the flow is over.
    #[error("the analysis failed: {0}")]
    Failed(String),
    /// A process of the analysis is gone, by its number; the flow is over.
    #[error("process {0} of the analysis is gone")]
    Lost(usize),
    /// A question panicked; the flow goes on.
    #[error("a question to the analysis failed: {0}")]
    Question(String),
    /// The batch has no effects of calls.
    #[error("the batch was not made for diagnosis")]
    NotForDiagnosis,
}

/// Why a batch was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TryFeedError {
    /// Too much waits: here it is again.
    #[error("too many calls are pending")]
    Full(Box<Batch>),
    /// It never will be.
    #[error(transparent)]
    Flow(#[from] FlowError),
}
