//! What ranks compute beyond others that do the same, by the places of the two calls that it is between.

use crate::whatif::gaps::{Gap, each_gap, each_of_class, means};
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::Pairs;
use rustc_hash::FxHashMap;

/// Numbers the pairs of places between which most is computed, at most this many; all others share one more number.
pub(crate) fn number_pairs(graph: &Graph, most: usize) -> Pairs {
    let most = most.clamp(2, usize::from(u16::MAX)) - 1;
    // In the order in which they come, before it is known between which most is computed.
    let mut firsts: FxHashMap<[u16; 2], u32> = FxHashMap::default();
    let mut first_of_call = vec![0; graph.call_count()];
    let mut pairs: Vec<([u16; 2], f64)> = Vec::new();
    each_gap(graph, |gap| {
        let first = *firsts.entry(gap.places).or_insert(pairs.len() as u32);
        if first as usize == pairs.len() {
            pairs.push((gap.places, 0.0));
        }
        pairs[first as usize].1 += gap.pure_ns;
        first_of_call[gap.call] = first;
    });
    let mut by_time: Vec<u32> = (0..pairs.len() as u32).collect();
    by_time.sort_by(|one, other| pairs[*other as usize].1.total_cmp(&pairs[*one as usize].1));
    by_time.truncate(most);
    let mut numbers = vec![by_time.len() as u16; pairs.len().max(1)];
    by_time.iter().zip(0..).for_each(|(first, number)| numbers[*first as usize] = number);
    let of_call = first_of_call.into_iter().map(|first: u32| numbers[first as usize]).collect();
    Pairs { of_call, places: by_time.into_iter().map(|first| pairs[first as usize].0).collect() }
}

/// What a rank computes between calls at two places, in a segment of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Computed {
    pub(crate) own_ns: f64,
    /// What others compute.
    pub(crate) usual_ns: f64,
    times: u32,
    /// Most ranks that do the same compute nothing between these calls.
    is_unusual: bool,
    /// Most ranks that do the same make neither of these calls.
    pub(crate) is_alone: bool,
    /// Here the rank exceeds others, or falls short of them, by clearly more than elsewhere.
    differs: bool,
}

/// A rank differs from others where it computes this many times as much more, or less, as elsewhere.
const DIFFERS: f64 = 1.25;
/// What is missing or too much is where a rank exceeds others if that is at least this share of it: noise explains nothing.
const LEAST_EXPLAINED: f64 = 0.1;

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

    /// What others compute as a share of it, where the rank differs from them; otherwise 1. Of what a rank does alone nothing is
    /// left if it is spread: while the others waited for it, they can do it themselves, each a part at the same time.
    pub(crate) fn usual_share(&self, is_spread: bool) -> f32 {
        match self.differs {
            true if is_spread && self.is_alone => 0.0,
            true => (self.usual_ns / self.own_ns) as f32,
            false => 1.0,
        }
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

/// By segment, rank and pair, what ranks compute, before they are compared. `of_rank` numbers segments and ranks. `is_alone`
/// tells whether most ranks that do the same make neither of the two calls.
pub(crate) fn collect(
    graph: &Graph,
    pairs: &Pairs,
    (segments, ranks): (usize, usize),
    of_rank: impl Fn(&Gap) -> usize,
    is_alone: impl Fn(&Gap) -> bool,
) -> Vec<Computed> {
    let mut computed = vec![Computed::default(); segments * ranks * pairs.count()];
    each_gap(graph, |gap| {
        let pair = pairs.of_call(gap.call);
        let of = &mut computed[of_rank(&gap) * pairs.count() + pair];
        of.own_ns += gap.pure_ns;
        of.times += 1;
        of.is_alone |= pair < pairs.places.len() && is_alone(&gap);
    });
    computed
}

/// Compares what ranks compute in a segment with what others do. `even_ns`: by rank, what those that do the same compute in all
/// on average.
pub(crate) fn compare(graph: &Graph, of_segment: &mut [Computed], pairs: &Pairs, even_ns: &[f64]) {
    find_usual(graph, of_segment, pairs, even_ns);
    of_segment.chunks_exact_mut(pairs.count()).for_each(find_differing);
}

/// Finds what others compute between the same calls. In all it is what ranks compute on average:
///
/// - A rank that makes fewer calls, as at the border of a grid, computes what is missing between the calls that it shares
///   with others, where it clearly computes more than they do.
/// - What is too much is computed between calls between which most compute nothing, as the work of a root, unless others
///   compute as much before the second or after the first of them.
fn find_usual(graph: &Graph, computed: &mut [Computed], pairs: &Pairs, even_ns: &[f64]) {
    find_usual_of_pairs(graph, computed, pairs.count());
    let elsewhere_ns = usual_elsewhere(graph, computed, pairs);
    let of_ranks = computed.chunks_exact_mut(pairs.count()).zip(elsewhere_ns.chunks_exact(pairs.count()));
    for ((of_rank, elsewhere_ns), even_ns) in of_ranks.zip(even_ns) {
        let missing_ns = even_ns - of_rank.iter().map(|of| of.usual_ns).sum::<f64>();
        let part = |(of, elsewhere_ns): (&Computed, &f64)| match missing_ns > 0.0 {
            true if !of.is_alone && of.ratio() > DIFFERS => of.own_ns - of.usual_ns,
            false if of.is_unusual => (of.usual_ns - elsewhere_ns).max(0.0),
            _ => 0.0,
        };
        let parts: Vec<f64> = of_rank.iter().zip(elsewhere_ns).map(part).collect();
        let all: f64 = parts.iter().sum();
        if all > LEAST_EXPLAINED * missing_ns.abs() {
            let explained = of_rank.iter_mut().zip(parts).filter(|(_, part)| *part > 0.0);
            explained.for_each(|(of, part)| of.usual_ns = (of.usual_ns + missing_ns * part / all).max(1.0));
        }
    }
}

/// By rank and pair, what those that do the same compute before calls at the place of the second, or after calls at that of
/// the first, beyond what the rank usually computes there between calls that are usual.
fn usual_elsewhere(graph: &Graph, computed: &[Computed], pairs: &Pairs) -> Vec<f64> {
    let (columns, places) = columns_of_places(pairs);
    let mut elsewhere_ns = vec![0.0_f64; computed.len()];
    let of_pairs = || (0..computed.len()).map(|at| (at, at / pairs.count(), at % pairs.count()));
    for side in 0..2 {
        let place = |rank: usize, pair: usize| columns.get(pair).map(|of_pair| rank * places + of_pair[side]);
        let ranks = computed.len() / pairs.count();
        let (mut own_ns, mut usual_ns) = (vec![0.0; ranks * places], vec![0.0; ranks * places]);
        for (at, rank, pair) in of_pairs() {
            let Some(place) = place(rank, pair) else { continue };
            own_ns[place] += computed[at].own_ns;
            usual_ns[place] += if computed[at].is_unusual { 0.0 } else { computed[at].usual_ns };
        }
        let means_ns = means(graph, &own_ns, places);
        for (at, rank, pair) in of_pairs() {
            let Some(place) = place(rank, pair) else { continue };
            elsewhere_ns[at] = elsewhere_ns[at].max(means_ns[place] - usual_ns[place]);
        }
    }
    elsewhere_ns
}

/// By pair, a dense number of each place; and how many there are.
fn columns_of_places(pairs: &Pairs) -> (Vec<[usize; 2]>, usize) {
    let mut numbers: FxHashMap<u16, usize> = FxHashMap::default();
    let mut number = |place: u16| {
        let next = numbers.len();
        *numbers.entry(place).or_insert(next)
    };
    let columns = pairs.places.iter().map(|of_pair| of_pair.map(&mut number)).collect();
    (columns, numbers.len().max(1))
}

/// Who computes between two calls at all does it as long each time, and as often, as others who do. What a rank does alone all
/// would do in equal parts.
fn find_usual_of_pairs(graph: &Graph, computed: &mut [Computed], pairs: usize) {
    let mut times: Vec<u32> = Vec::new();
    each_of_class(graph, (computed.len(), pairs), |of_pair| {
        times.clear();
        times.extend(of_pair.iter().map(|at| computed[*at].times).filter(|times| *times > 0));
        if times.is_empty() {
            return;
        }
        let all: f64 = times.iter().copied().map(f64::from).sum();
        let sum_ns: f64 = of_pair.iter().map(|at| computed[*at].own_ns).sum();
        let middle = times.len() / 2;
        let most = *times.select_nth_unstable(middle).1;
        let is_unusual = 2 * times.len() < of_pair.len();
        for at in of_pair {
            let of = &mut computed[*at];
            let part = f64::from(of.times.min(most)) / all;
            of.usual_ns = sum_ns * if of.is_alone { 1.0 / of_pair.len() as f64 } else { part };
            of.is_unusual = is_unusual;
        }
    });
}

/// Cuts the largest ratios of what a rank computes to what others compute to one common ratio, until the rank computes this
/// much less; if it is negative, raises the smallest. None if it would have to go beyond what others compute.
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
        let is_reached = if exceeds { level >= next } else { level <= next };
        if is_reached {
            return Some(level);
        }
    }
    None
}
