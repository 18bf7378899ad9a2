//! Where a layout puts the ranks of a run.

use crate::warning::LayoutWarning;

/// The points of all ranks: those of rank 0, then those of rank 1, and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// How many points each rank has.
    pub points_per_rank: usize,
    /// By point; may be NaN or infinite, as all coordinates and colors.
    pub x: Vec<f64>,
    /// By point.
    pub y: Vec<f64>,
    /// By point.
    pub z: Vec<f64>,
    /// By point: the value that the color shows.
    pub color: Vec<f64>,
    /// What this run lacks, and points that cannot be drawn.
    pub warnings: Vec<LayoutWarning>,
}

impl Points {
    /// How many points there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Stretches each axis from 0 to 1. An axis on which all points are equal becomes 0.
    pub(crate) fn normalize(&mut self) {
        for axis in [&mut self.x, &mut self.y, &mut self.z] {
            let finite = || axis.iter().copied().filter(|value| value.is_finite());
            let least = finite().fold(f64::INFINITY, f64::min);
            let most = finite().fold(f64::NEG_INFINITY, f64::max);
            // Halves, since the difference of two numbers may be too large for a number.
            let extent = most / 2.0 - least / 2.0;
            for value in axis.iter_mut().filter(|value| value.is_finite()) {
                *value = if extent > 0.0 { (*value / 2.0 - least / 2.0) / extent } else { 0.0 };
            }
        }
    }

    /// How many points cannot be drawn.
    pub(crate) fn count_not_finite(&self) -> usize {
        let coordinates = self.x.iter().zip(&self.y).zip(&self.z);
        coordinates.filter(|((x, y), z)| !(x.is_finite() && y.is_finite() && z.is_finite())).count()
    }
}
