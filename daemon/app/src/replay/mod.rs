//! `mpiscope replay`: a recording on the page that showed it live, through the same feed.

mod second;
mod spill;

use crate::command_line::ReplayOptions;
use anyhow::{Context as _, Result, anyhow};
use mpiscope_compare::RunAnchors;
use mpiscope_engine::load::Loaded;
use mpiscope_feed::{Job, JobState, Overview, RunSource, TimelineIncrement, Update};
use mpiscope_model::words::plural;
use mpiscope_model::{Fault, Function, Node};
use mpiscope_page::topology_files;
use mpiscope_page::{
    self as page, ClosedPage, Feeding, LayoutFilePath, Page, function_rows, inform, node_rows,
};
use mpiscope_process::private::random;
use mpiscope_recorder::switch;
use mpiscope_recording::{Recording, SegmentFault, State};
use mpiscope_server::SecondRecording;
use mpiscope_verdict::{self as verdict, Findings};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spill::{OpenedRecording, Spilled};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn replay(options: &ReplayOptions) -> Result<ExitCode> {
    // Before anything is read: a signal meanwhile must still clean up.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context("wait for Ctrl-C")?;
    let opened = OpenedRecording::open(&options.dir)?;
    let overview = Overview::default();
    let (page, feeding, unusable) = open_page(options, &opened, overview.clone())?;
    let (mut loaded, last_ns) = opened.load(&options.dir, overview)?;
    loaded.missing.extend(unusable);
    let findings = findings(&options.dir, &mut loaded);
    let second = options.with.as_ref().map(|dir| dir.display().to_string()).unwrap_or_default();
    let mut shown = Shown { feeding, loaded, findings, last_ns, second };
    shown.publish(&timeline(&shown.loaded));
    let second = open_second(options, &opened, &shown.loaded)?;
    let reason = second.as_ref().map(|(second, _)| second.about.reason.clone());
    // Its files are kept as long as it is served.
    let _spilled_second = second.map(|(second, spilled)| {
        shown.feeding.publisher.add_second(second);
        spilled
    });
    let page = page.admit();
    page::say_address("replay", page.url());
    if let Some(reason) = reason {
        say!("recording b is for programs that connect. {reason}");
    }
    say!("{}; Ctrl-C ends it", summary(&shown.loaded));
    let dir = options.dir.clone();
    // What is spilled is kept as long as the page is served.
    let OpenedRecording { recording, spilled, .. } = opened;
    let is_in_log = spilled.is_some();
    // What takes a while is found out while the page is there.
    let complete = move || shown.complete(&dir, &recording, is_in_log);
    std::thread::Builder::new().name("diagnosis".into()).spawn(complete).context("start a thread")?;
    let opened = options.open.then(|| page::open_in_browser(page.url()));
    // Whichever comes first.
    let _ = signals.forever().next();
    drop(opened);
    page.close();
    Ok(ExitCode::SUCCESS)
}

/// The page, what feeds it, and what of the topology files of the recording is of no use.
fn open_page(
    options: &ReplayOptions,
    opened: &OpenedRecording,
    overview: Overview,
) -> Result<(ClosedPage, Feeding, Option<String>)> {
    let layout = options.layout.as_deref().map(LayoutFilePath::named).transpose()?;
    let (site, unusable) = match options.topology.as_slice() {
        [] => topology_files::of_recording(&options.dir),
        paths => (topology_files::read(paths)?, None),
    };
    let manifest = opened.recording.manifest();
    let data = opened.rows.clone().with_layout(layout).with_site(site);
    let token = format!("{:032x}", random()?);
    let address = options.listen.unwrap_or(page::ANYWHERE);
    let job = Job { run: manifest.run.clone(), source: RunSource::Replay, ..Job::default() };
    let (page, feeding) = Page::open(&options.dir, address, &token, job, manifest.window_ns, data, overview)?;
    Ok((page, feeding, unusable))
}

/// What was found about the run when it was recorded; notes as missing where that cannot be read.
fn findings(dir: &Path, loaded: &mut Loaded) -> Option<Findings> {
    let mut findings = verdict::read(dir).unwrap_or_else(|error| {
        loaded.missing.push(format!("what was found about the run: {error:#}"));
        None
    });
    findings.iter_mut().for_each(|findings| findings.limit(&loaded.ending()));
    findings
}

/// The recording to compare with, where one was asked for, and what was spilled of it.
fn open_second(
    options: &ReplayOptions,
    opened: &OpenedRecording,
    loaded: &Loaded,
) -> Result<Option<(SecondRecording, Option<Spilled>)>> {
    let Some(dir) = &options.with else { return Ok(None) };
    let anchors = RunAnchors::read(&opened.rows.calls, &loaded.sites, &loaded.communicators, loaded.end_ns());
    let anchors = anchors.map_err(|error| anyhow!("read {}: {error}", options.dir.display()))?;
    second::open(dir, &anchors, options.align.unwrap_or_default().into()).map(Some)
}

/// Diagnoses a recording that has only its log; notes as missing where that fails.
fn diagnose(dir: &Path, loaded: &mut Loaded) -> Option<Findings> {
    match verdict::diagnosed_apart(dir) {
        Ok(mut findings) => {
            findings.limit(&loaded.ending());
            Some(findings)
        }
        Err(error) => {
            loaded.missing.push(format!("there is no diagnosis: {error:#}"));
            None
        }
    }
}

fn damage_sentence(fault: SegmentFault) -> String {
    let SegmentFault { missing_rows, file, text, .. } = fault;
    format!("{missing_rows} rows of {file} are counted and cannot be shown: {text}")
}

/// A recording and the page that shows it.
struct Shown {
    feeding: Feeding,
    loaded: Loaded,
    findings: Option<Findings>,
    /// When the last call ended.
    last_ns: u64,
    /// The folder of the second recording, if any.
    second: String,
}

/// How many calls of each function began when.
fn timeline(loaded: &Loaded) -> Vec<TimelineIncrement> {
    let window_ns = loaded.counts.window_ns();
    let increment = |(&(window, function), &calls): (&(u64, Function), &u64)| TimelineIncrement {
        start_ns: window * window_ns,
        function,
        calls,
    };
    loaded.sums.windows.iter().map(increment).collect()
}

impl Shown {
    /// Shows what there is, and what of the timeline the page has not received.
    fn publish(&mut self, timeline: &[TimelineIncrement]) {
        let (loaded, findings) = (&self.loaded, self.findings.as_ref());
        let faults: Vec<Fault> =
            loaded.missing.iter().map(|text| Fault { rank: None, text: text.clone() }).collect();
        let names = loaded.job.nodes.iter().map(|node| node.name.as_str());
        let uncertainty_ns = |node: Node| loaded.clock_of(node.index()).map(|clock| clock.uncertainty_ns);
        let nodes = node_rows(names, uncertainty_ns, loaded.ranks.iter(), &loaded.processors);
        let now_ns = loaded.end_ns().max(self.last_ns);
        let ranks = inform(&self.feeding.library, loaded, findings, now_ns);
        self.feeding.publisher.publish(&Update {
            now_ns,
            lag_ns: 0,
            job: &job(loaded, &self.second),
            totals: loaded.totals,
            losses: loaded.losses,
            functions: &function_rows(&loaded.counts, &[]),
            ranks: &ranks,
            nodes: &nodes,
            timeline,
            in_flight: &[],
            hangs: &loaded.hangs,
            switch: &switch::state(loaded.pauses.as_ref(), None, false),
            calls: &[],
            faults: &faults,
            found: findings.map(Findings::report).as_ref(),
        });
    }

    /// Finds out which segments are damaged and, where there is only a log, what is wrong with the run.
    fn complete(mut self, dir: &Path, recording: &Recording, is_in_log: bool) {
        let before = self.loaded.missing.len();
        if is_in_log && self.findings.is_none() {
            self.findings = diagnose(dir, &mut self.loaded);
        }
        self.loaded.missing.extend(recording.damaged_segments().into_iter().map(damage_sentence));
        if self.loaded.missing.len() > before || is_in_log {
            self.publish(&[]);
        }
    }
}

fn job(loaded: &Loaded, second: &str) -> Job {
    Job {
        run: loaded.run.clone(),
        source: RunSource::Replay,
        command: loaded.job.command.join(" "),
        nodes: loaded.job.nodes.len() as u32,
        ranks: loaded.job.ranks,
        mpi: loaded.job.mpi.clone(),
        state: match (loaded.state, loaded.job.exit) {
            (State::Running, _) => JobState::Running,
            (State::Complete, _) if loaded.job.is_imported() => JobState::Ended,
            (_, exit) => JobState::after(exit),
        },
        exit: loaded.job.exit,
        started_unix_ns: loaded.job.started_unix_ns,
        second: second.to_owned(),
    }
}

fn summary(loaded: &Loaded) -> String {
    let totals = &loaded.totals;
    format!(
        "{} of {}, {}",
        plural(totals.calls, "call"),
        plural(loaded.job.ranks.into(), "rank"),
        plural(totals.messages, "message")
    )
}
