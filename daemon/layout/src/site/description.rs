//! What is known of a site: values of ranks and nodes by key, and the CPUs of its machines.

use super::error::SiteError;
use super::machine::{KEYS, Machine};
use super::node_names::find_all;
use crate::inputs::{Inputs, Values};
use crate::placement::RankPlacement;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Values of all descriptions of a run.
const MOST_VALUES: usize = 1 << 22;
/// Bytes of a key, a word or the name of a node.
pub(super) const MOST_NAME_BYTES: usize = 256;

/// All that the site says; several files add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SiteDescription {
    /// By key in lower case, then by rank.
    of_rank: BTreeMap<String, BTreeMap<u32, f64>>,
    /// By key in lower case, then by the name of the node.
    of_node: BTreeMap<String, HashMap<String, f64>>,
    /// Of keys whose values are words: the words, by number.
    words: BTreeMap<String, Vec<String>>,
    /// The numbers of these words.
    numbers: HashMap<(String, String), u32>,
    /// Nodes as they first appear.
    nodes: Vec<String>,
    known_nodes: HashSet<String>,
    pub(super) machines: Vec<Machine>,
    values: usize,
}

/// Whose value it is.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Rank(u32),
    Node(&'a str),
}

impl SiteDescription {
    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.values == 0 && self.machines.is_empty()
    }

    /// The nodes that are named, as they first appear.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// What a value is called, where its key has words.
    pub fn word(&self, key: &str, value: f64) -> Option<&str> {
        let words = self.words.get(&key.to_lowercase())?;
        words.get(value as usize).filter(|_| value >= 0.0).map(String::as_str)
    }

    /// The keys that it has values for.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let of_machines = if self.machines.is_empty() { &[][..] } else { &KEYS[..] };
        let tables = self.of_rank.keys().chain(self.of_node.keys()).map(String::as_str);
        tables.chain(of_machines.iter().copied())
    }

    /// Gives the ranks of a run their values and those of their nodes. A rank without a value has 0.
    pub(crate) fn give(&self, placement: &RankPlacement, inputs: &mut Inputs) {
        let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let zeros = || vec![0.0; placement.ranks()];
        for (key, by_node) in &self.of_node {
            let by_host = find_all(by_node, &placement.node_names);
            if by_host.iter().all(Option::is_none) {
                continue;
            }
            let column = columns.entry(key).or_insert_with(zeros);
            for (value, host) in column.iter_mut().zip(&placement.hosts) {
                *value = by_host.get(*host as usize).copied().flatten().unwrap_or(0.0);
            }
        }
        self.give_cpus(placement, &mut columns);
        for (key, by_rank) in &self.of_rank {
            let column = columns.entry(key).or_insert_with(zeros);
            for (rank, value) in by_rank {
                if let Some(of) = column.get_mut(*rank as usize) {
                    *of = *value;
                }
            }
        }
        for (key, column) in columns {
            let most = column.iter().copied().fold(0.0, f64::max);
            inputs.set_metadata(&format!("max_{key}"), Values::Same(most));
            inputs.set_metadata(key, Values::PerRank(column));
        }
    }

    /// Where the CPUs are that ranks are bound to.
    fn give_cpus(&self, placement: &RankPlacement, columns: &mut BTreeMap<&str, Vec<f64>>) {
        for (rank, (host, cpu)) in placement.hosts.iter().zip(&placement.cpus).enumerate() {
            let Some(cpu) = cpu else { continue };
            let name = placement.node_names.get(*host as usize).map_or("", String::as_str);
            // A machine without a name, or of another node, stands for all that have none of their own.
            let own = self.machines.iter().find(|machine| machine.is_of(name));
            let Some(found) = own.or(self.machines.first()).and_then(|machine| machine.cpu(*cpu)) else {
                continue;
            };
            for (key, value) in KEYS.into_iter().zip(found) {
                let column = columns.entry(key).or_insert_with(|| vec![0.0; placement.ranks()]);
                column[rank] = f64::from(value);
            }
        }
    }

    pub(super) fn set(
        &mut self,
        subject: Subject<'_>,
        key: &str,
        value: &str,
        line: u32,
    ) -> Result<(), SiteError> {
        let error = |text: String| SiteError { line, text };
        let key = key.trim().to_lowercase();
        let value = value.trim();
        if key.is_empty() {
            return Err(error("expected a key, found none".to_owned()));
        }
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.check_bounds(&key, value, line)?;
                if self.words.contains_key(&key) {
                    return Err(error(format!("`{key}` is a word above and the number {number} here")));
                }
                self.insert(subject, key, number);
                Ok(())
            }
            _ if value.is_empty() => Err(error(format!("expected a value of `{key}`, found none"))),
            _ => self.set_word(subject, key, value, line),
        }
    }

    /// Sets a word, also one that looks like a number.
    pub(super) fn set_word(
        &mut self,
        subject: Subject<'_>,
        key: String,
        word: &str,
        line: u32,
    ) -> Result<(), SiteError> {
        self.check_bounds(&key, word, line)?;
        let has_values = self.of_rank.contains_key(&key) || self.of_node.contains_key(&key);
        if has_values && !self.words.contains_key(&key) {
            let word = word.escape_debug();
            let text = format!("`{key}` is a number above and the word `{word}` here");
            return Err(SiteError { line, text });
        }
        let number = f64::from(self.number_of(&key, word));
        self.insert(subject, key, number);
        Ok(())
    }

    fn check_bounds(&self, key: &str, value: &str, line: u32) -> Result<(), SiteError> {
        let text = if [key, value].iter().any(|text| text.len() > MOST_NAME_BYTES) {
            format!("a key or a value has more than {MOST_NAME_BYTES} bytes")
        } else if self.values == MOST_VALUES {
            format!("more than {MOST_VALUES} values; describe only what the layouts use")
        } else {
            return Ok(());
        };
        Err(SiteError { line, text })
    }

    fn insert(&mut self, subject: Subject<'_>, key: String, value: f64) {
        self.values += 1;
        match subject {
            Subject::Rank(rank) => {
                self.of_rank.entry(key).or_default().insert(rank, value);
            }
            Subject::Node(node) => {
                self.add_node(node);
                self.of_node.entry(key).or_default().insert(node.to_owned(), value);
            }
        }
    }

    pub(super) fn add_node(&mut self, node: &str) {
        if !self.known_nodes.contains(node) {
            self.known_nodes.insert(node.to_owned());
            self.nodes.push(node.to_owned());
        }
    }

    /// Words are numbered as they appear.
    fn number_of(&mut self, key: &str, word: &str) -> u32 {
        let words = self.words.entry(key.to_owned()).or_default();
        let next = words.len() as u32;
        *self.numbers.entry((key.to_owned(), word.to_owned())).or_insert_with(|| {
            words.push(word.to_owned());
            next
        })
    }
}
