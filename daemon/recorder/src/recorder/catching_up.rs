//! After a reader was lost, and before the first have come: the log has what the recorder lacks.

use super::log_pieces::LogPieces;
use super::state::Recorder;
use crate::missed::Tail;
use crate::readers::Gone;
use mpiscope_engine::Engine;
use mpiscope_model::words::counted;
use mpiscope_recording::WalReader;
use mpiscope_wire::Message;
use std::time::{Duration, Instant};

/// What was taken in may reach the log a little later.
const LATE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(20);

impl Recorder {
    /// What a reader knew is gone: forgets all, and takes it in again from the log, with those that are left.
    pub(super) fn begin_again(&mut self, gone: Gone) {
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
            gone = self.catch_up().err();
        }
        self.publish_all();
    }

    /// Whoever looks has seen all that this number of messages of the log came to, or not.
    pub(super) fn show_from(&mut self, messages: u64) {
        let is_known = messages <= self.reading.shown_until;
        self.reading.is_known = is_known;
        self.viewers.iter_mut().for_each(|viewers| viewers.repeat(is_known));
    }

    fn forget(&mut self) {
        // What was recorded is recorded again, or counted as lost.
        let made = std::mem::take(&mut self.reading.made).max(self.made_calls());
        self.expected_calls = self.expected_calls.max(made);
        self.reading.asked = None;
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

    /// Takes in from the log what was taken in before, and what has come meanwhile.
    pub(super) fn catch_up(&mut self) -> Result<(), Gone> {
        self.reading.is_repeating = true;
        let outcome = self.try_catch_up();
        self.reading.is_repeating = false;
        if outcome.is_ok() {
            // Between this and what is missed later, messages are received.
            self.reading.tail = Tail::default();
        }
        outcome
    }

    fn try_catch_up(&mut self) -> Result<(), Gone> {
        let (mut read, mut since) = (0, Instant::now());
        loop {
            self.look_for_missed();
            if read == self.reading.taken {
                return Ok(());
            }
            let before = read;
            let faults = self.read_on(&mut read)?;
            // What came last may not be in the log yet.
            let rest = self.reading.tail.last((self.reading.taken - read) as usize);
            if let Some(rest) = rest {
                read = self.reading.taken;
                self.take_again(rest, read)?;
            } else if read > before {
                since = Instant::now();
            } else if since.elapsed() > LATE {
                faults.iter().for_each(|text| self.complain(text));
                let missing = counted(self.reading.taken - read, "message");
                self.complain(&format!(
                    "{missing}: not in the log, and what a lost reader made of them is missing"
                ));
                self.reading.taken = read;
                return Ok(());
            } else {
                std::thread::sleep(REST);
            }
        }
    }

    /// Takes in the messages of the log behind this number of them, as far as it has been written. Says what of it cannot be read.
    fn read_on(&mut self, read: &mut u64) -> Result<Vec<String>, Gone> {
        let log = match WalReader::open(self.writer.dir()) {
            Ok(log) => log,
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let (mut passed, mut waiting, mut outcome) = (0, LogPieces::default(), Ok(()));
        let begin = *read;
        let faults = log.for_each_message_while(|message| {
            passed += 1;
            if passed <= begin {
                return true;
            }
            if *read == self.reading.taken {
                return false;
            }
            *read += 1;
            let ends = waiting.push(message);
            // A batch ends where those who look were last shown one.
            if ends || *read == self.reading.shown_until || *read == self.reading.taken {
                outcome = self.take_again(waiting.take(), *read);
                // Whoever brings more must not wait for this.
                self.look_for_missed();
            }
            outcome.is_ok()
        });
        outcome?;
        let rest = waiting.take();
        if !rest.is_empty() {
            self.take_again(rest, *read)?;
        }
        Ok(faults)
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
