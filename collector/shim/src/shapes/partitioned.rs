//! Partitioned messages: persistent requests whose messages match only each other.
#![expect(unsafe_code, reason = "all shapes share one signature; the pointers are the program's")]

use super::request::init;
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::Recorder;
use core::ffi::c_int;
use mpiscope_capture::Template;

/// What goes over as a whole, and over what.
fn whole<L: Language>(
    recorder: &mut Recorder,
    partitions: c_int,
    count: i64,
    datatype: Handle,
    comm: Handle,
) -> Option<(u32, u64)> {
    let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
    let bytes = bytes.saturating_mul(u64::try_from(partitions).unwrap_or_default());
    let comm = L::handle(HandleKind::Comm, comm);
    let process = recorder.process;
    let channel = recorder.with_comm(comm, |_, _, found| process.partitioned_of(comm, found))??;
    Some((channel.index, bytes))
}

#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn partitioned_send_init<L: Language>(
    function: u16,
    partitions: c_int,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe {
        init::<L>(function, comm, request, real, |recorder, _| {
            let (comm, bytes) = whole::<L>(recorder, partitions, count, datatype, comm)?;
            Some(Template::Send { comm, to, tag, bytes })
        })
    }
}

#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn partitioned_receive_init<L: Language>(
    function: u16,
    partitions: c_int,
    count: i64,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe {
        init::<L>(function, comm, request, real, |recorder, _| {
            let (comm, bytes) = whole::<L>(recorder, partitions, count, datatype, comm)?;
            let is_nobody = source == recorder.process.library.family.proc_null;
            (!is_nobody).then_some(Template::Partitioned { comm, source, tag, bytes })
        })
    }
}
