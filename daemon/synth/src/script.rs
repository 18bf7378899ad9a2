//! What each rank does in a step, as operations on channels.

use crate::pattern::Pattern;
use crate::spec::{Collective, Collectives, Spec};
use crate::style::Style;
use std::collections::HashMap;

/// No channel.
pub(crate) const NOBODY: u32 = u32::MAX;

/// One thing that a rank does. Channels are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Computes a part of what there is to compute in a step.
    Compute { parts: u32 },
    /// Works on one message of those that a root takes one by one.
    Handle,
    /// Posts a receive.
    Post(u32),
    /// Sends without waiting.
    Isend(u32),
    /// Waits for all that was posted and sent since.
    Wait,
    /// Sends.
    Send(u32),
    /// Receives.
    Recv(u32),
    /// Sends and receives at once.
    Exchange { out: u32, into: u32 },
    /// The following steps only run every N steps.
    Only { every: u32, else_skip: u32 },
    /// What follows is only done in the first step.
    First { else_skip: u32 },
    /// A collective; none named is the one whose turn it is.
    Meet(Option<Collective>),
    /// The master receives from the first sender.
    Serve,
    /// The master sends to whom it received from: a task, or that there is none left.
    Reply,
    /// The worker goes on if what it received is a task.
    StopUnlessTask,
}

impl Op {
    /// Whether it is a call, or several.
    pub(crate) fn is_call(self) -> bool {
        !matches!(
            self,
            Op::Compute { .. } | Op::Handle | Op::Only { .. } | Op::First { .. } | Op::StopUnlessTask
        )
    }
}

/// One direction between two ranks, with a tag: messages stay in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) tag: i32,
}

/// The steps of all ranks.
#[derive(Debug, Default, Clone)]
pub(crate) struct Script {
    pub(crate) ops: Vec<Op>,
    /// Where the operations of each rank begin, and where the last rank's end.
    pub(crate) first: Vec<u32>,
    pub(crate) ways: Vec<Way>,
}

/// What the work of a serialized root looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serial {
    /// There is none.
    None,
    /// Rank 0 does all of it.
    Root { every: u32 },
    /// Everybody does a part.
    Spread { every: u32 },
}

/// Puts a script together, one rank after the other.
pub(crate) struct Builder {
    style: Style,
    collectives: Option<Collectives>,
    serial: Serial,
    deals: bool,
    ranks: u32,
    rank: u32,
    open: bool,
    numbers: HashMap<Way, u32>,
    script: Script,
}

/// The other side of a message and its tag.
type Other = Option<(u32, i32)>;
const SERIAL_TAG: i32 = 9;

impl Builder {
    pub(crate) fn new(spec: &Spec, serial: Serial) -> Self {
        let deals = spec.pattern == Pattern::MasterWorker;
        Self {
            style: spec.style,
            collectives: spec.collectives.clone().filter(|_| !deals),
            serial,
            deals,
            ranks: spec.ranks,
            rank: 0,
            open: false,
            numbers: HashMap::new(),
            script: Script { first: vec![0], ..Script::default() },
        }
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.script.ops.push(op);
    }

    fn channel(&mut self, src: u32, dst: u32, tag: i32) -> u32 {
        let way = Way { src, dst, tag };
        let next = self.script.ways.len() as u32;
        let number = *self.numbers.entry(way).or_insert(next);
        if number == next {
            self.script.ways.push(way);
        }
        number
    }

    fn outward(&mut self, to: Other) -> u32 {
        to.map_or(NOBODY, |(to, tag)| self.channel(self.rank, to, tag))
    }

    fn inward(&mut self, from: Other) -> u32 {
        from.map_or(NOBODY, |(from, tag)| self.channel(from, self.rank, tag))
    }

    /// An operation on the channel to a rank.
    pub(crate) fn push_channel(&mut self, op: impl FnOnce(u32) -> Op, to: u32, tag: i32) {
        let channel = self.channel(self.rank, to, tag);
        self.push(op(channel));
    }

    pub(crate) fn compute(&mut self, parts: u32) {
        self.push(Op::Compute { parts });
    }

    /// Sends to and receives from several, all at once where the style allows.
    pub(crate) fn exchange_all(&mut self, partners: &[(Other, Other)]) {
        if self.style == Style::Blocking {
            for &(to, from) in partners {
                let (out, into) = (self.outward(to), self.inward(from));
                self.push(Op::Exchange { out, into });
            }
            return;
        }
        for &(_, from) in partners {
            self.receive(from);
        }
        for &(to, _) in partners {
            self.send(to);
        }
        self.wait();
    }

    /// Receives, or begins to.
    pub(crate) fn receive(&mut self, from: Other) {
        let channel = self.inward(from);
        self.start(channel, Op::Recv, Op::Post);
    }

    /// Sends, or begins to.
    pub(crate) fn send(&mut self, to: Other) {
        let channel = self.outward(to);
        self.start(channel, Op::Send, Op::Isend);
    }

    fn start(&mut self, channel: u32, blocking: fn(u32) -> Op, begun: fn(u32) -> Op) {
        if channel == NOBODY {
            return;
        }
        if self.style == Style::Blocking {
            self.push(blocking(channel));
        } else {
            self.push(begun(channel));
            self.open = true;
        }
    }

    /// Waits for all started requests.
    pub(crate) fn wait(&mut self) {
        if std::mem::take(&mut self.open) {
            self.push(Op::Wait);
        }
    }

    /// The master works on a result.
    pub(crate) fn handle(&mut self) {
        if matches!(self.serial, Serial::Root { .. }) {
            self.push(Op::Handle);
        }
    }

    /// The worker does, instead.
    pub(crate) fn spread(&mut self) {
        if matches!(self.serial, Serial::Spread { .. }) {
            self.push(Op::Handle);
        }
    }

    /// What is added is only done every N steps.
    pub(crate) fn every(&mut self, every: u32, add: impl FnOnce(&mut Self)) {
        let at = self.script.ops.len();
        self.push(Op::Only { every, else_skip: 0 });
        add(self);
        let else_skip = (self.script.ops.len() - at - 1) as u32;
        self.script.ops[at] = Op::Only { every, else_skip };
    }

    /// The operations of this rank are complete.
    pub(crate) fn end_rank(&mut self) {
        if !self.deals {
            self.serial_part();
            if let Some(every) = self.collectives.as_ref().map(|all| all.every) {
                self.push(Op::Only { every, else_skip: 1 });
                self.push(Op::Meet(None));
            }
        }
        self.script.first.push(self.script.ops.len() as u32);
        self.rank += 1;
    }

    fn serial_part(&mut self) {
        let (every, is_root) = match self.serial {
            Serial::None => return,
            Serial::Root { every } => (every, self.rank == 0),
            Serial::Spread { every } => {
                self.script.ops.extend([
                    Op::Only { every, else_skip: 2 },
                    Op::Handle,
                    Op::Meet(Some(Collective::Allreduce)),
                ]);
                return;
            }
        };
        if is_root {
            self.push(Op::Only { every, else_skip: 2 * self.ranks });
            self.push(Op::Handle);
            for from in 1..self.ranks {
                let channel = self.channel(from, 0, SERIAL_TAG);
                self.script.ops.extend([Op::Recv(channel), Op::Handle]);
            }
        } else {
            self.push(Op::Only { every, else_skip: 2 });
            self.push_channel(Op::Send, 0, SERIAL_TAG);
        }
        self.push(Op::Meet(Some(Collective::Bcast)));
    }

    pub(crate) fn finish(self) -> Script {
        self.script
    }
}
