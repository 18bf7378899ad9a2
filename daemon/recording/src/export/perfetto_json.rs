//! The JSON trace that Perfetto and Chrome open: a rank is a process, its threads are threads, a call is a slice, a message
//! is an arrow between two of them.
//!
//! An arrow begins and ends in slices, and a slice holds a moment only if it begins at or before it and ends behind it. So
//! an arrow ends in the last nanosecond of the call that received, and a call that takes no time holds no arrow unless it is
//! drawn as one nanosecond.

use mpiscope_model::{Call, Nanoseconds, Rank};
use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};

/// What processes are numbered from: small numbers mean the kernel's own to those who read traces.
const FIRST_PROCESS: u64 = 1_000_000;
/// Events that are written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// A call that is drawn, with the words for its numbers.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'a> {
    /// The call.
    pub call: &'a Call,
    /// When it ends as it is drawn.
    pub end_ns: Nanoseconds,
    /// Its function.
    pub function: &'a str,
    /// Its communicator; empty where it has none.
    pub comm: &'a str,
    /// Where it was made; empty where that is not known.
    pub site: &'a str,
}

/// One end of a message: the other has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageArrow {
    /// The number of the message in the trace.
    pub id: u64,
    /// The thread of the call.
    pub thread: (Rank, u16),
    /// A moment within the slice of the call.
    pub at_ns: Nanoseconds,
}

/// Writes events.
pub struct Perfetto<W> {
    target: W,
    ranks: u64,
    /// Threads beyond the first of their rank, by their place.
    further: Vec<(Rank, u16)>,
    events: String,
    is_first: bool,
}

/// The number of the process of a rank.
fn process(rank: Rank) -> u64 {
    FIRST_PROCESS + u64::from(rank.0)
}

/// A time as the format has it: microseconds, to the nanosecond.
struct Micros(Nanoseconds);

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Text in quotes. Names are short and mostly plain.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plain = |byte: u8| (0x20..0x7F).contains(&byte) && byte != b'"' && byte != b'\\';
        if self.0.bytes().all(plain) {
            return write!(f, "\"{}\"", self.0);
        }
        f.write_str(&serde_json::Value::from(self.0).to_string())
    }
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace of these ranks, each with its host and its threads, which are in order.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(target: W, ranks: &[(Rank, String, Vec<u16>)]) -> io::Result<Self> {
        let count = ranks.iter().map(|(rank, ..)| u64::from(rank.0) + 1).max().unwrap_or_default();
        let further = ranks.iter().flat_map(|(rank, _, threads)| {
            threads.iter().skip_while(|&&thread| thread == 0).map(move |&thread| (*rank, thread))
        });
        let mut trace = Self {
            target,
            ranks: count,
            further: further.collect(),
            events: String::with_capacity(2 * BUFFER_BYTES),
            is_first: true,
        };
        trace.events.push_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        trace.further.sort_unstable();
        for (rank, host, threads) in ranks {
            let name = format!("rank {rank} on {host}");
            trace.about((*rank, 0), "process_name", format_args!("\"name\":{}", Quoted(&name)))?;
            trace.about((*rank, 0), "process_sort_index", format_args!("\"sort_index\":{rank}"))?;
            for &thread in threads {
                let name = format_args!("\"name\":\"thread {thread}\"");
                trace.about((*rank, thread), "thread_name", name)?;
            }
        }
        Ok(trace)
    }

    /// The number of a thread, which no other thread of any rank has. The first has that of its process.
    fn thread(&self, thread: (Rank, u16)) -> u64 {
        match self.further.binary_search(&thread) {
            Ok(place) => FIRST_PROCESS + self.ranks + place as u64,
            Err(_) => process(thread.0),
        }
    }

    /// Metadata of a thread or its process.
    fn about(&mut self, thread: (Rank, u16), what: &str, words: fmt::Arguments<'_>) -> io::Result<()> {
        let (process, number) = (process(thread.0), self.thread(thread));
        self.event(format_args!(
            "\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{process},\"tid\":{number},\"args\":{{{words}}}"
        ))
    }

    fn event(&mut self, fields: fmt::Arguments<'_>) -> io::Result<()> {
        let before = if self.is_first { "\n{" } else { ",\n{" };
        self.is_first = false;
        self.events.push_str(before);
        // A string takes everything.
        let _ = self.events.write_fmt(fields);
        self.events.push('}');
        if self.events.len() >= BUFFER_BYTES { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> io::Result<()> {
        let written = self.target.write_all(self.events.as_bytes());
        self.events.clear();
        written
    }

    /// A call. Those of one thread do not overlap.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let Slice { call, end_ns, function, comm, site } = slice;
        let thread = self.thread((call.rank, call.thread));
        let about = About { call, comm, site };
        self.event(format_args!(
            "\"ph\":\"X\",\"cat\":\"mpi\",\"name\":{},\"pid\":{},\"tid\":{thread},\"ts\":{},\"dur\":{},\"args\":{about}",
            Quoted(function),
            process(call.rank),
            Micros(call.start_ns),
            Micros(end_ns - call.start_ns),
        ))
    }

    /// A message, from the slice that sent it to the one that received it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn arrow(&mut self, from: &MessageArrow, to: &MessageArrow) -> io::Result<()> {
        for (phase, end) in [("\"s\"", from), ("\"f\",\"bp\":\"e\"", to)] {
            let thread = self.thread(end.thread);
            self.event(format_args!(
                "\"ph\":{phase},\"cat\":\"message\",\"name\":\"message\",\"id\":{},\"pid\":{},\"tid\":{thread},\"ts\":{}",
                end.id,
                process(end.thread.0),
                Micros(end.at_ns),
            ))?;
        }
        Ok(())
    }

    /// That was all; gives back what it was written to.
    ///
    /// # Errors
    /// When the last of it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.events.push_str("\n]}\n");
        self.drain()?;
        self.target.flush()?;
        Ok(self.target)
    }
}

/// Arguments of a call beside its name.
struct About<'a> {
    call: &'a Call,
    comm: &'a str,
    site: &'a str,
}

impl Display for About<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { call, comm, site } = self;
        write!(f, "{{\"bytes\":{}", call.bytes)?;
        if let Some(peer) = call.peer {
            write!(f, ",\"peer\":{peer}")?;
        }
        if let Some(tag) = call.tag {
            write!(f, ",\"tag\":{tag}")?;
        }
        if !comm.is_empty() {
            write!(f, ",\"comm\":{}", Quoted(comm))?;
        }
        if !site.is_empty() {
            write!(f, ",\"site\":{}", Quoted(site))?;
        }
        if call.count > 1 {
            write!(f, ",\"polls\":{}", call.count)?;
        }
        f.write_char('}')
    }
}
