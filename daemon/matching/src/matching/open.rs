//! Entries without their other side: open receives, and messages that nobody received.

use super::matcher::Matcher;
use super::receive_order::Wild;
use crate::pair::Channel;
use mpiscope_model::{Comm, Nanoseconds, PostId, Rank};

/// A receive that was posted and has no known end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPost {
    /// Who posted it.
    pub rank: Rank,
    /// Its number.
    pub post: PostId,
    /// The communicator.
    pub comm: Comm,
    /// Which sender, none for any.
    pub from: Option<Rank>,
    /// Which tag, none for any.
    pub tag: Option<i32>,
}

mpiscope_model::numbers! { OpenPost { rank, post, comm, from, tag } }

/// A message without a known receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingSend {
    /// Who sent it.
    pub from: Rank,
    /// To whom.
    pub to: Rank,
    /// The communicator.
    pub comm: Comm,
    /// The tag.
    pub tag: i32,
}

mpiscope_model::numbers! { WaitingSend { from, to, comm, tag } }

/// A send without a receive so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreceivedSend {
    /// Who sent.
    pub src: Rank,
    /// To whom.
    pub dst: Rank,
    /// The tag.
    pub tag: i32,
    /// The communicator.
    pub comm: Comm,
    /// The payload.
    pub bytes: u64,
    /// When the send's call began.
    pub send_ns: Nanoseconds,
}

mpiscope_model::numbers! { UnreceivedSend { src, dst, tag, comm, bytes, send_ns } }

impl Matcher {
    /// The sends without a receive so far, each once; those that were given up are not among them.
    pub fn unreceived_sends(&self) -> impl Iterator<Item = UnreceivedSend> + '_ {
        self.pairs.iter().flat_map(|(key, pair)| {
            pair.channels.iter().flat_map(move |(tag, channel)| {
                channel.sends.iter().map(move |send| UnreceivedSend {
                    src: key.src,
                    dst: key.dst,
                    tag,
                    comm: key.comm,
                    bytes: send.bytes,
                    send_ns: send.begin_ns,
                })
            })
        })
    }

    /// The receives that are open.
    pub fn open_posts(&self) -> impl Iterator<Item = OpenPost> + '_ {
        let named = self.pairs.iter().flat_map(|(key, pair)| {
            let open = |(tag, channel): (i32, &Channel)| {
                let receives =
                    channel.receives.iter().filter(|receive| receive.arrival.is_none() && !receive.freed);
                let posts = receives.filter_map(|receive| receive.post);
                let of = |post| OpenPost {
                    rank: key.dst,
                    post,
                    comm: key.comm,
                    from: Some(key.src),
                    tag: Some(tag),
                };
                posts.map(of).collect::<Vec<_>>()
            };
            pair.channels.iter().flat_map(open)
        });
        let wild = self.turns.receivers.iter().flat_map(|(&(comm, rank), receiver)| {
            let of =
                move |wild: &Wild| OpenPost { rank, post: wild.post, comm, from: wild.from, tag: wild.tag };
            receiver.wild.iter().map(of)
        });
        named.chain(wild)
    }

    /// The messages that wait.
    pub fn waiting_sends(&self) -> impl Iterator<Item = WaitingSend> + '_ {
        self.pairs.iter().flat_map(|(key, pair)| {
            let waits = pair.channels.iter().filter(|(_, channel)| !channel.sends.is_empty());
            waits.map(|(tag, _)| WaitingSend { from: key.src, to: key.dst, comm: key.comm, tag })
        })
    }
}
