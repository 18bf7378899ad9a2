//! A call site by what stays the same when the program is built again.

use mpiscope_model::{Function, SiteInfo};

/// What stays the same, and the line, which may move.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SiteName {
    /// What it calls.
    pub(crate) calls: Option<Function>,
    /// The name of the source file without its folders, or what else is known.
    pub(crate) file: String,
    pub(crate) function: Option<String>,
    pub(crate) line: Option<u32>,
}

impl SiteName {
    /// Of a call site that calls this.
    pub(crate) fn new(calls: Option<Function>, site: &SiteInfo) -> Self {
        let file = site.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file).to_owned());
        Self {
            calls,
            file: file.unwrap_or_else(|| site.words()),
            function: site.function.clone(),
            line: site.line,
        }
    }

    pub(crate) fn without_line(&self) -> Self {
        Self { line: None, ..self.clone() }
    }
}
