//! What an export wrote.

/// What an export wrote.
#[derive(Debug, Default)]
pub struct ExportSummary {
    /// How many calls.
    pub calls: u64,
    /// How many messages.
    pub messages: u64,
    /// What the user should know about the output, a sentence each.
    pub remarks: Vec<String>,
}
