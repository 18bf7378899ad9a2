//! Loops of polls that fail, folded: one row for a million of them.

use mpiscope_wire::{Call, CallFlags, NO_COMM, PEER_NONE};

/// A row stands for no more polls than its field can count.
const MOST_POLLS: u64 = u32::MAX as u64;

/// So many functions may ask by turns and are still one loop.
const FUNCTIONS_MOST: usize = 4;

/// The failed polls of one function in a loop.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    function: u16,
    /// Where the first was made: loops that poll in several places are still one.
    site: u32,
    count: u64,
    /// From the beginnings of its polls to those of the next ones, whichever these are.
    passed: u64,
}

/// Failed polls of a few functions, perhaps by turns, with nothing else in between.
///
/// When one ends matters to nobody while the loop goes on: the clock is looked at when a poll begins, and how long the last
/// one took is taken for as long as that took which was last timed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Polls {
    start: u64,
    /// When the last one began, which of the functions it was, and how long it took.
    last_start: u64,
    last: usize,
    last_took: u64,
    /// In the order of their first polls; the rest is unused.
    asked: [Asked; FUNCTIONS_MOST],
    used: usize,
}

impl Polls {
    /// One more poll that found nothing, if it belongs to the loop that goes on; `false` when nothing was done.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, function: u16, start: u64, longest: u64) -> bool {
        if start.wrapping_sub(self.start) >= longest {
            return false;
        }
        let mut known = self.asked[..self.used].iter().enumerate();
        let Some((at, _)) = known.find(|(_, asked)| asked.function == function && asked.count < MOST_POLLS)
        else {
            return false;
        };
        self.begin(at, start);
        true
    }

    /// One more failed poll, which was timed. Returns what was folded when that has gone on for `longest` ticks, or has no
    /// room for another function.
    #[inline]
    pub(crate) fn failed(
        &mut self,
        (function, site): (u16, u32),
        start: u64,
        end: u64,
        longest: u64,
    ) -> Option<Self> {
        let mut folded = None;
        if !self.go_on(function, start, longest) {
            let is_new = self.asked[..self.used].iter().all(|asked| asked.function != function);
            if !is_new || self.used == FUNCTIONS_MOST || start.wrapping_sub(self.start) >= longest {
                folded = self.take(start);
            }
            if self.used == 0 {
                (self.start, self.last_start) = (start, start);
            }
            self.asked[self.used] = Asked { function, site, count: 0, passed: 0 };
            self.used += 1;
            self.begin(self.used - 1, start);
        }
        self.last_took = end.saturating_sub(start);
        folded
    }

    #[inline(always)]
    fn begin(&mut self, at: usize, start: u64) {
        self.asked[self.last].passed += start.saturating_sub(self.last_start);
        (self.last, self.last_start) = (at, start);
        self.asked[at].count += 1;
    }

    /// Whether no loop is going on.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The loop that ended before the next call began, if there was one.
    #[inline]
    pub(crate) fn take(&mut self, next_start: u64) -> Option<Self> {
        if self.used == 0 {
            return None;
        }
        self.last_took = self.last_took.min(next_start.saturating_sub(self.last_start));
        let folded = *self;
        (self.used, self.last) = (0, 0);
        Some(folded)
    }

    /// A row for each function, one after the other, each with as much of the loop's time as passed with its polls.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Call> {
        let mut from = self.start;
        self.asked[..self.used].iter().enumerate().map(move |(at, asked)| {
            let took = if at == self.last { self.last_took } else { 0 };
            let duration = asked.passed + took;
            let start = from;
            from += duration;
            Call {
                flags: CallFlags::FOLDED,
                function: asked.function,
                duration,
                start,
                peer: PEER_NONE,
                comm: NO_COMM,
                site: asked.site,
                tag: 0,
                bytes: asked.count,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS_MOST, Polls};
    use mpiscope_wire::Call;

    fn rows(folded: Option<Polls>) -> Vec<Call> {
        folded.iter().flat_map(Polls::rows).collect()
    }

    #[test]
    fn a_million_failures_are_few_rows_and_all_counted() {
        let mut polls = Polls::default();
        let mut made: Vec<_> =
            (0..1_000_000_u64).flat_map(|at| rows(polls.failed((34, 0), at, at + 1, 300_000))).collect();
        made.extend(rows(polls.take(u64::MAX)));
        assert_eq!(made.len(), 4);
        assert_eq!(made.iter().map(|row| row.bytes).sum::<u64>(), 1_000_000);
        assert_eq!((made[0].start, made[0].duration), (0, 300_000));
        assert!(polls.take(u64::MAX).is_none());
    }

    #[test]
    fn a_loop_that_polls_in_two_places_is_one() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 1, 2, 100).is_none());
        assert!(polls.failed((34, 6), 3, 4, 100).is_none());
        let made = rows(polls.take(u64::MAX));
        assert_eq!(made.iter().map(|row| (row.site, row.bytes)).collect::<Vec<_>>(), [(5, 2)]);
    }

    #[test]
    fn functions_that_ask_by_turns_are_a_row_each_and_share_the_time_as_they_took_it() {
        let mut polls = Polls::default();
        // A turn takes ten ticks: one in the first function, three in the second, six in neither.
        let mut made: Vec<_> = (0..10_000_u64)
            .flat_map(|turn| {
                let at = 10 * turn;
                let first = rows(polls.failed((34, 5), at, at + 1, 30_000));
                first.into_iter().chain(rows(polls.failed((41, 6), at + 1, at + 4, 30_000)))
            })
            .collect();
        made.extend(rows(polls.take(u64::MAX)));
        assert_eq!(made.len(), 8);
        for (function, site) in [(34, 5), (41, 6)] {
            let of = made.iter().filter(|row| row.function == function);
            assert_eq!(
                of.map(|row| (row.site, row.bytes)).fold((0, 0), |(_, sum), (site, n)| (site, sum + n)),
                (site, 10_000)
            );
        }
        assert_eq!((made[0].start, made[0].duration), (0, 3000));
        assert_eq!(
            (made[1].start, made[1].duration),
            (3000, 26_994),
            "the loop goes on from the first, the row does not"
        );
        for two in made.windows(2) {
            assert!(two[0].start + two[0].duration <= two[1].start, "{two:?}");
        }
        let told: u64 = made.iter().map(|row| row.duration).sum();
        assert_eq!(told, 100_000 - 4 * 6, "all but what lay between the rows");
    }

    #[test]
    fn more_functions_than_there_is_room_for_are_still_all_told() {
        let mut polls = Polls::default();
        let functions = FUNCTIONS_MOST as u64 + 1;
        let mut made: Vec<_> = (0..100_u64)
            .flat_map(|at| rows(polls.failed(((at % functions) as u16, 0), at, at + 1, 1000)))
            .collect();
        made.extend(rows(polls.take(u64::MAX)));
        assert_eq!(made.iter().map(|row| row.bytes).sum::<u64>(), 100);
        assert_eq!(made.iter().map(|row| row.duration).sum::<u64>(), 100);
    }

    #[test]
    fn what_was_not_timed_ends_before_the_next_call() {
        for (next_start, duration) in [(1000, 39), (35, 35)] {
            let mut polls = Polls::default();
            assert!(!polls.go_on(34, 0, 100), "the first one is timed");
            assert!(polls.failed((34, 5), 0, 9, 100).is_none());
            assert!(polls.go_on(34, 10, 100) && polls.go_on(34, 30, 100));
            assert!(!polls.go_on(41, 31, 100) && !polls.go_on(34, 100, 100));
            let made = rows(polls.take(next_start));
            assert_eq!(made.iter().map(|row| (row.duration, row.bytes)).collect::<Vec<_>>(), [(duration, 3)]);
        }
    }

    #[test]
    fn clocks_that_go_back_do_no_harm() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 100, 90, 1000).is_none());
        assert!(polls.failed((41, 5), 95, 60, 1000).is_none_or(|folded| folded.rows().count() == 1));
        assert!(rows(polls.take(u64::MAX)).iter().all(|row| row.duration == 0));
    }
}
