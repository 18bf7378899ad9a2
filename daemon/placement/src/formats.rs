//! A placement in the words of a launcher.

use crate::placement::Placement;
use mpiscope_feed::RemapFormat;
use std::fmt::Write as _;
use std::path::Path;

impl Placement<'_> {
    /// The file.
    #[must_use]
    pub fn text(&self, format: RemapFormat) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = match format {
            RemapFormat::Rankfile => rankfile(self, &mut out),
            RemapFormat::Machinefile => machinefile(self, &mut out),
            RemapFormat::Slurm => self.hosts().try_for_each(|host| writeln!(out, "{host}")),
        };
        out
    }

    /// What starts the job with it.
    #[must_use]
    pub fn command(&self, format: RemapFormat, file: &Path) -> String {
        let (file, ranks) = (file.display(), self.ranks());
        match format {
            RemapFormat::Rankfile => {
                format!("mpirun --rankfile {file} -n {ranks} PROGRAM   with the same hosts as now")
            }
            RemapFormat::Machinefile => format!("mpiexec -f {file} -n {ranks} PROGRAM"),
            RemapFormat::Slurm => {
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
        let slot = &mut next_slot[node.index()];
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
