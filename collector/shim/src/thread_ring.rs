//! The ring of a thread: where its slots go, and where it is seen which call it is in.

use crate::agent;
use crate::process::{self, Process};
use crate::thread_pointer;
use mpiscope_capture::Sink;
use mpiscope_ring::{InFlightWord, Producer};
use mpiscope_wire::{Asked, Slot};

/// The ring of a thread, or none when all were taken.
pub(crate) struct Ring {
    number: usize,
    producer: Option<Producer<'static>>,
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
        Self { number: number.unwrap_or_default(), producer, in_flight, process }
    }

    /// Whether nothing is to be written now.
    pub(crate) fn is_paused(&self) -> bool {
        self.producer.as_ref().is_some_and(Producer::is_paused)
    }

    /// The call is over, however it was left.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        if process::is_off() { self.leave_when_off() } else { self.in_flight.leave() }
    }

    #[cold]
    #[inline(never)]
    fn leave_when_off(&mut self) {
        thread_pointer::clear();
        if self.process.is_forked() {
            // The call forked, and this is the child: the ring is the parent's, which may still be in the call.
            self.producer = None;
            self.in_flight = self.process.nowhere();
        }
        self.in_flight.leave();
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
            None => {
                if !process::is_off() {
                    self.process.writer.count_unrecorded(calls);
                }
                false
            }
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

    fn begins_anew(&mut self) -> bool {
        self.producer.as_mut().is_some_and(Producer::begins_anew)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // In a forked child the ring is the parent's.
        if self.producer.take().is_some() && self.process.is_own() {
            self.process.writer.give_back(self.number);
        }
    }
}
