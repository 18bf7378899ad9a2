//! Standard descriptors that are closed, full, or that nobody reads: the user's program starts, runs and ends as without
//! mpiscope, and no command panics.

use mpiscope_harness::{
    Broken, BrokenDescriptor, Ended, Family, LIMIT, Mpi, Recorded, Running, Signal, Truth, all_of, check,
    collector, folder, mpiscope, processes, report, run,
};
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

/// Tells in files what the program finds, and ends with a status of its own. Signals from 32 on are those of the C library.
/// Neither a pipe nor a file of the shell's own may take the place of a descriptor meanwhile: a child looks.
const PROGRAM: &str = "\
cd \"$0\" && : > started
for number in 0 1 2; do (readlink /proc/$$/fd/$number || echo closed) >> descriptors; done
ignored=$(grep SigIgn /proc/$$/status | tail -c 9)
echo $(cat descriptors) ignored $((0x$ignored & 0x7fffffff)) > found
exit 3";
const STATUS: i32 = 3;

fn start_and_wait(mut command: Command) -> Ended {
    Running::start_as_it_is(&mut command, Vec::new()).unwrap().wait(LIMIT).unwrap()
}

/// What the program found; pipes all look alike.
fn found_in(folder: &Path) -> String {
    assert!(folder.join("started").is_file(), "the program did not start");
    let found = std::fs::read_to_string(folder.join("found")).unwrap();
    found.split_whitespace().map(|word| if word.starts_with("pipe:") { "pipe " } else { word }).collect()
}

/// Runs the program alone and recorded, both changed by `change`. Gives what went wrong with the recorded one.
fn assert_as_alone(with_page: bool, place: &str, change: impl Fn(&Command) -> Command) -> Ended {
    let (alone_in, recorded_in, out) = (folder().unwrap(), folder().unwrap(), folder().unwrap());
    let mut alone = Command::new("sh");
    alone.args(["-c", PROGRAM]).arg(alone_in.path());
    let status = start_and_wait(change(&alone)).status;
    assert_eq!(status, STATUS, "{place}: alone");
    let mut recorded = mpiscope(&["run"]).unwrap();
    if !with_page {
        recorded.arg("--no-dashboard");
    }
    recorded.arg("--out").arg(out.path()).args(["--", "sh", "-c", PROGRAM]).arg(recorded_in.path());
    let ended = start_and_wait(change(&recorded));
    assert_eq!(ended.status, STATUS, "{place}: {}", ended.errors());
    assert!(!ended.errors().contains("panicked"), "{place}: {}", ended.errors());
    assert_eq!(found_in(recorded_in.path()), found_in(alone_in.path()), "{place}");
    if out.path().join("manifest.json").exists() {
        assert_eq!(check(out.path()).unwrap().0, 0, "{place}: {:#}", check(out.path()).unwrap().1);
        assert_eq!(report(out.path()).unwrap()["job"]["exit"], STATUS, "{place}");
    } else {
        assert!(ended.errors().contains("without being recorded"), "{place}: {}", ended.errors());
    }
    ended
}

#[test]
fn a_program_runs_as_alone_whatever_its_descriptors_are() {
    let cases = (0..3).flat_map(|number| Broken::ALL.map(|broken| (number, broken)));
    let cases = cases.flat_map(|(number, broken)| [false, true].map(|page| (number, broken, page)));
    all_of(cases, |(number, broken, with_page)| {
        let descriptor = BrokenDescriptor::new(number, broken).unwrap();
        let place = format!("descriptor {number}, {broken:?}, page: {with_page}");
        assert_as_alone(with_page, &place, |command| descriptor.give_to(command).unwrap());
    });
}

/// A command that a shell has prepared something for.
fn after(preparation: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{preparation}; exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

#[test]
fn a_program_runs_as_alone_after_what_a_shell_did() {
    let preparations = [
        "exec 0<&- 1>&- 2>&-",
        "exec 1>/dev/full 2>&1",
        // The disposition that Rust changes before main.
        "trap '' PIPE",
        "trap '' HUP INT QUIT",
        "trap - PIPE",
    ];
    let cases =
        preparations.into_iter().flat_map(|preparation| [false, true].map(|page| (preparation, page)));
    all_of(cases, |(preparation, with_page)| {
        assert_as_alone(with_page, preparation, |command| after(preparation, command));
    });
}

/// A write beyond the limit is a signal that ends a process, unless it is caught.
#[test]
fn a_program_runs_where_no_file_may_grow() {
    for blocks in [0, 1, 8] {
        let (folder, out) = (folder().unwrap(), folder().unwrap());
        let mut command = mpiscope(&["run", "--out"]).unwrap();
        let program = "cd \"$0\" && : > started; exit 3";
        command.arg(out.path()).args(["--", "sh", "-c", program]).arg(folder.path());
        let ended = run(&mut after(&format!("ulimit -f {blocks}"), &command), LIMIT).unwrap();
        assert_eq!(ended.status, STATUS, "{blocks}: {}", ended.errors());
        assert!(folder.path().join("started").is_file());
    }
}

/// Ranks under a launcher; nobody reads what mpiscope and the launcher say.
#[test]
fn ranks_are_recorded_whatever_stderr_is() {
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, "broken_output ranks_are_recorded") else { return };
    let program = mpi.app("forms").unwrap();
    for broken in [Broken::Closed, Broken::FullPipe] {
        let out = folder().unwrap();
        let mut command = mpiscope(&["run", "--out"]).unwrap();
        command.arg(out.path()).arg("--").args(mpi.words(2, &program, &[]));
        mpi.prepare(&mut command).unwrap();
        let descriptor = BrokenDescriptor::new(2, broken).unwrap();
        let ended = start_and_wait(descriptor.give_to(&command).unwrap());
        assert_eq!(ended.status, 0, "{broken:?}");
        let truth = Truth::parse(&ended.stdout).unwrap();
        let recorded = Recorded::load(out.path()).unwrap();
        assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{broken:?}");
        assert_eq!(check(out.path()).unwrap().0, 0, "{broken:?}");
    }
}

/// The collector has one line to say in a rank that it cannot record.
#[test]
fn a_rank_runs_on_whatever_its_stderr_is() {
    for mpi in Mpi::all_or_skip("broken_output a_rank_runs_on_whatever_its_stderr_is") {
        let mut rank = Command::new(mpi.app("types").unwrap());
        mpi.prepare(&mut rank).unwrap();
        rank.env("LD_PRELOAD", collector().unwrap());
        rank.env("MPISCOPE_RINGS", "/does/not/exist").env_remove("MPISCOPE_SPOOL");
        let stderr = run(&mut rank, LIMIT).unwrap().errors();
        assert!(stderr.contains("runs on without being recorded"), "{stderr}");
        for broken in Broken::ALL {
            let descriptor = BrokenDescriptor::new(2, broken).unwrap();
            let ended = start_and_wait(descriptor.give_to(&rank).unwrap());
            assert_eq!(ended.status, 0, "{broken:?} {}", mpi.family.word());
            Truth::parse(&ended.stdout).unwrap();
        }
    }
}

/// A command line of mpiscope, with `{}` for a folder of its own.
struct Case<'a> {
    words: Vec<&'a str>,
}

impl Case<'_> {
    fn command(&self, own: &Path) -> Command {
        let mut command = mpiscope(&[]).unwrap();
        command.args(self.words.iter().map(|word| word.replace("{}", own.to_str().unwrap())));
        // What is measured goes among the user's files otherwise, and pages are not opened.
        command.env("HOME", own).env_remove("XDG_CONFIG_HOME");
        command
    }

    fn run(&self, descriptor: Option<&BrokenDescriptor>) -> Ended {
        let own = folder().unwrap();
        let mut command = self.command(own.path());
        match descriptor {
            Some(descriptor) => start_and_wait(descriptor.give_to(&command).unwrap()),
            None => run(&mut command, LIMIT).unwrap(),
        }
    }

    fn assert_sound(&self) {
        let words = self.words.join(" ");
        let whole = self.run(None);
        assert!(!whole.errors().contains("panicked"), "{words}: {}", whole.errors());
        for broken in [Broken::NoOtherEnd, Broken::Closed] {
            for number in [1, 2] {
                let descriptor = BrokenDescriptor::new(number, broken).unwrap();
                let ended = self.run(Some(&descriptor));
                let place = format!("{words}, descriptor {number}, {broken:?}: {}", ended.errors());
                assert_eq!(ended.status, whole.status, "{place}");
                assert!(!ended.errors().contains("panicked"), "{place}");
                let is_quiet =
                    !ended.errors().contains("roken pipe") && !ended.errors().contains("cannot write");
                assert!(is_quiet, "{place}");
            }
        }
        let full = self.run(Some(&BrokenDescriptor::new(2, Broken::FullDevice).unwrap()));
        assert_eq!(full.status, whole.status, "{words}: stderr is full");
        let full = self.run(Some(&BrokenDescriptor::new(1, Broken::FullDevice).unwrap()));
        if whole.stdout.is_empty() {
            assert_eq!(full.status, whole.status, "{words}: {}", full.errors());
        } else {
            assert_eq!(full.status, 2, "{words}: {}", full.errors());
            let errors = full.errors();
            let about_it = errors.contains("cannot write to the standard output: No space left");
            assert!(about_it && errors.lines().count() == 1, "{words}: {errors}");
        }
    }
}

/// The commands that the help names.
fn commands() -> BTreeSet<String> {
    let help = run(&mut mpiscope(&["--help"]).unwrap(), LIMIT).unwrap().output();
    let lines = help.lines().take_while(|line| *line != "Options:");
    // Longer lines than the screen go on further to the right.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

const SYNTH: [&str; 9] = ["synth", "--pattern", "ring", "--ranks", "4", "--seconds", "0.2", "--rate", "4000"];
const TABLE: &str =
    "rank,type,timestamp_ns,source,destination,size\n0,send,1000,0,1,8\n1,receive,2000,0,1,8\n";

#[test]
fn no_command_minds_broken_descriptors() {
    let folder = folder().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (recording, live, table, edges) = (path("a"), path("live"), path("table.csv"), path("edges.csv"));
    std::fs::write(&table, TABLE).unwrap();
    std::fs::write(&edges, "a,b,weight\n0,1,5\n").unwrap();
    let layout = path("layout.txt");
    std::fs::write(&layout, "BEGIN_VIZ=line\nx=rank,y=2*rank,z=0\nEND_VIZ\n").unwrap();
    let mut synth = mpiscope(&SYNTH).unwrap();
    assert_eq!(run(synth.args(["-o", &recording]), LIMIT).unwrap().status, 0);
    let stop = path("stop");
    let script = format!("until [ -e '{stop}' ]; do sleep 0.02; done");
    let mut job = mpiscope(&["run", "--no-dashboard", "--out", &live, "--", "sh", "-c", &script]).unwrap();
    let job = Running::start(&mut job).unwrap();
    let is_recorded =
        || (run(&mut mpiscope(&["resume", &live]).unwrap(), LIMIT).unwrap().status == 0).then_some(());
    processes::until(LIMIT, is_recorded).unwrap();

    let (r, made) = (recording.as_str(), SYNTH);
    let mut cases: Vec<Vec<&str>> = vec![
        vec!["pause", &live],
        vec!["resume", &live],
        vec!["report", r],
        vec!["report", "--json", r],
        vec!["report", "--fail-above", "0", r],
        vec!["whatif", r],
        vec!["whatif", "--even-work", "--json", r],
        vec!["check", r],
        vec!["check", "--json", r],
        vec!["repair", r],
        vec!["compare", r, r],
        vec!["compare", "--json", r, r],
        vec!["remap", r, "--format", "rankfile"],
        vec!["remap", r, "--format", "slurm", "-o", "{}/hosts"],
        vec!["regions", r],
        vec!["regions", "--edges", &edges, "--json"],
        vec!["layout", "check", &layout],
        vec!["layout", "eval", &layout, "--ranks", "4"],
        vec!["import", &table, "-o", "{}/new"],
        vec!["export", r, "--format", "csv", "-o", "-"],
        vec!["export", r, "--format", "perfetto", "-o", "-"],
        vec!["export", r, "--format", "picl", "-o", "-"],
        vec!["export", r, "--format", "parquet", "-o", "{}/file"],
        vec!["doctor"],
        vec!["completions", "bash"],
        vec!["man", "{}/man"],
        vec!["agent"],
        vec!["calibrate", "--", "true"],
        vec!["run", "--out", r, "--", "true"],
        // Not for people, and with nothing on their input.
        vec!["record"],
        vec!["advise"],
        vec!["diagnose", "--print", r],
        vec![],
        vec!["--version"],
        vec!["help"],
        vec!["no-such-command"],
        vec!["report", "/does/not/exist"],
    ];
    cases.push(made.into_iter().chain(["-o", "{}/new"]).collect());
    let named: BTreeSet<String> =
        cases.iter().filter_map(|words| words.first()).map(|&word| word.to_owned()).collect();
    let commands = commands();
    let forgotten: Vec<&String> =
        commands.iter().filter(|name| !named.contains(*name) && *name != "replay").collect();
    assert!(
        forgotten.is_empty() && commands.contains("replay"),
        "without a case: {forgotten:?} of {commands:?}"
    );
    cases.extend(commands.iter().map(|name| vec![name.as_str(), "--help"]));

    all_of(cases, |words| Case { words }.assert_sound());
    std::fs::write(&stop, "").unwrap();
    let ended = job.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

/// Commands that serve a page say where on stderr, and serve it also when nobody reads that.
#[test]
fn pages_are_served_whatever_the_descriptors_are() {
    let folder = folder().unwrap();
    let recording = folder.path().join("a").to_str().unwrap().to_owned();
    let mut synth = mpiscope(&SYNTH).unwrap();
    assert_eq!(run(synth.args(["-o", &recording]), LIMIT).unwrap().status, 0);
    let long = ["synth", "--pattern", "ring", "--ranks", "4", "--seconds", "600", "--rate", "100", "--live"];
    let serving = [
        vec!["replay", &recording, "--listen"],
        vec!["compare", &recording, &recording, "--listen"],
        long.into(),
    ];
    let broken =
        [(1, Broken::NoOtherEnd), (2, Broken::NoOtherEnd), (2, Broken::Closed), (2, Broken::FullDevice)];
    let cases = serving.iter().flat_map(|words| broken.map(|broken| (words, broken)));
    all_of(cases, |(words, (number, broken))| {
        let place = format!("{words:?}, descriptor {number}, {broken:?}");
        // Free until somebody else takes it, which nobody does on a machine of tests.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = mpiscope(words).unwrap();
        command.arg(address.to_string());
        let descriptor = BrokenDescriptor::new(number, broken).unwrap();
        let running =
            Running::start_as_it_is(&mut descriptor.give_to(&command).unwrap(), Vec::new()).unwrap();
        // Where nobody listens yet, a connection may by chance be with itself.
        let is_other = |stream: &TcpStream| stream.local_addr().ok() != stream.peer_addr().ok();
        let answers = || TcpStream::connect(address).ok().filter(is_other).map(drop);
        processes::until(LIMIT, answers).unwrap_or_else(|| panic!("{place}: no page"));
        processes::signal(running.process(), Signal::TERM);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{place}: {}", ended.errors());
        assert!(!ended.errors().contains("panicked"), "{place}: {}", ended.errors());
    });
}
