//! The readers of a run, as the daemon sees them: what goes to each, and what came back, batch by batch.

use super::packets::{
    self, ANSWER, Answer, BATCH, CALLS, END, FOR_WHOM_BYTES, FRAMES, ForWhom, LAST_ANSWER, MESSAGES, ORDER,
    Order, PEER_LOST, Plan, read_packet, write_packet,
};
use anyhow::{Context as _, Result, bail};
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded, unbounded};
use mpiscope_engine::{Counted, Divided, Division};
use mpiscope_model::{Batch, Call, Message as Row};
use mpiscope_recording::{Intake, RecordingOptions, Segment};
use mpiscope_wire::Message;
use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Batches that readers have not answered. Then the recorder waits, and what the agents bring waits with it.
const MOST_PENDING: usize = 64;
/// A reader that says nothing for so long is given up, though its process lives.
const PATIENCE: Duration = Duration::from_secs(60);
/// Packets on their way to a reader.
const MOST_PACKETS: usize = 16;

/// What the readers have to know: how long windows are, how many threads each has, and whether calls may have to be shown.
pub(crate) fn plan(window_ns: u64, threads: usize, may_show: bool) -> Result<Vec<u8>> {
    let RecordingOptions { calls_per_segment, messages_per_segment, zstd_level, .. } =
        RecordingOptions::default();
    let plan = Plan { window_ns, threads, may_show, calls_per_segment, messages_per_segment, zstd_level };
    Ok(serde_json::to_vec(&plan)?)
}

/// What came from a reader.
enum Word {
    /// It has answered.
    Answered(Answered),
    /// It is gone.
    Gone(String),
    /// It has lost the one at this place.
    PeerLost(usize),
}

/// What a batch came to, and the segments that are in the recording since.
struct Answered {
    answer: Box<Answer>,
    brought: Brought,
    is_last: bool,
}

/// A reader is gone, and with it what it knew.
#[derive(Debug)]
pub(crate) struct Gone {
    /// Its place among them.
    pub(crate) reader: usize,
    pub(crate) why: String,
}

/// Segments of a reader that are in the recording, and rows of those that could not be written.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) calls: Vec<Segment>,
    pub(crate) messages: Vec<Segment>,
    pub(crate) lost_calls: u64,
    pub(crate) lost_messages: u64,
    pub(crate) faults: Vec<String>,
}

impl Brought {
    fn append(&mut self, other: Self) {
        self.calls.extend(other.calls);
        self.messages.extend(other.messages);
        self.lost_calls += other.lost_calls;
        self.lost_messages += other.lost_messages;
        self.faults.extend(other.faults);
    }
}

/// A packet to a reader: its kind, what is before what was handed out, and that.
type ToReader = (u8, Option<[u8; FOR_WHOM_BYTES]>, Vec<u8>);

/// A reader.
struct Way {
    packets: Sender<ToReader>,
    /// What goes to it next.
    frames: Vec<u8>,
    /// Calls and messages that it gave up, and its CPU time, until the last answer.
    given_up: (u64, u64),
    cpu_s: f64,
    /// To end it with, and who hears it: afterwards nothing more comes into the recording.
    stream: UnixStream,
    hearing: Option<JoinHandle<()>>,
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        let _ = self.hearing.take().map(JoinHandle::join);
    }
}

/// A batch that not all have answered.
struct Pending {
    /// What became known beside the calls.
    batch: Batch,
    for_whom: ForWhom,
    /// How many messages of the log it ends behind.
    messages: u64,
    answers: Vec<Option<Answered>>,
}

/// What a batch came to, of all readers together.
pub(crate) struct Settled {
    /// With the calls that are wanted.
    pub(crate) batch: Batch,
    /// The messages that are.
    pub(crate) messages: Vec<Row>,
    pub(crate) counted: Vec<Counted>,
    /// How many messages of the log it ends behind.
    pub(crate) until: u64,
    pub(crate) of_readers: Vec<OfReader>,
    /// Whether calls and messages are wanted and there, and whether they are to be shown.
    pub(crate) has_rows: bool,
    pub(crate) is_shown: bool,
    /// How many rows of calls there are, and how many calls they stand for.
    pub(crate) row_count: u64,
    pub(crate) made: u64,
    /// Which live analysis was to be fed with them, and was by all.
    pub(crate) to_feed: Option<u64>,
    pub(crate) fed: Option<u64>,
    pub(crate) brought: Brought,
    pub(crate) is_last: bool,
}

/// What there is of a reader for those who are shown its rows.
pub(crate) struct OfReader {
    pub(crate) calls: Unsealed<Call>,
    pub(crate) messages: Unsealed<Row>,
}

/// How many rows are in no segment yet, and those that are new to those who are shown them.
#[derive(Default)]
pub(crate) struct Unsealed<R> {
    pub(crate) waiting: usize,
    pub(crate) rows: Vec<R>,
}

pub(crate) struct Readers {
    division: Division,
    ways: Vec<Way>,
    words: Receiver<(usize, Word)>,
    pending: VecDeque<Pending>,
    /// Messages of the log until now.
    messages: u64,
}

impl Readers {
    /// On these streams. What they encode goes into the recording. `arrived` wakes whoever wants to know of an answer.
    ///
    /// # Errors
    /// When the system has no thread or no file left.
    pub(crate) fn begin(
        streams: Vec<UnixStream>,
        intake: &Intake,
        arrived: &Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self> {
        let (tell, words) = unbounded();
        let mut ways = Vec::new();
        for (number, stream) in streams.into_iter().enumerate() {
            let (packets, to_send) = bounded::<ToReader>(MOST_PACKETS);
            let mut to = stream.try_clone()?;
            let send = move || {
                // That it is gone is noticed by whoever hears it.
                while let Ok((kind, head, bytes)) = to_send.recv() {
                    let head = head.as_ref().map_or(&[][..], |head| head);
                    if write_packet(&mut to, kind, &[head, &bytes]).and_then(|()| to.flush()).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new().name("to-reader".into()).spawn(send)?;
            let (tell, intake, arrived) = (tell.clone(), intake.clone(), Arc::clone(arrived));
            let heard = stream.try_clone()?;
            let hear = move || {
                let say = |word| {
                    let _ = tell.send((number, word));
                    arrived();
                };
                // A fault of ours must not look like a reader that takes its time.
                match catch_unwind(AssertUnwindSafe(|| hear(heard, &intake, &say))) {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => say(Word::Gone(format!("{error:#}"))),
                    Err(_) => say(Word::Gone("the daemon had a fault of its own".to_owned())),
                }
            };
            let hearing = Some(std::thread::Builder::new().name("from-reader".into()).spawn(hear)?);
            ways.push(Way { packets, frames: Vec::new(), given_up: (0, 0), cpu_s: 0.0, stream, hearing });
        }
        let division = Division::new(ways.len());
        Ok(Self { division, ways, words, pending: VecDeque::new(), messages: 0 })
    }

    /// Hands out a message. Returns what the daemon has to know of it.
    pub(crate) fn hand_out(&mut self, message: Message) -> Message {
        self.messages += 1;
        match self.division.divide(message) {
            Divided::ForAll(message) => {
                self.ways.iter_mut().for_each(|way| message.encode(&mut way.frames));
                message
            }
            Divided::ForOne(reader, message, rest) => {
                for (number, way) in self.ways.iter_mut().enumerate() {
                    let for_this = if number == reader { &message } else { &rest };
                    for_this.encode(&mut way.frames);
                }
                rest
            }
        }
    }

    /// Sends off what was handed out. With a batch, which has what became known beside the calls, they answer.
    ///
    /// # Errors
    /// When a reader takes nothing any more.
    pub(crate) fn send(&mut self, batch: Option<Batch>, for_whom: ForWhom) -> Result<(), Gone> {
        self.send_as(if batch.is_some() { BATCH } else { FRAMES }, batch, for_whom)
    }

    /// Has each of them join a live analysis.
    ///
    /// # Errors
    /// As of [`Readers::send`].
    pub(crate) fn invite(&mut self, orders: &[Order]) -> Result<(), Gone> {
        for ((reader, way), order) in self.ways.iter().enumerate().zip(orders) {
            if let Ok(bytes) = serde_json::to_vec(order) {
                way.send(reader, (ORDER, None, bytes))?;
            }
        }
        Ok(())
    }

    /// The run has ended. They answer once more.
    ///
    /// # Errors
    /// As of [`Readers::send`].
    pub(crate) fn end(&mut self, batch: Batch, for_whom: ForWhom) -> Result<(), Gone> {
        self.send_as(END, Some(batch), for_whom)
    }

    fn send_as(&mut self, kind: u8, batch: Option<Batch>, for_whom: ForWhom) -> Result<(), Gone> {
        let head = batch.is_some().then(|| for_whom.to_bytes());
        for (reader, way) in self.ways.iter_mut().enumerate() {
            let frames = std::mem::take(&mut way.frames);
            way.send(reader, (kind, head, frames))?;
        }
        if let Some(batch) = batch {
            let answers = self.ways.iter().map(|_| None).collect();
            self.pending.push_back(Pending { batch, for_whom, messages: self.messages, answers });
        }
        Ok(())
    }

    /// Whether nothing should be handed out before an answer has come.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= MOST_PENDING
    }

    /// How far the rings of an agent's processes have come.
    pub(crate) fn positions(&self, agent: u32) -> HashMap<(u32, u32), u64> {
        let positions = self.division.positions(agent);
        positions.map(|(process, ring, position)| ((process, ring), position)).collect()
    }

    /// Whether something has come.
    pub(crate) fn has_news(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether answers are to come.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// CPU time of their processes, as they said last.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.ways.iter().map(|way| way.cpu_s).sum()
    }

    /// Waits for something to come.
    ///
    /// # Errors
    /// When a reader is gone.
    pub(crate) fn wait(&mut self) -> Result<(), Gone> {
        match self.words.recv_timeout(PATIENCE) {
            Ok((number, word)) => self.take(number, word),
            Err(_) => {
                // The others wait for it, too; but they have taken what it has not.
                let answers = self.pending.front().map(|pending| &pending.answers);
                let unanswered = answers.into_iter().flatten().zip(&self.ways).enumerate();
                let unanswered = unanswered.filter(|(_, (answer, _))| answer.is_none());
                let stuck = unanswered.max_by_key(|(_, (_, way))| way.packets.len());
                let why = format!("it has not answered for {} s", PATIENCE.as_secs());
                Err(Gone { reader: stuck.map_or(0, |(reader, _)| reader), why })
            }
        }
    }

    /// The next batch that all have answered.
    ///
    /// # Errors
    /// As of [`Readers::wait`].
    pub(crate) fn next(&mut self) -> Result<Option<Settled>, Gone> {
        while let Ok((number, word)) = self.words.try_recv() {
            self.take(number, word)?;
        }
        let is_answered = |pending: &&Pending| pending.answers.iter().all(Option::is_some);
        if self.pending.front().filter(is_answered).is_none() {
            return Ok(None);
        }
        Ok(self.pending.pop_front().map(|pending| self.settle(pending)))
    }

    fn take(&mut self, number: usize, word: Word) -> Result<(), Gone> {
        let answered = match word {
            Word::Gone(why) => return Err(Gone { reader: number, why }),
            Word::PeerLost(reader) => {
                return Err(Gone { reader, why: "another process has lost it".to_owned() });
            }
            Word::Answered(answered) => answered,
        };
        let mut unanswered = self.pending.iter_mut().map(|pending| &mut pending.answers[number]);
        match unanswered.find(|answer| answer.is_none()) {
            Some(answer) => *answer = Some(answered),
            None => return Err(Gone { reader: number, why: "it answered what nobody asked".to_owned() }),
        }
        Ok(())
    }

    fn settle(&mut self, pending: Pending) -> Settled {
        let Pending { batch, for_whom, messages: until, answers } = pending;
        let mut settled = Settled {
            batch,
            messages: Vec::new(),
            counted: Vec::new(),
            until,
            of_readers: Vec::new(),
            has_rows: true,
            is_shown: for_whom.is_shown,
            row_count: 0,
            made: 0,
            to_feed: for_whom.feeding.map(|feeding| feeding.generation),
            fed: for_whom.feeding.map(|feeding| feeding.generation),
            brought: Brought::default(),
            is_last: true,
        };
        for (way, Answered { answer, brought, is_last }) in
            self.ways.iter_mut().zip(answers.into_iter().flatten())
        {
            settled.brought.append(brought);
            settled.is_last &= is_last;
            way.add(*answer, &mut settled);
        }
        settled.is_shown &= settled.has_rows;
        settled
    }
}

impl Way {
    fn send(&self, reader: usize, packet: ToReader) -> Result<(), Gone> {
        match self.packets.send_timeout(packet, PATIENCE) {
            Err(SendTimeoutError::Timeout(_)) => {
                Err(Gone { reader, why: format!("it has taken nothing for {} s", PATIENCE.as_secs()) })
            }
            // One that is gone says so itself.
            Ok(()) | Err(SendTimeoutError::Disconnected(_)) => Ok(()),
        }
    }

    fn add(&mut self, answer: Answer, to: &mut Settled) {
        let Answer { counted, rows, row_count, made, are_fed, calls, messages, faults, cpu_s } = answer;
        to.row_count = to.row_count.saturating_add(row_count);
        to.made = to.made.saturating_add(made);
        to.fed = to.fed.filter(|_| are_fed);
        to.counted.extend(counted);
        to.brought.faults.extend(faults);
        to.brought.lost_calls += calls.given_up.saturating_sub(self.given_up.0);
        to.brought.lost_messages += messages.given_up.saturating_sub(self.given_up.1);
        (self.given_up, self.cpu_s) = ((calls.given_up, messages.given_up), cpu_s);
        to.has_rows &= rows.is_some();
        // Where nobody is shown any rows, there is nothing to keep.
        let mut of_reader = OfReader { calls: Unsealed::default(), messages: Unsealed::default() };
        if let Some(mut rows) = rows {
            let of_messages = std::mem::take(&mut rows.messages.0);
            let earlier =
                (std::mem::take(&mut rows.earlier_calls.0), std::mem::take(&mut rows.earlier_messages.0));
            let batch = rows.into_batch();
            if to.is_shown {
                of_reader = OfReader {
                    calls: Unsealed { waiting: calls.waiting, rows: earlier.0 },
                    messages: Unsealed { waiting: messages.waiting, rows: earlier.1 },
                };
                of_reader.calls.rows.extend_from_slice(&batch.calls);
                of_reader.messages.rows.extend_from_slice(&of_messages);
            }
            to.messages.extend(of_messages);
            to.batch.take_rows(batch);
        }
        to.of_readers.push(of_reader);
    }
}

/// Hears a reader to its end. Segments go to the disk here, beside what the recorder does.
fn hear(stream: UnixStream, intake: &Intake, say: &dyn Fn(Word)) -> Result<()> {
    let mut from = BufReader::new(stream);
    let mut brought = Brought::default();
    loop {
        let (kind, bytes) = read_packet(&mut from)?.context("its process ended")?;
        match kind {
            CALLS | MESSAGES => {
                let encoded = packets::segment(&bytes)?;
                let rows = encoded.segment.rows;
                let put =
                    if kind == CALLS { intake.put_calls(encoded) } else { intake.put_messages(encoded) };
                let Brought { calls, messages, lost_calls, lost_messages, faults } = &mut brought;
                let (segments, lost) =
                    if kind == CALLS { (calls, lost_calls) } else { (messages, lost_messages) };
                match put {
                    Ok(segment) => segments.push(segment),
                    Err(error) => {
                        *lost += rows;
                        faults.push(error.to_string());
                    }
                }
            }
            ANSWER | LAST_ANSWER => {
                let is_last = kind == LAST_ANSWER;
                let answer = Box::new(packets::answer(&bytes)?);
                let brought = std::mem::take(&mut brought);
                say(Word::Answered(Answered { answer, brought, is_last }));
                if is_last {
                    return Ok(());
                }
            }
            PEER_LOST => {
                say(Word::PeerLost(packets::lost(&bytes)?));
                return Ok(());
            }
            other => bail!("it sent a packet of kind {other}"),
        }
    }
}
