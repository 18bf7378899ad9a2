//! What both ways to repair a recording share.

use mpiscope_page::{self as page, LAYOUTS};
use std::path::Path;

/// Copies the layouts that are kept with a recording; says why where they cannot be.
pub(super) fn copy_layouts(dir: &Path, out: &Path) -> Option<String> {
    let copied = page::copy_layouts(&dir.join(LAYOUTS), out);
    copied.err().map(|error| format!("the layouts that were kept with the recording, in {LAYOUTS}: {error}"))
}

/// From this moment to that, for people.
pub(super) fn stretch(from_ns: u64, to_ns: u64) -> String {
    format!("between {:.3} s and {:.3} s", from_ns as f64 / 1e9, to_ns as f64 / 1e9)
}
