//! The shared memory between one process of the job and the agent of its node: rings of slots, one a thread.
//!
//! What it is: a file, mapped by both; per ring one writer that reserves or drops and one reader. What it is not:
//! meaning; nothing here knows what a slot says. Who uses it: the shim writes, the agent reads. What must hold: the
//! writer never waits longer than a bounded spin, a full file system is an error before the first write and never a
//! signal, counters only grow, and the reader believes nothing that it has not checked. All unsafe code of
//! mapping lies in `map`, that of reading clocks in `clock`, of asking for the user in `place`, of sleeping and
//! waking in `wake`, for a line of the cache in `sync`.

#[cfg(not(loom))]
pub mod clock;
mod in_flight;
mod layout;
#[cfg(not(loom))]
mod map;
#[cfg(not(loom))]
mod place;
#[cfg(not(loom))]
mod region;
mod ring;
mod sync;
#[cfg(not(loom))]
mod wake;

pub use in_flight::{InFlight, InFlightWord};
pub use layout::{Capacities, MAX_RINGS, RegionHeader, RingHeader, State};
#[cfg(not(loom))]
pub use place::{AGENT_LOCK, AGENT_LOCK_VARIABLE, SERVED_BY_DAEMON, own_folder};
#[cfg(not(loom))]
pub use region::{CreateError, Identity, OpenError, Reader, Region, Writer};
pub use ring::{Consumer, Corrupt, Pause, Producer, SlotCell};
#[cfg(not(loom))]
pub use wake::{Sleeper, WAKE_FILE, Waker};
