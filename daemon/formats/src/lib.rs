//! Other tools' formats, both ways: reads OTF2 archives, DUMPI texts, PICL traces and tables of events, and writes
//! OTF2 archives, Perfetto and PICL traces, CSV and Parquet tables.
//!
//! ```text
//! import:  a file of another tool  →  the messages that the log of a real run would hold
//! export:  a recording and a filter  →  a file or folder for another tool
//! ```
//!
//! What it must never do: talk to the user, catch signals, choose where the output goes, or run the recorder. The program
//! does all of that. It shows how far the work is and gives up through [`Progress`], and it reads the log of a run that goes
//! on through [`export::LogReader`]. Memory stays bounded however long a trace is: what does not fit is sorted in a file
//! without a name.

mod external_sort;
mod limits;
mod node_name;
mod otf2_attributes;
mod picl_events;
mod progress;

pub mod export;
pub mod import;

pub use progress::Progress;
