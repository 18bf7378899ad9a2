//! Puts events in the order of time with so much memory and no more: what is beyond it waits in a file without a
//! name.

use super::event::{EVENT_BYTES, Event};
use anyhow::{Context as _, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Events that are sorted at once: 48 MiB.
const MOST_EVENTS: usize = 1 << 20;
/// Of each sorted stretch so many are read at once.
const READ_EVENTS: usize = 1 << 10;

/// Takes events in any order.
pub(crate) struct Sorter {
    folder: PathBuf,
    most: usize,
    events: Vec<Event>,
    file: Option<File>,
    /// How many events each sorted stretch of the file has.
    stretches: Vec<u64>,
}

impl Sorter {
    /// One whose file, if it needs one, is in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self::with_room(folder, MOST_EVENTS)
    }

    pub(crate) fn with_room(folder: &Path, most: usize) -> Self {
        Self { folder: folder.to_owned(), most, events: Vec::new(), file: None, stretches: Vec::new() }
    }

    pub(crate) fn push(&mut self, event: Event) -> Result<()> {
        if self.events.len() >= self.most {
            self.spill()?;
        }
        self.events.push(event);
        Ok(())
    }

    fn sort(&mut self) {
        // Tables mostly are in order, and events of one moment stay in the order of the table.
        if !self.events.is_sorted_by_key(|event| event.timestamp_ns) {
            self.events.sort_by_key(|event| event.timestamp_ns);
        }
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let doing = || format!("sort the table in a file in {}", self.folder.display());
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder).with_context(doing)?),
        };
        for events in self.events.chunks(READ_EVENTS) {
            let bytes: Vec<u8> = events.iter().flat_map(|event| event.to_bytes()).collect();
            file.write_all(&bytes).with_context(doing)?;
        }
        self.stretches.push(self.events.len() as u64);
        self.events.clear();
        Ok(())
    }

    /// Everything, in order.
    pub(crate) fn finish(mut self) -> Result<Sorted> {
        self.sort();
        let mut from = 0;
        let mut sources: Vec<Source> = Vec::new();
        for events in self.stretches {
            sources.push(Source { waiting: Vec::new(), next: from, end: from + events });
            from += events;
        }
        // The newest events are those that never went to the file.
        self.events.reverse();
        sources.push(Source { waiting: self.events, next: 0, end: 0 });
        let mut sorted = Sorted { file: self.file, sources, heads: BinaryHeap::new() };
        for source in 0..sorted.sources.len() {
            sorted.draw(source)?;
        }
        Ok(sorted)
    }
}

/// A sorted stretch.
struct Source {
    /// Those in memory, the next one last.
    waiting: Vec<Event>,
    /// Which events of the file come then.
    next: u64,
    end: u64,
}

/// Events in the order of time.
pub(crate) struct Sorted {
    file: Option<File>,
    sources: Vec<Source>,
    /// When the next event of each stretch is. Earlier stretches are of earlier lines.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Sorted {
    /// Says when the next event of a stretch is.
    fn draw(&mut self, at: usize) -> Result<()> {
        let source = &mut self.sources[at];
        if source.waiting.is_empty() && source.next < source.end {
            let count = (source.end - source.next).min(READ_EVENTS as u64);
            let mut bytes = vec![0; count as usize * EVENT_BYTES];
            if let Some(file) = &self.file {
                let read = file.read_exact_at(&mut bytes, source.next * EVENT_BYTES as u64);
                read.context("read the sorted table")?;
            }
            source.next += count;
            source.waiting.extend(bytes.as_chunks().0.iter().rev().map(Event::from_bytes));
        }
        self.heads.extend(source.waiting.last().map(|event| Reverse((event.timestamp_ns, at))));
        Ok(())
    }
}

impl Iterator for Sorted {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        let Reverse((_, at)) = self.heads.pop()?;
        let event = self.sources[at].waiting.pop()?;
        Some(self.draw(at).map(|()| event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_lines(
            times in proptest::collection::vec(0_u64..50, 0..200), room in 1_usize..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::with_room(folder.path(), room);
            let mut events: Vec<Event> = (0_u64..).zip(times).map(|(line, timestamp_ns)| Event {
                timestamp_ns, duration_ns: u64::MAX - line, bytes: line, rank: line as u32, peer: u32::MAX,
                tag: i32::MAX, comm: 7, function: u16::MAX, sends: line % 2 == 0,
            }).collect();
            for &event in &events {
                sorter.push(event).unwrap();
            }
            let sorted: Vec<Event> = sorter.finish().unwrap().map(Result::unwrap).collect();
            events.sort_by_key(|event| event.timestamp_ns);
            prop_assert_eq!(sorted, events);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
