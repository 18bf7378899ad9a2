//! The computing of ranks, and what becomes of it.

/// Computing of ranks by their progress, without time without a CPU.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) ranks: usize,
    pub(crate) parts: usize,
    /// By rank and part, in nanoseconds.
    pub(crate) own_ns: Vec<f64>,
    /// The mean of the ranks that do the same.
    pub(crate) even_ns: Vec<f64>,
    /// By call, the cell of the run that it is in.
    pub(crate) cell_of: Vec<u8>,
    /// By cell, its segment.
    pub(crate) segment_of: Vec<u16>,
    pub(crate) segments: usize,
    pub(crate) places: usize,
    /// By rank and place, whether most ranks that do the same do not call there.
    pub(crate) is_rare: Vec<bool>,
    /// The pairs of places that computing is between.
    pub(crate) pairs: Pairs,
    /// By segment, rank and pair, what others compute as a share of what the rank does.
    pub(crate) usual: Vec<f32>,
    /// By segment and rank, what becomes of computing if work is even.
    pub(crate) scales: Vec<Scale>,
    /// By rank and segment, the factor of what ranks wait for a CPU meanwhile. Empty where they do not share CPUs.
    pub(crate) delays: Vec<f32>,
}

/// What becomes of a rank's computing in a part of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The factor of all of it.
    pub(crate) all: f32,
    /// Where the rank exceeds others, this many times what they compute are left at most.
    pub(crate) most: f32,
    /// Where it falls short of others, this many times what they compute come out at least.
    pub(crate) least: f32,
    /// What the rank does alone goes to the others.
    pub(crate) is_spread: bool,
}

impl Scale {
    pub(crate) const UNCHANGED: Self = Self { all: 1.0, most: f32::INFINITY, least: 0.0, is_spread: false };
    /// What others do not do goes to them.
    pub(crate) const SPREAD: Self = Self { most: 1.0, is_spread: true, ..Self::UNCHANGED };

    /// Whether the rank has less to do with it.
    pub(crate) fn takes_work(&self) -> bool {
        self.is_spread || self.all < 1.0 || self.most < f32::INFINITY
    }
}

impl Work {
    /// By segment and rank, what becomes of computing if work is even.
    pub(crate) fn scales(&self) -> Vec<Scale> {
        self.scales.clone()
    }

    /// Whether a call is made only for work that the rank alone does, and that goes to the others: then nobody has to call.
    pub(crate) fn is_needless(&self, scales: &[Scale], (rank, place): (usize, u16), call: usize) -> bool {
        let segment = usize::from(self.segment_of[usize::from(self.cell_of[call])]);
        scales[segment * self.ranks + rank].is_spread && self.is_rare[rank * self.places + usize::from(place)]
    }

    /// The factor of what a rank waits for a CPU before one of its calls, if work is even.
    pub(crate) fn delay(&self, delays: &[f32], rank: usize, call: usize) -> f64 {
        let segment = usize::from(self.segment_of[usize::from(self.cell_of[call])]);
        f64::from(delays[rank * self.segments + segment])
    }

    /// The factor of the computing of a rank before one of its calls.
    pub(crate) fn factor(&self, scales: &[Scale], rank: usize, call: usize) -> f64 {
        let segment = usize::from(self.segment_of[usize::from(self.cell_of[call])]);
        let of_rank = segment * self.ranks + rank;
        let usual = self.usual[of_rank * self.pairs.count() + self.pairs.of_call(call)];
        let Scale { all, most, least, .. } = scales[of_rank];
        let factor = match usual < 1.0 {
            true if most.is_infinite() => 1.0,
            true => (most * usual).min(1.0),
            false => (least * usual).max(1.0),
        };
        f64::from(all * factor)
    }
}

/// The pairs of places that computing is between.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// By call, the number of its place and that of the call before it, as a pair.
    pub(crate) of_call: Vec<u16>,
    /// By number, the places of the second call and the first. All other pairs have the next number.
    pub(crate) places: Vec<[u16; 2]>,
}

impl Pairs {
    pub(crate) fn of_call(&self, call: usize) -> usize {
        usize::from(self.of_call[call])
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len() + 1
    }
}
