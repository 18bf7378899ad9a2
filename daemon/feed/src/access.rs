//! What a page may do, and the links that its owner made for others.

use serde::{Deserialize, Serialize};

/// What a page learns about its own rights when it opens; the owner's pages also when a link changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Access {
    /// Always `access`.
    pub kind: AccessKind,
    /// Whether the page was opened with the address that mpiscope printed.
    pub is_owner: bool,
    /// Whether it may move the shared clock and pause recording.
    pub can_control: bool,
    /// Whether it may add notes, series, messages and panels.
    pub can_annotate: bool,
    /// All links that were not revoked. Empty for everybody but the owner, like the fields below.
    pub links: Vec<IssuedLink>,
    /// The most links at a time.
    pub links_max: u32,
    /// The name of the host that serves the page.
    pub host: String,
    /// The port on that host.
    pub port: u16,
    /// The link that this page asked for.
    pub made: Option<NewLink>,
    /// Why the last request of this page was not carried out; empty where it was.
    pub refused: String,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum AccessKind {
    Access,
}

/// A link that works. Its token is not here: only the page that asked for the link gets that, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct IssuedLink {
    /// Its number, never used again.
    pub number: u32,
    /// Whom it is for.
    pub label: String,
    /// Whether its holder may move the shared clock and pause recording.
    pub can_control: bool,
    /// Whether its holder may add notes, series, messages and panels.
    pub can_annotate: bool,
    /// Pages and programs that are connected with it.
    pub connections: u32,
}

/// A link for the page that asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NewLink {
    /// Its number.
    pub number: u32,
    /// Its token.
    pub token: String,
}
