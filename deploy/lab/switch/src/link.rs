//! What one directed link does to the frames on it. It has no clock: the time comes with each frame.

use crate::random::Random;

/// A link holds no more than this: a switch that is flooded drops, as a real one does.
pub(crate) const QUEUE_BYTES: usize = 4 << 20;

/// What an Ethernet frame takes on the line beside its bytes: preamble, checksum, gap.
const LINE_OVERHEAD_BYTES: u64 = 24;

/// How heavy the tail of the Pareto distribution is; it has a mean and a variance.
const PARETO_SHAPE: f64 = 2.5;

/// Limit of jitter, as a multiple of the wanted one: a tail without an end would stop a link for good.
const LONGEST_TAIL: f64 = 100.0;

/// How the delay of frames varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Distribution {
    /// Evenly between so much less and so much more.
    #[default]
    Uniform,
    /// With the jitter as standard deviation.
    Normal,
    /// Only more, mostly little and sometimes much; the jitter is the scale.
    Pareto,
}

/// The settings of a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Settings {
    pub(crate) delay_ns: u64,
    pub(crate) jitter_ns: u64,
    pub(crate) distribution: Distribution,
    /// Bits a second; 0 is as fast as the machine can.
    pub(crate) rate_bits: u64,
    /// The share of frames that get lost.
    pub(crate) loss: f64,
    pub(crate) cut: bool,
}

/// What became of the frames; never reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    pub(crate) frames: u64,
    pub(crate) forwarded: u64,
    pub(crate) forwarded_bytes: u64,
    /// By `Settings::loss`.
    pub(crate) lost: u64,
    /// While the link was cut.
    pub(crate) cut: u64,
    /// Because the link's queue was full.
    pub(crate) overflowed: u64,
    /// That the host did not take.
    pub(crate) refused: u64,
}

/// One direction between two ports.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) settings: Settings,
    pub(crate) counters: Counters,
    random: Random,
    /// When the frame before this one leaves: none overtakes it.
    last_release_ns: u64,
    /// When the line has sent what was put on it.
    line_free_ns: u64,
    queued_bytes: usize,
}

impl Link {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            settings: Settings::default(),
            counters: Counters::default(),
            random: Random::new(seed),
            last_release_ns: 0,
            line_free_ns: 0,
            queued_bytes: 0,
        }
    }

    /// When a frame that came now leaves; `None` when it does not.
    pub(crate) fn release_ns(&mut self, now_ns: u64, bytes: usize) -> Option<u64> {
        self.counters.frames += 1;
        if self.settings.cut {
            self.counters.cut += 1;
            return None;
        }
        // A lot is drawn only where there is something to lose: the n-th frame on a lossy link always fares alike.
        if self.settings.loss > 0.0 && self.random.fraction() < self.settings.loss {
            self.counters.lost += 1;
            return None;
        }
        if self.queued_bytes + bytes > QUEUE_BYTES {
            self.counters.overflowed += 1;
            return None;
        }
        self.queued_bytes += bytes;
        let mut sent_ns = now_ns;
        if self.settings.rate_bits > 0 {
            let line_bits = u128::from((bytes as u64 + LINE_OVERHEAD_BYTES) * 8);
            let line_ns = line_bits * 1_000_000_000 / u128::from(self.settings.rate_bits);
            let begun_ns = self.line_free_ns.max(now_ns);
            sent_ns = begun_ns.saturating_add(u64::try_from(line_ns).unwrap_or(u64::MAX));
            self.line_free_ns = sent_ns;
        }
        let release_ns = sent_ns.saturating_add(self.delay_ns()).max(self.last_release_ns);
        self.last_release_ns = release_ns;
        Some(release_ns)
    }

    /// A frame left the link.
    pub(crate) fn released(&mut self, bytes: usize) {
        self.queued_bytes -= bytes;
        self.counters.forwarded += 1;
        self.counters.forwarded_bytes += bytes as u64;
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds of a jitter need no more digits, and the sum is kept above 0"
    )]
    fn delay_ns(&mut self) -> u64 {
        let Settings { delay_ns, jitter_ns, distribution, .. } = self.settings;
        if jitter_ns == 0 {
            return delay_ns;
        }
        let share = match distribution {
            Distribution::Uniform => 2.0 * self.random.fraction() - 1.0,
            Distribution::Normal => self.random.normal(),
            Distribution::Pareto => self.random.fraction().powf(-1.0 / PARETO_SHAPE) - 1.0,
        };
        (delay_ns as f64 + share.min(LONGEST_TAIL) * jitter_ns as f64).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn link(settings: Settings) -> Link {
        Link { settings, ..Link::new(1) }
    }

    #[test]
    fn a_plain_link_lets_everything_through_at_once() {
        let mut link = link(Settings::default());
        assert_eq!(link.release_ns(5, 60), Some(5));
        link.released(60);
        assert_eq!(
            link.counters,
            Counters { frames: 1, forwarded: 1, forwarded_bytes: 60, ..Default::default() }
        );
    }

    #[test]
    fn a_delay_is_added_and_a_shorter_one_lets_nobody_overtake() {
        let mut link = link(Settings { delay_ns: 3 * MS, ..Default::default() });
        assert_eq!(link.release_ns(MS, 60), Some(4 * MS));
        link.settings.delay_ns = 0;
        assert_eq!(link.release_ns(2 * MS, 60), Some(4 * MS));
        assert_eq!(link.release_ns(5 * MS, 60), Some(5 * MS));
    }

    #[test]
    fn a_rate_puts_frames_one_behind_the_other() {
        // 226 bytes and what is around a frame are 2000 bits, 2 ms at a megabit.
        let mut link = link(Settings { rate_bits: 1_000_000, delay_ns: MS, ..Default::default() });
        assert_eq!(link.release_ns(0, 226), Some(3 * MS));
        assert_eq!(link.release_ns(0, 226), Some(5 * MS));
        assert_eq!(link.release_ns(10 * MS, 226), Some(13 * MS));
    }

    #[test]
    fn the_share_that_is_lost_is_the_one_asked_for_and_the_same_each_time() {
        let lost = || {
            let mut link = link(Settings { loss: 0.1, ..Default::default() });
            let through: Vec<bool> = (0..10_000)
                .map(|now| link.release_ns(now, 1).inspect(|_| link.released(1)).is_some())
                .collect();
            assert_eq!(link.counters.lost + link.counters.forwarded, 10_000);
            (link.counters.lost, through)
        };
        assert!((900..1100).contains(&lost().0), "{}", lost().0);
        assert_eq!(lost(), lost());
    }

    #[test]
    fn a_cut_link_drops_and_says_so() {
        let mut link = link(Settings { cut: true, ..Default::default() });
        assert_eq!(link.release_ns(0, 60), None);
        assert_eq!((link.counters.frames, link.counters.cut), (1, 1));
        link.settings.cut = false;
        assert!(link.release_ns(1, 60).is_some());
    }

    #[test]
    fn a_full_queue_drops_until_there_is_room() {
        let mut link = link(Settings { delay_ns: MS, ..Default::default() });
        let half = QUEUE_BYTES / 2;
        assert!(link.release_ns(0, half).is_some() && link.release_ns(0, half).is_some());
        assert_eq!(link.release_ns(0, 1), None);
        assert_eq!(link.counters.overflowed, 1);
        link.released(half);
        assert!(link.release_ns(0, half).is_some());
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    fn jitter_is_spread_as_its_distribution_says() {
        let delays = |distribution| {
            let settings = Settings { delay_ns: 10 * MS, jitter_ns: MS, distribution, ..Default::default() };
            let mut link = link(settings);
            (0..10_000).map(|_| link.delay_ns() as f64 / MS as f64).collect::<Vec<f64>>()
        };
        let mean = |delays: &[f64]| delays.iter().sum::<f64>() / delays.len() as f64;
        let uniform = delays(Distribution::Uniform);
        assert!(uniform.iter().all(|one| (9.0..=11.0).contains(one)) && (mean(&uniform) - 10.0).abs() < 0.05);
        let normal = delays(Distribution::Normal);
        let beyond = normal.iter().filter(|one| (*one - 10.0).abs() > 2.0).count();
        assert!((mean(&normal) - 10.0).abs() < 0.05 && (300..700).contains(&beyond), "{beyond}");
        let pareto = delays(Distribution::Pareto);
        assert!(pareto.iter().all(|one| *one >= 10.0), "a tail has one side");
        assert!((mean(&pareto) - 10.67).abs() < 0.1, "{}", mean(&pareto));
        assert!(pareto.iter().any(|one| *one > 20.0));
    }
}
