//! What replays of a run say: what each cause costs, and which ranks it comes from.

use mpiscope_analysis::{Blame, ReplaySavings};
use mpiscope_diagnosis::{Cause, Graph, Shorter};
use mpiscope_feed::{CpuShortage, WhatIf, Without};
use mpiscope_model::{Nanoseconds, Node};

/// A long run is told in at most this many parts.
const MOST_PARTS: usize = 96;
/// No saving is known of a run when replays depart from it in this share of its time.
const MUCH_DEPARTED: f64 = 0.1;

/// A part of a run, by rank, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Part {
    pub(super) from_ns: Nanoseconds,
    pub(super) to_ns: Nanoseconds,
    /// What ranks compute more than ranks that do the same.
    pub(super) excess_ns: Vec<u64>,
    /// How long they had no CPU.
    pub(super) delayed_ns: Vec<u64>,
}

/// What was found by replays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replayed {
    pub(super) savings: ReplaySavings,
    /// What the run would be shorter without each set of causes: a bit each, in the order of [`Blame::ALL`].
    without: [Shorter; 1 << Blame::ALL.len()],
    pub(super) shortage: Option<CpuShortage>,
    /// In the order of time.
    pub(super) parts: Vec<Part>,
    from_ns: Nanoseconds,
    to_ns: Nanoseconds,
    /// How long all stretches are.
    replayed_ns: u64,
    /// The stretches whose replays depart from the run: the first of these departures, and how long they are.
    departure: Option<(u32, Nanoseconds)>,
    departed_ns: u64,
}

fn blame(cause: Cause) -> Blame {
    match cause {
        Cause::Mapping => Blame::Mapping,
        Cause::Pattern => Blame::Pattern,
        Cause::Background => Blame::Background,
        Cause::Cpu => Blame::Cpu,
    }
}

fn add(sums: &mut Vec<u64>, more: &[u64]) {
    sums.resize(sums.len().max(more.len()), 0);
    sums.iter_mut().zip(more).for_each(|(sum, ns)| *sum += ns);
}

impl Part {
    fn add(&mut self, later: &Part) {
        self.to_ns = later.to_ns;
        add(&mut self.excess_ns, &later.excess_ns);
        add(&mut self.delayed_ns, &later.delayed_ns);
    }
}

impl Replayed {
    /// Replays a run, or a stretch of one, without each cause.
    pub(super) fn without_causes(graph: &Graph, advised: &[Node]) -> Self {
        let is_known = advised.len() >= graph.node_of_rank().len();
        let (found, without) = graph.savings_of_sets(is_known.then_some(advised));
        let departure = found.departure.map(|departure| (departure.rank, departure.at_ns));
        let (from_ns, to_ns) = (graph.began_ns(), graph.recorded_ns());
        let mut savings = ReplaySavings {
            departs: departure,
            unexplained_s: graph.quality().unexplained_ns as f64 / 1e9,
            ..ReplaySavings::default()
        };
        for saving in found.causes {
            let at = Blame::ALL.iter().position(|of| *of == blame(saving.cause)).unwrap_or(0);
            savings.wall_s[at] = saving.wall_ns / 1e9;
            savings.range_s[at] = (saving.range_ns.0 / 1e9, saving.range_ns.1 / 1e9);
        }
        // Parts are parts of each rank's progress; in time they are about these.
        let both = graph.excess_work().into_iter().zip(graph.delayed_work());
        let parts: Vec<(Vec<u64>, Vec<u64>)> = both.collect();
        let length_ns = to_ns - from_ns;
        let count = parts.len().max(1) as u64;
        let at_ns = |part: u64| from_ns + length_ns / count * part;
        let part = |(number, (excess_ns, delayed_ns)): (u64, (Vec<u64>, Vec<u64>))| Part {
            from_ns: at_ns(number),
            to_ns: at_ns(number + 1),
            excess_ns,
            delayed_ns,
        };
        Self {
            savings,
            without,
            shortage: None,
            parts: (0..).zip(parts).map(part).collect(),
            from_ns,
            to_ns,
            replayed_ns: length_ns,
            departure,
            departed_ns: if departure.is_some() { length_ns } else { 0 },
        }
    }

    /// Adds what was found of the stretch that comes next.
    pub(super) fn add(&mut self, later: &Self) {
        if later.departure.is_none() {
            let (sums, more) = (&mut self.savings, &later.savings);
            sums.unexplained_s += more.unexplained_s;
            sums.wall_s.iter_mut().zip(more.wall_s).for_each(|(sum, s)| *sum += s);
            for (sum, range) in sums.range_s.iter_mut().zip(more.range_s) {
                *sum = (sum.0 + range.0, sum.1 + range.1);
            }
            for (sum, more) in self.without.iter_mut().zip(&later.without) {
                sum.wall_ns += more.wall_ns;
                sum.range_ns = (sum.range_ns.0 + more.range_ns.0, sum.range_ns.1 + more.range_ns.1);
            }
        }
        if self.parts.is_empty() {
            self.from_ns = later.from_ns;
        }
        self.to_ns = self.to_ns.max(later.to_ns);
        self.replayed_ns += later.replayed_ns;
        self.parts.extend(later.parts.iter().cloned());
        while self.parts.len() > MOST_PARTS {
            let of_two = |two: &[Part]| {
                let mut part = two[0].clone();
                two[1..].iter().for_each(|later| part.add(later));
                part
            };
            self.parts = self.parts.chunks(2).map(of_two).collect();
        }
        self.departed_ns += later.departed_ns;
        self.departure = self.departure.or(later.departure);
        let is_much = self.departed_ns as f64 > MUCH_DEPARTED * self.replayed_ns as f64;
        self.savings.departs = self.departure.filter(|_| is_much);
    }

    /// What was replayed stands for the run up to a time, of which it is a part.
    pub(super) fn standing_for(mut self, until_ns: Nanoseconds) -> Self {
        self.to_ns = self.to_ns.max(until_ns);
        let times = (self.to_ns - self.from_ns) as f64 / self.replayed_ns.max(1) as f64;
        let grow_range = |range: &mut (f64, f64)| *range = (range.0 * times, range.1 * times);
        self.savings.unexplained_s *= times;
        self.savings.wall_s.iter_mut().for_each(|s| *s *= times);
        self.savings.range_s.iter_mut().for_each(grow_range);
        for shorter in &mut self.without {
            shorter.wall_ns *= times;
            grow_range(&mut shorter.range_ns);
        }
        for part in &mut self.parts {
            let all = part.excess_ns.iter_mut().chain(&mut part.delayed_ns);
            all.for_each(|ns| *ns = (*ns as f64 * times) as u64);
        }
        self
    }

    /// What the run would take without each set of causes that saves something; nothing where replays depart from the run.
    pub(super) fn whatif(&self) -> WhatIf {
        let length_s = (self.to_ns - self.from_ns) as f64 / 1e9;
        let mut whatif = WhatIf { recorded_s: length_s, without: Vec::new() };
        if self.savings.departs.is_some() {
            return whatif;
        }
        for (set, shorter) in self.without.iter().enumerate().filter(|(_, of)| of.wall_ns > 0.0) {
            let in_set = |at: &usize| set >> at & 1 == 1;
            let causes: Vec<usize> = (0..Blame::ALL.len()).filter(in_set).collect();
            // A cause that saves nothing is in no set.
            if causes.iter().any(|at| self.without[1 << at].wall_ns <= 0.0) {
                continue;
            }
            let takes_s = |saved_ns: f64| (length_s - saved_ns / 1e9).max(0.0);
            whatif.without.push(Without {
                causes: causes.iter().map(|at| Blame::ALL[*at].word().to_owned()).collect(),
                run_s: takes_s(shorter.wall_ns),
                least_s: takes_s(shorter.range_ns.1.max(shorter.wall_ns)),
                most_s: takes_s(shorter.range_ns.0.min(shorter.wall_ns)),
            });
        }
        whatif
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(from_ns: u64, to_ns: u64, departure: Option<(u32, u64)>) -> Replayed {
        let savings =
            ReplaySavings { wall_s: [1.0, 2.0, 0.0, 0.5], departs: departure, ..ReplaySavings::default() };
        let part = |from_ns, to_ns| Part { from_ns, to_ns, excess_ns: vec![1, 2], delayed_ns: vec![3] };
        let middle_ns = from_ns.midpoint(to_ns);
        let departed_ns = if departure.is_some() { to_ns - from_ns } else { 0 };
        let parts = vec![part(from_ns, middle_ns), part(middle_ns, to_ns)];
        let mut without = [Shorter::default(); 16];
        without[2].wall_ns = 2.0;
        let replayed_ns = to_ns - from_ns;
        Replayed {
            savings,
            without,
            parts,
            from_ns,
            to_ns,
            replayed_ns,
            departure,
            departed_ns,
            shortage: None,
        }
    }

    #[test]
    fn stretches_add_up_and_those_that_depart_say_nothing() {
        let mut whole = Replayed::default();
        for at in 0..20 {
            whole.add(&stretch(at * 100, (at + 1) * 100, (at == 3).then_some((7, 310))));
        }
        assert_eq!(whole.savings.wall_s, [19.0, 38.0, 0.0, 9.5]);
        assert_eq!(whole.savings.departs, None);
        (0..3).for_each(|at| whole.add(&stretch(2000 + at * 100, 2100 + at * 100, Some((1, 2000)))));
        assert_eq!(whole.savings.departs, Some((7, 310)));
    }

    #[test]
    fn stretches_stand_for_those_that_were_left_out() {
        let mut some = stretch(0, 100, None);
        some.add(&stretch(300, 400, None));
        let whole = some.standing_for(800);
        assert_eq!((whole.savings.wall_s[1], whole.parts[0].excess_ns[1]), (16.0, 8));
        let whatif = whole.whatif();
        assert!((whatif.recorded_s - 800e-9).abs() < 1e-15, "{whatif:?}");
        assert!((whatif.without[0].run_s - (800.0 - 16.0) * 1e-9).abs() < 1e-15, "{whatif:?}");
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
        let whatif = whole.whatif();
        assert_eq!((whatif.recorded_s, whatif.without.len()), (33.3e-6, 1));
        let without = &whatif.without[0];
        assert_eq!(without.causes, ["pattern"]);
        assert!((without.run_s - (33_300.0 - 666.0) / 1e9).abs() < 1e-15, "{without:?}");
        assert!(without.least_s <= without.run_s && without.run_s <= without.most_s, "{without:?}");
    }
}
