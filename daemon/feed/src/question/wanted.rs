//! Whether an answer is still wanted.

/// What a question says that a newer one of its kind replaced.
pub(crate) const REPLACED: &str = "a newer question took its place";

/// Fails once nobody wants the answer.
pub(crate) fn wanted(is_wanted: &dyn Fn() -> bool) -> Result<(), String> {
    if is_wanted() { Ok(()) } else { Err(REPLACED.to_owned()) }
}
