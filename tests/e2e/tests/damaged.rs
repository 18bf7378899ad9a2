//! Damaged recordings: whatever byte is wrong, whatever file is cut or missing, the figures are the same or the fault
//! is reported. `check` finds it, and `repair` saves the rest.

use crate::support::recordings::{broken_off, files_in};
use mpiscope_harness::{
    Chance, LIMIT, Mpi, check, folder_in_memory, full_run, mpiscope, record, repair, report, run,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Without the program, its own tests do the same far more often.
fn times() -> u64 {
    if full_run() { 1500 } else { 30 }
}

/// What `report` says of a recording: its figures and what it says that is missing, or the one line of its refusal.
enum Outcome {
    Figures { figures: Value, missing: Vec<Value> },
    Refusal,
}

fn read_report(out: &Path) -> Outcome {
    let ended = run(mpiscope(&["report", "--json"]).unwrap().arg(out), LIMIT).unwrap();
    assert!(!ended.errors().contains("panicked"), "{}", ended.errors());
    if ended.status != 0 {
        assert_eq!((ended.status, ended.errors().lines().count()), (2, 1), "{}", ended.errors());
        return Outcome::Refusal;
    }
    let mut figures: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let missing = figures["missing"].take().as_array().unwrap().clone();
    Outcome::Figures { figures, missing }
}

/// A recording, and its report while nothing is wrong with it.
struct Sound {
    out: PathBuf,
    figures: Value,
    missing: Vec<Value>,
    check: Value,
}

impl Sound {
    fn new(out: &Path) -> Self {
        let Outcome::Figures { figures, missing } = read_report(out) else { panic!("no figures") };
        Self { out: out.to_owned(), figures, missing, check: check(out).unwrap().1 }
    }

    /// Nothing is different, or the report names the fault.
    fn is_as_before_or_reported(&self, what: &str) {
        if let Outcome::Figures { figures, missing } = read_report(&self.out) {
            let is_reported = missing.iter().any(|sentence| !self.missing.contains(sentence));
            assert!(
                is_reported || figures == self.figures,
                "{what}: other figures, and no report: {figures:#}\nbefore: {:#}",
                self.figures
            );
        }
    }

    /// The check finds that something is wrong.
    fn is_found(&self, what: &str) {
        let (status, found) = check(&self.out).unwrap();
        assert!(status != 0 && found != self.check, "{what}: {found:#}");
        assert!(status == 2 || found["is_whole"] == false, "{what}: {found:#}");
    }

    /// What can be saved makes a sound recording, with no more than there was.
    fn can_be_repaired(&self, what: &str) {
        let folder = folder_in_memory().unwrap();
        let new = folder.path().join("repaired");
        let ended = repair(&self.out, &new).unwrap();
        assert_eq!(ended.status, 0, "{what}: {}", ended.errors());
        let (status, found) = check(&new).unwrap();
        assert_eq!(status, 0, "{what}: {found:#}");
        let (repaired, old) = (report(&new).unwrap(), &self.figures);
        for total in ["calls", "messages", "bytes"] {
            let number = |report: &Value| report["totals"][total].as_u64().unwrap();
            assert!(number(&repaired) <= number(old), "{what}: {total}");
            if number(&repaired) < number(old) {
                assert!(!repaired["missing"].as_array().unwrap().is_empty(), "{what}: {total}");
            }
        }
    }

    /// A byte of it, as often in a small file as in a large one.
    fn any_byte(&self, chance: &mut Chance) -> (PathBuf, u64) {
        let files: Vec<PathBuf> = files_in(&self.out).into_iter().filter(|file| length(file) > 0).collect();
        let file = chance.one_of(&files).clone();
        let at = chance.below(length(&file));
        (file, at)
    }
}

fn length(file: &Path) -> u64 {
    file.metadata().unwrap().len()
}

fn whole(mpi: &Mpi, out: &Path) {
    let app = mpi.app("halo3d").unwrap();
    assert_eq!(run(&mut record(mpi, 4, &app, &["300"], out).unwrap(), LIMIT).unwrap().status, 0);
}

/// Flips bytes one after the other; each is put right again.
fn flip(sound: &Sound, test: &str, times: u64, look: impl Fn(&str, &Path)) {
    let mut chance = Chance::for_test(test);
    for turn in 0..times {
        let (file, at) = sound.any_byte(&mut chance);
        let bytes = fs::read(&file).unwrap();
        let mut damaged = bytes.clone();
        damaged[at as usize] ^= 1 + chance.below(255) as u8;
        fs::write(&file, damaged).unwrap();
        let what = format!("byte {at} of {} in turn {turn}", file.display());
        println!("{what}");
        sound.is_as_before_or_reported(&what);
        look(&what, &file);
        fs::write(&file, bytes).unwrap();
    }
}

#[test]
fn a_flipped_byte_anywhere_is_reported() {
    let test = "damaged a_flipped_byte_anywhere_is_reported";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder_in_memory().unwrap();
    let out = folder.path().join("recording");
    whole(&mpi, &out);
    let sound = Sound::new(&out);
    assert_eq!(sound.check["is_whole"], true, "{:#}", sound.check);
    // Every byte is under some checksum.
    flip(&sound, test, times(), |what, _| sound.is_found(what));
    flip(&sound, &format!("{test} and repaired"), times() / 10, |what, _| sound.can_be_repaired(what));
    assert_eq!(check(&out).unwrap().0, 0);
}

#[test]
fn so_it_is_in_one_that_was_broken_off() {
    let test = "damaged so_it_is_in_one_that_was_broken_off";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder_in_memory().unwrap();
    let out = folder.path().join("recording");
    let rings = broken_off(&mpi, &out);
    let sound = Sound::new(&out);
    assert_eq!((&sound.check["is_whole"], &sound.check["state"]), (&false.into(), &"killed".into()));
    flip(&sound, test, times() / 3, |_, _| assert!([1, 2].contains(&check(&out).unwrap().0)));
    // What is repaired takes along what lay in the rings: from then on there are the files alone.
    sound.can_be_repaired("unharmed");
    let sound = Sound::new(&out);
    flip(&sound, &format!("{test} and repaired"), times() / 15, |what, _| sound.can_be_repaired(what));
    rings.remove();
}

#[test]
fn a_truncated_or_missing_file_is_reported() {
    let test = "damaged a_truncated_or_missing_file_is_reported";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder_in_memory().unwrap();
    let out = folder.path().join("recording");
    whole(&mpi, &out);
    let sound = Sound::new(&out);
    let mut chance = Chance::for_test(test);
    for (turn, file) in files_in(&out).into_iter().enumerate() {
        let bytes = fs::read(&file).unwrap();
        let what = |how: &str| format!("{} {how}", file.display());
        for _ in 0..times() / 30 {
            let end = chance.below(bytes.len() as u64);
            fs::write(&file, &bytes[..end as usize]).unwrap();
            let what = what(&format!("cut off at {end}"));
            sound.is_as_before_or_reported(&what);
            sound.is_found(&what);
        }
        fs::remove_file(&file).unwrap();
        sound.is_as_before_or_reported(&what("removed"));
        sound.is_found(&what("removed"));
        // Repairing is as well tried with a damaged file as with one that is gone.
        let is_gone = turn % 2 == 0 || file == out.join("manifest.json");
        if is_gone || full_run() {
            sound.can_be_repaired(&what("removed"));
        }
        if !is_gone || full_run() {
            fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
            sound.can_be_repaired(&what("cut off"));
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(check(&out).unwrap().0, 0);
}

#[test]
fn names_that_lead_out_of_it_open_nothing_there() {
    let test = "damaged names_that_lead_out_of_it_open_nothing_there";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder_in_memory().unwrap();
    let (out, other) = (folder.path().join("recording"), folder.path().join("other"));
    whole(&mpi, &out);
    fs::create_dir(&other).unwrap();
    fs::copy(out.join("calls/000000.parquet"), other.join("000000.parquet")).unwrap();
    fs::write(other.join("secret"), "not yours").unwrap();
    let sound = Sound::new(&out);
    let path = out.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let other = other.to_str().unwrap();
    let segments = [
        format!("{other}/000000.parquet"),
        "../other/000000.parquet".to_owned(),
        "calls/../../other/000000.parquet".to_owned(),
        "calls/000000.parquet/.".to_owned(),
    ];
    let files =
        [format!("{other}/secret"), "../other/secret".to_owned(), "tables/../../other/secret".to_owned()];
    let renamed = |from: &str, to: &str| text.replace(&format!("\"{from}\""), &format!("\"{to}\""));
    let hostile = segments.iter().map(|name| renamed("calls/000000.parquet", name));
    for (turn, hostile) in hostile.chain(files.iter().map(|name| renamed("findings.json", name))).enumerate()
    {
        assert_ne!(hostile, text);
        fs::write(&path, hostile).unwrap();
        let what = format!("hostile name {turn}");
        sound.is_as_before_or_reported(&what);
        sound.is_found(&what);
        sound.can_be_repaired(&what);
    }
}
