//! How a series is cut into segments.

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvolutionOptions {
    /// Windows of the shortest growth or steady stretch.
    pub fewest_windows: u64,
    /// The highest probability of chance for a reported growth.
    pub chance: f64,
    /// By what part a growth rises.
    pub least_rise: f64,
    /// By what part a steady stretch is above the average before it.
    pub least_above: f64,
    /// And by how many standard errors.
    pub sure: f64,
    /// Windows after a cut before it is final.
    pub settled_windows: u64,
    /// Most segments of a series.
    pub most_segments: usize,
}

impl Default for EvolutionOptions {
    fn default() -> Self {
        Self {
            fewest_windows: 5,
            chance: 0.05,
            least_rise: 0.2,
            least_above: 0.1,
            sure: 6.0,
            settled_windows: 16,
            most_segments: 256,
        }
    }
}
