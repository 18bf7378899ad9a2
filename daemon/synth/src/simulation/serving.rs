//! The calls of a master: it serves the first worker that is done.

use super::job::{Open, Simulation};
use crate::pattern::RESULT_TAG;
use crate::style::Style;
use crate::tape::{WORLD, plain};
use mpiscope_wire::{CallFlags, PEER_ANY, Part, PartFlags, id};
use std::cmp::Reverse;

impl<const TOLD: bool> Simulation<TOLD> {
    /// The master begins to receive from anybody.
    pub(super) fn begin_serving(&mut self, rank: u32) {
        let state = &mut self.ranks[rank as usize];
        state.pending += 1;
        self.master.serves = true;
        if self.plan.spec.style == Style::Waitall {
            let post = state.posts;
            let mut call = self.brief(rank, id::IRECV);
            call.flags = CallFlags::POST;
            (call.peer, call.comm, call.tag, call.bytes) = (PEER_ANY, WORLD, RESULT_TAG, post & 0xFFFF_FFFF);
            let recorded = self.write(rank, call);
            let state = &mut self.ranks[rank as usize];
            state.posts += 1;
            state.open.push(Open { channel: 0, post, recorded });
            state.entry_ns = state.clock_ns;
        }
    }

    /// No rank can do anything more in this slice: the master receives the first message that is there.
    pub(super) fn serve(&mut self) -> bool {
        if !self.master.serves {
            return false;
        }
        let Some(&Reverse((at_ns, channel, bytes))) = self.master.results.peek() else { return false };
        if at_ns >= self.until_ns {
            return false;
        }
        self.master.results.pop();
        self.master.serves = false;
        let worker = self.channels[channel as usize].src;
        self.channels[channel as usize].taken += 1;
        self.master.newest = worker;
        let master = self.channels[channel as usize].dst;
        self.served(master, worker, bytes, at_ns);
        let state = &mut self.ranks[master as usize];
        (state.pending, state.waits, state.ready_ns) = (0, false, 0);
        state.op += 1;
        self.go_on(master);
        true
    }

    fn served(&mut self, master: u32, worker: u32, bytes: u32, at_ns: u64) {
        let entry_ns = self.ranks[master as usize].entry_ns;
        let posted = self.ranks[master as usize].open.pop();
        let cost_ns = self.cost_ns(master);
        let mut begin_ns = entry_ns;
        if self.plan.spec.style == Style::Polling {
            let (polled_ns, polls) = self.polls(master, entry_ns, at_ns);
            begin_ns = polled_ns + cost_ns;
            self.open(master, begin_ns);
            self.folded(master, id::IPROBE, entry_ns, polls);
            let mut call = plain(id::IPROBE, polled_ns, begin_ns);
            call.flags = CallFlags::PROBE;
            (call.peer, call.comm) = (worker as i32, WORLD);
            (call.tag, call.bytes) = (RESULT_TAG, u64::from(bytes));
            self.row(master, call);
        }
        let end_ns = self.resume(master, at_ns.max(begin_ns + cost_ns));
        self.open(master, end_ns);
        self.moves(master, worker, false);
        let mut call = plain(id::RECV, begin_ns, end_ns);
        if let Some(posted) = posted {
            call.function = id::WAIT;
            let flags = if posted.recorded { PartFlags::COMPLETED } else { PartFlags::INLINE };
            let (peer, bytes) = (worker as i32, u64::from(bytes));
            self.part(master, Part { flags, tag: RESULT_TAG, post: posted.post, peer, comm: WORLD, bytes });
        } else {
            call.flags = CallFlags::RECEIVE;
            (call.peer, call.comm) = (worker as i32, WORLD);
            (call.tag, call.bytes) = (RESULT_TAG, u64::from(bytes));
        }
        self.row(master, call);
        self.done(master, end_ns);
    }
}
