//! What the site says of its machine, as files that the user names, kept in the folder of the recording.

use anyhow::{Context as _, Result, bail, ensure};
use mpiscope_layout::{MOST_SITE_BYTES, SiteDescription};
use mpiscope_process::private::{read_bounded, write_private};
use mpiscope_recording::{FileState, Recording, RecordingWriter, file_state, list_file, read_listed};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files of one run.
const MOST_FILES: usize = 16;

/// A file's name in the folder of a recording, by its number from 1.
fn name(number: usize) -> String {
    format!("topology-{number}.txt")
}

/// Whether a file in the folder of a recording is one of these.
#[must_use]
pub fn is_file(file: &str) -> bool {
    (1..=MOST_FILES).any(|number| name(number) == file)
}

/// What these files say.
///
/// # Errors
/// In one line that names the file and the line in it.
pub fn read(paths: &[PathBuf]) -> Result<SiteDescription> {
    Ok(read_with_bytes(paths)?.0)
}

fn read_with_bytes(paths: &[PathBuf]) -> Result<(SiteDescription, Vec<Vec<u8>>)> {
    ensure!(paths.len() <= MOST_FILES, "at most {MOST_FILES} topology files can be given");
    let (mut site, mut files) = (SiteDescription::default(), Vec::new());
    for path in paths {
        let bytes = read_bounded(path, MOST_SITE_BYTES)
            .with_context(|| format!("read the topology file {}", path.display()))?;
        if let Err(error) = site.read(&bytes) {
            bail!("{}:{error}", path.display());
        }
        files.push(bytes);
    }
    Ok((site, files))
}

/// Puts what the user named into a new recording.
///
/// # Errors
/// When it cannot be read or written.
pub fn store(paths: &[PathBuf], dir: &Path, writer: &mut RecordingWriter) -> Result<SiteDescription> {
    let (site, files) = read_with_bytes(paths)?;
    for (number, bytes) in (1..).zip(&files) {
        write(dir, &name(number), bytes)?;
        writer.list_file(&name(number))?;
    }
    if !files.is_empty() {
        writer.write_manifest()?;
    }
    Ok(site)
}

/// Adds a description to a complete recording.
///
/// # Errors
/// When it cannot be written.
pub fn add(dir: &Path, bytes: &[u8]) -> Result<()> {
    let free = (1..=MOST_FILES).map(name).find(|name| !dir.join(name).exists());
    let name = free.context("the recording has as many topology files as it may have")?;
    write(dir, &name, bytes)?;
    Ok(list_file(dir, &name)?)
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = dir.join(name);
    write_private(&path, bytes).with_context(|| format!("write {}", path.display()))
}

/// What is in a recording. What cannot be used is left out, with one sentence.
#[must_use]
pub fn of_recording(dir: &Path) -> (SiteDescription, Option<String>) {
    let mut site = SiteDescription::default();
    for number in 1..=MOST_FILES {
        let found = match read_listed(dir, &name(number)) {
            Ok(None) => break,
            Ok(Some(bytes)) => site.read(&bytes).map_err(|error| format!("{}:{error}", name(number))),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = found {
            return (site, Some(format!("what the site says of its machine is left out: {why}")));
        }
    }
    (site, None)
}

/// Takes what is in one recording into another, which lists it, also where the first one's list is lost. What is damaged
/// is left out, with one sentence.
///
/// # Errors
/// When it cannot be written.
pub fn copy(from: &Recording, to: &Path, writer: &mut RecordingWriter) -> Result<Option<String>> {
    for name in (1..=MOST_FILES).map(name) {
        match read_whole(from, &name) {
            Ok(None) => break,
            Ok(Some(bytes)) => write(to, &name, &bytes)?,
            Err(why) => return Ok(Some(format!("what the site says of its machine, in {name}: {why}"))),
        }
        writer.list_file(&name)?;
    }
    Ok(None)
}

/// What such a file says, if there is one.
fn read_whole(from: &Recording, name: &str) -> Result<Option<Vec<u8>>, String> {
    if let FileState::Damaged(why) = file_state(from.dir(), from.manifest(), name) {
        return Err(why);
    }
    let bytes = match read_bounded(&from.dir().join(name), MOST_SITE_BYTES) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| error.to_string())?,
    };
    // What no list vouches for may be the beginning of a file only.
    SiteDescription::default().read(&bytes).map_err(|error| error.to_string())?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_recording::{Manifest, RecordingOptions};

    const TABLE: &[u8] = b"node,key,value\nn1,rack,1\n";

    /// What is copied of a recording whose topology file is this, and whether the copy has it.
    fn copied(listed: bool, damage: Option<&[u8]>) -> (Option<String>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let (dir, to) = (folder.path().join("dir"), folder.path().join("to"));
        let new = |dir: &Path| {
            RecordingWriter::create(dir, Manifest::default(), RecordingOptions::default()).unwrap()
        };
        let mut writer = new(&dir);
        write(&dir, &name(1), TABLE).unwrap();
        if listed {
            writer.list_file(&name(1)).unwrap();
            writer.write_manifest().unwrap();
        }
        drop(writer);
        if let Some(bytes) = damage {
            std::fs::write(dir.join(name(1)), bytes).unwrap();
        }
        let mut writer = new(&to);
        let sentence = copy(&Recording::open(&dir).unwrap(), &to, &mut writer).unwrap();
        (sentence, std::fs::read(to.join(name(1))).is_ok_and(|bytes| bytes == TABLE))
    }

    #[test]
    fn a_copy_has_what_is_whole_and_names_what_is_not() {
        assert_eq!(copied(true, None), (None, true));
        assert_eq!(copied(false, None), (None, true));
        for (listed, bytes, why) in
            [(true, &b"node,key,value\n"[..], "CRC-32"), (false, b"node,key,value\nn1,rack", "three fields")]
        {
            let (sentence, is_there) = copied(listed, Some(bytes));
            assert!(!is_there && sentence.as_ref().is_some_and(|text| text.contains(why)), "{sentence:?}");
        }
    }
}
