//! The file that says which rank was on which node.

use super::columns::Columns;
use super::records::Records;
use super::seen::Seen;
use super::table::MOST_RANKS;
use anyhow::{Result, bail};
use std::io::BufRead;

const NEEDED: [&str; 2] = ["rank", "node"];
const MOST_NAME_BYTES: usize = 255;

/// Of each rank the name of its node, and the names of columns that nobody knows. Ranks that the table does not name come
/// to those it does.
pub(crate) fn read<R: BufRead>(
    mut records: Records<R>,
    seen: &mut Seen,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut columns = Columns::read(&mut records, &NEEDED, &[])?;
    let [rank_at, node_at] = columns.needed;
    let mut nodes: Vec<Option<String>> = vec![None; seen.ranks() as usize];
    while columns.advance(&mut records)? {
        let rank = rank_at.number(&records, MOST_RANKS - 1)?;
        let node = node_at.text(&records)?;
        if node.is_empty() || node.len() > MOST_NAME_BYTES || node.chars().any(char::is_control) {
            return Err(node_at.wrong(&records, "the name of a node"));
        }
        seen.name(rank as u32);
        nodes.resize(seen.ranks() as usize, None);
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
