//! What the numbers of rows may be. Readers have tables by rank and loops over time, so a rank that the job does not have,
//! or a time outside its file, would cost memory and time as no run does. Rows with one are left out where they are read.

use crate::limits::{MOST_NS, MOST_RANKS};
use crate::manifest::{Manifest, Segment};
use crate::row::{Column, Row};
use mpiscope_model::words::counted;

/// What a recording says of itself that bounds the numbers of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The ranks of the job; 0 where that is not known.
    ranks: u32,
    /// The first and the last time of a row.
    times_ns: (u64, u64),
}

impl Bounds {
    /// Those of all files of a recording.
    pub(crate) fn from_manifest(manifest: &Manifest) -> Self {
        Self::of_ranks(manifest.job.ranks)
    }

    /// Those of files of a job with this number of ranks; 0 where it is not known.
    pub(crate) fn of_ranks(ranks: u32) -> Self {
        Self { ranks, times_ns: (0, MOST_NS) }
    }

    /// Those of one of its segments.
    pub(crate) fn of_segment(self, segment: &Segment) -> Self {
        Self { times_ns: (segment.from_ns, segment.to_ns.min(MOST_NS)), ..self }
    }

    fn of_column<R: Row>(self, column: &Column<R>) -> Option<(u64, u64)> {
        let ranks = if self.ranks > 0 { self.ranks } else { MOST_RANKS };
        if R::RANKS.contains(&column.name) {
            Some((0, u64::from(ranks) - 1))
        } else if R::RANK_COUNTS.contains(&column.name) {
            Some((0, u64::from(ranks.next_power_of_two())))
        } else {
            R::TIMES.contains(&column.name).then_some(self.times_ns)
        }
    }

    fn words(self, column: &str, value: u64, (least, most): (u64, u64)) -> String {
        let why = if (least, most) == self.times_ns {
            format!("the file has times from {least} to {most}")
        } else if self.ranks > 0 {
            format!("the job has {}", counted(self.ranks.into(), "rank"))
        } else {
            format!("no job has more than {MOST_RANKS} ranks")
        };
        format!("{column} is {value}, and {why}")
    }
}

/// The rows of a file that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) rows: u64,
    /// What is wrong with the first.
    first: Option<String>,
}

impl LeftOut {
    /// Takes out the rows with a number beyond the bounds; the first row has this number in its file.
    pub(crate) fn take_from<R: Row>(&mut self, rows: &mut Vec<R>, first_row: u64, bounds: Bounds) {
        let mut odd: Vec<(usize, String)> = Vec::new();
        for column in R::COLUMNS {
            let Some((least, most)) = bounds.of_column(column) else { continue };
            let numbers = rows.iter().enumerate().filter_map(|(at, row)| Some((at, column.number(row)?)));
            let beyond = numbers.filter(|(_, number)| *number < least || *number > most);
            odd.extend(beyond.map(|(at, number)| {
                let row = first_row.saturating_add(at as u64 + 1);
                (at, format!("in row {row} {}", bounds.words(column.name, number, (least, most))))
            }));
        }
        if odd.is_empty() {
            return;
        }
        odd.sort_by_key(|(at, _)| *at);
        odd.dedup_by_key(|(at, _)| *at);
        self.rows += odd.len() as u64;
        let mut ats = odd.iter().map(|(at, _)| *at).peekable();
        let mut at = 0..;
        rows.retain(|_| at.next().is_some_and(|at| ats.next_if_eq(&at).is_none()));
        if self.first.is_none() {
            self.first = odd.into_iter().next().map(|(_, words)| words);
        }
    }

    /// What was left out and why, in words; none where nothing was.
    pub(crate) fn words(&self) -> Option<String> {
        let first = self.first.as_deref()?;
        Some(match self.rows {
            1 => format!("one row cannot be right and is left out: {first}"),
            rows => format!("{rows} rows cannot be right and are left out: {first}"),
        })
    }
}
