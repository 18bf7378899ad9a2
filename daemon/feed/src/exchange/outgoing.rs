//! Reads what pages receive. Only tests and benchmarks do that here, so the program does not compile it: it was half of this
//! crate.

use serde::Deserialize;

use crate::access::Access;
use crate::annotations::Annotations;
use crate::exchange::answer::Answer;
use crate::exchange::perspective_message::PerspectiveMessage;
use crate::message::Message;
use crate::panels::{PanelMessage, Panels};
use crate::question::InvalidMessage;

/// Something that a page or an outside view receives.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Outgoing {
    /// How the shared clock stands.
    Perspective(PerspectiveMessage),
    /// An answer.
    Answer(Box<Answer>),
    /// Notes and series of other programs.
    Annotations(Annotations),
    /// What this page may do.
    Access(Access),
    /// Views of other programs.
    Panels(Panels),
    /// What a program tells its view.
    PanelMessage(PanelMessage),
    /// The state of the run, or what changed in it.
    State(Box<Message>),
}

impl Outgoing {
    /// Reads what the server sent.
    ///
    /// # Errors
    /// When it is no message of this protocol.
    pub fn decode(bytes: &[u8]) -> Result<Self, InvalidMessage> {
        rmp_serde::from_slice(bytes).map_err(|error| InvalidMessage(error.to_string()))
    }
}
