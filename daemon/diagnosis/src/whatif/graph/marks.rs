//! What replays look up for each call, put together once: most calls wait for nothing but messages.

use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;

/// By call.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Its thread.
    pub(crate) threads: Vec<u32>,
    of_calls: Vec<Mark>,
}

/// What is special about a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    /// Its end depends on more than messages, or on none of them.
    pub(crate) ends_otherwise: bool,
    /// Others wait for its entry into a collective.
    pub(crate) is_awaited: bool,
    /// It waits for the answer to a request.
    pub(crate) waits_for_answer: bool,
}

impl Marks {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mark = |call: usize| {
            let is_blocked = graph.blocked.get(call).is_some();
            let is_drained = graph.drained.contains_key(&(call as u32));
            Mark {
                ends_otherwise: graph.groups.left[call] != NONE || is_blocked || is_drained,
                is_awaited: graph.groups.entered[call] != NONE && graph.groups.is_awaited(call),
                waits_for_answer: graph.requests.answered_in(call).is_some(),
            }
        };
        let mut of_calls: Vec<Mark> = (0..graph.starts.len()).map(mark).collect();
        graph.dropped.iter().for_each(|call| of_calls[*call as usize].ends_otherwise = true);
        Self { threads: graph.thread_of_calls(), of_calls }
    }

    #[inline]
    pub(crate) fn of(&self, call: usize) -> Mark {
        self.of_calls[call]
    }
}

impl Graph {
    /// The marks of all calls.
    pub(crate) fn marks(&self) -> &Marks {
        self.marks.get_or_init(|| Marks::new(self))
    }
}
