//! Programs that use the client libraries, in Rust, Python and JavaScript, against the built program.

use crate::support::turns::Turns;
use crate::support::{Feed, Page, block_on, run_with_page};
use mpiscope_client::{Client, Direction, Reply, Request, Subscribe, Topic};
use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, folder, mpiscope, processes, report, root, run, skip,
    target,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::time::timeout;

/// Messages and bytes by source and destination.
type Matrix = BTreeMap<(u32, u32), (u64, u64)>;

const RANKS: u32 = 16;

pub(crate) fn address(page: &Page) -> String {
    format!("http://{}/?token={}", page.address, page.token)
}

/// Waits until this number of programs is connected.
pub(crate) fn until_programs(page: &Page, count: u64) {
    let are_there = || {
        let answer = page.get("/health", &format!("Cookie: {}\r\n", page.cookie()));
        let health: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1)?).ok()?;
        (health["programs"] == count).then_some(())
    };
    processes::until(LIMIT, are_there).expect("the programs do not connect");
}

/// The page of a recording, until `end_replay`.
pub(crate) fn replay(recording: &Path) -> (Running, String) {
    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(recording)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    (running, address(&page))
}

pub(crate) fn end_replay(running: Running) {
    processes::signal(running.process(), Signal::INT);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

/// A recording of a simulated job of 16 ranks with slow messages.
pub(crate) fn simulated(folder: &Path) -> PathBuf {
    let out = folder.join("job.scope");
    // words: allow the name of a disturbance
    let mut command = mpiscope(&["synth", "--pattern", "halo2d", "--disturb", "background-traffic"]).unwrap();
    command.args(["--ranks", "16", "--rate", "20000", "--seconds", "1", "-o"]).arg(&out);
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    out
}

/// The matrix that a client in Rust gets until its subscription ends.
async fn matrix(address: &str, direction: Direction) -> Matrix {
    let mut client = Client::connect(address, "matrix").await.unwrap();
    let asked = Subscribe { direction, ..Subscribe::new(Topic::Messages, 1) };
    client.send(&Request::Subscribe(asked)).await.unwrap();
    let mut matrix = Matrix::new();
    loop {
        match timeout(LIMIT, client.next()).await.unwrap().unwrap().expect("mpiscope ended too early") {
            Reply::Batch(batch) => {
                let rows = batch.messages.unwrap();
                for row in 0..rows.source.len() {
                    let pair = matrix.entry((rows.source[row], rows.destination[row])).or_default();
                    *pair = (pair.0 + 1, pair.1 + rows.bytes[row] as u64);
                }
            }
            Reply::End(_) => break,
            Reply::Failed(failed) => panic!("{}", failed.text),
            _ => {}
        }
    }
    assert_eq!(client.welcome().ranks, RANKS);
    client.close().await.unwrap();
    matrix
}

/// The same from what an example prints.
fn parse(output: &str) -> Matrix {
    let pairs: Vec<(u32, u32, u64, u64)> = serde_json::from_str(output).unwrap();
    pairs.into_iter().map(|(from, to, messages, bytes)| ((from, to), (messages, bytes))).collect()
}

/// The Python that has the packages of `tests/e2e/readers.txt`.
pub(crate) fn python_or_skip(test: &str) -> Option<OsString> {
    let python = std::env::var_os("MPISCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let modules =
        "import IPython, ipykernel, matplotlib, msgpack, mypy, nbclient, numpy, pyarrow, pytest, websockets";
    if run(Command::new(&python).args(["-c", modules]), LIMIT).is_ok_and(|ended| ended.status == 0) {
        return Some(python);
    }
    skip(test, &format!("{} lacks packages of tests/e2e/readers.txt", python.to_string_lossy()));
    None
}

pub(crate) fn python_client(python: &OsString) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root().join("dashboard/clients/python")).env("PYTHONPATH", "src");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn succeeds(command: &mut Command) -> Ended {
    let ended = run(command, Duration::from_secs(300)).unwrap();
    assert_eq!(ended.status, 0, "{command:?}\n{}\n{}", ended.output(), ended.errors());
    ended
}

#[test]
fn the_tests_of_the_python_client_pass() {
    let Some(python) = python_or_skip("clients the_tests_of_the_python_client_pass") else { return };
    let folder = folder().unwrap();
    let mut tests = python_client(&python);
    tests
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp"])
        .arg(folder.path().join("pytest"));
    let output = succeeds(tests.env("IPYTHONDIR", folder.path()).env("MPLCONFIGDIR", folder.path())).output();
    assert!(output.contains(" passed") && !output.contains("skipped"), "{output}");
    let mut types = python_client(&python);
    succeeds(types.args(["-m", "mypy", "--cache-dir"]).arg(target().join("mypy")));
}

#[test]
fn the_matrix_of_a_live_run_and_of_its_replay_is_exact() {
    let test = "clients the_matrix_of_a_live_run_and_of_its_replay_is_exact";
    let Some(python) = python_or_skip(test) else { return };
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let (out, turns) = (folder.path().join("recording"), Turns::new(folder.path()));
    let running = run_with_page(&mpi, RANKS, "paced", &turns.arguments(), &out);
    let page = Page::open(&running, "mpiscope: live page");
    let live = address(&page);
    let mut script = python_client(&python);
    let program = Running::start(script.arg("examples/matrix.py").env("MPISCOPE_ADDRESS", &live)).unwrap();
    let from_rust = block_on(async {
        let watching = tokio::spawn(async move { matrix(&live, Direction::Forward).await });
        tokio::task::spawn_blocking(move || {
            until_programs(&page, 2);
            turns.wait_for(20);
            turns.end();
        })
        .await
        .unwrap();
        watching.await.unwrap()
    });
    let ended = program.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let from_python = parse(&ended.output());
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());

    let recorded: Matrix = Recorded::load(&out).unwrap().pairs();
    let totals = &report(&out).unwrap()["totals"];
    let sums = recorded.values().fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    assert_eq!((totals["messages"].as_u64(), totals["bytes"].as_u64()), (Some(sums.0), Some(sums.1)));
    assert!(recorded.len() >= RANKS as usize, "{recorded:?}");
    assert_eq!(from_rust, recorded);
    assert_eq!(from_python, recorded);

    let (running, address) = replay(&out);
    assert_eq!(block_on(matrix(&address, Direction::Backward)), recorded);
    let mut script = python_client(&python);
    let ended = succeeds(script.args(["examples/matrix.py", "backward"]).env("MPISCOPE_ADDRESS", &address));
    assert_eq!(parse(&ended.output()), recorded);
    end_replay(running);
}

/// How many messages took at least 1 ms, how many there are, and how many have a latency ratio above 4.
async fn figures(address: &str) -> (usize, usize, usize) {
    let mut client = Client::connect(address, "figures").await.unwrap();
    client.send(&Request::Subscribe(Subscribe::new(Topic::Messages, 1))).await.unwrap();
    let mut figures = (0, 0, 0);
    loop {
        match timeout(LIMIT, client.next()).await.unwrap().unwrap().unwrap() {
            Reply::Batch(batch) => {
                let rows = batch.messages.unwrap();
                figures.0 += rows.transfer_ns.iter().filter(|&&transfer_ns| transfer_ns >= 1e6).count();
                figures.1 += rows.source.len();
                figures.2 += rows.latency.iter().filter(|&&latency| latency > 4.0).count();
            }
            Reply::End(_) => return figures,
            _ => {}
        }
    }
}

/// Waits until there is this number of annotations.
async fn until_annotations(address: &str, count: usize) {
    let mut client = Client::connect(address, "reader").await.unwrap();
    let mut seen = 0;
    while seen < count {
        let reply =
            timeout(LIMIT, client.next()).await.unwrap_or_else(|_| panic!("{seen} of {count} annotations"));
        seen += usize::from(matches!(reply.unwrap(), Some(Reply::Annotation(_))));
    }
}

/// Waits until the view of an example is served for pages.
fn until_panel(example: &mut Command, address: &str) {
    let running = Running::start(example).unwrap();
    let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    let request = format!(
        "GET /panels/1 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let begun = std::time::Instant::now();
    let answer = loop {
        let mut stream = std::net::TcpStream::connect(host).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let answer = std::io::read_to_string(&mut stream).unwrap();
        if !answer.contains(" 404 ") {
            break answer;
        }
        assert!(begun.elapsed() < LIMIT, "there is no panel: {answer}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(answer.contains("sandbox allow-scripts") && answer.contains("id=\"matrix\""), "{answer}");
    drop(running);
}

/// Runs the example of two recordings, and adds up what it should print.
fn sums_of_two_runs_are_exact(a: &Path, b: &Path, example: &mut Command) {
    // words: allow the name of a disturbance
    let mut command = mpiscope(&["synth", "--pattern", "halo2d", "--disturb", "imbalance"]).unwrap();
    command.args(["--ranks", "16", "--rate", "20000", "--seconds", "1", "-o"]).arg(b);
    succeeds(&mut command);
    let mut command = mpiscope(&["compare", "--json", "--align", "turn"]).unwrap();
    let compared: Value = serde_json::from_str(&succeeds(command.arg(a).arg(b)).output()).unwrap();
    let sections = compared["alignment"]["sections"].as_array().unwrap();
    assert!(sections.len() > 10, "{compared}");
    let in_mpi_ms = |recording: &Path, begin: &str| {
        let mut sums = vec![0.0; sections.len() + 1];
        for call in Recorded::load(recording).unwrap().calls {
            let is_before = |section: &Value| section[begin].as_u64().unwrap() <= call.start_ns;
            sums[sections.partition_point(is_before)] += (call.end_ns - call.start_ns) as f64 / 1e6;
        }
        sums
    };
    let (a_ms, b_ms) = (in_mpi_ms(a, "a_from_ns"), in_mpi_ms(b, "b_from_ns"));

    let mut command = mpiscope(&["replay", "--align", "turn"]).unwrap();
    let running = Running::start(command.arg(a).arg("--with").arg(b)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let named = block_on(async { Feed::open(&page).await.state().await.job.unwrap().second });
    assert_eq!(Path::new(&named), b);
    let lines = succeeds(example.env("MPISCOPE_ADDRESS", address(&page))).output();
    end_replay(running);
    assert_eq!(lines.lines().count(), sections.len(), "{lines}");
    for (at, (line, section)) in lines.lines().zip(sections).enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, "A", a, "ms,", "B", b, "ms"] = words[..] else { panic!("{line}") };
        assert_eq!(section["number"], number.parse::<u64>().unwrap());
        for (found, expected) in [(a, a_ms[at + 1]), (b, b_ms[at + 1])] {
            assert!((found.parse::<f64>().unwrap() - expected).abs() < 0.002, "{line}, not {expected}");
        }
    }
}

/// Runs the five examples of a language; `example` makes the command of one.
fn examples_do_what_they_say(example: impl Fn(&str) -> Command) {
    let folder = folder().unwrap();
    let out = simulated(folder.path());
    let (running, address) = replay(&out);
    let (slow, all, high) = block_on(figures(&address));
    assert!(slow > 0 && all > slow && high > 0, "{slow} {all} {high}");
    let output = |name: &str| succeeds(example(name).env("MPISCOPE_ADDRESS", &address)).output();
    let lines = output("slow_messages");
    assert_eq!(lines.lines().filter(|line| line.contains(" took ")).count(), slow, "{lines}");
    let drawn = output("histogram");
    let last = drawn.rsplit("\x1b[J").next().unwrap();
    assert!(last.starts_with(&format!("{all} messages until ")), "{last}");
    output("annotate");
    block_on(until_annotations(&address, high));
    until_panel(example("own_view").env("MPISCOPE_ADDRESS", &address), &address);
    let ended = run(example("two_runs").env("MPISCOPE_ADDRESS", &address), LIMIT).unwrap();
    assert!(ended.status == 1 && ended.errors().contains("--with"), "{}", ended.errors());
    end_replay(running);
    sums_of_two_runs_are_exact(&out, &folder.path().join("other.scope"), &mut example("two_runs"));
    // Without an address, or with another token, there is one clear sentence.
    let (running, address) = replay(&out);
    let wrong = [("MPISCOPE_ADDRESS", "http://127.0.0.1/".to_owned()), ("MPISCOPE_ADDRESS", address + "0")];
    for ((name, value), reason) in wrong.into_iter().zip(["whole", "refused the token"]) {
        let ended = run(example("histogram").env(name, value), LIMIT).unwrap();
        assert!(ended.status == 1 && ended.errors().contains(reason), "{}", ended.errors());
    }
    end_replay(running);
}

#[test]
fn the_examples_in_rust_do_what_they_say() {
    let folder = target().join("release/examples");
    examples_do_what_they_say(|name| {
        let program = folder.join(name);
        assert!(program.is_file(), "{} is not there: tests/e2e/run builds it", program.display());
        Command::new(program)
    });
}

#[test]
fn the_examples_in_javascript_do_what_they_say() {
    let folder = root().join("dashboard/clients/javascript");
    if !folder.join("node_modules/ws").is_dir() {
        skip(
            "clients the_examples_in_javascript_do_what_they_say",
            "npm ci was not run for the JavaScript client",
        );
        return;
    }
    examples_do_what_they_say(|name| {
        let mut command = Command::new("node");
        command.arg(folder.join(format!("examples/{name}.mjs")));
        command
    });
}

#[test]
fn examples_are_short() {
    for (language, ending) in [("rust", "rs"), ("python", "py"), ("javascript", "mjs")] {
        for name in ["slow_messages", "histogram", "annotate", "own_view", "two_runs"] {
            let path = root().join(format!("dashboard/clients/{language}/examples/{name}.{ending}"));
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines < 30, "{} has {lines} lines", path.display());
        }
    }
}
