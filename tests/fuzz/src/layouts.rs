//! Any bytes as a layout file, or as what a site says of its machine: files that somebody found elsewhere.

use mpiscope_layout::{Inputs, LayoutFile, RankPlacement, SiteDescription, Values, layout_texts};

const RANKS: usize = 4;

/// Any bytes as a layout file, with each layout evaluated for a few ranks, and as a description of a machine.
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
    let _ = layout_texts(&String::from_utf8_lossy(bytes));
    let mut site = SiteDescription::default();
    // What stands before an error is used.
    let _ = site.read(bytes);
    let placement = RankPlacement::on_nodes_of(&site, RANKS);
    let mut inputs = placement.inputs(&site);
    placement.complete(&mut inputs);
    assert_eq!(inputs.ranks(), RANKS);
}
