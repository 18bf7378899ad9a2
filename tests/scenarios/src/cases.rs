//! The jobs. The half that the verdict was tuned on knows neither the patterns nor the sizes nor the noise of the
//! other.

use mpiscope_synth::{
    Collective, Collectives, Disturbance, Noise, Pattern, Placement, Sizes, Spec, Stretch, Style,
};

/// Which half a job belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Looked at while the verdict was made.
    Tuned,
    /// Not.
    Unseen,
}

impl Half {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Half::Tuned => "runs that the verdict was tuned on",
            Half::Unseen => "runs that it was not tuned on",
        }
    }
}

/// A job.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) half: Half,
    pub(crate) spec: Spec,
    pub(crate) is_hidden: bool,
    /// Whether the quiet network was measured before.
    pub(crate) is_calibrated: bool,
}

/// What is done to a job.
fn disturbances(strong: f64) -> Vec<(&'static str, Vec<Disturbance>, bool)> {
    let traffic = |during| Disturbance::NetworkContention {
        nodes: Vec::new(),
        during,
        factor: 2.0 + 2.0 * strong,
        sigma: 0.5,
    };
    let imbalance = |share, more, drifts| Disturbance::Imbalance { share, more, drifts };
    let stopped = Disturbance::StoppedRank {
        during: Stretch::WHOLE,
        period_ns: 50_000_000,
        taken: (0.1 * strong).min(0.5),
    };
    let clocks = Disturbance::DriftingClocks { offset_ns: 50_000, rate_ppm: 20.0 };
    vec![
        ("none", vec![], false),
        ("drifting clocks", vec![clocks.clone()], false),
        ("imbalance", vec![imbalance(0.125, 0.2 * strong, false)], false),
        ("half imbalanced", vec![imbalance(0.5, 0.25 * strong, false)], false),
        ("drifting imbalance", vec![imbalance(0.125, 0.2 * strong, true)], false),
        ("serialized root", vec![Disturbance::SerializedRoot { every: 5, share: 0.15 * strong }], false),
        ("traffic in the middle", vec![traffic(Stretch::MIDDLE)], false),
        ("traffic in the second half", vec![traffic(Stretch { from: 0.5, to: 1.0 })], false),
        ("traffic all the time", vec![traffic(Stretch::WHOLE)], true),
        ("traffic all the time, calibrated", vec![traffic(Stretch::WHOLE)], false),
        (
            "stolen cpu",
            vec![Disturbance::StolenCpu {
                share: 0.06,
                during: Stretch::WHOLE,
                period_ns: 20_000_000,
                taken: (0.15 * strong).min(0.5),
            }],
            false,
        ),
        ("cyclic", vec![Disturbance::WorsePlacement { placement: Placement::Cyclic }], false),
        ("random", vec![Disturbance::WorsePlacement { placement: Placement::Random }], false),
        ("graded imbalance", vec![Disturbance::GradedImbalance { more: 0.3 * strong }], false),
        ("slow node", vec![Disturbance::SlowNode { more: 0.2 * strong }], false),
        (
            "slow link",
            vec![Disturbance::NetworkContention {
                nodes: vec![0, 1],
                during: Stretch::WHOLE,
                factor: 4.0 + 4.0 * strong,
                sigma: 0.3,
            }],
            false,
        ),
        ("stopped rank", vec![stopped.clone()], false),
        ("imbalance and a stopped rank", vec![imbalance(0.125, 0.2 * strong, false), stopped], false),
        (
            "traffic and graded imbalance",
            vec![traffic(Stretch::MIDDLE), Disturbance::GradedImbalance { more: 0.4 * strong }],
            false,
        ),
        // Undisturbed runs are to be many enough; where ranks could be placed better, they are none.
        ("none, once more", vec![], false),
        ("imbalance and drifting clocks", vec![imbalance(0.125, 0.3 * strong, false), clocks], false),
    ]
}

struct Kind {
    pattern: Pattern,
    ranks: u32,
    nodes: u32,
    styles: &'static [Style],
}

const EVERY: &[Style] = &[Style::Blocking, Style::Waitall, Style::Polling];

fn kinds(half: Half) -> Vec<Kind> {
    let kind = |pattern, ranks, nodes, styles| Kind { pattern, ranks, nodes, styles };
    match half {
        Half::Tuned => vec![
            kind(Pattern::Ring, 32, 4, EVERY),
            kind(Pattern::Halo2d, 64, 8, EVERY),
            kind(Pattern::Wavefront, 36, 6, EVERY),
            kind(Pattern::MasterWorker, 24, 3, &[Style::Blocking]),
            kind(Pattern::Pipeline, 20, 4, &[Style::Blocking, Style::Polling]),
        ],
        Half::Unseen => vec![
            kind(Pattern::Cg, 32, 4, EVERY),
            kind(Pattern::Halo3d, 60, 5, EVERY),
            kind(Pattern::RandomSparse, 48, 6, EVERY),
            kind(Pattern::AllToAll, 24, 3, &[Style::Waitall]),
            kind(Pattern::Groups, 40, 5, EVERY),
            kind(Pattern::Collectives, 32, 4, &[Style::Blocking]),
        ],
    }
}

fn noises(half: Half) -> [Noise; 2] {
    match half {
        Half::Tuned => {
            [Noise::LogNormal { sigma: 0.05 }, Noise::HeavyTailed { sigma: 0.2, share: 0.02, exponent: 1.8 }]
        }
        Half::Unseen => {
            [Noise::LogNormal { sigma: 0.1 }, Noise::HeavyTailed { sigma: 0.12, share: 0.025, exponent: 2.4 }]
        }
    }
}

/// Another one makes another half of the same kind: the unseen one is drawn anew when rules were changed after a look at it.
fn first_seed(half: Half) -> u64 {
    match half {
        Half::Tuned => 1,
        Half::Unseen => 710_000,
    }
}

/// The next draw begins this number of seeds later.
const SEEDS_OF_DRAW: u64 = 10_000;

fn of_half(half: Half, draw: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    let sizes = match half {
        Half::Tuned => Sizes { min_bytes: 1 << 10, max_bytes: 8 << 10 },
        Half::Unseen => Sizes { min_bytes: 300, max_bytes: 5 << 10 },
    };
    let collectives = match half {
        Half::Tuned => Collectives { every: 10, kinds: vec![Collective::Allreduce], bytes: 8 },
        Half::Unseen => Collectives {
            every: 6,
            kinds: vec![Collective::Bcast, Collective::Reduce, Collective::Barrier],
            bytes: 64,
        },
    };
    let calls_per_second = match half {
        Half::Tuned => 60_000.0,
        Half::Unseen => 45_000.0,
    };
    for (noise_at, noise) in noises(half).into_iter().enumerate() {
        for kind in kinds(half) {
            for &style in kind.styles {
                let strong = if noise_at == 0 { 1.0 } else { 2.0 };
                for (name, disturb, is_hidden) in disturbances(strong) {
                    let mut spec = Spec::new(kind.pattern, kind.ranks, 4.0, calls_per_second);
                    spec.nodes = kind.nodes;
                    spec.style = style;
                    spec.noise = noise;
                    spec.sizes = sizes;
                    spec.collectives = Some(collectives.clone());
                    spec.seed = first_seed(half) + draw * SEEDS_OF_DRAW + cases.len() as u64;
                    spec.disturb = disturb;
                    let name = format!(
                        "{} {style:?} {} ranks, noise {noise_at}, {name}",
                        kind.pattern.name(),
                        kind.ranks
                    );
                    // Nothing can tell of a disturbance that never ends, but a good run.
                    let is_calibrated = !is_hidden;
                    cases.push(Case { name, half, spec, is_hidden, is_calibrated });
                }
            }
        }
    }
    cases
}

/// All jobs. Other draws are the same jobs with other noise.
pub(crate) fn all(draw: u64) -> Vec<Case> {
    let mut cases = of_half(Half::Tuned, draw);
    cases.extend(of_half(Half::Unseen, draw));
    cases
}
