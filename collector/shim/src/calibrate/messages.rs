//! Messages of many sizes between two ranks, forth and back. Each rank waits in `MPI_Recv` before the other sends:
//! only the message is measured.
#![expect(unsafe_code, reason = "giving the processor away")]

use super::job::{Failed, Job};
use core::ffi::c_int;
use mpiscope_ring::clock::monotonic_ns;
use std::time::Duration;

/// Those that programs send most, and powers of two up to where only the bandwidth counts.
const SIZES: [usize; 15] = [
    8,
    64,
    200,
    512,
    1 << 10,
    2 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
];

/// Over all sizes; further ones add nothing.
const MOST_PASSES: u32 = 32;
const DATA: c_int = 1;
const TURNS: c_int = 2;
const WORD_BYTES: usize = size_of::<u64>();

/// How often a message goes forth and back in a pass.
fn turns_of(bytes: usize) -> u64 {
    match bytes {
        0..=8_192 => 16,
        8_193..=65_536 => 8,
        _ => 4,
    }
}

/// This rank and the other one.
pub(super) struct Pair<'a> {
    pub(super) job: &'a mut Job,
    pub(super) peer: u32,
    /// Before each message, to let its receiver wait first.
    pub(super) pause: Duration,
}

impl Pair<'_> {
    /// The lower rank reads the clock, and sends before each size how many turns follow; none for the end.
    pub(super) fn lead(mut self, slice: Duration) -> Result<(), Failed> {
        let (begin_ns, slice_ns) = (monotonic_ns(), slice.as_nanos() as u64);
        for pass in 0..MOST_PASSES {
            for bytes in SIZES {
                // All sizes come once, also where that takes somewhat longer.
                let until_ns = if pass == 0 { 2 * slice_ns } else { slice_ns };
                if monotonic_ns() - begin_ns > until_ns {
                    return self.say_turns(0);
                }
                let turns = turns_of(bytes);
                self.say_turns(turns)?;
                for _ in 0..turns {
                    self.send(bytes, DATA)?;
                    self.receive(bytes, DATA)?;
                }
            }
        }
        self.say_turns(0)
    }

    /// The other one answers.
    pub(super) fn follow(mut self) -> Result<(), Failed> {
        for bytes in SIZES.into_iter().cycle() {
            self.receive(WORD_BYTES, TURNS)?;
            let turns = f64::from_bits(self.job.back[0]) as u64;
            self.send(WORD_BYTES, TURNS)?;
            if turns == 0 {
                break;
            }
            for _ in 0..turns {
                self.receive(bytes, DATA)?;
                self.send(bytes, DATA)?;
            }
        }
        Ok(())
    }

    fn say_turns(&mut self, turns: u64) -> Result<(), Failed> {
        // As a number that reductions may add later.
        self.job.out[0] = (turns as f64).to_bits();
        self.send(WORD_BYTES, TURNS)?;
        // The answer carries no information: it keeps the number of messages the same both ways.
        self.receive(WORD_BYTES, TURNS)
    }

    fn send(&mut self, bytes: usize, tag: c_int) -> Result<(), Failed> {
        let until_ns = monotonic_ns() + self.pause.as_nanos() as u64;
        while monotonic_ns() < until_ns {
            // SAFETY: the call has no arguments. Where there are fewer processors than ranks, the other one has to run.
            unsafe { libc::sched_yield() };
        }
        self.job.send(bytes, self.peer, tag)
    }

    fn receive(&mut self, bytes: usize, tag: c_int) -> Result<(), Failed> {
        self.job.receive(bytes, self.peer, tag)
    }
}
