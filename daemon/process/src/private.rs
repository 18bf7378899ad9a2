//! Secrets, and files that their owner alone can read.

use anyhow::Result;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens such a file to write to, or makes it.
pub fn open_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Makes such a file, or empties the one that is there.
pub fn create_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes such a file where there is none.
pub fn new_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// Reads a file that others may have put there: it does not wait for a pipe, and reads at most `most` bytes and one.
pub fn read_bounded(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Of a pipe, neither opening nor reading may wait for somebody who writes.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    // A byte more than allowed tells that there are too many.
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes such a file with these bytes.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_private(path)?.write_all(bytes)
}

/// Puts a value as JSON in the place of a file, whole or not at all.
pub fn replace_json(dir: &Path, file: &str, value: &impl Serialize) -> io::Result<()> {
    replace(&dir.join(file), |to| write_json(to, value))
}

/// Puts what is written in the place of a file, whole or not at all.
pub fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let replace = || {
        let to = create_private(new.as_ref())?;
        write(&to)?;
        to.sync_all()?;
        std::fs::rename(&new, path)
    };
    replace().inspect_err(|_| {
        // What is there of it would take the space that a full disk lacks.
        let _ = std::fs::remove_file(&new);
    })
}

/// Removes a folder with all that is in it. It may lack a file handle or memory now, and not a moment later.
///
/// # Errors
/// When the folder is still there.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder).or_else(|_| match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    })
}

/// 128 random bits.
pub fn random() -> Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("no random numbers from the system: {error}"))?;
    Ok(u128::from_le_bytes(bytes))
}

/// Writes a value as JSON in large pieces: a serializer writes word by word, and each would be a system call.
pub fn write_json(to: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut pieces = BufWriter::new(to);
    serde_json::to_writer(&mut pieces, value)?;
    pieces.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often it is written to.
    struct Counting(u64);

    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_is_written_in_large_pieces() {
        let mut counting = Counting(0);
        write_json(&mut counting, &vec![7; 100_000]).unwrap();
        assert!(counting.0 <= 100, "{} writes", counting.0);
    }
}
