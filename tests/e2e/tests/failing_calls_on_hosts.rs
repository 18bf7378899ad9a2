//! System calls of agents on other hosts that fail, and those by which the daemon listens for agents.

use crate::support::failing::{Outcome, Outcomes, cases_of, outcome};
use crate::support::hosts::Job;
use mpiscope_harness::{
    Ended, FailedCall, FailingCall, LIMIT, Lab, LabOptions, Mpi, Placement, Start, Truth, all_of, run, skip,
};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The agent, which is two processes. The short check makes its first call of each kind fail.
const AGENT: &str = "agent";
const SAMPLE: u64 = 1;
/// An agent that has no way to the daemon tries again. How often it has none.
const FAILED_CONNECTS: [u64; 3] = [1, 2, 5];
/// What only a daemon of several hosts does.
const KINDS_OF_DAEMON: [&str; 3] = ["socket", "bind", "listen"];
const RANKS: u32 = 2;
/// What one run leaves on a host must not be another's.
const LABS: usize = 4;

/// One run with its files, which both hosts see.
struct Case<'a> {
    lab: &'a Lab,
    folder: PathBuf,
}

impl<'a> Case<'a> {
    fn new(lab: &'a Lab, call: &FailingCall) -> Self {
        let FailingCall { role, kind, number, times } = call;
        let folder = lab.shared().join(format!("{role}-{kind}-{number}-{times}"));
        std::fs::create_dir(&folder).unwrap();
        Self { lab, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn run(&self, mpi: &Mpi, call: &FailingCall) -> (Result<Ended, String>, FailedCall) {
        let log = self.path("log");
        let job = Job::new(mpi, "ring").failing(call, &log);
        let ended = run(&mut job.recorded(self.lab, RANKS, &self.path("recording")), LIMIT);
        (ended.map_err(|error| format!("{error:#}")), FailedCall::read(&log).unwrap())
    }

    /// Rings, spools and files of the agent on any host. All processes that the tracer saw have ended, for it has.
    fn left(&self) -> Vec<PathBuf> {
        let look = "ls -d /dev/shm/mpiscope-* /tmp/mpiscope-* 2> /dev/null | grep -v mpiscope-test-";
        let on_host = |host: String| {
            let left = run(&mut self.lab.exec(&host, &["sh", "-c", look]), LIMIT).unwrap().output();
            left.lines().map(|line| Path::new(&host).join(line.trim_start_matches('/'))).collect::<Vec<_>>()
        };
        self.lab.hosts().unwrap().into_iter().flat_map(on_host).collect()
    }

    fn outcome(&self, ended: &Ended, made: u64) -> Outcome {
        outcome((&self.path("recording"), &self.path("repaired")), ended, made, || self.left())
    }
}

#[test]
fn whatever_call_of_an_agent_fails_the_program_runs_and_calls_are_counted() {
    let test =
        "failing_calls_on_hosts whatever_call_of_an_agent_fails_the_program_runs_and_calls_are_counted";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    if !cfg!(target_arch = "x86_64") {
        return skip(test, "the tracer knows the registers of x86-64 alone");
    }
    let up = || Lab::up_or_skip(&LabOptions::hosts(2), test).unwrap();
    let Some(lab) = up() else { return };
    let program = mpi.app("ring").unwrap();
    let alone = run(&mut lab.plain(&mpi, RANKS, Placement::Cyclic, Start::Agent, &program).unwrap(), LIMIT);
    let made = Truth::parse(&alone.unwrap().stdout).unwrap().all_calls();
    let call = |role: &str, kind: &str, times| {
        let number = u64::from(times > 0);
        FailingCall { role: role.to_owned(), kind: kind.to_owned(), number, times }
    };
    let none = call(AGENT, "none", 0);
    let case = Case::new(&lab, &none);
    let (ended, mut found) = case.run(&mpi, &none);
    let ended = ended.unwrap();
    if ended.status == 98 {
        return skip(test, "processes cannot be traced here");
    }
    assert_eq!(case.outcome(&ended, made), Ok("recorded"), "where nothing fails");
    assert!(found.counts.remove("connect").is_some_and(|connects| connects > 0), "{found:?}");
    let mut cases = cases_of(AGENT, &found.counts, SAMPLE);
    cases.extend(FAILED_CONNECTS.map(|times| call(AGENT, "connect", times)));
    cases.extend(KINDS_OF_DAEMON.map(|kind| call("record", kind, 1)));
    let labs = Mutex::new(std::iter::once(lab).chain((1..LABS).filter_map(|_| up())).collect::<Vec<_>>());
    let outcomes = Outcomes::default();
    all_of(cases, |call| {
        let lab = labs.lock().unwrap().pop().expect("a lab for each that works at once");
        let case = Case::new(&lab, &call);
        let (ended, found) = case.run(&mpi, &call);
        outcomes.add(call, &found, ended.and_then(|ended| case.outcome(&ended, made)));
        // What a wrong one left would be found by the next.
        for host in lab.hosts().unwrap() {
            let clear = "rm -rf /dev/shm/mpiscope-[0-9]* /tmp/mpiscope-[0-9]*";
            run(&mut lab.exec(&host, &["sh", "-c", clear]), LIMIT).unwrap();
        }
        labs.lock().unwrap().push(lab);
    });
    outcomes.finish(made);
}
