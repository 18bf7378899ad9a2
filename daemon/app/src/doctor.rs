//! `mpiscope doctor`: what works on this machine, and what to do about the rest.

use crate::run::{System, find_collector, left_over_rings, may_span_hosts};
use crate::site::{Paths, Site};
use anyhow::Result;
use mpiscope_model::words::{bytes, plural, printable};
use mpiscope_process::output::print;
use mpiscope_ring::clock;
use mpiscope_verdict::criteria_file::{CriteriaFile, folder};
use mpiscope_wire::ClockKind;
use std::path::Path;
use std::process::{Command, ExitCode};

/// One thing that was looked at.
enum Finding {
    Good(String),
    /// It works, but less well than it could.
    Note(String),
    Bad(String),
}

pub(crate) fn doctor() -> Result<ExitCode> {
    let (site, settings) = match Site::load(None) {
        Ok(site) => {
            let settings = settings(&site);
            (site, settings)
        }
        Err(error) => (Site::default(), Finding::Bad(format!("{error:#}"))),
    };
    let mut findings = vec![collector(), settings, shared_memory(&site.paths), processor_clock()];
    findings.extend(launchers());
    findings.push(left_overs(&site.paths.rings));
    findings.extend(criteria());
    let bad = findings.iter().filter(|finding| matches!(finding, Finding::Bad(_))).count();
    print(&text(&findings, bad))?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(findings: &[Finding], bad: usize) -> String {
    let line = |finding: &Finding| match finding {
        Finding::Good(text) => format!("  ok    {text}\n"),
        Finding::Note(text) => format!("  note  {text}\n"),
        Finding::Bad(text) => format!("  BAD   {text}\n"),
    };
    let lines: String = findings.iter().map(line).collect();
    let conclusion = match bad {
        0 => "MPI programs can be recorded here: mpiscope run -- mpirun -n 4 ./program".into(),
        1 => "One thing is in the way of recording.".into(),
        _ => format!("{bad} things are in the way of recording."),
    };
    format!("{lines}\n{conclusion}\n")
}

fn collector() -> Finding {
    match find_collector() {
        Ok(path) => Finding::Good(format!("the collector is {}", path.display())),
        Err(error) => Finding::Bad(format!("{error:#}")),
    }
}

fn settings(site: &Site) -> Finding {
    if site.files.is_empty() {
        return Finding::Good(
            "no settings file (/etc/mpiscope.toml or the user's own): all settings are the defaults".into(),
        );
    }
    let files: Vec<String> = site.files.iter().map(|file| file.display().to_string()).collect();
    let changes = site.changes();
    let changes = if changes.is_empty() { "nothing is changed".into() } else { changes.join(", ") };
    Finding::Good(format!("settings files: {}; {changes}", files.join(", ")))
}

/// What a rank's ring takes.
const RING_BYTES: u64 = 4 << 20;

fn shared_memory(paths: &Paths) -> Finding {
    let (rings, spool) = (paths.rings.display(), paths.spool.display());
    match rustix::fs::statvfs(&paths.rings) {
        Ok(stat) => {
            let free = stat.f_bavail * stat.f_frsize;
            let ranks = free / RING_BYTES;
            let text =
                format!("{} free in {rings}, enough for the rings of {}", bytes(free), plural(ranks, "rank"));
            if ranks >= 64 {
                Finding::Good(text)
            } else {
                Finding::Note(format!("{text}; further ranks use files in {spool}"))
            }
        }
        Err(error) => {
            Finding::Note(format!("{rings} cannot be used ({error}); rings will be files in {spool}"))
        }
    }
}

fn processor_clock() -> Finding {
    match clock::best() {
        ClockKind::TimeStampCounter => {
            Finding::Good("the processor's time-stamp counter is invariant: reading the clock costs little".into())
        }
        ClockKind::Monotonic => Finding::Note(
            "the processor's time-stamp counter cannot be trusted: the system's clock is used, which costs some 15 ns more a reading".into(),
        ),
    }
}

fn launchers() -> Vec<Finding> {
    let names = ["mpirun", "mpirun.openmpi", "mpiexec.mpich", "mpiexec", "srun"];
    let mut findings: Vec<Finding> = Vec::new();
    let mut known = Vec::new();
    for name in names {
        let Ok(output) = Command::new(name).arg("--version").output() else { continue };
        let version = version_of(&String::from_utf8_lossy(&output.stdout));
        // One that says nothing does not work here, as an srun without a cluster.
        if version.is_empty() || known.contains(&version) {
            continue;
        }
        let elsewhere = if may_span_hosts(&[name.into()], &System::default()) {
            "its ranks may run on other hosts than this one"
        } else {
            "its ranks run on this host unless you name others"
        };
        findings.push(Finding::Good(format!("{name}: {version}; {elsewhere}")));
        known.push(version);
    }
    if findings.is_empty() {
        findings.push(Finding::Note(
            "no mpirun, mpiexec or srun is on the PATH; a program that starts without one can still be recorded".into(),
        ));
    }
    findings
}

/// What a launcher says of itself, in a few words.
fn version_of(text: &str) -> String {
    let line = text.lines().find(|line| line.contains(|character: char| character.is_ascii_digit()));
    let line = line.unwrap_or_default();
    let number =
        line.split_whitespace().find(|word| word.starts_with(|character: char| character.is_ascii_digit()));
    let kin = [("Open MPI", "Open MPI"), ("OpenRTE", "Open MPI"), ("HYDRA", "MPICH"), ("slurm", "Slurm")];
    let name = kin.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| *name);
    match (name, number) {
        (Some(name), Some(number)) => format!("{name} {number}"),
        _ => printable(line).trim().to_owned(),
    }
}

fn left_overs(rings: &Path) -> Finding {
    let left = left_over_rings(rings);
    match left.as_slice() {
        [] => Finding::Good(format!("no rings of dead runs lie about in {}", rings.display())),
        folders => {
            let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            Finding::Note(format!(
                "rings of dead runs hold shared memory: when their recordings were read, rm -r {}",
                names.join(" ")
            ))
        }
    }
}

/// What `mpiscope calibrate` has left; nothing for a user who never called it.
fn criteria() -> Vec<Finding> {
    let files = folder(|name| std::env::var_os(name)).and_then(|folder| std::fs::read_dir(folder).ok());
    let mut paths: Vec<_> = files.into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let say = |path: &std::path::PathBuf| match CriteriaFile::read(path) {
        Ok(file) => Finding::Good(printable(&format!(
            "criteria for {} with {} a node: {}",
            file.mpi,
            plural(file.ranks_per_node.into(), "rank"),
            path.display()
        ))),
        Err(error) => Finding::Note(printable(&format!("{error:#}; mpiscope calibrate measures again"))),
    };
    paths.iter().map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn launchers_are_named() {
        assert_eq!(version_of("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to"), "Open MPI 4.1.4");
        assert_eq!(version_of("mpirun (Open MPI) 4.1.4\n"), "Open MPI 4.1.4");
        assert_eq!(version_of("HYDRA build details:\n    Version:      4.0.2\n"), "MPICH 4.0.2");
        assert_eq!(version_of("slurm-wlm 22.05.8"), "Slurm 22.05.8");
        assert_eq!(version_of("other 1"), "other 1");
    }
}
