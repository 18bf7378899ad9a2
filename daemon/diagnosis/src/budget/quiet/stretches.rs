//! When the network was quiet and when not, in as few words as say it.

use mpiscope_model::Nanoseconds;

/// Most stretches that are listed.
const MOST: usize = 24;
/// A run with this slowdown relative to a good one was never quiet.
pub(super) const NEVER_QUIET: f64 = 1.5;

/// A time in which the network was all quiet, or was not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Its beginning.
    pub from_ns: Nanoseconds,
    /// Its end.
    pub to_ns: Nanoseconds,
    /// Whether it was quiet.
    pub is_quiet: bool,
    /// How many times as long as in the quietest windows messages took, in the mean of its windows.
    pub times: f64,
}

/// Windows that are alike.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: usize,
    to: usize,
    is_quiet: bool,
    /// The sum of the times of its known windows, and their number.
    sum: f64,
    known: usize,
}

impl Run {
    fn times(&self) -> f64 {
        self.sum / self.known.max(1) as f64
    }

    fn join(self, other: Self) -> Self {
        let (sum, known) = (self.sum + other.sum, self.known + other.known);
        let joined = Self { to: other.to, sum, known, ..self };
        Self { is_quiet: joined.times() <= NEVER_QUIET, ..joined }
    }
}

/// The stretches of windows with about the same slowdown. An unknown window is like those before it.
pub(super) fn from_times(width_ns: u64, times: &[Option<f64>]) -> Vec<Stretch> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, times) in times.iter().enumerate() {
        let known = times.map(|times| Run {
            from: at,
            to: at + 1,
            is_quiet: times <= NEVER_QUIET,
            sum: times,
            known: 1,
        });
        match (known, runs.last_mut()) {
            (None, Some(last)) => last.to = at + 1,
            (Some(run), Some(last)) if last.is_quiet == run.is_quiet => *last = last.join(run),
            (Some(run), _) => runs.push(run),
            (None, None) => {}
        }
    }
    while runs.len() > MOST {
        shortest_joins(&mut runs);
    }
    let stretch = |run: &Run| Stretch {
        from_ns: run.from as u64 * width_ns,
        to_ns: run.to as u64 * width_ns,
        is_quiet: run.is_quiet,
        times: run.times(),
    };
    runs.iter().map(stretch).collect()
}

/// The shortest becomes part of those around it.
fn shortest_joins(runs: &mut Vec<Run>) {
    let shortest = (0..runs.len()).min_by_key(|&at| (runs[at].to - runs[at].from, at));
    let Some(at) = shortest else { return };
    let (first, last) = (at.saturating_sub(1), (at + 1).min(runs.len() - 1));
    let joined = runs[first..=last].iter().copied().reduce(Run::join);
    // What lies around it is alike; what it was part of keeps its kind.
    let kind = runs[if at == 0 { last } else { first }].is_quiet;
    runs.splice(first..=last, joined.map(|joined| Run { is_quiet: kind, ..joined }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_are_alike_are_one_stretch() {
        let quiet = |times| Some(times);
        let times = [None, quiet(1.0), quiet(1.2), Some(3.0), None, Some(5.0), quiet(1.1)];
        let of = |from, to, is_quiet, times| Stretch { from_ns: from, to_ns: to, is_quiet, times };
        let expected = [of(100, 300, true, 1.1), of(300, 600, false, 4.0), of(600, 700, true, 1.1)];
        assert_eq!(of_hundred(&times), expected);
        assert_eq!(of_hundred(&[None; 4]), []);
    }

    fn of_hundred(times: &[Option<f64>]) -> Vec<Stretch> {
        super::from_times(100, times)
    }

    #[test]
    fn a_flickering_network_has_few_stretches() {
        let mut times: Vec<Option<f64>> =
            (0..400).map(|at| Some(if at % 5 == 4 { 4.0 } else { 1.0 })).collect();
        times.extend([Some(6.0); 60]);
        let stretches = of_hundred(&times);
        assert!(stretches.len() <= MOST && stretches.len() > 1, "{stretches:?}");
        assert!(
            stretches
                .windows(2)
                .all(|pair| { pair[0].to_ns == pair[1].from_ns && pair[0].is_quiet != pair[1].is_quiet })
        );
        // Lasting stretches stay separate.
        assert_eq!(stretches.last().map(|last| (last.is_quiet, last.to_ns)), Some((false, 46_000)));
    }
}
