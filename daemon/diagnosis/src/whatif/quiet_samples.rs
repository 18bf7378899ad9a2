//! The quietest stretches of the run.

/// The run is looked at in this many stretches; the quietest quarter of them says what flights take.
pub(crate) const STRETCHES: usize = 12;
const QUIET_SHARE: usize = 4;

/// The samples of the quietest stretches, from all in the order of time.
pub(crate) fn quiet_samples<S: Copy>(samples: &[S], value: impl Fn(&S) -> u64) -> Vec<S> {
    let length = (samples.len() / STRETCHES).max(1);
    let median = |stretch: &[S]| {
        let mut values: Vec<u64> = stretch.iter().map(&value).collect();
        let middle = values.len() / 2;
        *values.select_nth_unstable(middle).1
    };
    let mut stretches: Vec<(u64, &[S])> =
        samples.chunks(length).map(|stretch| (median(stretch), stretch)).collect();
    stretches.sort_by_key(|(median, _)| *median);
    let quarter = (stretches.len() / QUIET_SHARE).max(1);
    stretches.truncate(quarter);
    stretches.into_iter().flat_map(|(_, stretch)| stretch).copied().collect()
}
