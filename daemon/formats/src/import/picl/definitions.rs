//! What the lines of a trace define: ranks, communicators, nodes, labels; and what of them is left out.

use super::fields::Fields;
use crate::import::log_stream::CommMembers;
use crate::limits::{MAX_COMM_MEMBERS, MAX_RANKS};
use crate::node_name::{UNKNOWN_NODE, clean_node_name};
use crate::picl_events::{NODE_NAME, WORLD};
use mpiscope_model::words::printable;
use mpiscope_wire::MAX_COMM;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Kinds of left-out records that are counted apart.
const MAX_KINDS: usize = 100;
/// Labels that are kept.
const MAX_LABELS: usize = 1 << 16;
const MAX_LABEL_BYTES: usize = 80;

/// What a trace defines.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    ranks: HashSet<u32>,
    /// The highest rank, and the line that names it first.
    last: Option<(u32, u64)>,
    /// Labels of user events that are MPI functions.
    labels: HashMap<i32, String>,
    /// The members of each communicator by its number in the trace.
    comms: BTreeMap<i64, Vec<u32>>,
    nodes: BTreeMap<i64, Vec<u32>>,
    node_names: HashMap<i64, String>,
    members: usize,
    /// How much was left out, by kind.
    pub(super) left_out: BTreeMap<String, u64>,
}

/// The members of a communicator.
#[derive(Debug)]
pub(super) struct KnownComm {
    /// Its number in the recording.
    pub(super) number: u32,
    /// Its members by their ranks.
    sorted: Vec<u32>,
}

impl KnownComm {
    pub(super) fn has(&self, rank: u32) -> bool {
        self.sorted.binary_search(&rank).is_ok()
    }
}

impl Definitions {
    /// Takes in a rank.
    ///
    /// # Errors
    /// When there can be no such rank.
    pub(super) fn add_rank(&mut self, rank: i64, line: u64) -> Result<u32, String> {
        let known = u32::try_from(rank).ok().filter(|&rank| rank < MAX_RANKS);
        let Some(rank) = known else {
            return Err(format!("a processor is expected, from 0 to {}, not {rank}", MAX_RANKS - 1));
        };
        if self.ranks.insert(rank) && self.last.is_none_or(|(last, _)| rank > last) {
            self.last = Some((rank, line));
        }
        Ok(rank)
    }

    /// The number of ranks.
    ///
    /// # Errors
    /// When most of them are never named: then the highest is most likely wrong.
    pub(super) fn rank_count(&self) -> Result<u32, String> {
        let Some((last, line)) = self.last else { return Err("there are no processors in it".into()) };
        let count = last + 1;
        if count as usize > 2 * self.ranks.len() + 2 {
            let found = mpiscope_model::words::counted(self.ranks.len() as u64, "processor");
            return Err(format!(
                "line {line} names processor {last}, but only {found} up to there are in the trace"
            ));
        }
        Ok(count)
    }

    pub(super) fn leave_out(&mut self, kind: impl Into<String>) {
        let kind = kind.into();
        let kind = if self.left_out.len() < MAX_KINDS || self.left_out.contains_key(&kind) {
            kind
        } else {
            "other record".into()
        };
        *self.left_out.entry(kind).or_default() += 1;
    }

    /// Takes in the label of an event type: a length and words.
    pub(super) fn add_label(&mut self, event: i32, mut fields: Fields<'_>) {
        let text = text(&mut fields).trim_end_matches("()");
        let is_function = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("MPI_"));
        if event >= 0 && is_function && text.len() <= MAX_LABEL_BYTES && self.labels.len() < MAX_LABELS {
            self.labels.entry(event).or_insert_with(|| printable(text));
        }
    }

    pub(super) fn label(&self, event: i32) -> Option<&str> {
        self.labels.get(&event).map(String::as_str)
    }

    /// Takes in a set of processes or processors: its number and its members.
    ///
    /// # Errors
    /// When a member is none, or there are too many.
    pub(super) fn add_subset(
        &mut self,
        is_node: bool,
        count: usize,
        mut fields: Fields<'_>,
        line: u64,
    ) -> Result<(), String> {
        let number = fields.number("the number of a subset")?;
        let mut members = Vec::new();
        for _ in 1..count {
            if self.members >= MAX_COMM_MEMBERS {
                return Err(format!("all subsets together have more than {MAX_COMM_MEMBERS} members"));
            }
            self.members += 1;
            let member = fields.number("a processor")?;
            members.push(self.add_rank(member, line)?);
        }
        if members.iter().collect::<HashSet<_>>().len() < members.len() {
            return Err(format!("subset {number} has a processor twice"));
        }
        let subsets = if is_node { &mut self.nodes } else { &mut self.comms };
        if number == WORLD || subsets.len() >= MAX_COMM as usize {
            return Ok(());
        }
        match subsets.get(&number) {
            Some(known) if *known != members => self.leave_out("other definition of a subset"),
            Some(_) => {}
            None => drop(subsets.insert(number, members)),
        }
        Ok(())
    }

    /// Takes in a text, which may have the name of a node. Returns whether it has.
    pub(super) fn add_text(&mut self, mut fields: Fields<'_>) -> bool {
        let Some(node) = text(&mut fields).strip_prefix(NODE_NAME) else { return false };
        let mut node = Fields::new(node);
        let Ok(number) = node.number("a node") else { return false };
        let Some(name) = clean_node_name(node.rest()).filter(|_| self.node_names.len() < MAX_RANKS as usize)
        else {
            return false;
        };
        self.node_names.insert(number, name);
        true
    }

    /// The node of each rank, and whether it is known of all of them.
    pub(super) fn node_of_rank(&self, ranks: u32) -> (Vec<String>, bool) {
        let mut nodes: Vec<Option<String>> = vec![None; ranks as usize];
        for (number, members) in &self.nodes {
            let name = self.node_names.get(number).cloned().unwrap_or_else(|| format!("node {number}"));
            for &rank in members {
                nodes[rank as usize] = Some(name.clone());
            }
        }
        let are_known = nodes.iter().all(Option::is_some);
        (nodes.into_iter().map(|node| node.unwrap_or_else(|| UNKNOWN_NODE.into())).collect(), are_known)
    }

    /// The communicators by their numbers in the trace, and their members by their numbers in the recording.
    pub(super) fn comms(&self) -> (HashMap<i64, KnownComm>, BTreeMap<u32, CommMembers>) {
        let (mut known, mut members) = (HashMap::new(), BTreeMap::new());
        for (number, (own, ranks)) in (1..).zip(&self.comms) {
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            known.insert(*own, KnownComm { number, sorted });
            members.insert(number, CommMembers::Group(ranks.clone()));
        }
        (known, members)
    }
}

/// A text behind its length.
fn text<'a>(fields: &mut Fields<'a>) -> &'a str {
    let mut behind = *fields;
    if behind.next().is_some_and(|length| length.parse::<u64>().is_ok()) && !behind.rest().is_empty() {
        *fields = behind;
    }
    fields.rest().trim_matches('"').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_far_behind_all_others_is_refused() {
        let mut found = Definitions::default();
        assert!(found.rank_count().is_err());
        for (line, rank) in (1..).zip(0..4) {
            found.add_rank(rank, line).unwrap();
        }
        assert_eq!(found.rank_count(), Ok(4));
        found.add_rank(70_000, 9).unwrap();
        let error = found.rank_count().unwrap_err();
        assert!(error.contains("line 9 names processor 70000") && error.contains("5 processors"), "{error}");
        assert!(found.add_rank(-1, 1).is_err() && found.add_rank(i64::MAX, 1).is_err());
    }

    #[test]
    fn labels_and_nodes_are_texts_behind_a_length() {
        let mut found = Definitions::default();
        found.add_label(1, Fields::new("11 MPI_Waitall"));
        found.add_label(2, Fields::new("MPI_Test()"));
        found.add_label(3, Fields::new("5 solve"));
        found.add_label(-21, Fields::new("8 MPI_Send"));
        assert_eq!(
            [1, 2, 3, -21].map(|event| found.label(event)),
            [Some("MPI_Waitall"), Some("MPI_Test"), None, None]
        );
        found.add_subset(true, 3, Fields::new("0 0 2"), 1).unwrap();
        found.add_subset(true, 2, Fields::new("1 1"), 1).unwrap();
        assert!(
            found.add_text(Fields::new("19 mpiscope node 0 big")) && !found.add_text(Fields::new("3 abc"))
        );
        assert_eq!(found.node_of_rank(3), (vec!["big".into(), "node 1".into(), "big".into()], true));
    }

    #[test]
    fn members_are_ranks_and_different_ones() {
        let mut found = Definitions::default();
        found.add_subset(false, 4, Fields::new("7 3 1 2"), 1).unwrap();
        found.add_subset(false, 4, Fields::new("7 3 1 2"), 2).unwrap();
        found.add_subset(false, 2, Fields::new("7 3"), 3).unwrap();
        assert_eq!(found.left_out["other definition of a subset"], 1);
        let (comms, members) = found.comms();
        assert!(comms[&7].has(1) && !comms[&7].has(0));
        assert_eq!(members[&comms[&7].number], CommMembers::Group(vec![3, 1, 2]));
        for wrong in ["7 1 1", "7 1 -1", "7 1 x", "7 1", "7 1 99999999"] {
            assert!(found.add_subset(false, 3, Fields::new(wrong), 4).is_err(), "{wrong}");
        }
    }
}
