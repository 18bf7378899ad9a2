//! Writes the events of a table as the log of a run.
//!
//! Each event becomes a call. Calls of a rank that overlap come from several threads: each call goes to the first thread
//! that is free by then. Calls of one thread come in the order of time.

use super::event::Event;
use crate::import::log_stream::{JobDescription, LogStream, MAX_THREADS};
use anyhow::Result;
use mpiscope_wire::{Call, CallFlags, Message};

/// The threads of a rank.
#[derive(Default)]
struct RankThreads {
    /// When the last call of each thread ended.
    busy_until_ns: Vec<u64>,
    /// The time of the rank's newest event, and its thread.
    newest: (i64, usize),
}

/// Writes events, which come in the order of time, in batches of `most_slots`. Times count from `from_ns` on. Returns how many
/// ranks have calls that overlap.
pub(crate) fn write_events(
    job: &JobDescription<'_>,
    events: impl Iterator<Item = Result<Event>>,
    from_ns: i64,
    (most_slots, resolution_ns): (usize, u64),
    sink: &mut dyn FnMut(Message),
) -> Result<u64> {
    let mut stream = LogStream::begin(job, sink);
    let mut threads: Vec<RankThreads> = job.nodes.iter().map(|_| RankThreads::default()).collect();
    for event in events {
        let event = event?;
        let since = |at_ns: i64| at_ns.abs_diff(from_ns);
        let (called_from_ns, to_ns) = (since(event.start_ns()), since(event.end_ns()));
        if stream.pending_slots() >= most_slots {
            // All calls that ended before this moment were pushed.
            stream.flush(since(event.timestamp_ns));
        }
        let of_rank = &mut threads[event.rank as usize];
        let (thread, start_ns) =
            of_rank.assign_thread(event.timestamp_ns, (called_from_ns, to_ns), resolution_ns);
        let call = Call {
            flags: if event.sends { CallFlags::SEND } else { CallFlags::RECEIVE },
            function: event.function,
            duration: to_ns.saturating_sub(start_ns),
            start: stream.to_clock_ns(start_ns),
            peer: event.peer as i32,
            comm: event.comm,
            site: 0,
            tag: event.tag,
            bytes: event.bytes,
        };
        stream.define_comm(event.rank, event.comm);
        let wide = call.needs_wide().then(|| call.encode_wide());
        stream.push_slots(event.rank, thread, wide.as_slice());
        stream.push_slots(event.rank, thread, &[call.encode()]);
    }
    stream.finish();
    Ok(stream.ranks_with_threads())
}

impl RankThreads {
    /// Finds the thread of a call and the time when the call began. A call that overlaps the one before it by no more than the
    /// resolution of the times begins when that one ends.
    fn assign_thread(
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
            if busy.len() < MAX_THREADS {
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
