//! The surroundings that there really are.

use super::surroundings::Surroundings;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A launcher's version is known at once; one that takes longer is something else.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Scripts and lists of hosts are short; a program or its input is not to be read.
const LONGEST_TEXT: u64 = 256 << 10;

/// Each program is asked for its version once.
#[derive(Default)]
pub struct System {
    versions: RefCell<HashMap<OsString, Option<String>>>,
}

impl Surroundings for System {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn version(&self, program: &OsStr) -> Option<String> {
        self.versions.borrow_mut().entry(program.to_owned()).or_insert_with(|| version(program)).clone()
    }

    fn read(&self, file: &Path) -> Option<String> {
        let known = std::fs::metadata(file).ok()?;
        if !known.is_file() || known.len() > LONGEST_TEXT {
            return None;
        }
        std::fs::read_to_string(file).ok()
    }
}

fn version(program: &OsStr) -> Option<String> {
    let mut asked = Command::new(program)
        .arg("--version")
        // The program's own input is not for this.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut answer = asked.stdout.take()?.take(LONGEST_TEXT);
    let read = move || {
        let mut text = String::new();
        answer.read_to_string(&mut text).ok().map(|_| text)
    };
    let Ok(reader) = std::thread::Builder::new().name("version".into()).spawn(read) else {
        let _ = asked.kill().and_then(|()| asked.wait());
        return None;
    };
    let begun = Instant::now();
    while !reader.is_finished() {
        if begun.elapsed() > PATIENCE {
            let _ = asked.kill();
            let _ = asked.wait();
            return None;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    // What it exits with says nothing that its answer does not.
    let _ = asked.wait();
    reader.join().ok().flatten()
}
