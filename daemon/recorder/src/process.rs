//! The process of the daemon: orders come on standard input, answers go to standard output.

use crate::completion::completed_before;
use crate::protocol::{Configuration, FromDaemon, Summary, ToDaemon};
use crate::queue;
use crate::remotes::Remotes;
use crate::start::Start;
use crate::switch;
use crate::watch::{CommandEnd, Watch, watch};
use anyhow::{Context as _, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use mpiscope_agent::{Agent, FILES, run_start};
use mpiscope_engine::Live;
use mpiscope_page::{ClosedPage, Page};
use mpiscope_process::output::Stdout;
use mpiscope_process::own_process::allow_files;
use mpiscope_process::private::remove_folder;
use mpiscope_ring::Sleeper;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The whole life of the process.
///
/// # Errors
/// When nobody says what to record, or nobody listens.
pub fn record() -> Result<ExitCode> {
    let mut first = String::new();
    // Without its lock, which the thread that waits for orders will hold.
    std::io::stdin().read_line(&mut first).context("nobody said what to record")?;
    let configuration: Configuration = serde_json::from_str(&first).context("read what to record")?;
    match serve(&configuration) {
        Ok(summary) => answer(&FromDaemon::Done(Box::new(summary)))?,
        Err(error) => answer(&FromDaemon::Failed(format!("{error:#}")))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(message: &FromDaemon) -> Result<()> {
    let line = serde_json::to_string(message)? + "\n";
    Ok(Stdout.write_all(line.as_bytes())?)
}

/// Says where the page is, and where agents of other hosts bring what they read.
fn answer_ready(page: Option<&Page>, remotes: Option<&Remotes>) -> Result<()> {
    answer(&FromDaemon::Ready {
        url: page.map(|page| page.url().to_owned()),
        link: remotes.map(Remotes::address),
    })
}

fn serve(configuration: &Configuration) -> Result<Summary> {
    if configuration.resume
        && let Some(summary) = completed_before(&configuration.out)?
    {
        answer_ready(None, None)?;
        remove_traces(configuration);
        return Ok(summary);
    }
    let Start { recorder, log, resume, page } = Start::new(configuration)?;
    // Of a run that goes on, those who look see first what was recorded before.
    let page = page.map(ClosedPage::admit);
    if configuration.paused && !configuration.resume {
        switch::set(&configuration.out, false)?;
    }
    // Held while this process lives: whoever can lock it knows that nobody records.
    let _lock = Live::of_this_process(configuration.rings.clone()).write(&configuration.out)?;
    // Where it cannot be had, the agent looks more often.
    let sleeper = configuration.rings.first().and_then(|folder| Sleeper::open(folder).ok()).map(Arc::new);
    let arrived = waking(sleeper.clone());
    let known = recorder.agents();
    let listen = |link| Remotes::listen(link, &known, &arrived);
    let remotes = configuration.link.as_ref().map(listen).transpose()?;
    answer_ready(page.as_ref(), remotes.as_ref())?;

    allow_files(FILES);
    let (send, receive) = queue::queue();
    let ended = hear_orders(arrived)?;
    let mut agent = Agent::new(configuration.rings.clone(), resume, Some(Box::new(log)));
    agent.hold = configuration.flight;
    agent.sleeper = sleeper;
    let from = Watch::new(configuration, agent, remotes, send);
    // A predecessor may have died before it said so.
    let is_first_word_due = !recorder.has_begun();
    let agent = start_agent(from, configuration, is_first_word_due, ended, page.as_ref())?;
    let summary = recorder.run(&receive);
    drop(receive);
    // The agent's thread can only have ended by itself or by a fault that the recorder has already seen.
    let _ = agent.join();
    if let Some(page) = page {
        page.linger();
        page.close();
    }
    let summary = summary?;
    remove_traces(configuration);
    Ok(summary)
}

/// Wakes the agent, where it can be.
fn waking(sleeper: Option<Arc<Sleeper>>) -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(move || sleeper.iter().for_each(|sleeper| sleeper.wake()))
}

/// Removes what a run needs only while it is recorded.
fn remove_traces(configuration: &Configuration) {
    // Everything that was in them is in the recording.
    for folder in &configuration.rings {
        let _ = remove_folder(folder);
    }
    Live::remove(&configuration.out);
    switch::forget(&configuration.out);
}

/// The agent's thread.
fn start_agent(
    from: Watch,
    configuration: &Configuration,
    is_first_word_due: bool,
    ended: Receiver<CommandEnd>,
    page: Option<&Page>,
) -> Result<JoinHandle<()>> {
    let start = is_first_word_due.then(|| run_start(&configuration.run, &configuration.command));
    let is_watched = page.map(Page::watched);
    let work = move || {
        watch(from, start, &ended, || is_watched.as_ref().is_some_and(|is_watched| is_watched()));
    };
    Ok(std::thread::Builder::new().name("agent".into()).spawn(work)?)
}

/// A thread that waits for the word that the command is over, and gives it to who reads from here.
fn hear_orders(arrived: Arc<dyn Fn() + Send + Sync>) -> Result<Receiver<CommandEnd>> {
    let (tell_end, ended) = bounded(1);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        read_orders(&tell_end);
        // That nobody will report it any more counts too.
        drop(tell_end);
        arrived();
    })?;
    Ok(ended)
}

/// Waits for the word that the command is over. When `run` is gone, nobody will say it.
fn read_orders(tell: &Sender<CommandEnd>) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(ToDaemon::End { exit }) = serde_json::from_str(&line) {
            let _ = tell.send(CommandEnd { exit });
            return;
        }
    }
}
