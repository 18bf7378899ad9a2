//! How a run stands as far as it is settled, in the figures that pages, reports and recordings are given.

use super::disturbances::disturbances;
use super::figures::{parts, seconds, word};
use super::recorded_time::RecordedTime;
use super::replayed::Replayed;
use super::{by_region, sources, waits};
use crate::ending::{Ending, diagnosed_until_s};
use mpiscope_diagnosis::{Basis, Budgeter, Cause, RankShares, Remark, WindowBudget};
use mpiscope_feed::{
    Advised, Attribution, BasisState, ByRank, Course, Diagnosis, Efficiency, Quiet, Regions, Verdict, Wait,
    WhatIf,
};
use mpiscope_model::Nanoseconds;
use mpiscope_model::words::nanoseconds;

/// The number of stretches that a run is divided into.
const STRETCHES: usize = 40;

/// What the figures of a run are computed from.
struct SettledRun<'a> {
    budgeter: &'a Budgeter,
    basis: Basis,
    ranks: u32,
    seen: &'a RecordedTime,
    replayed: &'a Replayed,
    end_ns: Nanoseconds,
    /// The first window with recorded time.
    first: usize,
}

impl<'a> SettledRun<'a> {
    fn new(
        budgeter: &'a Budgeter,
        is_referenced: bool,
        ranks: u32,
        seen: &'a RecordedTime,
        replayed: &'a Replayed,
    ) -> Self {
        let ledger = budgeter.ledger();
        let (end_ns, _) = budgeter.critical_path();
        let basis = Basis::new(budgeter, is_referenced, replayed.savings());
        let first = ((seen.from_ns / ledger.width_ns()) as usize).min(ledger.windows().len());
        Self { budgeter, basis, ranks, seen, replayed, end_ns, first }
    }

    /// How much of it was recorded.
    fn recorded_ns(&self) -> Nanoseconds {
        self.seen.length_ns(self.seen.from_ns, self.end_ns)
    }

    fn windows(&self) -> &[WindowBudget] {
        &self.budgeter.ledger().windows()[self.first..]
    }

    /// Divides the run into stretches, and says of each what cost most. `waits` are listed as evidence.
    fn stretches(&self, waits: &[Wait]) -> Vec<Attribution> {
        let Self { seen, end_ns, first, .. } = *self;
        let (ledger, begin_ns) = (self.budgeter.ledger(), seen.from_ns);
        let width_ns = ledger.width_ns();
        let windows = self.windows();
        let step = windows.len().div_ceil(STRETCHES).max(1);
        let stretch = |(at, windows): (usize, &[WindowBudget])| {
            let window_ns = (first + at * step) as u64 * width_ns;
            let from_ns = window_ns.max(begin_ns);
            let to_ns = (window_ns + windows.len() as u64 * width_ns).min(end_ns).max(from_ns);
            let length_ns = seen.length_ns(from_ns, to_ns);
            let found = self.basis.assess(&ledger.range(from_ns, to_ns), self.ranks, length_ns);
            Attribution {
                from_s: from_ns as f64 / 1e9,
                to_s: to_ns as f64 / 1e9,
                region: None,
                cause: word(&found),
                avoidable_s: found.verdict.avoidable_s,
                confidence: seen.sure(found.verdict.confidence),
                evidence: if found.verdict.cause.is_some() {
                    (0..waits.len().min(3)).collect()
                } else {
                    Vec::new()
                },
            }
        };
        windows.chunks(step).enumerate().map(stretch).collect()
    }

    /// The figures window by window.
    fn course(&self) -> Course {
        let Self { budgeter, basis, seen, end_ns, .. } = self;
        let width_ns = budgeter.ledger().width_ns();
        let windows = self.windows();
        Course {
            from_ns: self.first as u64 * width_ns,
            width_ns,
            to_ns: *end_ns,
            parts: windows.iter().map(|window| parts(&window.budget)).collect(),
            avoidable: windows.iter().map(|window| basis.avoidable(window).map(|(_, s)| s)).collect(),
            sources: sources::by_part(self.replayed),
            off_ns: seen.gaps.iter().map(|gap| (gap.from_ns, gap.until_ns.unwrap_or(*end_ns))).collect(),
            by_rank: by_region::by_rank(budgeter, basis, seen.from_ns),
            shares: budgeter.ledger().shares().clone(),
        }
    }

    fn verdict(&self, total: &WindowBudget, quiet: &[Quiet], attribution: &[Attribution]) -> Verdict {
        let Self { seen, .. } = *self;
        let whole = self.basis.assess(total, self.ranks, self.recorded_ns());
        Verdict {
            cause: word(&whole),
            avoidable_s: whole.verdict.avoidable_s,
            avoidable_wall_s: whole.verdict.avoidable_wall_s,
            is_at_least: whole.verdict.remarks.iter().any(is_open),
            share: whole.verdict.share,
            confidence: seen.sure(whole.verdict.confidence),
            causes: whole.causes.iter().map(|(blame, s)| (blame.word().to_owned(), *s)).collect(),
            remarks: remarks(&whole.verdict.remarks, quiet),
            lost_share: 0.0,
            basis: Ending::default().basis(seen.lost_share, diagnosed_until_s(attribution)),
        }
    }
}

/// How a run stands as far as it is settled, without its regions, and window by window; as a share of what was seen.
pub(super) fn diagnosis(
    budgeter: &Budgeter,
    is_referenced: bool,
    ranks: u32,
    seen: &RecordedTime,
    replayed: &Replayed,
) -> (Diagnosis, Course) {
    let run = SettledRun::new(budgeter, is_referenced, ranks, seen, replayed);
    let total = budgeter.ledger().total();
    let waits = waits::longest(budgeter.waits());
    let course = run.course();
    let mut attribution = run.stretches(&waits);
    attribution.extend(by_region::attribution(budgeter, &run.basis, &waits, (seen, run.end_ns)));
    let quiet = quiet(budgeter, seen.from_ns, run.end_ns);
    let mut diagnosis = Diagnosis {
        budget: parts(&total.budget),
        efficiency: efficiency(budgeter, ranks, seen),
        verdict: run.verdict(&total, &quiet, &attribution),
        attribution,
        gathered: waits::gathered(budgeter.waits()),
        sites: waits::by_site(budgeter.site_waits()),
        sources: sources::sources(budgeter, replayed),
        advised: advised(budgeter),
        is_distance_unknown: run.basis.is_distance_unknown(),
        waits,
        cpu_contention: replayed.cpu_contention.clone(),
        stopped: replayed.stopped.clone(),
        blocked: replayed.blocked.clone(),
        slow_links: replayed.slow_links(),
        whatif: replayed.whatif(run.recorded_ns()),
        quiet,
        disturbances: Vec::new(),
        regions: Regions::default(),
    };
    diagnosis.disturbances = disturbances(&diagnosis, &course);
    let mut course = course.bounded();
    if diagnosis.verdict.is_withheld() {
        withhold(&mut diagnosis, &mut course);
    }
    (diagnosis, course)
}

/// Takes back what nobody can know of a run where the recording supports no verdict.
pub(super) fn withhold(found: &mut Diagnosis, course: &mut Course) {
    let basis = std::mem::take(&mut found.verdict.basis);
    let lost_share = if basis.state == BasisState::Lost { basis.missing_share } else { 0.0 };
    found.verdict = Verdict { cause: "none".into(), lost_share, basis, ..Verdict::default() };
    found.efficiency = Efficiency::default();
    // The stretches stay: they say up to when the run was looked at.
    found.attribution.retain(|stretch| stretch.region.is_none());
    for stretch in &mut found.attribution {
        let Attribution { from_s, to_s, .. } = *stretch;
        *stretch = Attribution { from_s, to_s, cause: "none".into(), ..Attribution::default() };
    }
    found.sources.clear();
    found.disturbances.clear();
    found.advised = None;
    found.is_distance_unknown = false;
    found.whatif = WhatIf::default();
    course.avoidable.fill([0.0; 4]);
    course.sources.clear();
    course.by_rank = ByRank::default();
    course.shares = RankShares::default();
}

/// What the placement that is advised does.
fn advised(budgeter: &Budgeter) -> Option<Advised> {
    let (today, advised) = (budgeter.node_of_rank(), budgeter.advised()?);
    let traffic = budgeter.traffic();
    let exchanged: u64 = traffic.pairs().map(|(.., flow)| flow.messages).sum();
    Some(Advised {
        moved: today.iter().zip(advised).filter(|(one, other)| one != other).count() as u32,
        inter_messages: traffic.between_nodes(today).messages,
        inter_messages_after: traffic.between_nodes(advised).messages,
        messages: exchanged + traffic.left_out().messages,
    })
}

/// When the network was quiet and when not, of the time that was diagnosed.
fn quiet(budgeter: &Budgeter, begin_ns: Nanoseconds, end_ns: Nanoseconds) -> Vec<Quiet> {
    let network = budgeter.network().into_iter();
    let clipped = network.map(|of| (of.from_ns.max(begin_ns), of.to_ns.min(end_ns), of));
    let seen = clipped.filter(|(from_ns, to_ns, _)| from_ns < to_ns).map(|(from_ns, to_ns, of)| Quiet {
        from_s: seconds(from_ns as i64),
        to_s: seconds(to_ns as i64),
        is_quiet: of.is_quiet,
        slower: of.times,
    });
    seen.collect()
}

/// How long a rank computed. Where threads ran side by side, `of_threads_ns` is more than the run's length, and the rank counts
/// as their average.
fn useful_ns(computed_ns: u64, of_threads_ns: u64, length_ns: f64) -> f64 {
    computed_ns as f64 * (length_ns / (of_threads_ns as f64).max(1.0)).min(1.0)
}

fn efficiency(budgeter: &Budgeter, ranks: u32, seen: &RecordedTime) -> Efficiency {
    let (end_ns, path) = budgeter.critical_path();
    let length = seen.length_ns(seen.from_ns, end_ns) as f64;
    let mut useful = vec![0.0_f64; ranks as usize];
    for (rank, budget) in budgeter.ledger().ranks().iter().enumerate() {
        if let Some(useful) = useful.get_mut(rank) {
            let of_threads_ns = budget.compute_ns + budget.budget.total_ns().max(0).cast_unsigned();
            *useful = useful_ns(budget.compute_ns.saturating_sub(budget.cpu_wait_ns), of_threads_ns, length);
        }
    }
    let most = useful.iter().copied().fold(0.0, f64::max);
    let mean = useful.iter().sum::<f64>() / f64::from(ranks.max(1));
    if most <= 0.0 || length <= 0.0 {
        return Efficiency::default();
    }
    let moved =
        [Cause::Base, Cause::Saved, Cause::Distance, Cause::ExcessInside, Cause::Excess, Cause::Operation];
    let moved: i64 = moved.into_iter().map(|cause| path[cause]).sum();
    // Paths are estimates: shares stay shares, and products hold.
    let (load_balance, communication) = (mean / most, (most / length).min(1.0));
    let transfer = (1.0 - moved as f64 / length).clamp(communication, 1.0);
    let serialization = if transfer > 0.0 { communication / transfer } else { 0.0 };
    Efficiency {
        parallel: load_balance * communication,
        load_balance,
        communication,
        transfer,
        serialization,
    }
}

/// Whether more may be avoidable than is known.
fn is_open(remark: &Remark) -> bool {
    matches!(remark, Remark::MuchUnknown | Remark::ReplayDeparts { .. })
}

/// What limits the verdict, in words. If network contention comes and goes, the rest of the run is the reference.
fn remarks(all: &[Remark], quiet: &[Quiet]) -> Vec<String> {
    let is_disturbed_at_times =
        quiet.iter().any(|stretch| stretch.is_quiet) && quiet.iter().any(|stretch| !stretch.is_quiet);
    let is_known = |of: &Remark| !(is_disturbed_at_times && *of == Remark::NoQuietReference);
    let scopes = [Remark::NoIntraCriteria, Remark::NoInterCriteria];
    let unknown = if scopes.iter().all(|scope| all.contains(scope)) {
        vec![no_criteria("within and between nodes")]
    } else {
        Vec::new()
    };
    let is_merged = |of: &Remark| !unknown.is_empty() && scopes.contains(of);
    let others = all.iter().copied().filter(|of| is_known(of) && !is_merged(of)).map(remark);
    unknown.iter().cloned().chain(others).collect()
}

fn no_criteria(scope: &str) -> String {
    format!(
        "What placement costs is only roughly known, because transfer times {scope} are not known; `mpiscope calibrate` \
         measures them"
    )
}

fn remark(remark: Remark) -> String {
    match remark {
        Remark::NoIntraCriteria => return no_criteria("within nodes"),
        Remark::NoInterCriteria => return no_criteria("between nodes"),
        Remark::NoQuietReference => {
            "Transfer times were about the same all the time, so a network that was slow from start to end would not be \
             noticed; `mpiscope calibrate` measures a quiet network"
        }
        Remark::MuchUnknown => {
            "More may be avoidable: for over 10 % of the time in MPI the reason is not known, as records are missing, the \
             other side of a message was never seen, or expected transfer times are not known. \"Missing\" in \
             `mpiscope report` lists what was lost"
        }
        Remark::CloseSecond => "Another cause costs nearly as much",
        Remark::ReplayDeparts { rank, at_ns } => {
            let at = nanoseconds(at_ns);
            return format!(
                "The recomputed run differs from the recorded one from {at} on, first on rank {rank}, so savings are not known"
            );
        }
        Remark::Unexplained => {
            "Some calls took long for no reason that was found, so the saving may be larger"
        }
        Remark::WideRange => "Transfer times are only roughly known",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_of_placement_is_called_the_same_whatever_is_missing() {
        for missing in [Remark::NoIntraCriteria, Remark::NoInterCriteria] {
            let words = remark(missing);
            assert!(
                words.starts_with("What placement costs is only roughly known, because transfer times "),
                "{words}"
            );
            assert!(words.ends_with("`mpiscope calibrate` measures them"), "{words}");
        }
        let both = remarks(&[Remark::NoIntraCriteria, Remark::CloseSecond, Remark::NoInterCriteria], &[]);
        assert_eq!(both.len(), 2);
        assert!(both[0].contains("transfer times within and between nodes are not known"), "{both:?}");
    }

    #[test]
    fn an_unknown_reason_names_what_may_lack_and_where_to_look() {
        let words = remark(Remark::MuchUnknown);
        assert!(
            words.contains("transfer times are not known") && words.contains("`mpiscope report`"),
            "{words}"
        );
    }

    #[test]
    fn threads_side_by_side_count_as_their_average() {
        // One thread, from its first call to its last.
        assert_eq!(useful_ns(40, 100, 100.0), 40.0);
        // One after the other.
        assert_eq!(useful_ns(40, 60, 100.0), 40.0);
        // Four at once, each with 99.2 % of its time in MPI, and with none of it.
        assert_eq!(useful_ns(32, 4_000, 1_000.0), 8.0);
        assert_eq!(useful_ns(4_000, 4_000, 1_000.0), 1_000.0);
        assert_eq!(useful_ns(0, 0, 100.0), 0.0);
    }
}
