//! Where other processes read calls: what the recorder hands out, and what it does with what comes back.

use super::log_pieces::LogPieces;
use super::state::Recorder;
use crate::helpers::OnHosts;
use crate::missed::Missed;
use crate::protocol::Configuration;
use crate::queue::Receiving;
use crate::readers::{Feeding, ForWhom, Gone, OfReader, Readers, Settled, plan};
use crate::reading::Reading;
use crate::task::Task;
use crate::viewers::Viewers;
use mpiscope_agent::{OWN, Resume};
use mpiscope_engine::Step;
use mpiscope_ingest::Ingest;
use mpiscope_recording::WalReader;
use mpiscope_verdict::{Calls, Helpers as _, Wanted};
use mpiscope_wire::Message;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where agents wait for the readers to come, they wait no longer than this.
const GATHERING: Duration = Duration::from_secs(12);

impl Recorder {
    /// Has other processes read calls. To be called before anything is taken in.
    pub(crate) fn share_reading(&mut self, configuration: &Configuration) {
        let Some(how) = &configuration.analysis else { return };
        self.reading.hosts = Some(OnHosts::new(Task::Record, how, self.notices.clone()));
        self.reading.threads = configuration.workers;
    }

    /// Waits for those that are to read what comes from here, if they are not there yet. What comes meanwhile is in the log.
    pub(super) fn share_input(&mut self, input: &Receiving) {
        self.reading.input = Some(input.clone());
        if self.reading.hosts.is_some() && !self.reading.is_shared() {
            self.gather_readers();
            if let Err(gone) = self.catch_up() {
                self.begin_again(gone);
            }
        }
    }

    /// Hands out the log of a predecessor; says where it stopped.
    pub(super) fn share_log(&mut self, log: &WalReader) -> Resume {
        let mut waiting = LogPieces::default();
        let faults = log.for_each_message(|message| {
            if waiting.push(message) {
                self.take_all(waiting.take());
            }
        });
        self.take_all(waiting.take());
        self.write_faults.extend(faults);
        self.await_answers();
        self.publish_all();
        let resume = self.engine.resume();
        match &self.reading.readers {
            Some(readers) => Resume { positions: readers.positions(OWN), ..resume },
            None => resume,
        }
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
        let may_show = self.viewers.is_some() || self.live.is_some();
        let window_ns = self.engine.counts.window_ns();
        let Reading { hosts, input, threads, .. } = &mut self.reading;
        let Some(on_hosts) = hosts else {
            self.reading.invitations.are_none();
            return;
        };
        let (begun, missed) = (Instant::now(), RefCell::new(Missed::default()));
        let goes_on = || match &*input {
            Some(input) => {
                missed.borrow_mut().take(input);
                !missed.borrow().is_over
            }
            None => begun.elapsed() < GATHERING,
        };
        let plan = plan(window_ns, *threads, may_show).ok();
        let cluster = plan.and_then(|plan| on_hosts.gather(&plan, &goes_on));
        let known = on_hosts.secret().map(|secret| (on_hosts.names(), secret));
        self.note_missed(missed.into_inner());
        let Some(cluster) = cluster else {
            self.reading.invitations.are_none();
            if self.reading.hosts.take().is_some_and(|hosts| hosts.are_left()) && !self.reading.is_over {
                self.notice("the recording is not shared: there was no time to wait for other hosts");
            }
            return;
        };
        let streams = cluster.peers.into_iter().flatten().map(|[stream, _]| stream).collect();
        let recorder = std::thread::current();
        let arrived: Arc<dyn Fn() + Send + Sync> = Arc::new(move || recorder.unpark());
        match Readers::begin(streams, &self.writer.intake(), &arrived) {
            Ok(readers) => {
                self.reading.readers = Some(readers);
                known
                    .into_iter()
                    .for_each(|(names, secret)| self.reading.invitations.are_there(names, secret));
            }
            Err(error) => {
                self.reading.invitations.are_none();
                self.reading.hosts = None;
                self.notice(&format!("the recording is not shared: {error:#}"));
            }
        }
    }

    fn note_missed(&mut self, missed: Missed) {
        let Missed { messages, tail, faults, notices, is_over } = missed;
        self.reading.taken += messages;
        self.reading.tail.append(tail);
        self.reading.is_over |= is_over;
        faults.iter().for_each(|text| self.complain(text));
        notices.iter().for_each(|text| self.notice(text));
    }

    /// Takes what came meanwhile; the log has it.
    pub(super) fn look_for_missed(&mut self) {
        let mut missed = Missed::default();
        self.reading.input.iter().for_each(|input| missed.take(input));
        self.note_missed(missed);
    }

    /// Hands out what a pass found.
    pub(super) fn hand_out(&mut self, messages: Vec<Message>) {
        self.reading.taken += messages.len() as u64;
        if let Err(gone) = self.try_hand_out(messages) {
            self.begin_again(gone);
        }
    }

    pub(super) fn try_hand_out(&mut self, messages: Vec<Message>) -> Result<(), Gone> {
        self.reading.invite()?;
        let settles = messages.iter().any(Ingest::settles);
        let for_whom = ForWhom { is_due: settles && self.reading.is_due(), ..self.for_whom() };
        let Self { engine, reading, .. } = self;
        let Some(readers) = &mut reading.readers else { return Ok(()) };
        for message in messages {
            engine.feed_on(readers.hand_out(message));
        }
        readers.send(settles.then(|| engine.take()), for_whom)?;
        self.try_take_read()?;
        while let Some(readers) = self.reading.readers.as_mut().filter(|readers| readers.is_full()) {
            readers.wait()?;
            self.try_take_read()?;
        }
        Ok(())
    }

    /// Who wants the calls themselves.
    fn for_whom(&self) -> ForWhom {
        if self.reading.is_repeating {
            return ForWhom::default();
        }
        let is_watched = self.viewers.as_ref().is_some_and(Viewers::is_watched);
        let live = self.live.as_ref().filter(|_| !self.reading.is_postponed);
        let (is_analysed, feeding) = match live.map_or(Wanted::Nothing, |live| live.wanted()) {
            Wanted::Nothing => (false, None),
            Wanted::Calls => (true, None),
            Wanted::Fed { with_calls, is_anew } => {
                (with_calls, Some(Feeding { generation: self.reading.invited, is_anew }))
            }
        };
        ForWhom { is_shown: is_watched, is_analysed, feeding, is_due: false }
    }

    /// Takes in what the readers have answered.
    pub(super) fn take_read(&mut self) {
        if let Err(gone) = self.try_take_read() {
            self.begin_again(gone);
        }
    }

    fn try_take_read(&mut self) -> Result<(), Gone> {
        self.reading.invite()?;
        while let Some(readers) = &mut self.reading.readers
            && let Some(settled) = readers.next()?
        {
            self.settle_read(settled);
        }
        Ok(())
    }

    /// The run has ended: takes in the rest. Says whether readers had it.
    pub(super) fn end_reading(&mut self) -> bool {
        while self.reading.is_shared() {
            match self.try_end() {
                Ok(()) => {
                    // The pass over the log finds more than what still waits would.
                    self.live = None;
                    self.reading.dismiss();
                    self.reading.invitations.are_none();
                    self.reading.hosts = None;
                    return true;
                }
                Err(gone) => self.begin_again(gone),
            }
        }
        false
    }

    fn try_end(&mut self) -> Result<(), Gone> {
        let for_whom = self.for_whom();
        let Self { engine, reading, .. } = self;
        if let Some(readers) = &mut reading.readers {
            readers.end(engine.take_rest(), for_whom)?;
        }
        self.try_await_answers()
    }

    fn settle_read(&mut self, settled: Settled) {
        let Settled {
            batch,
            messages,
            counted,
            until,
            of_readers,
            has_rows,
            is_shown,
            row_count,
            made,
            to_feed,
            fed,
            brought,
            is_last,
        } = settled;
        let listed = self.writer.list(brought.calls, brought.messages);
        self.note(listed);
        self.writer.give_up(brought.lost_calls, brought.lost_messages);
        brought.faults.iter().for_each(|text| self.complain(text));
        if let Some(live) = &mut self.live {
            live.come_to(until);
        }
        let mut step = if is_last {
            self.engine.finish_counted(batch, messages, counted)
        } else {
            self.engine.settle_counted(batch, messages, counted)
        };
        if !self.reading.has_told_ranks && !self.engine.ranks.is_empty() {
            self.reading.has_told_ranks = true;
            self.reading.invitations.tell_ranks(self.engine.world_size());
        }
        let is_present = |of: Option<u64>| of.is_some_and(|generation| generation == self.reading.invited);
        let calls = match (is_present(fed), is_present(to_feed)) {
            (true, _) => Calls::Fed { calls: row_count, are_here: has_rows },
            (false, false) if has_rows => Calls::InBatch,
            (false, are_partly_fed) => Calls::InLog { calls: row_count, are_partly_fed },
        };
        self.analyse(std::slice::from_mut(&mut step), calls);
        if !is_shown {
            (step.calls, step.messages) = (Vec::new(), Vec::new());
        }
        // The rest is new, though no message came with it.
        self.show_from(if is_last { u64::MAX } else { until });
        self.write_read(step, of_readers);
        self.reading.settled = self.reading.settled.max(until);
        self.reading.made = self.reading.made.saturating_add(made);
    }

    fn write_read(&mut self, step: Step, of_readers: Vec<OfReader>) {
        self.sums.add_counted(step.counted.as_deref().unwrap_or_default(), &step.windows);
        self.write_others(&step);
        if let Some(viewers) = &mut self.viewers {
            viewers.take_read(step.calls, of_readers, &step.windows, &self.writer);
        }
        self.add_faults(step.faults);
    }
}
