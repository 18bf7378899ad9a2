//! A hang as pages, reports and the terminal show it.

use super::words::{Names, call_words};
use crate::engine::Engine;
use mpiscope_diagnosis::{Doing, Need, Stillness};
use mpiscope_feed::{Standing, Still, StillCall, StillKind, StillRoot};
use mpiscope_model::words::run_time_of;
use mpiscope_model::{InFlight, Site, SiteInfo};
use std::collections::BTreeSet;
use std::time::Duration;

/// Calls that are listed, ranks of one of its lists, and lines on the terminal.
const MOST_CALLS: usize = 256;
const MOST_RANKS: usize = 1024;
const MOST_LINES: usize = 14;
/// So long it is looked up where calls are made.
const PATIENCE: Duration = Duration::from_secs(2);

/// The places that calls are made from, looked up.
fn sites(engine: &Engine, calls: impl Iterator<Item = Option<Site>>) -> Vec<SiteInfo> {
    let wanted: BTreeSet<Site> = calls.flatten().collect();
    let known = wanted.iter().filter_map(|&site| engine.sites.get(site.index()).cloned());
    let mut sites: Vec<SiteInfo> = known.collect();
    // An unknown one is named by its address.
    mpiscope_symbols::look_up(&mut sites, PATIENCE);
    sites
}

pub(super) fn still(engine: &Engine, still: &Stillness) -> Still {
    let of_roots = still.roots.iter().map(|root| match &root.doing {
        Doing::Outside { last } => last.and_then(|last| last.site),
        Doing::Polls { last } => last.site,
        Doing::Inside { call } => call.site,
        Doing::Unseen => None,
    });
    let sites = sites(engine, still.waiting.iter().map(|waiting| waiting.call.site).chain(of_roots));
    let names = Names { sites: &sites, now_ns: still.at_ns };
    let calls = still.waiting.iter().take(MOST_CALLS).map(|waiting| StillCall {
        on: waiting.on.iter().map(|rank| rank.0).take(MOST_RANKS).collect(),
        any: waiting.need == Need::Any,
        call: call_words(&waiting.call, &waiting.posts),
        ..call(&names, &waiting.call)
    });
    Still {
        kind: match () {
            () if !still.circles.is_empty() || !still.clashes.is_empty() => StillKind::Deadlock,
            () if !still.stuck.is_empty() => StillKind::Gone,
            () => StillKind::Waits,
        },
        since_s: still.since_ns as f64 / 1e9,
        until_s: None,
        seen_s: still.at_ns as f64 / 1e9,
        sentences: names.sentences(still),
        stuck: still.stuck.iter().map(|rank| rank.0).take(MOST_RANKS).collect(),
        circles: still
            .circles
            .iter()
            .map(|circle| circle.iter().map(|rank| rank.0).take(MOST_RANKS).collect())
            .collect(),
        roots: still
            .roots
            .iter()
            .map(|root| StillRoot { rank: root.rank.0, waiting: root.waiting as u64 })
            .collect(),
        calls: calls.collect(),
        call_count: still.waiting.len() as u64,
    }
}

fn call(names: &Names<'_>, call: &InFlight) -> StillCall {
    StillCall {
        rank: call.rank.0,
        thread: u32::from(call.thread),
        call: call_words(call, &[]),
        place: names.place(call.site),
        since_s: call.since_ns as f64 / 1e9,
        on: Vec::new(),
        any: false,
    }
}

/// The calls that processes were in when they ended.
pub fn last_calls(engine: &Engine, report: &mut Standing) {
    let sites = sites(engine, engine.last_calls.values().map(|call| call.site));
    let names = Names { sites: &sites, now_ns: engine.until_ns };
    report.ended_in_count = engine.last_calls.len() as u64;
    report.ended_in = engine.last_calls.values().take(MOST_CALLS).map(|last| call(&names, last)).collect();
}

/// What the terminal shows of a hang.
pub(crate) fn lines(still: &Still) -> Vec<String> {
    let since = run_time_of(still.since_s);
    let quiet = (still.seen_s - still.since_s).max(0.0);
    let mut lines = vec![format!("the job hangs: no call began or returned for {quiet:.0} s, since {since}")];
    let sentences = still.sentences.iter().take(MOST_LINES).map(|sentence| format!("  {}", sentence.text));
    lines.extend(sentences);
    if still.sentences.len() > MOST_LINES {
        lines.push("  the report says more".into());
    }
    lines
}
