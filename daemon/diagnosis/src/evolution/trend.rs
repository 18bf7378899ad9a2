//! The test of Mann and Kendall: whether values rise more often than chance would have them.

/// For so few values the chances are counted out.
const FEW: usize = 10;

/// How likely values that came by chance would rise as clearly (one-sided).
#[must_use]
pub(super) fn rising(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 2 {
        return 1.0;
    }
    let mut rises = 0_i64;
    for (at, value) in values.iter().enumerate() {
        for later in &values[at + 1..] {
            rises += i64::from(later > value) - i64::from(later < value);
        }
    }
    if count <= FEW { by_counting(count, rises) } else { by_normal(values, rises) }
}

/// The share of all orders of these values that rise as clearly.
fn by_counting(count: usize, rises: i64) -> f64 {
    // How many orders have how many pairs that fall.
    let mut orders = vec![1_u64];
    for values in 2..=count {
        let mut next = vec![0_u64; orders.len() + values - 1];
        for (falls, ways) in orders.iter().enumerate() {
            next[falls..falls + values].iter_mut().for_each(|sum| *sum += ways);
        }
        orders = next;
    }
    let pairs = (count * (count - 1) / 2) as i64;
    let as_clear = orders.iter().enumerate().filter(|(falls, _)| pairs - 2 * *falls as i64 >= rises);
    let all: u64 = orders.iter().sum();
    as_clear.map(|(_, ways)| ways).sum::<u64>() as f64 / all as f64
}

fn by_normal(values: &[f64], rises: i64) -> f64 {
    let of = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|one, other| one == other).map(|tied| of(tied.len() as f64)).sum();
    let variance = (of(values.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (rises as f64 - rises.signum() as f64) / variance.sqrt();
    beyond(z)
}

/// How likely a normal value is greater. To 1e-7 (a rational fit of Abramowitz and Stegun, 26.2.17).
fn beyond(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let fit = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * fit;
    if z >= 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_counted_out() {
        // Tables of the statistic for five values: 10 has 1/120, 8 has 5/120.
        assert!((rising(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 1.0 / 120.0).abs() < 1e-12);
        assert!((rising(&[1.0, 2.0, 4.0, 3.0, 5.0]) - 5.0 / 120.0).abs() < 1e-12);
        assert_eq!(rising(&[5.0, 4.0, 3.0, 2.0, 1.0]), 1.0);
        assert_eq!((rising(&[]), rising(&[7.0])), (1.0, 1.0));
    }

    #[test]
    fn many_values_agree_with_tables_of_the_normal_distribution() {
        assert!((beyond(0.0) - 0.5).abs() < 1e-7 && (beyond(1.644_853_6) - 0.05).abs() < 1e-7);
        assert!((beyond(-1.959_964) - 0.975).abs() < 1e-7);
        let rises: Vec<f64> = (0..30).map(f64::from).collect();
        assert!(rising(&rises) < 1e-10);
        assert_eq!(rising(&[3.0; 40]), 1.0, "all alike");
        // Both ways of reckoning agree where they meet.
        let values = [4.0, 5.0, 2.0, 1.0, 3.0, 8.0, 6.0, 10.0, 7.0, 9.0];
        let mut rises = 0;
        for (at, value) in values.iter().enumerate() {
            rises += values[at + 1..].iter().map(|later| if later > value { 1 } else { -1 }).sum::<i64>();
        }
        let (counted, normal) = (by_counting(values.len(), rises), by_normal(&values, rises));
        assert!((counted / normal - 1.0).abs() < 0.2, "{counted} {normal}");
    }
}
