//! What was called from where: the counts and the waiting of each call site together.

use mpiscope_engine::load::Loaded;
use mpiscope_feed::By;
use mpiscope_model::SiteInfo;
use mpiscope_verdict::Findings;
use serde::Serialize;

/// One call site.
#[derive(Serialize)]
pub(super) struct SiteFigures<'a> {
    /// Null for all calls without a known call site.
    pub(super) id: Option<u32>,
    /// The function that calls.
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    module: Option<&'a str>,
    offset: Option<u64>,
    /// All of that in words.
    pub(super) place: String,
    /// Where call paths were recorded: the places that led there in words, that in `main` or before it first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<String>,
    /// What it calls.
    pub(super) calls_function: Option<&'static str>,
    pub(super) calls: u64,
    polls: u64,
    pub(super) seconds: f64,
    /// Null without a diagnosis; those with the least of it have none.
    pub(super) waiting_s: Option<f64>,
    waiting_by: Option<By>,
}

/// Those that were called from, the most time first.
pub(super) fn sites<'a>(loaded: &'a Loaded, findings: Option<&Findings>) -> Vec<SiteFigures<'a>> {
    let mut all: Vec<SiteFigures<'a>> = loaded
        .counts
        .sites()
        .iter()
        .filter(|(_, totals)| totals.calls > 0)
        .map(|(id, totals)| {
            let known = id.and_then(|site| loaded.sites.get(site.index()));
            let waits = findings.map(|findings| &findings.diagnosis.sites[..]);
            let waiting =
                waits.and_then(|waits| waits.iter().find(|wait| wait.site == id.map(|site| site.0)));
            SiteFigures {
                id: id.map(|site| site.0),
                function: known.and_then(|site| site.function.as_deref()),
                file: known.and_then(|site| site.file.as_deref()),
                line: known.and_then(|site| site.line),
                module: known.map(|site| site.module.as_str()),
                offset: known.map(|site| site.offset),
                place: known.map(|site| site.words_with_caller(&loaded.sites)).unwrap_or_default(),
                path: known.map(|site| path_to(site, &loaded.sites)).unwrap_or_default(),
                calls_function: totals.function.and_then(mpiscope_wire::by_id).map(|entry| entry.name),
                calls: totals.calls,
                polls: totals.polls,
                seconds: totals.time_ns as f64 / 1e9,
                waiting_s: findings.map(|_| waiting.map_or(0.0, |wait| wait.seconds)),
                waiting_by: findings.map(|_| waiting.map_or_else(By::default, |wait| wait.by.clone())),
            }
        })
        .collect();
    all.sort_by(|one, other| other.seconds.total_cmp(&one.seconds).then(one.id.cmp(&other.id)));
    all
}

/// The places that led to a site, the outermost first. Each has a smaller number than the one it led to.
fn path_to(site: &SiteInfo, sites: &[SiteInfo]) -> Vec<String> {
    let caller = |site: &SiteInfo| site.parent.and_then(|parent| sites.get(parent.index()));
    let mut path: Vec<String> =
        std::iter::successors(caller(site), |site| caller(site)).map(SiteInfo::words).collect();
    path.reverse();
    path
}
