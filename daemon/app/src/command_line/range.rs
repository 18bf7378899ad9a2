//! The range that `--from` and `--to` give.

use anyhow::{Result, ensure};
use mpiscope_model::Nanoseconds;
use std::ops::Range;

/// The times from one to another; none where neither is given.
pub(crate) fn range_ns(
    from: Option<Nanoseconds>,
    to: Option<Nanoseconds>,
) -> Result<Option<Range<Nanoseconds>>> {
    let range = (from.is_some() || to.is_some()).then(|| from.unwrap_or(0)..to.unwrap_or(u64::MAX));
    ensure!(!range.as_ref().is_some_and(Range::is_empty), "--from has to be before --to");
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_needs_one_end_and_is_not_empty() {
        assert_eq!(range_ns(None, None).unwrap(), None);
        assert_eq!(range_ns(Some(5), None).unwrap(), Some(5..u64::MAX));
        assert_eq!(range_ns(None, Some(5)).unwrap(), Some(0..5));
        assert!(range_ns(Some(5), Some(5)).is_err());
    }
}
