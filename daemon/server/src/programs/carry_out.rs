//! What a client's requests do.

use super::client::{Client, ConnectionEnd, Entry, LaterReply};
use super::reading::{moment, moment_of_second, second_of};
use super::requests::label;
use super::subscription::Subscription;
use mpiscope_feed::exchange::{Command, Selection};
use mpiscope_protocol::{Barrier, Direction, Failed, Passed, Reply, Request, Right, Subscribe, Subscribed};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use tokio::time::timeout;

/// Subscriptions of one client.
const SUBSCRIPTIONS_MAX: usize = 32;
const BARRIER_MS_MAX: u32 = 10_000;

/// The right that a request needs.
fn right_for(request: &Request) -> Right {
    match request {
        Request::Live
        | Request::Pause
        | Request::Play { .. }
        | Request::Rate { .. }
        | Request::Seek { .. }
        | Request::Step { .. }
        | Request::StepTo { .. }
        | Request::Select(_)
        | Request::Barrier(_) => Right::Control,
        Request::Annotate(_)
        | Request::Remove { .. }
        | Request::Series(_)
        | Request::Tell(_)
        | Request::Panel(_)
        | Request::TellPanel(_)
        | Request::ClosePanel { .. } => Right::Annotate,
        Request::Hello(_) | Request::Subscribe(_) | Request::Unsubscribe { .. } | Request::Drawn { .. } => {
            Right::Read
        }
    }
}

impl Client<'_> {
    pub(super) async fn take(&mut self, request: Result<Request, Failed>) -> Result<(), ConnectionEnd> {
        let request = match request {
            Ok(request) => request,
            Err(failed) => return self.send(&Reply::Failed(failed)).await,
        };
        let (name, id) = label(&request);
        match self.carry_out(request) {
            Ok(None) => Ok(()),
            Ok(Some(reply)) => self.send(&reply).await,
            Err(text) => self.send(&Reply::Failed(Failed { request: name.to_owned(), id, text })).await,
        }
    }

    pub(super) fn carry_out(&mut self, request: Request) -> Result<Option<Reply>, String> {
        self.connected.grant().rights.check(right_for(&request))?;
        match request {
            Request::Hello(_) => Err("hello came before".to_owned()),
            Request::Subscribe(asked) => self.subscribe(asked).map(Some),
            Request::Unsubscribe { id } => {
                self.subscriptions.remove(&id).ok_or_else(|| format!("there is no subscription {id}"))?;
                Ok(None)
            }
            Request::Live => self.carry_out_command(Command::Live),
            Request::Pause => self.carry_out_command(Command::Pause),
            Request::Play { rate } => self.carry_out_command(Command::Play(number(rate)?)),
            Request::Rate { rate } => self.carry_out_command(Command::Rate(number(rate)?)),
            Request::Seek { time_ns } => self.carry_out_command(Command::Seek(number(time_ns)?)),
            Request::Step { by_ns } => self.carry_out_command(Command::Step(number(by_ns)?)),
            Request::StepTo { id, direction } => self.step_to(id, direction),
            Request::Select(selection) => {
                let mpiscope_protocol::Selection { range_ns, ranks, hidden } = selection;
                let selection = Selection { range_ns, ranks, hidden }.checked().map_err(|error| error.0)?;
                self.carry_out_command(Command::Select(selection))
            }
            Request::Barrier(asked) => {
                self.wait(&asked)?;
                Ok(None)
            }
            Request::Drawn { barrier } => {
                self.member.drawn(barrier);
                Ok(None)
            }
            Request::Annotate(asked) => self.member.annotate(asked).map(|done| Some(Reply::Annotation(done))),
            Request::Remove { annotation } => self.member.remove(annotation).map(|()| None),
            Request::Series(asked) => self.member.series(asked).map(|_| None),
            Request::Panel(asked) => self.panels.add(asked).map(|added| Some(Reply::Panel(added))),
            Request::TellPanel(asked) => self.panels.tell(&asked).map(|()| None),
            Request::ClosePanel { id } => self.panels.close(id).map(|()| None),
            Request::Tell(asked) => self.member.tell(asked.to, asked.data).map(|()| None),
        }
    }

    fn subscribe(&mut self, asked: Subscribe) -> Result<Reply, String> {
        let id = asked.id;
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX && !self.subscriptions.contains_key(&id) {
            return Err(format!("a client has at most {SUBSCRIPTIONS_MAX} subscriptions"));
        }
        let source = self.source();
        let make = || match second_of(source, asked.recording)? {
            Some(second) => {
                let moment = moment_of_second(source, second);
                Subscription::new(&second.asked(&asked)?, &second.library, &moment)
            }
            None => Subscription::new(&asked, &source.library, &moment(source)),
        };
        // Call sites may have to be looked up in files first.
        let subscription = if asked.sites.is_empty() { make() } else { aside(make) }?;
        let note = subscription.note();
        self.generation += 1;
        let entry = Entry { asked, subscription: Some(subscription), generation: self.generation };
        self.subscriptions.insert(id, entry);
        self.is_due(id);
        Ok(Reply::Subscribed(Subscribed { id, note }))
    }

    /// Carries out a command, which has no reply.
    fn carry_out_command(&self, command: Command) -> Result<Option<Reply>, String> {
        self.command(command);
        Ok(None)
    }

    pub(super) fn command(&self, command: Command) {
        let source = self.source();
        source.stage.command(command, source.known());
    }

    /// The clock goes there once the row is found.
    fn step_to(&mut self, id: u32, direction: Direction) -> Result<Option<Reply>, String> {
        let entry = self.subscriptions.get(&id).ok_or_else(|| format!("there is no subscription {id}"))?;
        if self.search.is_some() {
            return Err("the row that was asked for before is still searched for".to_owned());
        }
        let (asked, turns, answer) = (entry.asked.clone(), self.turns.clone(), self.later.0.clone());
        self.search = Some(tokio::spawn(async move {
            let found = turns.find(&asked, direction).await;
            let failed = |text| Failed { request: "step_to".to_owned(), id: Some(id), text };
            let found = found.map_err(failed);
            // The client may have left meanwhile.
            let _ = answer.send(LaterReply::Time(found)).await;
        }));
        Ok(None)
    }

    /// The answer comes when the others have drawn, or the time is over.
    fn wait(&self, asked: &Barrier) -> Result<(), String> {
        let (id, patience) = (asked.id, Duration::from_millis(asked.timeout_ms.min(BARRIER_MS_MAX).into()));
        let answer = self.later.0.clone();
        let mut waiting = self.member.wait_for_others()?;
        tokio::spawn(async move {
            let _ = timeout(patience, &mut waiting.passed).await;
            let missing = waiting.end();
            // The client may have left meanwhile.
            let _ = answer.send(LaterReply::Reply(Box::new(Reply::Passed(Passed { id, missing })))).await;
        });
        Ok(())
    }
}

/// Does what takes a while where other tasks do not wait for it.
fn aside<T>(act: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(act),
        _ => act(),
    }
}

fn number(number: f64) -> Result<f64, String> {
    if number.is_finite() { Ok(number) } else { Err("a number is missing".to_owned()) }
}
