//! Any bytes as a layout file: a file that somebody found elsewhere.

use mpiscope_layout::{Inputs, LayoutFile, Values};

const RANKS: usize = 4;

/// Any bytes as a layout file: parsed, and each layout evaluated for a few ranks.
///
/// # Panics
/// When a layout has not all its points.
pub fn layouts(bytes: &[u8]) {
    let mut inputs = Inputs::new(RANKS);
    inputs.set_event(0, Values::PerRank(vec![1.0, -1.0, f64::NAN, f64::INFINITY]));
    inputs.set_metadata("cpu", Values::PerRank(vec![3.0]));
    let file = LayoutFile::parse(bytes);
    for error in &file.errors {
        assert!(!error.to_string().is_empty());
    }
    for layout in &file.layouts {
        let points = layout.evaluate(&inputs);
        assert!(points.is_ok_and(|points| points.len() == RANKS * layout.points_per_rank()));
    }
}
