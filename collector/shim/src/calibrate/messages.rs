//! Messages of many sizes between two ranks, forth and back: each waits in `MPI_Recv` before the other sends, so that
//! what is measured is the message and nothing else.

use super::{Failed, Job, pause};
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

/// Over all sizes; more say nothing new.
const MOST_PASSES: u32 = 32;
const DATA: c_int = 1;
const TURNS: c_int = 2;

/// How often a message goes forth and back in a pass.
fn turns_of(bytes: usize) -> u64 {
    match bytes {
        0..=8_192 => 16,
        8_193..=65_536 => 8,
        _ => 4,
    }
}

/// The lower rank looks at the clock, and says before each size how many turns follow; none for the end.
pub(super) fn lead(job: &mut Job, peer: u32, slice: Duration) -> Result<(), Failed> {
    let (begin_ns, slice_ns) = (monotonic_ns(), slice.as_nanos() as u64);
    for pass in 0..MOST_PASSES {
        for bytes in SIZES {
            // All sizes come once, also where that takes somewhat longer.
            let until_ns = if pass == 0 { 2 * slice_ns } else { slice_ns };
            if monotonic_ns() - begin_ns > until_ns {
                return say_turns(job, peer, 0);
            }
            let turns = turns_of(bytes);
            say_turns(job, peer, turns)?;
            for _ in 0..turns {
                pause();
                job.send(bytes, peer, DATA)?;
                job.receive(bytes, peer, DATA)?;
            }
        }
    }
    say_turns(job, peer, 0)
}

fn say_turns(job: &mut Job, peer: u32, turns: u64) -> Result<(), Failed> {
    pause();
    // As a number that reductions may add later.
    job.out[0] = (turns as f64).to_bits();
    job.send(size_of::<u64>(), peer, TURNS)
}

/// The other one answers.
pub(super) fn follow(job: &mut Job, peer: u32) -> Result<(), Failed> {
    for bytes in SIZES.into_iter().cycle() {
        job.receive(size_of::<u64>(), peer, TURNS)?;
        let turns = f64::from_bits(job.back[0]) as u64;
        if turns == 0 {
            break;
        }
        for _ in 0..turns {
            job.receive(bytes, peer, DATA)?;
            pause();
            job.send(bytes, peer, DATA)?;
        }
    }
    Ok(())
}
