//! The shapes of calls: what each kind of function does around its real call. The generated symbols choose.
//!
//! Every shape has the same course: enter, look at what the call will change, make the real call between two looks at
//! the clock, say what it meant.

mod collective;
mod communicator;
mod completion;
mod message;
mod probe;
mod setup;

pub(crate) use collective::collective;
pub(crate) use communicator::{comm_free, comm_new, request_free, type_free};
pub(crate) use completion::{
    test_all, test_any, test_one, test_some, wait_all, wait_any, wait_one, wait_some,
};
pub(crate) use message::{post, receive, send, sendrecv, start_send};
pub(crate) use probe::{iprobe, probe};
pub(crate) use setup::{abort, finalize, init};
