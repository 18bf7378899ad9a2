//! MPI as a program sees it: the symbols that this library stands before. Its calls are recorded.
#![expect(unsafe_code, reason = "functions of C")]

use crate::handle::Handle;
use crate::mpi::Status;
use core::ffi::{c_int, c_void};

unsafe extern "C-unwind" {
    pub(super) fn MPI_Abort(comm: Handle, errorcode: c_int) -> c_int;
    pub(super) fn MPI_Allgather(
        sendbuf: *mut c_void,
        sendcount: c_int,
        sendtype: Handle,
        recvbuf: *mut c_void,
        recvcount: c_int,
        recvtype: Handle,
        comm: Handle,
    ) -> c_int;
    pub(super) fn MPI_Allreduce(
        sendbuf: *mut c_void,
        recvbuf: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        comm: Handle,
    ) -> c_int;
    pub(super) fn MPI_Alltoall(
        sendbuf: *mut c_void,
        sendcount: c_int,
        sendtype: Handle,
        recvbuf: *mut c_void,
        recvcount: c_int,
        recvtype: Handle,
        comm: Handle,
    ) -> c_int;
    pub(super) fn MPI_Barrier(comm: Handle) -> c_int;
    pub(super) fn MPI_Bcast(
        buffer: *mut c_void,
        count: c_int,
        datatype: Handle,
        root: c_int,
        comm: Handle,
    ) -> c_int;
    pub(super) fn MPI_Finalize() -> c_int;
    pub(super) fn MPI_Recv(
        buf: *mut c_void,
        count: c_int,
        datatype: Handle,
        source: c_int,
        tag: c_int,
        comm: Handle,
        status: *mut Status,
    ) -> c_int;
    pub(super) fn MPI_Reduce(
        sendbuf: *mut c_void,
        recvbuf: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
        root: c_int,
        comm: Handle,
    ) -> c_int;
    pub(super) fn MPI_Send(
        buf: *mut c_void,
        count: c_int,
        datatype: Handle,
        dest: c_int,
        tag: c_int,
        comm: Handle,
    ) -> c_int;
}
