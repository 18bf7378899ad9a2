//! What crosses from the job to the daemon: slots in a ring, frames in a log or on a socket, numbers of functions.
//!
//! What it is: byte layouts and pure encoders and decoders. What it is not: I/O, shared memory, meaning.
//! Who uses it: the collector writes slots, the agent wraps them in frames, ingest reads both, the recording keeps
//! them. What must hold: a layout never changes its meaning under the same version, an id is never used twice, and
//! no input, however broken, makes a decoder panic or allocate more than the input's own size; packed slots unpack to 32
//! times theirs, at the most.
#![forbid(unsafe_code)]

mod about;
mod check;
mod entry;
mod flight;
mod frame;
mod function_entry;
mod functions;
mod generated;
mod packing;
mod payload;
mod payload_coding;
mod site;
mod slot;

pub use about::{CommKind, GridPart, MOST_NAME_BYTES, NamePart};
pub use entry::{
    Call, CallFlags, CommDefinition, Entry, MAX_COMM, NO_COMM, OtherGroup, PEER_ANY, PEER_NONE, Part,
    PartFlags, Sync, calls_in, defines,
};
pub use flight::{Asked, FLIGHT_WORDS, Flight};
pub use frame::{
    DecodeFault, Decoder, FRAME_HEADER_BYTES, FrameKind, FrameRef, MAX_PAYLOAD_BYTES, WIRE_VERSION,
    encode_frame, first_frame,
};
pub use function_entry::{Family, FunctionEntry};
pub use functions::{FUNCTIONS, by_id, id};
pub use packing::PackedSlots;
pub use payload::{
    Agent, ClockKind, ClockSample, Contact, Cpus, EndState, Heard, LastCalls, Lost, Message, Origin, Packed,
    PayloadFault, Process, RoundTrip, RunEnd, RunStart, Scheduling, Skipped, Slots, Switched, Unrecorded,
};
pub use site::{MAX_SITE, MOST_PATH_BYTES, ModuleDefinition, NO_MODULE, PathPart, SiteDefinition};
pub use slot::{SLOT_BYTES, SLOT_WORDS, Slot};
