//! What matching finds: messages, and the calls behind them.

use mpiscope_model::{CallId, Message, Nanoseconds};

/// What a batch of events led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// Messages whose two sides are now known.
    pub messages: Vec<Message>,
    /// The calls that made each of them, one for one; empty unless asked for.
    pub links: Vec<Link>,
    /// Of them, those paired by best fit.
    pub uncertain: u64,
}

impl Matched {
    /// Adds what came later.
    pub fn append(&mut self, mut later: Self) {
        if self.messages.is_empty() && self.links.is_empty() {
            later.uncertain += self.uncertain;
            *self = later;
            return;
        }
        self.messages.append(&mut later.messages);
        self.links.append(&mut later.links);
        self.uncertain += later.uncertain;
    }
}

/// The calls behind a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The sender's call.
    pub send: CallId,
    /// The receiver's call that completed the receive.
    pub receive: CallId,
    /// The receiver's call that posted it.
    pub post: CallId,
    /// When it was posted (`p0`).
    pub posted_ns: Nanoseconds,
    /// When the call that completed it began to wait (`c0`).
    pub waiting_ns: Nanoseconds,
    /// Whether the two certainly belong together.
    pub certain: bool,
}

mpiscope_model::numbers! { Link { send, receive, post, posted_ns, waiting_ns, certain } }
