//! Which ranks talk mostly among themselves, and how late their messages were.

use mpiscope_diagnosis::{Budgeter, RegionOfRank};
use mpiscope_feed::{Between, Region, Regions, runs};
use mpiscope_model::Rank;
use mpiscope_model::words::{plural, ranges};
use mpiscope_topology::{Exchange, Follower, Tracker, exchanges, talk_graph};

/// Pages receive no more regions, and no more pairs of them; recordings keep more.
pub(super) const MOST_REPORTED: usize = 512;
const MOST_KEPT_PAIRS: usize = 10_000;

/// The regions of a finished run, and whether they go by collectives as well.
fn found(budgeter: &Budgeter, ranks: u32) -> (Tracker, bool) {
    let (graph, with_collectives) = talk_graph(ranks, budgeter.traffic(), budgeter.collective_traffic());
    (Follower::default().look(0, 0.0, &graph).clone(), with_collectives)
}

/// The regions of a finished run, with what went on within and between them.
pub(super) fn of_whole_run(budgeter: &Budgeter, ranks: u32) -> Regions {
    let (tracker, with_collectives) = found(budgeter, ranks);
    describe(&tracker, with_collectives, budgeter)
}

/// The regions of a finished run, for another pass over it.
pub(super) fn for_another_pass(budgeter: &Budgeter) -> RegionOfRank {
    partition(&found(budgeter, budgeter.node_of_rank().len() as u32).0)
}

/// Which region each rank is in.
pub(super) fn partition(tracker: &Tracker) -> RegionOfRank {
    let mut of_rank: Vec<(Rank, u32)> = Vec::new();
    for region in tracker.regions() {
        of_rank.extend(region.ranks.iter().map(|rank| (*rank, region.id)));
    }
    of_rank.sort_unstable();
    let version = u32::try_from(tracker.version()).unwrap_or(u32::MAX);
    RegionOfRank { version, of_rank: of_rank.into_iter().map(|(_, region)| region).collect() }
}

/// Regions with what went on within and between them until now.
pub(super) fn describe(tracker: &Tracker, with_collectives: bool, budgeter: &Budgeter) -> Regions {
    let regions = tracker.regions();
    let messages = budgeter.traffic().pairs().map(|(one, other, flow)| (one, other, flow.messages));
    let (within, between) = exchanges(regions, messages, &budgeter.lateness().pairs());
    let share = |exchange: &Exchange| match exchange.messages {
        0 => 0.0,
        messages => (exchange.late.exact as f64 / messages as f64).min(1.0),
    };
    let region = |(region, exchange): (&mpiscope_topology::Region, &Exchange)| Region {
        id: region.id,
        ranks: runs(region.ranks.iter().map(|rank| rank.0)),
        latency: exchange.late.mean(),
        messages: exchange.messages,
        delayed: exchange.late.delayed,
        above_expected: exchange.late.above_expected,
        exact: share(exchange),
    };
    let pair = |&(one, other, ref exchange): &(usize, usize, Exchange)| Between {
        a: regions[one].id,
        b: regions[other].id,
        latency: exchange.late.mean(),
        messages: exchange.messages,
        delayed: exchange.late.delayed,
        above_expected: exchange.late.above_expected,
        exact: share(exchange),
    };
    Regions {
        version: tracker.version(),
        count: regions.len(),
        with_collectives,
        regions: regions.iter().zip(&within).map(region).collect(),
        between: between.iter().take(MOST_KEPT_PAIRS).map(pair).collect(),
    }
}

/// The regions in a sentence; none where each rank is one, or all are.
pub fn regions_sentence(regions: &Regions) -> Option<String> {
    const MOST_NAMED: usize = 4;
    let sizes: Vec<usize> = regions.regions.iter().map(Region::size).collect();
    let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
    if sizes.len() < 2 || *most < 2 {
        return None;
    }
    let sizes = if least == most {
        plural(*most as u64, "rank")
    } else {
        format!("{least} to {}", plural(*most as u64, "rank"))
    };
    // Those that are slowest first; of those as slow in their order.
    let mut slowest: Vec<&Region> = regions.regions.iter().collect();
    slowest.sort_by(|one, other| other.latency.unwrap_or(0.0).total_cmp(&one.latency.unwrap_or(0.0)));
    let named = slowest.iter().take(MOST_NAMED).map(|region| {
        let ranks: Vec<u32> = region.each_rank().map(|rank| rank.0).collect();
        let latency = region.latency.map_or_else(|| "not known".into(), |latency| format!("{latency:.1}"));
        format!("{} {latency}", ranges(&ranks))
    });
    let named: Vec<String> = named.collect();
    let more = if slowest.len() > MOST_NAMED { " (slowest)" } else { "" };
    let by = if regions.with_collectives { ", with collectives" } else { "" };
    Some(format!(
        "{} of {sizes} communicate mostly within{by}. Latency relative to the expected{more}: {}",
        plural(regions.count as u64, "region"),
        named.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_regions_are_named_first() {
        let region = |id: u32, latency| Region {
            id,
            ranks: vec![(id * 16, id * 16 + 15)],
            latency,
            ..Region::default()
        };
        let latencies = [Some(1.0), None, Some(2.71), Some(1.1), Some(1.0)];
        let mut regions = Regions {
            version: 1,
            count: 3,
            regions: (0..).zip(latencies).take(3).map(|(id, latency)| region(id, latency)).collect(),
            ..Regions::default()
        };
        assert_eq!(
            regions_sentence(&regions).unwrap(),
            "3 regions of 16 ranks communicate mostly within. Latency relative to the expected: ranks 32-47 2.7; ranks 0-15 1.0; \
             ranks 16-31 not known"
        );
        regions.regions = (0..).zip(latencies).map(|(id, latency)| region(id, latency)).collect();
        (regions.count, regions.with_collectives) = (5, true);
        regions.regions[4].ranks = vec![(64, 66)];
        assert_eq!(
            regions_sentence(&regions).unwrap(),
            "5 regions of 3 to 16 ranks communicate mostly within, with collectives. Latency relative to the expected (slowest): \
             ranks 32-47 2.7; ranks 48-63 1.1; ranks 0-15 1.0; ranks 64-66 1.0"
        );
        regions.regions.truncate(1);
        assert_eq!(regions_sentence(&regions), None);
    }
}
