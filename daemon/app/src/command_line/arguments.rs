//! The commands and their options.

use super::hostfile::{Hostfile, hostfile};
use super::layout::LayoutCommand;
use super::regions::RegionsOptions;
use super::synth::SynthOptions;
use super::values::{Align, ExportFormat, ExportTable, PlacementFormat};
use super::whatif::WhatifOptions;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use mpiscope_formats::export::{RankList, parse_byte_range, parse_duration_ns, parse_run_time_ns};
use mpiscope_recording::{Keep, Latency};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Find out where a running MPI program loses time, since when, which ranks cause it, and why.
#[derive(Debug, Parser)]
#[command(name = "mpiscope", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Color text; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub(crate) color: ColorWhen,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When text is colored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an MPI program, record its calls and show them live
    #[command(after_help = "\
Examples:
  mpiscope run -- mpirun -n 4 ./sim input.dat
  mpiscope run --out sim.scope -- mpiexec -n 16 ./sim

The program is not rebuilt. Its output, signals and exit status pass through unchanged. The recording is a folder: \
`mpiscope replay DIR` shows it again, `mpiscope report DIR` summarizes it.")]
    Run(RunOptions),
    /// Show a recording on the page, as it was shown live
    #[command(after_help = "\
Examples:
  mpiscope replay sim.scope
  mpiscope replay before.scope --with after.scope --align turn

The page has the same views and figures as during the run. It is served until Ctrl-C. With --with, programs \
that connect can receive calls, messages and windows of both recordings on one clock; the page shows the first.")]
    Replay(ReplayOptions),
    /// Pause recording of a running job; the job itself is not affected
    Pause(SwitchOptions),
    /// Start or resume recording of a running job
    Resume(SwitchOptions),
    /// Summarize a recording: cause of lost time, figures, regions; as text or JSON
    Report(ReportOptions),
    /// Check a recording for missing or damaged data
    #[command(after_help = "\
Examples:
  mpiscope check sim.scope

Reads all data and changes nothing. Exits with 0 if the recording is complete, 1 if data is missing or damaged, 2 if there is \
no readable recording.")]
    Check(CheckOptions),
    /// Save what is left of a damaged or unfinished recording into a new one
    #[command(after_help = "\
Examples:
  mpiscope repair sim.scope
  mpiscope repair sim.scope -o saved.scope

The old recording is not changed. Also completes a recording whose recorder was killed. Data that could not be saved is \
listed, and counted in the new recording.")]
    Repair(RepairOptions),
    /// Compare two recordings
    #[command(after_help = "\
Examples:
  mpiscope compare before.scope after.scope
  mpiscope compare before.scope after.scope --json
  mpiscope compare before.scope after.scope --align turn
  mpiscope compare before.scope after.scope --open

The first line says how much longer the second run took, and where most of it comes from. Changes within the noise of the \
runs are left out. If both runs have the same phases or turns of a main loop, the report says in which of them B loses time, and in what. \
With --open or --listen a page shows both runs on one time axis, until Ctrl-C.")]
    Compare(CompareOptions),
    /// Predict the run time of a recorded run after changes
    #[command(after_help = "\
Examples:
  mpiscope whatif sim.scope --even-work
  mpiscope whatif sim.scope --quiet --latency 0.5
  mpiscope whatif sim.scope --rank 3,8-11=0.5 --function MPI_Allreduce=2 --json

Replays the recorded run: calls wait for the same messages and collectives, only the changed durations differ. All given \
changes apply together. Also names the cause that costs most after them.")]
    Whatif(WhatifOptions),
    /// Write a better placement of ranks on nodes, as a file for the launcher
    #[command(after_help = "\
Examples:
  mpiscope remap sim.scope --format rankfile -o ranks
  mpirun --rankfile ranks -n 512 --hostfile hosts ./sim

Every node keeps its number of ranks. Ranks that exchange many messages are placed on the same node. If no placement is \
better, the file has the recorded one. Messages inside collectives are not counted.")]
    Remap(RemapOptions),
    /// Find regions: groups of ranks that communicate mostly with each other
    #[command(after_help = "\
Examples:
  mpiscope regions sim.scope
  mpiscope regions --edges pairs.csv --method paper --cut 2.0 --json

The table has a line a,b or a,b,weight for each pair of ranks that communicated. Repeated pairs add up; a,a names a rank \
without communication. JSON has the ranks, their distances and the regions. Ranks that are not connected are in different \
regions, and their distance is null.")]
    Regions(RegionsOptions),
    /// Check layout files of 3D views, or print where a layout places ranks
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
    /// Measure how long messages and collectives take on undisturbed nodes
    #[command(after_help = "\
Examples:
  mpiscope calibrate -- mpirun -n 32 ./sim input.dat

Uses the launcher, hosts and placement of the command, but does not run the program: after MPI_Init the ranks exchange \
messages of many sizes, make collective calls, and exit. Run it while nothing else uses the nodes.")]
    Calibrate(CalibrateOptions),
    /// Generate a recording of a simulated job with known problems
    #[command(after_help = "\
Examples:
  mpiscope synth --pattern halo3d --ranks 64 --seconds 10 --rate 200000 -o sound.scope
  mpiscope synth --pattern cg --ranks 64 --seconds 10 --rate 200000 --disturb stolen-cpu -o robbed.scope
  mpiscope synth --pattern halo2d --ranks 64 --seconds 60 --rate 100000 --disturb background-traffic --live 127.0.0.1:0
  mpiscope synth --pattern halo3d --ranks 1024 --seconds 10 --rate 200000 --agents 64 -o hosts.scope

Patterns are ring, halo2d, halo3d, cg, all-to-all, master-worker, wavefront, random-sparse, pipeline, groups and \
collectives; disturbances are bad-mapping, imbalance, drifting-imbalance, graded-imbalance, slow-node, slow-rack, \
serialized-root, background-traffic, slow-link, stolen-cpu, stopped-rank, drifting-clocks and lost-records; styles are blocking, waitall and polling. truth.json in the folder has what the job did and what each \
disturbance costs. --seed also chooses the rack of slow-rack. The same options give the same recording. With --live the page shows the job in real time, until it ends or \
until Ctrl-C; without -o the recording is not kept. With --agents the job runs in real time too: a daemon like that of \
`mpiscope run` records what the agents send, and the command prints what both cost. With --at-once the agents have all \
calls from the start, and what counts is how fast they are taken.")]
    Synth(SynthOptions),
    /// Convert a trace of another tool, or a table of messages, to a recording
    #[command(after_help = "\
Examples:
  mpiscope import events.csv -o imported.scope
  mpiscope import events.csv --nodes nodes.csv -o imported.scope
  mpiscope import scorep/traces.otf2 -o imported.scope
  mpiscope import dumpi-0000.txt -o imported.scope
  mpiscope import paragraph.picl -o imported.scope

Traces: an OTF2 archive (its anchor file or its folder; needs the OTF2 library), a DUMPI trace (the text that \
dumpi2ascii -a writes for any rank, with the texts of the other ranks next to it), or a PICL trace (of PICL, MPICL or another \
tool that writes for ParaGraph). Any other file is read as a table: CSV with \
a header and the columns rank, type (send or receive), timestamp_ns, source, destination and size; optional are tag, comm, \
duration_ns and call. The timestamp is the start of a send call, or the end of a receive call. The table of --nodes has the \
columns rank and node.")]
    Import(ImportOptions),
    /// Export calls and messages of a recording for other tools
    #[command(after_help = "\
Examples:
  mpiscope export sim.scope --format perfetto -o sim.json
  mpiscope export sim.scope --format otf2 -o sim.otf2
  mpiscope export sim.scope --format picl -o sim.picl
  mpiscope export sim.scope --format csv --table messages --rank 0-15 --from 2.5 --to 3 -o - | less
  mpiscope export sim.scope --format parquet --function MPI_Waitall --longer-than 1ms -o slow.parquet

csv and parquet write one table: the columns of the recording, then the names behind its numbers. perfetto writes a trace \
for ui.perfetto.dev and Chrome, with arrows for messages. otf2 writes a folder for Vampir, Scalasca and others, and needs the \
OTF2 library. picl writes a PICL 2.0 trace for ParaGraph. Of a running or killed run the rows written so far are exported.")]
    Export(ExportOptions),
    /// Check what works on this machine, and how to fix the rest
    Doctor,
    /// Run the per-node agent (only where your site starts agents itself)
    #[command(after_help = "\
Examples:
  srun --overlap --ntasks=$SLURM_NNODES mpiscope agent sim.scope

Elsewhere the first rank on each host starts the agent. The agent exits with the run.")]
    Agent(AgentOptions),
    /// Print shell completions
    #[command(after_help = "\
Examples:
  mpiscope completions bash > ~/.local/share/bash-completion/completions/mpiscope
  mpiscope completions fish > ~/.config/fish/completions/mpiscope.fish")]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write manual pages of all commands into a folder
    #[command(after_help = "\
Examples:
  mpiscope man ~/.local/share/man/man1")]
    Man {
        /// Folder for the pages
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// The daemon of one run; `run` starts it.
    #[command(name = "record", hide = true)]
    Record,
    /// A process with a share of the live analysis; the daemon starts it.
    #[command(name = "join", hide = true)]
    Join,
    /// A process that reads calls for the recording; the daemon starts it.
    #[command(name = "read", hide = true)]
    Read,
    /// Finds a placement for who talks to whom, as standard input says; started by the daemon.
    #[command(hide = true)]
    Advise,
    /// Diagnoses a recording by its log; started by the daemon.
    #[command(hide = true)]
    Diagnose {
        /// The recording's folder.
        dir: PathBuf,
        /// Print what is found instead of leaving it in the folder.
        #[arg(long)]
        print: bool,
        /// Threads that analyse.
        #[arg(long, default_value_t = 1)]
        workers: usize,
        /// For how long somebody waits for it.
        #[arg(long)]
        seconds: Option<f64>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Folder for the recording [default: mpiscope-PROGRAM-DATE-TIME in the current folder]
    #[arg(short = 'o', long, visible_alias = "output", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Address to serve the page at [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR", conflicts_with = "no_dashboard")]
    pub(crate) listen: Option<SocketAddr>,
    /// Open the page in the browser
    #[arg(long, conflicts_with = "no_dashboard")]
    pub(crate) open: bool,
    /// Do not serve the page
    #[arg(long)]
    pub(crate) no_dashboard: bool,
    /// What counts as the latency of a message: the time its receiver waited for it (t_msg), or the time from the start of the
    /// send to the end of the receive (span)
    #[arg(long, value_name = "t_msg|span", default_value = "t_msg", value_parser = latency)]
    pub(crate) latency: Latency,
    /// Expected transfer times: a file of `mpiscope calibrate`, or a recording of a good run
    #[arg(long, value_name = "FILE")]
    pub(crate) criteria: Option<PathBuf>,
    /// Show the 3D layouts of this file on the page; reloaded when the file changes
    #[arg(long, value_name = "FILE", conflicts_with = "no_dashboard")]
    pub(crate) layout: Option<PathBuf>,
    /// Where nodes or ranks are in the machine: a table node,key,value or rank,key,value, topology.conf, hwloc XML; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Vec<PathBuf>,
    /// Keep only the newest part of the recording, by time such as 10m or by size such as 2GiB
    #[arg(long, value_name = "DURATION|SIZE")]
    pub(crate) keep: Option<Keep>,
    /// Report a hang, with who waits for whom, after S seconds without progress; 0 for never
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) hang_after: u64,
    /// Start without recording, until `mpiscope resume`
    #[arg(long)]
    pub(crate) paused: bool,
    /// Flight recorder: keep only the last DURATION in memory; write it out on a hang, at exit, or on `mpiscope resume`
    #[arg(long, value_name = "DURATION", value_parser = flight_span, conflicts_with = "paused")]
    pub(crate) flight: Option<Duration>,
    /// Record how the program came to each call: its functions from main to the call; see docs/find-the-cause.md for the cost
    #[arg(long)]
    pub(crate) call_paths: bool,
    /// Threads that record and analyse; more than one helps where a job makes millions of calls a second
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = workers)]
    pub(crate) workers: usize,
    /// Share recording and live analysis with the hosts of this file, one a line as for mpirun: own processes on each, by ssh
    #[arg(long, value_name = "FILE", value_parser = hostfile)]
    pub(crate) hostfile: Option<Hostfile>,
    /// Window length of the analysis, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub(crate) window: u64,
    /// Settings file; overrides those of the site and of the user
    #[arg(long = "config", alias = "site", value_name = "FILE")]
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
            hostfile: None,
            criteria: None,
            layout: None,
            topology: Vec::new(),
            keep: None,
            hang_after: 10,
            paused: false,
            flight: None,
            call_paths: false,
            window: 100,
            site: None,
            command: command.to_vec(),
        }
    }
}

fn flight_span(word: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(3_600);
    match word.parse() {
        Ok(Keep::Last(span)) if span <= MOST => Ok(span),
        _ => Err("expected a time of at most one hour, such as 30s or 5m".into()),
    }
}

fn workers(word: &str) -> Result<usize, String> {
    const MOST: usize = 256;
    let workers = word.parse().ok().filter(|workers| (1..=MOST).contains(workers));
    workers.ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}

fn latency(word: &str) -> Result<Latency, String> {
    match word {
        "t_msg" => Ok(Latency::Felt),
        "span" => Ok(Latency::Span),
        _ => Err("expected t_msg or span".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// File for the result [default: one per MPI library and number of ranks per node, in
    /// ~/.config/mpiscope/criteria]
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How long to measure, in seconds
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Keep the recording of the measurement in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) recording: Option<PathBuf>,
    /// Settings file; overrides those of the site and of the user
    #[arg(long = "config", alias = "site", value_name = "FILE")]
    pub(crate) site: Option<PathBuf>,
    /// The program and its arguments, for example mpirun -n 4 ./sim
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The trace or table
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Table with the node of each rank
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Folder for the recording
    #[arg(short, long, visible_alias = "out", value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// File or folder to write; - is the standard output, for csv, perfetto and picl
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Table to write, for csv and parquet [default: calls]
    #[arg(long, value_name = "calls|messages")]
    pub(crate) table: Option<ExportTable>,
    /// Only calls and messages that end after S seconds of the run
    #[arg(long, value_name = "S", value_parser = parse_run_time_ns)]
    pub(crate) from: Option<u64>,
    /// Only calls and messages that begin before S seconds of the run
    #[arg(long, value_name = "S", value_parser = parse_run_time_ns)]
    pub(crate) to: Option<u64>,
    /// Only calls of these ranks, such as 0,8-15, and messages from or to them
    #[arg(long, value_name = "LIST")]
    pub(crate) rank: Option<RankList>,
    /// Only calls of this function; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) function: Vec<String>,
    /// Only calls and messages that took longer, such as 200us or 1.5ms
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ns)]
    pub(crate) longer_than: Option<u64>,
    /// Only calls with these peers, and messages from or to them
    #[arg(long, value_name = "LIST")]
    pub(crate) peer: Option<RankList>,
    /// Only calls and messages of this size in bytes, such as 8, 1024-65536 or 1048576-
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_range)]
    pub(crate) bytes: Option<std::ops::RangeInclusive<u64>>,
    /// Only calls from call sites whose name contains TEXT, such as solver.c:120
    #[arg(long = "call-site", alias = "site", value_name = "TEXT")]
    pub(crate) site: Option<String>,
    /// Newest row first, for csv and parquet
    #[arg(long)]
    pub(crate) reverse: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Serve a second recording to programs, on the clock of the first
    #[arg(long, value_name = "DIR")]
    pub(crate) with: Option<PathBuf>,
    /// Put the second recording on the clock of the first by their start, by phase or by turn of the main loop
    #[arg(long, value_name = "BY", value_enum, requires = "with")]
    pub(crate) align: Option<Align>,
    /// Show the 3D layouts of this file on the page; reloaded when the file changes
    #[arg(long, value_name = "FILE")]
    pub(crate) layout: Option<PathBuf>,
    /// Where nodes or ranks are in the machine, in place of what the recording says: a table node,key,value or rank,key,value,
    /// Slurm's topology.conf, or hwloc XML; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Vec<PathBuf>,
    /// Address to serve the page at [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// Folder of the recording [default: from the environment of the ranks]
    #[arg(value_name = "DIR")]
    pub(crate) recording: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SwitchOptions {
    /// Folder of the recording that is being written
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Print JSON (schema mpiscope.report/1)
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 3 if more than this share of the ranks' time is avoidable, such as 0.1
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["from", "to", "rank"])]
    pub(crate) fail_above: Option<f64>,
    #[command(flatten)]
    pub(crate) part: ReportPart,
}

/// The part of a run that a report is about.
#[derive(Debug, Args)]
pub(crate) struct ReportPart {
    /// Only calls and messages that begin S seconds into the run or later, and time from then on
    #[arg(long, value_name = "S", value_parser = parse_run_time_ns)]
    pub(crate) from: Option<u64>,
    /// Only calls and messages that begin before S seconds of the run, and time until then
    #[arg(long, value_name = "S", value_parser = parse_run_time_ns)]
    pub(crate) to: Option<u64>,
    /// Only calls of these ranks, such as 0,8-15, and messages from or to them
    #[arg(long, value_name = "LIST")]
    pub(crate) rank: Option<RankList>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Print JSON (schema mpiscope.check/1)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Folder for the repaired recording [default: DIR.repaired]
    #[arg(short, long, visible_alias = "out", value_name = "NEWDIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// Folder of the first recording
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Folder of the second recording
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Put both runs on one clock by their start, by phase or by turn of the main loop
    #[arg(long, value_name = "BY", value_enum, default_value_t)]
    pub(crate) align: Align,
    /// Print JSON (schema mpiscope.compare/1)
    #[arg(long, conflicts_with_all = ["open", "listen"])]
    pub(crate) json: bool,
    /// Serve a page that shows both runs, at this address [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve the page and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct RemapOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Format of the file
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: PlacementFormat,
    /// File to write [default: the standard output]
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Command {
    /// Whether a job runs on while this does, and must not be held up or ended by it.
    pub(crate) fn is_part_of_a_job(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Calibrate(_) | Self::Agent(_) | Self::Record)
    }
}
