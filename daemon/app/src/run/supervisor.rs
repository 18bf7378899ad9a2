//! Keeps the daemon alive: started before the command, started again when it dies, told when the command is over.

use anyhow::{Context as _, Result, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use mpiscope_process::local_host::own_program;
use mpiscope_process::private::write_json;
use mpiscope_recorder::{Configuration, FromDaemon, Summary, ToDaemon};
use mpiscope_recording::Manifest;
use std::io::{BufRead, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// A daemon that dies so often has a fault that another start does not mend.
const MOST_STARTS: u32 = 4;
const REST: Duration = Duration::from_millis(200);

pub(crate) struct Supervisor {
    serving: Serving,
    end: Sender<Option<i32>>,
    thread: JoinHandle<Option<Summary>>,
}

/// Where the daemon is to be found.
#[derive(Debug, Clone)]
struct Serving {
    url: Option<String>,
    link: Option<SocketAddr>,
}

struct Daemon {
    process: Child,
    /// None once the daemon is on its own.
    orders: Option<ChildStdin>,
    answers: Receiver<FromDaemon>,
}

impl Supervisor {
    /// Starts the daemon and waits until it records.
    pub(crate) fn start(configuration: Configuration) -> Result<Self> {
        let (end, ended) = bounded(1);
        let (begun, taken) = bounded(1);
        // Before the daemon, which leaves a recording: a thread that cannot start leaves nothing.
        let thread = std::thread::Builder::new().name("supervisor".into()).spawn(move || {
            let (daemon, again): (Daemon, Configuration) = taken.recv().ok()?;
            supervise(daemon, &again, &ended)
        })?;
        let (daemon, serving) = begin(&configuration)?;
        // A daemon that has to be started again is found where the first was.
        let listen = serving.url.as_deref().and_then(address_of).or(configuration.listen);
        let mut again = Configuration { resume: true, listen, ..configuration };
        if let (Some(link), Some(address)) = (&mut again.link, serving.link) {
            link.addresses = vec![address];
        }
        let _ = begun.send((daemon, again));
        Ok(Self { serving, end, thread })
    }

    /// The page's address.
    pub(crate) fn url(&self) -> Option<&str> {
        self.serving.url.as_deref()
    }

    /// Where agents of other hosts are listened to.
    pub(crate) fn link(&self) -> Option<SocketAddr> {
        self.serving.link
    }

    /// The command is over: waits for the recording to be complete. `None` when it could not be.
    pub(crate) fn finish(self, exit: Option<i32>) -> Option<Summary> {
        // When the supervisor has given up, its thread has ended already.
        let _ = self.end.send(exit);
        self.thread.join().ok().flatten()
    }
}

fn address_of(url: &str) -> Option<std::net::SocketAddr> {
    url.strip_prefix("http://")?.split('/').next()?.parse().ok()
}

impl Daemon {
    fn start(configuration: &Configuration) -> Result<(Self, Serving)> {
        let mut process = Command::new(own_program()?)
            .arg("record")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: an interrupt from the terminal ends the command and not the recording.
            .process_group(0)
            .spawn()
            .context("start the recording daemon")?;
        let orders = process.stdin.take().context("speak to the recording daemon")?;
        let answers = process.stdout.take().context("listen to the recording daemon")?;
        let answers = listen(answers).inspect_err(|_| {
            let _ = process.kill().and_then(|()| process.wait());
        })?;
        let mut daemon = Self { process, orders: Some(orders), answers };
        let failure = match daemon.say(configuration).map(|()| daemon.answers.recv()) {
            Ok(Ok(FromDaemon::Ready { url, link })) => return Ok((daemon, Serving { url, link })),
            Ok(Ok(FromDaemon::Failed(why))) => anyhow!(why),
            Ok(_) => Died.into(),
            Err(error) => error.context("speak to the recording daemon"),
        };
        // Without orders it ends. What it leaves is known only then.
        daemon.orders = None;
        let _ = daemon.process.wait();
        Err(failure)
    }

    fn say(&mut self, message: &impl serde::Serialize) -> Result<()> {
        let orders = self.orders.as_mut().context("speak to the recording daemon")?;
        write_json(&mut *orders, message)?;
        Ok(orders.write_all(b"\n")?)
    }

    /// Stays with the daemon until it has an answer or dies, and tells it when the command is over. The pipe of orders
    /// stays open all the while: its end means that `run` is gone.
    fn attend(mut self, ended: &Receiver<Option<i32>>, exit: &mut Option<Option<i32>>) -> Option<FromDaemon> {
        // Once the daemon knows that the command ended, or nobody is left to say so, only its answer counts.
        let mut ended = if exit.is_none() { ended.clone() } else { never() };
        let answer = loop {
            select! {
                recv(self.answers) -> answer => break answer.ok(),
                recv(ended) -> told_exit => {
                    ended = never();
                    *exit = told_exit.ok();
                    if let Some(exit) = *exit {
                        self.orders = self.orders.take().and_then(|orders| end(orders, exit));
                    }
                }
            }
        };
        // A daemon that lives but cannot be heard any more learns by this that it is alone.
        drop(self.orders);
        let _ = self.process.wait();
        answer
    }
}

/// Hands out what a daemon says, until it is silent for good.
fn listen(answers: ChildStdout) -> Result<Receiver<FromDaemon>> {
    let (send, received) = bounded(1);
    let mut answers = BufReader::new(answers);
    let listen = move || {
        while let Some(answer) = hear(&mut answers)
            && send.send(answer).is_ok()
        {}
    };
    std::thread::Builder::new()
        .name("answers".into())
        .spawn(listen)
        .context("listen to the recording daemon")?;
    Ok(received)
}

fn hear(answers: &mut impl BufRead) -> Option<FromDaemon> {
    let mut line = String::new();
    answers.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Tells the daemon that the command is over, and gives the pipe back. If that fails twice the pipe is closed, which tells
/// a daemon that lives that it is alone: it completes the recording.
fn end(mut orders: ChildStdin, exit: Option<i32>) -> Option<ChildStdin> {
    let order = serde_json::to_string(&ToDaemon::End { exit }).ok()? + "\n";
    // So short a piece goes into a pipe as a whole or not at all.
    let mut attempts = (0..2).map(|_| orders.write_all(order.as_bytes()));
    attempts.any(|attempt| attempt.is_ok()).then_some(orders)
}

/// A daemon died before it recorded.
#[derive(Debug)]
struct Died;

impl std::fmt::Display for Died {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str("the recording daemon did not start")
    }
}

impl std::error::Error for Died {}

/// Starts the first daemon. One that dies before it records is followed by another, in the folder that it may have made.
fn begin(configuration: &Configuration) -> Result<(Daemon, Serving)> {
    let mut configuration = configuration.clone();
    for _ in 1..MOST_STARTS {
        match Daemon::start(&configuration) {
            Err(error) if error.is::<Died>() => {}
            outcome => return outcome,
        }
        configuration.resume = Manifest::read(&configuration.out).is_ok();
        if !configuration.resume {
            remove_beginning(&configuration.out);
        }
    }
    Daemon::start(&configuration)
}

/// Removes what a daemon left that died before it had written a manifest: folders with nothing in them, which is all that
/// can be removed so, and an unfinished file.
pub(super) fn remove_beginning(out: &Path) {
    for entry in std::fs::read_dir(out).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "unfinished") {
            let _ = std::fs::remove_file(&path);
        } else {
            let _ = std::fs::remove_dir(&path);
        }
    }
}

/// Starts a successor. One that dies before it records is followed by another.
fn restart(again: &Configuration, exit: Option<Option<i32>>) -> Option<Daemon> {
    for attempt in 1..=MOST_STARTS {
        std::thread::sleep(REST);
        match Daemon::start(again) {
            Ok((mut started, _)) => {
                say!("the recording daemon died and was started again");
                if let Some(exit) = exit {
                    started.orders = started.orders.and_then(|orders| end(orders, exit));
                }
                return Some(started);
            }
            Err(error) if attempt == MOST_STARTS => {
                say!("the recording daemon died and cannot be started again: {error:#}");
            }
            Err(_) => {}
        }
    }
    None
}

/// Stays until the recording is complete, over as many daemons as it takes.
fn supervise(mut daemon: Daemon, again: &Configuration, ended: &Receiver<Option<i32>>) -> Option<Summary> {
    let mut exit = None;
    for start in 1.. {
        match daemon.attend(ended, &mut exit) {
            Some(FromDaemon::Done(summary)) => return Some(*summary),
            Some(FromDaemon::Failed(why)) => {
                say!("{why}");
                return None;
            }
            Some(FromDaemon::Ready { .. }) | None => {}
        }
        if start == MOST_STARTS {
            break;
        }
        daemon = restart(again, exit)?;
    }
    say!("the recording daemon died {MOST_STARTS} times and is not started again");
    None
}
