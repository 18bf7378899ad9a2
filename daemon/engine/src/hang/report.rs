//! A hang as pages, reports and the terminal show it.

use super::words::{Names, call_words};
use crate::engine::Engine;
use mpiscope_diagnosis::{Doing, HangAnalysis, Need};
use mpiscope_feed::{Hang, HangCall, HangKind, HangRoot, Hangs};
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

pub(super) fn hang(engine: &Engine, hang: &HangAnalysis) -> Hang {
    let of_roots = hang.roots.iter().map(|root| match &root.doing {
        Doing::Outside { last } => last.and_then(|last| last.site),
        Doing::Polls { last } => last.site,
        Doing::Inside { call } => call.site,
        Doing::Unseen => None,
    });
    let sites = sites(engine, hang.waiting.iter().map(|waiting| waiting.call.site).chain(of_roots));
    let names = Names { sites: &sites, now_ns: hang.at_ns };
    let calls = hang.waiting.iter().take(MOST_CALLS).map(|waiting| HangCall {
        on: waiting.on.iter().map(|rank| rank.0).take(MOST_RANKS).collect(),
        any: waiting.need == Need::Any,
        call: call_words(&waiting.call, &waiting.posts),
        ..call(&names, &waiting.call)
    });
    Hang {
        kind: match () {
            () if !hang.cycles.is_empty() || !hang.clashes.is_empty() => HangKind::Deadlock,
            () if !hang.stuck.is_empty() => HangKind::Gone,
            () => HangKind::Waits,
        },
        since_s: hang.since_ns as f64 / 1e9,
        until_s: None,
        seen_s: hang.at_ns as f64 / 1e9,
        sentences: names.sentences(hang),
        stuck: hang.stuck.iter().map(|rank| rank.0).take(MOST_RANKS).collect(),
        cycles: hang
            .cycles
            .iter()
            .map(|cycle| cycle.iter().map(|rank| rank.0).take(MOST_RANKS).collect())
            .collect(),
        roots: hang
            .roots
            .iter()
            .map(|root| HangRoot { rank: root.rank.0, waiting: root.waiting as u64 })
            .collect(),
        calls: calls.collect(),
        call_count: hang.waiting.len() as u64,
    }
}

fn call(names: &Names<'_>, call: &InFlight) -> HangCall {
    HangCall {
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
pub fn last_calls(engine: &Engine, report: &mut Hangs) {
    let sites = sites(engine, engine.last_calls.values().map(|call| call.site));
    let names = Names { sites: &sites, now_ns: engine.until_ns };
    report.ended_in_count = engine.last_calls.len() as u64;
    report.ended_in = engine.last_calls.values().take(MOST_CALLS).map(|last| call(&names, last)).collect();
}

/// What the terminal shows of a hang.
pub(crate) fn lines(hang: &Hang) -> Vec<String> {
    let since = run_time_of(hang.since_s);
    let quiet = (hang.seen_s - hang.since_s).max(0.0);
    let mut lines = vec![format!("the job hangs: no call began or returned for {quiet:.0} s, since {since}")];
    let sentences = hang.sentences.iter().take(MOST_LINES).map(|sentence| format!("  {}", sentence.text));
    lines.extend(sentences);
    if hang.sentences.len() > MOST_LINES {
        lines.push("  the report says more".into());
    }
    lines
}
