//! What is compared of one recording.

use crate::align::{RunAnchors, SiteName, calls_of};
use crate::noise::{Measured, Rules, spread};
use crate::windows::Windows;
use anyhow::{Context as _, Result};
use mpiscope_engine::load::{Loaded, Rows, Trust, is_in_log, load_with};
use mpiscope_feed::{CallSource, FunctionFigures, Overview, Side};
use mpiscope_model::{Function, Gap, Rank, Totals};
use mpiscope_page::rank_rows;
use mpiscope_recording::{Job, Recording, State};
use mpiscope_verdict::{self as verdict, Findings, Limits};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// One recording.
#[derive(Debug, Default)]
pub struct Digest {
    /// What it is, for the heading of a comparison.
    pub side: Side,
    pub(crate) job: Job,
    pub(crate) totals: Totals,
    pub(crate) lost_calls: u64,
    /// None where there is one node, or nothing is known of the clocks.
    pub(crate) clock_uncertainty_ns: Option<u64>,
    /// By rank, the time after its last call, if it makes no more.
    pub(crate) finished_s: Vec<f64>,
    /// Of the time in which ranks could run, the share in which they waited for a CPU.
    pub(crate) cpu_wait_share: Option<f64>,
    pub(crate) functions: BTreeMap<Function, FunctionFigures>,
    pub(crate) sites: BTreeMap<SiteName, SiteFigures>,
    pub(crate) windows: Windows,
    pub(crate) findings: Option<Findings>,
    /// All calls, and the moments that another run may have too; nothing where runs are only compared from their start.
    pub(crate) calls: Option<(Arc<dyn CallSource>, RunAnchors)>,
}

/// What was called from one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SiteFigures {
    pub(crate) place: String,
    /// The file with its folders.
    pub(crate) path: Option<String>,
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
    pub(crate) waiting_s: f64,
}

impl Digest {
    /// Reads a recording, and its calls one by one if that is wanted.
    ///
    /// # Errors
    /// In one line where it cannot be read.
    pub fn read(dir: &Path, with_calls: bool) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let is_in_log = is_in_log(&recording);
        let mut windows = Windows::new(recording.manifest().window_ns);
        let mut see = |rows: Rows| {
            windows.cells(&rows.windows);
            Ok(())
        };
        let loaded = load_with(dir, &recording, Trust::Checked, Overview::default(), &mut see);
        let mut loaded = loaded.with_context(|| format!("read {}", dir.display()))?;
        if is_in_log {
            let unknown = mpiscope_symbols::look_up(&mut loaded.sites, mpiscope_symbols::PATIENCE);
            loaded.missing.extend(unknown);
        } else {
            let mut rows = recording.windows();
            rows.by_ref().for_each(|batch| windows.rows(&batch));
            let faults = rows.faults().iter();
            loaded.missing.extend(faults.map(|fault| format!("windows of {}: {}", fault.file, fault.text)));
        }
        let findings = if is_in_log {
            let log = recording.wal().map_err(anyhow::Error::from);
            log.and_then(|log| verdict::diagnose(&recording, &log, &Limits::new(1), None)).map(Some)
        } else {
            verdict::read(dir)
        };
        let findings = findings.unwrap_or_else(|error| {
            loaded.missing.push(format!("what was found about the run: {error:#}"));
            None
        });
        let calls = with_calls.then(|| calls_of(dir)).transpose()?;
        let calls = calls.map(|calls| {
            let anchors = anchors(calls.as_ref(), &mut loaded);
            (calls, anchors)
        });
        Ok(Self { calls, ..Self::assemble(dir, loaded, windows, findings) })
    }

    fn assemble(dir: &Path, loaded: Loaded, windows: Windows, findings: Option<Findings>) -> Self {
        let findings = findings.map(|mut findings| {
            findings.name_places(&loaded.sites);
            findings.limit(&loaded.ending());
            findings
        });
        let functions = loaded.counts.functions();
        let functions = functions.map(|(function, totals)| (function, FunctionFigures::from(totals)));
        let clocks = (0..loaded.job.nodes.len()).filter_map(|node| loaded.clock_of(node));
        let uncertainty_ns = clocks.map(|clock| clock.uncertainty_ns).max();
        Self {
            side: Side {
                folder: dir.display().to_string(),
                run: loaded.run.clone(),
                state: word(loaded.state).into(),
                started_unix_ns: loaded.job.started_unix_ns,
                exit: loaded.job.exit,
                is_diagnosed: findings.is_some(),
                cause: findings.as_ref().map(|found| found.diagnosis.verdict.cause.clone()),
                headline: findings.as_ref().map(|found| found.report().headline).unwrap_or_default(),
                missing: loaded.missing.clone(),
            },
            totals: loaded.totals,
            lost_calls: loaded.losses.total(),
            clock_uncertainty_ns: uncertainty_ns.filter(|_| loaded.job.nodes.len() > 1),
            finished_s: finished_s(&loaded),
            cpu_wait_share: cpu_wait_share(&loaded),
            functions: functions.collect(),
            sites: sites(&loaded, findings.as_ref()),
            windows,
            findings,
            calls: None,
            job: loaded.job,
        }
    }

    /// Whether the length of the run is that of the program, and not that until somebody or something ended it.
    pub(crate) fn is_whole(&self) -> bool {
        match self.job.exit {
            Some(exit) => exit <= 128,
            None => self.side.state == word(State::Complete),
        }
    }

    /// How long it ran, or lasted.
    pub(crate) fn duration_s(&self) -> Option<f64> {
        self.job.duration_s.filter(|seconds| *seconds > 0.0)
    }
}

/// The turns and phases of a run.
fn anchors(calls: &dyn CallSource, loaded: &mut Loaded) -> RunAnchors {
    let anchors = RunAnchors::read(calls, &loaded.sites, &loaded.communicators, loaded.end_ns());
    anchors.unwrap_or_else(|error| {
        loaded.missing.push(format!("turns and phases of the run: {error}"));
        RunAnchors::default()
    })
}

fn word(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Complete => "complete",
        State::Incomplete => "incomplete",
    }
}

fn cpu_wait_share(loaded: &Loaded) -> Option<f64> {
    let rows = loaded.ranks.iter().filter_map(|info| loaded.processors.figures_of(info.rank));
    let (run, wait) =
        rows.fold((0.0, 0.0), |(run, wait), row| (run + row.run_ns as f64, wait + row.wait_ns as f64));
    (run + wait > 0.0).then(|| wait / (run + wait))
}

/// Without the time in which recording was off: nobody knows what ranks did then.
fn finished_s(loaded: &Loaded) -> Vec<f64> {
    let in_call = loaded.hangs.ended_in.iter().map(|call| Rank(call.rank)).collect();
    let ranks = rank_rows(&loaded.counts, &loaded.processors, loaded.ranks.iter(), &in_call);
    let (end_ns, pauses) = (loaded.end_ns(), loaded.pauses.as_ref().map_or(&[][..], |pauses| &pauses.gaps));
    let mut finished_s = vec![0.0; loaded.job.ranks as usize];
    for row in ranks.iter().filter(|row| row.ended_ns > 0 && row.ended_ns < end_ns) {
        if let Some(seconds) = finished_s.get_mut(row.rank.index()) {
            let gaps = pauses.iter().copied().map(Gap::from);
            *seconds = verdict::recorded_ns(gaps, row.ended_ns, end_ns) as f64 / 1e9;
        }
    }
    finished_s
}

fn sites(loaded: &Loaded, findings: Option<&Findings>) -> BTreeMap<SiteName, SiteFigures> {
    let waits = findings.map(|findings| &findings.diagnosis.sites[..]).unwrap_or_default();
    let mut sites: BTreeMap<SiteName, SiteFigures> = BTreeMap::new();
    for (id, totals) in loaded.counts.sites().iter().filter(|(_, totals)| totals.calls > 0) {
        let Some(known) = id.and_then(|site| loaded.sites.get(site.index())) else { continue };
        let name = SiteName::new(totals.function, known);
        let waiting = waits.iter().find(|wait| wait.site == id.map(|site| site.0));
        // The same line of two files, or two addresses of one line.
        let figures = sites.entry(name).or_default();
        figures.place = known.words();
        figures.path.clone_from(&known.file);
        figures.calls += totals.calls;
        figures.seconds += totals.time_ns as f64 / 1e9;
        figures.waiting_s += waiting.map_or(0.0, |wait| wait.seconds);
    }
    sites
}

/// Two recordings, and in what they are compared.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) a: &'a Digest,
    pub(crate) b: &'a Digest,
    /// What a figure of the job is multiplied with to get that of a rank.
    pub(crate) scale: (f64, f64),
    pub(crate) rules: Rules,
    /// Figures of ranks are shares of the run, for one was cut off.
    pub(crate) is_share: bool,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(a: &'a Digest, b: &'a Digest) -> Self {
        let is_share = !a.is_whole() || !b.is_whole();
        let scale = |of: &Digest| {
            let length_s = if is_share { of.duration_s().unwrap_or(1.0) } else { 1.0 };
            1.0 / (f64::from(of.job.ranks.max(1)) * length_s)
        };
        let lengths = [a, b].into_iter().filter_map(Digest::duration_s);
        let shorter_s = lengths.min_by(f64::total_cmp).unwrap_or(1.0);
        Self { a, b, scale: (scale(a), scale(b)), rules: Rules::new(shorter_s, is_share), is_share }
    }

    /// Applied to both.
    pub(crate) fn both<T>(&self, of: impl Fn(&'a Digest) -> T) -> (T, T) {
        (of(self.a), of(self.b))
    }

    /// The time of a rank in a function; nothing where it was not called.
    pub(crate) fn of_rank(&self, function: Function) -> (Measured, Measured) {
        let of = |digest: &Digest| Measured {
            value: digest.functions.get(&function).map_or(0.0, |figures| figures.seconds),
            spread: spread(&digest.windows.seconds(function)),
        };
        (of(self.a).times(self.scale.0), of(self.b).times(self.scale.1))
    }

    /// The time of a rank after its last call.
    pub(crate) fn finished(&self) -> (f64, f64) {
        let (a, b) = self.both(|of| of.finished_s.iter().sum::<f64>());
        (a * self.scale.0, b * self.scale.1)
    }

    /// The time of a rank in MPI.
    pub(crate) fn in_mpi(&self) -> (f64, f64) {
        let (a, b) = self.both(|of| of.functions.values().map(|figures| figures.seconds).sum::<f64>());
        (a * self.scale.0, b * self.scale.1)
    }
}
