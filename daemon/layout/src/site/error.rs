//! Why a description cannot be read.

use thiserror::Error;

/// What is wrong with a description, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}: {text}")]
pub struct SiteError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub text: String,
}
