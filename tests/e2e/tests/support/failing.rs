//! System calls that fail, one in each run: what may become of the run, and the table of outcomes.

use mpiscope_harness::{Ended, FailedCall, FailingCall, Truth, check, full_run, repair, report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What became of a run, or what must not be.
pub(crate) type Outcome = Result<&'static str, String>;

/// Calls in a recording, and those that are counted as lost.
fn counted(recording: &Path) -> (u64, u64) {
    let totals = &report(recording).unwrap()["totals"];
    let figure = |name: &str| totals[name].as_u64().unwrap();
    (figure("calls") + figure("polls"), figure("lost_calls"))
}

/// What became of a run in which a call failed. `left` looks for files beside the recording, which is repaired into
/// `repaired` if it needs that.
pub(crate) fn outcome(
    (recording, repaired): (&Path, &Path),
    ended: &Ended,
    made: u64,
    left: impl Fn() -> Vec<PathBuf>,
) -> Outcome {
    let wrong = |what: &str| Err(format!("{what}; status {}\n{}", ended.status, ended.errors()));
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
        let (status, found) = check(recording).unwrap();
        let (recorded, lost) = match status {
            0 => counted(recording),
            1 => {
                let ended = repair(recording, repaired).unwrap();
                if ended.status != 0 || check(repaired).unwrap().0 != 0 {
                    return wrong(&format!("not repaired: {} {found:#}", ended.errors()));
                }
                counted(repaired)
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
    let left = left();
    if !left.is_empty() {
        return wrong(&format!("{left:?} is left ({what})"));
    }
    Ok(what)
}

/// The cases of a role: in a full run each call of each kind, otherwise the first ones.
pub(crate) fn cases_of(role: &str, counts: &BTreeMap<String, u64>, sample: u64) -> Vec<FailingCall> {
    let numbers = |count: u64| 1..=if full_run() { count } else { count.min(sample) };
    let case =
        |kind: &String, number| FailingCall { role: role.to_owned(), kind: kind.clone(), number, times: 1 };
    counts.iter().flat_map(|(kind, &count)| numbers(count).map(move |number| case(kind, number))).collect()
}

/// Outcomes by role and kind of call.
#[derive(Default)]
pub(crate) struct Outcomes(Mutex<Added>);

#[derive(Default)]
struct Added {
    table: BTreeMap<(String, String), BTreeMap<String, u64>>,
    wrong: Vec<String>,
}

impl Outcomes {
    pub(crate) fn add(&self, case: FailingCall, found: &FailedCall, outcome: Outcome) {
        let mut added = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let what = match (&found.about, outcome) {
            (None, Ok(_)) => "not made this time".to_owned(),
            (_, Ok(what)) => what.to_owned(),
            (about, Err(error)) => {
                let about = about.as_deref().unwrap_or("not made");
                added.wrong.push(format!("{case:?} ({about}): {error}"));
                "WRONG".to_owned()
            }
        };
        *added.table.entry((case.role, case.kind)).or_default().entry(what).or_default() += 1;
    }

    /// Prints the table.
    ///
    /// # Panics
    /// When an outcome must not be.
    pub(crate) fn finish(self, made: u64) {
        let Added { table, wrong } = self.0.into_inner().unwrap();
        let count: u64 = table.values().flat_map(BTreeMap::values).sum();
        println!("{count} calls failed, {made} calls of MPI made in each run");
        for ((role, kind), outcomes) in table {
            println!("{role:8}{kind:10}{outcomes:?}");
        }
        assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    }
}
