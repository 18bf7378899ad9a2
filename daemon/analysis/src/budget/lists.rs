//! Many short lists in one place, so that what has a list needs no memory of its own for it.

/// No slot.
const NONE: u32 = u32::MAX;

/// One list; what is in it lies in a [`Lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    /// The slot of its last element, whose next one is the first.
    last: u32,
    length: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { last: NONE, length: 0 };

    pub(super) fn len(self) -> usize {
        self.length as usize
    }
}

#[derive(Debug)]
struct Slot<T> {
    next: u32,
    element: T,
}

/// What is in all lists.
#[derive(Debug)]
pub(super) struct Lists<T> {
    slots: Vec<Slot<T>>,
    /// The first slot that is free, if any, and each of them the next.
    free: u32,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }
}

impl<T: Copy> Lists<T> {
    pub(super) fn push(&mut self, list: &mut List, element: T) {
        let slot = Slot { next: NONE, element };
        let at = if self.free == NONE {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        } else {
            let at = self.free;
            let free = &mut self.slots[at as usize];
            self.free = free.next;
            *free = slot;
            at
        };
        let first = if list.length == 0 {
            at
        } else {
            std::mem::replace(&mut self.slots[list.last as usize].next, at)
        };
        self.slots[at as usize].next = first;
        *list = List { last: at, length: list.length + 1 };
    }

    /// What is in a list, in the order in which it was pushed.
    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = &T> + Clone {
        let next = |at: &u32| Some(self.slots[*at as usize].next);
        let first = if list.length == 0 { None } else { next(&list.last) };
        std::iter::successors(first, next).take(list.len()).map(|at| &self.slots[at as usize].element)
    }

    /// Empties a list.
    pub(super) fn clear(&mut self, list: &mut List) {
        if list.length > 0 {
            self.free = std::mem::replace(&mut self.slots[list.last as usize].next, self.free);
        }
        *list = List::EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_give_room_back() {
        let mut lists = Lists::default();
        let [mut one, mut other] = [List::EMPTY; 2];
        for round in 0..3 {
            for number in 0..5 {
                lists.push(&mut one, number + round);
                lists.push(&mut other, -number);
            }
            let all = |list| lists.iter(list).copied().collect::<Vec<i32>>();
            assert_eq!(all(one), [0, 1, 2, 3, 4].map(|number| number + round));
            assert_eq!(all(other), [0, -1, -2, -3, -4]);
            assert_eq!((one.len(), all(List::EMPTY).len()), (5, 0));
            lists.clear(&mut one);
            lists.clear(&mut other);
            assert_eq!((one, lists.slots.len()), (List::EMPTY, 10));
        }
    }
}
