//! A placement in the words of a launcher.

use super::placement::Placement;
use clap::ValueEnum;
use std::fmt::Write as _;
use std::path::Path;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Of Open MPI 4
    Rankfile,
    /// Of MPICH and its relatives
    Machinefile,
    /// Of Slurm: a host a line, for its arbitrary distribution
    Slurm,
}

impl Format {
    /// The file.
    pub(super) fn text(self, placement: &Placement<'_>) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = match self {
            Format::Rankfile => rankfile(placement, &mut out),
            Format::Machinefile => machinefile(placement, &mut out),
            Format::Slurm => placement.hosts().try_for_each(|host| writeln!(out, "{host}")),
        };
        out
    }

    /// What starts the job with it.
    pub(super) fn command(self, placement: &Placement<'_>, file: &Path) -> String {
        let (file, ranks) = (file.display(), placement.ranks());
        match self {
            Format::Rankfile => {
                format!("mpirun --rankfile {file} -n {ranks} PROGRAM   with the same hosts as now")
            }
            Format::Machinefile => format!("mpiexec -f {file} -n {ranks} PROGRAM"),
            Format::Slurm => {
                format!("SLURM_HOSTFILE={file} srun --distribution=arbitrary -n {ranks} PROGRAM")
            }
        }
    }
}

/// Slots are the cores of a host, which Open MPI counts from 0: the ranks of each in turn.
fn rankfile(placement: &Placement<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "# For Open MPI 4: mpirun --rankfile FILE (or -rf FILE), instead of --map-by and --bind-to."
    )?;
    writeln!(out, "# The number behind slot= is the core that the rank is bound to.")?;
    let mut next_slot = vec![0; placement.nodes()];
    for ((rank, host), &node) in placement.hosts().enumerate().zip(&placement.advice.node_of_rank) {
        let slot = &mut next_slot[node as usize];
        writeln!(out, "rank {rank}={host} slot={slot}")?;
        *slot += 1;
    }
    Ok(())
}

/// Ranks go to the lines in their order, as many to each as it says; a host may come again.
fn machinefile(placement: &Placement<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(out, "# For MPICH: mpiexec -f FILE -n {}.", placement.ranks())?;
    let mut hosts = placement.hosts().peekable();
    while let Some(host) = hosts.next() {
        let mut ranks = 1;
        while hosts.next_if_eq(&host).is_some() {
            ranks += 1;
        }
        writeln!(out, "{host}:{ranks}")?;
    }
    Ok(())
}
