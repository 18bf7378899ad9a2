//! System calls of mpiscope that fail, one after the other: the user's program runs as alone, nothing is left behind, and
//! what is missing of a recording is counted.

use mpiscope_harness::{
    Ended, FailedCall, FailingCall, Mpi, Running, TempDir, Truth, all_of, check, folder, folder_in, full_run,
    mpiscope, repair, report, run, skip,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);
/// The command, the recorder with the agent of its host, the process that computes the verdict, and the job.
// words: allow an argument of the program
const ROLES: [&str; 4] = ["run", "record", "judge", "rank"];
/// The short check makes this many first calls of each kind fail in each role: they are the same in every run.
const SAMPLE: u64 = 2;

/// Where a case has its files.
struct Folders {
    own: TempDir,
    rings: TempDir,
}

impl Folders {
    fn new() -> Self {
        let (own, rings) = (folder().unwrap(), folder_in(Path::new("/dev/shm")).unwrap());
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

/// Calls in a recording, and those that are counted as lost.
fn counted(recording: &Path) -> (u64, u64) {
    let totals = &report(recording).unwrap()["totals"];
    let figure = |name: &str| totals[name].as_u64().unwrap();
    (figure("calls") + figure("polls"), figure("lost_calls"))
}

/// What became of a run in which a call failed; what must not be, is an error.
fn outcome(folders: &Folders, ended: &Ended, made: u64) -> Result<&'static str, String> {
    let wrong = |what: &str| Err(format!("{what}; status {}\n{}", ended.status, ended.errors()));
    let recording = folders.path("recording");
    if ended.errors().contains("panicked") {
        return wrong("a panic");
    }
    let is_not_started = ended.status == 126 && ended.errors().contains("cannot be run");
    if is_not_started && (recording.exists() || !ended.stdout.is_empty()) {
        return wrong("there is a recording of a command that did not start");
    }
    // What the user named cannot be used: said before anything runs.
    let named = [".toml: ", "cannot hold a recording"].iter().any(|what| ended.errors().contains(what));
    if ended.status == 2 && named && ended.errors().lines().count() == 1 && ended.stdout.is_empty() {
        return if recording.exists() { wrong("a folder is left") } else { Ok("refused") };
    }
    let calls = Truth::parse(&ended.stdout).map(|truth| truth.all_calls());
    let ran_as_alone = ended.status == 0 && calls.is_ok_and(|calls| calls == made);
    if !is_not_started && !ran_as_alone {
        return wrong("the program did not run as alone");
    }
    let mut what = if is_not_started { "not started" } else { "not recorded" };
    if recording.join("manifest.json").exists() {
        let (status, found) = check(&recording).unwrap();
        let (recorded, lost) = match status {
            0 => counted(&recording),
            1 => {
                let new = folders.path("repaired");
                let repaired = repair(&recording, &new).unwrap();
                if repaired.status != 0 || check(&new).unwrap().0 != 0 {
                    return wrong(&format!("not repaired: {} {found:#}", repaired.errors()));
                }
                counted(&new)
            }
            _ => return wrong("the recording cannot be read"),
        };
        if recorded + lost != made {
            return wrong(&format!("{recorded} recorded + {lost} lost, {made} made"));
        }
        what = match (status, lost) {
            (0, 0) => "recorded",
            (0, _) => "losses counted",
            (_, 0) => "repaired",
            _ => "repaired, losses counted",
        };
    } else if !is_not_started && !ended.errors().contains("without being recorded") {
        return wrong("no line reports a recording that is missing");
    } else if recording.exists() {
        return wrong("the folder of a recording that there is not is left");
    }
    let left: Vec<PathBuf> = folders.rings_left().into_iter().chain(folders.others_left()).collect();
    if !left.is_empty() {
        return wrong(&format!("{left:?} is left ({what})"));
    }
    Ok(what)
}

/// The cases of a role: in a full run each call of each kind, otherwise the first ones.
fn cases_of(role: &str, counts: &BTreeMap<String, u64>) -> Vec<FailingCall> {
    let numbers = |count: u64| 1..=if full_run() { count } else { count.min(SAMPLE) };
    let case = |kind: &String, number| FailingCall { role: role.to_owned(), kind: kind.clone(), number };
    counts.iter().flat_map(|(kind, &count)| numbers(count).map(move |number| case(kind, number))).collect()
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
        let none = FailingCall { role: role.to_owned(), kind: "none".to_owned(), number: 0 };
        let (ended, found) = folders.run(&mpi, &none);
        let ended = ended.unwrap();
        if ended.status == 98 {
            return skip(test, "processes cannot be traced here");
        }
        assert_eq!(outcome(&folders, &ended, made), Ok("recorded"), "{role}, where nothing fails");
        let of_role = cases_of(role, &found.counts);
        assert!(!of_role.is_empty(), "no call of {role} was seen");
        cases.extend(of_role);
    }
    let count = cases.len();
    let table: Mutex<BTreeMap<(String, String), BTreeMap<String, u64>>> = Mutex::default();
    let wrong = Mutex::new(Vec::new());
    all_of(cases, |case| {
        let folders = Folders::new();
        let (ended, found) = folders.run(&mpi, &case);
        let outcome = ended.and_then(|ended| outcome(&folders, &ended, made));
        let what = match (&found.about, outcome) {
            (None, Ok(_)) => "not made this time".to_owned(),
            (_, Ok(what)) => what.to_owned(),
            (about, Err(error)) => {
                let about = about.as_deref().unwrap_or("not made");
                wrong.lock().unwrap().push(format!("{case:?} ({about}): {error}"));
                "WRONG".to_owned()
            }
        };
        let mut table = table.lock().unwrap();
        *table.entry((case.role, case.kind)).or_default().entry(what).or_default() += 1;
    });
    println!("{count} calls failed, {made} calls of MPI made in each run");
    for ((role, kind), outcomes) in table.into_inner().unwrap() {
        println!("{role:8}{kind:10}{outcomes:?}");
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
