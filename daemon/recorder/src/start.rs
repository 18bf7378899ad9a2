//! How the daemon of a run begins: with a new recording, or with that of a predecessor that was killed. Who starts it says
//! which (`resume`).

use crate::protocol::Configuration;
use crate::recorder::{Diagnose, Recorder};
use crate::viewers::Viewers;
use anyhow::{Result, ensure};
use mpiscope_agent::Resume;
use mpiscope_feed::Job;
use mpiscope_layout::SiteDescription;
use mpiscope_page::{CACHE_BYTES, ClosedPage, LayoutFilePath, Page, RunData, copy_layouts, topology_files};
use mpiscope_placement::Placements;
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, WalReader, WalWriter};
use mpiscope_verdict::{GIVEN, give, have_diagnosed};
use std::net::SocketAddr;
use std::path::Path;

/// What the daemon works with.
pub(crate) struct Start {
    pub(crate) recorder: Recorder,
    pub(crate) log: WalWriter,
    /// Where the log of a predecessor stopped.
    pub(crate) resume: Resume,
    pub(crate) page: Option<ClosedPage>,
}

/// A recording that is written, before anything is taken in.
struct Opened {
    writer: RecordingWriter,
    /// What the site says of its machine.
    site: SiteDescription,
    /// Calls that a predecessor recorded.
    expected_calls: u64,
}

impl Start {
    /// Opens the recording and its page, and takes in the log of a predecessor, if there was one.
    ///
    /// # Errors
    /// When nothing can be recorded, in one line.
    pub(crate) fn new(configuration: &Configuration) -> Result<Self> {
        let is_new = !configuration.resume;
        let opened = if is_new { created(configuration)? } else { rebuilt(configuration)? };
        let Opened { mut writer, site, expected_calls } = opened;
        // A predecessor may have died before it was given them.
        if let Some(criteria) = &configuration.criteria {
            give(criteria, &configuration.out)?;
            writer.list_file(GIVEN)?;
            writer.write_manifest()?;
        }
        let workers = configuration.workers;
        let diagnose: Diagnose = Box::new(move |dir, run| have_diagnosed(dir, run, workers));
        let mut recorder = Recorder::new(writer, configuration.window_ns, diagnose);
        recorder.expect(expected_calls);
        recorder.watch_for(configuration.hang_after, configuration.flight)?;
        if is_new && configuration.keep.is_some() && configuration.listen.is_none() {
            // What is found at the end may be all that can be found.
            recorder.diagnose_live(configuration);
        }
        let open = |address| open_page(&recorder, configuration, address, site);
        let page = match configuration.listen.map(open).transpose() {
            Ok(Some((page, viewers))) => {
                recorder.tell(viewers, configuration);
                Some(page)
            }
            Ok(None) => None,
            Err(error) => {
                say!("{error:#}; the run is recorded without a page");
                None
            }
        };
        recorder.share_out(workers);
        // What a lost reader knew is in the log, which --keep cuts.
        if configuration.keep.is_none() {
            recorder.share_reading(configuration);
        } else if configuration.analysis.is_some() {
            say!("with --keep only the live analysis is shared, not the recording");
        }
        let (log, resume) = open_log(configuration, &mut recorder)?;
        Ok(Self { recorder, log, resume, page })
    }
}

/// The log of the run, and where it stopped. The recorder takes in what a predecessor wrote.
fn open_log(configuration: &Configuration, recorder: &mut Recorder) -> Result<(WalWriter, Resume)> {
    let Configuration { out, keep, resume, .. } = configuration;
    if *resume {
        let stopped = recorder.take_log(&WalReader::open(out)?);
        return Ok((WalWriter::append_to(out)?, stopped));
    }
    let log = WalWriter::create(out)?;
    let log = if let Some(keep) = *keep { log.keeping(keep) } else { log };
    Ok((log, Resume::default()))
}

/// A new recording.
fn created(configuration: &Configuration) -> Result<Opened> {
    let Configuration { run, out, window_ns, latency, command, .. } = configuration;
    let manifest = Manifest {
        run: run.clone(),
        window_ns: *window_ns,
        latency: *latency,
        job: mpiscope_recording::Job { command: command.clone(), ..Default::default() },
        ..Manifest::default()
    };
    let mut writer = RecordingWriter::create(out, manifest, RecordingOptions::default())?;
    if let Some(keep) = configuration.keep {
        writer = writer.keeping(keep)?;
    }
    let site = topology_files::store(&configuration.topology, out, &mut writer)?;
    if let Some(layout) = &configuration.layout {
        keep_layouts(layout, out);
    }
    Ok(Opened { writer, site, expected_calls: 0 })
}

/// The recording of a predecessor.
fn rebuilt(configuration: &Configuration) -> Result<Opened> {
    let out = &configuration.out;
    let before = Manifest::read(out)?;
    ensure!(
        !before.cut.is_some_and(|cut| cut.log),
        "the recording cannot go on: --keep has dropped the beginning of its log"
    );
    let writer = RecordingWriter::rebuild(out, RecordingOptions::default())?;
    Ok(Opened { writer, site: topology_files::of_recording(out).0, expected_calls: before.cost.calls })
}

/// The recording has the layouts that its run was looked at with. Without them it is whole too.
fn keep_layouts(layout: &Path, dir: &Path) {
    if let Err(error) = copy_layouts(layout, dir) {
        say!("the layouts of {} are not kept with the recording: {error}", layout.display());
    }
}

/// The page of a run, and what feeds it.
pub(crate) fn open_page(
    recorder: &Recorder,
    configuration: &Configuration,
    address: SocketAddr,
    site: SiteDescription,
) -> Result<(ClosedPage, Viewers)> {
    let Configuration { run, command, out, token, .. } = configuration;
    let job = Job { run: run.clone(), command: command.join(" "), ..Job::default() };
    let window_ns = recorder.window_ns();
    let placements = Placements::of_run(recorder.sums().traffic.clone());
    let layout = configuration.layout.clone().map(LayoutFilePath::from_whole_path);
    let data = RunData::new(out, CACHE_BYTES, placements).with_layout(layout).with_site(site);
    let overview = recorder.sums().overview.clone();
    let (page, feeding) = Page::open(out, address, token, job.clone(), window_ns, data.clone(), overview)?;
    Ok((page, Viewers::new(feeding, data, job, window_ns).holding(configuration.flight)))
}
