//! A client: what it has asked for, and what takes its replies.

use super::board::{Before, Member, Post};
use super::liveness::Liveness;
use super::panels::OwnPanels;
use super::reading::{Reading, Turns};
use super::requests::write;
use super::subscription::Subscription;
use crate::access::Connected;
use crate::live::Source;
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use mpiscope_protocol::{Failed, Format, Hello, Reply, Subscribe};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use warp::ws::{Message, WebSocket};

/// Requests that were read and wait.
pub(super) const REQUESTS_MAX: usize = 8;

/// What it takes to serve a client.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) source: Source,
    /// Readers of files, of all pages and programs together.
    pub(crate) readers: Arc<Semaphore>,
    pub(crate) connected: Arc<Connected>,
}

/// Why a connection ends.
pub(super) enum ConnectionEnd {
    /// The client left, or takes nothing.
    Gone,
    /// It does not keep to the protocol.
    Wrong(String),
    /// The server ends.
    Stopped,
    /// Its token was revoked.
    Revoked,
}

/// What a client asked for, and where it is; nowhere while rows are read for it.
pub(super) struct Entry {
    pub(super) asked: Subscribe,
    pub(super) subscription: Option<Subscription>,
    /// Differs from that of an earlier subscription of the same number.
    pub(super) generation: u64,
}

/// Answers that take a while.
pub(super) enum LaterReply {
    Reply(Box<Reply>),
    /// Where the clock is to go.
    Time(Result<f64, Failed>),
}

pub(super) struct Client<'a> {
    pub(super) turns: Turns,
    pub(super) connected: Arc<Connected>,
    pub(super) format: Format,
    pub(super) out: &'a mut SplitSink<WebSocket, Message>,
    pub(super) member: Member,
    pub(super) panels: OwnPanels,
    pub(super) from_others: mpsc::Receiver<Post>,
    pub(super) before: Option<Before>,
    pub(super) later: (mpsc::Sender<LaterReply>, mpsc::Receiver<LaterReply>),
    pub(super) subscriptions: BTreeMap<u32, Entry>,
    pub(super) generation: u64,
    /// Subscriptions that may have something to say.
    pub(super) due: VecDeque<u32>,
    pub(super) reading: Option<Reading>,
    /// The generation of the subscription that rows are read for.
    pub(super) reading_generation: u64,
    pub(super) search: Option<JoinHandle<()>>,
    pub(super) liveness: Liveness,
    pub(super) signs: Arc<AtomicU64>,
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if let Some(search) = &self.search {
            search.abort();
        }
    }
}

impl<'a> Client<'a> {
    pub(super) fn join(
        program: Program,
        hello: &Hello,
        out: &'a mut SplitSink<WebSocket, Message>,
        signs: Arc<AtomicU64>,
    ) -> Self {
        let Program { source, readers, connected } = program;
        let (member, from_others, before) = source.board.join(hello.name.clone());
        let panels = source.panels.for_client(member.number, member.name.clone());
        let liveness = Liveness::new(hello.patience_ms, source.board.patience());
        Self {
            turns: Turns { source, readers },
            connected,
            format: hello.format,
            out,
            member,
            panels,
            from_others,
            before: Some(before),
            later: mpsc::channel(REQUESTS_MAX),
            subscriptions: BTreeMap::new(),
            generation: 0,
            due: VecDeque::new(),
            reading: None,
            reading_generation: 0,
            search: None,
            liveness,
            signs,
        }
    }

    pub(super) fn source(&self) -> &Source {
        &self.turns.source
    }

    pub(super) async fn send(&mut self, reply: &Reply) -> Result<(), ConnectionEnd> {
        match write(reply, self.format) {
            Some(message) => self.send_message(message).await,
            None => Ok(()),
        }
    }

    pub(super) async fn send_message(&mut self, message: Message) -> Result<(), ConnectionEnd> {
        match timeout(self.liveness.time_to_answer(), self.out.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(ConnectionEnd::Gone),
        }
    }

    pub(super) fn all_are_due(&mut self) {
        let ids: Vec<u32> = self.subscriptions.keys().copied().collect();
        ids.into_iter().for_each(|id| self.is_due(id));
    }

    pub(super) fn is_due(&mut self, id: u32) {
        if !self.due.contains(&id) {
            self.due.push_back(id);
        }
    }
}
