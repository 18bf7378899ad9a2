//! Processes on other hosts, or on this one, that read calls: each turns the slots of some ranks into rows, counts them, and encodes
//! their segments. The daemon hands the slots out, and puts together what comes back. They have shares of the live analysis, too.

mod analysing;
mod crew;
mod folder;
mod invitations;
mod packets;
mod peers;
mod reader;
mod table;

pub(crate) use crew::{Gone, OfReader, Readers, Settled, plan};
pub(crate) use invitations::{Invitations, OnReaders};
pub(crate) use packets::{Feeding, ForWhom};
pub(crate) use reader::read_calls;
