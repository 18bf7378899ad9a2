//! What is written is read, through the library of this machine; without a library the test is skipped with a message.

use crate::definitions::{Location, TreeNode};
use crate::{
    CollectiveOp, Event, GroupKind, Library, NO_ROOT, Otf2Error, Reader, RegionRole, WantedAttributes, Writer,
};
use std::collections::HashMap;
use std::path::Path;

fn library() -> Option<Library> {
    let library = Library::load().ok();
    if library.is_none() {
        eprintln!("SKIPPED: otf2: the OTF2 library is not on this machine");
    }
    library
}

fn write(library: &Library, folder: &Path) -> Result<(), Otf2Error> {
    let writer = Writer::create(library, folder, "a test")?;
    let mut counts = Vec::new();
    for location in [0, 7] {
        let mut events = writer.events(location)?;
        events.attributes().number(0, 5);
        events.attributes().string(1, 1);
        events.attributes().source(2, 3);
        events.enter(10, 4)?;
        events.collective_begin(10)?;
        events.collective_end(20, CollectiveOp::Allreduce, (0, NO_ROOT), (8, u64::MAX))?;
        events.leave(20, 4)?;
        // Attributes are of one event alone.
        events.enter(20, 5)?;
        events.send(20, 1, 0, u32::MAX, 1 << 40)?;
        events.attributes().number(0, 9);
        events.receive(30, 1, 0, 3, 0)?;
        events.leave(30, 5)?;
        counts.push(events.finish()?);
    }
    let mut definitions = writer.definitions([0, 7])?;
    definitions.clock(1_000_000_000, 0, 31, Some(77))?;
    for (number, string) in
        ["", "MPI_Allreduce", "MPI_Wait\0all", "host \"a\"", "main.c"].into_iter().enumerate()
    {
        assert_eq!(definitions.string(string)? as usize, number);
    }
    definitions.mpi(1)?;
    definitions.tree_node(0, (0, 0), None)?;
    definitions.tree_node(1, (3, 0), Some(0))?;
    definitions.process(0, 3, 1)?;
    definitions.thread(0, 3, counts[0], 0)?;
    definitions.thread(7, 3, counts[1], 0)?;
    definitions.region(4, 1, RegionRole::AllToAll)?;
    definitions.region(5, 2, RegionRole::PointToPoint)?;
    definitions.group(0, 0, GroupKind::CommLocations, &[0, 7])?;
    definitions.group(1, 0, GroupKind::CommGroup, &[1, 0])?;
    definitions.comm(0, 0, 1, None)?;
    definitions.number_attribute(0, (1, 0))?;
    definitions.string_attribute(1, (2, 0))?;
    definitions.source_attribute(2, (3, 0))?;
    definitions.source(3, 4, 12)?;
    definitions.finish()?;
    writer.finish()
}

#[test]
fn what_is_written_is_read() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(&library, folder.path()).unwrap();
    let mut reader = Reader::open(&library, &folder.path().join("traces.otf2")).unwrap();
    let found = reader.definitions().unwrap();
    assert_eq!((found.ticks_per_s, found.from, found.began_unix_ns), (1_000_000_000, 0, Some(77)));
    let region = |number: u32| found.string(found.regions[&number].name);
    assert_eq!((region(4), region(5), found.regions[&4].is_mpi), ("MPI_Allreduce", "MPI_Waitall", true));
    assert_eq!((found.groups[&1].kind, &found.groups[&1].members[..]), (GroupKind::CommGroup, &[1, 0][..]));
    assert_eq!((found.groups[&0].kind, found.comms[&0]), (GroupKind::CommLocations, 1));
    assert_eq!(found.tree_nodes[&1], TreeNode { name: 3, class: 0, parent: 0 });
    assert!(found.location_groups[&0].is_process && found.location_groups[&0].tree_node == 1);
    let seven = Location { location: 7, name: 3, is_thread: true, events: 8, group: 0 };
    assert_eq!(found.locations[1], seven);
    let number = found.attribute("MPI_Allreduce");
    let asked = WantedAttributes {
        enter_number: number,
        enter_string: found.attribute("MPI_Waitall"),
        receive_number: number,
    };
    assert_eq!((asked.enter_number, asked.enter_string), (Some(0), Some(1)));
    for location in [0, 7] {
        let mut events = Vec::new();
        reader
            .events(location, (asked, &HashMap::new()), &mut |time, event| {
                events.push((time, event));
                true
            })
            .unwrap();
        let expected = [
            (10, Event::Enter { region: 4, number: Some(5), string: Some(1) }),
            (
                20,
                Event::CollectiveEnd {
                    op: 11,
                    comm: 0,
                    root: NO_ROOT,
                    sent: 8,
                    received: u64::MAX,
                    request: None,
                },
            ),
            (20, Event::Leave { region: 4 }),
            (20, Event::Enter { region: 5, number: None, string: None }),
            (20, Event::Send { peer: 1, comm: 0, tag: u32::MAX, bytes: 1 << 40 }),
            (30, Event::Receive { peer: 1, comm: 0, tag: 3, bytes: 0, request: None, number: Some(9) }),
            (30, Event::Leave { region: 5 }),
        ];
        assert_eq!(events, expected);
    }
}

#[test]
fn whoever_has_enough_gets_no_more() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(&library, folder.path()).unwrap();
    let mut reader = Reader::open(&library, &folder.path().join("traces.otf2")).unwrap();
    reader.definitions().unwrap();
    let mut events = 0;
    reader
        .events(0, (WantedAttributes::default(), &HashMap::new()), &mut |_, _| {
            events += 1;
            events < 3
        })
        .unwrap();
    assert_eq!(events, 3);
}

#[test]
fn many_events_go_through_full_buffers() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    let count = 300_000;
    let writer = Writer::create(&library, folder.path(), "a test").unwrap();
    let mut events = writer.events(0).unwrap();
    for time in 0..count {
        events.enter(time * 1_000_003, 0).unwrap();
        events.leave(time * 1_000_003 + 7, 0).unwrap();
    }
    assert_eq!(events.finish().unwrap(), 2 * count);
    let mut definitions = writer.definitions([0]).unwrap();
    definitions.string("").unwrap();
    definitions.clock(1_000_000_000, 0, count * 1_000_003, None).unwrap();
    definitions.tree_node(0, (0, 0), None).unwrap();
    definitions.process(0, 0, 0).unwrap();
    definitions.thread(0, 0, 2 * count, 0).unwrap();
    definitions.region(0, 0, RegionRole::Function).unwrap();
    definitions.finish().unwrap();
    writer.finish().unwrap();
    let mut reader = Reader::open(&library, &folder.path().join("traces.otf2")).unwrap();
    assert_eq!(reader.definitions().unwrap().began_unix_ns, None);
    let (mut found, mut last) = (0, 0);
    reader
        .events(0, (WantedAttributes::default(), &HashMap::new()), &mut |time, _| {
            assert!(time >= last);
            (found, last) = (found + 1, time);
            true
        })
        .unwrap();
    assert_eq!((found, last), (2 * count, (count - 1) * 1_000_003 + 7));
}

#[test]
fn what_is_no_archive_is_refused_with_its_name() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    let anchor = folder.path().join("traces.otf2");
    let refused = |library: &Library| Reader::open(library, &anchor).map(|_| ()).unwrap_err().to_string();
    assert!(refused(&library).contains(&anchor.display().to_string()));
    std::fs::write(&anchor, "no anchor").unwrap();
    assert!(refused(&library).contains("no anchor file"));
    // Events that are gone.
    let whole = folder.path().join("whole");
    std::fs::create_dir(&whole).unwrap();
    write(&library, &whole).unwrap();
    std::fs::remove_file(whole.join("traces/7.evt")).unwrap();
    let anchor = whole.join("traces.otf2");
    let mut reader = Reader::open(&library, &anchor).unwrap();
    let read = reader
        .definitions()
        .and_then(|_| reader.events(7, (WantedAttributes::default(), &HashMap::new()), &mut |_, _| true));
    assert!(read.unwrap_err().to_string().contains(&anchor.display().to_string()));
}

#[test]
fn without_a_library_the_error_names_what_to_install() {
    let missing = Library::load_first_of(&["libof-nobody.so.1"]).map(|_| ()).unwrap_err().to_string();
    assert!(missing.contains("libopen-trace-format2-10") && missing.lines().count() == 1, "{missing}");
    // One that is there and is another.
    let other = Library::load_first_of(&["libc.so.6"]).map(|_| ()).unwrap_err().to_string();
    assert!(other.contains("has no OTF2_"), "{other}");
}

/// The library would look for each of the properties that a damaged anchor says it has.
#[test]
fn a_damaged_anchor_is_refused_at_once() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(&library, folder.path()).unwrap();
    let anchor = folder.path().join("traces.otf2");
    let sound = std::fs::read(&anchor).unwrap();
    let creator = sound.windows(6).position(|bytes| bytes == b"a test").unwrap();
    let count_at = (creator..).find(|&at| sound[at..].starts_with(&[0, 0, 0, 0, 0])).unwrap() + 2;
    for high in [0x0F, 0x7F] {
        let mut damaged = sound.clone();
        damaged[count_at + 3] = high;
        std::fs::write(&anchor, &damaged).unwrap();
        let error = Reader::open(&library, &anchor).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("it is damaged: it cannot have"), "{error}");
    }
    std::fs::write(&anchor, &sound).unwrap();
    Reader::open(&library, &anchor).unwrap();
}
