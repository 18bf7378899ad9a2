//! Which launcher it is: by its name, and by what it says of itself.

use super::line::Line;
use super::surroundings::Surroundings;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Open MPI's `mpirun`, or the `prterun` that it is from version 5 on.
    OpenMpi,
    /// The launcher of MPICH and of those derived from it.
    Hydra,
    Slurm,
}

/// Names of launchers that several families use.
const NAMES: [&str; 4] = ["mpirun", "mpiexec", "orterun", "prterun"];

/// Whether a file's name is one of them, as it is or as it stands where several are installed: `mpirun.openmpi`,
/// `mpiexec.hydra`, `mpirun-mpich-mp`. Somebody's own `mpirun.sh` must not be asked for a version: it might run.
fn is_launcher(name: &str) -> bool {
    let (stem, behind) = name.split_at(name.find(['.', '-']).unwrap_or(name.len()));
    NAMES.contains(&stem)
        && (behind.is_empty() || ["mpi", "hydra"].iter().any(|kind| behind[1..].contains(kind)))
}

impl Family {
    /// The launcher of a line, and its place.
    pub(super) fn detect(line: &Line<'_, impl Surroundings>) -> Option<(usize, Self)> {
        // Nothing can be handed to a launcher whose environment is emptied.
        if line.emptied {
            return None;
        }
        let program = line.words.get(line.command)?;
        let name = Path::new(program).file_name()?.to_str()?;
        let family = if name == "srun" {
            Some(Self::Slurm)
        } else if is_launcher(name) {
            Self::says(&line.surroundings.version(program)?)
        } else {
            None
        };
        Some((line.command, family?))
    }

    fn says(version: &str) -> Option<Self> {
        let has = |marks: &[&str]| marks.iter().any(|mark| version.contains(mark));
        if has(&["Open MPI", "OpenRTE", "PRRTE"]) {
            Some(Self::OpenMpi)
        } else if has(&["HYDRA", "MPICH", "Intel(R) MPI"]) {
            Some(Self::Hydra)
        } else {
            None
        }
    }
}

/// Whether a text has a launcher's name in it, as a word of its own or at the end of a path.
pub(super) fn names_launcher(text: &str) -> bool {
    let words = text.split(|c: char| {
        c.is_whitespace() || matches!(c, '/' | ';' | '&' | '|' | '(' | ')' | '`' | '"' | '\'')
    });
    let mut names = words.map(|word| word.split('.').next().unwrap_or_default());
    names.any(|name| name == "srun" || NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_recognized_by_what_their_programs_print() {
        let versions = [
            ("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to", Some(Family::OpenMpi)),
            ("mpirun (Open MPI) 4.1.4\n", Some(Family::OpenMpi)),
            ("mpirun (Open MPI) 5.0.7\n", Some(Family::OpenMpi)),
            ("prterun (PRRTE) 3.0.8\n", Some(Family::OpenMpi)),
            ("HYDRA build details:\n    Version:      4.0.2\n", Some(Family::Hydra)),
            ("Intel(R) MPI Library for Linux* OS, Version 2021.9 Build", Some(Family::Hydra)),
            ("mpiexec for PBS, version 0.84", None),
            ("", None),
        ];
        for (text, family) in versions {
            assert_eq!(Family::says(text), family, "{text}");
        }
    }

    #[test]
    fn only_launchers_are_asked() {
        for name in ["mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.hydra", "mpirun-openmpi-mp", "prterun"] {
            assert!(is_launcher(name), "{name}");
        }
        for name in ["mpirun.sh", "mpirun_rsh", "mpirun-all", "my_mpirun", "mpiexecute", "sim", "mpirun."] {
            assert!(!is_launcher(name), "{name}");
        }
    }

    #[test]
    fn launchers_are_seen_in_scripts() {
        for text in ["exec mpirun -n 2 ./a", "/usr/bin/mpiexec.hydra -n 2 a", "a;srun b", "$(mpirun --x)"] {
            assert!(names_launcher(text), "{text}");
        }
        for text in ["", "mpirunner", "echo my_mpirun", "$MPIRUN -n 2"] {
            assert!(!names_launcher(text), "{text}");
        }
    }
}
