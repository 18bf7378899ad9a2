//! Views of other programs, as pages show them: tabs, and what a program tells its view.

use serde::{Deserialize, Serialize};

/// All of them; sent again when one comes or goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Panels {
    /// Always `panels`.
    pub kind: PanelsKind,
    /// In the order in which they came.
    pub panels: Vec<PanelTab>,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum PanelsKind {
    Panels,
}

/// One view. Its HTML is at `panels/NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PanelTab {
    /// Its number, never used again.
    pub number: u64,
    /// The name of the tab.
    pub title: String,
    /// The program that made it.
    pub author: String,
}

/// What a program tells its view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PanelMessage {
    /// Always `panel_message`.
    pub kind: PanelMessageKind,
    /// The number of the panel.
    pub panel: u64,
    /// JSON, as the program sent it.
    pub data: String,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "there is one")]
pub enum PanelMessageKind {
    PanelMessage,
}
