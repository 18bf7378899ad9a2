//! System calls of mpiscope that fail, one after the other: the user's program runs as alone, nothing is left behind, and
//! what is missing of a recording is counted.

use crate::support::failing::{Outcome, Outcomes, cases_of, outcome};
use mpiscope_harness::{
    Ended, FailedCall, FailingCall, LIMIT, Mpi, Running, TempDir, Truth, all_of, folder, folder_in_memory,
    mpiscope, run, skip,
};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The command, the recorder with the agent of its host, the process that computes the verdict, and the job.
const ROLES: [&str; 4] = ["run", "record", "diagnose", "rank"];
/// The short check makes this many first calls of each kind fail in each role: they are the same in every run.
const SAMPLE: u64 = 2;

/// Where a case has its files.
struct Folders {
    own: TempDir,
    rings: TempDir,
}

impl Folders {
    fn new() -> Self {
        let (own, rings) = (folder().unwrap(), folder_in_memory().unwrap());
        std::fs::create_dir(own.path().join("spool")).unwrap();
        let spool = own.path().join("spool");
        let site = format!("[paths]\nrings = {:?}\nspool = {spool:?}\n", rings.path());
        std::fs::write(own.path().join("site.toml"), site).unwrap();
        Self { own, rings }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.own.path().join(name)
    }

    /// What lies where rings may be.
    fn rings_left(&self) -> Vec<PathBuf> {
        let places = [self.rings.path().to_path_buf(), self.path("spool")];
        let entries = places.iter().flat_map(|place| std::fs::read_dir(place).unwrap().flatten());
        entries.map(|entry| entry.path()).collect()
    }

    /// What lies beside the recording.
    fn others_left(&self) -> Vec<PathBuf> {
        let known =
            ["spool", "site.toml", "log", "recording", "repaired", "ompi"].map(|name| self.path(name));
        let entries = std::fs::read_dir(self.own.path()).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| !known.contains(path)).collect()
    }

    fn outcome(&self, ended: &Ended, made: u64) -> Outcome {
        let left = || self.rings_left().into_iter().chain(self.others_left()).collect();
        outcome((&self.path("recording"), &self.path("repaired")), ended, made, left)
    }

    fn command(&self, mpi: &Mpi) -> Command {
        let program = mpi.app("ring").unwrap();
        let mut command = mpiscope(&["run", "--site"]).unwrap();
        command.arg(self.path("site.toml")).arg("--out").arg(self.path("recording"));
        command.arg("--").args(mpi.words(2, &program, &[]));
        mpi.prepare(&mut command).unwrap();
        // Jobs that begin at once make the usual folder of Open MPI for each other, and some fail.
        std::fs::create_dir_all(self.path("ompi")).unwrap();
        command.env("OMPI_MCA_orte_tmpdir_base", self.path("ompi"));
        command
    }

    fn run(&self, mpi: &Mpi, call: &FailingCall) -> (Result<Ended, String>, FailedCall) {
        let log = self.path("log");
        let mut command = call.give_to(&self.command(mpi), &log).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ended = Running::start_as_it_is(&mut command, Vec::new()).unwrap().wait(LIMIT);
        (ended.map_err(|error| format!("{error:#}")), FailedCall::read(&log).unwrap())
    }
}

#[test]
fn whatever_call_fails_the_program_runs_and_calls_are_counted() {
    let test = "failing_calls whatever_call_fails_the_program_runs_and_calls_are_counted";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    if !cfg!(target_arch = "x86_64") {
        return skip(test, "the tracer knows the registers of x86-64 alone");
    }
    let made = {
        let folders = Folders::new();
        let program = mpi.app("ring").unwrap();
        let ended = run(&mut mpi.plain(2, &program, &[]).unwrap(), LIMIT).unwrap();
        assert!(folders.rings_left().is_empty());
        Truth::parse(&ended.stdout).unwrap().all_calls()
    };
    let mut cases = Vec::new();
    for role in ROLES {
        let folders = Folders::new();
        let none = FailingCall { role: role.to_owned(), kind: "none".to_owned(), number: 0, times: 1 };
        let (ended, found) = folders.run(&mpi, &none);
        let ended = ended.unwrap();
        if ended.status == 98 {
            return skip(test, "processes cannot be traced here");
        }
        assert_eq!(folders.outcome(&ended, made), Ok("recorded"), "{role}, where nothing fails");
        let of_role = cases_of(role, &found.counts, SAMPLE);
        assert!(!of_role.is_empty(), "no call of {role} was seen");
        cases.extend(of_role);
    }
    let outcomes = Outcomes::default();
    all_of(cases, |case| {
        let folders = Folders::new();
        let (ended, found) = folders.run(&mpi, &case);
        outcomes.add(case, &found, ended.and_then(|ended| folders.outcome(&ended, made)));
    });
    outcomes.finish(made);
}
