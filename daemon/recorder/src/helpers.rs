//! The processes on other hosts that share recording or live analysis: how they are started, and what becomes of them.

use crate::hosts::{AnalysisHost, AnalysisHosts, Notices};
use crate::member::{Invitation, VERSION, say_to};
use crate::names::listed;
use crate::task::Task;
use anyhow::{Context as _, Result, bail};
use mpiscope_flow::Cluster;
use mpiscope_link::{LinkError, Mesh, Secret};
use mpiscope_process::local_host::own_program;
use mpiscope_verdict::Helpers;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long all of them may take to come, and one for its way once it runs: it says then what is wrong.
const PATIENCE: Duration = Duration::from_secs(25);
const OWN_PATIENCE: Duration = Duration::from_secs(12);
/// How often the process of a host may be lost.
const MOST_LOSSES: u32 = 2;
/// A process that is not needed any more has so long to end.
const ENDING: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Likewise for its last complaints to be read, and how many bytes of them are.
const COMPLAINING: Duration = Duration::from_millis(500);
const MOST_COMPLAINTS: u64 = 1 << 20;

struct Host {
    of: AnalysisHost,
    losses: u32,
}

/// A process that was started.
struct Started {
    child: Child,
    /// Reads its complaints; returns the last line of them.
    complaints: Option<JoinHandle<String>>,
}

/// The processes of all hosts that are left.
pub(crate) struct OnHosts {
    task: Task,
    hosts: Vec<Host>,
    how: AnalysisHosts,
    notices: Notices,
    /// Those that are needed now, in the order of their numbers.
    started: Vec<Started>,
    mesh: Option<Mesh>,
    /// What those that were started last know.
    secret: Option<Secret>,
    /// Whose shares were announced last.
    announced: Vec<String>,
}

/// Why nobody, or not all, came.
enum Failure {
    /// The processes at these places have ended, for these reasons.
    Ended(Vec<(usize, String)>),
    Other(anyhow::Error),
}

impl OnHosts {
    pub(crate) fn new(task: Task, how: &AnalysisHosts, notices: Notices) -> Self {
        let hosts = how.hosts.iter().map(|of| Host { of: of.clone(), losses: 0 });
        Self {
            task,
            hosts: hosts.collect(),
            how: how.clone(),
            notices,
            started: Vec::new(),
            mesh: None,
            secret: None,
            announced: Vec::new(),
        }
    }

    /// Those that are left.
    pub(crate) fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.of.name.clone()).collect()
    }

    /// What those that were started last know.
    pub(crate) fn secret(&self) -> Option<Secret> {
        self.secret.clone()
    }

    /// Says who has a share, where that is news.
    fn say_who(&mut self) {
        let names = self.names();
        if self.announced != names {
            say!("the {} is shared with {}", self.task.name(), listed(&names));
            self.announced = names;
        }
    }

    /// Ends those that were needed before.
    fn end(&mut self) {
        self.mesh = None;
        let until = Instant::now() + ENDING;
        for Started { child, .. } in &mut self.started {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(LOOK_EVERY);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        self.started.clear();
    }

    /// Whether some may still be tried.
    pub(crate) fn are_left(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The one of this number is gone, for this reason if its process does not say why.
    pub(crate) fn lost_for(&mut self, number: usize, known: Option<&str>) {
        let Some(place) = number.checked_sub(1).filter(|place| *place < self.hosts.len()) else { return };
        // Whoever comes next is news.
        self.announced.clear();
        let why = self.started.get_mut(place).and_then(Started::why_ended);
        let why = why.or_else(|| known.map(str::to_owned));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let host = &mut self.hosts[place];
        host.losses += 1;
        let name = &host.of.name;
        let further = if host.losses < MOST_LOSSES { "it is started again" } else { "it gets none any more" };
        let task = self.task.name();
        self.notices.add(format!(
            "the process on {name} that shares the {task} is gone{why}; {further}, and what it knew is read from the log"
        ));
        if host.losses >= MOST_LOSSES {
            // Its place has to stay until all are ended.
            self.end();
            self.hosts.remove(place);
        }
    }

    /// One attempt with all hosts that are left.
    fn attempt(&mut self, share: &[u8], goes_on: &dyn Fn() -> bool) -> Result<Mesh, Failure> {
        let secret = Secret::draw().map_err(|error| Failure::Other(error.into()))?;
        let (meeting, certificate) = self.how.open(&secret, self.hosts.len()).map_err(Failure::Other)?;
        let addresses = self.how.addresses(&meeting);
        self.secret = Some(secret.clone());
        for (place, host) in self.hosts.iter().enumerate() {
            let invitation = Invitation {
                addresses: addresses.clone(),
                secret: secret.to_text(),
                certificate: certificate.as_ref().map(|certificate| certificate.public().to_owned()),
                number: place + 1,
                version: VERSION.to_owned(),
                patience: OWN_PATIENCE,
            };
            match start(&host.of, (&self.how.shell, self.task), &invitation) {
                Ok(started) => self.started.push(started),
                Err(error) => return Err(Failure::Ended(vec![(place, format!("{error:#}"))])),
            }
        }
        let ended = Mutex::new(Vec::new());
        let started = Mutex::new(&mut self.started);
        let all_live = || {
            let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
            let gone =
                started.iter_mut().enumerate().filter_map(|(place, of)| Some((place, of.why_ended()?)));
            let gone: Vec<(usize, String)> = gone.collect();
            let all_live = gone.is_empty();
            ended.lock().unwrap_or_else(PoisonError::into_inner).extend(gone);
            all_live
        };
        let met = meeting.hold(share, PATIENCE, &|| goes_on() && all_live());
        let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        match met {
            Ok(mesh) => Ok(mesh),
            Err(_) if !ended.is_empty() => Err(Failure::Ended(ended)),
            Err(LinkError::Missing { why, numbers }) => {
                let mut why_of = |number: usize| {
                    let own = self.started.get_mut(number - 1).and_then(Started::why_ended);
                    own.unwrap_or_else(|| why.clone())
                };
                Err(Failure::Ended(numbers.into_iter().map(|number| (number - 1, why_of(number))).collect()))
            }
            Err(error) => Err(Failure::Other(error.into())),
        }
    }
}

impl Helpers for OnHosts {
    fn gather(&mut self, share: &[u8], goes_on: &dyn Fn() -> bool) -> Option<Cluster> {
        self.end();
        while !self.hosts.is_empty() {
            match self.attempt(share, goes_on) {
                Ok(mut mesh) => {
                    let (number, peers) = (mesh.number, std::mem::take(&mut mesh.peers));
                    self.mesh = Some(mesh);
                    self.say_who();
                    return Some(Cluster { number, peers });
                }
                Err(_) if !goes_on() => break,
                Err(Failure::Ended(ended)) => {
                    for (place, why) in ended.into_iter().rev() {
                        let name = self.hosts.remove(place).of.name;
                        let task = self.task.name();
                        self.notices.add(format!("{name} has no share of the {task}: {why}"));
                    }
                }
                Err(Failure::Other(error)) => {
                    let task = self.task.name();
                    self.notices.add(format!("other hosts have no share of the {task}: {error:#}"));
                    self.hosts.clear();
                }
            }
            self.end();
        }
        self.end();
        None
    }

    fn lost(&mut self, number: usize) {
        self.lost_for(number, None);
    }

    fn dismissed(&mut self, why: &str) {
        self.notices.add(format!("the live analysis is no longer shared: {why}"));
    }
}

impl Drop for OnHosts {
    fn drop(&mut self) {
        self.end();
    }
}

impl Started {
    /// Why it has ended; none while it lives.
    fn why_ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        // What it has left may hold its complaints open.
        let until = Instant::now() + COMPLAINING;
        while self.complaints.as_ref().is_some_and(|reading| !reading.is_finished()) && Instant::now() < until
        {
            std::thread::sleep(LOOK_EVERY);
        }
        let complaint =
            self.complaints.take_if(|reading| reading.is_finished()).and_then(|reading| reading.join().ok());
        let complaint = complaint.filter(|complaint| !complaint.is_empty());
        Some(complaint.unwrap_or_else(|| format!("its process ended ({status})")))
    }
}

/// The last line of what is complained.
fn last_line(complaints: ChildStderr) -> String {
    let (mut line, mut last) = (Vec::new(), String::new());
    let mut complaints = BufReader::new(complaints.take(MOST_COMPLAINTS));
    while complaints.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() {
            last = text;
        }
        line.clear();
    }
    last
}

/// Starts the process of a host.
fn start(host: &AnalysisHost, (shell, task): (&[String], Task), invitation: &Invitation) -> Result<Started> {
    let program = own_program()?;
    let mut command = if host.is_own {
        Command::new(program)
    } else {
        let Some((first, rest)) = shell.split_first() else { bail!("nothing is set that starts it there") };
        let mut command = Command::new(first);
        command.args(rest).arg(&host.name).arg(quoted(&program.to_string_lossy()));
        command
    };
    let mut child = command
        .arg(task.command())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {:?}", command.get_program()))?;
    let read = child.stderr.take().map(|complaints| move || last_line(complaints));
    let complaints =
        read.and_then(|read| std::thread::Builder::new().name("complaints".into()).spawn(read).ok());
    // One that has ended already says why.
    let _ = child.stdin.take().map(|mut orders| say_to(&mut orders, invitation));
    Ok(Started { child, complaints })
}

/// A word as the shell of another host takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(names: &[&str], shell: &[&str]) -> (OnHosts, Notices) {
        let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let how = AnalysisHosts {
            hosts: names
                .iter()
                .map(|name| AnalysisHost { name: (*name).to_owned(), is_own: false })
                .collect(),
            shell: strings(shell),
            listen: vec![([127, 0, 0, 1], 0).into()],
            own_names: vec!["127.0.0.1".to_owned()],
            tls: true,
        };
        let notices = Notices::default();
        (OnHosts::new(Task::Analyse, &how, notices.clone()), notices)
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_named_with_the_reason() {
        let script = "echo no way to $0 >&2; exit 1";
        let (mut hosts, notices) = on(&["far-away", "further"], &["sh", "-c", script]);
        assert!(hosts.gather(&[], &|| true).is_none());
        let mut texts = notices.take();
        texts.sort();
        let expected = ["far-away", "further"]
            .map(|name| format!("{name} has no share of the live analysis: no way to {name}"));
        assert_eq!(texts, expected);
        assert!(notices.take().is_empty());
    }

    #[test]
    fn nobody_is_waited_for_who_is_not_wanted_any_more() {
        let (mut hosts, notices) = on(&["far-away"], &["sh", "-c", "cat; sleep 1000"]);
        assert!(hosts.gather(&[], &|| false).is_none());
        assert!(notices.take().is_empty() && hosts.started.is_empty());
    }

    #[test]
    fn what_is_missing_to_start_it_is_reported() {
        let (mut hosts, notices) = on(&["far-away"], &["/nowhere/to/be/found"]);
        assert!(hosts.gather(&[], &|| true).is_none());
        let [text] = &notices.take()[..] else { panic!("{:?}", notices.take()) };
        assert!(text.starts_with("far-away has no share of the live analysis: start"), "{text}");
    }

    #[test]
    fn a_program_is_one_word_for_the_shell_of_another_host() {
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
