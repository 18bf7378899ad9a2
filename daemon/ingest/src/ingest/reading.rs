//! Reads slots whose times are known: those of one process one after the other, those of several at once where there are many
//! and more than one thread is allowed.

use super::state::Ingest;
use crate::decoded::Decoded;
use crate::decoding::{Decoding, WAITING_BYTES};
use crate::process::ProcessInput;
use crate::settled::{Readable, Settled, Written};
use mpiscope_model::{Batch, Nanoseconds};
use std::sync::{Mutex, PoisonError};
use std::thread;

impl Ingest {
    /// Reads what waits for nothing any more.
    pub(super) fn read_settled(&mut self) {
        if self.settled.is_empty() {
            return;
        }
        let (mut touched, mut count) = (Vec::new(), 0);
        for Settled { agent, slots, written_until_ns } in std::mem::take(&mut self.settled) {
            for slots in slots {
                if agent != 0 {
                    self.decoded.waiting.give(slots.waiting_bytes());
                }
                let Some((index, slots)) = self.readable(agent, slots, written_until_ns) else { continue };
                let Some(process) = self.processes.by_index(index) else { continue };
                if process.unread.is_empty() {
                    touched.push(index);
                }
                count += slots.content.len();
                process.unread.push(slots);
            }
        }
        if self.threads_for(count) < 2 {
            return self.read_in_turn(&touched, count);
        }
        // What is to be known to the whole run comes first.
        let mut defines =
            |index: &usize| self.processes.by_index(*index).is_some_and(|process| process.defines());
        let (first, others): (Vec<usize>, Vec<usize>) = touched.into_iter().partition(|index| defines(index));
        self.read_in_turn(&first, 0);
        if !self.read_at_once() {
            self.read_in_turn(&others, count);
        }
    }

    /// On how many threads slots are read.
    fn threads_for(&self, slots: usize) -> usize {
        self.threads.min(slots / self.least_for_thread)
    }

    /// Reads about this number of slots, one process after the other, behind all that was read before.
    fn read_in_turn(&mut self, processes: &[usize], slots: usize) {
        let mut behind = (!self.beside.is_empty()).then(Batch::default);
        behind.iter_mut().for_each(|behind| swap_rows(&mut self.decoded.batch, behind));
        self.decoded.reserve(slots, self.wanted);
        processes.iter().for_each(|&process| self.read(process));
        behind.iter_mut().for_each(|behind| swap_rows(&mut self.decoded.batch, behind));
        self.beside.extend(behind);
    }

    /// Slots of a process that is known, and its index.
    pub(super) fn readable(
        &mut self,
        agent: u32,
        slots: Written,
        written_until_ns: Nanoseconds,
    ) -> Option<(usize, Readable)> {
        let Written { process: number, ring, from, content } = slots;
        let index = self.processes.index((agent, number));
        let Some((index, process)) = index.and_then(|index| Some((index, self.processes.by_index(index)?)))
        else {
            self.fault(None, format!("slots of process number {number}, which never said who it is"));
            self.decoded.lose_slots(content.len() as u64);
            return None;
        };
        let rank = process.rank;
        let Some(ring) = process.ring(ring, &mut self.memory) else {
            self.fault(Some(rank), format!("slots of ring {ring}, which cannot be"));
            self.decoded.lose_slots(content.len() as u64);
            return None;
        };
        Some((index, Readable { ring, from, content, written_until_ns }))
    }

    /// Reads slots of a process and what they define.
    fn read(&mut self, index: usize) {
        let Some(process) = self.processes.by_index(index) else { return };
        let mut buffer = std::mem::take(&mut self.unpacked);
        for slots in std::mem::take(&mut process.unread) {
            let Some(process) = self.processes.by_index(index) else { break };
            let Some(mut unread) = process.arrive(&slots, &mut buffer, &mut self.decoded) else { continue };
            loop {
                let with =
                    Decoding { origins: &self.origins, functions: &self.functions, wanted: self.wanted };
                let Some(process) = self.processes.by_index(index) else { break };
                let Some((definition, rest)) = process.read(&slots, unread, with, &mut self.decoded) else {
                    break;
                };
                self.define(index, definition);
                unread = rest;
            }
        }
        self.unpacked = buffer;
        if let Some(process) = self.processes.by_index(index) {
            process.finish_reading(self.wanted, &mut self.decoded);
        }
    }

    /// Reads on several threads what defines nothing, unless it is too little or there is no budget for that. What becomes known
    /// is in batches of its own, behind the one that is being made.
    fn read_at_once(&mut self) -> bool {
        let slots = self.processes.unread().map(|process| process.unread_slots()).sum();
        let threads = self.threads_for(slots);
        // Each thread may take as much as its slots could need.
        if threads < 2 || !self.decoded.waiting.borrow(slots * WAITING_BYTES) {
            return false;
        }
        let with = Decoding { origins: &self.origins, functions: &self.functions, wanted: self.wanted };
        let portions = portions(self.processes.unread(), slots.div_ceil(threads));
        for decoded in read_portions(portions, with) {
            let batch = self.decoded.add(decoded);
            self.beside.push_back(batch);
        }
        true
    }
}

/// Exchanges what became known of calls and messages, and leaves all else.
fn swap_rows(one: &mut Batch, other: &mut Batch) {
    std::mem::swap(&mut one.calls, &mut other.calls);
    std::mem::swap(&mut one.lone_polls, &mut other.lone_polls);
    std::mem::swap(&mut one.activities, &mut other.activities);
    std::mem::swap(&mut one.collected, &mut other.collected);
    std::mem::swap(&mut one.undiagnosed, &mut other.undiagnosed);
    std::mem::swap(&mut one.events, &mut other.events);
    std::mem::swap(&mut one.events_end_ns, &mut other.events_end_ns);
}

/// The processes that one thread reads, and how many slots they have.
type Portion<'a> = (Vec<&'a mut ProcessInput>, usize);

/// Divides what is to be read into portions of about this number of slots.
fn portions<'a>(unread: impl Iterator<Item = &'a mut ProcessInput>, most: usize) -> Vec<Portion<'a>> {
    let mut portions: Vec<Portion<'a>> = Vec::new();
    for process in unread {
        let slots = process.unread_slots();
        match portions.last_mut().filter(|(_, count)| *count < most) {
            Some((portion, count)) => {
                portion.push(process);
                *count += slots;
            }
            None => portions.push((vec![process], slots)),
        }
    }
    portions
}

/// Reads all portions, each on a thread of its own. Where no further thread can be had, fewer read them.
fn read_portions(portions: Vec<Portion<'_>>, with: Decoding<'_>) -> Vec<Decoded> {
    let decoded: Vec<Mutex<Option<Decoded>>> = portions.iter().map(|_| Mutex::new(None)).collect();
    let threads = portions.len();
    let queue = Mutex::new(portions.into_iter().zip(&decoded));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((portion, to)) = next() {
            let done = read_portion(portion, with);
            *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            let _ = thread::Builder::new().name("decoding".into()).spawn_scoped(scope, work);
        }
        work();
    });
    decoded
        .into_iter()
        .filter_map(|decoded| decoded.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

fn read_portion((processes, slots): Portion<'_>, with: Decoding<'_>) -> Decoded {
    let mut decoded = Decoded::within(slots * WAITING_BYTES);
    decoded.reserve(slots, with.wanted);
    let mut buffer = Vec::new();
    for process in processes {
        for slots in std::mem::take(&mut process.unread) {
            let Some(unread) = process.arrive(&slots, &mut buffer, &mut decoded) else { continue };
            // There are no definitions.
            let _ = process.read(&slots, unread, with, &mut decoded);
        }
        process.finish_reading(with.wanted, &mut decoded);
    }
    decoded
}
