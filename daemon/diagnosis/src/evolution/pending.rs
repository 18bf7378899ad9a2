//! Calls that have not returned: windows that they reach into are not final, and how long they take is shown at once.

use super::partition::RegionOfRank;
use mpiscope_model::{InFlight, Nanoseconds};
use std::collections::BTreeMap;

/// Calls of a region that have not returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pending {
    /// The region.
    pub region: u32,
    /// How many.
    pub calls: u64,
    /// When the first of them was entered.
    pub since_ns: Nanoseconds,
    /// How long they have taken until now, in all.
    pub total_ns: u64,
}

/// Calls that have not returned, by region, in order; those of ranks that no region is known of are left out.
#[must_use]
pub fn pending(partition: &RegionOfRank, calls: &[InFlight], now_ns: Nanoseconds) -> Vec<Pending> {
    let mut all = BTreeMap::<u32, Pending>::new();
    for call in calls {
        let Some(region) = partition.region(call.rank) else { continue };
        let of =
            all.entry(region).or_insert(Pending { region, since_ns: Nanoseconds::MAX, ..Pending::default() });
        of.calls += 1;
        of.since_ns = of.since_ns.min(call.since_ns);
        of.total_ns += now_ns.saturating_sub(call.since_ns);
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn calls_in_flight_are_summed_by_region() {
        let partition = RegionOfRank { version: 1, of_rank: vec![4, 9, 4] };
        let call =
            |rank, since_ns| InFlight { rank: Rank(rank), function: 1, since_ns, ..InFlight::default() };
        let calls = [call(0, 50), call(1, 90), call(2, 20), call(3, 1), call(1, 130)];
        let found = pending(&partition, &calls, 100);
        let expected = [
            Pending { region: 4, calls: 2, since_ns: 20, total_ns: 130 },
            Pending { region: 9, calls: 2, since_ns: 90, total_ns: 10 },
        ];
        assert_eq!(found, expected);
    }
}
