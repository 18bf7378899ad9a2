//! What can go wrong, how much, and when.

use crate::error::{Error, named};
use crate::placement::Placement;
use std::str::FromStr;

/// When something happens, in shares of the run as it would be without disturbances. It goes on to the end, however late
/// that is, when it ends at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// From 0.
    pub from: f64,
    /// To 1.
    pub to: f64,
}

impl Stretch {
    /// All the time.
    pub const WHOLE: Self = Self { from: 0.0, to: 1.0 };
    /// A quarter of the run is quiet before, and a quarter after.
    pub const MIDDLE: Self = Self { from: 0.25, to: 0.75 };

    /// In nanoseconds of a run of this length.
    pub(crate) fn range_ns(self, run_ns: f64) -> (u64, u64) {
        let to_ns = if self.to >= 1.0 { u64::MAX } else { (self.to * run_ns) as u64 };
        ((self.from * run_ns) as u64, to_ns)
    }

    fn is_sound(self) -> bool {
        0.0 <= self.from && self.from < self.to && self.to <= 1.0
    }
}

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Disturbance {
    /// Ranks are laid on nodes in a way that does not fit their pattern.
    WorsePlacement {
        /// How they are laid.
        placement: Placement,
    },
    /// Some ranks have more to compute than others.
    Imbalance {
        /// How many of the ranks.
        share: f64,
        /// How much more: 0.5 is half as much again.
        more: f64,
        /// It wanders over the ranks, once around in the run, instead of staying.
        drifts: bool,
    },
    /// Each rank has more to compute than the one before.
    GradedImbalance {
        /// How much more the last one has than the first: 0.5 is half as much again.
        more: f64,
    },
    /// One node computes slower than others.
    SlowNode {
        /// How much longer it takes: 0.5 is half as long again.
        more: f64,
    },
    /// The nodes of one rack of a torus compute slower than others ([`NodeTorus::slow_rack`](crate::NodeTorus::slow_rack)).
    SlowRack {
        /// How much longer they take: 0.5 is half as long again.
        more: f64,
    },
    /// Everybody sends to rank 0, which takes the messages one by one and works on each before all go on. Among masters
    /// and workers the master works on each result.
    SerializedRoot {
        /// Every N steps.
        every: u32,
        /// How long rank 0 works then, as a share of the time of these steps.
        share: f64,
    },
    /// The network between nodes is used by others.
    NetworkContention {
        /// The nodes between which; none named is all.
        nodes: Vec<u32>,
        /// When.
        during: Stretch,
        /// How many times as long messages take, in the median.
        factor: f64,
        /// How that varies: the standard deviation of its logarithm.
        sigma: f64,
    },
    /// Some ranks lose their processor to others again and again.
    StolenCpu {
        /// How many of the ranks.
        share: f64,
        /// When.
        during: Stretch,
        /// Once in this time.
        period_ns: u64,
        /// For so much of it, on average.
        taken: f64,
    },
    /// The last rank is stopped again and again, and waits for no processor meanwhile.
    StoppedRank {
        /// When.
        during: Stretch,
        /// Once in this time.
        period_ns: u64,
        /// For so much of it, on average.
        taken: f64,
    },
    /// The clocks of nodes differ and drift; each node has an agent of its own and is compared with the first.
    DriftingClocks {
        /// They are off by up to so much at the start.
        offset_ns: u64,
        /// They run faster or slower by up to this number of millionths.
        rate_ppm: f64,
    },
    /// Rings of some ranks are full again and again, and the newest calls are lost.
    LostRecords {
        /// How many of the ranks.
        share: f64,
        /// Once in this time.
        period_ns: u64,
        /// For so much of it.
        lost: f64,
    },
}

const MILLISECOND_NS: u64 = 1_000_000;

#[derive(Clone, Copy)]
enum Kind {
    WorsePlacement,
    Imbalance,
    DriftingImbalance,
    GradedImbalance,
    SlowNode,
    SlowRack,
    SerializedRoot,
    NetworkContention,
    SlowLink,
    StolenCpu,
    StoppedRank,
    DriftingClocks,
    LostRecords,
}

const KINDS: [(&str, Kind); 13] = [
    ("bad-mapping", Kind::WorsePlacement),
    ("imbalance", Kind::Imbalance),
    ("drifting-imbalance", Kind::DriftingImbalance),
    ("graded-imbalance", Kind::GradedImbalance),
    ("slow-node", Kind::SlowNode),
    ("slow-rack", Kind::SlowRack),
    ("serialized-root", Kind::SerializedRoot),
    ("background-traffic", Kind::NetworkContention),
    ("slow-link", Kind::SlowLink),
    ("stolen-cpu", Kind::StolenCpu),
    ("stopped-rank", Kind::StoppedRank),
    ("drifting-clocks", Kind::DriftingClocks),
    ("lost-records", Kind::LostRecords),
];

/// The names of disturbances.
pub const DISTURBANCES: [&str; 13] = {
    let (mut names, mut at) = ([""; 13], 0);
    while at < names.len() {
        names[at] = KINDS[at].0;
        at += 1;
    }
    names
};

impl FromStr for Disturbance {
    type Err = Error;

    /// One of usual strength.
    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match named("disturbance", &KINDS, name)? {
            Kind::WorsePlacement => Disturbance::WorsePlacement { placement: Placement::Random },
            Kind::Imbalance => Disturbance::Imbalance { share: 0.125, more: 0.3, drifts: false },
            Kind::DriftingImbalance => Disturbance::Imbalance { share: 0.125, more: 0.3, drifts: true },
            Kind::GradedImbalance => Disturbance::GradedImbalance { more: 0.4 },
            Kind::SlowNode => Disturbance::SlowNode { more: 0.3 },
            Kind::SlowRack => Disturbance::SlowRack { more: 0.3 },
            Kind::SerializedRoot => Disturbance::SerializedRoot { every: 5, share: 0.2 },
            Kind::NetworkContention => Disturbance::NetworkContention {
                nodes: Vec::new(),
                during: Stretch::MIDDLE,
                factor: 4.0,
                sigma: 0.5,
            },
            Kind::SlowLink => Disturbance::NetworkContention {
                nodes: vec![0, 1],
                during: Stretch::WHOLE,
                factor: 8.0,
                sigma: 0.2,
            },
            Kind::StoppedRank => Disturbance::StoppedRank {
                during: Stretch::WHOLE,
                period_ns: 100 * MILLISECOND_NS,
                taken: 0.2,
            },
            Kind::StolenCpu => Disturbance::StolenCpu {
                share: 1.0 / 64.0,
                during: Stretch::WHOLE,
                period_ns: 20 * MILLISECOND_NS,
                taken: 0.2,
            },
            Kind::DriftingClocks => Disturbance::DriftingClocks { offset_ns: 50_000, rate_ppm: 20.0 },
            Kind::LostRecords => {
                Disturbance::LostRecords { share: 0.125, period_ns: 400 * MILLISECOND_NS, lost: 0.1 }
            }
        })
    }
}

impl Disturbance {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let sound = match *self {
            Disturbance::WorsePlacement { .. } => true,
            Disturbance::Imbalance { share: of, more, .. } => share(of) && (0.0..=100.0).contains(&more),
            Disturbance::GradedImbalance { more }
            | Disturbance::SlowNode { more }
            | Disturbance::SlowRack { more } => (0.0..=100.0).contains(&more),
            Disturbance::SerializedRoot { every, share } => every > 0 && (0.0..=100.0).contains(&share),
            Disturbance::NetworkContention { during, factor, sigma, .. } => {
                during.is_sound() && (1.0..=1e4).contains(&factor) && (0.0..=3.0).contains(&sigma)
            }
            Disturbance::StolenCpu { share: of, during, period_ns, taken } => {
                share(of) && during.is_sound() && period_ns >= 1000 && (0.0..=0.6).contains(&taken)
            }
            Disturbance::StoppedRank { during, period_ns, taken } => {
                during.is_sound() && period_ns >= 1000 && (0.0..=0.6).contains(&taken)
            }
            Disturbance::DriftingClocks { offset_ns, rate_ppm } => {
                offset_ns <= 1_000_000_000 && (0.0..=100.0).contains(&rate_ppm)
            }
            Disturbance::LostRecords { share: of, period_ns, lost } => {
                share(of) && period_ns >= 1000 && share(lost)
            }
        };
        let (what, needed) = ("a disturbance", "of sensible strength and time");
        sound.then_some(()).ok_or_else(|| Error::Range { what, needed, given: format!("{self:?}") })
    }
}
