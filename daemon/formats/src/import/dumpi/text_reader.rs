//! Reads the text of one rank as dumpi2ascii writes it: calls, each between two lines with times, and between the calls lines
//! about the rank and about datatypes.

use crate::limits::MAX_NS;
use anyhow::{Context as _, Result, anyhow, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::ops::Range;
use std::path::Path;

/// No line is longer: arrays have a number for each rank.
const MAX_LINE_BYTES: usize = 64 << 20;
const ENTERING: &str = " entering at walltime ";
const RETURNING: &str = " returning at walltime ";

/// Reads a text call by call.
pub(crate) struct TextReader<R> {
    input: R,
    /// The name of the file in messages.
    name: String,
    lines: u64,
    line: Vec<u8>,
    /// The line as text.
    text: String,
    record: Record,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) function: String,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) thread: u32,
    /// Names and values of all arguments, and where each is.
    text: String,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

/// What a text says of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) bytes: u64,
    pub(crate) is_cancelled: bool,
    pub(crate) source: i64,
    pub(crate) tag: i64,
}

/// An item of a text.
pub(crate) enum TextItem<'a> {
    Call(&'a Record),
    /// A line outside of all calls.
    Other(&'a str),
    /// The text ends within a call of this function.
    CutOff(&'a str),
}

impl TextReader<BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        Ok(Self::from_input(BufReader::with_capacity(1 << 18, file), name))
    }
}

/// Whether a file begins like such a text.
pub(crate) fn is_text(beginning: &[u8]) -> bool {
    String::from_utf8_lossy(beginning).lines().any(|line| line.contains(ENTERING))
}

impl<R: BufRead> TextReader<R> {
    pub(crate) fn from_input(input: R, name: String) -> Self {
        Self { input, name, lines: 0, line: Vec::new(), text: String::new(), record: Record::default() }
    }

    /// How many lines were read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// An error about the line that was read last.
    pub(crate) fn wrong(&self, text: impl std::fmt::Display) -> anyhow::Error {
        anyhow!("{}, line {}: {text}", self.name, self.lines)
    }

    /// Goes on to the next line that is not blank; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let most_bytes = MAX_LINE_BYTES as u64 + 1;
            let read = (&mut self.input).take(most_bytes).read_until(b'\n', &mut self.line);
            let read = read.with_context(|| format!("cannot read {}", self.name))?;
            self.lines += u64::from(read > 0);
            if self.line.len() > MAX_LINE_BYTES {
                bail!("{}, line {}: no line has more than {MAX_LINE_BYTES} bytes", self.name, self.lines);
            }
            if read == 0 {
                return Ok(false);
            }
            let line = self.line.trim_ascii();
            if !line.is_empty() {
                self.text.clear();
                // Names of a program may be in any encoding.
                self.text.push_str(&String::from_utf8_lossy(line));
                return Ok(true);
            }
        }
    }

    /// The next item; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<TextItem<'_>>> {
        if !self.advance()? {
            return Ok(None);
        }
        if !self.text.contains(ENTERING) {
            return Ok(Some(TextItem::Other(&self.text)));
        }
        let mut record = std::mem::take(&mut self.record);
        let (function, when) = self.text.split_once(ENTERING).unwrap_or_default();
        function.clone_into(&mut record.function);
        record.text.clear();
        record.fields.clear();
        let began = parse_time(when);
        let is_whole = match began {
            Some((start_ns, thread)) => {
                (record.start_ns, record.thread) = (start_ns, thread);
                self.rest(&mut record)?
            }
            None if self.is_cut_off() => false,
            None => return Err(self.wrong("it does not say when the call began")),
        };
        self.record = record;
        let record = &self.record;
        Ok(Some(if is_whole { TextItem::Call(record) } else { TextItem::CutOff(&record.function) }))
    }

    /// Whether the current line is the last and has no line end.
    fn is_cut_off(&self) -> bool {
        !self.line.ends_with(b"\n")
    }

    /// Reads the fields of a call until it returns; `false` if the text ends before.
    fn rest(&mut self, record: &mut Record) -> Result<bool> {
        loop {
            if !self.advance()? {
                return Ok(false);
            }
            // An array of two dimensions ends on the line of what follows it.
            let line = self.text.trim_start_matches(']');
            if let Some((function, when)) = line.split_once(RETURNING) {
                let Some((end_ns, _)) = parse_time(when) else {
                    if self.is_cut_off() {
                        return Ok(false);
                    }
                    return Err(self.wrong("it does not say when the call ended"));
                };
                if function != record.function || end_ns < record.start_ns {
                    return Err(self.wrong(format_args!(
                        "{} is expected to return, and later than it began",
                        record.function
                    )));
                }
                record.end_ns = end_ns;
                return Ok(true);
            }
            if line.contains(ENTERING) {
                return Err(self.wrong(format_args!("{} has not returned yet", record.function)));
            }
            record.field(line);
        }
    }
}

/// A time of the clock, and the thread.
fn parse_time(text: &str) -> Option<(u64, u32)> {
    let (wall, rest) = text.split_once(',')?;
    let thread = rest.trim_end_matches('.').rsplit_once(" thread ")?.1.parse().ok()?;
    Some((parse_seconds(wall)?, thread))
}

/// Seconds as nanoseconds.
fn parse_seconds(text: &str) -> Option<u64> {
    if text.contains(['e', 'E']) {
        // Scripts that write such texts print small numbers so.
        let ns = text.parse::<f64>().ok()? * 1e9;
        return (0.0..=MAX_NS as f64).contains(&ns).then(|| ns.round() as u64);
    }
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = fraction.bytes().all(|digit| digit.is_ascii_digit());
    // What is finer than a nanosecond does not count.
    let fraction: u64 = format!("{fraction:0<9.9}").parse().ok().filter(|_| is_number)?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

impl Record {
    /// A line such as `MPI_Request requests[2]=[4, 5]`.
    fn field(&mut self, line: &str) {
        let Some((names, value)) = line.split_once('=') else { return };
        let name = names.split('[').next().unwrap_or_default();
        let name = name.rsplit(' ').next().unwrap_or_default();
        let from = self.text.len();
        self.text += name;
        let middle = self.text.len();
        self.text += value.trim();
        self.fields.push((from..middle, middle..self.text.len()));
    }

    fn value(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(of, _)| &self.text[of.clone()] == name);
        found.map(|(_, value)| &self.text[value.clone()])
    }

    /// A number, without the explanation behind it.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.split(' ').next()?.parse().ok()
    }

    /// Numbers in brackets, or a single one without; none where they are missing.
    pub(crate) fn numbers(&self, name: &str) -> Option<Vec<i64>> {
        let value = self.value(name)?;
        let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
        if inside.is_empty() {
            return Some(Vec::new());
        }
        inside.split(',').map(|number| number.trim().parse().ok()).collect()
    }

    /// Statuses; none where they are missing.
    pub(crate) fn statuses(&self, name: &str) -> Option<Vec<Status>> {
        let inside = self.value(name)?.strip_prefix('[')?.strip_suffix(']')?;
        let status = |text: &str| {
            let of = |name: &str| -> Option<i64> {
                let mut pairs = text.split(',').filter_map(|pair| pair.trim().split_once('='));
                pairs.find(|(found, _)| *found == name)?.1.parse().ok()
            };
            let bytes = u64::try_from(of("bytes")?).ok()?;
            Some(Status {
                bytes,
                is_cancelled: of("cancelled")? != 0,
                source: of("source")?,
                tag: of("tag")?,
            })
        };
        inside.split('{').skip(1).map(|text| status(text.split('}').next().unwrap_or_default())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<(Vec<Record>, Vec<String>)> {
        let mut text = TextReader::from_input(text.as_bytes(), "t-0000.txt".into());
        let (mut calls, mut others) = (Vec::new(), Vec::new());
        while let Some(item) = text.next()? {
            match item {
                TextItem::Call(record) => calls.push(record.clone()),
                TextItem::Other(line) => others.push(line.to_owned()),
                TextItem::CutOff(function) => others.push(format!("cut off in {function}")),
            }
        }
        Ok((calls, others))
    }

    #[test]
    fn a_call_has_its_times_and_its_fields() {
        let text = "hostname=one\n\
                    MPI_Waitsome entering at walltime 8153.0493, cputime 0.0044 seconds in thread 2.\r\n\
                    Perfcounters: [A=1, B=2]\n\
                    int count=3\nMPI_Request requests[3]=[4, 5, 6]\nint outcount=2\nint indices[2]=[0, 2]\n\
                    int tag=-1 (MPI_ANY_TAG)\nMPI_Comm comm=2 (MPI_COMM_WORLD)\n\
                    MPI_Status statuses[2]=[{bytes=8, cancelled=0, source=1, tag=5, error=0}, {bytes=0, cancelled=1, source=-1, tag=-1, error=0}]\n\
                    MPI_Status status=<IGNORED>\nint none[0]=[]\n\
                    MPI_Waitsome returning at walltime 8153.049300007, cputime 0.0045 seconds in thread 2.\n\n\
                    Datatype 9 (MPI_INT) has size 4\n";
        let (calls, others) = all(text).unwrap();
        assert_eq!(others, ["hostname=one", "Datatype 9 (MPI_INT) has size 4"]);
        let call = &calls[0];
        assert_eq!((calls.len(), call.function.as_str(), call.thread), (1, "MPI_Waitsome", 2));
        assert_eq!((call.start_ns, call.end_ns), (8_153_049_300_000, 8_153_049_300_007));
        assert_eq!(
            (call.number("count"), call.number("tag"), call.number("comm")),
            (Some(3), Some(-1), Some(2))
        );
        assert_eq!(call.numbers("requests"), Some(vec![4, 5, 6]));
        assert_eq!((call.numbers("none"), call.numbers("missing")), (Some(Vec::new()), None));
        let status = |bytes, is_cancelled, source, tag| Status { bytes, is_cancelled, source, tag };
        assert_eq!(call.statuses("statuses"), Some(vec![status(8, false, 1, 5), status(0, true, -1, -1)]));
        assert_eq!(call.statuses("status"), None);
        assert!(is_text(text.as_bytes()) && !is_text(b"rank,type\n"));
    }

    #[test]
    fn times_have_any_number_of_digits() {
        let times = [
            ("8153", 8_153_000_000_000),
            ("8153.", 8_153_000_000_000),
            ("0.000000001", 1),
            ("103.00000000100000001", 103_000_000_001),
            ("1e-05", 10_000),
            ("1.5E2", 150_000_000_000),
        ];
        for (text, ns) in times {
            assert_eq!(
                parse_time(&format!("{text}, cputime 0.1 seconds in thread 3")),
                Some((ns, 3)),
                "{text}"
            );
        }
        for text in ["", "-1.5", "1.5.2", "1.-05", "1e99", "-1e2", "nan", "inf", "e"] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
    }

    #[test]
    fn names_in_any_encoding_and_arrays_of_two_dimensions() {
        let when = "walltime 1.5, cputime 0.1 seconds in thread 0.\n";
        let text = format!(
            "MPI_Comm_set_name entering at {when}string name=\"Gr\u{0}\u{0}e\"\nMPI_Comm_set_name returning at {when}\
             MPI_Group_range_incl entering at {when}int ranges[2][3]=[[0, 2, 1]\n, [4, 6, 1]\n]MPI_Group newgroup=3 (user)\n\
             MPI_Group_range_incl returning at {when}\
             MPI_Group_range_excl entering at {when}int ranges[1][3]=[[0, 2, 1]\n]MPI_Group_range_excl returning at {when}"
        );
        let bytes: Vec<u8> = text.bytes().map(|byte| if byte == 0 { 0xFC } else { byte }).collect();
        let mut reader = TextReader::from_input(&*bytes, "t-0000.txt".into());
        let mut calls = Vec::new();
        while let Some(TextItem::Call(record)) = reader.next().unwrap() {
            calls.push((record.function.clone(), record.number("newgroup")));
        }
        let expected = [("Comm_set_name", None), ("Group_range_incl", Some(3)), ("Group_range_excl", None)];
        assert_eq!(calls, expected.map(|(name, group)| (format!("MPI_{name}"), group)));
    }

    #[test]
    fn a_text_may_be_cut_off_anywhere() {
        let enter = "MPI_Send entering at walltime 1.5, cputime 0.1 seconds in thread 0.\n";
        let leave = "MPI_Send returning at walltime 1.7, cputime 0.1 seconds in thread 0.\n";
        let whole = format!("{enter}int count=3\n{leave}");
        for length in 0..whole.len() {
            let (calls, others) = all(&whole[..length]).unwrap();
            // The last characters of a line may be missing: what it says is there.
            let is_whole = length + 2 >= whole.len();
            assert_eq!(calls.len(), usize::from(is_whole), "{length}");
            let is_within = length > "MPI_Send entering at walltime ".len() && !is_whole;
            let expected = if is_within { vec!["cut off in MPI_Send"] } else { Vec::new() };
            assert!(
                others == expected || length <= "MPI_Send entering at walltime ".len(),
                "{length} {others:?}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let enter = "MPI_Send entering at walltime 1.5, cputime 0.1 seconds in thread 0.\n";
        let leave = "MPI_Send returning at walltime 1.4, cputime 0.1 seconds in thread 0.\n";
        let wrong = |text: &str| all(text).unwrap_err().to_string();
        assert!(
            wrong(&format!("{enter}{enter}")).starts_with("t-0000.txt, line 2: MPI_Send has not returned")
        );
        assert!(wrong(&format!("{enter}{leave}")).contains("line 2: MPI_Send is expected to return"));
        let other = leave.replace("Send", "Recv").replace("1.4", "2.4");
        assert!(wrong(&format!("{enter}{other}")).contains("line 2: MPI_Send is expected to return"));
        assert!(wrong(&enter.replace("1.5", "x")).contains("line 1: it does not say when"));
        assert!(wrong(&enter.replace("thread 0", "thread")).contains("line 1: it does not say when"));
    }
}
