//! What goes wrong on a connection.

/// Why a connection did not come about or ended.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The system's.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Encryption could not be set up.
    #[error("no encryption: {0}")]
    Encryption(String),
    /// The other side said something that makes no sense.
    #[error("the other side {0}")]
    Senseless(&'static str),
    /// The other side does not want us, and says why.
    #[error("refused: {0}")]
    Refused(String),
    /// The other side does not know the secret.
    #[error("the other side does not know the secret of the run")]
    Stranger,
    /// Nothing was heard for too long.
    #[error("nothing was heard for {0} s")]
    Silence(u64),
    /// What was given for a secret, a certificate or an address is none.
    #[error("{0}")]
    Given(String),
}
