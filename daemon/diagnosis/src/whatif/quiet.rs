//! What messages and collectives between nodes would have taken in a quiet network.
//!
//! Each stretch of the run has a distribution of times. Each keeps its place in that of its stretch and takes the length
//! that this place has in the quietest quarter: noise that is always there stays. What was slow even then is held against what
//! was measured at another time.

use crate::whatif::call_row::NONE;
use crate::whatif::censored::Distribution;
use crate::whatif::graph::Graph;
use crate::whatif::graph::flights::{Figure, size_bin};
use crate::whatif::graph::quiet_group::QuietGroup;
use crate::whatif::quiet_samples::{STRETCHES, is_within, quiet_samples, quietest, times_of};
use crate::whatif::rule::Rule;
use mpiscope_model::Function;
use rustc_hash::FxHashMap;
use std::ops::Range;

impl Graph {
    /// By message, the share of its time that it takes in a quiet network, and what collectives take.
    pub(crate) fn in_quiet_network(&self) -> (&[f32], &[QuietGroup]) {
        let (messages, groups) = self.quiet.get_or_init(|| times(self));
        (messages, groups)
    }
}

/// By message, its flight in a quiet network as a share of the recorded one; and what collectives take there.
fn times(graph: &Graph) -> (Vec<f32>, Vec<QuietGroup>) {
    let (shares, slow) = messages(graph);
    (shares, groups(graph, &slow))
}

/// By message, its flight in a quiet network as a share of the recorded one; and when messages were slower.
fn messages(graph: &Graph) -> (Vec<f32>, Vec<Range<u64>>) {
    let mut shares = vec![1.0; graph.edges.len()];
    // Those that were felt, and others that the same calls waited for.
    let is_inter = |at: &usize| graph.edges[*at].is_inter;
    let messages = graph.waited_for().filter(is_inter).map(|at| at as u32);
    let (mut felt, mut bounds): (Vec<u32>, Vec<u32>) =
        messages.partition(|at| graph.edges[*at as usize].is_felt);
    if !graph.follows(Rule::Bounds) {
        bounds.clear();
    }
    // Sizes differ, and so do links: flights count as multiples of what is expected.
    let slowness = |at: u32| {
        let edge = &graph.edges[at as usize];
        let usual_ns = graph.flights.ns(true, edge.bytes, Figure::Median).unwrap_or(1.0);
        graph.span_ns(edge) as f64 / (usual_ns * graph.slowness_of(at as usize)).max(1.0)
    };
    let ended_ns = |at: u32| graph.ends[graph.edges[at as usize].to as usize];
    felt.sort_unstable_by_key(|at| ended_ns(*at));
    // Messages of one size may be too few to tell when they were slower; those of all sizes tell together. Where one size tells it
    // by itself, that counts for it.
    let of_all = Stretches::compare(&felt, ended_ns, slowness, SIGNIFICANT);
    let size = |at: u32| size_bin(graph.edges[at as usize].bytes);
    let mut sizes: FxHashMap<u32, [Vec<u32>; 2]> = FxHashMap::default();
    for (kind, messages) in [&felt, &bounds].into_iter().enumerate() {
        messages.iter().for_each(|at| sizes.entry(size(*at)).or_default()[kind].push(*at));
    }
    sizes.retain(|_, [felt, _]| !felt.is_empty());
    // Of many sizes one may seem slower by chance.
    let significant = SIGNIFICANT + (sizes.len().max(1) as f64).ln();
    let distribution = |times: &[Range<u64>], exact: Vec<f64>, bounds: &[u32]| {
        let is_in = |at: &&u32| is_within(times, ended_ns(**at));
        Distribution::new(exact, bounds.iter().filter(is_in).map(|at| slowness(*at)))
    };
    let usual = distribution(&of_all.quiet_times, of_all.quiet.clone(), &bounds);
    let slow_of_all = match graph.follows(Rule::SlowerTogether) {
        true => of_all.times(&felt, ended_ns),
        false => Vec::new(),
    };
    let mut slow = slow_of_all.clone();
    for [felt, bounds] in sizes.values() {
        let own = Stretches::compare(felt, ended_ns, slowness, significant);
        slow.extend(own.times(felt, ended_ns));
        let (slower, times) = match own.slower.is_empty() {
            true => (stretches_at(&slow_of_all, felt, ended_ns), &of_all.quiet_times),
            false => (own.slower, &own.quiet_times),
        };
        let is_quiet = |at: &&u32| is_within(times, ended_ns(**at));
        let quiet: Vec<f64> = felt.iter().filter(is_quiet).map(|at| slowness(*at)).collect();
        let elsewhere = match quiet.len() {
            // Nothing tells what they take at other times.
            0 => continue,
            1..LEAST_QUIET_MESSAGES => &usual,
            _ => &distribution(times, quiet, bounds),
        };
        for stretch in slower {
            let values = sorted(felt[stretch].iter().copied(), slowness);
            take_places(&values, |quantile| elsewhere.quantile(quantile), &mut shares);
        }
    }
    if graph.reference.knows_messages() {
        hold_messages_against_reference(graph, &mut shares);
    }
    (shares, merged(slow))
}

fn hold_messages_against_reference(graph: &Graph, shares: &mut [f32]) {
    let links = graph.times_on_links();
    for (share, edge) in shares.iter_mut().zip(&graph.edges) {
        let own_ns = |figure| graph.flights.ns(true, edge.bytes, figure);
        if let (Some(median_ns), Some(normal_ns)) = (own_ns(Figure::Median), own_ns(Figure::Normal)) {
            let likely_ns = if edge.is_felt { graph.span_ns(edge) as f32 * *share } else { edge.likely_ns };
            let of_all =
                graph.reference.share_of_message(edge.bytes, [median_ns, normal_ns], likely_ns.into());
            let link = links.of_message(graph, edge);
            *share *= link.map_or(of_all, |link| link.share.min(of_all)) as f32;
        }
    }
}

/// The same times, in order and without overlaps.
fn merged(mut times: Vec<Range<u64>>) -> Vec<Range<u64>> {
    times.sort_by_key(|time| time.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for time in times {
        match merged.last_mut().filter(|last| time.start <= last.end) {
            Some(last) => last.end = last.end.max(time.end),
            None => merged.push(time),
        }
    }
    merged
}

/// What values in the order of time are like in the quietest quarter, and where they were clearly slower.
#[derive(Default)]
struct Stretches {
    /// Those of the quietest quarter, in their order, and when that was.
    quiet: Vec<f64>,
    quiet_times: Vec<Range<u64>>,
    slower: Vec<Range<usize>>,
}

impl Stretches {
    /// What surprises by as much as is significant is not chance.
    fn compare(
        of_kind: &[u32],
        at_ns: impl Fn(u32) -> u64,
        value: impl Fn(u32) -> f64,
        significant: f64,
    ) -> Self {
        if of_kind.is_empty() {
            return Self::default();
        }
        let length = of_kind.len().div_ceil(STRETCHES);
        let stretches: Vec<Vec<(f64, u32)>> =
            of_kind.chunks(length).map(|stretch| sorted(stretch.iter().copied(), &value)).collect();
        let range = |at: usize| at * length..((at + 1) * length).min(of_kind.len());
        let medians: Vec<f64> = stretches.iter().map(|stretch| stretch[stretch.len() / 2].0).collect();
        let quiet_ones = quietest(&medians);
        let mut quiet: Vec<f64> =
            quiet_ones.iter().flat_map(|at| &stretches[*at]).map(|(value, _)| *value).collect();
        quiet.sort_by(f64::total_cmp);
        let time = |at: &usize| times_of(of_kind, &range(*at), |at| at_ns(*at));
        let quiet_times = quiet_ones.iter().map(time).collect();
        let slower = slower(&stretches, &quiet, &quiet_ones, significant);
        Self { quiet, quiet_times, slower: slower.into_iter().map(range).collect() }
    }

    /// When the values were slower.
    fn times(&self, of_kind: &[u32], at_ns: impl Fn(u32) -> u64) -> Vec<Range<u64>> {
        let time = |stretch: &Range<usize>| {
            at_ns(of_kind[stretch.start])..at_ns(of_kind[stretch.end - 1]).saturating_add(1)
        };
        self.slower.iter().map(time).collect()
    }
}

/// Of messages in the order of time, those that ended at some times: a stretch for each.
fn stretches_at(times: &[Range<u64>], messages: &[u32], ended_ns: impl Fn(u32) -> u64) -> Vec<Range<usize>> {
    let place = |until_ns: u64| messages.partition_point(|at| ended_ns(*at) < until_ns);
    let stretches = times.iter().map(|time| place(time.start)..place(time.end));
    stretches.filter(|stretch| !stretch.is_empty()).collect()
}

/// Gives collectives of one kind, in the order of time, the lengths of the quietest quarter where they were slower. Whether they were.
fn even_out(
    of_kind: &[u32],
    at_ns: impl Fn(u32) -> u64,
    value: impl Fn(u32) -> f64,
    shares: &mut [f32],
) -> bool {
    let found = Stretches::compare(of_kind, at_ns, &value, SIGNIFICANT);
    let usual = |quantile: f64| found.quiet[(quantile * found.quiet.len() as f64) as usize];
    for stretch in &found.slower {
        take_places(&sorted(of_kind[stretch.clone()].iter().copied(), &value), usual, shares);
    }
    !found.slower.is_empty()
}

/// Values in their order.
fn sorted(of: impl Iterator<Item = u32>, value: impl Fn(u32) -> f64) -> Vec<(f64, u32)> {
    let mut values: Vec<(f64, u32)> = of.map(|at| (value(at), at)).collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    values
}

/// Gives sorted values the lengths that have their places elsewhere.
fn take_places(values: &[(f64, u32)], elsewhere: impl Fn(f64) -> f64, shares: &mut [f32]) {
    for (place, (value, at)) in values.iter().enumerate() {
        let quantile = (place as f64 + 0.5) / values.len() as f64;
        shares[*at as usize] = (elsewhere(quantile) / value.max(1e-12)) as f32;
    }
}

/// Collectives are too few to tell by themselves when they were slower. While messages were, they take the lengths that they have
/// at other times.
fn even_out_meanwhile(
    of_kind: &[u32],
    value: impl Fn(u32) -> f64,
    is_meanwhile: impl Fn(u32) -> bool,
    shares: &mut [f32],
) {
    let (meanwhile, quiet): (Vec<u32>, Vec<u32>) = of_kind.iter().partition(|at| is_meanwhile(**at));
    let (meanwhile, quiet) = (sorted(meanwhile.into_iter(), &value), sorted(quiet.into_iter(), &value));
    if meanwhile.is_empty() || quiet.len() < LEAST_QUIET {
        return;
    }
    if meanwhile[meanwhile.len() / 2].0 > CLEARLY_SLOWER * quiet[quiet.len() / 2].0 {
        take_places(&meanwhile, |quantile| quiet[(quantile * quiet.len() as f64) as usize].0, shares);
    }
}

/// Stretches that follow each other are slower if one of these shares of each takes this many times as long as in the quiet
/// stretches, and if more of all of them than can be chance takes longer than that share of the quiet ones does: e to minus this
/// bounds the probability.
const SHARES: [f64; 3] = [0.5, 0.9, 0.99];
const CLEARLY_SLOWER: f64 = 1.1;
const SIGNIFICANT: f64 = 6.0;
/// Fewer collectives do not say what is usual, and fewer messages of one size say it worse than all.
const LEAST_QUIET: usize = 4;
const LEAST_QUIET_MESSAGES: usize = 16;

/// Which stretches are clearly slower than the quiet ones. Values are in their order, in each of the stretches and in the quiet ones.
fn slower(
    stretches: &[Vec<(f64, u32)>],
    quiet: &[f64],
    quiet_ones: &[usize],
    significant: f64,
) -> Vec<usize> {
    let at_share = |share: f64, count: usize| (share * count as f64) as usize;
    let all: Vec<usize> = (0..stretches.len()).collect();
    let mut is_slower = vec![false; stretches.len()];
    for share in SHARES {
        let of_quiet = at_share(share, quiet.len());
        let usual = quiet[of_quiet];
        let quiet_above = quiet.len() - of_quiet - 1;
        let seems_slower = |at: &usize| {
            let stretch = &stretches[*at];
            let own = stretch[at_share(share, stretch.len())].0;
            own > CLEARLY_SLOWER * usual && !quiet_ones.contains(at)
        };
        for run in all.chunk_by(|one, other| seems_slower(one) == seems_slower(other)) {
            let values = || run.iter().flat_map(|at| &stretches[*at]);
            let above = values().filter(|(value, _)| *value > usual).count();
            let quiet_share = quiet.len() as f64 / (quiet.len() + values().count()) as f64;
            if seems_slower(&run[0]) && surprise(quiet_above, above + quiet_above, quiet_share) > significant
            {
                run.iter().for_each(|at| is_slower[*at] = true);
            }
        }
    }
    all.into_iter().filter(|at| is_slower[*at]).collect()
}

/// How improbable it is that of the greatest of all values no more than this are quiet, if chance says which values are: minus the
/// logarithm of a bound (Chernoff's).
fn surprise(quiet: usize, of_greatest: usize, quiet_share: f64) -> f64 {
    let share = quiet as f64 / of_greatest.max(1) as f64;
    if share >= quiet_share {
        return 0.0;
    }
    let part = |share: f64, expected: f64| if share > 0.0 { share * (share / expected).ln() } else { 0.0 };
    of_greatest as f64 * (part(share, quiet_share) + part(1.0 - share, 1.0 - quiet_share))
}

/// Function, ranks, and bin of bytes.
type Kind = (Function, u32, u32);

fn kind_of(graph: &Graph, group: usize) -> Option<Kind> {
    let groups = &graph.groups;
    let members = groups.members(group as u32);
    let call = members.first()?.call as usize;
    let kind = (graph.functions[call], members.len() as u32, size_bin(groups.bytes[group]));
    (groups.is_inter[group] && !graph.is_setup(call)).then_some(kind)
}

/// All collectives. Messages were slower at some times.
fn groups(graph: &Graph, slow: &[Range<u64>]) -> Vec<QuietGroup> {
    let groups = &graph.groups;
    // How long each call that waited for others took after the last of them had entered.
    let parts = || {
        let left = groups.left.iter().enumerate().filter(|(_, group)| **group != NONE);
        left.filter_map(|(call, &group)| {
            let last_ns = graph.last_entry_ns(group, graph.rank_of(call as u32))?;
            Some((group as usize, graph.ends[call].saturating_sub(last_ns.max(graph.starts[call]))))
        })
    };
    let mut took_ns = vec![0_u64; groups.flows.len()];
    parts().for_each(|(group, part_ns)| took_ns[group] = took_ns[group].max(part_ns));
    let kinds: Vec<Option<Kind>> = (0..took_ns.len()).map(|group| kind_of(graph, group)).collect();
    let mut shares = vec![1.0; took_ns.len()];
    let mut of_kind: FxHashMap<Kind, Vec<u32>> = FxHashMap::default();
    for group in (0..took_ns.len()).filter(|group| took_ns[*group] > 0) {
        if let Some(kind) = kinds[group] {
            of_kind.entry(kind).or_default().push(group as u32);
        }
    }
    for of_kind in of_kind.values_mut() {
        of_kind.sort_unstable_by_key(|group| groups.last_ns[*group as usize]);
        let took_ns = |group: u32| took_ns[group as usize] as f64;
        let last_ns = |group: u32| groups.last_ns[group as usize];
        if !even_out(of_kind, last_ns, took_ns, &mut shares) && graph.follows(Rule::CollectivesMeanwhile) {
            let is_meanwhile = |group: u32| {
                let last_ns = groups.last_ns[group as usize];
                let after = slow.partition_point(|time| time.start <= last_ns);
                after.checked_sub(1).is_some_and(|at| slow[at].contains(&last_ns))
            };
            even_out_meanwhile(of_kind, took_ns, is_meanwhile, &mut shares);
        }
    }
    hold_against_reference(graph, parts(), kinds, &mut shares);
    let quiet = |(took_ns, share)| QuietGroup { took_ns: took_ns as f32, share };
    took_ns.into_iter().zip(shares).map(quiet).collect()
}

/// What was measured are the parts of members that wait for others, where they cannot all be on one node.
fn hold_against_reference(
    graph: &Graph,
    parts: impl Iterator<Item = (usize, u64)>,
    mut kinds: Vec<Option<Kind>>,
    shares: &mut [f32],
) {
    let groups = &graph.groups;
    let fullest = graph.fullest_node();
    for kind in &mut kinds {
        *kind = kind.filter(|(function, ranks, _)| {
            *ranks > fullest && graph.reference.knows_collective(*function, *ranks)
        });
    }
    let mut of_kind: FxHashMap<Kind, Vec<(u64, u64)>> = FxHashMap::default();
    for (group, part_ns) in parts {
        if let Some(kind) = kinds[group] {
            of_kind.entry(kind).or_default().push((groups.last_ns[group], part_ns));
        }
    }
    let own_ns = |mut samples: Vec<(u64, u64)>| {
        samples.sort_unstable();
        let mut quiet = quiet_samples(&samples, |(_, part_ns)| *part_ns);
        let middle = quiet.len() / 2;
        quiet.select_nth_unstable_by_key(middle, |(_, part_ns)| *part_ns).1.1 as f64
    };
    let own_ns: FxHashMap<Kind, f64> =
        of_kind.into_iter().map(|(kind, samples)| (kind, own_ns(samples))).collect();
    for (group, (kind, share)) in kinds.into_iter().zip(shares).enumerate() {
        if let Some((kind, own_ns)) = kind.and_then(|kind| own_ns.get_key_value(&kind)) {
            let of = (kind.0, kind.1, groups.bytes[group]);
            *share *= graph.reference.share_of_collective(of, *own_ns) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(values: impl Iterator<Item = f64>) -> Vec<(f64, u32)> {
        values.zip(0..).collect()
    }

    #[test]
    fn a_few_slow_ones_in_a_small_stretch_are_chance() {
        let quiet: Vec<f64> = (0..30).map(|at| 1.0 + 0.01 * f64::from(at)).collect();
        let with_slow = |slow: u32| stretch((0..10).map(|at| if at < 10 - slow { 1.0 } else { 3.0 }));
        assert_eq!(slower(&[0, 1, 0, 3, 0, 9].map(with_slow), &quiet, &[], SIGNIFICANT), [5]);
    }

    #[test]
    fn many_that_are_a_little_slower_are_not_chance() {
        let quiet: Vec<f64> = (0..1000).map(|at| 1.0 + 0.0005 * f64::from(at)).collect();
        let little_slower = stretch((0..500).map(|at| 1.2 + 0.001 * f64::from(at)));
        assert_eq!(slower(&[little_slower], &quiet, &[], SIGNIFICANT), [0]);
    }

    #[test]
    fn small_stretches_tell_together_and_one_alone_does_not() {
        let quiet: Vec<f64> = (0..9).map(|at| 1.0 + 0.01 * f64::from(at)).collect();
        let [usual, slow] = [1.0, 2.0].map(|value| stretch([value; 3].into_iter()));
        let stretches = [&usual, &slow, &usual, &slow, &slow, &slow].map(Clone::clone);
        assert_eq!(slower(&stretches, &quiet, &[], SIGNIFICANT), [3, 4, 5]);
    }

    #[test]
    fn surprise_bounds_the_probability() {
        // All ten of the greatest of forty are of ten: 1 in 847,660,528.
        let of_all = surprise(0, 10, 0.75);
        assert!((of_all - 10.0 * 4.0_f64.ln()).abs() < 1e-9);
        assert!(of_all < 847_660_528.0_f64.ln());
        assert_eq!(surprise(30, 40, 0.75), 0.0);
        assert_eq!(surprise(0, 0, 0.75), 0.0);
    }
}
