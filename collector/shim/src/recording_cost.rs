//! What recording costs the program.

use crate::clock;
use mpiscope_capture::{Interval, Process, Sink, Thread};
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_ring::{Producer, RingHeader, SlotCell};
use mpiscope_wire::{Asked, ClockKind, Slot, id};

/// A ring that nobody reads.
struct Scratch<'a>(Producer<'a>);

impl Sink for Scratch<'_> {
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        self.0.push(before, row, calls)
    }

    #[inline(always)]
    fn push_row(&mut self, row: &Slot) -> bool {
        self.0.push_row(row)
    }

    fn stage(&mut self, slot: &Slot) -> bool {
        self.0.stage(slot)
    }

    fn unstage(&mut self) -> Vec<Slot> {
        self.0.unstage()
    }

    fn begins_anew(&mut self) -> bool {
        self.0.begins_anew()
    }
}

/// What recording a call costs here, in nanoseconds, and how many ticks a nanosecond has: measured on a ring of its
/// own with the same code, the least of several rounds.
pub(crate) fn measure(clock: ClockKind) -> (f64, f64) {
    const CALLS: u64 = 512;
    let slots: Vec<SlotCell> = (0..CALLS * 2).map(|_| SlotCell::new()).collect();
    let capture = Process::default();
    let (mut least, mut ticks_per_ns) = (f64::MAX, 1.0);
    for _ in 0..8 {
        let header = RingHeader::new();
        let mut sink = Scratch(Producer::new(&header, &slots));
        let in_flight = header.in_flight_word();
        let mut thread = Thread::new(0, 0);
        let (begin_ns, begin) = (monotonic_ns(), clock::now());
        for _ in 0..CALLS {
            let start = clock::now();
            in_flight.enter((id::SEND, 0), start, Asked::Send { to: 0, tag: 0, comm: 0 });
            let end = clock::now();
            in_flight.leave();
            let call = Thread::plain(0, Interval { start, end });
            thread.commit(&capture, &mut sink, std::hint::black_box(&call));
        }
        let (ticks, nanoseconds) = (clock::now() - begin, monotonic_ns() - begin_ns);
        let each = nanoseconds as f64 / CALLS as f64;
        if each < least {
            least = each;
            ticks_per_ns = match clock {
                ClockKind::TimeStampCounter => ticks as f64 / nanoseconds.max(1) as f64,
                ClockKind::Monotonic => 1.0,
            };
        }
        sink.push(&[], &[0; 4], 1);
    }
    (least, ticks_per_ns)
}
