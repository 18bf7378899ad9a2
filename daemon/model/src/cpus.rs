//! Which CPUs of its host a rank may use.

/// More separate ranges of CPUs than a host has.
const MOST_RANGES: usize = 1 << 10;
/// More CPUs than a host has.
const MOST_CPUS: u32 = 1 << 20;

/// CPUs of one host, by the numbers of its kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuSet {
    /// As the kernel writes it: ranges, ascending, with gaps between them.
    list: String,
}

impl CpuSet {
    /// Reads a list as the kernel writes it: `0-3,8`. `None` if it is no such list, or no host has that many CPUs.
    #[must_use]
    pub fn parse(list: &str) -> Option<Self> {
        let ranges: Vec<_> = ranges(list).collect::<Option<_>>()?;
        (ranges.len() <= MOST_RANGES).then(|| Self::from_ranges(ranges))
    }

    fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(previous) if first <= previous.1 + 1 => previous.1 = previous.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        let range = |(first, last): (u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        Self { list: merged.into_iter().map(range).collect::<Vec<_>>().join(",") }
    }

    /// As the kernel writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.list
    }

    /// The number of CPUs in it.
    #[must_use]
    pub fn count(&self) -> u32 {
        ranges(&self.list).flatten().map(|(first, last)| last - first + 1).sum()
    }

    /// The lowest of them.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        ranges(&self.list).flatten().next().map(|(first, _)| first)
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds the CPUs of another set.
    pub fn add(&mut self, other: &Self) {
        if self != other {
            *self = Self::from_ranges(ranges(&self.list).chain(ranges(&other.list)).flatten().collect());
        }
    }
}

/// The ranges of a list, both ends included; `None` for a part that is no range.
fn ranges(list: &str) -> impl Iterator<Item = Option<(u32, u32)>> {
    list.trim().split(',').filter(|part| !part.is_empty()).map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < MOST_CPUS).then_some((first, last))
    })
}

/// The CPUs that a rank may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankCpus {
    /// CPUs that are online on its host; 0 if not known.
    pub on_host: u32,
    /// Those that its affinity allows; none if not known.
    pub allowed: CpuSet,
    /// The quota of its control group, in thousandths of a CPU; 0 without one.
    pub quota_milli: u32,
}

/// The CPUs that all ranks of a host may use together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeCpus {
    /// CPUs that are online on the host.
    pub on_host: u32,
    /// Those that affinities and quotas leave to its ranks.
    pub usable: f64,
    /// Whether each rank is bound to fewer CPUs than its ranks may use together.
    pub is_bound: bool,
    /// The number of ranks that share them.
    pub ranks: u32,
}

impl NodeCpus {
    /// Sums up the ranks of a host; `None` if nothing is known of some of them.
    #[must_use]
    pub fn of_ranks<'a>(ranks: impl IntoIterator<Item = &'a RankCpus>) -> Option<Self> {
        let (mut all, mut most_allowed, mut count) = (CpuSet::default(), 0, 0);
        let (mut on_host, mut quota_milli, mut has_quota) = (0, 0, true);
        for rank in ranks {
            if rank.on_host == 0 || rank.allowed.is_empty() {
                return None;
            }
            all.add(&rank.allowed);
            most_allowed = most_allowed.max(rank.allowed.count());
            on_host = on_host.max(rank.on_host);
            // Ranks of one job are in one control group.
            quota_milli = quota_milli.max(rank.quota_milli);
            has_quota &= rank.quota_milli > 0;
            count += 1;
        }
        let allowed = f64::from(all.count());
        let quota = if has_quota { f64::from(quota_milli) / 1e3 } else { f64::INFINITY };
        let (usable, is_bound) = (allowed.min(quota), most_allowed < all.count());
        (count > 0).then_some(Self { on_host, usable, is_bound, ranks: count })
    }

    /// How many ranks share a CPU.
    #[must_use]
    pub fn ranks_per_cpu(&self) -> f64 {
        f64::from(self.ranks) / self.usable
    }

    /// Whether more ranks share the CPUs than there are.
    #[must_use]
    pub fn is_oversubscribed(&self) -> bool {
        f64::from(self.ranks) > self.usable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(allowed: &str, quota_milli: u32) -> RankCpus {
        RankCpus { on_host: 8, allowed: CpuSet::parse(allowed).unwrap(), quota_milli }
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        for (list, count, written) in [
            ("0-3,8\n", 5, "0-3,8"),
            ("", 0, ""),
            ("8,0-3,2-5", 7, "0-5,8"),
            ("0,1,2", 3, "0-2"),
            ("7", 1, "7"),
        ] {
            let set = CpuSet::parse(list).unwrap();
            assert_eq!((set.count(), set.as_str()), (count, written), "{list:?}");
        }
        for list in ["a", "3-1", "-1", "0-4294967295", "0-", "1048576"] {
            assert_eq!(CpuSet::parse(list), None, "{list:?}");
        }
        assert_eq!(CpuSet::parse(&"1,".repeat(MOST_RANGES + 1)), None);
    }

    #[test]
    fn ranks_share_what_affinity_and_quota_leave() {
        let of = |ranks: &[RankCpus]| NodeCpus::of_ranks(ranks).unwrap();
        let free = of(&[rank("0-7", 0), rank("0-7", 0)]);
        assert_eq!((free.on_host, free.usable, free.is_bound, free.ranks), (8, 8.0, false, 2));
        let bound = of(&[rank("0", 0), rank("1", 0)]);
        assert_eq!((bound.usable, bound.is_bound, bound.is_oversubscribed()), (2.0, true, false));
        let crowded = of(&[rank("0-1", 0), rank("0-1", 0), rank("0-1", 0)]);
        assert_eq!((crowded.usable, crowded.is_bound, crowded.is_oversubscribed()), (2.0, false, true));
        assert_eq!(of(&[rank("0-7", 1_500), rank("0-7", 1_500)]).usable, 1.5);
        assert_eq!(of(&[rank("0-7", 1_500), rank("0-7", 0)]).usable, 8.0, "one has no quota");
        assert_eq!(NodeCpus::of_ranks(&[rank("0-7", 0), RankCpus::default()]), None);
        assert_eq!(NodeCpus::of_ranks(&[]), None);
    }
}
