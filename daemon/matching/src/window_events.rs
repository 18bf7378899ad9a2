//! The events of a window, which may come in any pieces.

use mpiscope_model::{Batch, Event, Rank};

/// Those of one window.
#[derive(Debug, Default)]
pub struct WindowEvents {
    /// As they came.
    events: Vec<Event>,
    /// Where others than those of the rank before begin, and whose.
    turns: Vec<(Rank, u32)>,
}

impl WindowEvents {
    /// Takes in more, each rank's in order.
    pub fn add(&mut self, events: &[Event]) {
        for of_rank in events.chunk_by(|one, other| one.rank() == other.rank()) {
            let rank = of_rank[0].rank();
            if self.turns.last().is_none_or(|(last, _)| *last != rank) {
                self.turns.push((rank, self.events.len() as u32));
            }
            self.events.extend_from_slice(of_rank);
        }
    }

    /// Hands all of them out rank by rank, each rank's in the order in which they came: who was read first must not matter
    /// where calls were lost.
    pub fn take(&mut self, into: &mut Vec<Event>) {
        let ends = self.turns.iter().skip(1).map(|(_, at)| *at).chain([self.events.len() as u32]);
        let mut turns: Vec<(Rank, u32, u32)> =
            self.turns.iter().zip(ends).map(|(&(rank, from), to)| (rank, from, to)).collect();
        turns.sort_unstable();
        for (_, from, to) in turns {
            into.extend_from_slice(&self.events[from as usize..to as usize]);
        }
        self.events.clear();
        self.turns.clear();
    }
}

/// The events of a batch by the window in which their calls returned, in runs of one window. What returned in a window
/// before `first` belongs to that one.
pub fn by_window(batch: &Batch, window_ns: u64, first: u64) -> impl Iterator<Item = (u64, &[Event])> {
    let window_of = move |end_ns: u64| (end_ns / window_ns).max(first);
    let mut left = &batch.events[..];
    let runs = batch.events_end_ns.chunk_by(move |one, other| window_of(*one) == window_of(*other));
    runs.map(move |ends_ns| {
        let (run, others) = left.split_at(ends_ns.len());
        left = others;
        (window_of(ends_ns[0]), run)
    })
}
