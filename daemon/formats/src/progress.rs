//! How the work reports its progress, and how it learns that it is to stop.

use anyhow::Result;

/// How often items are counted as progress.
pub(crate) const PROGRESS_INTERVAL: u64 = 1 << 14;

/// Takes in how far the work is. Both functions fail when the caller wants it to end.
pub trait Progress: Sync {
    /// A part of the work begins; `steps` is how many steps it takes, where that is known.
    ///
    /// # Errors
    /// When the work should be given up.
    fn begin(&self, what: &'static str, steps: Option<u64>) -> Result<()>;

    /// That many steps are done since the last call.
    ///
    /// # Errors
    /// When the work should be given up.
    fn step(&self, steps: u64) -> Result<()>;
}

/// Shows nothing and never gives up.
#[cfg(test)]
pub(crate) struct NoProgress;

#[cfg(test)]
impl Progress for NoProgress {
    fn begin(&self, _: &'static str, _: Option<u64>) -> Result<()> {
        Ok(())
    }

    fn step(&self, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Passes items on and reports them as progress; an item becomes an error when it is time to give up.
pub(crate) fn report_items<T>(
    items: impl Iterator<Item = Result<T>>,
    progress: &dyn Progress,
) -> impl Iterator<Item = Result<T>> {
    (1_u64..).zip(items).map(move |(number, item)| {
        if number % PROGRESS_INTERVAL == 0 {
            progress.step(PROGRESS_INTERVAL)?;
        }
        item
    })
}
