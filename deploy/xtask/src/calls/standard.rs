//! What the standard has, against what is recorded and what is deliberately not.

use super::Table;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Deserialize)]
struct NotRecorded {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    reason: String,
    names: Vec<String>,
}

/// Fails with every function of the standard that is nowhere in the two tables, or twice.
pub(super) fn check(root: &Path, table: &Table) -> Result<()> {
    let read = |name: &str| {
        let path = root.join("collector").join(name);
        std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    };
    let standard = read("standard.txt")?;
    let not_recorded: NotRecorded =
        toml::from_str(&read("not_recorded.toml")?).context("parse not_recorded.toml")?;
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let recorded = table.call.iter().filter(|call| !call.is_large()).map(|call| call.name.as_str());
    let others = not_recorded.group.iter().flat_map(|group| group.names.iter().map(String::as_str));
    recorded.chain(others).for_each(|name| *reasons.entry(name).or_default() += 1);
    let standard: BTreeSet<&str> = standard.lines().collect();
    let without_reason = not_recorded.group.iter().filter(|group| group.reason.is_empty()).count();
    ensure!(without_reason == 0, "collector/not_recorded.toml has a group without a reason");
    let mut faults: Vec<String> = Vec::new();
    for name in &standard {
        match reasons.get(name) {
            None => faults.push(format!("{name} is neither recorded nor is it said why not")),
            Some(1) => {}
            Some(_) => faults.push(format!("{name} is in both tables, or twice in one")),
        }
    }
    for name in reasons.keys().filter(|name| !standard.contains(*name)) {
        faults.push(format!("{name} is no function of the standard"));
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("all {} functions of the standard are recorded, or have a reason why not", standard.len());
    Ok(())
}
