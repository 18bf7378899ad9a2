//! The middle of several values; of an even number the upper one.

pub(crate) fn median<T: Ord + Copy>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}

/// 0 of none.
pub(crate) fn median_of_floats(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
