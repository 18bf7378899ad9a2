//! `mpiscope calibrate`: runs the command with a collector that measures in place of the program, and keeps what
//! messages and collectives took.

mod measured;
mod text;

use crate::command_line::{CalibrateOptions, RunOptions};
use crate::run::{Over, run_to_measure};
use crate::site::{Site, Start};
use anyhow::{Context as _, Result, bail};
use measured::measured;
use mpiscope_model::words::printable;
use mpiscope_process::output::print;
use mpiscope_process::private::random;
use mpiscope_recorder::Summary;
use mpiscope_recording::Recording;
use mpiscope_verdict::criteria_file::{CriteriaFile, folder, make_folder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the collector knows the time by that it has.
const SECONDS: &str = "MPISCOPE_CALIBRATE";
const MOST_MISSING: usize = 3;

pub(crate) fn calibrate(options: &CalibrateOptions) -> Result<ExitCode> {
    // Before the job waits in a queue and runs for nothing.
    let place = Place::choose(options)?;
    let site = Site::load(options.site.as_deref())?;
    let kept = match &options.recording {
        Some(folder) => RecordingFolder::There(folder.clone()),
        None => RecordingFolder::temporary(&site)?,
    };
    let run = RunOptions::of_recording(kept.path(), &options.command);
    let seconds = vec![(SECONDS.to_owned(), options.seconds.to_string().into())];
    let Over { status, has_run, summary } = run_to_measure(&run, &site, seconds)?;
    match summary {
        Some(summary) if has_run => conclude(&summary, status, kept.path(), &place)?,
        // Why has been said.
        Some(_) => {}
        // The place of the recording was printed, and that it may be read.
        None => kept.leave(),
    }
    Ok(ExitCode::from(status))
}

/// Says what was measured and keeps it.
fn conclude(summary: &Summary, status: u8, out: &Path, place: &Place) -> Result<()> {
    for missing in summary.missing.iter().take(MOST_MISSING) {
        say!("missing: {}", printable(missing));
    }
    match summary.ranks {
        0 => {
            say!(
                "nothing was measured: no MPI call was recorded, so what ran is not linked to MPI or is so statically"
            );
            return Ok(());
        }
        1 => {
            say!("nothing was measured: one rank alone has nobody to exchange messages with");
            return Ok(());
        }
        _ => {}
    }
    let recording = Recording::open(out)?;
    let criteria = measured(&recording, summary.lost_calls == 0 && summary.uncounted.is_empty());
    if criteria.messages.is_empty() {
        say!("nothing was measured: the ranks exchanged no messages");
        return Ok(());
    }
    let clocks = recording.manifest().clock.versions.last().map(|version| version.nodes.as_slice());
    let apart_ns = clocks.filter(|nodes| nodes.len() > 1);
    let apart_ns = apart_ns.and_then(|nodes| nodes.iter().map(|node| node.uncertainty_ns).max());
    let mut text = printable(&text::text(&criteria, summary.ranks, apart_ns));
    if summary.lost_calls > 0 {
        say!("calls were lost, so which calls of collectives belong together is not known");
    }
    if status == 0 {
        let file = place.for_file(&criteria)?;
        criteria.write(&file)?;
        text += &format!("criteria in {}\n", file.display());
    } else {
        say!("the command ended with {status}: this is what was measured until then, and it is not kept");
    }
    print(&text)
}

/// Where the criteria go.
enum Place {
    Named(PathBuf),
    /// Among the user's.
    Folder(PathBuf),
}

impl Place {
    fn choose(options: &CalibrateOptions) -> Result<Self> {
        match &options.output {
            Some(file) => {
                let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
                if !folder.unwrap_or(Path::new(".")).is_dir() || file.is_dir() {
                    bail!("{} cannot be written: choose another file with -o", file.display());
                }
                Ok(Self::Named(file.clone()))
            }
            None => match folder(|name| std::env::var_os(name)) {
                Some(folder) => Ok(Self::Folder(folder)),
                None => bail!("there is no home to keep the criteria in: say where with -o FILE"),
            },
        }
    }

    fn for_file(&self, criteria: &CriteriaFile) -> Result<PathBuf> {
        match self {
            Self::Named(file) => Ok(file.clone()),
            Self::Folder(folder) => {
                make_folder(folder)?;
                Ok(criteria.place_in(folder))
            }
        }
    }
}

/// Where the recording is while it is made and read.
enum RecordingFolder {
    There(PathBuf),
    /// Gone when dropped.
    Temporary(PathBuf),
}

impl RecordingFolder {
    fn temporary(site: &Site) -> Result<Self> {
        let folder = match site.agents.start {
            // They look for the recording from wherever they are.
            Start::ByHand => std::env::current_dir().context("find the current folder")?,
            Start::Ranks => std::env::temp_dir(),
        };
        let folder = folder.join(format!("mpiscope-calibrate-{:08x}", random()? as u32));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        made.with_context(|| format!("make {}", folder.display()))?;
        Ok(Self::Temporary(folder))
    }

    fn path(&self) -> &Path {
        let (Self::There(path) | Self::Temporary(path)) = self;
        path
    }

    /// It stays, though it was to be temporary.
    fn leave(mut self) {
        self = Self::There(self.path().to_path_buf());
        drop(self);
    }
}

impl Drop for RecordingFolder {
    fn drop(&mut self) {
        if let Self::Temporary(path) = self {
            // What cannot be removed lies about where the system removes such things.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}
