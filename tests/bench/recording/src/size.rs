//! What of a recording takes how many bytes a call.

use anyhow::{Context as _, Result};
use mpiscope_recording::Recording;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn say(dirs: impl Iterator<Item = String>) -> Result<()> {
    for dir in dirs {
        let recording = Recording::open(Path::new(&dir))?;
        let calls = recording.manifest().totals.calls.max(1) as f64;
        let mut parts = BTreeMap::<String, u64>::new();
        for entry in std::fs::read_dir(&dir).with_context(|| format!("read {dir}"))? {
            let entry = entry?;
            let bytes =
                if entry.file_type()?.is_dir() { in_folder(&entry.path())? } else { entry.metadata()?.len() };
            parts.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
        }
        let all: u64 = parts.values().sum();
        println!(
            "{dir}: {calls} calls, {} messages, {:.2} bytes a call",
            recording.manifest().totals.messages,
            all as f64 / calls
        );
        for (name, bytes) in parts {
            println!("  {name:14} {:8.3}", bytes as f64 / calls);
        }
    }
    Ok(())
}

fn in_folder(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
