//! One settings file: its settings and its errors.

use super::settings::Site;
use super::values::{Listen, Ports, Start, ports, size};
use anyhow::{Result, bail};
use mpiscope_ring::Capacities;
use serde::{Deserialize, Deserializer};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every key may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    agents: Agents,
    analysis: Analysis,
    paths: Paths,
    limits: Limits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Agents {
    start: Option<Start>,
    listen: Option<Listen>,
    addresses: Option<Vec<IpAddr>>,
    #[serde(deserialize_with = "checked_ports")]
    ports: Option<Ports>,
    tls: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Analysis {
    #[serde(deserialize_with = "checked_shell")]
    shell: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Paths {
    #[serde(deserialize_with = "checked_path")]
    rings: Option<PathBuf>,
    #[serde(deserialize_with = "checked_path")]
    spool: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    #[serde(deserialize_with = "checked_size")]
    spool: Option<u64>,
    patience_s: Option<u64>,
    #[serde(deserialize_with = "checked_slots")]
    ring_slots: Option<u32>,
}

fn checked_ports<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Ports>, D::Error> {
    let text = String::deserialize(value)?;
    ports(&text).map(Some).map_err(serde::de::Error::custom)
}

fn checked_shell<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Vec<String>>, D::Error> {
    let words = Vec::<String>::deserialize(value)?;
    if words.first().is_none_or(String::is_empty) {
        return Err(serde::de::Error::custom("it has no program"));
    }
    Ok(Some(words))
}

fn checked_size<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(value)?;
    size(&text).map(Some).map_err(serde::de::Error::custom)
}

fn checked_path<'de, D: Deserializer<'de>>(value: D) -> Result<Option<PathBuf>, D::Error> {
    let path = PathBuf::deserialize(value)?;
    if !path.is_absolute() {
        // Ranks have other current folders.
        return Err(serde::de::Error::custom(format!("{path:?} does not begin with /")));
    }
    Ok(Some(path))
}

fn checked_slots<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    let slots = u32::deserialize(value)?;
    if !(Capacities { first_slots: slots, ..Capacities::default() }).are_sound() {
        return Err(serde::de::Error::custom(format!("{slots} is no power of two from 64 on, or too many")));
    }
    Ok(Some(slots))
}

impl File {
    /// What a file says; one line when it is wrong.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        match toml::from_str(text) {
            Ok(file) => Ok(file),
            Err(error) => {
                let (number, key) = place(text, error.span().map_or(0, |span| span.start));
                // Some of its messages have several lines.
                let why = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
                bail!("the settings file {}, line {number}, {key}: {why}", path.display())
            }
        }
    }

    /// Puts what it says over what held before.
    pub(super) fn apply(self, site: &mut Site) {
        let Self { agents, analysis, paths, limits } = self;
        put(agents.start, &mut site.agents.start);
        put(agents.listen, &mut site.agents.listen);
        put(agents.addresses, &mut site.agents.addresses);
        put(agents.ports, &mut site.agents.ports);
        put(agents.tls, &mut site.agents.tls);
        put(analysis.shell, &mut site.analysis.shell);
        put(paths.rings, &mut site.paths.rings);
        put(paths.spool, &mut site.paths.spool);
        put(limits.spool, &mut site.limits.spool_bytes);
        put(limits.patience_s.map(Duration::from_secs), &mut site.limits.patience);
        put(limits.ring_slots, &mut site.limits.ring_slots);
    }
}

fn put<T>(value: Option<T>, setting: &mut T) {
    if let Some(value) = value {
        *setting = value;
    }
}

/// The line of a place in a text, and its key.
fn place(text: &str, at: usize) -> (usize, String) {
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    (number, line.split('=').next().unwrap_or_default().trim().to_owned())
}
