//! Puts together what replays look up for each call.

use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;
use crate::whatif::graph::marks::{Mark, Marks};

impl Graph {
    /// The marks of all calls.
    pub(crate) fn marks(&self) -> &Marks {
        self.marks.get_or_init(|| put_together(self))
    }
}

fn put_together(graph: &Graph) -> Marks {
    let mark = |call: usize| {
        let is_blocked = graph.blocked.get(call).is_some();
        let is_drained = graph.drained.contains_key(&(call as u32));
        Mark {
            ends_otherwise: graph.groups.left[call] != NONE || is_blocked || is_drained,
            is_awaited: graph.groups.entered[call] != NONE && graph.groups.is_awaited(call),
            waits_for_answer: graph.requests.answered_in(call).is_some(),
        }
    };
    let mut calls: Vec<Mark> = (0..graph.starts.len()).map(mark).collect();
    graph.dropped.iter().for_each(|call| calls[*call as usize].ends_otherwise = true);
    Marks { threads: graph.thread_of_calls(), calls }
}
