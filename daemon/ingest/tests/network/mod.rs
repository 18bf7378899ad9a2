//! A network with known truth: clocks that are off, drift and wander, round trips with heavy tails, messages.

use mpiscope_ingest::host_clocks::{Bounds, ClockMaps, NodeClock, RoundTrip, Violations};
use mpiscope_model::Node;

pub(crate) const MILLISECOND: u64 = 1_000_000;
/// How often agents hand on what happened.
const STEP_NS: u64 = 10 * MILLISECOND;
const SAMPLE_NS: u64 = 100 * MILLISECOND;
pub(crate) const ZERO_NS: u64 = 5_000_000_000_000;

/// Good enough for noise.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1, but not 0.
    pub(crate) fn share(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Mostly around a scale, now and then a hundred times as much.
    pub(crate) fn heavy(&mut self, scale_ns: f64) -> u64 {
        (scale_ns * (self.share().powf(-0.7) - 1.0)).min(scale_ns * 500.0) as u64
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TrueClock {
    /// What it shows at the start of the run.
    pub(crate) start_ns: u64,
    pub(crate) drift: f64,
    /// Its rate goes up and down by this.
    pub(crate) wander: f64,
    pub(crate) phase: f64,
}

impl TrueClock {
    /// Once up and down in this time.
    const PERIOD_NS: f64 = 120e9;

    pub(crate) fn local_ns(&self, run_ns: u64) -> u64 {
        let turn = 2.0 * std::f64::consts::PI / Self::PERIOD_NS;
        let angle = run_ns as f64 * turn + self.phase;
        let wandered = self.wander / turn * (angle.sin() - self.phase.sin());
        (self.start_ns + run_ns).saturating_add_signed((run_ns as f64 * self.drift + wandered).round() as i64)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) clocks: Vec<TrueClock>,
    pub(crate) seconds: u64,
    /// The scale of what round trips take on top of the least, on the way there and on the way back.
    pub(crate) jitter_ns: (f64, f64),
    /// What a round trip takes at least, each way.
    pub(crate) base_ns: u64,
    /// What a message takes at least.
    pub(crate) latency_ns: u64,
    pub(crate) messages_a_step: u64,
    /// Share of the pairs that talk in both directions.
    pub(crate) both_ways: bool,
    pub(crate) seed: u64,
}

/// A message: the nodes, when it was sent and received as told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) run_times_ns: (u64, u64),
}

pub(crate) struct Outcome {
    pub(crate) clocks: Vec<NodeClock>,
    pub(crate) messages: Vec<Sent>,
    pub(crate) before: Violations,
    pub(crate) end_ns: u64,
}

impl Setting {
    pub(crate) fn trip(&self, clock: &TrueClock, at_ns: u64, random: &mut Random) -> RoundTrip {
        let there_ns = self.base_ns + random.heavy(self.jitter_ns.0);
        let back_ns = self.base_ns + random.heavy(self.jitter_ns.1);
        let (asked, got) = (clock.local_ns(at_ns), clock.local_ns(at_ns + there_ns + back_ns));
        let local_ns = asked.midpoint(got);
        RoundTrip {
            local_ns,
            offset_ns: (ZERO_NS + at_ns + there_ns) as i64 - local_ns as i64,
            uncertainty_ns: (got - asked).div_ceil(2),
        }
    }

    /// Lets the network run; node 0 is the reference.
    pub(crate) fn run(&self) -> Outcome {
        let mut random = Random(self.seed);
        let mut clocks: Vec<NodeClock> = vec![NodeClock::reference(ZERO_NS)];
        clocks.extend((1..self.clocks.len()).map(|_| NodeClock::new(ZERO_NS)));
        // Node 0 shows what the run's time is made of.
        let mut truth = self.clocks.clone();
        truth[0] = TrueClock { start_ns: ZERO_NS, drift: 0.0, wander: 0.0, phase: 0.0 };
        let end_ns = self.seconds * 1_000 * MILLISECOND;
        let mut outcome = Outcome { clocks, messages: Vec::new(), before: Violations::default(), end_ns };
        let burst = |at_ns: u64, clocks: &mut [NodeClock], random: &mut Random, count: u64| {
            for number in 0..count {
                for (clock, true_clock) in clocks.iter_mut().zip(&truth) {
                    clock.sample(self.trip(true_clock, at_ns + number * 2 * MILLISECOND / 10, random));
                }
            }
        };
        burst(0, &mut outcome.clocks, &mut random, 20);
        let first_ns = 10 * MILLISECOND;
        for step_ns in (first_ns..end_ns).step_by(STEP_NS as usize) {
            if step_ns % SAMPLE_NS == 0 {
                burst(step_ns - STEP_NS, &mut outcome.clocks, &mut random, 1);
            }
            for _ in 0..self.messages_a_step {
                let from = random.below(truth.len() as u64) as usize;
                let to = (from + 1 + random.below(truth.len() as u64 - 1) as usize) % truth.len();
                let (from, to) = if self.both_ways { (from, to) } else { (from.min(to), from.max(to)) };
                let sent_ns = step_ns - random.below(STEP_NS - 5 * MILLISECOND);
                let recv_ns =
                    sent_ns + self.latency_ns + random.heavy(self.latency_ns as f64).min(4 * MILLISECOND);
                let run_ns_of =
                    |node: usize, at_ns: u64| outcome.clocks[node].to_run(truth[node].local_ns(at_ns));
                let run_times_ns = (run_ns_of(from, sent_ns), run_ns_of(to, recv_ns));
                outcome.before.see(run_times_ns.0, run_times_ns.1);
                let (from, to) = (Node::from_index(from), Node::from_index(to));
                outcome.messages.push(Sent { from, to, run_times_ns });
            }
            for (clock, true_clock) in outcome.clocks.iter_mut().zip(&truth) {
                clock.fix_until(true_clock.local_ns(step_ns + 5 * MILLISECOND));
            }
        }
        burst(end_ns, &mut outcome.clocks, &mut random, 20);
        outcome
    }

    pub(crate) fn true_clock(&self, node: usize) -> TrueClock {
        match node {
            0 => TrueClock { start_ns: ZERO_NS, drift: 0.0, wander: 0.0, phase: 0.0 },
            _ => self.clocks[node],
        }
    }
}

impl Outcome {
    pub(crate) fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::default();
        for message in &self.messages {
            bounds.message(message.from, message.to, message.run_times_ns.0, message.run_times_ns.1);
        }
        bounds
    }

    pub(crate) fn solve(&self, bounds: &mut Bounds) -> ClockMaps {
        let clocks: Vec<(Node, &NodeClock)> = (0..).map(Node).zip(&self.clocks).collect();
        ClockMaps::solve(&clocks, bounds, self.end_ns)
    }
}
