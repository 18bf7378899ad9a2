//! Puts calls in an order in which every dependency comes first.

use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Graph {
    /// Puts the calls in an order in which every dependency comes first. Where dependencies contradict each other, as by clocks
    /// that are wrong, those of the earliest call are dropped.
    pub(crate) fn order(&mut self) {
        let mut sorter = Sorter::new(self);
        sorter.sort();
        let Sorter { sequence, dropped, .. } = sorter;
        self.quality.contradictions = dropped.len() as u64;
        (self.sequence, self.dropped) = (sequence, dropped);
    }
}

/// Puts calls in order.
struct Sorter<'a> {
    graph: &'a Graph,
    thread_of: Vec<u32>,
    /// By thread, the call that it is in.
    cursors: Vec<u32>,
    /// By collective, members that have not entered.
    missing: Vec<u32>,
    waiting_for_call: FxHashMap<u32, Vec<u32>>,
    waiting_for_group: FxHashMap<u32, Vec<u32>>,
    ready: Vec<u32>,
    /// Threads that deal, with the ends of their calls: they go on when no other can, the earliest first. The requests of all
    /// who are not dealers themselves are known by then.
    ready_dealers: BinaryHeap<Reverse<(u64, u32)>>,
    sequence: Vec<u32>,
    dropped: Vec<u32>,
}

/// What a call waits for that has not come.
enum Missing {
    Call(u32),
    Group(u32),
}

impl<'a> Sorter<'a> {
    fn new(graph: &'a Graph) -> Self {
        let groups = graph.groups.flows.len() as u32;
        Self {
            graph,
            thread_of: graph.thread_of_calls(),
            cursors: graph.threads.iter().map(|thread| thread.calls.start).collect(),
            missing: (0..groups).map(|group| graph.groups.members(group).len() as u32).collect(),
            waiting_for_call: FxHashMap::default(),
            waiting_for_group: FxHashMap::default(),
            ready: (0..graph.threads.len() as u32).rev().collect(),
            ready_dealers: BinaryHeap::new(),
            sequence: Vec::with_capacity(graph.starts.len()),
            dropped: Vec::new(),
        }
    }

    fn sort(&mut self) {
        for thread in 0..self.graph.threads.len() {
            self.entered(thread);
        }
        loop {
            while let Some(thread) = self.ready.pop() {
                if self.deals(thread) {
                    self.put_off(thread);
                } else {
                    self.advance(thread as usize);
                }
            }
            if let Some(Reverse((_, dealer))) = self.ready_dealers.pop() {
                self.advance(dealer as usize);
                continue;
            }
            if self.sequence.len() == self.graph.starts.len() {
                return;
            }
            let stuck = (0..self.cursors.len()).filter(|thread| !self.is_over(*thread));
            let Some(thread) = stuck.min_by_key(|thread| self.graph.ends[self.cursors[*thread] as usize])
            else {
                return;
            };
            self.dropped.push(self.cursors[thread]);
            self.leave(thread);
            self.ready.push(thread as u32);
        }
    }

    fn is_over(&self, thread: usize) -> bool {
        self.cursors[thread] >= self.graph.threads[thread].calls.end
    }

    fn deals(&self, thread: u32) -> bool {
        self.graph.requests.dealers.contains(&thread)
    }

    fn put_off(&mut self, dealer: u32) {
        let call = self.cursors[dealer as usize] as usize;
        self.ready_dealers.push(Reverse((self.graph.ends.get(call).copied().unwrap_or(0), dealer)));
    }

    fn advance(&mut self, thread: usize) {
        let deals = self.deals(thread as u32);
        while !self.is_over(thread) {
            match self.lacks(thread) {
                None => {
                    self.leave(thread);
                    if deals {
                        self.put_off(thread as u32);
                        return;
                    }
                }
                Some(Missing::Call(call)) => {
                    self.waiting_for_call.entry(call).or_default().push(thread as u32);
                    return;
                }
                Some(Missing::Group(group)) => {
                    self.waiting_for_group.entry(group).or_default().push(thread as u32);
                    return;
                }
            }
        }
    }

    fn leave(&mut self, thread: usize) {
        self.sequence.push(self.cursors[thread]);
        self.cursors[thread] += 1;
        self.entered(thread);
    }

    /// A thread entered its call: whoever waits for that goes on.
    fn entered(&mut self, thread: usize) {
        if self.is_over(thread) {
            return;
        }
        let call = self.cursors[thread];
        if !self.waiting_for_call.is_empty()
            && let Some(threads) = self.waiting_for_call.remove(&call)
        {
            self.ready.extend(threads);
        }
        let group = self.graph.groups.entered[call as usize];
        if group != NONE {
            let missing = &mut self.missing[group as usize];
            *missing -= 1;
            if *missing == 0
                && let Some(threads) = self.waiting_for_group.remove(&group)
            {
                self.ready.extend(threads);
            }
        }
    }

    fn has_entered(&self, call: u32) -> bool {
        self.cursors[self.thread_of[call as usize] as usize] >= call
    }

    fn lacks(&self, thread: usize) -> Option<Missing> {
        let call = self.cursors[thread];
        let graph = self.graph;
        let missing = graph.received_by(call as usize).iter().map(|edge| edge.from);
        let missing = missing.chain(graph.blocked.get(call as usize).map(|blocked| blocked.entry));
        if let Some(call) = missing.into_iter().find(|from| !self.has_entered(*from)) {
            return Some(Missing::Call(call));
        }
        let group = graph.groups.left[call as usize];
        if group == NONE {
            return None;
        }
        let awaited = graph.groups.awaited(group, graph.threads[thread].rank);
        if let [root] = awaited {
            return (!self.has_entered(root.call)).then_some(Missing::Call(root.call));
        }
        (!awaited.is_empty() && self.missing[group as usize] > 0).then_some(Missing::Group(group))
    }
}
