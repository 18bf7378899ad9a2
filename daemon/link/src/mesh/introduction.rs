//! How a process of an analysis introduces itself to another one.

use crate::greeting::{Introduction, Kind};
use crate::secret::Side;
use serde::{Deserialize, Serialize};

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To meet the others at process 0, and to say where this process listens itself.
    Meet { port: u16, certificate: Option<String> },
    /// One of the streams.
    Stream(u8),
}

/// Who calls whom, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessIntroduction {
    /// Its number.
    pub(crate) from: u32,
    /// The number of the process it wants to reach.
    pub(crate) to: u32,
    pub(crate) purpose: Purpose,
}

impl Introduction for ProcessIntroduction {
    const KIND: Kind = Kind {
        caller: Side::MeshCaller,
        listener: Side::MeshListener,
        protocol: 2,
        is_no_caller: "this is no process of the analysis",
        is_no_listener: "is no process of this analysis",
    };
    type Answer = ();

    /// All of it.
    fn transcript(&self) -> (u128, String) {
        let Self { from, to, purpose } = self;
        let (kind, text) = match purpose {
            Purpose::Meet { port, certificate } => {
                (0, format!("{port} {}", certificate.as_deref().unwrap_or_default()))
            }
            Purpose::Stream(stream) => (1 + u128::from(*stream), String::new()),
        };
        (u128::from(*from) | u128::from(*to) << 32 | kind << 64, text)
    }
}
