//! Results of replays: what each cause costs, and which ranks it comes from.

use mpiscope_diagnosis::ReplaySavings;
use mpiscope_diagnosis::whatif::{Graph, LinkTime, Replayer, Shorter};
use mpiscope_feed::{Blocked, CpuContention, SlowLink, SlowLinks, Stopped, WhatIf, Without};
use mpiscope_model::{Blame, Nanoseconds, Node, Rank};
use std::collections::BTreeMap;
use std::ops::Range;

/// The parts of a long run are merged down to this number. The page takes no more (`PARTS_MAX`).
const MOST_PARTS: usize = 96;
/// No saving is reported for a run whose replays depart from it for this share of its time.
const MUCH_DEPARTED: f64 = 0.1;
/// Slow links that are listed.
const MOST_LINKS: usize = 3;
/// A link is slow if its messages take this many times as long as before, over all stretches.
const SLOW_THROUGHOUT: f64 = 1.5;
/// A cause that saves less than this share of the run gets no switch.
const WORTH_A_SWITCH: f64 = 0.005;

/// A part of a run, by rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Part {
    pub(super) from_ns: Nanoseconds,
    pub(super) to_ns: Nanoseconds,
    /// What ranks compute more than ranks that do the same.
    pub(super) excess_ns: Vec<u64>,
    /// How long they waited for a CPU.
    pub(super) delayed_ns: Vec<u64>,
}

/// The result of replays of a run, or of stretches of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replayed {
    /// What the run would save without each set of causes: a bit each, in the order of [`Blame::ALL`].
    sets: [Shorter; 1 << Blame::ALL.len()],
    unexplained_ns: f64,
    pub(super) cpu_contention: Option<CpuContention>,
    pub(super) stopped: Stopped,
    pub(super) blocked: Blocked,
    links: Links,
    /// In the order of time.
    pub(super) parts: Vec<Part>,
    /// By rank, what it computes more where others wait for it; empty where nobody does.
    pub(super) delaying_ns: Vec<u64>,
    /// The length of the stretches in which the ranks with more work than others change from step to step.
    differing_by_step_ns: u64,
    from_ns: Nanoseconds,
    to_ns: Nanoseconds,
    /// The length of all replayed stretches.
    replayed_ns: u64,
    /// Where the first replay departed from the run, and the length of all stretches whose replays did.
    departure: Option<(Rank, Nanoseconds)>,
    departed_ns: u64,
}

fn add(sums: &mut Vec<u64>, more: &[u64]) {
    sums.resize(sums.len().max(more.len()), 0);
    sums.iter_mut().zip(more).for_each(|(sum, ns)| *sum += ns);
}

/// What messages take on the links between nodes.
#[derive(Debug, Clone, Default)]
struct Links {
    /// By the nodes that send and receive: how many messages say so, and how many times as long as before all of them took.
    times: BTreeMap<(Node, Node), (u64, f64)>,
    node_of_rank: Vec<Node>,
}

impl Links {
    fn from_graph(graph: &Graph) -> Self {
        let time = |of: LinkTime| ((of.from, of.to), (of.messages, of.messages as f64 * of.slower));
        Self {
            times: graph.link_times().into_iter().map(time).collect(),
            node_of_rank: graph.node_of_rank().to_vec(),
        }
    }

    /// Adds what a later stretch says.
    fn add(&mut self, later: &Self) {
        for (link, (messages, times)) in &later.times {
            let sum = self.times.entry(*link).or_default();
            *sum = (sum.0 + messages, sum.1 + times);
        }
        self.node_of_rank.clone_from(&later.node_of_rank);
    }

    fn slow(&self) -> SlowLinks {
        let ranks_of = |node: Node| {
            let ranks = (0..).zip(&self.node_of_rank).filter(|(_, of)| **of == node);
            ranks.map(|(rank, _)| rank).collect()
        };
        let cost = |(messages, times): (u64, f64)| times - messages as f64;
        let is_slow = |(messages, times): &(u64, f64)| *times > SLOW_THROUGHOUT * *messages as f64;
        let mut slow: Vec<_> = self.times.iter().filter(|(_, of)| is_slow(of)).collect();
        slow.sort_by(|one, other| cost(*other.1).total_cmp(&cost(*one.1)));
        let link = |(&(from, to), &(messages, times)): (&(Node, Node), &(u64, f64))| SlowLink {
            from: ranks_of(from),
            to: ranks_of(to),
            messages,
            slower: times / messages as f64,
            ..SlowLink::default()
        };
        SlowLinks {
            known: self.times.len() as u32,
            slow: slow.len() as u32,
            worst: slow.into_iter().take(MOST_LINKS).map(link).collect(),
        }
    }
}

impl Part {
    fn add(&mut self, later: &Part) {
        self.to_ns = later.to_ns;
        add(&mut self.excess_ns, &later.excess_ns);
        add(&mut self.delayed_ns, &later.delayed_ns);
    }
}

impl Replayed {
    /// Replays a stretch of a run without each set of causes.
    pub(super) fn replay(graph: &Graph, advised: &[Node], replayer: &dyn Replayer) -> Self {
        let is_known = advised.len() >= graph.node_of_rank().len();
        let (savings, sets) = graph.savings_of_sets(is_known.then_some(advised), replayer);
        let departure = savings.departure.map(|departure| (departure.rank, departure.at_ns));
        let (from_ns, to_ns) = (graph.began_ns(), graph.recorded_ns());
        let length_ns = to_ns - from_ns;
        // Work is cut by each rank's progress; in time the parts are about these.
        let excess = graph.excess_work();
        let delaying_ns = graph.delaying_work(&savings, &excess, replayer);
        let both: Vec<_> = excess.into_iter().zip(graph.delayed_work()).collect();
        let part_ns = length_ns / both.len().max(1) as u64;
        let at_ns = |number: u64| from_ns + number * part_ns;
        let part = |(number, (excess_ns, delayed_ns))| Part {
            from_ns: at_ns(number),
            to_ns: at_ns(number + 1),
            excess_ns,
            delayed_ns,
        };
        Self {
            sets,
            unexplained_ns: graph.quality().unexplained_ns as f64,
            cpu_contention: None,
            stopped: Stopped::default(),
            blocked: Blocked::default(),
            links: Links::from_graph(graph),
            parts: (0..).zip(both).map(part).collect(),
            delaying_ns,
            differing_by_step_ns: if graph.differs_by_step() { length_ns } else { 0 },
            from_ns,
            to_ns,
            replayed_ns: length_ns,
            departure,
            departed_ns: if departure.is_some() { length_ns } else { 0 },
        }
    }

    /// Adds the stretch that comes next. One whose replay departs from the run counts with its length only.
    pub(super) fn add(&mut self, later: &Self) {
        if later.departure.is_none() {
            self.unexplained_ns += later.unexplained_ns;
            for (sum, more) in self.sets.iter_mut().zip(&later.sets) {
                sum.wall_ns += more.wall_ns;
                sum.range_ns = (sum.range_ns.0 + more.range_ns.0, sum.range_ns.1 + more.range_ns.1);
            }
            self.links.add(&later.links);
            add(&mut self.delaying_ns, &later.delaying_ns);
            self.differing_by_step_ns += later.differing_by_step_ns;
        }
        if self.replayed_ns == 0 {
            self.from_ns = later.from_ns;
        }
        self.to_ns = self.to_ns.max(later.to_ns);
        self.replayed_ns += later.replayed_ns;
        self.departed_ns += later.departed_ns;
        self.departure = self.departure.or(later.departure);
        self.parts.extend(later.parts.iter().cloned());
        while self.parts.len() > MOST_PARTS {
            let merge = |parts: &[Part]| {
                let mut merged = parts[0].clone();
                parts[1..].iter().for_each(|later| merged.add(later));
                merged
            };
            self.parts = self.parts.chunks(2).map(merge).collect();
        }
    }

    /// Whether the ranks with more work than others mostly change from step to step.
    pub(super) fn differs_by_step(&self) -> bool {
        2 * self.differing_by_step_ns > self.replayed_ns
    }

    /// The share of the run that was replayed.
    pub(super) fn share(&self) -> f64 {
        self.replayed_ns as f64 / (self.to_ns - self.from_ns).max(1) as f64
    }

    /// Scales the replayed stretches up to a time around them.
    pub(super) fn scaled_to(mut self, time: Range<Nanoseconds>) -> Self {
        self.from_ns = self.from_ns.min(time.start);
        self.to_ns = self.to_ns.max(time.end);
        let factor = (self.to_ns - self.from_ns) as f64 / self.replayed_ns.max(1) as f64;
        self.unexplained_ns *= factor;
        for Shorter { wall_ns, range_ns } in &mut self.sets {
            [wall_ns, &mut range_ns.0, &mut range_ns.1].into_iter().for_each(|ns| *ns *= factor);
        }
        let of_parts =
            self.parts.iter_mut().flat_map(|part| part.excess_ns.iter_mut().chain(&mut part.delayed_ns));
        of_parts.chain(&mut self.delaying_ns).for_each(|ns| *ns = (*ns as f64 * factor) as u64);
        self
    }

    /// Where replays depart from the run, if they do so for much of it.
    fn departs(&self) -> Option<(Rank, Nanoseconds)> {
        let is_much = self.departed_ns as f64 > MUCH_DEPARTED * self.replayed_ns as f64;
        self.departure.filter(|_| is_much)
    }

    /// What each cause costs.
    pub(super) fn savings(&self) -> ReplaySavings {
        let single = |at: usize| self.sets[1 << at];
        let seconds = |ns: f64| ns / 1e9;
        ReplaySavings {
            departs: self.departs(),
            unexplained_s: seconds(self.unexplained_ns),
            wall_s: std::array::from_fn(|at| seconds(single(at).wall_ns)),
            range_s: std::array::from_fn(|at| {
                let (least_ns, most_ns) = single(at).range_ns;
                (seconds(least_ns), seconds(most_ns))
            }),
        }
    }

    /// The links that are slow throughout.
    pub(super) fn slow_links(&self) -> SlowLinks {
        self.links.slow()
    }

    /// What a run of this recorded length would take without each set of causes that are worth a switch; nothing where
    /// replays depart from it.
    pub(super) fn whatif(&self, recorded_ns: Nanoseconds) -> WhatIf {
        if self.departs().is_some() {
            return WhatIf::default();
        }
        let length_ns = recorded_ns as f64;
        let takes_s = |saved_ns: f64| (length_ns - saved_ns).max(0.0) / 1e9;
        let is_costly = |at: &usize| self.sets[1 << at].wall_ns >= WORTH_A_SWITCH * length_ns.max(1.0);
        let mut without = Vec::new();
        for (set, saved) in self.sets.iter().enumerate().skip(1) {
            let causes: Vec<usize> = (0..Blame::ALL.len()).filter(|at| set >> at & 1 == 1).collect();
            if causes.iter().all(is_costly) {
                without.push(Without {
                    causes: causes.iter().map(|at| Blame::ALL[*at].word().to_owned()).collect(),
                    run_s: takes_s(saved.wall_ns),
                    least_s: takes_s(saved.range_ns.1.max(saved.wall_ns)),
                    most_s: takes_s(saved.range_ns.0.min(saved.wall_ns)),
                });
            }
        }
        WhatIf { recorded_s: length_ns / 1e9, without }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stretch that balanced work makes 2 % shorter.
    fn stretch(from_ns: u64, to_ns: u64, departure: Option<(Rank, Nanoseconds)>) -> Replayed {
        let length_ns = to_ns - from_ns;
        let part = |from_ns, to_ns| Part { from_ns, to_ns, excess_ns: vec![1, 2], delayed_ns: vec![3] };
        let middle_ns = from_ns.midpoint(to_ns);
        let mut sets = [Shorter::default(); 16];
        sets[2].wall_ns = 0.02 * length_ns as f64;
        Replayed {
            sets,
            unexplained_ns: 1.0,
            cpu_contention: None,
            stopped: Stopped::default(),
            blocked: Blocked::default(),
            links: links(if from_ns == 0 { 8.0 } else { 2.0 }),
            parts: vec![part(from_ns, middle_ns), part(middle_ns, to_ns)],
            delaying_ns: if from_ns == 300 { Vec::new() } else { vec![0, 4] },
            differing_by_step_ns: 0,
            from_ns,
            to_ns,
            replayed_ns: length_ns,
            departure,
            departed_ns: if departure.is_some() { length_ns } else { 0 },
        }
    }

    /// Two nodes, with two messages each way; those one way are slow.
    fn links(slower: f64) -> Links {
        let [one, other] = [0, 1].map(Node);
        let times = BTreeMap::from([((one, other), (2, 2.0 * slower)), ((other, one), (2, 2.0))]);
        Links { times, node_of_rank: vec![one, one, other, other] }
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn stretches_add_up_but_for_those_that_depart() {
        let mut whole = Replayed::default();
        for at in 0..20 {
            whole.add(&stretch(at * 100, (at + 1) * 100, (at == 3).then_some((Rank(7), 310))));
        }
        let savings = whole.savings();
        assert!(is_near(savings.wall_s[1], 38e-9) && is_near(savings.unexplained_s, 19e-9), "{savings:?}");
        assert_eq!((savings.departs, savings.wall_s[0]), (None, 0.0));
        // That of a stretch whose replay departs does not count.
        assert_eq!(whole.delaying_ns, [0, 19 * 4]);
        // 19 stretches with two messages each, eight times as long in the first one.
        let slower = (8.0 + 18.0 * 2.0) / 19.0;
        let link = SlowLink { from: vec![0, 1], to: vec![2, 3], messages: 38, slower, ..SlowLink::default() };
        let worst = vec![link];
        assert_eq!(whole.slow_links(), SlowLinks { known: 2, slow: 1, worst });
        assert_eq!(whole.whatif(2000).without.len(), 1);
        (0..3).for_each(|at| whole.add(&stretch(2000 + at * 100, 2100 + at * 100, Some((Rank(1), 2000)))));
        assert_eq!(whole.savings().departs, Some((Rank(7), 310)));
        assert_eq!(whole.whatif(2300), WhatIf::default());
    }

    #[test]
    fn stretches_are_scaled_up_for_skipped_time() {
        let mut some = stretch(0, 100, None);
        some.add(&stretch(300, 400, None));
        let whole = some.scaled_to(0..800);
        assert!(is_near(whole.savings().wall_s[1], 16e-9));
        assert_eq!((whole.parts[0].excess_ns[1], whole.delaying_ns[1]), (8, 16));
        let whatif = whole.whatif(800);
        assert!(is_near(whatif.recorded_s, 800e-9) && is_near(whatif.without[0].run_s, 784e-9), "{whatif:?}");
    }

    #[test]
    fn a_long_run_has_a_bounded_number_of_parts_that_cover_it() {
        let mut whole = Replayed::default();
        (0..333).for_each(|at| whole.add(&stretch(at * 100, (at + 1) * 100, None)));
        assert!(whole.parts.len() <= MOST_PARTS && whole.parts.len() > MOST_PARTS / 3);
        assert!(whole.parts.windows(2).all(|two| two[0].to_ns == two[1].from_ns));
        assert_eq!((whole.parts[0].from_ns, whole.parts.last().unwrap().to_ns), (0, 33_300));
        let sum: u64 = whole.parts.iter().map(|part| part.excess_ns.iter().sum::<u64>()).sum();
        assert_eq!(sum, 333 * 2 * 3);
        let without = &whole.whatif(33_300).without[0];
        assert_eq!(without.causes, ["pattern"]);
        assert!(is_near(without.run_s, 0.98 * 33_300e-9), "{without:?}");
        assert!(without.least_s <= without.run_s && without.run_s <= without.most_s, "{without:?}");
    }
}
