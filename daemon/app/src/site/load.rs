//! Which files say what holds for a site, and in which order.

use super::file::File;
use super::settings::Site;
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EVERYBODY_S: &str = "/etc/mpiscope.toml";
const NAME: &str = "mpiscope.toml";
/// The variable that names a file.
const NAMED_BY: &str = "MPISCOPE_SITE";

/// A file to be read.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Somebody named it, so it has to be there.
    pub(super) named: bool,
}

impl Site {
    /// The settings that hold here.
    ///
    /// # Errors
    /// When a file cannot be read or does not say what it should, in one line that names it.
    pub(crate) fn load(explicit: Option<&Path>) -> Result<Self> {
        let mut site = Self::default();
        // What the system knows as its place for such files stands for the default.
        site.paths.spool = std::env::temp_dir();
        for candidate in candidates(explicit, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
        {
            site.read(&candidate)?;
        }
        Ok(site)
    }

    pub(super) fn read(&mut self, candidate: &Candidate) -> Result<()> {
        let text = match std::fs::read_to_string(&candidate.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !candidate.named => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("the settings file {}", candidate.path.display()));
            }
        };
        File::parse(&text, &candidate.path)?.apply(self);
        self.files.push(candidate.path.clone());
        Ok(())
    }
}

/// The files, the one that counts most last.
pub(super) fn candidates(
    explicit: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<Candidate> {
    let own = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")))
        .map(|folder| folder.join(NAME));
    let found = |path| Candidate { path, named: false };
    let named = explicit.map(Path::to_path_buf).or_else(|| variable(NAMED_BY).map(PathBuf::from));
    [Some(PathBuf::from(EVERYBODY_S)), own]
        .into_iter()
        .flatten()
        .map(found)
        .chain(named.map(|path| Candidate { path, named: true }))
        .collect()
}
