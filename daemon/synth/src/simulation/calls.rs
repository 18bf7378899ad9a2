//! Calls: their effect when they begin, and their record when they end.

use super::job::{GAP_NS, Open, Simulation};
use super::meeting::ROOT;
use crate::pattern::TASK_TAG;
use crate::random::mixed;
use crate::script::{NOBODY, Op};
use crate::spec::Collective;
use crate::style::Style;
use crate::tape::{WORLD, plain};
use mpiscope_wire::{Call, CallFlags, Part, PartFlags, id};

/// From one poll to the next.
const POLL_NS: u64 = 300;
/// A row of polls spans no more, as a collector cuts them.
const LONGEST_POLL_ROW_NS: u64 = 100_000_000;
/// The least that a call takes, and what may be added.
const LEAST_CALL_NS: u64 = 150;
const MORE_CALL_NS: u64 = 0xFF;

impl<const TOLD: bool> Simulation<TOLD> {
    /// A rank enters a call. What it has to wait for is pending then; what does not wait ends here.
    pub(super) fn begin(&mut self, rank: u32, op: Op) {
        let at = rank as usize;
        let entry_ns = self.ranks[at].clock_ns;
        self.ranks[at].entry_ns = entry_ns;
        match op {
            Op::Post(channel) => {
                self.take(channel, entry_ns);
                self.post(rank, channel);
            }
            Op::Isend(channel) => {
                let bytes = self.deposit(channel, entry_ns);
                self.ranks[at].open_sends += 1;
                let mut call = self.brief(rank, id::ISEND);
                self.open(rank, call.start + call.duration);
                self.sends(rank, &mut call, channel, bytes);
                self.row(rank, call);
                self.done(rank, call.start + call.duration);
            }
            Op::Send(channel) => self.deal_and_send(channel, entry_ns),
            Op::Reply => self.deal_and_send(self.master.back(), entry_ns),
            Op::Recv(channel) => self.take(channel, entry_ns),
            Op::Exchange { out, into } => {
                if out != NOBODY {
                    self.deposit(out, entry_ns);
                }
                if into != NOBODY {
                    self.take(into, entry_ns);
                }
            }
            Op::Meet(kind) => {
                let kind = kind.unwrap_or_else(|| self.turn(self.ranks[at].step));
                self.enter(rank, kind, entry_ns);
            }
            Op::Serve => self.begin_serving(rank),
            _ => {}
        }
    }

    fn deal_and_send(&mut self, channel: u32, entry_ns: u64) {
        let (dst, tag) = (self.channels[channel as usize].dst, self.channels[channel as usize].tag);
        if self.master.deals() && tag == TASK_TAG {
            self.master.deal(dst);
        }
        self.deposit(channel, entry_ns);
    }

    fn exchanges(&mut self, rank: u32, call: &mut Call, out: u32, into: u32) {
        (call.function, call.comm) = (id::SENDRECV, WORLD);
        if out != NOBODY {
            self.sends(rank, call, out, self.newest_sent(out));
        }
        if into != NOBODY {
            self.received(rank, into, PartFlags::INLINE, 0);
        }
    }

    /// All that a rank waited for is known: its call ends.
    pub(super) fn finish(&mut self, rank: u32) {
        let at = rank as usize;
        let op = self.plan.script.ops[self.ranks[at].op as usize];
        if op == Op::Wait {
            self.finish_wait(rank);
            return;
        }
        let (entry_ns, ready_ns) = (self.ranks[at].entry_ns, std::mem::take(&mut self.ranks[at].ready_ns));
        let end_ns = self.resume(rank, ready_ns.max(entry_ns + self.cost_ns(rank)));
        self.open(rank, end_ns);
        let mut call = plain(0, entry_ns, end_ns);
        match op {
            Op::Send(channel) => {
                call.function = id::SEND;
                self.sends(rank, &mut call, channel, self.newest_sent(channel));
            }
            Op::Reply => {
                let channel = self.master.back();
                call.function = id::SEND;
                self.sends(rank, &mut call, channel, self.newest_sent(channel));
            }
            Op::Recv(channel) => {
                let (src, tag, bytes) = self.newest_taken(channel);
                self.moves(rank, src, false);
                (call.function, call.flags) = (id::RECV, CallFlags::RECEIVE);
                (call.peer, call.comm, call.tag, call.bytes) = (src as i32, WORLD, tag, u64::from(bytes));
            }
            Op::Exchange { out, into } => self.exchanges(rank, &mut call, out, into),
            Op::Meet(kind) => {
                let kind = kind.unwrap_or_else(|| self.turn(self.ranks[at].step));
                self.meets(rank, &mut call, kind);
            }
            _ => {}
        }
        self.row(rank, call);
        self.done(rank, end_ns);
    }

    fn finish_wait(&mut self, rank: u32) {
        let at = rank as usize;
        let (entry_ns, ready_ns) = (self.ranks[at].entry_ns, std::mem::take(&mut self.ranks[at].ready_ns));
        let requests = self.ranks[at].open.len() as u32 + std::mem::take(&mut self.ranks[at].open_sends);
        let cost_ns = self.cost_ns(rank);
        let call = if self.plan.spec.style == Style::Polling {
            let (begin_ns, polls) = self.polls(rank, entry_ns, ready_ns);
            let function = if requests == 1 { id::TEST } else { id::TESTALL };
            self.open(rank, begin_ns + cost_ns);
            self.folded(rank, function, entry_ns, polls);
            plain(function, begin_ns, begin_ns + cost_ns)
        } else {
            let end_ns = self.resume(rank, ready_ns.max(entry_ns + cost_ns));
            self.open(rank, end_ns);
            plain(if requests == 1 { id::WAIT } else { id::WAITALL }, entry_ns, end_ns)
        };
        let mut open = std::mem::take(&mut self.ranks[at].open);
        if TOLD {
            for &Open { channel, post, recorded } in &open {
                let flags = if recorded { PartFlags::COMPLETED } else { PartFlags::INLINE };
                self.received(rank, channel, flags, post);
            }
        }
        open.clear();
        self.ranks[at].open = open;
        self.row(rank, call);
        self.done(rank, call.start + call.duration);
    }

    fn post(&mut self, rank: u32, channel: u32) {
        let post = self.ranks[rank as usize].posts;
        let mut call = self.brief(rank, id::IRECV);
        let from = &self.channels[channel as usize];
        call.flags = CallFlags::POST;
        (call.peer, call.comm, call.tag, call.bytes) = (from.src as i32, WORLD, from.tag, post & 0xFFFF_FFFF);
        let recorded = self.write(rank, call);
        let state = &mut self.ranks[rank as usize];
        state.posts += 1;
        state.open.push(Open { channel, post, recorded });
    }

    fn meets(&mut self, rank: u32, call: &mut Call, kind: Collective) {
        (call.function, call.flags, call.comm) = (kind.function(), CallFlags::COLLECTIVE, WORLD);
        call.tag = self.ranks[rank as usize].meetings as i32 - 1;
        call.bytes = self.collective_bytes(kind);
        if kind.has_root() {
            call.peer = ROOT as i32;
        }
    }

    /// A call of a rank that is over at once.
    #[inline]
    pub(super) fn brief(&self, rank: u32, function: u16) -> Call {
        let entry_ns = self.ranks[rank as usize].entry_ns;
        plain(function, entry_ns, self.resume(rank, entry_ns + self.cost_ns(rank)))
    }

    /// Writes a call that stands alone.
    pub(super) fn write(&mut self, rank: u32, call: Call) -> bool {
        let end_ns = call.start + call.duration;
        self.open(rank, end_ns);
        let recorded = self.row(rank, call);
        self.done(rank, end_ns);
        recorded
    }

    /// What a call takes a rank when nothing is to be waited for.
    #[inline]
    pub(super) fn cost_ns(&self, rank: u32) -> u64 {
        LEAST_CALL_NS + (mixed(u64::from(rank) << 40 ^ self.ranks[rank as usize].rows) & MORE_CALL_NS)
    }

    /// When the poll begins that succeeds, and how many failed before it.
    pub(super) fn polls(&self, rank: u32, entry_ns: u64, ready_ns: u64) -> (u64, u64) {
        let polls = ready_ns.saturating_sub(entry_ns).div_ceil(POLL_NS);
        (self.resume(rank, entry_ns + polls * POLL_NS), polls)
    }

    /// Polls that failed, in as few rows as a collector folds them into.
    pub(super) fn folded(&mut self, rank: u32, function: u16, mut begin_ns: u64, mut polls: u64) {
        while polls > 0 {
            let in_row = polls.min(LONGEST_POLL_ROW_NS.div_ceil(POLL_NS));
            let end_ns = begin_ns + (in_row - 1) * POLL_NS + LEAST_CALL_NS;
            let mut call = plain(function, begin_ns, end_ns);
            (call.flags, call.bytes) = (CallFlags::FOLDED, in_row);
            self.ranks[rank as usize].calls += in_row - 1;
            self.row(rank, call);
            begin_ns += in_row * POLL_NS;
            polls -= in_row;
        }
    }

    #[inline]
    pub(super) fn done(&mut self, rank: u32, end_ns: u64) {
        self.ranks[rank as usize].clock_ns = end_ns + GAP_NS;
    }

    #[inline]
    fn newest_sent(&self, channel: u32) -> u32 {
        self.plan.wires.bytes((channel, self.channels[channel as usize].sent - 1))
    }

    #[inline]
    fn newest_taken(&self, channel: u32) -> (u32, i32, u32) {
        let from = &self.channels[channel as usize];
        (from.src, from.tag, self.plan.wires.bytes((channel, from.taken - 1)))
    }

    #[inline]
    fn sends(&mut self, rank: u32, call: &mut Call, channel: u32, bytes: u32) {
        let to = &self.channels[channel as usize];
        call.flags = CallFlags::SEND;
        (call.peer, call.comm, call.tag, call.bytes) = (to.dst as i32, WORLD, to.tag, u64::from(bytes));
        let dst = to.dst;
        self.moves(rank, dst, true);
    }

    #[inline]
    fn received(&mut self, rank: u32, channel: u32, flags: PartFlags, post: u64) {
        let (src, tag, bytes) = self.newest_taken(channel);
        self.moves(rank, src, false);
        let bytes = u64::from(bytes);
        self.part(rank, Part { flags, tag, post, peer: src as i32, comm: WORLD, bytes });
    }

    /// What belongs to calls of a rank that end at a moment follows.
    #[inline]
    pub(super) fn open(&mut self, rank: u32, end_ns: u64) {
        if TOLD {
            self.tapes[rank as usize].open(end_ns);
        }
    }

    #[inline]
    pub(super) fn moves(&mut self, rank: u32, peer: u32, sends: bool) {
        if TOLD {
            self.tapes[rank as usize].moves(peer, sends);
        }
    }

    #[inline]
    pub(super) fn part(&mut self, rank: u32, part: Part) {
        if TOLD {
            self.tapes[rank as usize].part(&part);
        }
    }

    /// Counts a row and writes it, by the clock of the rank's node; `false` when it gets lost.
    #[inline]
    pub(super) fn row(&mut self, rank: u32, mut call: Call) -> bool {
        let state = &mut self.ranks[rank as usize];
        state.rows += 1;
        state.calls += 1;
        if !TOLD {
            return true;
        }
        let node = self.plan.node_of[rank as usize];
        let end_ns = self.clocks.shown_ns(node, call.start + call.duration);
        call.start = self.clocks.shown_ns(node, call.start);
        call.duration = end_ns - call.start;
        self.tapes[rank as usize].row(&call)
    }
}
