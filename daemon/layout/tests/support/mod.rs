//! Reads a layout and evaluates it.

use mpiscope_layout::{Inputs, Layout, LayoutFile, Points, Values};

/// The only layout of a file without errors.
pub(crate) fn layout(text: &str) -> Layout {
    let mut file = LayoutFile::parse(text.as_bytes());
    assert!(file.errors.is_empty() && file.layouts.len() == 1, "{file:?}");
    file.layouts.remove(0)
}

/// A layout whose `x` is an expression.
pub(crate) fn expression(expression: &str) -> Layout {
    layout(&format!("BEGIN_VIZ=test\nx={expression}\ny=0\nz=0\nEND_VIZ\n"))
}

/// What an expression is for rank 3 of 8.
pub(crate) fn value(text: &str) -> f64 {
    expression(text).evaluate(&inputs()).expect("few points").x[3]
}

/// A run of 8 ranks.
pub(crate) fn inputs() -> Inputs {
    let mut inputs = Inputs::new(8);
    inputs.set_node(per_rank(|rank| f64::from(rank / 4)));
    inputs.set_thread(Values::Same(2.0));
    inputs.set_color(per_rank(|rank| 10.0 * f64::from(rank)));
    inputs.set_event(0, per_rank(|rank| 100.0 + f64::from(rank)));
    inputs.set_axis_sizes([4.0, 2.0, 1.0]);
    inputs.set_metadata("CPU", per_rank(|rank| f64::from(7 - rank)));
    inputs
}

/// Values of 8 ranks.
pub(crate) fn per_rank(value: impl Fn(u32) -> f64) -> Values {
    Values::PerRank((0..8).map(value).collect())
}

/// The points of a layout for ranks without values.
pub(crate) fn points(text: &str, ranks: usize) -> Points {
    layout(text).evaluate(&Inputs::new(ranks)).expect("few points")
}

/// What is wrong with a file, a line each.
pub(crate) fn errors(text: &str) -> Vec<String> {
    LayoutFile::parse(text.as_bytes()).errors.iter().map(ToString::to_string).collect()
}
