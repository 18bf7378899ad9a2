//! Folds loops of failed polls: a row or a few for a million of them.

use mpiscope_wire::{Call, CallFlags, NO_COMM, PEER_NONE};

/// A row stands for no more polls than its field can count.
const MOST_POLLS: u64 = u32::MAX as u64;

/// Functions that may poll by turns in one loop.
const FUNCTIONS_MOST: usize = 4;
/// Polls of different functions are of one loop when one begins within this part of a row's longest time after the other
/// has ended, as far as that is known: a tenth of a millisecond. What lies farther apart has work in between.
const BY_TURNS_WITHIN: u64 = 1024;
/// What lies between two polls is of the loop when it is shorter than this part of a row's longest time: some ten
/// microseconds. Where it is longer, and it is known when the first of the two ended, it is the program's own.
const OF_LOOP_WITHIN: u64 = 8192;
/// Numbers that decide when polls without work in between are a stretch of their own, and after how many timed polls
/// of one function the following ones are not timed.
const STRETCH: u32 = 8;
/// The latter grows where work follows untimed polls, whose beginning is then unknown: it doubles up to this limit.
const MOST_TIMED: u32 = 4096;

/// The failed polls of one function in a loop.
#[derive(Debug, Clone, Copy, Default)]
struct PollSums {
    function: u16,
    /// Where the first was made: loops that poll in several places are still one.
    site: u32,
    count: u64,
    /// From the beginnings of its polls to those of the next ones, whichever these are, without the work in between.
    passed: u64,
    /// How long one of them takes at the most.
    took: u64,
}

/// Failed polls of a few functions, perhaps by turns, with nothing else in between.
///
/// The end of a poll does not matter while the same function polls again and again without a pause: the clock is read
/// when a poll begins. In a program that computes and polls now and then, each poll is timed, and the time between
/// polls is not polling. Rows begin with their first poll and last as long as all of them together. A stretch of polls
/// without work in between begins rows of its own, to keep its position. An untimed poll before another call counts as
/// long as others of its function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Polls {
    start: u64,
    /// When the last stretch without work in between began, how many polls it has, and what there was before it.
    stretch_start: u64,
    stretch: u32,
    before: [PollSums; FUNCTIONS_MOST],
    before_used: usize,
    /// When the last one began and ended, and which of the functions it was.
    last_start: u64,
    last_end: u64,
    last: usize,
    /// Polls of the last one's function that followed one another without work in between, and how many of them are timed
    /// before others are not.
    in_a_row: u32,
    timed: u32,
    /// The function with this number of polls: the next one need not be timed.
    steady: u16,
    /// In the order of their first polls; the rest is unused.
    asked: [PollSums; FUNCTIONS_MOST],
    used: usize,
}

impl Default for Polls {
    fn default() -> Self {
        Self {
            start: 0,
            stretch_start: 0,
            stretch: 0,
            before: Default::default(),
            before_used: 0,
            last_start: 0,
            last_end: 0,
            last: 0,
            in_a_row: 0,
            timed: STRETCH,
            steady: NONE,
            asked: Default::default(),
            used: 0,
        }
    }
}

/// The number of no function.
const NONE: u16 = u16::MAX;

/// The end of a poll that was not timed.
const NOT_TIMED: u64 = u64::MAX;

impl Polls {
    /// One more failed poll, if it is like the last one and need not be timed; `false` when nothing was done.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, function: u16, start: u64, longest: u64) -> bool {
        // Of a clock that goes back the differences are large.
        let gap = start.wrapping_sub(self.last_start);
        let goes_on = self.steady == function
            && gap < longest / OF_LOOP_WITHIN
            && start.wrapping_sub(self.start) < longest;
        if goes_on {
            let last = &mut self.asked[self.last % FUNCTIONS_MOST];
            last.passed += gap;
            last.took = last.took.min(gap);
            last.count += 1;
            (self.last_start, self.last_end) = (start, NOT_TIMED);
        }
        goes_on
    }

    /// From the beginning of the last poll until then.
    #[inline(always)]
    fn gap(&self, start: u64) -> u64 {
        start.saturating_sub(self.last_start)
    }

    /// How much of the time from the beginning of the last poll until then is of the loop.
    fn polled(&self, start: u64, longest: u64) -> u64 {
        let between = start.saturating_sub(self.last_end);
        let gap = self.gap(start);
        if between < longest / OF_LOOP_WITHIN { gap } else { gap.saturating_sub(between) }
    }

    /// Whether a call follows the last poll so soon that no work lies in between.
    fn is_near(&self, function: u16, start: u64, longest: u64) -> bool {
        let by_turns = start.saturating_sub(self.last_end) < longest / BY_TURNS_WITHIN;
        self.gap(start) < longest && (by_turns || self.asked[self.last].function == function)
    }

    fn place(&self, function: u16) -> Option<usize> {
        self.asked[..self.used].iter().position(|asked| asked.function == function)
    }

    /// One more failed poll, which was timed. Returns the folded polls when they lasted for `longest` ticks, have no
    /// space for another function, or work came after them.
    pub(crate) fn failed(
        &mut self,
        (function, site): (u16, u32),
        start: u64,
        end: u64,
        longest: u64,
    ) -> Option<Self> {
        let known = self.place(function);
        let has_room = match known {
            Some(at) => self.asked[at].count < MOST_POLLS,
            None => self.used < FUNCTIONS_MOST,
        };
        let joins = start.wrapping_sub(self.start) < longest && self.is_near(function, start, longest);
        let folded = if joins && has_room { None } else { self.take(function, start, longest) };
        if self.used == 0 {
            (self.start, self.last_start, self.last_end) = (start, start, start);
        }
        let at = known.filter(|_| self.used > 0).unwrap_or(self.used);
        let gap = self.gap(start);
        let polled = self.polled(start, longest);
        let is_stretch = polled == gap;
        let is_in_a_row = at == self.last && is_stretch;
        self.in_a_row = if is_in_a_row { self.in_a_row.saturating_add(1) } else { 0 };
        if self.last_end == NOT_TIMED && gap >= longest / OF_LOOP_WITHIN {
            // Either the poll was this long, or work followed it. The next ones decide.
            (self.in_a_row, self.timed) = (0, MOST_TIMED.min(self.timed * 2));
        }
        if at == self.used {
            self.asked[at] = PollSums { function, site, count: 0, passed: 0, took: u64::MAX };
            self.used += 1;
        }
        self.steady = if self.in_a_row >= self.timed { function } else { NONE };
        self.begin(at, start, polled);
        self.last_end = end;
        self.asked[at].took = end.saturating_sub(start);
        folded.or_else(|| self.stretched(is_stretch, start, longest))
    }

    /// A poll was made, with work before it or without. Returns what came before the stretch that it makes long enough.
    fn stretched(&mut self, goes_on: bool, start: u64, longest: u64) -> Option<Self> {
        if !goes_on {
            (self.stretch_start, self.stretch) = (start, 1);
            (self.before, self.before_used) = (self.asked, self.used);
            // The poll that was made is of the stretch.
            self.before[self.last].count -= 1;
            return None;
        }
        self.stretch = self.stretch.saturating_add(1);
        let is_long = self.stretch >= STRETCH
            || start.saturating_sub(self.stretch_start) >= longest / OF_LOOP_WITHIN * u64::from(STRETCH);
        if self.before_used == 0 || !is_long {
            return None;
        }
        let mut before = Self { asked: self.before, used: self.before_used, ..*self };
        before.keep_asked();
        for (asked, before) in self.asked.iter_mut().zip(&self.before[..self.before_used]) {
            asked.count -= before.count;
            asked.passed -= before.passed;
        }
        self.keep_asked();
        (self.start, self.before_used) = (self.stretch_start, 0);
        Some(before)
    }

    /// Leaves out functions without a poll. The last one has one.
    fn keep_asked(&mut self) {
        let last = self.asked[self.last].function;
        let mut kept = 0;
        for at in 0..self.used {
            if self.asked[at].count > 0 {
                self.asked.swap(kept, at);
                kept += 1;
            }
        }
        self.used = kept;
        self.last = self.place(last).unwrap_or_default();
    }

    #[inline(always)]
    fn begin(&mut self, at: usize, start: u64, polled: u64) {
        let gap = self.gap(start);
        let last = &mut self.asked[self.last];
        last.passed += polled;
        // It did not outlast the beginning of the next.
        last.took = last.took.min(gap);
        (self.last, self.last_start) = (at, self.last_start + gap);
        self.asked[at].count += 1;
    }

    /// Whether no loop is going on.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The loop that ended when a call began, if there was one. Where that is of the loop, as the poll that finds something,
    /// the loop has lasted until then.
    pub(crate) fn take(&mut self, function: u16, start: u64, longest: u64) -> Option<Self> {
        let (gap, polled) = (self.gap(start), self.polled(start, longest));
        let goes_on = self.place(function).is_some() && self.is_near(function, start, longest);
        let folded = self.end()?;
        let took = if goes_on { polled } else { folded.asked[folded.last].took.min(gap) };
        Some(folded.lasting(took))
    }

    /// The loop that nothing follows, if there was one.
    pub(crate) fn take_last(&mut self) -> Option<Self> {
        let folded = self.end()?;
        let took = folded.asked[folded.last].took;
        Some(folded.lasting(took))
    }

    fn end(&mut self) -> Option<Self> {
        let folded = (self.used > 0).then_some(*self);
        (self.used, self.last, self.in_a_row, self.steady) = (0, 0, 0, NONE);
        (self.before_used, self.stretch) = (0, 0);
        folded
    }

    fn lasting(mut self, took: u64) -> Self {
        self.asked[self.last].passed += took;
        self
    }

    /// A row for each function, one after the other, each with as much of the loop's time as passed with its polls.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Call> {
        let mut from = self.start;
        self.asked[..self.used].iter().map(move |asked| {
            let start = from;
            from += asked.passed;
            Call {
                flags: CallFlags::FOLDED,
                function: asked.function,
                duration: asked.passed,
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
    use super::{FUNCTIONS_MOST, Polls, STRETCH};
    use mpiscope_wire::Call;

    fn rows(folded: Option<Polls>) -> Vec<Call> {
        folded.iter().flat_map(Polls::rows).collect()
    }

    #[test]
    fn a_million_failures_are_few_rows_and_all_counted() {
        let mut polls = Polls::default();
        let mut made: Vec<_> =
            (0..1_000_000_u64).flat_map(|at| rows(polls.failed((34, 0), at, at + 1, 300_000))).collect();
        made.extend(rows(polls.take_last()));
        assert_eq!(made.len(), 4);
        assert_eq!(made.iter().map(|row| row.bytes).sum::<u64>(), 1_000_000);
        assert_eq!((made[0].start, made[0].duration), (0, 300_000));
        assert!(polls.take_last().is_none());
    }

    #[test]
    fn a_loop_that_polls_in_two_places_is_one() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 1, 2, 100).is_none());
        assert!(polls.failed((34, 6), 3, 4, 100).is_none());
        let made = rows(polls.take_last());
        assert_eq!(made.iter().map(|row| (row.site, row.bytes)).collect::<Vec<_>>(), [(5, 2)]);
    }

    #[test]
    fn functions_that_ask_by_turns_are_a_row_each_and_share_the_time_as_they_took_it() {
        let mut polls = Polls::default();
        // A turn takes ten ticks: one in the first function, three in the second, six in neither.
        let mut made: Vec<_> = (0..10_000_u64)
            .flat_map(|turn| {
                let at = 10 * turn;
                let first = rows(polls.failed((34, 5), at, at + 1, 60_000));
                first.into_iter().chain(rows(polls.failed((41, 6), at + 1, at + 4, 60_000)))
            })
            .collect();
        made.extend(rows(polls.take_last()));
        assert_eq!(made.len(), 4);
        for (function, site) in [(34, 5), (41, 6)] {
            let of = made.iter().filter(|row| row.function == function);
            assert_eq!(
                of.map(|row| (row.site, row.bytes)).fold((0, 0), |(_, sum), (site, n)| (site, sum + n)),
                (site, 10_000)
            );
        }
        assert_eq!((made[0].start, made[0].duration), (0, 6000));
        assert_eq!((made[1].start, made[1].duration), (6000, 54_000));
        for two in made.windows(2) {
            assert!(two[0].start + two[0].duration <= two[1].start, "{two:?}");
        }
        let reported: u64 = made.iter().map(|row| row.duration).sum();
        assert_eq!(reported, 100_000 - 6, "all but what lies behind the last");
    }

    #[test]
    fn more_functions_than_there_is_room_for_are_still_all_told() {
        let mut polls = Polls::default();
        let functions = FUNCTIONS_MOST as u64 + 1;
        let mut made: Vec<_> = (0..100_u64)
            .flat_map(|at| rows(polls.failed(((at % functions) as u16, 0), at, at + 1, 1000)))
            .collect();
        made.extend(rows(polls.take_last()));
        assert_eq!(made.iter().map(|row| row.bytes).sum::<u64>(), 100);
        assert_eq!(made.iter().map(|row| row.duration).sum::<u64>(), 100);
    }

    /// A row's longest time: more than 128 between two polls is work, and 1024 between those of different functions.
    const LONGEST: u64 = 1 << 20;

    /// A loop of polls, nine ticks long, every ten ticks: the next one is not timed.
    fn going_on(function: u16) -> (Polls, u64) {
        let mut polls = Polls::default();
        let most = u64::from(STRETCH);
        for at in 0..most {
            assert!(!polls.go_on(function, 10 * at, LONGEST), "the first ones are timed");
            assert!(polls.failed((function, 5), 10 * at, 10 * at + 9, LONGEST).is_none());
        }
        (polls, 10 * most)
    }

    fn lasted(made: &[Call]) -> Vec<(u16, u64, u64)> {
        made.iter().map(|row| (row.function, row.duration, row.bytes)).collect()
    }

    #[test]
    fn what_was_not_timed_ends_before_the_next_call() {
        let many = u64::from(STRETCH) + 2;
        // Another call; the poll that finds something, which the loop has led to; one that comes too late for that.
        for (function, later, lasts) in [(20, 95, 9), (20, 5, 5), (34, 95, 95), (34, LONGEST, 9)] {
            let (mut polls, at) = going_on(34);
            assert!(polls.go_on(34, at, LONGEST) && polls.go_on(34, at + 30, LONGEST));
            assert!(!polls.go_on(41, at + 31, LONGEST) && !polls.go_on(34, LONGEST, LONGEST));
            let made = rows(polls.take(function, at + 30 + later, LONGEST));
            assert_eq!(lasted(&made), [(34, at + 30 + lasts, many)]);
        }
    }

    #[test]
    fn a_first_poll_that_took_long_says_nothing_of_the_last() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 0, 500, LONGEST).is_none());
        for at in 0..u64::from(STRETCH) {
            assert!(polls.failed((34, 5), 510 + 2 * at, 511 + 2 * at, LONGEST).is_none());
        }
        let at = 510 + 2 * u64::from(STRETCH);
        assert!(polls.go_on(34, at, LONGEST));
        assert_eq!(rows(polls.take(20, at + 90, LONGEST))[0].duration, at + 1);
    }

    #[test]
    fn work_between_polls_is_no_polling() {
        let mut polls = Polls::default();
        // A poll of three ticks each thousand, and now and then two, one right after the other.
        for at in (0..100_000).step_by(1000) {
            assert!(!polls.go_on(34, at, LONGEST) && polls.failed((34, 5), at, at + 3, LONGEST).is_none());
            if at % 10_000 == 0 {
                assert!(!polls.go_on(34, at + 5, LONGEST));
                assert!(polls.failed((34, 5), at + 5, at + 8, LONGEST).is_none());
            }
        }
        // Also before the one that finds something.
        let made = rows(polls.take(34, 100_000, LONGEST));
        assert_eq!(lasted(&made), [(34, 90 * 3 + 10 * 8, 110)]);
        // Polls that take long are polling as long as they take.
        for at in (0..100_000).step_by(1000) {
            assert!(!polls.go_on(34, at, LONGEST) && polls.failed((34, 5), at, at + 990, LONGEST).is_none());
        }
        assert_eq!(lasted(&rows(polls.take_last())), [(34, 99_990, 100)]);
    }

    #[test]
    fn a_stretch_of_polls_after_work_stands_where_it_was() {
        let mut polls = Polls::default();
        for at in [0, 500] {
            assert!(polls.failed((34, 5), at, at + 3, LONGEST).is_none());
        }
        assert!(polls.failed((41, 5), 504, 510, LONGEST).is_none());
        // By turns, from 5000 on.
        let mut made = Vec::new();
        for turn in 0..100_u64 {
            let at = 5000 + 20 * turn;
            made.extend(rows(polls.failed((41, 6), at, at + 9, LONGEST)));
            made.extend(rows(polls.failed((50, 7), at + 10, at + 19, LONGEST)));
        }
        assert_eq!(lasted(&made), [(34, 3 + 4, 2), (41, 6, 1)]);
        let made = rows(polls.take_last());
        assert_eq!(lasted(&made), [(41, 1000, 100), (50, 999, 100)]);
        assert_eq!(made.iter().map(|row| row.start).collect::<Vec<_>>(), [5000, 6000]);
    }

    #[test]
    fn few_polls_that_take_long_are_a_stretch_too() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 0, 3, LONGEST).is_none());
        let made: Vec<Call> = [5000, 5510, 6020, 6530]
            .iter()
            .flat_map(|&at| rows(polls.failed((34, 5), at, at + 500, LONGEST)))
            .collect();
        assert_eq!(lasted(&made), [(34, 3, 1)]);
        let rest = rows(polls.take_last());
        assert_eq!((rest[0].start, rest[0].duration, rest[0].bytes), (5000, 2030, 4));
    }

    #[test]
    fn one_that_works_after_many_polls_has_more_of_them_timed() {
        let mut polls = Polls::default();
        // Twenty polls, and work that is known as such once all of them are timed.
        let mut reported = 0;
        for at in (0..1_000_000_u64).step_by(10_000) {
            for poll in (at..at + 200).step_by(10) {
                if !polls.go_on(34, poll, LONGEST) {
                    reported += rows(polls.failed((34, 5), poll, poll + 9, LONGEST))
                        .iter()
                        .map(|row| row.duration)
                        .sum::<u64>();
                }
            }
        }
        reported += rows(polls.take_last()).iter().map(|row| row.duration).sum::<u64>();
        assert!((19_900..19_900 + 2 * 10_000).contains(&reported), "{reported}");
    }

    #[test]
    fn functions_with_work_in_between_are_no_loop() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 0, 9, LONGEST).is_none());
        let made = rows(polls.failed((41, 6), 2000, 2010, LONGEST));
        assert_eq!(lasted(&made), [(34, 9, 1)]);
        assert!(!polls.go_on(34, 5000, LONGEST));
        let made = rows(polls.failed((34, 5), 5000, 5010, LONGEST));
        assert_eq!(lasted(&made), [(41, 10, 1)]);
        let (mut polls, at) = going_on(34);
        assert!(polls.go_on(34, at, LONGEST));
        assert!(
            polls.failed((41, 6), at + 20_000, at + 20_010, LONGEST).is_none(),
            "when the last one ended nobody knows"
        );
        let made = rows(polls.take(20, 50_000, LONGEST));
        assert_eq!(lasted(&made), [(34, at + 20_000, u64::from(STRETCH) + 1), (41, 10, 1)]);
    }

    #[test]
    fn clocks_that_go_back_do_no_harm() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 100, 90, 1000).is_none());
        assert!(polls.failed((41, 5), 95, 60, 1000).is_none_or(|folded| folded.rows().count() == 1));
        assert!(rows(polls.take_last()).iter().all(|row| row.duration == 0));
    }
}
