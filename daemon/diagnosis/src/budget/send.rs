//! Settling a blocking send.

use super::causes::Cause;
use super::cut::Pieces;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::{Outgoing, ThreadId};
use super::waits::WaitState;
use super::window_budget::Spared;
use crate::criteria::Version;
use mpiscope_model::{Activity, Blocking, Effect, Rank};

impl Shard {
    /// Settles a send whose message nobody has received, once it is sure that nobody will.
    fn leave_unmatched_send(&mut self, thread: ThreadId, call: &Activity) -> Settled {
        if !self.threads[thread as usize].is_forced {
            return Settled::NotYet;
        }
        let entry = self.entry_path(thread);
        self.spend_all(thread, call.end_ns, Cause::Unknown);
        self.done(thread, entry, call)
    }

    #[inline]
    fn is_inter(&self, one: Rank, other: Rank) -> bool {
        let node = |rank: Rank| self.threads.nodes().get(rank.index()).copied().unwrap_or_default();
        node(one) != node(other)
    }

    pub(super) fn leave_send(&mut self, thread: ThreadId, call: &Activity, version: &Version) -> Settled {
        let Effect::Transfer { send, peer, bytes, .. } = call.effect else { return Settled::Yes };
        let state = &self.threads[thread as usize];
        let is_forced = state.is_forced;
        let outgoing = state.outgoing();
        let start_ns = state.at_ns;
        let entry = self.entry_path(thread);
        let inter = peer.is_some_and(|peer| self.is_inter(call.rank, peer));
        let saved = inter && peer.is_some_and(|peer| self.is_saved(call.rank, peer));
        let own_pieces = |from_ns: u64| {
            Pieces::of_message(version, inter, saved, bytes, call.end_ns.saturating_sub(from_ns))
        };
        let waits = send == Blocking::Always || self.may_wait(bytes);
        if !waits {
            self.spend(thread, call.end_ns, own_pieces(start_ns));
            self.release_post(outgoing);
            return self.done(thread, entry, call);
        }
        let Some(outgoing) = outgoing else { return self.leave_unmatched_send(thread, call) };
        if outgoing.posted_ns > start_ns && call.end_ns >= outgoing.posted_ns {
            let Some(path) = self.path_of(outgoing.to, outgoing.post, thread, is_forced) else {
                return Settled::NotYet;
            };
            let receiver = self.threads[outgoing.to as usize].rank;
            let from_ns = outgoing.posted_ns;
            let pieces = own_pieces(from_ns);
            self.count_spared_to_sender(thread, call, inter, bytes, &pieces);
            self.end_with(thread, call, path, from_ns, pieces, path.is_none());
            self.note_wait(WaitState::LateReceiver, call, receiver, from_ns - start_ns);
        } else {
            let pieces = own_pieces(start_ns);
            self.count_spared_to_sender(thread, call, inter, bytes, &pieces);
            self.spend(thread, call.end_ns, pieces);
        }
        self.release_post(Some(outgoing));
        self.done(thread, entry, call)
    }

    /// Counts what a sender that waits until its message is there would be spared.
    #[inline]
    fn count_spared_to_sender(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        inter: bool,
        bytes: u64,
        pieces: &Pieces,
    ) {
        let mut spared = Spared { placed_ns: pieces.saved_ns(), ..Spared::default() };
        if inter && pieces.excess_ns() > 0 {
            let took_ns = pieces.iter().map(|(_, ns)| ns).sum();
            spared.quiet_ns = self.flight(thread, call.end_ns, bytes, took_ns);
        }
        self.sums.ledger.spared(call.rank, call.end_ns, spared);
    }

    pub(super) fn release_post(&mut self, outgoing: Option<Outgoing>) {
        if let Some(outgoing) = outgoing {
            self.threads[outgoing.to as usize].unpin(outgoing.post);
        }
    }
}
