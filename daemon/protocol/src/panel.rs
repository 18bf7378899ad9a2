//! Whole views of a client, as tabs of the page.

use serde::{Deserialize, Serialize};

/// A view of the client: an HTML page of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddPanel {
    /// The client's number for it. The same number again replaces the panel.
    pub id: u32,
    /// The name of the tab. At most 32 characters.
    pub title: String,
    /// The page, with its scripts and styles in it: it can load nothing. At most 200 KiB.
    pub html: String,
}

/// Something for the scripts of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TellPanel {
    /// The client's number of the panel.
    pub id: u32,
    /// Whatever they understand. At most 64 KiB as JSON.
    pub data: serde_json::Value,
}

/// A panel is on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PanelAdded {
    /// The client's number for it.
    pub id: u32,
    /// Its number on the page, which serves it at `/panels/NUMBER`.
    pub panel: u64,
}
