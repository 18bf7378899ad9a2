//! The command line: what can be said, and the words of its help.

mod layout;
mod regions;
mod whatif;

use crate::export::{ExportFormat, ExportTable, RankList, byte_range, duration_ns, run_time_ns};
use crate::output;
use crate::remap::Format;
use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use mpiscope_recording::{Keep, Latency};
use mpiscope_synth::{Disturbance, Pattern, Style};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use layout::{LayoutCheckOptions, LayoutCommand, LayoutEvalOptions};
pub(crate) use regions::RegionsOptions;
pub(crate) use whatif::WhatifOptions;

/// Watch the communication of a running MPI program: where time is lost, when and through whom.
#[derive(Debug, Parser)]
#[command(name = "mpiscope", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program, record its MPI calls and show them live.
    #[command(after_help = "\
Examples:
  mpiscope run -- mpirun -n 4 ./sim input.dat
  mpiscope run --out sim.scope -- mpiexec -n 16 ./sim

The program needs no rebuild; its output, its signals and its exit status are its own. The recording is a folder; \
`mpiscope replay FOLDER` shows it again, `mpiscope report FOLDER` says what it holds.")]
    Run(RunOptions),
    /// Show a recording as it was shown live.
    #[command(after_help = "\
Examples:
  mpiscope replay sim.scope

The page has the same views and the same figures as during the run. It is served until Ctrl-C.")]
    Replay(ReplayOptions),
    /// Switch recording off while a job runs; nothing of the job changes
    Pause(SwitchOptions),
    /// Switch recording on, or on again, while a job runs
    Resume(SwitchOptions),
    /// Say what a recording holds, for people or as JSON.
    Report(ReportOptions),
    /// Say what of a recording is whole, and what is missing or damaged.
    #[command(after_help = "\
Examples:
  mpiscope check sim.scope

Reads all of it and changes nothing. Exits with 0 when it is whole, with 1 when something is missing or damaged, with 2 when \
there is no recording that can be read.")]
    Check(CheckOptions),
    /// Make a sound recording of what is left of a damaged one.
    #[command(after_help = "\
Examples:
  mpiscope repair sim.scope
  mpiscope repair sim.scope -o saved.scope

The damaged one stays as it is. Also makes a recording complete whose recorder was killed. What could not be saved is said, \
and again in the new recording.")]
    Repair(RepairOptions),
    /// Say what changed between two recordings.
    #[command(after_help = "\
Examples:
  mpiscope compare before.scope after.scope
  mpiscope compare before.scope after.scope --json
  mpiscope compare before.scope after.scope --open

The first line says how much longer the second took and mostly where; changes within the noise of the runs are left out. \
With --open or --listen a page shows both on one axis of time, until Ctrl-C.")]
    Compare(CompareOptions),
    /// Predict how long a recorded run takes with changes.
    #[command(after_help = "\
Examples:
  mpiscope whatif sim.scope --even-work
  mpiscope whatif sim.scope --quiet --latency 0.5
  mpiscope whatif sim.scope --rank 3,8-11=0.5 --function MPI_Allreduce=2 --json

Replays the recorded run: calls wait for the same messages and collectives, and only the changed durations differ. Changes add \
up. Also says which cause costs most after them.")]
    Whatif(WhatifOptions),
    /// Write a better placement of ranks on the nodes of a recording, as a file for a launcher.
    #[command(after_help = "\
Examples:
  mpiscope remap sim.scope --format rankfile -o ranks
  mpirun --rankfile ranks -n 512 --hostfile hosts ./sim

Every node keeps as many ranks as it had. Ranks that send each other many messages are brought onto one node; where no \
placement is better, the file holds the one that was. What goes on within collectives is not counted.")]
    Remap(RemapOptions),
    /// Say which ranks talk mostly among themselves.
    #[command(after_help = "\
Examples:
  mpiscope regions sim.scope
  mpiscope regions --edges pairs.csv --method paper --cut 2.0 --json

The table has a line a,b or a,b,weight for each two ranks that talked; those that are named again weigh more, and a,a names a \
rank that talked to nobody. JSON has the ranks, the distances between them and the regions. Ranks that do not reach each \
other are in different regions, and their distance is null.")]
    Regions(RegionsOptions),
    /// Check layout files of 3D views, and print where a layout places ranks.
    #[command(after_help = "\
Examples:
  mpiscope layout check sphere.txt torus.txt --ranks 1024
  mpiscope layout eval sphere.txt --ranks 16 > points.csv

A layout file has blocks from BEGIN_VIZ=name to END_VIZ. Their statements, such as x=cos(2*pi()*rank/maxRank), set x, y \
and z of each rank, as in custom views of ParaProf.")]
    Layout {
        #[command(subcommand)]
        command: LayoutCommand,
    },
    /// Measure what messages and collectives take where nothing disturbs them.
    #[command(after_help = "\
Examples:
  mpiscope calibrate -- mpirun -n 32 ./sim input.dat

Runs the command with its own launcher, hosts and placement, but not the program itself: after MPI_Init the ranks \
exchange messages of many sizes and make collective calls, and end. Do it where nothing else uses the nodes.")]
    Calibrate(CalibrateOptions),
    /// Make a recording of a modelled job of which is known what is wrong with it.
    #[command(after_help = "\
Examples:
  mpiscope synth --pattern halo3d --ranks 64 --seconds 10 --rate 200000 -o sound.scope
  mpiscope synth --pattern cg --ranks 64 --seconds 10 --rate 200000 --disturb stolen-cpu -o robbed.scope
  mpiscope synth --pattern halo2d --ranks 64 --seconds 60 --rate 100000 --disturb background-traffic --live 127.0.0.1:0

Patterns are ring, halo2d, halo3d, cg, all-to-all, master-worker, wavefront and random-sparse; disturbances are \
bad-mapping, imbalance, drifting-imbalance, serialized-root, background-traffic, stolen-cpu, drifting-clocks and \
lost-records; styles are blocking, waitall and polling. What the job did and what each disturbance costs is in truth.json \
in the folder. The same words make the same recording. With --live the page is that of a run, and ends with the job or \
with Ctrl-C; without -o nothing is kept of it.")]
    Synth(SynthOptions),
    /// Make a recording of a table of sends and receives, or of a trace.
    #[command(after_help = "\
Examples:
  mpiscope import events.csv -o imported.scope
  mpiscope import events.csv --nodes nodes.csv -o imported.scope
  mpiscope import scorep/traces.otf2 -o imported.scope
  mpiscope import dumpi-0000.txt -o imported.scope

A trace is the anchor file of an OTF2 archive, or its folder, and needs the OTF2 library on this machine; or it is the text \
that dumpi2ascii -a writes of the file of any rank of a DUMPI trace, with those of the others beside it. All else is a table: \
CSV with a header; its columns are rank, type (send or receive), timestamp_ns, source, destination and size, \
and may be tag, comm, duration_ns and call. The time is when the call of a send began or that of a receive ended. The file \
of nodes has the columns rank and node.")]
    Import(ImportOptions),
    /// Write calls and messages of a recording for other programs.
    #[command(after_help = "\
Examples:
  mpiscope export sim.scope --format perfetto -o sim.json
  mpiscope export sim.scope --format otf2 -o sim.otf2
  mpiscope export sim.scope --format csv --table messages --rank 0-15 --from 2.5 --to 3 -o - | less
  mpiscope export sim.scope --format parquet --function MPI_Waitall --longer-than 1ms -o slow.parquet

csv and parquet are one table, with the columns of the recording and then the names that stand for its numbers. perfetto is a \
trace that ui.perfetto.dev and Chrome open, with arrows for messages; otf2 is a folder that Vampir, Scalasca and others open, and \
needs the OTF2 library on this machine. A recording that is still written, or whose run was killed, gives what it has.")]
    Export(ExportOptions),
    /// Say what works on this machine, and what to do about the rest.
    Doctor,
    /// Read and bring what the ranks of this host do, where a site has agents started by hand.
    #[command(after_help = "\
Examples:
  srun --overlap --ntasks-per-node=1 mpiscope agent sim.scope

Otherwise the first rank on each host starts it by itself. It ends with the run.")]
    Agent(AgentOptions),
    /// The daemon of one run; `run` starts it.
    #[command(name = "record", hide = true)]
    Record,
    /// Finds a placement for who talks to whom, as standard input says; started by the daemon.
    #[command(hide = true)]
    Advise,
    /// Judges a recording by its log; started by the daemon.
    #[command(hide = true)]
    Judge {
        /// The recording's folder.
        dir: PathBuf,
        /// Print what is found instead of leaving it in the folder.
        #[arg(long)]
        print: bool,
        /// Threads that analyse.
        #[arg(long, default_value_t = 1)]
        workers: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The folder of the recording [default: mpiscope-PROGRAM-DATE-TIME here]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where the page is served [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR", conflicts_with = "no_dashboard")]
    pub(crate) listen: Option<SocketAddr>,
    /// Open the page in the browser
    #[arg(long, conflicts_with = "no_dashboard")]
    pub(crate) open: bool,
    /// Serve no page
    #[arg(long)]
    pub(crate) no_dashboard: bool,
    /// What is taken for the latency of a message: the time in which its receiver waited for it, or all from the beginning of
    /// its sending to the end of its receiving
    #[arg(long, value_name = "t_msg|span", default_value = "t_msg", value_parser = latency)]
    pub(crate) latency: Latency,
    /// Judge the run by the criteria of this file of `mpiscope calibrate`, or of this recording of a good run
    #[arg(long, value_name = "FILE")]
    pub(crate) criteria: Option<PathBuf>,
    /// Keep only the newest part of the recording: a time such as 10m, or a size such as 2GiB
    #[arg(long, value_name = "DURATION|SIZE")]
    pub(crate) keep: Option<Keep>,
    /// Say who waits for whom when no call began or returned for so many seconds; 0 for never
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) hang_after: u64,
    /// Begin without recording; `mpiscope resume` switches it on
    #[arg(long)]
    pub(crate) paused: bool,
    /// Record nothing until something happens, and then also what was in the last so long: when the job stands still, at its
    /// end, or when somebody switches recording on
    #[arg(long, value_name = "DURATION", value_parser = held, conflicts_with = "paused")]
    pub(crate) flight: Option<Duration>,
    /// Threads that analyse the run; more than one pays for jobs of thousands of ranks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = workers)]
    pub(crate) workers: usize,
    /// The length of a window, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub(crate) window: u64,
    /// A file of settings, over those of the site and of the user
    #[arg(long, value_name = "FILE")]
    pub(crate) site: Option<PathBuf>,
    /// The program and its arguments, for example mpirun -n 4 ./sim
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl RunOptions {
    /// Those of a command that is recorded without a page.
    pub(crate) fn of_recording(out: &Path, command: &[OsString]) -> Self {
        Self {
            out: Some(out.to_path_buf()),
            listen: None,
            open: false,
            no_dashboard: true,
            latency: Latency::Felt,
            workers: 1,
            criteria: None,
            keep: None,
            hang_after: 10,
            paused: false,
            flight: None,
            window: 100,
            site: None,
            command: command.to_vec(),
        }
    }
}

fn held(word: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(3_600);
    match word.parse() {
        Ok(Keep::Last(span)) if span <= MOST => Ok(span),
        _ => Err("it is a time of an hour at the most, such as 30s or 5m".into()),
    }
}

fn workers(word: &str) -> Result<usize, String> {
    const MOST: usize = 256;
    let workers = word.parse().ok().filter(|workers| (1..=MOST).contains(workers));
    workers.ok_or_else(|| format!("it is a number from 1 to {MOST}"))
}

fn latency(word: &str) -> Result<Latency, String> {
    match word {
        "t_msg" => Ok(Latency::Felt),
        "span" => Ok(Latency::Span),
        _ => Err("it is t_msg or span".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// Where to keep what was measured [default: a file for this MPI and so many ranks a node in
    /// ~/.config/mpiscope/criteria]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// For how long to measure
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Keep the recording of what was measured in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) recording: Option<PathBuf>,
    /// A file of settings, over those of the site and of the user
    #[arg(long, value_name = "FILE")]
    pub(crate) site: Option<PathBuf>,
    /// The program and its arguments, for example mpirun -n 4 ./sim
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct SynthOptions {
    /// Who talks to whom
    #[arg(long, value_name = "NAME")]
    pub(crate) pattern: Pattern,
    /// How many ranks there are
    #[arg(long, value_name = "N")]
    pub(crate) ranks: u32,
    /// How long the job takes where nothing disturbs it
    #[arg(long, value_name = "S")]
    pub(crate) seconds: f64,
    /// How many calls all ranks make in a second
    #[arg(long, value_name = "CALLS_PER_SECOND")]
    pub(crate) rate: f64,
    /// On how many nodes the ranks are [default: one for eight ranks]
    #[arg(long, value_name = "K")]
    pub(crate) nodes: Option<u32>,
    /// What goes wrong; may be said several times
    #[arg(long, value_name = "NAME")]
    pub(crate) disturb: Vec<Disturbance>,
    /// How ranks wait for messages
    #[arg(long, value_name = "NAME", default_value = "waitall")]
    pub(crate) style: Style,
    /// Where all chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder of the recording
    #[arg(short, long, value_name = "DIR", required_unless_present = "live")]
    pub(crate) output: Option<PathBuf>,
    /// Show the job on a page at this address while it runs, in real time
    #[arg(long, value_name = "ADDR")]
    pub(crate) live: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The table of events, or the trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which rank was on which node
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// The folder of the recording
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// What is written
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// Where it is written; - is the standard output, for csv and perfetto
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Which table, for csv and parquet [default: calls]
    #[arg(long, value_name = "calls|messages")]
    pub(crate) table: Option<ExportTable>,
    /// Only what goes on after so many seconds of the run
    #[arg(long, value_name = "S", value_parser = run_time_ns)]
    pub(crate) from: Option<u64>,
    /// Only what goes on before so many seconds of the run
    #[arg(long, value_name = "S", value_parser = run_time_ns)]
    pub(crate) to: Option<u64>,
    /// Only calls of these ranks, such as 0,8-15, and messages from or to them
    #[arg(long, value_name = "LIST")]
    pub(crate) rank: Option<RankList>,
    /// Only calls of this function; may be said several times
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) function: Vec<String>,
    /// Only calls that took longer, and messages that were under way for longer, such as 200us or 1.5ms
    #[arg(long, value_name = "DURATION", value_parser = duration_ns)]
    pub(crate) longer_than: Option<u64>,
    /// Only calls with these ranks on the other side, and messages that they sent or got
    #[arg(long, value_name = "LIST")]
    pub(crate) peer: Option<RankList>,
    /// Only calls and messages of so many bytes, such as 8, 1024-65536 or 1048576-
    #[arg(long, value_name = "BYTES", value_parser = byte_range)]
    pub(crate) bytes: Option<std::ops::RangeInclusive<u64>>,
    /// Only calls from places in the program whose name holds this, such as solver.c:120
    #[arg(long, value_name = "TEXT")]
    pub(crate) site: Option<String>,
    /// The newest row first, for csv and parquet
    #[arg(long)]
    pub(crate) reverse: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Where the page is served [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// The folder of the recording of the run [default: what a rank says in the environment]
    #[arg(value_name = "DIR")]
    pub(crate) recording: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SwitchOptions {
    /// The folder of the recording that is being written
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Print JSON (schema mpiscope.report/1)
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 3 when more than this share of the ranks' time could be avoided, such as 0.1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) fail_above: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Print JSON (schema mpiscope.check/1)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// The folder of the repaired recording [default: DIR.repaired]
    #[arg(short, long, value_name = "NEWDIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The folder of one recording
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The folder of the other
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Print JSON (schema mpiscope.compare/1)
    #[arg(long, conflicts_with_all = ["open", "listen"])]
    pub(crate) json: bool,
    /// Serve a page that shows both, here [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve it and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a number from 0 to 1 is needed".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct RemapOptions {
    /// The folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Whose file
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Where it is written [default: the standard output]
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Command {
    /// Whether a job runs on while this does, and must not be held up or ended by it.
    pub(crate) fn is_part_of_a_job(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Calibrate(_) | Self::Agent(_) | Self::Record)
    }
}

/// Help and version are printed as they are; what is wrong is said in one line.
pub(crate) fn refuse(error: &clap::Error) -> Result<ExitCode> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::print_help(error)?;
    } else {
        say!("{} (mpiscope --help says more)", one_line(&error.render().to_string()));
    }
    Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
}

/// The first paragraph of what clap says, as a line.
fn one_line(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_help_of_synth_names_all_that_there_is() {
        let help = Arguments::command().find_subcommand_mut("synth").unwrap().render_help().to_string();
        for name in mpiscope_synth::PATTERNS.into_iter().chain(mpiscope_synth::DISTURBANCES) {
            assert!(help.contains(name), "{name}");
        }
    }

    #[test]
    fn help_is_as_pinned() {
        let mut help = String::new();
        let names = [
            "run",
            "replay",
            "pause",
            "resume",
            "report",
            "check",
            "repair",
            "compare",
            "whatif",
            "remap",
            "regions",
            "layout",
            "layout check",
            "layout eval",
            "agent",
            "calibrate",
            "synth",
            "import",
            "export",
            "doctor",
        ];
        for name in [None].into_iter().chain(names.map(Some)) {
            let mut command = Arguments::command();
            command.build();
            let command = match name {
                None => &mut command,
                Some(name) => name
                    .split(' ')
                    .fold(&mut command, |command, name| command.find_subcommand_mut(name).unwrap()),
            };
            help += &command.render_help().to_string();
            help += "\n----\n";
        }
        let pinned = include_str!("../help.txt");
        assert!(help == pinned, "the help changed; if on purpose, put this into help.txt:\n{help}");
    }
}
