//! The file of latency criteria that `mpiscope calibrate` measured: what a message or a collective takes where nothing
//! disturbs it. Read again where a run's own criteria are not known.

use anyhow::{Context as _, Result, bail};
use mpiscope_process::private::create_private;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "mpiscope.criteria/1";

/// What was measured on some nodes under some MPI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriteriaFile {
    schema: String,
    /// The MPI library.
    pub mpi: String,
    /// How many.
    pub nodes: u32,
    /// Of the fullest node.
    pub ranks_per_node: u32,
    /// When it was measured, in seconds since 1970.
    pub(crate) made: u64,
    /// What messages take, by size.
    pub messages: Vec<MessageCriterion>,
    /// What collectives take.
    pub collectives: Vec<CollectiveCriterion>,
}

/// What a message of a size takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCriterion {
    /// Between which ranks.
    pub scope: Scope,
    /// In bytes.
    pub size: u64,
    /// How many were measured.
    pub samples: u64,
    /// What half of them took at most.
    pub median_ns: u64,
    /// Up to this long is normal: 95 of 100 messages of a quiet network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_ns: Option<u64>,
}

/// Whether a message stays on its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Within a node.
    Intra,
    /// Between nodes.
    Inter,
}

/// What a collective of a number of ranks takes, once those that it waits for are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveCriterion {
    /// Its name, such as `MPI_Bcast`.
    pub function: String,
    /// Of its communicator.
    pub ranks: u32,
    /// What each rank gives.
    pub bytes: u64,
    /// Of the root, where it has a part of its own.
    #[serde(default)]
    pub is_root: bool,
    /// How many were measured.
    pub samples: u64,
    /// What half of them took at most.
    pub median_ns: u64,
}

impl CriteriaFile {
    /// One without criteria.
    pub fn new(mpi: String, nodes: u32, ranks_per_node: u32, made: u64) -> Self {
        let (messages, collectives) = (Vec::new(), Vec::new());
        Self { schema: SCHEMA.to_owned(), mpi, nodes, ranks_per_node, made, messages, collectives }
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// When it cannot be read or is something else, in one line that names it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        Self::parse(&text, path)
    }

    /// The same of what was read from this path.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let other = || format!("{} is no file of criteria", path.display());
        #[derive(Deserialize)]
        struct Schema {
            schema: String,
        }
        let Schema { schema } = serde_json::from_slice(text).with_context(other)?;
        if schema != SCHEMA {
            bail!(
                "{} has the schema {}, and {SCHEMA} is what is read here",
                path.display(),
                schema.escape_debug()
            );
        }
        serde_json::from_slice(text).with_context(other)
    }

    /// Writes it, for its owner alone. Whoever reads meanwhile finds what was there before.
    ///
    /// # Errors
    /// When that cannot be done, in one line that names the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut name =
            path.file_name().with_context(|| format!("{} names no file", path.display()))?.to_owned();
        name.push(".new");
        let new = path.with_file_name(name);
        let written = create_private(&new).map_err(anyhow::Error::from).and_then(|file| {
            (&file).write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            Ok(std::fs::rename(&new, path)?)
        });
        written.with_context(|| format!("write {}", path.display()))
    }

    /// Its place among the user's, by what decides whether criteria fit: the MPI library and how full the nodes are.
    pub fn place_in(&self, folder: &Path) -> PathBuf {
        let mut mpi = String::new();
        for character in self.mpi.chars().take(60) {
            match character {
                'a'..='z' | '0'..='9' | '.' | '_' => mpi.push(character),
                'A'..='Z' => mpi.push(character.to_ascii_lowercase()),
                _ if mpi.is_empty() || mpi.ends_with('-') => {}
                _ => mpi.push('-'),
            }
        }
        folder.join(format!("{}-{}-per-node.json", mpi.trim_end_matches('-'), self.ranks_per_node))
    }
}

/// Where a user's criteria lie; none for a user without a home.
pub fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let configured = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let settings =
        configured("XDG_CONFIG_HOME").or_else(|| configured("HOME").map(|home| home.join(".config")))?;
    Some(settings.join("mpiscope/criteria"))
}

/// Makes that folder where it is missing, for its owner alone.
///
/// # Errors
/// When that cannot be done.
pub fn make_folder(folder: &Path) -> Result<()> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("make {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn some() -> CriteriaFile {
        let mut file = CriteriaFile::new("Open MPI v4.1.4".into(), 2, 4, 1_700_000_000);
        let (scope, size) = (Scope::Inter, 200);
        file.messages.push(MessageCriterion { scope, size, samples: 50, median_ns: 1_500, normal_ns: None });
        let (function, ranks) = ("MPI_Bcast".to_owned(), 8);
        file.collectives.push(CollectiveCriterion {
            function,
            ranks,
            bytes: 8,
            is_root: false,
            samples: 30,
            median_ns: 2_000,
        });
        file
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "what was there before").unwrap();
        some().write(&path).unwrap();
        assert_eq!(CriteriaFile::read(&path).unwrap(), some());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        let plain: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(plain["schema"], "mpiscope.criteria/1");
        assert_eq!(plain["messages"][0]["scope"], "inter");
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for text in
            ["", "{}", "[1]", r#"{"schema": "mpiscope.criteria/2"}"#, r#"{"schema": "mpiscope.criteria/1"}"#]
        {
            std::fs::write(&path, text).unwrap();
            let message = format!("{:#}", CriteriaFile::read(&path).unwrap_err());
            assert!(message.contains("a.json"), "{message}");
        }
        assert!(some().write(&folder.path().join("nowhere/a.json")).is_err());
    }

    #[test]
    fn the_place_is_found_again() {
        let place = some().place_in(Path::new("/c"));
        assert_eq!(place, Path::new("/c/open-mpi-v4.1.4-4-per-node.json"));
        let odd = CriteriaFile::new("../MPI (x)/".into(), 1, 2, 0).place_in(Path::new("/c"));
        assert_eq!(odd, Path::new("/c/..-mpi-x-2-per-node.json"));
    }

    #[test]
    fn the_users_settings_are_where_the_user_says() {
        let with = |set: &'static str| move |name: &str| (name == set).then(|| OsString::from("/x"));
        assert_eq!(folder(with("XDG_CONFIG_HOME")), Some("/x/mpiscope/criteria".into()));
        assert_eq!(folder(with("HOME")), Some("/x/.config/mpiscope/criteria".into()));
        assert_eq!(folder(with("OTHER")), None);
    }
}
