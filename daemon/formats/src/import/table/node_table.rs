//! Reads the table that says which rank was on which node.

use super::columns::Columns;
use super::records::Records;
use super::summary::TableSummary;
use crate::limits::MAX_RANKS;
use anyhow::{Result, bail};
use std::io::BufRead;

const NEEDED: [&str; 2] = ["rank", "node"];
const MAX_NAME_BYTES: usize = 255;

/// Returns the name of the node of each rank, and the names of unknown columns. Ranks that only this table names are added to
/// `summary`.
pub(crate) fn read_nodes<R: BufRead>(
    mut records: Records<R>,
    summary: &mut TableSummary,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut columns = Columns::read(&mut records, &NEEDED, &[])?;
    let [rank_at, node_at] = columns.needed;
    let mut nodes: Vec<Option<String>> = vec![None; summary.rank_count() as usize];
    while columns.advance(&mut records)? {
        let rank = rank_at.number(&records, u64::from(MAX_RANKS) - 1)?;
        let node = node_at.text(&records)?;
        if node.is_empty() || node.len() > MAX_NAME_BYTES || node.chars().any(char::is_control) {
            return Err(node_at.wrong(&records, "the name of a node"));
        }
        summary.add_rank(rank as u32);
        nodes.resize(summary.rank_count() as usize, None);
        if nodes[rank as usize].replace(node.to_owned()).is_some() {
            return Err(rank_at.wrong(&records, "a rank that has no node yet"));
        }
    }
    let ranks = nodes.len();
    let known: Vec<String> = nodes.into_iter().map_while(|node| node).collect();
    if known.len() < ranks {
        bail!("{}: there is no node of rank {}", records.name(), known.len());
    }
    Ok((known, columns.ignored))
}
