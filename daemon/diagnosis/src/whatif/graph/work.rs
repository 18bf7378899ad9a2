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
    /// By segment, rank and place, the share of its computing there that is beyond the mean of the ranks that do the same.
    pub(crate) beyond: Vec<f32>,
    /// By segment and rank, what becomes of computing if work is even.
    pub(crate) scales: Vec<Scale>,
}

/// What becomes of a rank's computing in a part of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The factor of all of it.
    pub(crate) all: f32,
    /// How much of what is beyond goes.
    pub(crate) beyond: f32,
}

impl Scale {
    pub(crate) const UNCHANGED: Self = Self { all: 1.0, beyond: 0.0 };
    /// What others do not do goes to all of them.
    pub(crate) const SPREAD: Self = Self { all: 1.0, beyond: 1.0 };

    pub(crate) fn by(self, factor: f64) -> Self {
        Self { all: self.all * factor.max(0.0) as f32, ..self }
    }
}

impl Work {
    /// By segment and rank, what becomes of computing if work is even.
    pub(crate) fn scales(&self) -> Vec<Scale> {
        self.scales.clone()
    }

    /// Of all segments and ranks, those of one rank.
    pub(crate) fn of_rank(&self, rank: usize) -> impl Iterator<Item = usize> + use<> {
        let ranks = self.ranks;
        (0..self.segments).map(move |segment| segment * ranks + rank).filter(move |_| rank < ranks)
    }

    /// How many segments of how many ranks there are.
    pub(crate) fn scale_count(&self) -> usize {
        self.scales.len()
    }

    /// Whether a call is made only for work that the rank alone does, and that goes to all of them: then nobody has to call.
    pub(crate) fn is_needless(&self, scales: &[Scale], (rank, place): (usize, u16), call: usize) -> bool {
        let segment = usize::from(self.segment_of[usize::from(self.cell_of[call])]);
        scales[segment * self.ranks + rank] == Scale::SPREAD
            && self.is_rare[rank * self.places + usize::from(place)]
    }

    /// The factor of the computing of a rank before one of its calls, which is at a place.
    pub(crate) fn factor(&self, scales: &[Scale], (rank, place): (usize, u16), call: usize) -> f64 {
        let segment = usize::from(self.segment_of[usize::from(self.cell_of[call])]);
        let of_rank = segment * self.ranks + rank;
        let scale = scales[of_rank];
        let beyond = self.beyond[of_rank * self.places + usize::from(place)];
        f64::from(scale.all) * (1.0 - f64::from(scale.beyond * beyond))
    }
}
