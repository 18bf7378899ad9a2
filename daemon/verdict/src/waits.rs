//! Who waited for whom, as the report has it.

use super::figures::{by, seconds};
use mpiscope_diagnosis::{SiteWaiting, SiteWaits, WaitKey, WaitState, WaitTotals};
use mpiscope_feed::{GatheredWait, SiteWait, Wait};
use mpiscope_model::{Function, Rank, Site};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The greatest waits are named, and no more.
const MOST_WAITS: usize = 50;
/// Likewise, by kind, function and call site.
const MOST_GATHERED: usize = 20;
/// Likewise of call sites.
const MOST_SITES: usize = 200;

fn name(function: Function) -> String {
    mpiscope_wire::by_id(function).map_or("several", |entry| entry.name).into()
}

/// Waiting of one kind at one place.
#[derive(Default)]
struct Gathered {
    waited_ns: u64,
    times: u64,
    waiters: BTreeSet<Rank>,
    /// For whom, how long.
    awaited_ns: BTreeMap<Rank, u64>,
}

/// Where most is waited, whoever it is and for whomever.
pub(super) fn gathered<'a>(all: impl Iterator<Item = (&'a WaitKey, &'a WaitTotals)>) -> Vec<GatheredWait> {
    let mut gathered: BTreeMap<(WaitState, Function, Option<Site>), Gathered> = BTreeMap::new();
    for (key, totals) in all {
        let of = gathered.entry((key.state, key.function, key.site)).or_default();
        of.waited_ns += totals.waited_ns;
        of.times += totals.times;
        of.waiters.insert(key.waiter);
        *of.awaited_ns.entry(key.awaited).or_default() += totals.waited_ns;
    }
    let mut gathered: Vec<_> = gathered.into_iter().filter(|(_, of)| of.waited_ns > 0).collect();
    gathered.sort_by_key(|(key, of)| (Reverse(of.waited_ns), *key));
    gathered.truncate(MOST_GATHERED);
    let wait = |((state, function, site), of): ((WaitState, Function, Option<Site>), Gathered)| {
        let most = of.awaited_ns.iter().max_by_key(|(rank, ns)| (**ns, Reverse(**rank)));
        let (most_awaited, most_ns) = most.map_or((0, 0), |(rank, ns)| (rank.0, *ns));
        GatheredWait {
            state: state.words().into(),
            function: name(function),
            site: site.map(|site| site.0),
            place: String::new(),
            waiters: of.waiters.len() as u32,
            awaited: of.awaited_ns.len() as u32,
            most_awaited,
            most_awaited_s: seconds(most_ns as i64),
            times: of.times,
            seconds: seconds(of.waited_ns as i64),
        }
    };
    gathered.into_iter().map(wait).collect()
}

/// The places where most is waited.
pub(super) fn by_site(waits: &SiteWaits) -> Vec<SiteWait> {
    let mut all: Vec<_> = waits.iter().filter(|(_, waiting)| waiting.waited_ns > 0).collect();
    all.sort_by_key(|(site, waiting)| (Reverse(waiting.waited_ns), *site));
    all.truncate(MOST_SITES);
    let wait = |(site, waiting): (Option<Site>, &SiteWaiting)| SiteWait {
        site: site.map(|site| site.0),
        place: String::new(),
        seconds: seconds(waiting.waited_ns as i64),
        by: by(&waiting.by),
    };
    all.into_iter().map(wait).collect()
}

/// Who waited for whom the longest.
pub(super) fn longest<'a>(all: impl Iterator<Item = (&'a WaitKey, &'a WaitTotals)>) -> Vec<Wait> {
    let mut all: Vec<(&WaitKey, &WaitTotals)> = all.collect();
    all.sort_by_key(|(key, totals)| (Reverse(totals.waited_ns), **key));
    all.truncate(MOST_WAITS);
    let wait = |(key, totals): (&WaitKey, &WaitTotals)| Wait {
        state: key.state.words().into(),
        site: key.site.map(|site| site.0),
        place: String::new(),
        function: name(key.function),
        waiter: key.waiter.0,
        awaited: key.awaited.0,
        times: totals.times,
        seconds: seconds(totals.waited_ns as i64),
        longest_s: seconds(totals.longest_ns as i64),
        longest_at_s: seconds(totals.longest_at_ns as i64),
    };
    all.into_iter().map(wait).collect()
}
