//! Names of nodes.

/// The node of ranks whose node is not known.
pub(crate) const UNKNOWN_NODE: &str = "unknown";
/// What a recording of a file without nodes lacks.
pub(crate) const NODES_NOT_KNOWN: &str = "the nodes of ranks are not known: all are shown on one";
/// Names are cut off behind this many characters.
const MAX_CHARACTERS: usize = 255;

/// A name without what could steer a terminal; none where nothing is left of it.
pub(crate) fn clean_node_name(name: &str) -> Option<String> {
    let name: String =
        name.chars().filter(|character| !character.is_control()).take(MAX_CHARACTERS).collect();
    (!name.is_empty()).then_some(name)
}
