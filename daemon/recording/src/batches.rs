//! The rows of segments: a batch at a time through many, or one row group of one.

use crate::bounds::{Bounds, LeftOut};
use crate::checksum::Checksum;
use crate::columns::GroupSummary;
use crate::corrections::Corrections;
use crate::decode::Rows;
use crate::filters::Filter;
use crate::folder::{PARQUET, STARTS, number_of, open_plain, real_folder};
use crate::manifest::Segment;
use crate::row::SegmentRow;
use crate::rows::StartRow;
use mpiscope_model::Nanoseconds;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that could not be read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFault {
    /// Its name as the manifest has it.
    pub file: String,
    /// Rows that should be in it and are not read.
    pub missing_rows: u64,
    /// What is wrong, in one sentence.
    pub text: String,
}

/// What lies where in a segment whose bytes were checked.
#[derive(Debug, Clone)]
pub struct SegmentIndex {
    segment: Segment,
    groups: Vec<Group>,
}

/// A row group of a segment.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its rows begin no earlier.
    pub from_ns: Nanoseconds,
    /// Nor of a later one.
    pub to_ns: Nanoseconds,
    pub(crate) summary: GroupSummary,
}

impl SegmentIndex {
    /// Its row groups.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.segment.file
    }
}

impl Group {
    fn new<R: SegmentRow>(summary: GroupSummary, segment: &Segment, corrections: &Corrections) -> Self {
        let numbers = |names: &[&str], pick: fn(&(i64, i64)) -> i64| -> Option<Vec<u64>> {
            let number = |name: &&str| {
                let at = R::COLUMNS.iter().position(|column| column.name == *name)?;
                // Times beyond all runs look negative, and then mean nothing.
                summary.bounds[at].as_ref().filter(|(least, _)| *least >= 0).map(pick).map(i64::cast_unsigned)
            };
            names.iter().map(number).collect()
        };
        let begin_ns = numbers(R::BEGINS, |(least, _)| *least).and_then(|all| all.into_iter().min());
        let end_ns = numbers(R::ENDS, |(_, greatest)| *greatest).and_then(|all| all.into_iter().max());
        let (from_ns, to_ns) = corrections
            .range(segment, (begin_ns.unwrap_or(segment.from_ns), end_ns.unwrap_or(segment.to_ns)));
        Self { from_ns, to_ns, summary }
    }

    /// How many rows it has, by what the file says.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.summary.rows
    }

    /// Whether a row of it can match, by the statistics of its columns.
    #[must_use]
    pub fn may_have<R: SegmentRow>(&self, filter: &impl Filter<R>) -> bool {
        let columns = R::COLUMNS.iter().zip(&self.summary.bounds);
        columns.filter_map(|(column, bounds)| bounds.map(|bounds| (column, bounds))).all(
            |(column, (least, greatest))| {
                // Times of rows are corrected when they are read, and are looked at then.
                R::BEGINS.contains(&column.name)
                    || R::ENDS.contains(&column.name)
                    || filter.may_keep(column.name, least, greatest)
            },
        )
    }

    fn overlaps(&self, range_ns: &Range<Nanoseconds>) -> bool {
        self.from_ns < range_ns.end && self.to_ns >= range_ns.start
    }
}

/// Reads single segments, for those who keep a list of them.
#[derive(Debug, Clone)]
pub struct SegmentReader {
    dir: PathBuf,
    corrections: Arc<Corrections>,
    bounds: Bounds,
}

impl SegmentReader {
    /// For segments that are still being added to `dir`: their rows are by the clocks as they are known now.
    #[must_use]
    pub fn uncorrected(dir: PathBuf) -> Self {
        Self::corrected(dir, Arc::default(), Bounds::of_ranks(0))
    }

    pub(crate) fn corrected(dir: PathBuf, corrections: Arc<Corrections>, bounds: Bounds) -> Self {
        Self { dir, corrections, bounds }
    }

    /// All rows of one segment, and its fault, if any.
    #[must_use]
    pub fn read<R: SegmentRow>(&self, segment: &Segment) -> (Vec<R>, Vec<SegmentFault>) {
        let corrections = Arc::clone(&self.corrections);
        let mut batches = Batches::new(&self.dir, vec![segment.clone()], None, corrections, self.bounds);
        let rows = batches.by_ref().flatten().collect();
        (rows, batches.faults)
    }

    /// Checks the bytes of a segment.
    pub(crate) fn check<R: SegmentRow>(&self, segment: &Segment) -> Result<(), SegmentFault> {
        open_checked::<R>(&self.dir, segment, self.bounds).map(drop).map_err(|why| fault(segment, 0, &why))
    }

    /// Checks the bytes of a segment and finds its parts.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn index<R: SegmentRow>(&self, segment: &Segment) -> Result<SegmentIndex, SegmentFault> {
        let rows =
            open_checked::<R>(&self.dir, segment, self.bounds).map_err(|why| fault(segment, 0, &why))?;
        let groups = rows.groups().into_iter();
        let groups = groups.map(|summary| Group::new::<R>(summary, segment, &self.corrections)).collect();
        Ok(SegmentIndex { segment: segment.clone(), groups })
    }

    /// How many calls of a segment began when, in windows of a power of two nanoseconds, no longer than asked for; none
    /// where that is not known so closely, or clocks were corrected by more than a small part of it since.
    #[must_use]
    pub fn starts(&self, segment: &Segment, window_ns: u64) -> Option<Vec<StartRow>> {
        let mark = segment.starts.as_ref().filter(|_| self.corrections.most_ns(segment) < window_ns / 16)?;
        let name = Path::new(&mark.file).file_name()?.to_str()?;
        number_of(name, PARQUET)?;
        let mut file = open_plain(&real_folder(self.dir.join(STARTS)).ok()?.join(name)).ok()?;
        file_checksum(&mut file).ok().filter(|found| *found == mark.crc32)?;
        let mut rows = Rows::<StartRow>::open(file, self.bounds).ok()?;
        let windows = rows.groups().into_iter().map(|group| group.bounds[0]).enumerate();
        let fitting = windows.filter_map(|(number, bounds)| {
            let (least, greatest) = bounds?;
            (least == greatest && least.cast_unsigned() <= window_ns).then_some((greatest, number))
        });
        rows.select_groups(vec![fitting.max()?.1]);
        let starts = rows.rest().ok()?;
        (rows.left_out().rows == 0).then_some(starts)
    }

    /// The rows of one group of a segment, and what is wrong with it, if anything.
    #[must_use]
    pub fn group<R: SegmentRow>(&self, index: &SegmentIndex, group: usize) -> (Vec<R>, Option<SegmentFault>) {
        self.group_columns(index, group, None)
    }

    /// Likewise; of the columns only these are read, and the other fields of rows are blank. Those of ranks and times have to be
    /// among them.
    #[must_use]
    pub fn group_columns<R: SegmentRow>(
        &self,
        index: &SegmentIndex,
        group: usize,
        columns: Option<&'static [&'static str]>,
    ) -> (Vec<R>, Option<SegmentFault>) {
        let segment = &index.segment;
        let expected = index.groups.get(group).map_or(0, |group| group.summary.rows);
        let missing = |missing_rows, why: &str| SegmentFault { missing_rows, ..fault(segment, 0, why) };
        let read = || -> Result<(Vec<R>, LeftOut), String> {
            let path = segment_path::<R>(&self.dir, &segment.file)?;
            let file = open_plain(&path).map_err(|error| error.to_string())?;
            let mut rows = Rows::<R>::open(file, self.bounds.of_segment(segment))?;
            rows.select_groups(vec![group]);
            rows.select_columns(columns);
            Ok((rows.rest()?, rows.left_out().clone()))
        };
        match read() {
            Ok((mut found, left_out)) => {
                if self.corrections.concern(segment) {
                    found.iter_mut().for_each(|row| row.correct(&self.corrections));
                }
                (found, left_out.words().map(|why| missing(left_out.rows, &why)))
            }
            Err(why) => (Vec::new(), Some(missing(expected, &why))),
        }
    }
}

/// All rows of one segment in `dir` as they were sealed; see [`SegmentReader::uncorrected`].
#[must_use]
pub fn read_segment<R: SegmentRow>(dir: &Path, segment: &Segment) -> (Vec<R>, Vec<SegmentFault>) {
    SegmentReader::uncorrected(dir.to_path_buf()).read(segment)
}

/// The rows of one kind, a batch at a time.
pub struct Batches<R: SegmentRow> {
    dir: PathBuf,
    segments: std::vec::IntoIter<Segment>,
    range_ns: Option<Range<Nanoseconds>>,
    seen: HashSet<String>,
    /// The segment that is open, how many of its rows were read or passed over, and the rest.
    current: Option<(Segment, u64, Rows<R>)>,
    faults: Vec<SegmentFault>,
    corrections: Arc<Corrections>,
    bounds: Bounds,
}

impl<R: SegmentRow> Batches<R> {
    pub(crate) fn new(
        dir: &Path,
        segments: Vec<Segment>,
        range_ns: Option<Range<Nanoseconds>>,
        corrections: Arc<Corrections>,
        bounds: Bounds,
    ) -> Self {
        Self {
            dir: dir.to_path_buf(),
            segments: segments.into_iter(),
            range_ns,
            seen: HashSet::new(),
            current: None,
            faults: Vec::new(),
            corrections,
            bounds,
        }
    }

    /// What went wrong up to now; complete once the iteration is at its end.
    #[must_use]
    pub fn faults(&self) -> &[SegmentFault] {
        &self.faults
    }

    fn fault(&mut self, segment: &Segment, read_rows: u64, why: &str) {
        self.faults.push(fault(segment, read_rows, why));
    }

    /// A segment with its rows, and how many of them are not of interest.
    fn open(&mut self, segment: &Segment) -> Result<(Rows<R>, u64), String> {
        if self.seen.contains(&segment.file) {
            return Err("the manifest lists it twice".to_owned());
        }
        let mut rows = open_checked(&self.dir, segment, self.bounds)?;
        self.seen.insert(segment.file.clone());
        let mut passed_rows = 0;
        if let Some(range) = &self.range_ns {
            let mut wanted = Vec::new();
            for (number, summary) in rows.groups().into_iter().enumerate() {
                let group = Group::new::<R>(summary, segment, &self.corrections);
                if group.overlaps(range) { wanted.push(number) } else { passed_rows += group.summary.rows }
            }
            rows.select_groups(wanted);
        }
        Ok((rows, passed_rows))
    }

    /// The next batch of the segment that is open; none when it is at its end or damaged.
    fn next_of_current(&mut self) -> Option<Vec<R>> {
        let (segment, read_rows, rows) = self.current.as_mut()?;
        match rows.next_batch() {
            Ok(Some(mut batch)) => {
                *read_rows += batch.len() as u64;
                if self.corrections.concern(segment) {
                    batch.iter_mut().for_each(|row| row.correct(&self.corrections));
                }
                return Some(batch);
            }
            Ok(None) => {
                let (segment, read_rows, left_out) = (segment.clone(), *read_rows, rows.left_out().clone());
                let has_rows = read_rows.saturating_add(left_out.rows);
                if has_rows != segment.rows {
                    let why = format!("it has {has_rows} rows and should have {}", segment.rows);
                    self.fault(&segment, read_rows, &why);
                } else if let Some(why) = left_out.words() {
                    self.fault(&segment, read_rows, &why);
                }
            }
            Err(why) => {
                let (segment, read_rows) = (segment.clone(), *read_rows);
                self.fault(&segment, read_rows, &why);
            }
        }
        self.current = None;
        None
    }
}

impl<R: SegmentRow> Iterator for Batches<R> {
    type Item = Vec<R>;

    fn next(&mut self) -> Option<Vec<R>> {
        loop {
            while let Some(mut batch) = self.next_of_current() {
                if let Some(range) = &self.range_ns {
                    batch.retain(|row| row.begin_ns() < range.end && row.end_ns() >= range.start);
                }
                if !batch.is_empty() {
                    return Some(batch);
                }
            }
            let segment = self.segments.next()?;
            match self.open(&segment) {
                Ok((rows, passed_rows)) => self.current = Some((segment, passed_rows, rows)),
                Err(why) => self.fault(&segment, 0, &why),
            }
        }
    }
}

fn fault(segment: &Segment, read_rows: u64, why: &str) -> SegmentFault {
    SegmentFault {
        file: segment.file.clone(),
        missing_rows: segment.rows.saturating_sub(read_rows),
        text: format!("{} is damaged or missing: {why}", segment.file.escape_debug()),
    }
}

/// Opens a segment whose bytes are those that were written.
fn open_checked<R: SegmentRow>(dir: &Path, segment: &Segment, bounds: Bounds) -> Result<Rows<R>, String> {
    let path = segment_path::<R>(dir, &segment.file)?;
    let mut file = open_plain(&path).map_err(|error| error.to_string())?;
    if let Some(expected) = segment.crc32 {
        let found = file_checksum(&mut file).map_err(|error| error.to_string())?;
        if found != expected {
            return Err(format!("its CRC-32 is {found} and should be {expected}"));
        }
    }
    Rows::open(file, bounds.of_segment(segment))
}

/// The path of a segment: nothing but a numbered file in the sub-folder of its kind.
pub(crate) fn segment_path<R: SegmentRow>(dir: &Path, file: &str) -> Result<PathBuf, String> {
    let name = file.strip_prefix(R::FOLDER).and_then(|rest| rest.strip_prefix('/'));
    let name = name.filter(|name| number_of(name, PARQUET).is_some());
    let name = name.ok_or_else(|| format!("its name is not {}/NNNNNN.{PARQUET}", R::FOLDER))?;
    let folder = real_folder(dir.join(R::FOLDER)).map_err(|error| error.to_string())?;
    Ok(folder.join(name))
}

pub(crate) fn file_checksum(file: &mut File) -> std::io::Result<u32> {
    let mut checksum = Checksum::new();
    let mut chunk = vec![0; 256 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            count => checksum.add(&chunk[..count]),
        }
    }
    file.rewind()?;
    Ok(checksum.value())
}
