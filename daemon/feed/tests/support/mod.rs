//! Where the tests of answers have their calls and messages from.

use mpiscope_feed::{CallSource, MessageSource, RankRow};
use mpiscope_model::{Call, Message, Nanoseconds, Node, ProcessState, Rank};
use proptest::prelude::*;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Messages a few at a time, which counts how often it was asked and how much it showed.
#[derive(Debug, Default)]
pub(crate) struct StoredMessages {
    pub(crate) messages: Vec<Message>,
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) shown: Arc<AtomicUsize>,
}

impl MessageSource for StoredMessages {
    fn visit(
        &self,
        _: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        for some in self.messages.chunks(10) {
            self.shown.fetch_add(some.len(), Ordering::Relaxed);
            if visitor(some).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Calls that are all looked at.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) Vec<Call>);

impl CallSource for Plain {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.0.iter().filter(within).for_each(visitor);
        Ok(())
    }
}

/// The ranks of calls that are drawn by lot, and a time after all of them.
pub(crate) const RANKS: u32 = 6;
pub(crate) const UNTIL_NS: u64 = 1_200;

/// A call by lot.
pub(crate) fn call() -> impl Strategy<Value = Call> {
    (0..RANKS, 1..4_u16, 0..900_u64, 0..200_u64, 1..3_u64).prop_map(
        |(rank, function, start_ns, duration_ns, count)| Call {
            rank: Rank(rank),
            function,
            start_ns,
            end_ns: start_ns + duration_ns,
            bytes: u64::from(rank),
            count,
            ..Call::default()
        },
    )
}

/// What is known of a rank; four are on a host.
pub(crate) fn row(rank: u32) -> RankRow {
    RankRow {
        rank: Rank(rank),
        node: Node(rank / 4),
        calls: 100 + u64::from(rank),
        sent: 10,
        received: 20,
        bytes_sent: 1_000,
        mpi_time_ns: u64::from(rank) * 100_000_000,
        run_ns: 1_000_000_000,
        wait_ns: u64::from(rank) * 1_000_000,
        involuntary: 3,
        state: ProcessState::Running,
        ended_ns: 0,
    }
}
