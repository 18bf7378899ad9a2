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

/// What all ranks of a class compute before the same one of their calls.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    sum_ns: f64,
    ranks: u32,
    /// If each rank's share of all work is balanced.
    balanced_ns: f64,
    most_balanced_ns: f64,
}

/// The steps of a run, class by class and pair of places by pair.
struct Steps<'a> {
    graph: &'a Graph,
    work: &'a Work,
    /// By class and pair, where its steps begin; one more at the end.
    first: Vec<usize>,
    classes: usize,
}

impl<'a> Steps<'a> {
    fn new(graph: &'a Graph, work: &'a Work) -> Self {
        let pairs = work.pairs.count();
        let mut counts = vec![0_u32; graph.threads_of.len() * pairs];
        each_gap(graph, |gap| counts[gap.rank * pairs + work.pairs.of_call(gap.call)] += 1);
        let classes = class_count(graph);
        // By class and pair, how many ranks compute there, and how often: the fewest times and the most.
        let mut bounds = vec![(0_u32, u32::MAX, 0_u32); classes * pairs];
        for (rank, of_rank) in counts.chunks_exact(pairs).enumerate() {
            let Some(class) = class_of(graph, rank) else { continue };
            for ((ranks, fewest, most), times) in bounds[class * pairs..].iter_mut().zip(of_rank) {
                if *times > 0 {
                    (*ranks, *fewest, *most) = (*ranks + 1, (*fewest).min(*times), (*most).max(*times));
                }
            }
        }
        let mut first = Vec::with_capacity(bounds.len() + 1);
        let mut next = 0;
        for (at, (ranks, fewest, most)) in bounds.into_iter().enumerate() {
            first.push(next);
            let is_named = at % pairs < work.pairs.places.len();
            let are_alike = fewest >= LEAST_STEPS && f64::from(fewest) >= AS_OFTEN * f64::from(most);
            if is_named && are_alike && ranks > 1 {
                next += fewest as usize;
            }
        }
        first.push(next);
        Self { graph, work, first, classes }
    }

    fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Shows each computing that is of a step, with its class and step.
    fn each(&self, mut take: impl FnMut(&Gap, usize, usize)) {
        let pairs = self.work.pairs.count();
        let mut seen = vec![0_usize; self.graph.threads_of.len() * pairs];
        each_gap(self.graph, |gap| {
            let Some(class) = class_of(self.graph, gap.rank) else { return };
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
        let graph = self.graph;
        let mut steps = vec![Step::default(); self.count()];
        let mut class_of_step = vec![0_u32; steps.len()];
        let mut delayed_ns = vec![0.0; self.classes];
        self.each(|gap, class, step| {
            let balanced_ns = gap.pure_ns * self.work.factor(&self.work.scales, gap.rank, gap.call);
            delayed_ns[class] += graph.computing_before(gap.call)[1] as f64;
            class_of_step[step] = class as u32;
            let of = &mut steps[step];
            of.ranks += 1;
            of.sum_ns += gap.pure_ns;
            of.balanced_ns += balanced_ns;
            of.most_balanced_ns = of.most_balanced_ns.max(balanced_ns);
        });
        let mut left_ns = vec![0.0; self.classes];
        for (of, class) in steps.iter().zip(&class_of_step) {
            left_ns[*class as usize] += of.most_balanced_ns - of.balanced_ns / f64::from(of.ranks.max(1));
        }
        let mut ranks = vec![0_u32; self.classes];
        let classes = (0..graph.threads_of.len()).filter_map(|rank| class_of(graph, rank));
        classes.for_each(|class| ranks[class] += 1);
        let length_ns = (graph.recorded_ns() - graph.began_ns()) as f64;
        let differs = |(class, left_ns): (usize, &f64)| {
            let by_turns = f64::from(ranks[class].min(DELAYED_BY_TURNS)) / f64::from(ranks[class].max(1));
            *left_ns >= LEAST_LEFT * length_ns && delayed_ns[class] * by_turns <= *left_ns
        };
        if !left_ns.iter().enumerate().any(differs) {
            return Vec::new();
        }
        let mut even_ns = vec![f32::NAN; graph.call_count()];
        self.each(|gap, _, step| {
            even_ns[gap.call] = (steps[step].sum_ns / f64::from(steps[step].ranks)) as f32;
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
    if saved_ns < LEAST_SAVED * (graph.recorded_ns() - graph.began_ns()) as f64 {
        graph.even_steps_ns = Vec::new();
    }
}
