//! Where other processes read calls: what the recorder hands out, and what it does with what comes back.

use super::state::Recorder;
use crate::helpers::OnHosts;
use crate::protocol::Configuration;
use crate::queue::Receiving;
use crate::readers::{Readers, Settled, plan};
use crate::task::Task;
use crate::viewers::Viewers;
use anyhow::Result;
use mpiscope_engine::Step;
use mpiscope_ingest::Ingest;
use mpiscope_model::Call;
use mpiscope_verdict::Helpers as _;
use mpiscope_wire::Message;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What agents bring waits for the readers at the beginning, no longer than this.
const GATHERING: Duration = Duration::from_secs(8);

/// A reader is gone, and with it what it knew: the log has it. The daemon has to begin again.
#[derive(Debug)]
pub(crate) struct ReaderLost(String);

impl std::fmt::Display for ReaderLost {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(&self.0)
    }
}

impl std::error::Error for ReaderLost {}

impl Recorder {
    /// Has other processes read calls. To be called before anything is taken in.
    pub(crate) fn share_reading(&mut self, configuration: &Configuration) {
        let Some(how) = &configuration.analysis else { return };
        let hosts = OnHosts::new(Task::Record, how, self.notices.clone());
        self.reading.wanted = Some((hosts, configuration.workers));
    }

    /// Waits for them. The agents go on meanwhile.
    pub(super) fn gather_readers(&mut self, input: &Receiving) {
        let Some((mut hosts, threads)) = self.reading.wanted.take() else { return };
        let begun = Instant::now();
        let goes_on = || !input.is_half_full() && begun.elapsed() < GATHERING;
        let Ok(plan) = plan(self.window_ns(), threads) else { return };
        let Some(mut cluster) = hosts.gather(&plan, &goes_on) else { return };
        let streams = cluster.peers.drain(..).flatten().map(|[stream, _]| stream).collect();
        let recorder = std::thread::current();
        let arrived: Arc<dyn Fn() + Send + Sync> = Arc::new(move || recorder.unpark());
        match Readers::begin(streams, &self.writer.intake(), &arrived) {
            Ok(readers) => self.reading.readers = Some((readers, hosts)),
            Err(error) => self.notice(&format!("the recording is not shared: {error:#}")),
        }
    }

    /// Hands out what a pass found.
    pub(super) fn hand_out(&mut self, messages: Vec<Message>) -> Result<()> {
        let is_shown = self.is_shown();
        let Self { engine, reading, .. } = self;
        let Some((readers, _)) = &mut reading.readers else { return Ok(()) };
        let settles = messages.iter().any(Ingest::settles);
        for message in messages {
            readers.hand_out(message).into_iter().for_each(|message| engine.feed_on(message));
        }
        readers.send(settles.then(|| engine.take()), is_shown);
        self.take_read()?;
        while let Some((readers, hosts)) = &mut self.reading.readers
            && readers.is_full()
        {
            readers.wait().map_err(|gone| lost(hosts, gone))?;
            self.take_read()?;
        }
        Ok(())
    }

    /// Whether somebody wants the calls themselves.
    fn is_shown(&self) -> bool {
        let is_watched = self.viewers.as_ref().is_some_and(Viewers::is_watched);
        is_watched || self.live.is_some() && self.reading.is_analysed
    }

    /// Takes in what the readers have answered.
    pub(super) fn take_read(&mut self) -> Result<()> {
        while let Some((readers, hosts)) = &mut self.reading.readers
            && let Some(settled) = readers.next().map_err(|gone| lost(hosts, gone))?
        {
            self.settle_read(settled);
        }
        Ok(())
    }

    /// The run is over: takes in the rest.
    pub(super) fn end_reading(&mut self) -> Result<()> {
        let is_shown = self.is_shown();
        let Self { engine, reading, .. } = self;
        if let Some((readers, _)) = &mut reading.readers {
            readers.end(engine.take_rest(), is_shown);
        }
        self.take_read()?;
        while let Some((readers, hosts)) = &mut self.reading.readers
            && readers.is_pending()
        {
            readers.wait().map_err(|gone| lost(hosts, gone))?;
            self.take_read()?;
        }
        if let Some((readers, _)) = self.reading.readers.take() {
            self.reading.earlier_cpu_s = readers.cpu_s();
        }
        Ok(())
    }

    fn settle_read(&mut self, settled: Settled) {
        let Settled { batch, counted, messages, waiting, is_shown, segments, given_up_calls, faults, is_last } =
            settled;
        let listed = self.writer.list_calls(segments);
        self.note(listed);
        self.writer.give_up_calls(given_up_calls);
        faults.iter().for_each(|text| self.complain(text));
        if let Some(live) = &mut self.live {
            live.come_to(messages);
        }
        let mut steps = if is_last {
            self.engine.finish_counted(batch, counted)
        } else {
            vec![self.engine.settle_counted(batch, counted)]
        };
        self.analyse(&mut steps, is_shown);
        for (step, waiting) in steps.into_iter().zip([waiting]) {
            self.write_read(step, waiting);
        }
    }

    fn write_read(&mut self, step: Step, waiting: Vec<(usize, Vec<Call>)>) {
        let counted = step.counted.as_deref().unwrap_or_default();
        self.sums.add_counted(counted, &step.messages, &step.windows);
        let pushed = self.writer.push_messages(&step.messages);
        self.note(pushed);
        self.write_others(&step);
        if let Some(viewers) = &mut self.viewers {
            viewers.take_read((step.calls, waiting), step.messages, &step.windows, &self.writer);
        }
        self.faults.extend(step.faults);
    }
}

fn lost(hosts: &mut OnHosts, (place, why): (usize, String)) -> ReaderLost {
    // The daemon itself is number 0.
    let (name, own) = hosts.gone(place + 1);
    ReaderLost(format!("the process on {name} that reads calls is gone: {}", own.unwrap_or(why)))
}
