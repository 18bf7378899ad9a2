//! Messages that are probed for and then received by their number (`MPI_Mprobe`, `MPI_Mrecv`).
//!
//! The library reads these events from version 3.1 on. An earlier one counts them as unknown.

use crate::event::Event;
use crate::event_listener::listener;
use crate::handle::Handle;

/// The functions that set the callbacks, in the order in which [`register`] takes them.
pub(crate) const SETTERS: [&str; 4] = [
    "OTF2_EvtReaderCallbacks_SetMpiProbeCallback",
    "OTF2_EvtReaderCallbacks_SetMpiMrecvCallback",
    "OTF2_EvtReaderCallbacks_SetMpiImrecvRequestCallback",
    "OTF2_EvtReaderCallbacks_SetMpiImrecvCallback",
];

type OnProbe = extern "C" fn(u64, u64, u64, Handle, Handle, u32, u32, u32, u64) -> i32;
type OnNumbers = extern "C" fn(u64, u64, u64, Handle, Handle, u64, u64) -> i32;

/// Sets the callbacks that the library has.
#[expect(unsafe_code, reason = "functions of the library are called")]
pub(crate) fn register(setters: &[Option<usize>; SETTERS.len()], callbacks: Handle) {
    let [on_probe, on_receive, on_posted, on_completed] = *setters;
    if let Some(setter) = on_probe {
        // SAFETY: the library's function of this name takes callbacks of this type, and stays.
        unsafe {
            let set: unsafe extern "C" fn(Handle, OnProbe) -> i32 = std::mem::transmute(setter);
            set(callbacks, probed);
        }
    }
    let two: [(Option<usize>, OnNumbers); 3] =
        [(on_receive, received), (on_posted, posted), (on_completed, completed)];
    for (setter, callback) in two {
        if let Some(setter) = setter {
            // SAFETY: as above.
            unsafe {
                let set: unsafe extern "C" fn(Handle, OnNumbers) -> i32 = std::mem::transmute(setter);
                set(callbacks, callback);
            }
        }
    }
}

extern "C" fn probed(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    _: Handle,
    peer: u32,
    comm: u32,
    tag: u32,
    message: u64,
) -> i32 {
    listener(data).event(time, Event::Probed { peer, comm, tag, message })
}

extern "C" fn received(_: u64, time: u64, _: u64, data: Handle, _: Handle, message: u64, bytes: u64) -> i32 {
    listener(data).event(time, Event::MatchedReceive { message, bytes })
}

extern "C" fn posted(_: u64, time: u64, _: u64, data: Handle, _: Handle, message: u64, request: u64) -> i32 {
    listener(data).event(time, Event::MatchedPosted { message, request })
}

extern "C" fn completed(_: u64, time: u64, _: u64, data: Handle, _: Handle, request: u64, bytes: u64) -> i32 {
    listener(data).event(time, Event::MatchedCompleted { request, bytes })
}
