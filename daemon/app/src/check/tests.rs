//! Whatever byte of a recording is wrong and whatever file is cut off or gone: the report says the same as before or says
//! that something is missing, and the check finds it.

use super::check_all;
use crate::interrupt::Interrupt;
use crate::report::Contents;
use mpiscope_synth::Spec;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn times() -> u64 {
    if std::env::var_os("MPISCOPE_FULL").is_some_and(|value| value == "1") { 3000 } else { 300 }
}

/// The figures of a report, and the sentences that say what is missing; nothing where it is refused.
fn reported(dir: &Path) -> Option<(Value, Vec<Value>)> {
    let text = Contents::read(dir).and_then(|contents| contents.json()).ok()?;
    let mut figures: Value = serde_json::from_str(&text).unwrap();
    let missing = figures["missing"].take().as_array().unwrap().clone();
    Some((figures, missing))
}

/// A sound recording, and what is reported about it.
struct Sound {
    dir: PathBuf,
    figures: Value,
    missing: Vec<Value>,
}

impl Sound {
    fn report(dir: &Path) -> Self {
        assert!(check_all(dir).unwrap().is_whole());
        let (figures, missing) = reported(dir).unwrap();
        Self { dir: dir.to_owned(), figures, missing }
    }

    fn assert_damage_is_reported(&self, what: &str) {
        if let Some((figures, missing)) = reported(&self.dir) {
            let is_reported = missing.iter().any(|sentence| !self.missing.contains(sentence));
            assert!(is_reported || figures == self.figures, "{what}: other figures, and no fault reported");
        }
        assert!(!check_all(&self.dir).is_ok_and(|found| found.is_whole()), "{what}: the check finds nothing");
    }
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    files.retain(|file| file.metadata().unwrap().len() > 0);
    files.sort();
    files
}

fn modelled(dir: &Path) -> Sound {
    let mut spec = Spec::new("halo2d".parse().unwrap(), 8, 0.2, 10_000.0);
    spec.nodes = 2;
    crate::synth::record(&spec, dir, &Interrupt::none("")).unwrap();
    Sound::report(dir)
}

#[test]
fn a_flipped_byte_anywhere_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let sound = modelled(&folder.path().join("made"));
    // The same in each run.
    let mut chance = fastrand::Rng::with_seed(1);
    let mut below = |end: usize| chance.usize(..end);
    let files = files_in(&sound.dir);
    for _ in 0..times() {
        let file = &files[below(files.len())];
        let bytes = fs::read(file).unwrap();
        let at = below(bytes.len());
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 + below(255) as u8;
        fs::write(file, damaged).unwrap();
        sound.assert_damage_is_reported(&format!("byte {at} of {}", file.display()));
        fs::write(file, bytes).unwrap();
    }
    assert!(check_all(&sound.dir).unwrap().is_whole());
}

#[test]
fn a_file_that_is_cut_off_or_gone_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let sound = modelled(&folder.path().join("made"));
    for file in files_in(&sound.dir) {
        let bytes = fs::read(&file).unwrap();
        for end in [0, bytes.len() / 3, bytes.len() - 1] {
            fs::write(&file, &bytes[..end]).unwrap();
            sound.assert_damage_is_reported(&format!("{} cut off at {end}", file.display()));
        }
        fs::remove_file(&file).unwrap();
        sound.assert_damage_is_reported(&format!("{} removed", file.display()));
        fs::write(&file, &bytes).unwrap();
    }
    assert!(check_all(&sound.dir).unwrap().is_whole());
}
