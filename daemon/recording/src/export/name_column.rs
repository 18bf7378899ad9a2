//! What the numbers in a row are called.

/// A column that is in no segment: what a number in a row is called. It stands behind the row's own columns.
pub struct NameColumn<R> {
    /// What the column is called.
    pub name: &'static str,
    /// The number in a row; none where the row has none.
    pub number: fn(&R) -> Option<usize>,
    /// By number, the names; an empty one is not known. A number without a name has none.
    pub names: Vec<String>,
}
