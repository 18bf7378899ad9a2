//! From which size on blocking sends wait for their receives.

/// From which size on blocking sends wait for their receives, learnt from sends whose receives were posted late.
#[derive(Debug)]
pub(super) struct Thresholds {
    /// By the octave of the size: sends whose receive was posted late, and how many of them returned after that.
    late: [(u32, u32); OCTAVES],
}

/// A size blocks when this number of receives came late, and this share of the sends waited for them.
const ENOUGH_LATE: u32 = 8;
const MOSTLY: (u32, u32) = (3, 4);
/// A receive that was posted so much later than its send began is late, whatever messages take.
pub(super) const CLEARLY_LATE_NS: u64 = 20_000;

/// Octaves of 64-bit sizes.
const OCTAVES: usize = 64;

impl Default for Thresholds {
    fn default() -> Self {
        Self { late: [(0, 0); OCTAVES] }
    }
}

impl Thresholds {
    pub(super) fn learn(&mut self, bytes: u64, has_waited: bool) {
        let of_size = &mut self.late[octave(bytes) as usize];
        of_size.0 = of_size.0.saturating_add(1);
        of_size.1 = of_size.1.saturating_add(u32::from(has_waited));
    }

    /// The first octave of sizes whose sends mostly wait.
    pub(super) fn settle(&self) -> Option<u32> {
        let waits = |&(late, waited): &(u32, u32)| {
            late >= ENOUGH_LATE
                && u64::from(waited) * u64::from(MOSTLY.1) >= u64::from(late) * u64::from(MOSTLY.0)
        };
        self.late.iter().position(waits).map(|octave| octave as u32)
    }
}

/// The octave of a size.
pub(super) fn octave(bytes: u64) -> u32 {
    bytes.max(1).ilog2()
}
