//! A line through a few points with outliers: the median of all slopes (Theil and Sen).

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    slope: f64,
    offset: f64,
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

impl Line {
    /// The line through points; level through a single one, none through none.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let mut slopes: Vec<f64> = Vec::new();
        for (at, one) in points.iter().enumerate() {
            let others = points[at + 1..].iter().filter(|other| other.0 != one.0);
            slopes.extend(others.map(|other| (other.1 - one.1) / (other.0 - one.0)));
        }
        // Greater messages do not take less.
        let slope = median(&mut slopes).unwrap_or(0.0).max(0.0);
        let mut offsets: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
        Some(Self { slope, offset: median(&mut offsets)? })
    }

    pub(super) fn value(&self, x: f64) -> f64 {
        self.slope * x + self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_far_off_changes_little() {
        let mut points: Vec<(f64, f64)> =
            (0..7).map(|x| (f64::from(x) * 50.0, 1000.0 + f64::from(x) * 25.0)).collect();
        points[3].1 = 90_000.0;
        let line = Line::through(&points).unwrap();
        assert!((line.value(1000.0) - 1500.0).abs() < 30.0, "{line:?}");
        assert_eq!(Line::through(&[(50.0, 7.0)]).unwrap().value(1e6), 7.0);
        assert_eq!(Line::through(&[]), None);
    }
}
