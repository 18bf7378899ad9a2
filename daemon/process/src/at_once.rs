//! Two things at once.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

/// Does both, at once where that is wanted: the first on another thread, unless the second is done before that has begun.
pub fn both<A: Send, B>(
    is_wanted: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if !is_wanted {
        return (first(), second());
    }
    let waiting = Mutex::new(Some(first));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    scope(|scope| {
        let thread = Builder::new().name("beside".into()).spawn_scoped(scope, || take().map(|first| first()));
        let second = second();
        if let Some(first) = take() {
            return (first(), second);
        }
        match thread.map(|thread| thread.join()) {
            Ok(Ok(Some(first))) => (first, second),
            Ok(Err(fault)) => resume_unwind(fault),
            Ok(Ok(None)) | Err(_) => unreachable!("whoever took it is that thread"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread::current;

    #[test]
    fn both_are_done_and_at_once_if_wanted() {
        let own = || current().id();
        assert_eq!(both(false, own, own), (own(), own()));
        // Neither ends unless the other has begun.
        let barrier = Barrier::new(2);
        let meet = || {
            barrier.wait();
            current().id()
        };
        let (first, second) = both(true, meet, meet);
        assert!(first != second && second == own());
    }

    #[test]
    fn a_panic_of_either_is_one_of_the_whole() {
        let fails = || -> u32 { panic!("as wanted") };
        assert!(std::panic::catch_unwind(|| both(true, fails, || 1)).is_err());
        assert!(std::panic::catch_unwind(|| both(true, || 1, fails)).is_err());
    }
}
