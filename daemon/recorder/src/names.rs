//! Names of hosts in sentences.

/// A sentence names this number of them.
const MOST_NAMED: usize = 8;

/// The first names, and the number of the others.
pub(crate) fn listed(nodes: &[String]) -> String {
    let named = nodes.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match nodes.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
