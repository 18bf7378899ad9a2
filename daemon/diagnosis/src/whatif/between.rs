//! What ranks compute beyond others that do the same, by the places of the two calls that it is between.

use crate::whatif::gaps::{Gap, each_gap, each_of_class, means};
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::Pairs;
use rustc_hash::FxHashMap;

/// Numbers the pairs of places, at most this many; all others are one more.
pub(crate) fn number_pairs(graph: &Graph, most: usize) -> Pairs {
    let most = most.clamp(1, usize::from(u16::MAX)) - 1;
    let mut of_call = vec![0; graph.call_count()];
    let mut numbers: FxHashMap<[u16; 2], u16> = FxHashMap::default();
    each_gap(graph, |gap| {
        let next = numbers.len().min(most) as u16;
        of_call[gap.call] = *numbers.entry(gap.places).or_insert(next);
    });
    Pairs { of_call, count: numbers.len().clamp(1, most + 1) }
}

/// What a rank computes between calls at two places, in a segment of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Computed {
    pub(crate) own_ns: f64,
    /// What others compute.
    pub(crate) usual_ns: f64,
    times: u32,
    /// Most ranks that do the same are at neither place.
    pub(crate) is_alone: bool,
    /// Here the rank exceeds others, or falls short of them, by clearly more than elsewhere.
    differs: bool,
}

/// A rank differs from others where it computes this many times as much more, or less, as elsewhere.
const DIFFERS: f64 = 1.25;

impl Computed {
    fn ratio(&self) -> f64 {
        self.own_ns / self.usual_ns.max(1.0)
    }

    fn exceeds(&self) -> bool {
        self.own_ns > self.usual_ns
    }

    /// By how much it exceeds others, where the rank differs from them.
    pub(crate) fn beyond_ns(&self) -> f64 {
        if self.differs { (self.own_ns - self.usual_ns).max(0.0) } else { 0.0 }
    }

    /// By how much it falls short of others, where the rank differs from them.
    pub(crate) fn below_ns(&self) -> f64 {
        if self.differs { (self.usual_ns - self.own_ns).max(0.0) } else { 0.0 }
    }

    /// What others compute as a share of it, where the rank differs from them; otherwise 1.
    pub(crate) fn usual_share(&self) -> f32 {
        if self.differs { (self.usual_ns / self.own_ns) as f32 } else { 1.0 }
    }
}

/// Finds where a rank differs from others.
fn find_differing(of_rank: &mut [Computed]) {
    let whole = of_rank.iter().fold(Computed::default(), |whole, of| Computed {
        own_ns: whole.own_ns + of.own_ns,
        usual_ns: whole.usual_ns + of.usual_ns,
        ..whole
    });
    for of in of_rank.iter_mut().filter(|of| of.own_ns >= 1.0) {
        let (own_ns, usual_ns) = (whole.own_ns - of.own_ns, whole.usual_ns - of.usual_ns);
        let elsewhere = Computed { own_ns, usual_ns, ..whole }.ratio();
        let is_more = of.ratio() > DIFFERS * elsewhere.max(1.0);
        let is_less = usual_ns > 0.0 && DIFFERS * of.ratio() < elsewhere.min(1.0);
        of.differs = is_more || is_less;
    }
}

/// By segment, rank and pair, what ranks compute. `of_rank`: the number of a segment and rank. `is_alone`: whether most ranks that do
/// the same are at neither place.
pub(crate) fn computed(
    graph: &Graph,
    pairs: &Pairs,
    (segments, ranks): (usize, usize),
    of_rank: impl Fn(&Gap) -> usize,
    is_alone: impl Fn(&Gap) -> bool,
) -> Vec<Computed> {
    let mut computed = vec![Computed::default(); segments * ranks * pairs.count];
    each_gap(graph, |gap| {
        let of = &mut computed[of_rank(&gap) * pairs.count + pairs.of_call(gap.call)];
        of.own_ns += gap.pure_ns;
        of.times += 1;
        of.is_alone |= is_alone(&gap);
    });
    for of_segment in computed.chunks_exact_mut(ranks * pairs.count) {
        find_usual(graph, of_segment, pairs.count);
        of_segment.chunks_exact_mut(pairs.count).for_each(find_differing);
    }
    computed
}

/// What others compute between the same calls: who does it at all as long each time, and as often, as others who do. What most do
/// not do at all they would do in equal parts. A rank that calls less than others, as at the border of a grid, computes the rest of
/// what ranks compute in all between those of its calls that others make, too.
fn find_usual(graph: &Graph, computed: &mut [Computed], pairs: usize) {
    find_usual_of_pairs(graph, computed, pairs);
    let of_ranks = computed.chunks_exact(pairs);
    let whole_ns: Vec<f64> = of_ranks.map(|of_rank| of_rank.iter().map(|of| of.own_ns).sum()).collect();
    for (of_rank, mean_ns) in computed.chunks_exact_mut(pairs).zip(means(graph, &whole_ns, 1)) {
        let missing_ns = mean_ns - of_rank.iter().map(|of| of.usual_ns).sum::<f64>();
        let beyond = |of: &Computed| if of.is_alone { 0.0 } else { (of.own_ns - of.usual_ns).max(0.0) };
        let all_beyond_ns: f64 = of_rank.iter().map(beyond).sum();
        if missing_ns > 0.0 && all_beyond_ns > 0.0 {
            of_rank.iter_mut().for_each(|of| of.usual_ns += missing_ns * beyond(of) / all_beyond_ns);
        }
    }
}

fn find_usual_of_pairs(graph: &Graph, computed: &mut [Computed], pairs: usize) {
    let own_ns: Vec<f64> = computed.iter().map(|of| of.own_ns).collect();
    let means = means(graph, &own_ns, pairs);
    computed.iter_mut().zip(means).for_each(|(of, mean)| of.usual_ns = mean);
    let mut times: Vec<u32> = Vec::new();
    each_of_class(graph, (computed.len(), pairs), |of_pair| {
        times.clear();
        times.extend(of_pair.iter().map(|at| computed[*at].times).filter(|times| *times > 0));
        if times.is_empty() {
            return;
        }
        let all: f64 = times.iter().copied().map(f64::from).sum();
        let each_ns = of_pair.iter().map(|at| own_ns[*at]).sum::<f64>() / all;
        let middle = times.len() / 2;
        let most = *times.select_nth_unstable(middle).1;
        for at in of_pair {
            let of = &mut computed[*at];
            if !of.is_alone {
                of.usual_ns = each_ns * f64::from(of.times.min(most));
            }
        }
    });
}

/// What others compute times this is the most that a rank with so much excess keeps where it exceeds them, or the least that it
/// gets, if the excess is negative, where it falls short of them: what differs most changes first. None if that is not enough.
pub(crate) fn level(of_rank: &[Computed], excess_ns: f64) -> Option<f64> {
    let exceeds = excess_ns > 0.0;
    let mut differing: Vec<&Computed> =
        of_rank.iter().filter(|of| of.differs && of.exceeds() == exceeds).collect();
    differing.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    if exceeds {
        differing.reverse();
    }
    let (mut own_ns, mut usual_ns) = (0.0, 0.0);
    for (number, of) in differing.iter().enumerate() {
        own_ns += of.own_ns;
        usual_ns += of.usual_ns;
        let next = differing.get(number + 1).map_or(1.0, |next| next.ratio());
        let level = (own_ns - excess_ns) / usual_ns.max(1.0);
        if if exceeds { level >= next } else { level <= next } {
            return Some(level);
        }
    }
    None
}
