//! The shared memory between one process of the job and the agent of its node: rings of slots, one a thread.
//!
//! A memory-mapped file with rings: each has one writer that reserves or drops, and one reader. The shim writes, the
//! agent reads; what a slot means is not known here. The writer never waits longer than a bounded spin, a full file
//! system is an error before the first write and never a signal, counters only grow, and the reader checks everything
//! before it uses it. Unsafe code is fenced: mapping lies in `map`, reading clocks in `clock`, asking for the user in
//! `ring_folder`, sleeping and waking in `wake`, cache lines in `sync`.

#[cfg(not(loom))]
pub mod clock;
mod in_flight;
mod layout;
#[cfg(not(loom))]
mod map;
mod ring;
#[cfg(not(loom))]
mod ring_file;
mod ring_folder;
mod slot_cell;
mod sync;
#[cfg(not(loom))]
mod wake;

pub use in_flight::{InFlight, InFlightWord};
pub use layout::{Capacities, MAX_RINGS, RegionHeader, RingHeader, State};
pub use ring::{Consumer, Corrupt, Pause, Producer};
#[cfg(not(loom))]
pub use ring_file::{CreateError, Identity, OpenError, Reader, RingFile, Writer};
#[cfg(not(loom))]
pub use ring_folder::{AGENT_LOCK, AGENT_LOCK_VARIABLE, SERVED_BY_DAEMON, own_folder};
pub use slot_cell::SlotCell;
#[cfg(not(loom))]
pub use wake::{Sleeper, WAKE_FILE, Waker};
