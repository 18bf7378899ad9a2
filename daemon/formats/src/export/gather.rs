//! Reads everything that a trace is made of and sorts it: the calls and message ends of each rank in the order of time.

use super::filter::Filter;
use super::item::{Item, MessageEnd};
use super::source::{RowSelection, Source};
use crate::external_sort::{SortedRecords, Sorter};
use crate::limits::MAX_COMM_MEMBERS;
use crate::progress::Progress;
use anyhow::Result;
use mpiscope_model::{Call, Comm, Function, Message, Nanoseconds, Rank};
use mpiscope_recording::Direction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Calls and message ends in order.
pub(crate) struct Gathered {
    pub(crate) items: SortedRecords<Item>,
    pub(crate) about: TraceContents,
}

/// Totals of a trace.
#[derive(Debug, Default)]
pub(crate) struct TraceContents {
    pub(crate) calls: u64,
    pub(crate) messages: u64,
    /// When the last call or message ended.
    pub(crate) until_ns: Nanoseconds,
    /// The functions that were called.
    pub(crate) functions: BTreeSet<Function>,
    /// The threads of each rank that make calls.
    pub(crate) threads: BTreeMap<Rank, BTreeSet<u16>>,
    /// The ranks that use each communicator.
    pub(crate) members: BTreeMap<Comm, BTreeSet<Rank>>,
    member_count: usize,
    /// The last member that was added: most likely it comes again.
    last: Option<(Comm, Rank)>,
}

impl TraceContents {
    pub(crate) fn call(&mut self, call: &Call) {
        self.calls += 1;
        self.until_ns = self.until_ns.max(call.end_ns);
        self.threads.entry(call.rank).or_default().insert(call.thread);
        self.functions.insert(call.function);
        if let Some(comm) = call.comm {
            self.member(comm, call.rank);
        }
    }

    pub(crate) fn message(&mut self, message: &Message) {
        self.messages += 1;
        self.until_ns = self.until_ns.max(message.recv_ns).max(message.send_ns);
        for rank in [message.src, message.dst] {
            self.threads.entry(rank).or_default();
            self.member(message.comm, rank);
        }
    }

    fn member(&mut self, comm: Comm, rank: Rank) {
        if self.last != Some((comm, rank)) && self.member_count < MAX_COMM_MEMBERS {
            self.last = Some((comm, rank));
            self.member_count += usize::from(self.members.entry(comm).or_default().insert(rank));
        }
    }
}

/// Reads all calls and messages that the filter keeps. What does not fit into memory waits in a file in `folder`.
pub(crate) fn gather_items(
    source: &mut Source<'_>,
    filter: &Filter,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Gathered> {
    let mut sorter = Sorter::new(folder);
    let mut about = TraceContents::default();
    source.read_rows(
        RowSelection { calls: true, messages: true },
        (filter, Direction::Forward),
        progress,
        &mut |calls, messages| {
            for call in calls {
                about.call(call);
                sorter.push(Item::Call(*call))?;
            }
            for message in messages {
                let number = about.messages;
                about.message(message);
                MessageEnd::both(number, message)
                    .into_iter()
                    .try_for_each(|end| sorter.push(Item::MessageEnd(end)))?;
            }
            Ok(())
        },
    )?;
    // Ranks without calls and messages are there as well.
    if filter.ranks.is_none() {
        for rank in 0..source.job.plausible_ranks() {
            about.threads.entry(Rank(rank)).or_default();
        }
    }
    // A rank that has only messages needs a thread for them.
    for threads in about.threads.values_mut().filter(|threads| threads.is_empty()) {
        threads.insert(0);
    }
    Ok(Gathered { items: sorter.finish()?, about })
}
