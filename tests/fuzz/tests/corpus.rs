//! Inputs that once mattered, and some that lead far: they stay harmless.

#![allow(clippy::print_stdout, reason = "a test that fails shows it")]

use std::path::{Path, PathBuf};

fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |path: PathBuf| std::fs::read(&path).map(|bytes| (path, bytes));
    entries
        .map(|entry| entry.and_then(|entry| read(entry.path())))
        .collect::<Result<_, _>>()
        .expect("readable")
}

/// Names the input that was too much before it stops.
fn harmless(target: &str, reads: fn(&[u8])) {
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "no inputs for {target}");
    for (path, bytes) in inputs {
        println!("{}", path.display());
        reads(&bytes);
    }
}

#[test]
fn logs() {
    harmless("frames", mpiscope_fuzz::frames);
}

#[test]
fn slots() {
    harmless("rings", mpiscope_fuzz::rings);
}

#[test]
fn headers() {
    harmless("regions", mpiscope_fuzz::regions);
}

#[test]
fn layouts() {
    harmless("layouts", mpiscope_fuzz::layouts);
}

#[test]
fn requests() {
    harmless("requests", mpiscope_fuzz::requests);
}
