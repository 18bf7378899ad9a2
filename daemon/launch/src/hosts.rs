//! Whether ranks may run on other hosts than this one.

use super::family::{Family, names_launcher};
use super::line::Line;
use super::open_mpi;
use super::surroundings::Surroundings;
use std::path::Path;

/// Options of launchers that name hosts, or files that do, or launchers that are elsewhere.
const OPTIONS: [&str; 24] = [
    "H",
    "host",
    "hosts",
    "hostfile",
    "machinefile",
    "machine",
    "default-hostfile",
    "rf",
    "rankfile",
    "configfile",
    "app",
    "am",
    "tune",
    "dvm",
    "dvm-uri",
    "hnp",
    "ompi-server",
    "rmk",
    "f",
    "hostlist",
    "launch-agent",
    "bootstrap",
    "launcher",
    "gmca",
];

/// Variables that name hosts for a launcher, or that a scheduler sets whose form is not looked into here.
const VARIABLES: [&str; 18] = [
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_rmaps_rank_file_path",
    "PRTE_MCA_prte_default_hostfile",
    "PRTE_MCA_hostfile",
    "HYDRA_HOST_FILE",
    "HYDRA_RMK",
    "HYDRA_LAUNCHER",
    "I_MPI_HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOSTS",
    "LSB_HOSTS",
    "LSB_MCPU_HOSTS",
    "LSB_DJOB_HOSTFILE",
    "PE_HOSTFILE",
    "FLUX_URI",
    "FLUX_JOB_ID",
    "COBALT_NODEFILE",
    "COBALT_PARTNAME",
    "OAR_NODEFILE",
];

/// Parameters of Open MPI that choose where it starts processes, as their names begin.
const PARAMETERS: [&str; 7] = [
    "plm",
    "ras",
    "orte_default_hostfile",
    "prte_default_hostfile",
    "hostfile",
    "rmaps_rank_file",
    "rmaps_seq",
];

/// `false` only where the job is certain to stay on this host.
pub(super) fn may_span_hosts(line: &Line<'_, impl Surroundings>) -> bool {
    let launcher = Family::detect(line);
    if scheduler_gives_others(line) {
        return true;
    }
    // Without one in sight, what is run may still call one; but not many compiled drivers know a list of hosts.
    if launcher.is_none() && !names_launcher(&line.text()) {
        return false;
    }
    if VARIABLES.iter().any(|name| line.variable(name).is_some()) {
        return true;
    }
    match launcher {
        // A script may say hosts in any way; a launcher that is not understood, too.
        None => true,
        // One that runs elsewhere than in the job's only node starts its tasks there.
        Some((_, Family::Slurm)) => line.variable("SLURM_JOB_ID").is_none(),
        Some((at, Family::Hydra)) => names_hosts(line, at),
        Some((at, Family::OpenMpi)) => names_hosts(line, at) || configured(line, at),
    }
}

fn scheduler_gives_others(line: &Line<'_, impl Surroundings>) -> bool {
    if line.variable("SLURM_JOB_ID").is_some() {
        let nodes = line.variable("SLURM_JOB_NUM_NODES").or_else(|| line.variable("SLURM_NNODES"));
        // Without the name of a node this is not one of the job's: the shell of an salloc.
        if nodes.is_none_or(|nodes| nodes != "1") || line.variable("SLURMD_NODENAME").is_none() {
            return true;
        }
    }
    let Some(file) = line.variable("PBS_NODEFILE") else { return false };
    let Some(text) = line.surroundings.read(Path::new(&file)) else { return true };
    let mut nodes: Vec<&str> = text.lines().map(str::trim).filter(|node| !node.is_empty()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len() != 1
}

/// Looks at the whole line, also at the program's own words: a wrong yes is better than a wrong no.
fn names_hosts(line: &Line<'_, impl Surroundings>, at: usize) -> bool {
    let words: Vec<&str> =
        line.words[at + 1..].iter().map(|word| word.to_str().unwrap_or_default()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { return false };
        let (name, joined) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let value = joined.or_else(|| words.get(at + 1).copied()).unwrap_or_default();
        match name {
            "H" | "host" | "hosts" => !value.split(',').all(is_this_host),
            "mca" | "prtemca" => PARAMETERS.iter().any(|parameter| value.starts_with(parameter)),
            _ => OPTIONS.contains(&name),
        }
    })
}

/// The entry of a list of hosts, with or without a number of slots.
fn is_this_host(entry: &str) -> bool {
    matches!(entry.split(':').next(), Some("localhost" | "127.0.0.1"))
}

/// Whether Open MPI's own files name hosts.
fn configured(line: &Line<'_, impl Surroundings>, at: usize) -> bool {
    let says = |text: &str, is: &dyn Fn(&str) -> bool| {
        text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#') && is(line))
    };
    let read = |file: &std::path::PathBuf| line.surroundings.read(file);
    let hosts = open_mpi::installed(line, at, "openmpi-default-hostfile");
    let chooses = |line: &str| PARAMETERS.iter().any(|parameter| line.starts_with(parameter));
    hosts.iter().filter_map(read).any(|text| says(&text, &|_| true))
        || open_mpi::parameter_files(line, at).iter().filter_map(read).any(|text| says(&text, &chooses))
        || ["OMPI_MCA_plm", "OMPI_MCA_ras", "PRTE_MCA_plm", "PRTE_MCA_ras"]
            .iter()
            .any(|name| line.variable(name).is_some())
}
