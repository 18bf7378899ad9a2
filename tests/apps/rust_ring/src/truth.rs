//! The program's own word about what it did, in the form that `tests/apps/truth.h` describes.

#[path = "../../support/truth_functions.rs"]
mod truth_functions;

use mpi::ffi;
use mpi::traits::{AsRaw as _, Communicator as _};
use std::cell::RefCell;
use std::os::raw::c_void;
use truth_functions::TRUTH_FUNCTIONS;

fn position(function: &str) -> usize {
    TRUTH_FUNCTIONS.iter().position(|name| *name == function).expect("a function that is counted")
}

/// What one rank did.
pub struct Truth {
    calls: RefCell<Vec<u64>>,
    /// What collectives moved, in bytes.
    moved: RefCell<Vec<u64>>,
    /// Messages and bytes by world rank of the destination.
    sent: RefCell<Vec<(u64, u64)>>,
}

impl Truth {
    pub fn new(ranks: usize) -> Self {
        Self {
            calls: RefCell::new(vec![0; TRUTH_FUNCTIONS.len()]),
            moved: RefCell::new(vec![0; TRUTH_FUNCTIONS.len()]),
            sent: RefCell::new(vec![(0, 0); ranks]),
        }
    }

    /// One call of a function.
    pub fn called(&self, function: &str) {
        self.calls.borrow_mut()[position(function)] += 1;
    }

    /// One call of a collective, which moves N bytes on this rank.
    pub fn moved(&self, function: &str, bytes: usize) {
        self.called(function);
        self.moved.borrow_mut()[position(function)] += bytes as u64;
    }

    /// One call of a function that sends one message.
    pub fn sent(&self, function: &str, destination: i32, bytes: usize) {
        self.called(function);
        let mut sent = self.sent.borrow_mut();
        let pair = &mut sent[usize::try_from(destination).expect("a rank")];
        *pair = (pair.0 + 1, pair.1 + bytes as u64);
    }

    /// Prints what all ranks did, from rank 0, with calls that a recording does not see. The barrier lets nobody go on
    /// before the truth is out.
    pub fn print(&self, world: &mpi::topology::SimpleCommunicator) {
        let (rank, ranks) = (world.rank(), self.sent.borrow().len());
        let mut own = [&self.calls.borrow()[..], &self.moved.borrow()[..]].concat();
        own.extend(self.sent.borrow().iter().flat_map(|pair| [pair.0, pair.1]));
        let mut all = vec![0_u64; if rank == 0 { own.len() * ranks } else { 0 }];
        // SAFETY: the buffers hold what the counts say, on the root for all ranks.
        unsafe {
            let (count, kind) = (own.len() as i32, ffi::RSMPI_UINT64_T);
            let (from, to) = (own.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
            ffi::PMPI_Gather(from, count, kind, to, count, kind, 0, world.as_raw());
        }
        if rank == 0 {
            let mut text = "mpiscope-truth 1\n".to_owned();
            for (source, counts) in all.chunks(own.len()).enumerate() {
                for (destination, pair) in counts[2 * TRUTH_FUNCTIONS.len()..].chunks(2).enumerate() {
                    if pair[0] > 0 {
                        text += &format!("pair {source} {destination} {} {}\n", pair[0], pair[1]);
                    }
                }
            }
            for (caller, counts) in all.chunks(own.len()).enumerate() {
                for (at, function) in TRUTH_FUNCTIONS.iter().enumerate() {
                    let figures = [("calls", counts[at]), ("moved", counts[TRUTH_FUNCTIONS.len() + at])];
                    for (word, figure) in figures.into_iter().filter(|(_, figure)| *figure > 0) {
                        text += &format!("{word} {caller} {function} {figure}\n");
                    }
                }
            }
            println!("{text}end");
        }
        // SAFETY: the world is a communicator.
        unsafe {
            ffi::PMPI_Barrier(world.as_raw());
        }
    }
}
