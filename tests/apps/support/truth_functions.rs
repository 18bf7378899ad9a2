//! Which functions a truth tells of, for those in Rust who tell one or read one.

use std::sync::LazyLock;

/// The functions that `truth.h` counts, in its order. Of others a recording may have calls that no truth tells.
pub static TRUTH_FUNCTIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| listed(include_str!("../truth.h"), "#define TRUTH_FUNCTIONS(X)"));

/// The names in a list of a header.
pub(crate) fn listed(header: &'static str, begin: &str) -> Vec<&'static str> {
    let list = header.split(begin).nth(1).unwrap_or_default();
    let names = list.split("\n\n").next().unwrap_or_default().split("X(").skip(1);
    names.filter_map(|rest| Some(&*format!("MPI_{}", rest.split_once(')')?.0).leak())).collect()
}
