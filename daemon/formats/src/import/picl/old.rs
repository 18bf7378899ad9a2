//! Reads lines of the first PICL format. They are numbers, or the same numbers with words between them:
//!
//! ```text
//! 4 1 500000 0 1 7 800
//! send  clock 1 500000 node 0 to 1 type 7 lth 800
//! ```
//!
//! First comes the type of the record, then seconds, microseconds and the processor. Records become those of PICL 2.0.

use super::fields::{clock_ns, quoted};
use super::record::Data;
use crate::picl_events::{BARRIER, IPROBE, RECEIVE, SEND, TRACE, WORLD};

/// The types of records by number, from 1 on.
const TYPES: [&str; 22] = [
    "trace_start",
    "open",
    "load",
    "send",
    "probe",
    "recv",
    "recv_blocking",
    "recv_waking",
    "message",
    "sync",
    "compstats",
    "commstats",
    "close",
    "trace_level",
    "trace_mark",
    "trace_message",
    "trace_stop",
    "trace_flush",
    "trace_exit",
    "block_begin",
    "block_end",
    "trace_mark_array",
];
/// Numbers of a record that are looked at.
const MAX_NUMBERS: usize = 8;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldRecord {
    pub(super) at_ns: i64,
    pub(super) processor: i64,
    pub(super) content: OldContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OldContent {
    /// An event begins.
    Entry(i32, Data),
    /// An event ends.
    Exit(i32, Data),
    /// An event begins and ends.
    Whole(i32, Data),
    /// It is not used.
    LeftOut(String),
}

/// Whether a line begins with the name of a record.
pub(super) fn is_named(first: &str) -> bool {
    first.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Whether a line is one that a trace begins with.
pub(super) fn is_beginning(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    match fields.next() {
        Some("1") => {
            let rest: Vec<Result<i64, _>> = fields.map(str::parse).collect();
            rest.len() == 6 && rest.iter().all(Result::is_ok)
        }
        Some(name) => TYPES.contains(&name) && fields.next() == Some("clock"),
        None => false,
    }
}

/// Reads a line.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub(super) fn read_line(line: &str) -> Result<OldRecord, String> {
    let mut fields = line.split_ascii_whitespace();
    let first = fields.next().unwrap_or_default();
    let name = match first.parse::<usize>() {
        Ok(number) => {
            TYPES.get(number.wrapping_sub(1)).map_or_else(|| format!("type {number}"), |name| (*name).into())
        }
        Err(_) => first.to_owned(),
    };
    let mut numbers = Vec::new();
    for field in fields {
        // Words between the numbers say what these are.
        let is_number = field.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        if is_number && numbers.len() < MAX_NUMBERS {
            numbers.push(
                field
                    .parse::<i64>()
                    .map_err(|_| format!("a whole number is expected, not {}", quoted(field)))?,
            );
        }
    }
    let [seconds, microseconds, processor, ref data @ ..] = numbers[..] else {
        return Err(format!("{} has no time and processor", quoted(first)));
    };
    let Some(at_ns) = clock_ns(seconds, microseconds) else {
        return Err(format!("{seconds} seconds are no time of a run"));
    };
    Ok(OldRecord { at_ns, processor, content: interpret(&name, data)? })
}

fn interpret(name: &str, data: &[i64]) -> Result<OldContent, String> {
    // The other side, the type of the message, its length.
    let message = || match *data {
        [peer, tag, bytes, ..] => Ok(Data::new(&[bytes, tag, peer])),
        _ => Err(format!("{name} has a processor, a type and a length")),
    };
    Ok(match name {
        "trace_start" => OldContent::Entry(TRACE, Data::default()),
        "trace_exit" => OldContent::Exit(TRACE, Data::default()),
        "send" => OldContent::Whole(SEND, message()?),
        "recv" => OldContent::Whole(RECEIVE, message()?),
        "recv_blocking" => OldContent::Entry(RECEIVE, Data::default()),
        "recv_waking" => OldContent::Exit(RECEIVE, message()?),
        "probe" => OldContent::Whole(IPROBE, Data::default()),
        "sync" => OldContent::Whole(BARRIER, Data::new(&[WORLD])),
        other => OldContent::LeftOut(format!("{other} record")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_the_same_with_and_without_words() {
        let pairs = [
            ("1 0 10 3 2 1 0", "trace_start  clock 0 10 node 3 event 2 compstats 1 commstats 0"),
            ("4 1 500000 0 1 7 800", "send  clock 1 500000 node 0 to 1 type 7 lth 800"),
            ("6 1 5 0 1 7 8", "recv  clock 1 5 node 0 from 1 type 7 lth 8"),
            ("7 1 5 0 7", "recv_blocking  clock 1 5 node 0 type 7"),
            ("8 1 6 0 1 7 8", "recv_waking  clock 1 6 node 0 from 1 type 7 lth 8"),
            ("10 1 6 0", "sync  clock 1 6 node 0"),
            ("17 1 6 0", "trace_stop  clock 1 6 node 0 : ran out of memory"),
            (
                "20 1 6 0 5 -1 2",
                "block_begin  clock 1 6 node 0 block_type 5 location_type -1 parameter_type 2",
            ),
        ];
        for (compact, verbose) in pairs {
            assert_eq!(read_line(compact), read_line(verbose), "{compact}");
            assert!(read_line(compact).is_ok(), "{compact}");
        }
        let send = read_line("4 1 500000 0 1 7 800").unwrap();
        assert_eq!((send.at_ns, send.processor), (1_500_000_000, 0));
        assert_eq!(send.content, OldContent::Whole(SEND, Data::new(&[800, 7, 1])));
        assert_eq!(read_line("99 0 0 1").unwrap().content, OldContent::LeftOut("type 99 record".into()));
        for wrong in
            ["4", "4 1 2", "4 1 2 0 1", "send clock x y node z", "4 99999999999 0 0 1 7 8", "4 1 2 0 1 7 8x"]
        {
            assert!(read_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_beginning_differs_from_a_table() {
        assert!(is_beginning("1 0 10 3 2 1 0") && is_beginning("trace_start  clock 0 10 node 3"));
        for other in ["", "1 2 3", "rank type timestamp_ns", "send 5 clock", "1 0 10 3 2 1 x"] {
            assert!(!is_beginning(other), "{other}");
        }
    }
}
