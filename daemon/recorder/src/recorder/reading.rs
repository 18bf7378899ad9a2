//! Where other processes read calls: what the recorder hands out, and what it does with what comes back.

use super::state::Recorder;
use crate::helpers::OnHosts;
use crate::protocol::Configuration;
use crate::queue::Receiving;
use crate::readers::{Gone, OfReader, Readers, Settled, plan};
use crate::task::Task;
use crate::viewers::Viewers;
use mpiscope_agent::{OWN, Resume};
use mpiscope_engine::{Engine, Step};
use mpiscope_ingest::Ingest;
use mpiscope_model::words::counted;
use mpiscope_recording::WalReader;
use mpiscope_verdict::Helpers as _;
use mpiscope_wire::Message;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What agents bring waits for the readers to come, no longer than this.
const GATHERING: Duration = Duration::from_secs(8);
/// So many messages of the log are handed out at a time.
const AT_ONCE: usize = 1 << 10;

impl Recorder {
    /// Has other processes read calls. To be called before anything is taken in.
    pub(crate) fn share_reading(&mut self, configuration: &Configuration) {
        let Some(how) = &configuration.analysis else { return };
        self.reading.hosts = Some(OnHosts::new(Task::Record, how, self.notices.clone()));
        self.reading.threads = configuration.workers;
    }

    /// Waits for those that are to read what comes from here, if they are not there yet.
    pub(super) fn share_input(&mut self, input: &Receiving) {
        self.reading.level = input.level();
        if !self.reading.is_shared() {
            self.gather_readers();
        }
    }

    /// Hands out the log of a predecessor; says where it stopped.
    pub(super) fn share_log(&mut self, log: &WalReader) -> Resume {
        let mut waiting = Vec::new();
        let faults = log.for_each_message(|message| {
            let ends = Ingest::settles(&message) && waiting.len() >= AT_ONCE;
            waiting.push(message);
            if ends {
                self.take_all(std::mem::take(&mut waiting));
            }
        });
        self.take_all(waiting);
        self.write_faults.extend(faults);
        self.await_answers();
        self.publish_all();
        let positions = self.reading.readers.as_ref().map(|readers| readers.positions(OWN));
        let resume = self.engine.resume();
        Resume { positions: positions.unwrap_or_else(|| resume.positions.clone()), ..resume }
    }

    /// Takes in all that was handed out.
    fn await_answers(&mut self) {
        while self.reading.readers.as_ref().is_some_and(Readers::is_pending) {
            if let Err(gone) = self.try_await_answers() {
                self.begin_again(gone);
            }
        }
    }

    fn try_await_answers(&mut self) -> Result<(), Gone> {
        self.try_take_read()?;
        while let Some(readers) = self.reading.readers.as_mut().filter(|readers| readers.is_pending()) {
            readers.wait()?;
            self.try_take_read()?;
        }
        Ok(())
    }

    pub(super) fn gather_readers(&mut self) {
        let Some(hosts) = &mut self.reading.hosts else { return };
        let (begun, level) = (Instant::now(), self.reading.level.clone());
        let goes_on = || !level.is_half_full() && begun.elapsed() < GATHERING;
        let may_show = self.viewers.is_some() || self.live.is_some();
        let cluster = plan(self.engine.counts.window_ns(), self.reading.threads, may_show)
            .ok()
            .and_then(|plan| hosts.gather(&plan, &goes_on));
        let Some(cluster) = cluster else {
            self.reading.hosts = None;
            return;
        };
        let streams = cluster.peers.into_iter().flatten().map(|[stream, _]| stream).collect();
        let recorder = std::thread::current();
        let arrived: Arc<dyn Fn() + Send + Sync> = Arc::new(move || recorder.unpark());
        match Readers::begin(streams, &self.writer.intake(), &arrived) {
            Ok(readers) => self.reading.readers = Some(readers),
            Err(error) => self.notice(&format!("the recording is not shared: {error:#}")),
        }
    }

    /// Hands out what a pass found.
    pub(super) fn hand_out(&mut self, messages: Vec<Message>) {
        self.reading.taken += messages.len() as u64;
        if let Err(gone) = self.try_hand_out(messages) {
            self.begin_again(gone);
        }
    }

    fn try_hand_out(&mut self, messages: Vec<Message>) -> Result<(), Gone> {
        let is_shown = self.is_shown();
        let Self { engine, reading, .. } = self;
        let Some(readers) = &mut reading.readers else { return Ok(()) };
        let settles = messages.iter().any(Ingest::settles);
        for message in messages {
            engine.feed_on(readers.hand_out(message));
        }
        readers.send(settles.then(|| engine.take()), is_shown);
        self.try_take_read()?;
        while let Some(readers) = self.reading.readers.as_mut().filter(|readers| readers.is_full()) {
            readers.wait()?;
            self.try_take_read()?;
        }
        Ok(())
    }

    /// Whether somebody wants the calls themselves.
    fn is_shown(&self) -> bool {
        let is_watched = self.viewers.as_ref().is_some_and(Viewers::is_watched);
        is_watched || self.live.is_some() && self.reading.is_analysed
    }

    /// Takes in what the readers have answered.
    pub(super) fn take_read(&mut self) {
        if let Err(gone) = self.try_take_read() {
            self.begin_again(gone);
        }
    }

    fn try_take_read(&mut self) -> Result<(), Gone> {
        while let Some(readers) = &mut self.reading.readers
            && let Some(settled) = readers.next()?
        {
            self.settle_read(settled);
        }
        Ok(())
    }

    /// The run is over: takes in the rest. Says whether readers had it.
    pub(super) fn end_reading(&mut self) -> bool {
        while self.reading.is_shared() {
            match self.try_end() {
                Ok(()) => {
                    self.reading.dismiss();
                    self.reading.hosts = None;
                    return true;
                }
                Err(gone) => self.begin_again(gone),
            }
        }
        false
    }

    fn try_end(&mut self) -> Result<(), Gone> {
        let is_shown = self.is_shown();
        let Self { engine, reading, .. } = self;
        if let Some(readers) = &mut reading.readers {
            readers.end(engine.take_rest(), is_shown);
        }
        self.try_await_answers()
    }

    fn settle_read(&mut self, settled: Settled) {
        let Settled { batch, messages, counted, until, of_readers, is_shown, brought, is_last } = settled;
        let listed = self.writer.list(brought.calls, brought.messages);
        self.note(listed);
        self.writer.give_up(brought.lost_calls, brought.lost_messages);
        brought.faults.iter().for_each(|text| self.complain(text));
        if let Some(live) = &mut self.live {
            live.come_to(until);
        }
        let mut steps = if is_last {
            self.engine.finish_counted(batch, messages, counted)
        } else {
            vec![self.engine.settle_counted(batch, messages, counted)]
        };
        self.analyse(&mut steps, is_shown);
        self.show_from(until);
        for (step, of_readers) in steps.into_iter().zip([of_readers]) {
            self.write_read(step, of_readers);
        }
        self.reading.settled = self.reading.settled.max(until);
    }

    fn write_read(&mut self, step: Step, of_readers: Vec<OfReader>) {
        self.sums.add_counted(step.counted.as_deref().unwrap_or_default(), &step.windows);
        self.write_others(&step);
        if let Some(viewers) = &mut self.viewers {
            viewers.take_read(step.calls, of_readers, &step.windows, &self.writer);
        }
        self.faults.extend(step.faults);
    }

    /// What a reader knew is gone: forgets all, and takes it in again from the log, with those that are left.
    fn begin_again(&mut self, gone: Gone) {
        let mut gone = Some(gone);
        while let Some(Gone { reader, why }) = gone.take() {
            self.reading.dismiss();
            if let Some(hosts) = &mut self.reading.hosts {
                // The daemon itself is number 0.
                hosts.lost_for(reader + 1, Some(&why));
            }
            self.notices.take().iter().for_each(|text| self.notice(text));
            self.publish(false);
            self.forget();
            self.gather_readers();
            gone = self.read_again().err();
        }
        self.publish_all();
    }

    /// Whoever looks has seen all that this number of messages of the log came to, or not.
    fn show_from(&mut self, messages: u64) {
        let is_known = messages <= self.reading.shown_until;
        self.viewers.iter_mut().for_each(|viewers| viewers.repeat(is_known));
    }

    fn forget(&mut self) {
        // What was recorded is recorded again, or counted as lost.
        self.expected_calls = self.expected_calls.max(self.made_calls());
        let window_ns = self.window_ns();
        self.engine =
            if self.live.is_some() { Engine::for_diagnosis(window_ns) } else { Engine::new(window_ns) };
        self.engine.share_out(self.reading.threads);
        self.sums.clear();
        let begun = self.writer.begin_again();
        self.note(begun);
        if let Some(live) = &mut self.live {
            live.restart();
        }
        if let Some(viewers) = &mut self.viewers {
            viewers.begin_again();
        }
        self.reading.shown_until = self.reading.settled;
    }

    /// Takes in what was taken in before.
    fn read_again(&mut self) -> Result<(), Gone> {
        let (taken, shown_until) = (self.reading.taken, self.reading.shown_until);
        let (mut read, mut waiting, mut outcome) = (0, Vec::new(), Ok(()));
        let log = WalReader::open(self.writer.dir());
        let take = |message| {
            if read == taken {
                return false;
            }
            read += 1;
            // A batch ends where those who look were last shown one.
            let ends = Ingest::settles(&message) && waiting.len() >= AT_ONCE || read == shown_until;
            waiting.push(message);
            if ends || read == taken {
                outcome = self.take_again(std::mem::take(&mut waiting), read);
            }
            outcome.is_ok()
        };
        let faults = match log {
            Ok(log) => log.for_each_message_while(take),
            Err(error) => vec![error.to_string()],
        };
        if outcome.is_ok() && read < taken {
            faults.iter().for_each(|text| self.complain(text));
            let missing = counted(taken - read, "message");
            self.complain(&format!(
                "{missing}: not in the log, and what a lost reader made of them is missing"
            ));
        }
        outcome
    }

    fn take_again(&mut self, messages: Vec<Message>, until: u64) -> Result<(), Gone> {
        if self.reading.is_shared() {
            return self.try_hand_out(messages);
        }
        self.show_from(until);
        self.take_alone(messages);
        self.show_from(u64::MAX);
        Ok(())
    }
}
