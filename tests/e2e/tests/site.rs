//! Files of settings.

use mpiscope_harness::{LIMIT, Mpi, Recorded, Running, Truth, folder, mpiscope, record, run, until_log_has};
use std::path::Path;
use std::process::Command;

/// Without the settings that this machine may have of its own, as far as they are the user's.
fn alone(command: &mut Command, home: &Path) {
    command.env("XDG_CONFIG_HOME", home).env_remove("MPISCOPE_SITE");
}

#[test]
fn rings_are_where_the_site_wants_them() {
    for mpi in Mpi::sample_or_skip("site rings_are_where_the_site_wants_them") {
        let folder = folder().unwrap();
        let [rings, spool, out] = ["rings", "spool", "out"].map(|name| folder.path().join(name));
        std::fs::create_dir(&rings).unwrap();
        std::fs::create_dir(&spool).unwrap();
        let own = format!("[paths]\nrings = {rings:?}\nspool = \"/nowhere\"\n");
        std::fs::write(folder.path().join("mpiscope.toml"), own).unwrap();
        let named = folder.path().join("named.toml");
        let text = format!("[paths]\nspool = {spool:?}\n[limits]\nring_slots = 4096\n");
        std::fs::write(&named, text).unwrap();
        let program = mpi.app("linger").unwrap();
        let mut command = record(&mpi, 2, &program, &["1", "500"], &out).unwrap();
        alone(&mut command, folder.path());
        let running = Running::start(command.env("MPISCOPE_SITE", &named)).unwrap();
        until_log_has(&out, 10_000).unwrap();
        let files = |folder: &Path| std::fs::read_dir(folder).unwrap().flatten().collect::<Vec<_>>();
        let ours = files(&rings);
        assert_eq!((ours.len(), files(&spool).len()), (1, 1), "{ours:?}");
        let mut regions = files(&ours[0].path());
        regions.retain(|file| file.path().extension().is_some_and(|extension| extension == "ring"));
        let made: Vec<u64> = regions.iter().map(|file| file.metadata().unwrap().len()).collect();
        // 4,096 slots in the first ring and in each of seven others take less than the usual 65,536 and seven times 8,192.
        assert!(made.len() == 2 && made.iter().all(|bytes| *bytes < 2 << 20), "{made:?}");
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let truth = Truth::parse(&ended.stdout).unwrap();
        assert_eq!(Recorded::load(&out).unwrap().differences(&truth), Vec::<String>::new());
        assert_eq!((files(&rings).len(), files(&spool).len()), (0, 0));
    }
}

#[test]
fn the_error_about_a_wrong_file_is_one_line() {
    let folder = folder().unwrap();
    let wrong = folder.path().join("mpiscope.toml");
    std::fs::write(&wrong, "[agents]\nstrat = \"ranks\"\n").unwrap();
    let place = format!("{}, line 2, strat", wrong.display());
    // What the user names has to be right.
    for file in [&wrong, &folder.path().join("missing.toml")] {
        let mut command = mpiscope(&["run", "--no-dashboard", "--site"]).unwrap();
        command.arg(file).args(["--", "echo", "ran"]).current_dir(folder.path());
        alone(&mut command, Path::new("/nowhere"));
        let ended = run(&mut command, LIMIT).unwrap();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{}", ended.errors());
        assert_eq!(ended.errors().lines().count(), 1, "{}", ended.errors());
        assert!(ended.errors().contains(file.to_str().unwrap()), "{}", ended.errors());
    }
    // What is there anyway does not keep a program from running.
    let mut command = mpiscope(&["run", "--no-dashboard", "--", "echo", "ran"]).unwrap();
    alone(command.current_dir(folder.path()), folder.path());
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, "ran\n"), "{}", ended.errors());
    assert_eq!(ended.errors().lines().count(), 1, "{}", ended.errors());
    assert!(ended.errors().contains(&place), "{}", ended.errors());
}

#[test]
fn the_doctor_names_the_files() {
    let folder = folder().unwrap();
    let file = folder.path().join("mpiscope.toml");
    let doctor = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let mut command = mpiscope(&["doctor"]).unwrap();
        alone(&mut command, folder.path());
        run(&mut command, LIMIT).unwrap()
    };
    let output = doctor("[limits]\npatience_s = 5\n").output();
    let line = output.lines().find(|line| line.contains("settings files")).unwrap();
    assert!(line.contains(file.to_str().unwrap()) && line.contains("limits.patience_s = 5"), "{line}");
    let wrong = doctor("[limits]\npatience = 5\n");
    assert_eq!(wrong.status, 1);
    assert!(wrong.output().contains("line 2, patience: unknown field"), "{}", wrong.output());
}
