//! Criteria that do not change any more.

use super::bins::{bin_sizes, size_bin};
use super::line::Line;
use super::scope::Scope;
use mpiscope_model::{Function, Message, Numbers, Sink, Source};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The criterion of messages of one bin of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageCriterion {
    /// Within nodes or between them.
    pub scope: Scope,
    /// The bin, or the first of several that are taken together where no bin of the scope has enough samples.
    pub bin: u32,
    /// The last of them.
    pub last_bin: u32,
    /// How many messages it was learnt from.
    pub samples: u64,
    /// The median of their transmission times.
    pub median_ns: u64,
    /// Up to this long is normal: the 95th percentile of quiet windows. None where that is not known.
    pub normal_ns: Option<u64>,
}

mpiscope_model::numbers! { MessageCriterion { scope, bin, last_bin, samples, median_ns, normal_ns } }

impl MessageCriterion {
    /// Of messages of one size.
    #[must_use]
    pub fn of_size(scope: Scope, bytes: u64, samples: u64, median_ns: u64) -> Self {
        Self::of_sizes(scope, (bytes, bytes.saturating_add(1)), samples, median_ns)
    }

    /// Of messages of sizes: from, and the first beyond them.
    #[must_use]
    pub fn of_sizes(scope: Scope, (from, to): (u64, u64), samples: u64, median_ns: u64) -> Self {
        let last_bin = size_bin(to.saturating_sub(1).max(from));
        Self { scope, bin: size_bin(from), last_bin, samples, median_ns, normal_ns: None }
    }

    /// With what is normal.
    #[must_use]
    pub fn with_normal(self, normal_ns: Option<u64>) -> Self {
        Self { normal_ns: normal_ns.map(|normal_ns| normal_ns.max(self.median_ns)), ..self }
    }

    /// The sizes: from, and the first beyond them.
    #[must_use]
    pub fn sizes(&self) -> (u64, u64) {
        (bin_sizes(self.bin).0, bin_sizes(self.last_bin).1)
    }

    fn middle(&self) -> u64 {
        let (from, to) = self.sizes();
        from.midpoint(to)
    }
}

/// Which collectives are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectiveKey {
    /// The function.
    pub function: Function,
    /// How many ranks take part.
    pub ranks: u32,
    /// The bin of its bytes.
    pub bin: u32,
    /// Whether it is the root's part.
    pub is_root: bool,
}

mpiscope_model::numbers! { CollectiveKey { function, ranks, bin, is_root } }

/// The criterion of collectives of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveCriterion {
    /// The kind.
    pub key: CollectiveKey,
    /// How many parts in collectives it was learnt from.
    pub samples: u64,
    /// The median of the time from the last entry that was waited for to the return.
    pub median_ns: u64,
}

mpiscope_model::numbers! { CollectiveCriterion { key, samples, median_ns } }

/// The criteria of one moment.
#[derive(Debug, Clone, Default)]
pub struct Version {
    /// By scope, in order of size.
    messages: [Vec<MessageCriterion>; 2],
    /// By scope and bin; those that follow from their neighbours once they were asked for. Nothing where nothing is known.
    direct: [Arc<[AtomicU32]>; 2],
    /// By scope and bin likewise, up to what messages take normally.
    normal: [Arc<[AtomicU32]>; 2],
    collectives: FxHashMap<CollectiveKey, CollectiveCriterion>,
    /// Collectives have the criteria of the run itself; messages are compared with a quiet network.
    are_collectives_own: bool,
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages && self.collectives == other.collectives
    }
}

/// What follows from the criteria is found again when it is asked for.
impl Numbers for Version {
    fn put<S: Sink>(&self, to: &mut S) {
        self.messages.put(to);
        self.collectives().put(to);
        self.are_collectives_own.put(to);
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let messages = <[Vec<MessageCriterion>; 2]>::get(from)?.concat();
        if messages.iter().any(|criterion| criterion.bin.max(criterion.last_bin) > size_bin(u64::MAX)) {
            return None;
        }
        let version = Self::new(messages, Vec::get(from)?);
        Some(Self { are_collectives_own: bool::get(from)?, ..version })
    }
}

/// Bins with samples on either side that a line through neighbours is drawn from.
const NEIGHBOURS: usize = 4;
/// A scope whose messages take this multiple of the time in a quiet network was never quiet.
const NEVER_QUIET: f64 = 1.5;
/// Medians in the direct table are in nanoseconds of 32 bits; this value means none.
const NONE: u32 = u32::MAX;

impl Version {
    /// Of criteria that were learnt or loaded.
    #[must_use]
    pub fn new(messages: Vec<MessageCriterion>, collectives: Vec<CollectiveCriterion>) -> Self {
        let mut version = Self::default();
        for criterion in messages {
            version.messages[criterion.scope as usize].push(criterion);
        }
        let tables = version.direct.iter_mut().zip(&mut version.normal);
        for (sorted, (direct, normal)) in version.messages.iter_mut().zip(tables) {
            sorted.sort_unstable_by_key(|criterion| criterion.bin);
            sorted.dedup_by_key(|criterion| criterion.bin);
            let bins = sorted.last().map_or(0, |last| last.bin.max(size_bin(u64::MAX)) as usize + 1);
            let mut all = vec![NONE; bins];
            for criterion in sorted.iter().filter(|criterion| criterion.bin == criterion.last_bin) {
                all[criterion.bin as usize] = criterion.median_ns.min(u64::from(NONE - 1)) as u32;
            }
            *direct = all.into_iter().map(AtomicU32::new).collect();
            *normal = (0..bins).map(|_| AtomicU32::new(NONE)).collect();
        }
        version.collectives = collectives.into_iter().map(|criterion| (criterion.key, criterion)).collect();
        version
    }

    /// What a message takes; none where nothing of its scope is known.
    #[inline]
    #[must_use]
    pub fn message_ns(&self, scope: Scope, bytes: u64) -> Option<u64> {
        let bin = size_bin(bytes);
        let direct = self.direct[scope as usize].get(bin as usize)?;
        match direct.load(Relaxed) {
            NONE => self.by_neighbours(scope, bin, direct),
            median_ns => Some(u64::from(median_ns)),
        }
    }

    /// Up to this long is normal for a message. Where quiet windows are not known, this is what it takes.
    #[inline]
    #[must_use]
    pub fn normal_ns(&self, scope: Scope, bytes: u64) -> Option<u64> {
        let bin = size_bin(bytes);
        let remembered = self.normal[scope as usize].get(bin as usize)?;
        match remembered.load(Relaxed) {
            NONE => {
                let expected_ns = self.message_ns(scope, bytes)?;
                let normal_ns = (expected_ns as f64 * self.normal_factor(scope, bin)) as u64;
                remembered.store(u32::try_from(normal_ns).unwrap_or(NONE), Relaxed);
                Some(normal_ns)
            }
            normal_ns => Some(u64::from(normal_ns)),
        }
    }

    /// The normal time by the expected one, at the nearest size that has both; 1 without any.
    fn normal_factor(&self, scope: Scope, bin: u32) -> f64 {
        let known = self.messages[scope as usize].iter().filter(|criterion| criterion.normal_ns.is_some());
        let away = |of: &&MessageCriterion| of.bin.saturating_sub(bin).max(bin.saturating_sub(of.last_bin));
        let nearest = known.min_by_key(away);
        nearest.map_or(1.0, |of| {
            of.normal_ns.unwrap_or_default().max(of.median_ns) as f64 / of.median_ns.max(1) as f64
        })
    }

    /// Whether it is known what is normal in quiet windows.
    #[must_use]
    pub fn has_normal(&self) -> bool {
        self.messages().any(|criterion| criterion.normal_ns.is_some())
    }

    /// Whether a message took longer than is normal; none where it is not known what is expected.
    #[must_use]
    pub fn is_delayed(&self, message: &Message) -> Option<bool> {
        Some(message.t_msg_ns > self.normal_ns(Scope::between_nodes(message.inter), message.bytes)?)
    }

    /// The latency ratio of a message (`L_msg`); none without an expected time.
    #[must_use]
    pub fn latency(&self, message: &Message) -> Option<f64> {
        let usual_ns = self
            .message_ns(Scope::between_nodes(message.inter), message.bytes)
            .filter(|usual_ns| *usual_ns > 0)?;
        Some(message.t_msg_ns as f64 / usual_ns as f64)
    }

    /// The same of a message whose times are exact; none of others.
    #[must_use]
    #[inline]
    pub fn exact_latency(&self, message: &Message) -> Option<f64> {
        if message.exact { self.latency(message) } else { None }
    }

    /// What a part in a collective takes; none where nothing of its kind is known.
    #[must_use]
    pub fn collective_ns(&self, key: &CollectiveKey) -> Option<u64> {
        self.collectives.get(key).map(|criterion| criterion.median_ns)
    }

    /// All criteria of messages, by scope and size.
    pub fn messages(&self) -> impl Iterator<Item = &MessageCriterion> {
        self.messages.iter().flatten()
    }

    /// All criteria of collectives, in order.
    #[must_use]
    pub fn collectives(&self) -> Vec<CollectiveCriterion> {
        let mut all: Vec<CollectiveCriterion> = self.collectives.values().copied().collect();
        all.sort_unstable_by_key(|criterion| criterion.key);
        all
    }

    /// Whether nothing is known of a scope.
    #[must_use]
    pub fn is_unknown(&self, scope: Scope) -> bool {
        self.messages[scope as usize].is_empty()
    }

    /// Takes from another what this one does not know: whole scopes, and kinds of collectives.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let messages = [Scope::Intra, Scope::Inter].map(|scope| {
            let from = if self.is_unknown(scope) { other } else { self };
            from.messages[scope as usize].clone()
        });
        let mut collectives = other.collectives();
        collectives.extend(self.collectives.values());
        Self::new(messages.concat(), collectives)
    }

    /// Merges the criteria of a run with those of quiet networks: its own, except for scopes and collectives without
    /// any, and for scopes that were disturbed all the time.
    #[must_use]
    pub fn held_against(&self, quiet: &Self) -> Self {
        let own = self.or(quiet);
        let messages = [Scope::Intra, Scope::Inter].map(|scope| {
            let known = &self.messages[scope as usize];
            let factor = |criterion: &MessageCriterion| {
                let quiet_ns = quiet.message_ns(scope, criterion.middle())?;
                Some((criterion.median_ns as f64 / quiet_ns.max(1) as f64, criterion.samples))
            };
            let factors: Vec<(f64, u64)> = known.iter().filter_map(factor).collect();
            let samples: u64 = factors.iter().map(|(_, samples)| samples).sum();
            let mean = factors.iter().map(|(factor, samples)| factor * *samples as f64).sum::<f64>();
            let mean = mean / samples.max(1) as f64;
            let of_quiet = &quiet.messages[scope as usize];
            if samples == 0 || mean > NEVER_QUIET {
                let from = if samples == 0 { &own } else { quiet };
                return from.messages[scope as usize].clone();
            }
            // Unknown sizes are as much slower than in a quiet network as the known ones.
            let is_new = |of: &&MessageCriterion| known.iter().all(|own| own.bin != of.bin);
            let slower = |of: &MessageCriterion| MessageCriterion {
                median_ns: (of.median_ns as f64 * mean) as u64,
                normal_ns: of.normal_ns.map(|normal_ns| (normal_ns as f64 * mean) as u64),
                samples: 0,
                ..*of
            };
            known.iter().copied().chain(of_quiet.iter().filter(is_new).map(slower)).collect()
        });
        let is_known = |key| quiet.collectives.contains_key(key);
        let are_collectives_own = !self.collectives.keys().any(is_known);
        Self { are_collectives_own, ..Self::new(messages.concat(), own.collectives()) }
    }

    /// By what factor messages between nodes, and collectives, take longer by this than by another.
    /// None where the other does not know what they take otherwise.
    pub(crate) fn longer_than(&self, other: &Self) -> [Option<f64>; 2] {
        let mean = |factors: &mut dyn Iterator<Item = (f64, f64)>| {
            let (sum, weight) = factors.fold((0.0, 0.0), |(sum, weight), (factor, samples)| {
                (sum + factor * samples, weight + samples)
            });
            (weight > 0.0).then(|| sum / weight)
        };
        let factor = |own_ns: u64, other_ns: u64| own_ns.max(1) as f64 / other_ns.max(1) as f64;
        let mut messages = self.messages[Scope::Inter as usize].iter().filter_map(|own| {
            Some((factor(own.median_ns, other.message_ns(Scope::Inter, own.middle())?), own.samples as f64))
        });
        let own = self.collectives();
        let mut collectives = own.iter().filter_map(|own| {
            Some((factor(own.median_ns, other.collective_ns(&own.key)?), own.samples as f64))
        });
        let are_known = !other.are_collectives_own;
        [mean(&mut messages), mean(&mut collectives).filter(|_| are_known)]
    }

    #[cold]
    fn by_neighbours(&self, scope: Scope, bin: u32, remembered: &AtomicU32) -> Option<u64> {
        let known = &self.messages[scope as usize];
        let at = known.partition_point(|criterion| criterion.bin < bin);
        let near = &known[at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS).min(known.len())];
        let point = |criterion: &MessageCriterion| (criterion.middle() as f64, criterion.median_ns as f64);
        let points: Vec<(f64, f64)> = near.iter().map(point).collect();
        let (from, to) = bin_sizes(bin);
        let line = Line::through(&points)?;
        // Nothing is faster than the fastest message, and what lies beyond all sizes is no faster than the last.
        let least = points.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let time_ns = line.value(from.midpoint(to) as f64).max(least) as u64;
        remembered.store(u32::try_from(time_ns).unwrap_or(NONE), Relaxed);
        Some(time_ns)
    }
}
