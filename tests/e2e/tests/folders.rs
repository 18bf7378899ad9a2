//! Where things lie, and who may read them.

use mpiscope_harness::{
    LIMIT, Mpi, Recorded, Running, Truth, folder, mpiscope, record, report, run, skip, until_log_has,
};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// All below a folder, itself included.
fn everything_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything_in(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn assert_private(folder: &Path) {
    for path in everything_in(folder) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}: {:o}", path.display(), mode(&path));
    }
}

/// Even when the user lets everybody read new files.
fn with_open_umask(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell
}

#[test]
fn recording_and_rings_are_the_user_s_alone_and_rings_go() {
    for mpi in Mpi::sample_or_skip("folders recording_and_rings_are_the_user_s_alone_and_rings_go") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let program = mpi.app("linger").unwrap();
        let command = record(&mpi, 2, &program, &["1.5", "500"], &out).unwrap();
        let running = Running::start(&mut with_open_umask(&command)).unwrap();
        until_log_has(&out, 20_000).unwrap();
        let live: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("live.json")).unwrap()).unwrap();
        let rings: Vec<PathBuf> =
            live["rings"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into()).collect();
        assert_eq!(rings.len(), 2, "{rings:?}");
        rings.iter().for_each(|folder| assert_private(folder));
        assert_private(&out);
        assert!(everything_in(&rings[0]).len() >= 3, "no ring is in {rings:?}");
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_private(&out);
        assert!(rings.iter().all(|folder| !folder.exists()), "rings are left in {rings:?}");
        assert!(!out.join("live.json").exists());
    }
}

#[test]
fn without_out_the_recording_gets_a_name_of_its_own() {
    let folder = folder().unwrap();
    for _ in 0..2 {
        let mut command = mpiscope(&["run", "--no-dashboard", "--", "/bin/true"]).unwrap();
        assert_eq!(run(command.current_dir(folder.path()), LIMIT).unwrap().status, 0);
    }
    let names: Vec<OsString> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        assert!(name.to_str().unwrap().starts_with("mpiscope-true-"), "{name:?}");
        assert_eq!(report(&folder.path().join(name)).unwrap()["job"]["exit"], 0);
    }
}

/// In a mount namespace of its own, where shared memory has no room for a ring.
#[test]
fn with_shared_memory_full_rings_are_files() {
    let test = "folders with_shared_memory_full_rings_are_files";
    let script = "mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm && exec \"$@\"";
    let unshare = |flags: &str, words: &[OsString]| {
        let mut command = Command::new("unshare");
        command.args([flags, "sh", "-c", script, "sh"]).args(words);
        command
    };
    // As root, or else as somebody who is root in a user namespace of their own.
    let works =
        |flags: &&str| run(&mut unshare(flags, &["true".into()]), LIMIT).is_ok_and(|ended| ended.status == 0);
    let Some(flags) = ["-m", "-rm"].into_iter().find(works) else {
        skip(test, "no right to mount a file system in a namespace of its own");
        return;
    };
    for mpi in Mpi::sample_or_skip(test) {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let command = record(&mpi, 4, &mpi.app("halo3d").unwrap(), &[], &out).unwrap();
        let words: Vec<OsString> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(std::ffi::OsStr::to_owned)
            .collect();
        let mut command = unshare(flags, &words);
        mpi.prepare(&mut command).unwrap();
        // The MPI libraries want shared memory for themselves as well.
        command.env("OMPI_MCA_btl", "self,tcp").env("OMPI_MCA_osc", "^sm").env("UCX_TLS", "tcp,self");
        command.env("MPIR_CVAR_NOLOCAL", "1");
        let ended = run(&mut command, LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}: {}", mpi.family.word(), ended.errors());
        assert!(!ended.errors().contains("without being recorded"), "{}", ended.errors());
        let truth = Truth::parse(&ended.stdout).unwrap();
        assert_eq!(Recorded::load(&out).unwrap().differences(&truth), Vec::<String>::new());
    }
}
