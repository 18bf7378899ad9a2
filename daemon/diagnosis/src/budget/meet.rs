//! Settling a member of a collective.

use super::causes::Causes;
use super::collectives::{Awaited, Entry};
use super::cut::Pieces;
use super::observation::Observation;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::ThreadId;
use super::waits::WaitState;
use super::window_budget::Spared;
use crate::criteria::{CollectiveKey, Version, size_bin};
use mpiscope_model::{Activity, Collective, Flow, Function, Nanoseconds, Rank};

impl Shard {
    /// A member waited for another from a moment on. Returns until when, and the path to the other's entry.
    #[inline]
    fn wait_for_member(
        &mut self,
        call: &Activity,
        of: &Collective,
        member: &Entry,
        start_ns: Nanoseconds,
    ) -> (Nanoseconds, Option<Causes>) {
        let from_ns = member.start_ns.min(call.end_ns);
        if from_ns <= start_ns {
            return (start_ns, None);
        }
        self.note_wait(wait_state(of), call, member.rank, from_ns - start_ns);
        // A path that leads beyond this call's end would be a clock that is wrong.
        (from_ns, (member.start_ns <= call.end_ns).then_some(member.path))
    }

    pub(super) fn leave_collective(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        of: &Collective,
        version: &Version,
    ) -> Settled {
        let is_forced = self.threads[thread as usize].is_forced;
        let awaited = self.collectives.awaited(of, call.rank, is_forced);
        if matches!(awaited, Awaited::NotYet) {
            self.collectives.wait(of, thread);
            return Settled::NotYet;
        }
        let entry = self.entry_path(thread);
        let start_ns = self.threads[thread as usize].at_ns;
        let key = self.key_of(call.function, of, call.rank);
        let (from_ns, path) = match awaited {
            Awaited::Member(member) => self.wait_for_member(call, of, &member, start_ns),
            _ => (start_ns, None),
        };
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let pieces = Pieces::of_collective(version.collective_ns(&key), took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let own_ns = took_ns - stalled_ns;
        let quiet_ns = if is_forced { 0 } else { self.part(thread, call.end_ns, key, own_ns) };
        let spared = Spared { cored_ns: stalled_ns, quiet_ns, ..Spared::default() };
        self.sums.ledger.spared(call.rank, call.end_ns, spared);
        let unknown = from_ns > start_ns && path.is_none();
        self.end_with(thread, call, path, from_ns, pieces, unknown);
        if !is_forced {
            self.observe(thread, Observation::Collective { key, took_ns });
        }
        self.collectives.leave(of);
        self.done(thread, entry, call)
    }

    /// Which collectives a member's part is like.
    pub(super) fn key_of(&self, function: Function, of: &Collective, rank: Rank) -> CollectiveKey {
        let ranks = self.collectives.size(of.comm).unwrap_or_default();
        CollectiveKey { function, ranks, bin: size_bin(of.bytes), is_root: of.root == Some(rank) }
    }
}

/// What waiting in a collective is called.
pub(super) fn wait_state(of: &Collective) -> WaitState {
    match of.flow {
        Flow::All if of.is_barrier => WaitState::Barrier,
        Flow::All => WaitState::AllToAll,
        Flow::FromRoot => WaitState::LateBroadcast,
        Flow::ToRoot => WaitState::EarlyReduce,
        Flow::FromLower => WaitState::Scan,
    }
}
