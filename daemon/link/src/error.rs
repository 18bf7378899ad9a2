//! Errors of a connection.

/// Why a connection failed or ended.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// An error of the system.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Encryption could not be set up.
    #[error("cannot set up encryption: {0}")]
    Encryption(String),
    /// The other side broke the protocol.
    #[error("protocol error: the other side {0}")]
    Protocol(&'static str),
    /// The other side refuses us, with a reason.
    #[error("refused: {0}")]
    Refused(String),
    /// The other side does not know the secret.
    #[error("the other side does not know the secret of the run")]
    Stranger,
    /// No packet arrived for too long.
    #[error("no answer for {0} s")]
    Silence(u64),
    /// The processes of an analysis could not be connected.
    #[error("{0}")]
    Mesh(String),
    /// Some of the processes of an analysis did not come, or could not be connected.
    #[error("{why}")]
    Missing {
        /// Which, and what is wrong with them.
        why: String,
        /// Their numbers.
        numbers: Vec<usize>,
    },
    /// The caller did not want to wait any longer.
    #[error("stopped before all processes of the analysis were connected")]
    Stopped,
    /// A given secret, certificate or address is invalid.
    #[error("{0}")]
    Given(String),
}
