//! The calls of a recording, wherever they are: in segments, or in the log of one that was not completed.

use anyhow::Result;
use mpiscope_engine::load::{Trust, is_in_log, load_with};
use mpiscope_feed::{CallSource, Overview};
use mpiscope_model::{Call, Nanoseconds};
use mpiscope_page::SegmentCache;
use mpiscope_recording::Recording;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Calls that stay in memory between two looks at a recording.
const CACHE_BYTES: usize = 16 << 20;

/// All calls of a recording.
pub(crate) fn calls_of(dir: &Path) -> Result<Arc<dyn CallSource>> {
    let recording = Recording::open(dir)?;
    if is_in_log(&recording) {
        return Ok(Arc::new(LogCalls(dir.to_owned())));
    }
    let (reader, segments) = (recording.segment_reader(), recording.call_segments());
    Ok(Arc::new(SegmentCache::<Call>::from_reader(reader, segments, CACHE_BYTES)))
}

/// Reads the log again at each look.
#[derive(Debug)]
struct LogCalls(PathBuf);

impl CallSource for LogCalls {
    fn visit(&self, range_ns: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let overlaps = |call: &&Call| call.start_ns < range_ns.end && call.end_ns >= range_ns.start;
        let read = Recording::open(&self.0).map_err(anyhow::Error::from).and_then(|recording| {
            load_with(&self.0, &recording, Trust::Unchecked, Overview::default(), &mut |rows| {
                rows.calls.iter().filter(overlaps).for_each(&mut *visitor);
                Ok(())
            })
        });
        read.map(drop).map_err(|error| format!("{error:#}"))
    }
}
