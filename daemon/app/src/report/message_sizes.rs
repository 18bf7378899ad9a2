//! The messages of a report by size class. Classes without messages are not listed.

use mpiscope_feed::SelectedSizes;
use mpiscope_matching::{MessageSizes, SizeTotals};
use serde::Serialize;

/// Messages of one size class.
#[derive(Serialize)]
pub(super) struct SizeClass {
    from_bytes: u64,
    /// The first size beyond the class.
    to_bytes: u64,
    messages: u64,
    bytes: u64,
}

impl SizeClass {
    fn new(class: u32, SizeTotals { messages, bytes }: SizeTotals) -> Self {
        let (from_bytes, to_bytes) = MessageSizes::sizes(class);
        Self { from_bytes, to_bytes, messages, bytes }
    }
}

/// Those of the run.
pub(super) fn of_sums(sizes: &MessageSizes) -> Vec<SizeClass> {
    sizes.classes().map(|(class, totals)| SizeClass::new(class, totals)).collect()
}

/// Those of a part of it.
pub(super) fn of_selection(sizes: &SelectedSizes) -> Vec<SizeClass> {
    let columns = sizes.class.0.iter().zip(sizes.messages.0.iter().zip(&sizes.bytes.0));
    let class = |(class, (messages, bytes)): (&u32, (&f64, &f64))| {
        SizeClass::new(*class, SizeTotals { messages: *messages as u64, bytes: *bytes as u64 })
    };
    columns.map(class).collect()
}
