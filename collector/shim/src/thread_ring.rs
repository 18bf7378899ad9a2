//! The ring of a thread: where its slots go, and where it is seen which call it is in.

use crate::agent;
use crate::local::forsake;
use crate::process::{self, Process};
use mpiscope_capture::Sink;
use mpiscope_ring::{InFlightWord, Producer};
use mpiscope_wire::{Asked, Entry, Slot};

/// The ring of a thread, or none when all were taken.
pub(crate) struct Ring {
    number: usize,
    producer: Option<Producer<'static>>,
    /// The same while the program has paused recording.
    parked: Option<Producer<'static>>,
    /// How many calls were left out because of that.
    paused_calls: u64,
    /// Where it is seen which call the thread is in; nowhere, without a ring.
    in_flight: InFlightWord<'static>,
    process: &'static Process,
}

impl Ring {
    pub(crate) fn claim(process: &'static Process, thread: u64) -> Self {
        let claimed = process.writer.claim(u16::try_from(thread).unwrap_or(u16::MAX));
        let (number, mut producer) = claimed.unzip();
        if let Some(producer) = &mut producer {
            producer.set_alarm(agent::revive);
        }
        let in_flight = producer.as_ref().map_or_else(|| process.nowhere(), Producer::in_flight);
        Self {
            number: number.unwrap_or_default(),
            producer,
            parked: None,
            paused_calls: 0,
            in_flight,
            process,
        }
    }

    /// The call is over, however it was left.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        if process::is_held() { self.leave_when_held() } else { self.in_flight.leave() }
    }

    #[cold]
    #[inline(never)]
    fn leave_when_held(&mut self) {
        if !process::is_off() {
            // The program paused recording: what it calls until it resumes has no way into the ring.
            if let Some(mut producer) = self.producer.take() {
                producer.unstage();
                self.parked = Some(producer);
            }
            self.in_flight.leave();
            return;
        }
        forsake();
        if self.process.is_forked() {
            // The call forked, and this is the child: the ring is the parent's, which may still be in the call.
            (self.producer, self.parked) = (None, None);
            self.in_flight = self.process.nowhere();
        }
        self.in_flight.leave();
    }
}

impl Ring {
    /// There is no ring, or the program has paused recording, or it has just resumed it.
    #[cold]
    #[inline(never)]
    fn push_without_ring(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        if process::is_off() {
            return false;
        }
        if self.parked.is_none() {
            self.process.writer.count_unrecorded(calls);
            return false;
        }
        if process::is_held() || !self.tell_pause() {
            self.paused_calls += calls;
            return false;
        }
        self.producer = self.parked.take();
        self.producer.as_mut().is_some_and(|producer| producer.push(before, row, calls))
    }

    /// Says how many calls were left out because recording was paused; `false` when there is no room for that.
    fn tell_pause(&mut self) -> bool {
        let slot = Entry::encode_paused(self.paused_calls);
        self.parked.as_mut().is_some_and(|producer| producer.push(&[], &slot, 0))
    }
}

/// A call that is seen to be in flight while this lives.
pub(crate) struct InFlight<'a>(&'a mut Ring);

impl<'a> InFlight<'a> {
    #[inline(always)]
    pub(crate) fn enter(ring: &'a mut Ring, call: (u16, u32), start: u64, asked: Asked) -> Self {
        ring.in_flight.enter(call, start, asked);
        Self(ring)
    }
}

impl Drop for InFlight<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Sink for Ring {
    #[inline]
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        match &mut self.producer {
            Some(producer) => producer.push(before, row, calls),
            None => self.push_without_ring(before, row, calls),
        }
    }

    #[inline(always)]
    fn push_row(&mut self, row: &Slot) -> bool {
        self.producer.as_mut().is_some_and(|producer| producer.push_row(row))
    }

    #[inline(always)]
    fn stage(&mut self, slot: &Slot) -> bool {
        self.producer.as_mut().is_some_and(|producer| producer.stage(slot))
    }

    fn unstage(&mut self) -> Vec<Slot> {
        self.producer.as_mut().map(Producer::unstage).unwrap_or_default()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // In a forked child the ring is the parent's.
        if self.process.is_own() && self.parked.is_some() {
            self.tell_pause();
            self.producer = self.parked.take();
        }
        if self.producer.take().is_some() && self.process.is_own() {
            self.process.writer.give_back(self.number);
        }
    }
}
