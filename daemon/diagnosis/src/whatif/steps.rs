//! Work that differs from step to step: now one rank has more, now another, and all have as much in sum.
//!
//! Ranks that do the same compute between the same two calls equally often; the computing before the same one of these calls is
//! that of one step. Balance of shares changes nothing about it. Where balance within each step would save much more, that is what
//! balanced work is.

use crate::whatif::change::Change;
use crate::whatif::gaps::{Gap, class_count, class_of, each_gap};
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::Work;
use crate::whatif::rule::Rule;

/// What differs from step to step is looked at where it may cost this share of the run, and counts where it costs this share.
const LEAST_LEFT: f64 = 0.1;
const LEAST_SAVED: f64 = 0.05;
/// How long ranks had no CPU is known only on average over several steps. It may be why they differ, if each step is that much
/// longer by one of this number of ranks that had none.
const DELAYED_BY_TURNS: u32 = 16;
/// Ranks that do the same compute between two calls nearly as often: this share of the most, and at least so often.
const AS_OFTEN: f64 = 0.95;
const LEAST_STEPS: u32 = 8;

/// What ranks of a class compute before the same one of their calls.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    ranks: u32,
    sum_ns: f64,
    /// If each rank's share of all work is balanced.
    balanced_ns: f64,
    most_balanced_ns: f64,
}

/// A class of ranks: how long its ranks, each by itself, had no CPU for steps; and by how much the longest of each step is longer
/// than the mean, if shares are balanced.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    ranks: u32,
    delayed_ns: f64,
    left_ns: f64,
}

impl Class {
    fn differs(&self, length_ns: f64) -> bool {
        let by_turns = f64::from(self.ranks.min(DELAYED_BY_TURNS)) / f64::from(self.ranks.max(1));
        self.left_ns >= LEAST_LEFT * length_ns && self.delayed_ns * by_turns <= self.left_ns
    }
}

/// The steps of a run, class by class and pair of places by pair.
struct Steps<'a> {
    graph: &'a Graph,
    work: &'a Work,
    /// By class, its ranks.
    ranks: Vec<u32>,
    /// By class and pair, where its steps begin; one more at the end.
    first: Vec<usize>,
}

/// The class of a rank whose calls follow each other: what several threads do at the same time is no step.
fn class_of_single(graph: &Graph, rank: usize) -> Option<usize> {
    class_of(graph, rank).filter(|_| graph.threads_of[rank].len() == 1)
}

impl<'a> Steps<'a> {
    fn new(graph: &'a Graph, work: &'a Work) -> Self {
        let pairs = work.pairs.count();
        let mut times = vec![0_u32; graph.threads_of.len() * pairs];
        each_gap(graph, |gap| times[gap.rank * pairs + work.pairs.of_call(gap.call)] += 1);
        let mut ranks = vec![0_u32; class_count(graph)];
        // By class and pair, how many ranks compute there, and how often: the fewest times and the most.
        let mut bounds = vec![(0_u32, u32::MAX, 0_u32); ranks.len() * pairs];
        for (rank, of_rank) in times.chunks_exact(pairs).enumerate() {
            let Some(class) = class_of_single(graph, rank) else { continue };
            ranks[class] += 1;
            for ((ranks, fewest, most), times) in bounds[class * pairs..].iter_mut().zip(of_rank) {
                if *times > 0 {
                    (*ranks, *fewest, *most) = (*ranks + 1, (*fewest).min(*times), (*most).max(*times));
                }
            }
        }
        let mut first = Vec::with_capacity(bounds.len() + 1);
        let mut next = 0;
        for (at, (some, fewest, most)) in bounds.into_iter().enumerate() {
            first.push(next);
            let is_named = at % pairs < work.pairs.places.len();
            let are_alike = fewest >= LEAST_STEPS && f64::from(fewest) >= AS_OFTEN * f64::from(most);
            // What few do is balanced among all.
            let are_most = some > 1 && 2 * some >= ranks[at / pairs];
            if is_named && are_alike && are_most {
                next += fewest as usize;
            }
        }
        first.push(next);
        Self { graph, work, ranks, first }
    }

    /// Shows each computing that is of a step, with its class and step.
    fn each(&self, mut take: impl FnMut(&Gap, usize, usize)) {
        let pairs = self.work.pairs.count();
        let mut seen = vec![0_usize; self.graph.threads_of.len() * pairs];
        each_gap(self.graph, |gap| {
            let Some(class) = class_of_single(self.graph, gap.rank) else { return };
            let pair = self.work.pairs.of_call(gap.call);
            let number = &mut seen[gap.rank * pairs + pair];
            let step = self.first[class * pairs + pair] + *number;
            *number += 1;
            if step < self.first[class * pairs + pair + 1] {
                take(&gap, class, step);
            }
        });
    }

    /// By call, the computing before it if that is the same for all ranks in each step; no number where it is of none. Empty where
    /// what differs from step to step can cost little, or may be the lack of CPUs.
    fn even(&self) -> Vec<f32> {
        let (graph, pairs) = (self.graph, self.work.pairs.count());
        let class = |ranks: &u32| Class { ranks: *ranks, ..Class::default() };
        let mut classes: Vec<Class> = self.ranks.iter().map(class).collect();
        let mut steps = vec![Step::default(); self.first.last().copied().unwrap_or(0)];
        self.each(|gap, class, step| {
            classes[class].delayed_ns += graph.computing_before(gap.call)[1] as f64;
            let balanced_ns = gap.pure_ns * self.work.factor(&self.work.scales, gap.rank, gap.call);
            let of = &mut steps[step];
            of.ranks += 1;
            of.sum_ns += gap.pure_ns;
            of.balanced_ns += balanced_ns;
            of.most_balanced_ns = of.most_balanced_ns.max(balanced_ns);
        });
        for (class, of) in classes.iter_mut().enumerate() {
            let of_class = &steps[self.first[class * pairs]..self.first[(class + 1) * pairs]];
            let left_ns =
                |step: &Step| step.most_balanced_ns - step.balanced_ns / f64::from(step.ranks.max(1));
            of.left_ns = of_class.iter().map(left_ns).sum();
        }
        let length_ns = (graph.recorded_ns() - graph.began_ns()) as f64;
        if !classes.iter().any(|class| class.differs(length_ns)) {
            return Vec::new();
        }
        let mut even_ns = vec![f32::NAN; graph.call_count()];
        self.each(|gap, class, step| {
            if classes[class].differs(length_ns) {
                even_ns[gap.call] = (steps[step].sum_ns / f64::from(steps[step].ranks)) as f32;
            }
        });
        even_ns
    }
}

/// Finds whether work differs from step to step.
pub(crate) fn find(graph: &mut Graph) {
    if !graph.follows(Rule::Steps) || !graph.dropped.is_empty() {
        return;
    }
    let even_ns = Steps::new(graph, graph.work()).even();
    if even_ns.is_empty() {
        return;
    }
    let balanced = Change { balanced: true, ..Change::default() };
    let by_share_ns = graph.replay(&balanced).run_ns;
    graph.even_steps_ns = even_ns;
    let saved_ns = by_share_ns - graph.replay(&balanced).run_ns;
    let (began_ns, ended_ns) = (graph.began_ns() as f64, graph.recorded_ns() as f64);
    if saved_ns < LEAST_SAVED * (ended_ns - began_ns) {
        graph.even_steps_ns = Vec::new();
    } else {
        graph.differs_by_step = saved_ns > ended_ns - by_share_ns;
    }
}
