//! Counts the events that are not looked into.

use crate::event_listener::listener;
use crate::handle::Handle;
use crate::other_event::OtherEvent;

macro_rules! others {
    ($($event:literal = $kind:ident($($argument:ty),*);)*) => {
        /// The functions that set their callbacks; libraries of earlier releases lack some.
        pub(crate) const SETTERS: &[&str] = &[$(concat!("OTF2_EvtReaderCallbacks_Set", $event, "Callback")),*];

        /// Has all that the library knows counted; its functions are in the order of [`SETTERS`].
        #[expect(unsafe_code, reason = "functions of the library are called")]
        pub(crate) fn register(setters: &[Option<usize>], callbacks: Handle) {
            let mut setters = setters.iter();
            $({
                type Callback = extern "C" fn(u64, u64, u64, Handle, Handle $(, $argument)*) -> i32;
                extern "C" fn count_one(_: u64, _: u64, _: u64, data: Handle, _: Handle $(, _: $argument)*) -> i32 {
                    listener(data).other(OtherEvent::$kind)
                }
                if let Some(&Some(setter)) = setters.next() {
                    // SAFETY: the library's function of this name takes callbacks of this type, and stays.
                    unsafe {
                        let set: unsafe extern "C" fn(Handle, Callback) -> i32 = std::mem::transmute(setter);
                        set(callbacks, count_one);
                    }
                }
            })*
        }
    };
}

others! {
    "Unknown" = Unknown();
    "BufferFlush" = Flush(u64);
    "MeasurementOnOff" = Switch(u8);
    "OmpFork" = Threads(u32);
    "OmpJoin" = Threads();
    "OmpAcquireLock" = Threads(u32, u32);
    "OmpReleaseLock" = Threads(u32, u32);
    "OmpTaskCreate" = Threads(u64);
    "OmpTaskSwitch" = Threads(u64);
    "OmpTaskComplete" = Threads(u64);
    "Metric" = Metric(u32, u8, Handle, Handle);
    "ParameterString" = Parameter(u32, u32);
    "ParameterInt" = Parameter(u32, i64);
    "ParameterUnsignedInt" = Parameter(u32, u64);
    "RmaWinCreate" = OneSided(u32);
    "RmaWinDestroy" = OneSided(u32);
    "RmaCollectiveBegin" = OneSided();
    "RmaCollectiveEnd" = OneSided(u8, u32, u32, u32, u64, u64);
    "RmaGroupSync" = OneSided(u32, u32, u32);
    "RmaRequestLock" = OneSided(u32, u32, u64, u8);
    "RmaAcquireLock" = OneSided(u32, u32, u64, u8);
    "RmaTryLock" = OneSided(u32, u32, u64, u8);
    "RmaReleaseLock" = OneSided(u32, u32, u64);
    "RmaSync" = OneSided(u32, u32, u8);
    "RmaWaitChange" = OneSided(u32);
    "RmaPut" = OneSided(u32, u32, u64, u64);
    "RmaGet" = OneSided(u32, u32, u64, u64);
    "RmaAtomic" = OneSided(u32, u32, u8, u64, u64, u64);
    "RmaOpCompleteBlocking" = OneSided(u32, u64);
    "RmaOpCompleteNonBlocking" = OneSided(u32, u64);
    "RmaOpTest" = OneSided(u32, u64);
    "RmaOpCompleteRemote" = OneSided(u32, u64);
    "ThreadFork" = Threads(u8, u32);
    "ThreadJoin" = Threads(u8);
    "ThreadTeamBegin" = Threads(u32);
    "ThreadTeamEnd" = Threads(u32);
    "ThreadAcquireLock" = Threads(u8, u32, u32);
    "ThreadReleaseLock" = Threads(u8, u32, u32);
    "ThreadTaskCreate" = Threads(u32, u32, u32);
    "ThreadTaskSwitch" = Threads(u32, u32, u32);
    "ThreadTaskComplete" = Threads(u32, u32, u32);
    "ThreadCreate" = Threads(u32, u64);
    "ThreadBegin" = Threads(u32, u64);
    "ThreadWait" = Threads(u32, u64);
    "ThreadEnd" = Threads(u32, u64);
    "CallingContextSample" = CallPathSample(u32, u32, u32);
    "IoCreateHandle" = Files(u32, u8, u32, u32);
    "IoDestroyHandle" = Files(u32);
    "IoDuplicateHandle" = Files(u32, u32, u32);
    "IoSeek" = Files(u32, i64, u8, u64);
    "IoChangeStatusFlags" = Files(u32, u32);
    "IoDeleteFile" = Files(u8, u32);
    "IoOperationBegin" = Files(u32, u8, u32, u64, u64);
    "IoOperationTest" = Files(u32, u64);
    "IoOperationIssued" = Files(u32, u64);
    "IoOperationComplete" = Files(u32, u64, u64);
    "IoOperationCancelled" = Files(u32, u64);
    "IoAcquireLock" = Files(u32, u8);
    "IoReleaseLock" = Files(u32, u8);
    "IoTryLock" = Files(u32, u8);
}
