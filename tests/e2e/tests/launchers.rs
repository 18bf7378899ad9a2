//! However a program is started, its ranks have the collector and what starts them has not.

use mpiscope_harness::{
    Ended, Family, LIMIT, Mpi, Recorded, Running, Truth, collector, folder, full_run, mpiscope, processes,
    report, run,
};
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const COLLECTOR: &str = "libmpiscope_shim.so";
const SECRET: &str = "of-nobody-s-business";

/// `mpiscope run` of a line whose words are parted by spaces: `L` stands for the launcher, `P` for the program.
fn recorded_line(mpi: &Mpi, line: &str, program: &Path, out: &Path) -> Command {
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    command.arg(out).arg("--");
    for word in line.split(' ') {
        match word {
            "L" => command.arg(&mpi.launcher),
            "P" => command.arg(program),
            _ => command.arg(word),
        };
    }
    mpi.prepare(&mut command).unwrap();
    command
}

/// What the family needs preloaded here, as a prefix of a list.
fn own_preload(mpi: &Mpi) -> String {
    let mut command = Command::new("true");
    mpi.prepare(&mut command).unwrap();
    let found = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD").and_then(|(_, value)| value);
    found.map(|value| format!("{}:", value.to_str().unwrap())).unwrap_or_default()
}

fn assert_exact(ended: &Ended, out: &Path, place: &str) {
    assert_eq!(ended.status, 0, "{place}: {}", ended.errors());
    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_eq!(Recorded::load(out).unwrap().differences(&truth), Vec::<String>::new(), "{place}");
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    path
}

/// Runs a command line whose program stays for a while, and looks at its processes meanwhile. Those of the program
/// have the collector, in this number of ranks, and those for which `may_have` holds may; all others do not.
fn look(mpi: &Mpi, line: &str, ranks: usize, may_have: impl Fn(&[String]) -> bool) {
    let place = format!("{} {line}", mpi.family.word());
    let folder = folder().unwrap();
    let program = mpi.app("linger").unwrap();
    let name = program.file_name().unwrap().to_str().unwrap();
    let out = folder.path().join("a");
    let words: Vec<&str> = line.split(' ').map(|word| if word == "P" { "P 3 200" } else { word }).collect();
    let mut command = recorded_line(mpi, &words.join(" "), &program, &out);
    let running = Running::start(command.env("MPISCOPE_TEST_SECRET", SECRET)).unwrap();
    let is_rank = |process: u32| {
        let words = processes::command_line(process);
        words.first().is_some_and(|word| Path::new(word).file_name().is_some_and(|file| file == name))
    };
    let all_begun = || {
        let begun = running.family().iter().filter(|&&process| is_rank(process)).count();
        (begun == ranks || !processes::is_running(running.process())).then_some(begun)
    };
    let begun = processes::until(LIMIT, all_begun);
    assert_eq!(begun, Some(ranks), "{place}: {}", running.errors_until_now());
    // Looked at while all ranks are there: how many others there are, or who has what it must not have.
    let look = || {
        let family = running.family();
        let mut others = 0;
        let mut wrong = Vec::new();
        for &process in &family {
            let words = processes::command_line(process);
            if words.is_empty() || may_have(&words) {
                continue;
            }
            let preload = processes::variable(process, "LD_PRELOAD").unwrap_or_default();
            let has = (preload.contains(COLLECTOR), processes::has_loaded(process, COLLECTOR));
            let rank = is_rank(process);
            others += usize::from(!rank);
            let has_rings = !rank || processes::variable(process, "MPISCOPE_RINGS").is_some();
            if has != (rank, rank) || !has_rings || words.iter().any(|word| word.contains(SECRET)) {
                wrong.push(format!("{words:?} has {preload:?}, {has:?}"));
            }
        }
        let ranks_there = family.iter().filter(|&&process| is_rank(process)).count();
        (ranks_there == ranks).then_some((others, wrong))
    };
    // What only lives for a moment at the beginning may be gone at the next look.
    let mut last = Vec::new();
    let others = processes::until(LIMIT, || match look() {
        Some((others, wrong)) if wrong.is_empty() => Some(others),
        Some((_, wrong)) => {
            last = wrong;
            None
        }
        None => (!processes::is_running(running.process())).then_some(0),
    })
    .unwrap_or_default();
    assert!(others > 0, "{place}: {last:?}");
    // `mpiscope run` and its daemon at least.
    assert!(others >= 2, "{place}: only {others} processes beside the ranks");
    assert_exact(&running.wait(LIMIT).unwrap(), &out, &place);
}

#[test]
fn launchers_and_helpers_stay_without_the_collector() {
    for mpi in Mpi::all_or_skip("launchers launchers_and_helpers_stay_without_the_collector") {
        let lines = match mpi.family {
            Family::OpenMpi => ["L -n 2 P", "L -x A=1 -n 2 P", "L --mca mca_base_env_list A=1 -n 2 P"],
            Family::Mpich => ["L -n 2 P", "L -genv A 1 -n 2 P", "L -genvnone -n 2 P"],
        };
        for line in &lines[if full_run() { 0 } else { 2 }..] {
            look(&mpi, line, 2, |_| false);
        }
        look(&mpi, "env A=1 nice -n 1 timeout 100 L -n 1 P : -n 1 P", 2, |_| false);
    }
}

#[test]
fn only_a_script_that_is_not_looked_through_hands_it_to_helpers() {
    for mpi in Mpi::all_or_skip("launchers only_a_script_that_is_not_looked_through_hands_it_to_helpers") {
        // What the script starts carries it, and does nothing with it.
        let helper = |words: &[String]| {
            let name = Path::new(&words[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
            ["sh", "bash", "mpirun", "mpiexec", "hydra_pmi_proxy", "orted"]
                .iter()
                .any(|known| name.starts_with(known))
        };
        let folder = folder().unwrap();
        let launcher = mpi.launcher.display();
        let text = format!("#!/bin/sh\nB=1 {launcher} -n 2 \"$@\"\n");
        let wrapper = script(folder.path(), "job.sh", &text);
        look(&mpi, &format!("{} P", wrapper.display()), 2, helper);
    }
}

#[test]
fn counts_are_exact_however_the_program_is_started() {
    for mpi in Mpi::all_or_skip("launchers counts_are_exact_however_the_program_is_started") {
        let folder = folder().unwrap();
        let wrapper = script(folder.path(), "wrapper.sh", "#!/bin/bash\necho rank: $A >&2\nexec \"$@\"\n");
        let nested = script(folder.path(), "nested.sh", "#!/bin/sh\nexec \"$@\"\n");
        let (wrapper, nested) = (wrapper.display(), nested.display());
        let mut lines = vec![
            "L -n 4 P".to_owned(),
            "L -n 1 P : -n 3 P".to_owned(),
            format!("L -n 4 {wrapper} P"),
            format!("L -n 4 bash {wrapper} P"),
            "env A=1 L -n 4 env B=1 P".to_owned(),
            "stdbuf -oL L -n 4 P".to_owned(),
            format!("{nested} L -n 4 P"),
        ];
        lines.extend(
            match mpi.family {
                Family::OpenMpi => [
                    "L -x A=1 -n 2 P : -n 2 P",
                    "L -n 2 P : -x A=1 -n 2 P",
                    "L --mca mca_base_env_list A=1;B=2 -n 4 P",
                    "env OMPI_MCA_mca_base_env_list=A=1 L -n 4 P",
                ],
                Family::Mpich => [
                    "L -genv A 1 -n 4 P",
                    "L -genv A=1 -genvlist PATH -n 4 P",
                    "L -n 2 -envnone P : -n 2 -envlist PATH P",
                    "L -n 4 -env A 1 P",
                ],
            }
            .map(str::to_owned),
        );
        let program = mpi.app("halo3d").unwrap();
        for (at, line) in lines.iter().enumerate() {
            let out = folder.path().join(at.to_string());
            let mut command = recorded_line(&mpi, line, &program, &out);
            let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
            let ended = run(&mut command, LIMIT).unwrap();
            let place = format!("{} {line}", mpi.family.word());
            assert_exact(&ended, &out, &place);
            // What was typed, whatever was run.
            let typed = words.iter().skip_while(|word| *word != "--").skip(1);
            let report = report(&out).unwrap();
            let command = report["job"]["command"].to_string();
            assert!(typed.into_iter().all(|word| command.contains(word)), "{place}: {command}");
            assert!(!command.contains(COLLECTOR), "{place}: {command}");
        }
    }
}

#[test]
fn what_the_user_says_for_the_ranks_still_reaches_them() {
    for mpi in Mpi::all_or_skip("launchers what_the_user_says_for_the_ranks_still_reaches_them") {
        let lines = match mpi.family {
            Family::OpenMpi => [
                "L -x A=1 -n 1 sh P",
                "L --mca mca_base_env_list A=1 -n 1 sh P",
                "env OMPI_MCA_mca_base_env_list=A=1 L -n 1 sh P",
            ],
            Family::Mpich => ["L -genv A 1 -n 1 sh P", "L -env A 1 -n 1 sh P", "env A=1 L -n 1 sh P"],
        };
        for line in lines {
            let folder = folder().unwrap();
            // Who has ended when Hydra passes on the end of standard input to it, sometimes ends Hydra by SIGPIPE.
            let set = folder.path().join("set");
            std::fs::write(&set, "cat >/dev/null; set\n").unwrap();
            let mut command = recorded_line(&mpi, line, &set, &folder.path().join("a"));
            let ended = run(&mut command, LIMIT).unwrap();
            let output = ended.output();
            let has = |name: &str| output.lines().any(|line| line.starts_with(name));
            assert_eq!(ended.status, 0, "{}", ended.errors());
            assert!(has("A='1'") || has("A=1"), "{} {line}: {output}", mpi.family.word());
            assert!(has("MPISCOPE_RINGS="), "{} {line}: {output}", mpi.family.word());
        }
    }
}

/// A library that does nothing, compiled now.
fn second_library(folder: &Path) -> PathBuf {
    let source = folder.join("second.c");
    std::fs::write(&source, "int second_library_is_here = 1;\n").unwrap();
    let library = folder.join("libsecond.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert_eq!(run(&mut compiler, LIMIT).unwrap().status, 0);
    library
}

#[test]
fn what_was_preloaded_stays_behind_the_collector() {
    for mpi in Mpi::all_or_skip("launchers what_was_preloaded_stays_behind_the_collector") {
        let folder = folder().unwrap();
        let library = second_library(folder.path());
        let list = format!("{}{}", own_preload(&mpi), library.display());
        let lines = match mpi.family {
            Family::OpenMpi => [
                format!("L -x LD_PRELOAD={list} -n 2 P"),
                format!("L --mca mca_base_env_list LD_PRELOAD={list} -n 2 P"),
            ],
            Family::Mpich => {
                [format!("L -genv LD_PRELOAD {list} -n 2 P"), format!("L -env LD_PRELOAD {list} -n 2 P")]
            }
        };
        let by_environment = ["L -n 2 P".to_owned(), format!("env LD_PRELOAD={list} L -n 2 P")];
        let show =
            script(folder.path(), "show.sh", "#!/bin/sh\necho \"list $LD_PRELOAD\" >&2\nexec \"$@\"\n");
        let program = mpi.app("ring").unwrap();
        for (at, line) in lines.iter().chain(&by_environment).enumerate() {
            let place = format!("{} {line}", mpi.family.word());
            let out = folder.path().join(at.to_string());
            let line = line.replace(" P", &format!(" {} P", show.display()));
            let mut command = recorded_line(&mpi, &line, &program, &out);
            if by_environment[0] == *lines.iter().chain(&by_environment).nth(at).unwrap() {
                command.env("LD_PRELOAD", &list);
            }
            let ended = run(&mut command, LIMIT).unwrap();
            let expected = format!("list {}:{list}", collector().unwrap().display());
            let errors = ended.errors();
            assert_eq!(errors.lines().filter(|line| **line == expected).count(), 2, "{place}: {errors}");
            assert_exact(&ended, &out, &place);
        }
    }
}

#[test]
fn a_path_that_would_split_a_list_does_no_harm() {
    let product = mpiscope(&[]).unwrap();
    for mpi in Mpi::all_or_skip("launchers a_path_that_would_split_a_list_does_no_harm") {
        let folder = folder().unwrap();
        let odd = folder.path().join("a b:c;d,e=f");
        std::fs::create_dir(&odd).unwrap();
        std::fs::copy(product.get_program(), odd.join("mpiscope")).unwrap();
        std::fs::copy(collector().unwrap(), odd.join(COLLECTOR)).unwrap();
        symlink(mpi.app("ring").unwrap(), odd.join("program")).unwrap();
        let out = folder.path().join("out");
        let mut command = Command::new(odd.join("mpiscope"));
        command.args(["run", "--no-dashboard", "--out"]).arg(&out).arg("--");
        command.args(mpi.words(3, &odd.join("program"), &[]));
        mpi.prepare(&mut command).unwrap();
        assert_exact(&run(&mut command, LIMIT).unwrap(), &out, mpi.family.word());
    }
}
