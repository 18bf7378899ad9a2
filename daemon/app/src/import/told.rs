//! Events of a table as calls of the ranks that made them.
//!
//! Each event is a call of its own. Calls of a rank that overlap were made by several threads: each goes to the first
//! whose calls are over by then. Calls of one thread come in the order of time, and so do those that ingest merges.

use super::event::Event;
use super::telling::{MOST_THREADS, Telling, World};
use anyhow::Result;
use mpiscope_wire::{Call, CallFlags, Message};

/// The threads of a rank.
#[derive(Default)]
struct Threads {
    /// Of each, when its last call ended.
    busy_until_ns: Vec<u64>,
    /// When the rank's newest event was, and of which thread.
    newest: (i64, usize),
}

/// Tells events, which come in the order of time, some slots at once; says how many ranks had calls that overlap. The
/// world's times are told from `from_ns` on.
pub(crate) fn tell(
    world: &World<'_>,
    events: impl Iterator<Item = Result<Event>>,
    from_ns: i64,
    (most_slots, resolution_ns): (usize, u64),
    sink: &mut dyn FnMut(Message),
) -> Result<u64> {
    let mut telling = Telling::begin(world, sink);
    let mut threads: Vec<Threads> = world.nodes.iter().map(|_| Threads::default()).collect();
    for event in events {
        let event = event?;
        let since = |at_ns: i64| at_ns.abs_diff(from_ns);
        let (called_from_ns, to_ns) = (since(event.start_ns()), since(event.end_ns()));
        if telling.waiting_slots() >= most_slots {
            // All that ended before this moment was told.
            telling.flush(since(event.timestamp_ns));
        }
        let of_rank = &mut threads[event.rank as usize];
        let (thread, start_ns) = of_rank.thread(event.timestamp_ns, (called_from_ns, to_ns), resolution_ns);
        let call = Call {
            flags: if event.sends { CallFlags::SEND } else { CallFlags::RECEIVE },
            function: event.function,
            duration: to_ns.saturating_sub(start_ns),
            start: telling.clock_ns(start_ns),
            peer: event.peer as i32,
            comm: event.comm,
            site: 0,
            tag: event.tag,
            bytes: event.bytes,
        };
        telling.define(event.rank, event.comm);
        let wide = call.needs_wide().then(|| call.encode_wide());
        telling.slots(event.rank, thread, wide.as_slice());
        telling.slots(event.rank, thread, &[call.encode()]);
    }
    telling.end();
    Ok(telling.ranks_with_threads())
}

impl Threads {
    /// Finds the thread that made a call, and when the call began: one that overlaps its predecessor by no more than the
    /// resolution of the times follows it.
    fn thread(
        &mut self,
        timestamp_ns: i64,
        (start_ns, end_ns): (u64, u64),
        resolution_ns: u64,
    ) -> (usize, u64) {
        // Events of one moment keep their order when those of several threads are merged by time.
        let first = if self.newest.0 == timestamp_ns { self.newest.1 } else { 0 };
        let busy = &mut self.busy_until_ns;
        let free = (first..busy.len()).find(|&at| busy[at] <= start_ns.saturating_add(resolution_ns));
        let at = free.unwrap_or_else(|| {
            if busy.len() < MOST_THREADS {
                busy.push(0);
            }
            busy.len() - 1
        });
        let start_ns = if free.is_some() { start_ns.max(busy[at]) } else { start_ns };
        busy[at] = busy[at].max(end_ns);
        self.newest = (timestamp_ns, at);
        (at, start_ns)
    }
}
