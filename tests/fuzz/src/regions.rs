//! Any bytes over the first pages of a region: a job that writes into its own ring what it likes.

use mpiscope_ring::{Capacities, Identity, Reader, Writer};
use mpiscope_wire::ClockKind;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use tempfile::TempDir;

/// A page with what the process says of itself, and one with the headers of its rings.
const HEADERS_BYTES: usize = 2 * 4096;
const RINGS: u32 = 3;
const MOST_SLOTS: usize = 1 << 13;

struct Region {
    file: File,
    path: PathBuf,
    headers: Vec<u8>,
    _folder: TempDir,
}

impl Region {
    fn make() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let identity = Identity {
            pid: 1,
            made_ns: 1,
            rank: 0,
            world_size: 2,
            clock: ClockKind::Monotonic,
            cost_per_call_ns: 20.0,
            library: "Open MPI".into(),
            node: "node".into(),
            constants: [-1, -2, -1],
        };
        let capacities = Capacities { first_slots: 64, other_slots: 64, rings: RINGS };
        let writer = Writer::create(folder.path(), &identity, capacities, || None)
            .map_err(|error| io::Error::other(error.to_string()))?;
        drop(writer);
        let path = folder.path().join("1-1.ring");
        let file = File::options().read(true).write(true).open(&path)?;
        let mut headers = vec![0; HEADERS_BYTES];
        file.read_exact_at(&mut headers, 0)?;
        Ok(Self { file, path, headers, _folder: folder })
    }
}

thread_local! {
    static REGION: Option<Region> = Region::make().ok();
}

/// Any bytes as changes of a region's headers, three a byte: where (two) and what. Opened, and read as an agent reads.
///
/// # Panics
/// When there is no room for a region, or more is read than there can be.
pub fn regions(bytes: &[u8]) {
    REGION.with(|region| {
        let Some(Region { file, path, headers, .. }) = region else { panic!("no room for a region") };
        let mut changed = headers.clone();
        for change in bytes.as_chunks::<3>().0 {
            changed[usize::from(u16::from_le_bytes([change[0], change[1]])) % HEADERS_BYTES] = change[2];
        }
        let written = file.write_all_at(&changed, 0);
        assert!(written.is_ok(), "the region cannot be written");
        read(path);
    });
}

fn read(path: &std::path::Path) {
    let Ok(reader) = Reader::open(path) else { return };
    let _ = reader.identity();
    let _ = (reader.state(), reader.unrecorded_calls(), reader.is_whole());
    for ring in 0..reader.rings() {
        let _ = reader.in_flight(ring, 1000);
        let mut consumer = reader.consumer(ring, None);
        let _ = (consumer.holds(100), consumer.dropped_calls());
        let mut slots = Vec::new();
        if let Ok(count) = consumer.read(MOST_SLOTS, &mut slots) {
            assert!(count == slots.len() && count <= MOST_SLOTS);
            consumer.release();
        }
    }
}
