//! The collector in a program that nobody records: it keeps quiet, or says one line, and the program does not notice.

use mpiscope_harness::{Ended, LIMIT, Mpi, Truth, collector, folder, run};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const RANKS: u32 = 4;

/// A program with the collector preloaded before whatever the family needs.
fn preloaded(mpi: &Mpi, app: &str, arguments: &[&str]) -> Command {
    let mut command = mpi.plain(RANKS, &mpi.app(app).unwrap(), arguments).unwrap();
    let mut libraries: OsString = collector().unwrap().into();
    let before = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD").and_then(|(_, value)| value);
    if let Some(before) = before {
        libraries.push(":");
        libraries.push(before);
    }
    command.env("LD_PRELOAD", libraries).env_remove("MPISCOPE_RINGS").env_remove("MPISCOPE_SPOOL");
    command
}

/// Runs it and compares with what it does by itself.
fn as_by_itself(mpi: &Mpi, app: &str, arguments: &[&str], command: &mut Command) -> Ended {
    let alone = run(&mut mpi.plain(RANKS, &mpi.app(app).unwrap(), arguments).unwrap(), LIMIT).unwrap();
    let ended = run(command, LIMIT).unwrap();
    assert_eq!(ended.status, alone.status, "{app} {}: {}", mpi.family.word(), ended.errors());
    let (truth, alone) = (Truth::parse(&ended.stdout).unwrap(), Truth::parse(&alone.stdout).unwrap());
    assert_eq!(truth.pairs, alone.pairs);
    ended
}

fn assert_one_line_a_rank(ended: &Ended) {
    let errors = ended.errors();
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("mpiscope: ")).collect();
    assert_eq!(lines.len(), RANKS as usize, "{errors}");
    assert!(lines.iter().all(|line| line.contains("without being recorded")), "{errors}");
}

fn names_in(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn rings_in(folder: &Path) -> Vec<std::path::PathBuf> {
    names_in(folder).iter().filter(|name| name.ends_with(".ring")).map(|name| folder.join(name)).collect()
}

#[test]
fn without_rings_it_is_silent() {
    for mpi in Mpi::sample_or_skip("without_daemon without_rings_it_is_silent") {
        for app in ["forms", "split", "abort"] {
            let ended = as_by_itself(&mpi, app, &[], &mut preloaded(&mpi, app, &[]));
            assert!(!ended.errors().contains("mpiscope"), "{}", ended.errors());
        }
    }
}

#[test]
fn with_a_folder_that_does_not_exist_it_says_one_line() {
    for mpi in Mpi::sample_or_skip("without_daemon with_a_folder_that_does_not_exist_it_says_one_line") {
        for app in ["forms", "threads"] {
            let mut command = preloaded(&mpi, app, &[]);
            let ended = as_by_itself(&mpi, app, &[], command.env("MPISCOPE_RINGS", "/does/not/exist"));
            assert_one_line_a_rank(&ended);
        }
    }
}

#[test]
fn with_sizes_that_make_no_sense_it_says_one_line() {
    for mpi in Mpi::sample_or_skip("without_daemon with_sizes_that_make_no_sense_it_says_one_line") {
        let folder = folder().unwrap();
        let mut command = preloaded(&mpi, "ring", &[]);
        command.env("MPISCOPE_RINGS", folder.path()).env("MPISCOPE_RING_SLOTS", "65");
        assert_one_line_a_rank(&as_by_itself(&mpi, "ring", &[], &mut command));
        assert_eq!(names_in(folder.path()), Vec::<String>::new(), "something was left behind");
    }
}

#[test]
fn rings_that_nobody_reads_fill_up_and_the_program_goes_on() {
    for mpi in Mpi::sample_or_skip("without_daemon rings_that_nobody_reads_fill_up_and_the_program_goes_on") {
        let folder = folder().unwrap();
        let arguments = ["100000"];
        let mut command = preloaded(&mpi, "million", &arguments);
        command.env("MPISCOPE_RINGS", folder.path()).env("MPISCOPE_RING_SLOTS", "64");
        let ended = as_by_itself(&mpi, "million", &arguments, &mut command);
        assert_eq!(ended.status, 0);
        assert!(!ended.errors().contains("mpiscope"), "{}", ended.errors());
        let truth = Truth::parse(&ended.stdout).unwrap();
        let rings = rings_in(folder.path());
        assert_eq!(rings.len(), RANKS as usize, "{rings:?}");
        let lost: u64 = rings.iter().map(|ring| full_ring(ring)).sum();
        // Each call takes a slot at least, so a ring of 64 has at most that many.
        assert!(lost <= truth.all_calls() && lost + 64 * u64::from(RANKS) >= truth.all_calls(), "{lost}");
    }
}

/// Checks that the ring of the first thread is full, and returns how many calls it had no room for.
fn full_ring(path: &Path) -> u64 {
    /// The header of ring 0, after the first page: how many slots were written.
    const HEAD: usize = 4096;
    /// How many calls were lost.
    const LOST: usize = HEAD + 136;
    let bytes = std::fs::read(path).unwrap();
    let number = |offset: usize| u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap());
    let head = number(HEAD);
    // A group of several slots is dropped as a whole, so the last few may stay free.
    assert!((32..=64).contains(&head), "{head} slots were written");
    number(LOST)
}

#[test]
fn a_full_folder_sends_the_ring_to_the_spool() {
    let test = "without_daemon a_full_folder_sends_the_ring_to_the_spool";
    for mpi in Mpi::sample_or_skip(test) {
        let (full, spool) = (folder().unwrap(), folder().unwrap());
        let Some(_mounted) = Mounted::tiny(full.path()) else {
            mpiscope_harness::skip(test, "no right to mount a file system");
            return;
        };
        let mut command = preloaded(&mpi, "ring", &[]);
        command.env("MPISCOPE_RINGS", full.path()).env("MPISCOPE_SPOOL", spool.path());
        let ended = as_by_itself(&mpi, "ring", &[], &mut command);
        assert!(!ended.errors().contains("mpiscope"), "{}", ended.errors());
        assert_eq!(rings_in(spool.path()).len(), RANKS as usize);
        // There an agent would rest.
        assert_eq!(names_in(full.path()), ["agent.wake"]);

        let mut command = preloaded(&mpi, "ring", &[]);
        command.env("MPISCOPE_RINGS", full.path()).env("MPISCOPE_SPOOL", full.path().join("nothing"));
        assert_one_line_a_rank(&as_by_itself(&mpi, "ring", &[], &mut command));
    }
}

#[test]
fn without_any_place_it_says_one_line() {
    for mpi in Mpi::sample_or_skip("without_daemon without_any_place_it_says_one_line") {
        let folder = folder().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "no folder").unwrap();
        let mut command = preloaded(&mpi, "abort", &[]);
        command.env("MPISCOPE_RINGS", &file).env("MPISCOPE_SPOOL", "/proc");
        let ended = as_by_itself(&mpi, "abort", &[], &mut command);
        assert_eq!(ended.status, 7);
        assert_one_line_a_rank(&ended);
    }
}

/// A file system of one megabyte, less than a ring, over a folder.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn tiny(path: &'a Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs"]).arg(path);
        run(&mut mount, LIMIT).ok().filter(|ended| ended.status == 0).map(|_| Self(path))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        run(Command::new("umount").arg(self.0), LIMIT).unwrap();
    }
}
