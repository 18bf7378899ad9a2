//! Call paths: which functions a call came through, recognized without unwinding the stack again.
//!
//! A path that was unwound once is known by what the call returns to, by where on the stack that is, and by all other
//! addresses that its functions return to. A call from the same place of the stack came the same way if all of them are
//! still where they were.

/// Places of a thread's cache.
const CACHED: usize = 1024;
/// Paths are cut to their innermost functions.
pub const MOST_FRAMES: usize = 128;

/// A function that is on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// What the function that it called returns to.
    pub address: u64,
    /// Where on the stack that is written.
    pub written_at: usize,
}

/// Where a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// What the call returns to.
    pub address: u64,
    /// Where on the stack the call is made.
    pub stack: usize,
}

#[derive(Debug)]
struct CachedPath {
    caller: Caller,
    number: u32,
    frames: Box<[Frame]>,
}

/// The paths that a thread took not long ago, each in the one place it can be in. It takes no memory before the first.
#[derive(Debug, Default)]
pub(crate) struct PathCache(Vec<Option<CachedPath>>);

impl PathCache {
    /// The number of the path to a call. `read` reads the stack.
    #[inline]
    pub(crate) fn get(&self, caller: Caller, read: impl Fn(usize) -> u64) -> Option<u32> {
        let known = self.0.get(place(caller))?.as_ref().filter(|known| known.caller == caller)?;
        let is_same = known.frames.iter().all(|frame| read(frame.written_at) == frame.address);
        is_same.then_some(known.number)
    }

    pub(crate) fn keep(&mut self, caller: Caller, number: u32, frames: &[Frame]) {
        if self.0.is_empty() {
            self.0.resize_with(CACHED, || None);
        }
        self.0[place(caller)] = Some(CachedPath { caller, number, frames: frames.into() });
    }
}

/// Addresses that lie close together go to different places.
fn place(caller: Caller) -> usize {
    let mixed = caller.address.rotate_left(32) ^ caller.stack as u64;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - CACHED.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_path_is_known_while_all_its_addresses_are_where_they_were() {
        let caller = Caller { address: 7, stack: 100 };
        let frames = [Frame { address: 7, written_at: 100 }, Frame { address: 9, written_at: 132 }];
        let mut stack: HashMap<usize, u64> =
            frames.iter().map(|frame| (frame.written_at, frame.address)).collect();
        let mut cache = PathCache::default();
        assert_eq!(cache.get(caller, |at| stack[&at]), None);
        cache.keep(caller, 5, &frames);
        assert_eq!(cache.get(caller, |at| stack[&at]), Some(5));
        assert_eq!(cache.get(Caller { address: 8, ..caller }, |at| stack[&at]), None);
        assert_eq!(cache.get(Caller { stack: 116, ..caller }, |at| stack[&at]), None);
        // Another function called the one that calls.
        stack.insert(132, 10);
        assert_eq!(cache.get(caller, |at| stack[&at]), None);
    }

    #[test]
    fn paths_that_share_a_place_are_kept_apart() {
        let mut cache = PathCache::default();
        let callers: Vec<_> =
            (0..10 * CACHED).map(|at| Caller { address: 64, stack: 1000 + 16 * at }).collect();
        for (number, &caller) in callers.iter().enumerate() {
            cache.keep(caller, number as u32, &[]);
        }
        let found: Vec<_> = callers.iter().map(|&caller| cache.get(caller, |_| 0)).collect();
        let is_right =
            |(number, found): (usize, &Option<u32>)| found.is_none_or(|found| found as usize == number);
        assert!(found.iter().enumerate().all(is_right));
        assert!(found.iter().flatten().count() > CACHED / 4);
    }
}
