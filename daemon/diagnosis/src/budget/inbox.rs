//! The items that the calls of a queue get, in the order of the calls and in one piece of memory: a call needs no
//! allocation of its own.

use std::collections::VecDeque;

/// Where that of one call begins.
pub(super) type Place = u32;

/// That of all calls of a queue.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    all: VecDeque<T>,
    /// Where the first of them begins; places go around.
    front: Place,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self { all: VecDeque::new(), front: 0 }
    }
}

impl<T: Copy + Default> Inbox<T> {
    /// Room for what a further call gets.
    pub(super) fn add(&mut self, count: usize) -> Place {
        let place = self.front.wrapping_add(self.all.len() as Place);
        self.all.extend(std::iter::repeat_n(T::default(), count));
        place
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<&T> {
        self.all.front()
    }

    /// What a call gets.
    pub(super) fn items(&self, place: Place, count: usize) -> impl Iterator<Item = &T> + Clone {
        let from = place.wrapping_sub(self.front) as usize;
        self.all.range(from..from + count)
    }

    /// The room for one of the things that a call gets.
    pub(super) fn item_mut(&mut self, place: Place, number: usize) -> Option<&mut T> {
        self.all.get_mut(place.wrapping_sub(self.front) as usize + number)
    }

    /// The first call of the queue, which got so much, is gone.
    pub(super) fn remove_first(&mut self, count: usize) {
        self.all.drain(..count);
        self.front = self.front.wrapping_add(count as Place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_finds_its_own_while_others_come_and_go() {
        let mut inbox = Inbox { front: Place::MAX - 5, ..Inbox::default() };
        let mut calls: VecDeque<(Place, usize)> = VecDeque::new();
        for call in 0..20 {
            let count = call % 4;
            let place = inbox.add(count);
            (0..count).for_each(|number| *inbox.item_mut(place, number).unwrap() = 10 * call + number);
            calls.push_back((place, call));
            for &(place, call) in &calls {
                let found: Vec<usize> = inbox.items(place, call % 4).copied().collect();
                assert_eq!(found, (0..call % 4).map(|number| 10 * call + number).collect::<Vec<_>>());
            }
            if call >= 3 {
                let (_, first) = calls.pop_front().unwrap();
                inbox.remove_first(first % 4);
            }
        }
        assert_eq!(inbox.all.len(), (17..20).map(|call| call % 4).sum::<usize>());
    }
}
