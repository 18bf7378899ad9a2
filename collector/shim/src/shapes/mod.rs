//! The shapes of calls: each does its work around the real call. The generated symbols choose one.
//!
//! Every shape has the same course: enter, read what the call will change, make the real call between two readings of
//! the clock, record it.

mod collective;
mod communicator;
mod completion;
mod matched;
mod message;
mod object;
mod partitioned;
mod plain;
mod probe;
mod request;
mod setup;

pub(crate) use crate::text::Text;
pub(crate) use collective::{Data, Each, EachTyped, Nothing, Same, collective, collective_init};
pub(crate) use communicator::{
    comm_free, comm_idup, comm_name, comm_new, comm_of_members, file_close, type_free, window_free,
    window_name,
};
pub(crate) use completion::{
    test_all, test_any, test_one, test_some, wait_all, wait_any, wait_one, wait_some,
};
pub(crate) use matched::{matched_post, matched_receive};
pub(crate) use message::{isendrecv, post, receive, send, sendrecv, start_send};
pub(crate) use object::{file_call, file_open, file_transfer, window_call, window_new};
pub(crate) use partitioned::{partitioned_receive_init, partitioned_send_init};
pub(crate) use plain::{pcontrol, plain, poll, session_init};
pub(crate) use probe::{improbe, iprobe, mprobe, probe};
pub(crate) use request::{receive_init, request_cancel, request_free, send_init, start_all, start_one};
pub(crate) use setup::{abort, finalize, init};
