//! What other programs say about a run, kept in the folder of its recording.

use mpiscope_process::private::{read_bounded, replace_json};
use mpiscope_server::{AnswerStore, Answers};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The file's name.
const FILE: &str = "annotations.json";
/// More than all annotations and points that a run may have.
const BYTES_MAX: usize = 512 << 20;

/// The file in one recording.
#[derive(Debug)]
pub(crate) struct AnswerFile {
    dir: PathBuf,
    has_failed: AtomicBool,
}

impl AnswerFile {
    pub(crate) fn in_folder(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf(), has_failed: AtomicBool::new(false) }
    }

    fn read(&self) -> io::Result<Answers> {
        let bytes = read_bounded(&self.dir.join(FILE), BYTES_MAX)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Says once that something is wrong with it.
    fn say(&self, what: &str, error: &io::Error) -> String {
        let text = format!(
            "annotations of other programs: cannot {what} {}: {error}",
            self.dir.join(FILE).display()
        );
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            say!("{text}");
        }
        text
    }
}

impl AnswerStore for AnswerFile {
    fn load(&self) -> Answers {
        match self.read() {
            Ok(answers) => answers,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Answers::default(),
            Err(error) => {
                self.say("read", &error);
                Answers::default()
            }
        }
    }

    fn save(&self, answers: &Answers) -> Result<(), String> {
        // What could not be read is not replaced by what is new.
        if self.has_failed.load(Ordering::Relaxed) {
            return Err("nothing is kept".to_owned());
        }
        replace_json(&self.dir, FILE, answers).map_err(|error| self.say("write", &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_there_again_and_what_cannot_be_read_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = AnswerFile::in_folder(dir.path());
        assert_eq!(file.load(), Answers::default());
        let series = mpiscope_server::Series {
            name: "load".to_owned(),
            author: "somebody".to_owned(),
            unit: String::new(),
            time_ns: vec![1.0],
            value: vec![2.5],
        };
        let answers = Answers { series: vec![series], ..Answers::default() };
        file.save(&answers).unwrap();
        assert_eq!(AnswerFile::in_folder(dir.path()).load(), answers);
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        let file = AnswerFile::in_folder(dir.path());
        assert_eq!(file.load(), Answers::default());
        assert!(file.save(&answers).is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), "{");
    }
}
