//! How much a layout file may ask for. Each limit has a sentence of its own in `error.rs` or `evaluate.rs`.

/// Bytes of a layout file.
pub const MOST_FILE_BYTES: usize = 1 << 20;
/// Parentheses and calls within each other.
pub const MOST_DEPTH: u32 = 64;
/// Statements of a layout.
pub const MOST_STATEMENTS: usize = 1_000;
/// Numbers, names, operators and calls of a layout.
pub const MOST_OPERATIONS: usize = 20_000;
/// Points of a rank.
pub const MOST_POINTS_PER_RANK: usize = 64;
/// Points of all ranks.
pub const MOST_POINTS: usize = 1 << 24;
/// Layouts of a file.
pub const MOST_LAYOUTS: usize = 256;
/// The name of a layout.
pub const MOST_NAME_BYTES: usize = 256;
