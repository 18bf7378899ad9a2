//! How a run ended, and how much of it the recording therefore supports a verdict on.

use mpiscope_feed::{Attribution, Basis, BasisState};
use mpiscope_model::words::{nanoseconds, plural};
use mpiscope_model::{ProcessState, RankInfo};

/// Where a larger share of the calls, or of the ranks, is missing, there is no verdict.
pub(crate) const MOST_MISSING: f64 = 0.1;
/// A smaller share of missing calls is not worth a sentence; it lowers the confidence all the same.
const NOTABLE: f64 = 0.01;
/// From this exit status on, a signal ended the job.
const SIGNALLED: i32 = 128;

/// How a run ended, as far as it limits the verdict. The default: it goes on, or ended well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// It is known to go on.
    goes_on: bool,
    /// It hangs, or hung to its end.
    hangs: bool,
    /// Ranks of the job.
    ranks: u32,
    /// Ranks without any record.
    unrecorded: u32,
    /// Ranks that ended without MPI_Finalize.
    vanished: u32,
    /// Ranks that called MPI_Abort.
    aborted: u32,
    /// Ranks that went on after the recording ended.
    cut_off: u32,
    /// A signal ended the job.
    is_killed: bool,
}

impl Ending {
    /// How a finished run ended.
    pub fn finished<'a>(
        known: impl Iterator<Item = &'a RankInfo>,
        ranks: u32,
        exit: Option<i32>,
        hangs: bool,
    ) -> Self {
        let is_killed = exit.is_some_and(|exit| exit > SIGNALLED);
        let mut ending = Self { hangs, ranks, unrecorded: ranks, is_killed, ..Self::default() };
        for info in known {
            ending.unrecorded = ending.unrecorded.saturating_sub(1);
            match info.state {
                ProcessState::Finalized => {}
                ProcessState::Aborted => ending.aborted += 1,
                ProcessState::Vanished => ending.vanished += 1,
                ProcessState::Running | ProcessState::Silent => ending.cut_off += 1,
            }
        }
        ending
    }

    /// Of a run that goes on, and perhaps hangs.
    pub fn not_yet(hangs: bool) -> Self {
        Self { goes_on: true, hangs, ..Self::default() }
    }

    fn unrecorded_share(&self) -> f64 {
        f64::from(self.unrecorded) / f64::from(self.ranks.max(1))
    }

    /// Why the recording does not reach to the end that the program would have had.
    fn why(&self) -> Vec<String> {
        let ranks =
            |count: u32, what: &str| (count > 0).then(|| format!("{} {what}", plural(count.into(), "rank")));
        let why = [
            ranks(self.aborted, "called MPI_Abort"),
            ranks(self.vanished, "ended without MPI_Finalize"),
            ranks(self.cut_off, "went on after the recording ended"),
        ];
        why.into_iter().flatten().collect()
    }

    fn until(&self) -> &'static str {
        match () {
            () if self.is_killed => "until the job was killed",
            () if self.aborted > 0 => "until MPI_Abort",
            () if self.vanished > 0 => "until ranks ended",
            () => "until the recording ended",
        }
    }

    /// What a verdict is about if that share of the calls is missing and the last of the others ended at `until_s`.
    pub(crate) fn basis(&self, missing_share: f64, until_s: f64) -> Basis {
        let basis = |state, sentence| Basis { state, missing_share, until_s: None, sentence };
        let missing = format!("{:.0} %", 100.0 * missing_share);
        if missing_share > MOST_MISSING {
            let sentence =
                format!("No verdict: {missing} of the calls are missing, so the avoidable time is unknown.");
            return basis(BasisState::Lost, sentence);
        }
        if self.hangs {
            let sentence = if self.goes_on {
                "No verdict yet: the job hangs. `mpiscope report` lists who waits for whom."
            } else {
                "No verdict: the run hung to its end. `mpiscope report` lists who waits for whom."
            };
            return basis(BasisState::Hung, sentence.into());
        }
        let is = if self.unrecorded == 1 { "is" } else { "are" };
        let unrecorded =
            format!("{} of {} {is} not recorded", self.unrecorded, plural(self.ranks.into(), "rank"));
        if self.unrecorded_share() > MOST_MISSING {
            let sentence = format!("No verdict: {unrecorded}, so the avoidable time is unknown.");
            return basis(BasisState::Unseen, sentence);
        }
        let mut sentences = Vec::new();
        let why = self.why();
        let is_cut_off = !why.is_empty();
        if is_cut_off {
            let of = format!(
                "The verdict is of the first {}, {}.",
                nanoseconds((until_s * 1e9) as u64),
                self.until()
            );
            sentences.push(format!("Incomplete run: {}. {of}", why.join(", ")));
        }
        if self.unrecorded > 0 {
            sentences.push(format!("{unrecorded}."));
        }
        if missing_share >= NOTABLE {
            sentences.push(format!("{missing} of the calls are missing."));
        }
        let state = if sentences.is_empty() { BasisState::Whole } else { BasisState::Part };
        Basis { until_s: is_cut_off.then_some(until_s), ..basis(state, sentences.join(" ")) }
    }
}

/// What a verdict is about if there was no time to diagnose what came later than this.
pub(crate) fn cut_short(of: Basis, until_s: f64) -> Basis {
    if !matches!(of.state, BasisState::Whole | BasisState::Part) {
        return of;
    }
    let first = nanoseconds((until_s * 1e9) as u64);
    let cut = format!("There was time to diagnose the first {first} only.");
    let sentence = [cut, of.sentence].join(" ").trim_end().to_owned();
    Basis { state: BasisState::Part, until_s: Some(until_s), sentence, ..of }
}

/// Up to when a run was diagnosed.
pub(crate) fn diagnosed_until_s(attribution: &[Attribution]) -> f64 {
    let whole = attribution.iter().filter(|stretch| stretch.region.is_none());
    whole.map(|stretch| stretch.to_s).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::RankCpus;
    use mpiscope_model::{Node, Rank};

    fn ended(states: &[ProcessState], ranks: u32, exit: Option<i32>) -> Ending {
        let info = |(rank, state): (usize, &ProcessState)| RankInfo {
            rank: Rank(rank as u32),
            world_size: ranks,
            node: Node(0),
            pid: 1,
            library: String::new(),
            state: *state,
            cost_per_call_ns: 0.0,
            cpus: RankCpus::default(),
        };
        let known: Vec<RankInfo> = states.iter().enumerate().map(info).collect();
        Ending::finished(known.iter(), ranks, exit, false)
    }

    #[test]
    fn of_a_run_that_ended_well_it_is_all() {
        let whole = ended(&[ProcessState::Finalized; 4], 4, Some(137)).basis(0.0, 9.0);
        assert_eq!(whole, Basis::default());
        assert_eq!(Ending::default().basis(0.0, 9.0), Basis::default());
    }

    #[test]
    fn of_a_run_that_was_cut_off_it_is_the_time_until_then() {
        use ProcessState::{Aborted, Finalized, Running, Vanished};
        let sentence = |states: &[ProcessState], exit| {
            let basis = ended(states, states.len() as u32, exit).basis(0.0, 12.34);
            assert_eq!((basis.state, basis.until_s), (BasisState::Part, Some(12.34)));
            basis.sentence
        };
        assert_eq!(
            sentence(&[Vanished, Vanished], Some(137)),
            "Incomplete run: 2 ranks ended without MPI_Finalize. The verdict is of the first 12.3 s, until the job was killed."
        );
        assert_eq!(
            sentence(&[Finalized, Vanished], Some(0)),
            "Incomplete run: 1 rank ended without MPI_Finalize. The verdict is of the first 12.3 s, until ranks ended."
        );
        assert_eq!(
            sentence(&[Aborted, Vanished], Some(3)),
            "Incomplete run: 1 rank called MPI_Abort, 1 rank ended without MPI_Finalize. The verdict is of the first 12.3 s, \
             until MPI_Abort."
        );
        assert_eq!(
            sentence(&[Running, Finalized], None),
            "Incomplete run: 1 rank went on after the recording ended. The verdict is of the first 12.3 s, until the \
             recording ended."
        );
    }

    #[test]
    fn of_a_run_that_there_was_no_time_for_it_is_the_time_until_then() {
        let cut = cut_short(Ending::default().basis(0.04, 9.0), 12.34);
        let sentence = "There was time to diagnose the first 12.3 s only. 4 % of the calls are missing.";
        assert_eq!(
            (cut.state, cut.until_s, cut.sentence.as_str()),
            (BasisState::Part, Some(12.34), sentence)
        );
        let whole = cut_short(Basis::default(), 12.34);
        assert_eq!(whole.sentence, "There was time to diagnose the first 12.3 s only.");
        let lost = Ending::default().basis(0.91, 1.0);
        assert_eq!(cut_short(lost.clone(), 12.34), lost);
    }

    #[test]
    fn missing_calls_and_ranks_are_named_or_leave_no_verdict() {
        let whole = Ending::default();
        let of = |share| (whole.basis(share, 1.0).state, whole.basis(share, 1.0).sentence);
        assert_eq!(of(0.009), (BasisState::Whole, String::new()));
        assert_eq!(of(0.04), (BasisState::Part, "4 % of the calls are missing.".into()));
        let lost = "No verdict: 91 % of the calls are missing, so the avoidable time is unknown.";
        assert_eq!(of(0.91), (BasisState::Lost, lost.into()));
        let few = ended(&[ProcessState::Finalized; 1], 4, Some(0)).basis(0.0, 1.0);
        let unseen = "No verdict: 3 of 4 ranks are not recorded, so the avoidable time is unknown.";
        assert_eq!((few.state, few.sentence.as_str()), (BasisState::Unseen, unseen));
        let most = ended(&[ProcessState::Finalized; 63], 64, Some(0)).basis(0.04, 1.0);
        let both = "1 of 64 ranks is not recorded. 4 % of the calls are missing.";
        assert_eq!((most.state, most.sentence.as_str(), most.until_s), (BasisState::Part, both, None));
        // Whatever was found about the time before a hang is no verdict on the run.
        let hung =
            Ending { hangs: true, ..ended(&[ProcessState::Vanished; 2], 2, Some(137)) }.basis(0.0, 1.0);
        let sentence = "No verdict: the run hung to its end. `mpiscope report` lists who waits for whom.";
        assert_eq!((hung.state, hung.sentence.as_str()), (BasisState::Hung, sentence));
    }
}
