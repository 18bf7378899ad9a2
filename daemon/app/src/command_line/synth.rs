//! The options of `mpiscope synth`: the simulated job, and who brings its calls to whom.

use super::hostfile::{Hostfile, hostfile};
use clap::Args;
use mpiscope_synth::{Disturbance, Pattern, Style};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SynthOptions {
    /// Communication pattern
    #[arg(long, value_name = "NAME")]
    pub(crate) pattern: Pattern,
    /// Number of ranks
    #[arg(long, value_name = "N")]
    pub(crate) ranks: u32,
    /// Run time of the undisturbed job, in seconds
    #[arg(long, value_name = "S")]
    pub(crate) seconds: f64,
    /// Calls per second of all ranks together
    #[arg(long, value_name = "CALLS_PER_SECOND")]
    pub(crate) rate: f64,
    /// Number of nodes [default: one per eight ranks]
    #[arg(long, value_name = "K")]
    pub(crate) nodes: Option<u32>,
    /// Disturbance; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) disturb: Vec<Disturbance>,
    /// How ranks wait for messages
    #[arg(long, value_name = "NAME", default_value = "waitall")]
    pub(crate) style: Style,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Simulate N agents, one per node, that bring the calls to a daemon over encrypted connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) agents: Option<u32>,
    /// Kill K of the agents halfway through the job
    #[arg(long, value_name = "K", requires = "agents", default_value_t = 0, hide_default_value = true)]
    pub(crate) kill_agents: u32,
    /// Let the agents have all calls from the start, instead of making them at the pace of the job
    #[arg(long, requires = "agents", conflicts_with = "kill_agents")]
    pub(crate) at_once: bool,
    /// Share the recording with the hosts of this file, as `mpiscope run` does
    #[arg(long, value_name = "FILE", requires = "agents", value_parser = hostfile)]
    pub(crate) hostfile: Option<Hostfile>,
    /// Folder for the recording
    #[arg(short, long, visible_alias = "out", value_name = "DIR", required_unless_present = "live")]
    pub(crate) output: Option<PathBuf>,
    /// Show the job on a page at this address, in real time
    #[arg(long, value_name = "ADDR")]
    pub(crate) live: Option<SocketAddr>,
}
