//! All that a trace is made of, in order: each rank's calls and ends of messages through time.

use super::filter::Filter;
use super::item::{End, Item};
use super::source::{Source, Wanted};
use crate::progress::Progress;
use crate::sorting::{Sorted, Sorter};
use anyhow::Result;
use mpiscope_model::{Call, Comm, Function, Message, Nanoseconds, Rank};
use mpiscope_recording::Direction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Members of all communicators together; they stay in memory.
const MOST_MEMBERS: usize = 1 << 22;

/// Who did what, in order.
pub(crate) struct Gathered {
    pub(crate) items: Sorted<Item>,
    pub(crate) about: About,
}

/// What is in a trace as a whole.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) calls: u64,
    pub(crate) messages: u64,
    /// When the last call or message ended.
    pub(crate) until_ns: Nanoseconds,
    /// The functions that were called.
    pub(crate) functions: BTreeSet<Function>,
    /// The threads of each rank that made calls.
    pub(crate) threads: BTreeMap<Rank, BTreeSet<u16>>,
    /// Of each communicator the ranks that used it.
    pub(crate) members: BTreeMap<Comm, BTreeSet<Rank>>,
    member_count: usize,
    /// The newest member, which most likely comes again.
    last: Option<(Comm, Rank)>,
}

impl About {
    fn call(&mut self, call: &Call) {
        self.calls += 1;
        self.until_ns = self.until_ns.max(call.end_ns);
        self.threads.entry(call.rank).or_default().insert(call.thread);
        self.functions.insert(call.function);
        if let Some(comm) = call.comm {
            self.member(comm, call.rank);
        }
    }

    fn message(&mut self, message: &Message) {
        self.messages += 1;
        self.until_ns = self.until_ns.max(message.recv_ns).max(message.send_ns);
        for rank in [message.src, message.dst] {
            self.threads.entry(rank).or_default();
            self.member(message.comm, rank);
        }
    }

    fn member(&mut self, comm: Comm, rank: Rank) {
        if self.last != Some((comm, rank)) && self.member_count < MOST_MEMBERS {
            self.last = Some((comm, rank));
            self.member_count += usize::from(self.members.entry(comm).or_default().insert(rank));
        }
    }
}

/// Reads all that is wanted of a recording; what is beyond memory waits in a file in `folder`.
pub(crate) fn gather(
    source: &mut Source,
    filter: &Filter,
    folder: &Path,
    progress: &Progress,
) -> Result<Gathered> {
    let mut sorter = Sorter::new(folder);
    let mut about = About::default();
    source.read(
        Wanted { calls: true, messages: true },
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
                End::both(number, message).into_iter().try_for_each(|end| sorter.push(Item::End(end)))?;
            }
            Ok(())
        },
    )?;
    // Ranks of which nothing is told are there as well.
    if filter.ranks.is_none() {
        for rank in 0..source.job.ranks {
            about.threads.entry(rank).or_default();
        }
    }
    // A rank that only its messages tell of needs a thread that they are of.
    for threads in about.threads.values_mut().filter(|threads| threads.is_empty()) {
        threads.insert(0);
    }
    Ok(Gathered { items: sorter.finish()?, about })
}
