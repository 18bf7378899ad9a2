//! A reader: frames of the log in; sums and segments out.

use super::analysing::Analysing;
use super::folder::Folder;
use super::packets::{
    ANSWER, Answer, BATCH, BatchRows, CALLS, END, FRAMES, ForWhom, LAST_ANSWER, MESSAGES, ORDER, Plan,
    read_packet, write_answer, write_lost,
};
use super::peers::{PeerLost, Peers};
use super::table::Table;
use anyhow::{Context as _, Result, bail};
use mpiscope_engine::Counter;
use mpiscope_ingest::Ingest;
use mpiscope_link::Secret;
use mpiscope_model::{Batch, Call, Message as Row, Nanoseconds};
use mpiscope_process::own_process;
use mpiscope_wire::{Message, first_frame};
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::net::UnixStream;

struct Reader {
    counter: Counter,
    peers: Peers,
    calls: Table<Call>,
    messages: Table<Row>,
    folder: Folder,
    to: BufWriter<UnixStream>,
    /// Whether the last batch was shown, and up to when it was known.
    is_shown: bool,
    until_ns: Nanoseconds,
    secret: Secret,
    analysing: Option<Analysing>,
}

/// Reads what the daemon hands out on a stream, until the run has ended or nobody hands out any more. There are streams to the
/// other readers, by their places; none at its own. The secret is also that of live analyses that it is to join.
///
/// # Errors
/// When there is no place for segments until they are handed over, or what comes makes no sense.
pub(crate) fn read_calls(
    plan: &[u8],
    stream: UnixStream,
    others: Vec<Option<UnixStream>>,
    secret: Secret,
) -> Result<()> {
    let Plan { window_ns, threads, may_show, calls_per_segment, messages_per_segment, zstd_level } =
        serde_json::from_slice(plan).context("the daemon has another version")?;
    let peers = Peers::begin(others)?;
    let folder = Folder::new()?;
    // Effects of calls are for the live analysis alone.
    let ingest = if may_show { Ingest::for_diagnosis() } else { Ingest::new() };
    let mut reader = Reader {
        counter: Counter::new(peers.count(), window_ns, ingest.with_threads(threads)),
        peers,
        calls: Table::open(&folder, CALLS, calls_per_segment, zstd_level)?,
        messages: Table::open(&folder, MESSAGES, messages_per_segment, zstd_level)?,
        folder,
        to: BufWriter::new(stream.try_clone()?),
        is_shown: false,
        until_ns: 0,
        secret,
        analysing: None,
    };
    let mut from = BufReader::new(stream);
    while let Some((kind, bytes)) = read_packet(&mut from)? {
        if !reader.take(kind, &bytes)? {
            break;
        }
    }
    // What was said last is still on its way until the daemon ends the stream.
    while from.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    Ok(())
}

impl Reader {
    /// Takes a packet; says whether more is to come.
    fn take(&mut self, kind: u8, bytes: &[u8]) -> Result<bool> {
        let (for_whom, mut rest) = match kind {
            FRAMES => (None, bytes),
            BATCH | END => {
                let (for_whom, frames) = bytes.split_first_chunk().context("a batch that is cut off")?;
                (Some(ForWhom::from_bytes(*for_whom)), frames)
            }
            ORDER => {
                // The one before is over.
                self.analysing = None;
                let order = serde_json::from_slice(bytes).context("the daemon has another version")?;
                // The daemon notices where it does not come: the recording goes on.
                self.analysing = Analysing::begin(order, self.secret.clone()).ok();
                return Ok(true);
            }
            other => bail!("the daemon sent a packet of kind {other}"),
        };
        while !rest.is_empty() {
            let frame = first_frame(rest).ok().flatten().context("the daemon sent what is no frame")?;
            let message = Message::decode(frame.kind, frame.payload);
            self.counter.feed(message.ok().context("the daemon sent a frame that makes no sense")?);
            rest = &rest[frame.bytes.len()..];
        }
        let Some(for_whom) = for_whom else { return Ok(true) };
        self.answer(for_whom, kind == END)
    }

    /// Says what became known; says whether more is to come.
    fn answer(
        &mut self,
        ForWhom { is_shown, is_analysed, feeding, is_due }: ForWhom,
        is_last: bool,
    ) -> Result<bool> {
        // Those that wait, and that nobody who looks was shown.
        let earlier = if is_shown && !self.is_shown {
            (self.calls.waiting(), self.messages.waiting())
        } else {
            (Vec::new(), Vec::new())
        };
        self.is_shown = is_shown;
        let mut batch = if is_last { self.counter.take_rest() } else { self.counter.take() };
        let events = match self.peers.exchange(self.counter.events_for_each(&batch.events)) {
            Ok(events) => events,
            Err(PeerLost(place)) => {
                write_lost(&mut self.to, place)?;
                self.to.flush()?;
                return Ok(false);
            }
        };
        let messages = self.counter.count(&batch, &events, is_last);
        let counted = (is_due || is_last).then(|| self.counter.counted(is_last));
        let written = [self.calls.push(&batch.calls, is_last), self.messages.push(&messages, is_last)];
        let faults = written.into_iter().flatten().filter_map(Result::err);
        let faults = faults.map(|error| format!("a process that reads calls: {error}")).collect();
        self.calls.hand_over(&self.folder, &mut self.to)?;
        self.messages.hand_over(&self.folder, &mut self.to)?;
        let before_ns = std::mem::replace(&mut self.until_ns, batch.until_ns);
        let row_count = batch.calls.len() as u64;
        let made = batch.calls.iter().fold(0, |made: u64, call| made.saturating_add(call.count.max(1)));
        let are_fed = self.analysing.as_mut().is_some_and(|analysing| {
            let is_kept = is_shown || is_analysed;
            let given = feeding.map(|feeding| (feeding, of_analysis(&mut batch, is_kept)));
            analysing.feed(given, before_ns)
        });
        let answer = Answer {
            counted,
            rows: (is_shown || is_analysed).then(|| BatchRows::new(batch, messages, earlier)),
            row_count,
            made,
            are_fed,
            calls: self.calls.written(),
            messages: self.messages.written(),
            faults,
            cpu_s: own_process::cpu_s(),
        };
        write_answer(&mut self.to, if is_last { LAST_ANSWER } else { ANSWER }, &answer)?;
        self.to.flush()?;
        Ok(!is_last)
    }
}

/// What a live analysis needs of a batch.
fn of_analysis(batch: &mut Batch, is_kept: bool) -> Batch {
    let rows = Batch { until_ns: batch.until_ns, ..Batch::default() };
    if is_kept {
        let Batch { activities, collected, events, events_end_ns, .. } = &*batch;
        Batch {
            activities: activities.clone(),
            collected: collected.clone(),
            events: events.clone(),
            events_end_ns: events_end_ns.clone(),
            ..rows
        }
    } else {
        Batch {
            activities: std::mem::take(&mut batch.activities),
            collected: std::mem::take(&mut batch.collected),
            events: std::mem::take(&mut batch.events),
            events_end_ns: std::mem::take(&mut batch.events_end_ns),
            ..rows
        }
    }
}
