//! Finding nodes by their names, whole or short.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The values of hosts: by the whole name, or by what stands before the first dot of both names. Where several nodes
/// have the same short name, the first in the alphabet counts.
pub(super) fn find_all(by_node: &HashMap<String, f64>, hosts: &[String]) -> Vec<Option<f64>> {
    let mut by_short: HashMap<&str, (&str, f64)> = HashMap::new();
    for (node, value) in by_node {
        let of_node = (node.as_str(), *value);
        match by_short.entry(short_name(node)) {
            Entry::Vacant(free) => drop(free.insert(of_node)),
            Entry::Occupied(mut other) if node.as_str() < other.get().0 => drop(other.insert(of_node)),
            Entry::Occupied(_) => {}
        }
    }
    let find = |host: &String| {
        let whole = by_node.get(host).copied();
        whole.or_else(|| by_short.get(short_name(host)).map(|(_, value)| *value))
    };
    hosts.iter().map(find).collect()
}

/// What stands before the first dot.
pub(super) fn short_name(node: &str) -> &str {
    node.split('.').next().unwrap_or(node)
}
