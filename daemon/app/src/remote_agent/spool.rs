//! The spool of an agent: frames on the disk of its own host until the daemon has them.
//!
//! Files named by the number of their first frame; one that is full is followed by another, which begins with the state
//! of things. An agent that takes over needs no older one. What is acknowledged is removed. Where a folder takes
//! nothing, the file goes on in the next one.

use anyhow::{Context as _, Result};
use mpiscope_agent::{Journal, Resume};
use mpiscope_link::Parcel;
use mpiscope_ring::own_folder;
use mpiscope_wire::{FrameRef, Message, Packed, Slots, first_frame};
use rustix::fs::MemfdFlags;
use std::collections::VecDeque;
use std::fs::{DirEntry, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that has grown to this is followed by another.
const FILE_BYTES: u64 = 8 << 20;
/// So much may wait for a disk that takes nothing before no more is taken from the rings.
const WAITING_BYTES: usize = 8 << 20;
/// A folder that stands in for the first may be in memory: so much of it may be in use.
const MOST_BYTES_ELSEWHERE: u64 = 32 << 20;

#[derive(Clone)]
struct Piece {
    path: PathBuf,
    file: Arc<File>,
    /// The number of its first frame.
    first: u64,
    frames: u64,
    bytes: u64,
}

/// Where the last parcel ended: the next begins there.
#[derive(Clone, Copy)]
struct Cursor {
    number: u64,
    piece: u64,
    offset: u64,
}

struct Inner {
    /// The first is used while it takes anything.
    folders: Vec<PathBuf>,
    pieces: VecDeque<Piece>,
    waiting: Vec<u8>,
    waiting_frames: u64,
    acknowledged: u64,
    cursor: Option<Cursor>,
    wants_checkpoint: bool,
    limit_bytes: u64,
}

/// Shared by the thread that writes and the one that brings.
#[derive(Clone)]
pub(crate) struct Spool(Arc<Mutex<Inner>>);

impl Spool {
    /// Opens the spool in these folders, an empty or an older one, and says where the older one stopped.
    pub(crate) fn open(folders: &[PathBuf], limit_bytes: u64) -> Result<(Self, Resume)> {
        let mut found = Vec::new();
        for folder in folders {
            found.extend(files_in(folder)?);
        }
        // What a full folder holds of a file has the number of the whole one in the next folder, and comes first.
        found.sort_by_key(|(first, _)| *first);
        let (mut pieces, mut resume) = (VecDeque::new(), Resume::default());
        for (first, path) in found {
            pieces.push_back(reopen(first, path, &mut resume)?);
        }
        if pieces.is_empty() {
            pieces.push_back(begin_in_first(folders, 0)?);
        }
        let inner = Inner {
            folders: folders.to_vec(),
            acknowledged: pieces[0].first,
            pieces,
            waiting: Vec::new(),
            waiting_frames: 0,
            cursor: None,
            wants_checkpoint: false,
            limit_bytes,
        };
        Ok((Self(Arc::new(Mutex::new(inner))), resume))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole frames from this number on, or from the oldest that is left.
    pub(crate) fn take(&self, from: u64, most_bytes: usize) -> std::io::Result<Option<Parcel>> {
        // Read without the lock, which whoever reads the rings needs for every frame; a file that is removed meanwhile can
        // still be read.
        let (piece, from, cursor) = {
            let inner = self.inner();
            let from = from.max(inner.pieces.front().map_or(0, |piece| piece.first));
            let holds = |piece: &&Piece| from >= piece.first && from < piece.first + piece.frames;
            let Some(piece) = inner.pieces.iter().find(holds) else { return Ok(None) };
            (piece.clone(), from, inner.cursor)
        };
        let offset = match cursor {
            Some(cursor) if cursor.number == from && cursor.piece == piece.first => cursor.offset,
            _ => offset_of(&piece, from)?,
        };
        let mut bytes = read(&piece, offset, most_bytes)?;
        let (mut frames, mut used) = whole_frames(&bytes);
        if frames == 0 {
            // One frame that is longer than a parcel should be.
            bytes =
                read(&piece, offset, mpiscope_wire::MAX_PAYLOAD_BYTES + mpiscope_wire::FRAME_HEADER_BYTES)?;
            (frames, used) = whole_frames_up_to(&bytes, 1);
        }
        bytes.truncate(used);
        let number = from + u64::from(frames);
        self.inner().cursor = Some(Cursor { number, piece: piece.first, offset: offset + used as u64 });
        Ok(Some(Parcel { first: from, frames, bytes }))
    }

    /// The daemon has all frames before this number.
    pub(crate) fn acknowledged(&self, next: u64) {
        self.inner().acknowledge(next);
    }

    /// The number of the next frame, of those that are safe.
    pub(crate) fn next(&self) -> u64 {
        self.inner().next()
    }

    /// Whether everything that was sent is in a file.
    pub(crate) fn is_settled(&self) -> bool {
        self.inner().waiting.is_empty()
    }

    /// No folder takes anything, and the ranks are over: what is left is kept in memory. It goes with this process.
    pub(crate) fn keep_in_memory(&self) -> Result<()> {
        let mut inner = self.inner();
        let file = rustix::fs::memfd_create("mpiscope-spool", MemfdFlags::CLOEXEC)?;
        let first = inner.next();
        let (path, file) = (PathBuf::new(), Arc::new(File::from(file)));
        inner.pieces.push_back(Piece { path, file, first, frames: 0, bytes: 0 });
        Ok(())
    }
}

/// It is never synced: when its host goes down the ranks on it do too; what they did last is not worth a slow disk.
impl Journal for Spool {
    fn write(&mut self, frame: &[u8]) -> Result<()> {
        let mut inner = self.inner();
        inner.waiting.extend_from_slice(frame);
        inner.waiting_frames += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner().flush()
    }

    fn is_safe(&self) -> bool {
        self.is_settled()
    }

    fn has_room(&self) -> bool {
        let inner = self.inner();
        let kept = |is_counted: &dyn Fn(&Piece) -> bool| -> u64 {
            inner.pieces.iter().filter(|piece| is_counted(piece)).map(|piece| piece.bytes).sum()
        };
        inner.waiting.len() < WAITING_BYTES
            && kept(&|_| true) < inner.limit_bytes
            && kept(&|piece| inner.is_elsewhere(piece)) < MOST_BYTES_ELSEWHERE
    }

    fn wants_checkpoint(&mut self) -> bool {
        std::mem::take(&mut self.inner().wants_checkpoint)
    }
}

impl Inner {
    fn next(&self) -> u64 {
        self.pieces.back().map_or(0, |last| last.first + last.frames)
    }

    fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let last = self.pieces.back().context("the spool has no file")?;
        if let Err(error) = last.file.write_all_at(&self.waiting, last.bytes) {
            // Half a frame at its end would be in the way of the next try only if that is shorter; it is not.
            let failed = format!("write {}: {error}", last.path.display());
            let piece = self.write_elsewhere().context(failed)?;
            self.pieces.push_back(piece);
        }
        let last = self.pieces.back_mut().context("the spool has no file")?;
        last.bytes += self.waiting.len() as u64;
        last.frames += self.waiting_frames;
        self.waiting.clear();
        self.waiting_frames = 0;
        // Several files fit into the smallest limit: one can always go.
        if last.bytes >= FILE_BYTES.min(self.limit_bytes / 4) {
            let next = self.next();
            // Without a further file the one that is there grows on.
            self.pieces.push_back(begin_in_first(&self.folders, next)?);
            self.wants_checkpoint = true;
        }
        Ok(())
    }

    /// A further file with what waits, in the first of the other folders that takes it.
    fn write_elsewhere(&self) -> Result<Piece> {
        let last = self.pieces.back().and_then(|piece| piece.path.parent());
        let mut fault = anyhow::anyhow!("there is no other folder");
        for folder in self.folders.iter().filter(|folder| Some(folder.as_path()) != last) {
            match begin(folder, self.next()) {
                Ok(piece) => match piece.file.write_all_at(&self.waiting, 0) {
                    Ok(()) => return Ok(piece),
                    Err(error) => {
                        // What it holds of the file would be taken for all of it.
                        let _ = std::fs::remove_file(&piece.path);
                        fault = error.into();
                    }
                },
                Err(error) => fault = error,
            }
        }
        Err(fault)
    }

    fn is_elsewhere(&self, piece: &Piece) -> bool {
        self.folders.iter().skip(1).any(|folder| piece.path.starts_with(folder))
    }

    fn acknowledge(&mut self, next: u64) {
        self.acknowledged = self.acknowledged.max(next);
        // The newest that holds anything stays: an agent that takes over begins with it.
        while self.pieces.len() > 1
            && self.pieces[1].frames > 0
            && self.pieces[0].first + self.pieces[0].frames <= self.acknowledged
            && let Some(done) = self.pieces.pop_front()
        {
            // One that cannot be removed goes with the folder.
            let _ = std::fs::remove_file(&done.path);
        }
    }
}

/// The files in a folder, in no order, with the numbers of their first frames.
fn files_in(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        // What a predecessor has there must not be passed over.
        entries => entries.with_context(|| format!("read {}", folder.display()))?,
    };
    let file = |entry: DirEntry| {
        Some((entry.file_name().to_str()?.strip_suffix(".spool")?.parse().ok()?, entry.path()))
    };
    Ok(entries.flatten().filter_map(file).collect())
}

fn begin_in_first(folders: &[PathBuf], first: u64) -> Result<Piece> {
    let mut fault = anyhow::anyhow!("there is no folder for the spool");
    for folder in folders {
        match begin(folder, first) {
            Ok(piece) => return Ok(piece),
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

fn begin(folder: &Path, first: u64) -> Result<Piece> {
    own_folder(folder).with_context(|| format!("{} is not used", folder.display()))?;
    let path = folder.join(format!("{first:020}.spool"));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("make {}", path.display()))?;
    Ok(Piece { path, file: Arc::new(file), first, frames: 0, bytes: 0 })
}

/// Takes up a file of a predecessor: counts its frames, cuts what is torn off its end, learns what it says.
fn reopen(first: u64, path: PathBuf, resume: &mut Resume) -> Result<Piece> {
    let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
    let (mut frames, mut used) = (0, 0);
    walk(&bytes, |frame| {
        frames += 1;
        used += frame.bytes.len();
        if let Ok(message) = Message::decode(frame.kind, frame.payload) {
            learn(&message, resume);
        }
        true
    });
    // Where it cannot be changed, what follows goes elsewhere.
    let file = match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => file.set_len(used as u64).map(|()| file)?,
        Err(_) => File::open(&path)?,
    };
    Ok(Piece { path, file: Arc::new(file), first, frames, bytes: used as u64 })
}

fn learn(message: &Message, resume: &mut Resume) {
    match message {
        Message::Process(process) => {
            resume.processes.insert((process.pid, process.made_ns), process.process);
            resume.census.count(process);
        }
        Message::Slots(Slots { process, ring, from, .. })
        | Message::Packed(Packed { process, ring, from, .. }) => {
            let until = from.saturating_add(message.slot_count() as u64);
            resume.positions.insert((*process, *ring), until);
        }
        Message::Skipped(skipped) => {
            resume.positions.insert((skipped.process, skipped.ring), skipped.to);
        }
        _ => {}
    }
}

/// Shows frames in order until one is not wanted, or what follows is none.
fn walk(mut bytes: &[u8], mut wanted: impl FnMut(FrameRef<'_>) -> bool) {
    while let Ok(Some(frame)) = first_frame(bytes)
        && wanted(frame)
    {
        bytes = &bytes[frame.bytes.len()..];
    }
}

/// How many whole frames there are, and their bytes.
fn whole_frames(bytes: &[u8]) -> (u32, usize) {
    whole_frames_up_to(bytes, u32::MAX)
}

fn whole_frames_up_to(bytes: &[u8], most: u32) -> (u32, usize) {
    let (mut frames, mut used) = (0, 0);
    walk(bytes, |frame| {
        frames += 1;
        used += frame.bytes.len();
        frames < most
    });
    (frames, used)
}

fn offset_of(piece: &Piece, number: u64) -> std::io::Result<u64> {
    if number == piece.first {
        return Ok(0);
    }
    let bytes = read(piece, 0, usize::MAX)?;
    let skip = u32::try_from(number - piece.first).unwrap_or(u32::MAX);
    Ok(whole_frames_up_to(&bytes, skip).1 as u64)
}

fn read(piece: &Piece, offset: u64, most_bytes: usize) -> std::io::Result<Vec<u8>> {
    let left = piece.bytes.saturating_sub(offset);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(most_bytes)];
    piece.file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{ClockKind, ClockSample, Process};

    fn sample_frame(number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        Message::ClockSample(ClockSample { ticks: number, monotonic_ns: number }).encode(&mut bytes);
        bytes
    }

    fn numbers(parcel: &Parcel) -> Vec<u64> {
        let mut found = Vec::new();
        walk(&parcel.bytes, |frame| {
            let Ok(Message::ClockSample(sample)) = Message::decode(frame.kind, frame.payload) else {
                panic!()
            };
            found.push(sample.ticks);
            true
        });
        assert_eq!(found.len(), parcel.frames as usize);
        found
    }

    #[test]
    fn frames_come_back_in_order_from_any_number() {
        let folder = tempfile::tempdir().unwrap();
        let (mut spool, _) = Spool::open(&[folder.path().into()], 1 << 30).unwrap();
        for number in 0..100 {
            spool.write(&sample_frame(number)).unwrap();
        }
        assert!(spool.take(0, 1000).unwrap().is_none(), "not safe yet");
        assert!(!spool.is_safe());
        spool.flush().unwrap();
        assert!(spool.is_safe());
        let mut all = Vec::new();
        while let Some(parcel) = spool.take(all.len() as u64, 100).unwrap() {
            assert_eq!(parcel.first, all.len() as u64);
            all.extend(numbers(&parcel));
        }
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(numbers(&spool.take(70, 70).unwrap().unwrap()), [70, 71]);
        // Shorter than a single frame: that one all the same.
        assert_eq!(numbers(&spool.take(71, 7).unwrap().unwrap()), [71]);
        spool.acknowledged(100);
        assert_eq!(spool.next(), 100);
    }

    #[test]
    fn a_successor_goes_on_where_the_first_stopped_and_old_files_go() {
        let folder = tempfile::tempdir().unwrap();
        let process = Process {
            process: 3,
            pid: 10,
            made_ns: 20,
            rank: 5,
            world_size: 8,
            clock: ClockKind::Monotonic,
            cost_per_call_ns: 1.0,
            library: "MPI".into(),
            node: "n".into(),
        };
        let mut encoded = Vec::new();
        let put = |spool: &mut Spool, encoded: &mut Vec<u8>, message: Message| {
            encoded.clear();
            message.encode(encoded);
            spool.write(encoded).unwrap();
        };
        let (mut spool, resume) = Spool::open(&[folder.path().into()], 1 << 30).unwrap();
        assert!(resume.processes.is_empty());
        let (mut from, mut count) = (0, 0);
        for _ in 0..3 {
            put(&mut spool, &mut encoded, Message::Process(process.clone()));
            count += 1;
            while !spool.wants_checkpoint() {
                let slots = vec![[7; 4]; 8192];
                put(&mut spool, &mut encoded, Message::Slots(Slots { process: 3, ring: 1, from, slots }));
                let packed = Message::of_slots(3, 1, from + 8192, &[[7; 4]; 100]);
                assert!(matches!(packed, Message::Packed(_)));
                put(&mut spool, &mut encoded, packed);
                (from, count) = (from + 8292, count + 2);
                spool.flush().unwrap();
            }
        }
        assert_eq!(spool.next(), count);
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files(), 4);
        spool.acknowledged(count);
        assert_eq!(files(), 2, "the last that holds anything stays, and the new one");
        drop(spool);
        // It was killed in the middle of a frame.
        let last = folder.path().join(format!("{count:020}.spool"));
        std::fs::write(&last, &sample_frame(1)[..20]).unwrap();
        let (spool, resume) = Spool::open(&[folder.path().into()], 1 << 30).unwrap();
        assert_eq!(spool.next(), count);
        assert_eq!(resume.processes[&(10, 20)], 3);
        assert_eq!(resume.positions[&(3, 1)], from);
        assert_eq!((resume.census.ranks.len(), resume.census.world_size), (1, 8));
    }

    #[test]
    fn what_a_folder_does_not_take_goes_to_the_next_and_at_last_to_memory() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [first.path().to_owned(), second.path().join("spool")];
        let (mut spool, _) = Spool::open(&folders, 1 << 30).unwrap();
        let put = |spool: &mut Spool, numbers: std::ops::Range<u64>| {
            numbers.for_each(|number| spool.write(&sample_frame(number)).unwrap());
            spool.flush()
        };
        // A file that is open for reading takes as little as a full disk.
        let close = |spool: &Spool| {
            let mut inner = spool.inner();
            let last = inner.pieces.back_mut().unwrap();
            last.file = Arc::new(File::open(&last.path).unwrap());
        };
        put(&mut spool, 0..3).unwrap();
        close(&spool);
        put(&mut spool, 3..5).unwrap();
        assert_eq!(files_in(&folders[1]).unwrap().len(), 1);
        assert_eq!(Spool::open(&folders, 1 << 30).unwrap().0.next(), 5, "a successor finds both");
        close(&spool);
        std::fs::remove_dir_all(&folders[0]).unwrap();
        std::fs::write(&folders[0], "no folder").unwrap();
        assert!(put(&mut spool, 5..6).is_err() && !spool.is_safe());
        spool.keep_in_memory().unwrap();
        put(&mut spool, 6..7).unwrap();
        let mut all = Vec::new();
        while let Some(parcel) = spool.take(all.len() as u64, 1000).unwrap() {
            all.extend(numbers(&parcel));
        }
        assert_eq!(all, (0..7).collect::<Vec<_>>());
        // Where there is no first folder at all the next one serves.
        let (mut spool, _) = Spool::open(&folders, 1 << 30).unwrap();
        put(&mut spool, 5..6).unwrap();
        assert!(spool.is_safe());
    }

    #[test]
    fn a_full_spool_takes_no_more_until_some_was_brought() {
        let folder = tempfile::tempdir().unwrap();
        let (mut spool, _) = Spool::open(&[folder.path().into()], FILE_BYTES).unwrap();
        let mut frame = Vec::new();
        Message::Slots(Slots { process: 0, ring: 0, from: 0, slots: vec![[1; 4]; 1 << 15] })
            .encode(&mut frame);
        while spool.has_room() {
            spool.write(&frame).unwrap();
            spool.flush().unwrap();
        }
        assert!(spool.wants_checkpoint());
        spool.write(&sample_frame(0)).unwrap();
        spool.flush().unwrap();
        spool.acknowledged(spool.next());
        assert!(spool.has_room());
    }
}
