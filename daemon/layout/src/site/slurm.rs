//! Slurm's `topology.conf`: switches with their nodes or with the switches below them, and blocks.

use super::description::{SiteDescription, Subject};
use super::error::SiteError;
use super::hosts::expand;
use std::collections::{BTreeMap, HashMap};

pub(super) const BEGINNINGS: [&str; 2] = ["SwitchName", "BlockName"];
/// Switches above each other.
const MOST_LEVELS: usize = 16;

impl SiteDescription {
    /// Gives nodes `switch`, the switches above it as `switch1`, `switch2`, ..., and `block`.
    pub(super) fn read_slurm(&mut self, text: &str) -> Result<(), SiteError> {
        let mut above: HashMap<String, String> = HashMap::new();
        let mut nodes: Vec<(String, String, u32)> = Vec::new();
        for (number, line) in whole_lines(text) {
            let error = |text: String| SiteError { line: number, text };
            let mut fields: BTreeMap<String, &str> = BTreeMap::new();
            for field in line.split_whitespace() {
                let (name, value) = field
                    .split_once('=')
                    .ok_or_else(|| error(format!("expected NAME=VALUE, found `{}`", field.escape_debug())))?;
                fields.insert(name.to_lowercase(), value);
            }
            let list = |name: &str| match fields.get(name) {
                None => Ok(Vec::new()),
                Some(list) => expand(list).ok_or_else(|| {
                    error(format!("expected a list such as tux[0-3], found `{}`", list.escape_debug()))
                }),
            };
            if let Some(switch) = fields.get("switchname") {
                for below in list("switches")? {
                    above.insert(below, (*switch).to_owned());
                }
                nodes.extend(list("nodes")?.into_iter().map(|node| (node, (*switch).to_owned(), number)));
            } else if let Some(block) = fields.get("blockname") {
                for node in list("nodes")? {
                    self.set_word(Subject::Node(&node), "block".to_owned(), block, number)?;
                }
            }
        }
        for (node, switch, number) in nodes {
            let mut switch = Some(&switch);
            for level in 0..MOST_LEVELS {
                let Some(name) = switch else { break };
                let key = if level == 0 { "switch".to_owned() } else { format!("switch{level}") };
                self.set_word(Subject::Node(&node), key, name, number)?;
                switch = above.get(name);
            }
        }
        Ok(())
    }
}

/// Lines without comments; one that ends in a backslash goes on.
fn whole_lines(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (line, continues) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match found.last_mut() {
            Some((_, last)) if goes_on => {
                last.push(' ');
                last.push_str(line);
            }
            _ if line.is_empty() => {}
            _ => found.push((number, line.to_owned())),
        }
        goes_on = continues;
    }
    found
}
