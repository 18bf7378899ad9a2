//! `mpiscope calibrate`: measures in place of the program, whatever language that is in, keeps what it measured, and the
//! recording that this comes from is as exact as any other.

use mpiscope_harness::{
    Ended, Family, LIMIT, Lab, LabOptions, Mpi, Placement, Recorded, Start, folder, mpiscope,
    others_take_cpus, report, run, skip,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Long enough for a busy machine to come to the end of the sizes.
const SECONDS: &str = "4";
const GREATEST_BYTES: u64 = 1 << 20;

/// `mpiscope calibrate` of words, into `criteria.json` and `recording` of a folder.
fn calibrate(folder: &Path, words: &[OsString]) -> Command {
    let mut command = mpiscope(&["calibrate", "--seconds", SECONDS, "-o"]).unwrap();
    command.arg(folder.join("criteria.json")).arg("--recording").arg(folder.join("recording"));
    command.arg("--").args(words);
    command
}

fn criteria(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("criteria.json")).unwrap()).unwrap()
}

/// Median and samples of each size.
fn sizes(criteria: &Value, scope: &str) -> BTreeMap<u64, (u64, u64)> {
    let messages = criteria["messages"].as_array().unwrap().iter();
    messages
        .filter(|one| one["scope"] == scope)
        .map(|one| {
            let number = |key: &str| one[key].as_u64().unwrap();
            (number("size"), (number("median_ns"), number("samples")))
        })
        .collect()
}

fn said_nothing_of_its_own(ended: &Ended, place: &str) {
    let output = ended.output();
    assert!(!output.contains("mpiscope-truth") && !output.contains("the program ran"), "{place}: {output}");
    assert!(output.contains("criteria in ") && output.lines().count() <= 31, "{place}: {output}");
}

/// What the recording holds fits together, and the file says what is in it.
fn assert_consistent(folder: &Path, ranks: u32, place: &str) -> Recorded {
    let out = folder.join("recording");
    let recorded = Recorded::load(&out).unwrap();
    let (totals, lost) = (recorded.manifest.totals, recorded.manifest.lost);
    assert_eq!(recorded.manifest.job.ranks, ranks, "{place}");
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}");
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}");
    assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new(), "{place}");
    assert_eq!(report(&out).unwrap()["job"]["exit"], 0, "{place}");
    let mut counts: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
    for call in &recorded.calls {
        *counts.entry(recorded.name(call)).or_default().entry(call.rank.0).or_default() += call.count;
    }
    let made = |name: &str| counts[name].values().sum::<u64>();
    assert_eq!((made("MPI_Send"), made("MPI_Recv")), (totals.messages, totals.messages), "{place}");
    for function in [
        "MPI_Barrier",
        "MPI_Bcast",
        "MPI_Reduce",
        "MPI_Allreduce",
        "MPI_Allgather",
        "MPI_Alltoall",
        "MPI_Finalize",
    ] {
        let by_rank = &counts[function];
        let first = by_rank[&0];
        assert!(
            by_rank.len() as u32 == ranks && by_rank.values().all(|&count| count == first),
            "{place}: {counts:?}"
        );
    }
    let states = recorded.ranks.iter().map(|info| info.state.word());
    assert!(states.clone().all(|state| state == "finalized"), "{place}: {:?}", states.collect::<Vec<_>>());
    let criteria = criteria(folder);
    for (scope, inter) in [("intra", false), ("inter", true)] {
        let mut exact: BTreeMap<u64, u64> = BTreeMap::new();
        for message in recorded.messages.iter().filter(|message| message.exact && message.inter == inter) {
            *exact.entry(message.bytes).or_default() += 1;
        }
        let listed =
            sizes(&criteria, scope).into_iter().map(|(size, (_, samples))| (size, samples)).collect();
        assert_eq!(exact, listed, "{place}");
    }
    recorded
}

/// Four ranks that poll on two CPUs wait for them half of the time in which they could run; longer than this only where other
/// programs have the CPUs.
const DISTURBED: f64 = 0.6;

fn is_disturbed(folder: &Path) -> bool {
    let report = report(&folder.join("recording")).unwrap();
    let waited = |rank: &Value| {
        let (run_s, wait_s) = (rank["run_s"].as_f64().unwrap(), rank["wait_s"].as_f64().unwrap());
        wait_s / (run_s + wait_s)
    };
    report["ranks"].as_array().unwrap().iter().any(|rank| waited(rank) > DISTURBED)
}

/// Fewer messages fit into the time where each of them waits for a CPU.
fn assert_measured(sizes: &BTreeMap<u64, (u64, u64)>, is_disturbed: bool, place: &str) {
    for size in [8, 64, 200, 512, 1 << 10, 64 << 10, GREATEST_BYTES] {
        let (median_ns, samples) = sizes.get(&size).copied().unwrap_or_default();
        let least = if size <= 8 << 10 { 30 } else { 1 };
        assert!(is_disturbed || samples >= least, "{place} {size}: {sizes:?}");
        assert_eq!(samples > 0, median_ns > 0, "{place} {size}: {sizes:?}");
    }
    assert!(is_disturbed || sizes[&GREATEST_BYTES].0 > sizes[&8].0, "{place}: {sizes:?}");
}

fn measured(mpi: &Mpi, ranks: u32, program: &Path, place: &str) {
    let folder = folder().unwrap();
    let mut command = calibrate(folder.path(), &mpi.words(ranks, program, &[]));
    mpi.prepare(&mut command).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    let place = format!("{place} on {ranks} ranks of {}: {}", mpi.family.word(), ended.errors());
    assert_eq!(ended.status, 0, "{place}");
    said_nothing_of_its_own(&ended, &place);
    assert_consistent(folder.path(), ranks, &place);
    let criteria = criteria(folder.path());
    assert_eq!(criteria["schema"], "mpiscope.criteria/1", "{place}");
    assert_eq!((&criteria["nodes"], &criteria["ranks_per_node"]), (&1.into(), &ranks.into()), "{place}");
    assert_measured(&sizes(&criteria, "intra"), is_disturbed(folder.path()), &place);
    assert!(sizes(&criteria, "inter").is_empty(), "{place}");
    for function in
        ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall"]
    {
        let of_it = |one: &&Value| one["function"] == function && one["ranks"] == ranks;
        let found = criteria["collectives"].as_array().unwrap().iter().find(of_it);
        assert!(found.is_some_and(|one| one["samples"].as_u64().unwrap() > 0), "{place}: {function}");
    }
}

fn measures(family: Family, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    measured(&mpi, 2, &mpi.app("halo3d").unwrap(), "halo3d");
    measured(&mpi, 4, &mpi.app("halo3d").unwrap(), "halo3d");
    measured(&mpi, 2, &mpi.app("late_init").unwrap(), "late_init");
}

#[test]
fn a_job_is_measured_and_not_run_under_openmpi() {
    measures(Family::OpenMpi, "calibrate a_job_is_measured_and_not_run_under_openmpi");
}

#[test]
fn a_job_is_measured_and_not_run_under_mpich() {
    measures(Family::Mpich, "calibrate a_job_is_measured_and_not_run_under_mpich");
}

#[test]
fn programs_in_fortran_are_not_run_either() {
    let test = "calibrate programs_in_fortran_are_not_run_either";
    for mpi in Mpi::all_or_skip(test) {
        for app in ["fortran_mpif", "fortran_f08"] {
            let name = format!("{test} ({app}, {})", mpi.family.word());
            let Some(program) = mpi.fortran_app_or_skip(app, &name).unwrap() else { continue };
            measured(&mpi, 2, &program, app);
        }
    }
}

#[test]
fn messages_between_hosts_are_measured_and_take_longer() {
    let test = "calibrate messages_between_hosts_are_measured_and_take_longer";
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(2), test).unwrap() else { return };
    for mpi in Mpi::sample_or_skip(test) {
        for placement in [Placement::Block, Placement::Cyclic] {
            let four = on_hosts(&lab, &mpi, 4, placement);
            // With four, both hosts measure within themselves at the same time, on the processors of one machine. Where
            // others use these as well, what is measured is the scheduler, and it is measured again.
            let is_longer = |_| {
                let three = on_hosts(&lab, &mpi, 3, placement);
                let (intra, inter) = (sizes(&three, "intra"), sizes(&three, "inter"));
                println!("{placement:?}: {inter:?} {intra:?}");
                [8, 64, 200, 512, 1 << 10].iter().all(|size| inter[size].0 > intra[size].0)
            };
            if !(0..ATTEMPTS).any(is_longer) {
                let reason = others_take_cpus();
                return skip(test, &reason.unwrap_or_else(|| panic!("{placement:?}: in no attempt")));
            }
            assert!(sizes(&four, "inter").values().all(|&(median_ns, _)| median_ns > 0), "{four}");
        }
    }
}

/// How often something is measured on a machine that others use as well.
const ATTEMPTS: u32 = 5;

/// The criteria of this number of ranks on two hosts.
fn on_hosts(lab: &Lab, mpi: &Mpi, ranks: u32, placement: Placement<'_>) -> Value {
    let folder = lab.shared().join(format!("{}-{placement:?}-{ranks}", mpi.family.word()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let mut words = lab.launcher(mpi, ranks, placement, Start::Agent, Some(2), None).unwrap();
    words.push(mpi.app("halo3d").unwrap().into());
    let product = calibrate(&folder, &words);
    let all: Vec<OsString> =
        std::iter::once(product.get_program()).chain(product.get_args()).map(OsString::from).collect();
    let mut command = lab.exec("node1", &all);
    mpi.prepare(&mut command).unwrap();
    let ended = run(command.current_dir(lab.shared()), LIMIT).unwrap();
    let place = format!("{ranks} by {placement:?} under {}: {}", mpi.family.word(), ended.errors());
    assert_eq!(ended.status, 0, "{place}");
    said_nothing_of_its_own(&ended, &place);
    println!("{place}\n{}", ended.output());
    assert_consistent(&folder, ranks, &place);
    let criteria = criteria(&folder);
    assert_eq!((&criteria["nodes"], &criteria["ranks_per_node"]), (&2.into(), &2.into()), "{place}");
    let (intra, inter) = (sizes(&criteria, "intra"), sizes(&criteria, "inter"));
    let is_disturbed = is_disturbed(&folder);
    assert_measured(&intra, is_disturbed, &place);
    assert!(is_disturbed || [8, 64, 200, 512].iter().all(|size| inter[size].1 >= 30), "{place}: {inter:?}");
    criteria
}

#[test]
fn the_file_is_found_where_the_user_has_settings() {
    let test = "calibrate the_file_is_found_where_the_user_has_settings";
    for mpi in Mpi::sample_or_skip(test) {
        let home = folder().unwrap();
        let mut command = mpiscope(&["calibrate", "--seconds", "1", "--"]).unwrap();
        command.args(mpi.words(2, &mpi.app("halo3d").unwrap(), &[]));
        command.env("XDG_CONFIG_HOME", home.path()).env("TMPDIR", home.path());
        mpi.prepare(&mut command).unwrap();
        let ended = run(&mut command, LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let files: Vec<_> = std::fs::read_dir(home.path().join("mpiscope/criteria")).unwrap().collect();
        let [Ok(file)] = files.as_slice() else { panic!("{files:?}") };
        assert!(file.file_name().to_str().unwrap().ends_with("-2-per-node.json"), "{file:?}");
        assert!(ended.output().contains(file.path().to_str().unwrap()), "{}", ended.output());
        let doctor = run(mpiscope(&["doctor"]).unwrap().env("XDG_CONFIG_HOME", home.path()), LIMIT).unwrap();
        assert!(doctor.output().contains(file.path().to_str().unwrap()), "{}", doctor.output());
        // The recording was temporary.
        let left = std::fs::read_dir(home.path()).unwrap().flatten();
        let left: Vec<_> =
            left.filter(|one| one.file_name().to_str().unwrap().contains("calibrate")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The lines that `mpiscope` says, and nothing is kept.
fn refused(words: &[OsString], mpi: Option<&Mpi>, status: i32) -> Ended {
    let folder = folder().unwrap();
    let mut command = calibrate(folder.path(), words);
    if let Some(mpi) = mpi {
        mpi.prepare(&mut command).unwrap();
    }
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, status, "{}", ended.errors());
    assert_eq!(ended.errors().matches("mpiscope: ").count(), 1, "{}", ended.errors());
    assert!(!folder.path().join("criteria.json").exists());
    ended
}

#[test]
fn one_sentence_names_what_cannot_be_measured() {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let ended = refused(&words(&["sh", "-c", "echo ran; exit 3"]), None, 3);
    assert!(ended.errors().contains("no MPI call was recorded"), "{}", ended.errors());
    assert_eq!(ended.output(), "ran\n");
    refused(&words(&["/does/not/exist"]), None, 127);
    for mpi in Mpi::sample_or_skip("calibrate one_sentence_names_what_cannot_be_measured") {
        let ended = refused(&mpi.words(1, &mpi.app("halo3d").unwrap(), &[]), Some(&mpi), 0);
        assert!(ended.errors().contains("one rank alone"), "{}", ended.errors());
        assert_eq!(ended.output(), "");
    }
}

#[test]
fn wrong_words_are_refused_in_one_line() {
    for words in [
        &["calibrate"][..],
        &["calibrate", "true"],
        &["calibrate", "--seconds", "0", "--", "true"],
        &["calibrate", "-o", "/does/not/exist/a.json", "--", "true"],
        &["calibrate", "--recording", "/", "--", "true"],
    ] {
        let ended = run(&mut mpiscope(words).unwrap(), LIMIT).unwrap();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{words:?}");
        assert_eq!(ended.errors().lines().count(), 1, "{words:?}: {}", ended.errors());
    }
}
