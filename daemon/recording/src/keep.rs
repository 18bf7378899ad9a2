//! How much of a long run is kept: the newest part, by time or by size.

use crate::manifest::{Cut, Segment, Segments};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// The newest so long.
    Last(Duration),
    /// About this number of newest bytes, all files together.
    Bytes(u64),
}

/// A segment is no longer than this part of the limit, to keep the excess on disk small.
const PARTS: u32 = 8;
/// The log gets this part of the limit.
pub(crate) const LOG_PART: u64 = 4;
const LEAST_LOG_FILE: u64 = 1 << 20;
/// Bytes that a row takes on disk, about.
const ROW_BYTES: u64 = 10;
const FEWEST_ROWS: u64 = 10_000;

impl FromStr for Keep {
    type Err = String;

    /// Reads `90s`, `10m`, `2h`, `1d`, or `500MB`, `2GB`, `512MiB`, `2GiB`.
    fn from_str(word: &str) -> Result<Self, String> {
        let digits = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        let number: u64 = number.parse().map_err(|_| EXPECTED.to_owned())?;
        let seconds = |each: u64| number.checked_mul(each).map(|all| Keep::Last(Duration::from_secs(all)));
        let bytes = |each: u64| number.checked_mul(each).map(Keep::Bytes);
        let keep = match unit {
            "s" => seconds(1),
            "m" => seconds(60),
            "h" => seconds(3_600),
            "d" => seconds(86_400),
            "MB" => bytes(1_000_000),
            "GB" => bytes(1_000_000_000),
            "MiB" => bytes(1 << 20),
            "GiB" => bytes(1 << 30),
            _ => None,
        };
        keep.filter(|_| number > 0).ok_or_else(|| EXPECTED.to_owned())
    }
}

const EXPECTED: &str = "it is a time such as 90s, 10m, 2h or 1d, or a size such as 500MB or 2GiB";

impl Keep {
    /// The most rows of a segment, if this number is the default.
    pub(crate) fn rows_per_segment(self, otherwise: usize) -> usize {
        match self {
            Keep::Last(_) => otherwise,
            Keep::Bytes(bytes) => {
                let rows = (bytes / u64::from(PARTS) / ROW_BYTES).max(FEWEST_ROWS);
                otherwise.min(usize::try_from(rows).unwrap_or(otherwise))
            }
        }
    }

    /// How large a file of the log gets, if it is to be so large otherwise.
    #[must_use]
    pub fn log_file_bytes(self, otherwise: u64) -> u64 {
        match self {
            Keep::Last(_) => otherwise,
            Keep::Bytes(bytes) => otherwise.min(bytes / LOG_PART / 4).max(LEAST_LOG_FILE),
        }
    }

    /// How much time one segment may reach over.
    pub(crate) fn segment_ns(self) -> u64 {
        match self {
            Keep::Last(last) => u64::try_from((last / PARTS).as_nanos()).unwrap_or(u64::MAX),
            Keep::Bytes(_) => u64::MAX,
        }
    }

    /// Takes dropped segments off the lists, and returns their files.
    pub(crate) fn trim(self, now_ns: u64, segments: &mut Segments, cut: &mut Cut) -> Vec<String> {
        let mut gone = Vec::new();
        match self {
            Keep::Last(last) => {
                let last_ns = u64::try_from(last.as_nanos()).unwrap_or(u64::MAX);
                let until_ns = now_ns.saturating_sub(last_ns);
                while oldest(segments).is_some_and(|oldest_ns| oldest_ns < until_ns) {
                    drop_oldest(segments, cut, &mut gone);
                }
            }
            Keep::Bytes(most) => {
                let all = [&segments.calls, &segments.messages, &segments.windows, &segments.scheduling];
                let mut bytes: u64 = all.into_iter().flatten().map(bytes_of).sum();
                // What was sealed last stays whatever it takes.
                while bytes > most - most / LOG_PART && segments.calls.len() + segments.messages.len() > 2 {
                    bytes = bytes.saturating_sub(drop_oldest(segments, cut, &mut gone));
                }
            }
        }
        gone
    }
}

/// The bytes of a segment, with the files beside it.
fn bytes_of(segment: &Segment) -> u64 {
    segment.bytes.unwrap_or_default() + segment.starts.as_ref().map_or(0, |starts| starts.bytes)
}

/// When the oldest segment of calls or messages ends.
fn oldest(segments: &Segments) -> Option<u64> {
    let first = |of: &[Segment]| of.first().map(|segment| segment.to_ns);
    first(&segments.calls).into_iter().chain(first(&segments.messages)).min()
}

/// Takes the oldest segment off its list, and everything that is no younger; returns their bytes.
fn drop_oldest(segments: &mut Segments, cut: &mut Cut, gone: &mut Vec<String>) -> u64 {
    let Some(until_ns) = oldest(segments) else { return 0 };
    let mut bytes = 0;
    cut.until_ns = cut.until_ns.max(until_ns);
    let Segments { calls, messages, windows, scheduling } = segments;
    for (list, rows) in [
        (calls, Some(&mut cut.calls)),
        (messages, Some(&mut cut.messages)),
        (windows, None),
        (scheduling, None),
    ] {
        let over = list.iter().take_while(|segment| segment.to_ns <= until_ns).count();
        let mut dropped = 0;
        for segment in list.drain(..over) {
            dropped += segment.rows;
            bytes += bytes_of(&segment);
            if let Some(starts) = segment.starts {
                gone.push(starts.file);
            }
            gone.push(segment.file);
        }
        if let Some(rows) = rows {
            *rows += dropped;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Keep;
    use std::time::Duration;

    #[test]
    fn a_time_or_a_size_is_read_and_nothing_else() {
        assert_eq!("90s".parse(), Ok(Keep::Last(Duration::from_secs(90))));
        assert_eq!("2h".parse(), Ok(Keep::Last(Duration::from_secs(7_200))));
        assert_eq!("500MB".parse(), Ok(Keep::Bytes(500_000_000)));
        assert_eq!("2GiB".parse(), Ok(Keep::Bytes(2 << 30)));
        for word in [
            "",
            "5",
            "s",
            "0s",
            "-1s",
            "1.5h",
            "3kB",
            "99999999999999999999s",
            "18446744073709551615d",
            "1 h",
        ] {
            assert!(word.parse::<Keep>().is_err(), "{word}");
        }
    }
}
