//! What is known of all ranks, for those who ask about all of them: what is counted, where they run, their grids.

use crate::by_rank::ByRank;
use crate::call_source::CallSource;
use crate::column::F64Column;
use crate::course::Course;
use crate::dependencies::Dependencies;
use crate::question::{LandscapeQuestion, MetricsQuestion};
use crate::rank_metric::{Origin, RankMetric};
use crate::rank_phases::PhaseSpans;
use crate::rank_places::RankPlaces;
use crate::rank_sums::{CallSums, MessageSums, by_function};
use crate::rank_values::{Landscape, MetricColumn, RankMetrics};
use crate::rows::RankRow;
use mpiscope_model::{Comm, Coordinate, Function, Nanoseconds, Rank, Site};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A view that draws every rank draws no more than these.
pub(crate) const MOST_RANKS: usize = 1 << 18;
/// Sums that are kept for whoever asks the same again.
const KEPT: usize = 6;

/// What is known of the ranks of a run. Many ask, one adds.
#[derive(Debug, Default)]
pub(crate) struct RankFigures {
    known: Mutex<Arc<CountedRows>>,
    grid: Mutex<Vec<Coordinate>>,
    pub(crate) places: RankPlaces,
    kept: Mutex<VecDeque<(CacheKey, u64, Sums)>>,
}

/// What is counted all the time.
#[derive(Debug, Default)]
pub(crate) struct CountedRows {
    rows: Vec<RankRow>,
    /// Ranks in the job, heard or not.
    pub(crate) ranks: usize,
    until_ns: Nanoseconds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CacheKey {
    range_ns: Range<Nanoseconds>,
    /// Ranks that were known then.
    ranks: usize,
    of: Subject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Calls(Option<Function>, Option<Site>, Option<Comm>),
    Messages(Option<Comm>),
    Phase(Comm),
}

#[derive(Debug, Clone)]
enum Sums {
    Calls(Arc<CallSums>),
    Messages(Arc<MessageSums>),
    Phase(Arc<PhaseSpans>),
}

/// Where figures that are not counted all the time are read.
pub(crate) struct Sources<'a> {
    pub(crate) calls: &'a dyn CallSource,
    pub(crate) messages: &'a Dependencies,
    pub(crate) course: Option<Arc<Course>>,
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CountedRows {
    /// How many ranks were heard.
    pub(crate) fn heard(&self) -> usize {
        self.rows.len()
    }

    /// The host of each rank; not a number where it was not heard.
    pub(crate) fn hosts(&self) -> Vec<f64> {
        self.column(|row| f64::from(row.node.0), f64::NAN)
    }

    /// How many ranks the job has, until when they are known, and their rows of calls.
    pub(crate) fn job(&self) -> (usize, Nanoseconds, u64) {
        (self.ranks, self.until_ns, self.rows.iter().map(|row| row.calls).sum())
    }

    /// What of a range is after the last call of a rank that makes no more, in seconds.
    fn finished_s(&self, row: &RankRow, range_ns: &Range<Nanoseconds>) -> f64 {
        let until_ns = range_ns.end.min(self.until_ns);
        let from_ns = if row.ended_ns > 0 { row.ended_ns.max(range_ns.start) } else { until_ns };
        until_ns.saturating_sub(from_ns) as f64 / 1e9
    }

    /// The whole run where the range goes beyond it on both sides.
    fn is_whole(&self, range_ns: &Range<Nanoseconds>) -> bool {
        range_ns.start == 0 && range_ns.end >= self.until_ns
    }

    fn column(&self, value: impl Fn(&RankRow) -> f64, unheard: f64) -> Vec<f64> {
        let mut values = vec![unheard; self.ranks];
        for row in &self.rows {
            if let Some(of) = values.get_mut(row.rank.index()) {
                *of = value(row);
            }
        }
        values
    }
}

impl RankFigures {
    pub(crate) fn set_rows(&self, rows: Vec<RankRow>, ranks: u32, until_ns: Nanoseconds) {
        let heard = rows.iter().map(|row| row.rank.index() + 1).max().unwrap_or_default();
        *lock(&self.known) = Arc::new(CountedRows { rows, ranks: heard.max(ranks as usize), until_ns });
    }

    /// Takes in what is new of all that is known.
    pub(crate) fn set_grid(&self, all: &[Coordinate]) {
        let mut grid = lock(&self.grid);
        let new = all.get(grid.len()..).unwrap_or_default();
        grid.extend_from_slice(new);
    }

    pub(crate) fn grid(&self) -> Vec<Coordinate> {
        lock(&self.grid).clone()
    }

    /// What is known now, unless it is of too many ranks.
    pub(crate) fn counted_rows(&self) -> Result<Arc<CountedRows>, String> {
        let known = Arc::clone(&lock(&self.known));
        match known.ranks {
            0 => Err("no rank was heard of yet".to_owned()),
            ranks if ranks > MOST_RANKS => {
                Err(format!("the job has {ranks} ranks: this view draws at most {MOST_RANKS}"))
            }
            _ => Ok(known),
        }
    }

    pub(crate) fn metrics(
        &self,
        question: &MetricsQuestion,
        sources: &Sources<'_>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<RankMetrics, String> {
        let known = self.counted_rows()?;
        let range_ns = &question.range_ns;
        let mut answer = RankMetrics {
            from_ns: range_ns.start.min(known.until_ns),
            to_ns: range_ns.end.min(known.until_ns),
            ranks: known.ranks as u32,
            host: F64Column(known.hosts()),
            ..RankMetrics::default()
        };
        for &metric in &question.metrics {
            let found = match metric.origin() {
                Origin::Calls => self.of_calls(metric, question, &known, sources).map(Ok),
                Origin::Messages => self.of_messages(metric, question, &known, sources, is_wanted).map(Ok),
                Origin::Diagnosed => {
                    Ok(diagnosed(metric, range_ns, &known, sources.course.as_deref(), &mut answer))
                }
                Origin::Scheduler => Ok(scheduled(metric, range_ns, &known)),
            }?;
            let (values, missing) = match found {
                Ok(values) => (F64Column(values), String::new()),
                Err(why) => (F64Column::default(), why),
            };
            answer.metrics.push(MetricColumn { metric: metric.name().to_owned(), values, missing });
        }
        Ok(answer)
    }

    /// Mean seconds of a rank by function and row of ranks.
    pub(crate) fn landscape(
        &self,
        question: &LandscapeQuestion,
        calls: &dyn CallSource,
    ) -> Result<Landscape, String> {
        let known = self.counted_rows()?;
        let ranks_per_row = known.ranks.div_ceil((question.most_rows as usize).max(1));
        let all = by_function(calls, &question.range_ns, (known.ranks, ranks_per_row))?;
        Ok(Landscape {
            from_ns: question.range_ns.start.min(known.until_ns),
            to_ns: question.range_ns.end.min(known.until_ns),
            ranks_per_row: ranks_per_row as u32,
            rows: known.ranks.div_ceil(ranks_per_row) as u32,
            function: all.iter().map(|(function, _)| u32::from(*function)).collect(),
            seconds: all.into_iter().flat_map(|(_, seconds)| seconds).collect(),
        })
    }

    fn of_calls(
        &self,
        metric: RankMetric,
        question: &MetricsQuestion,
        known: &CountedRows,
        sources: &Sources<'_>,
    ) -> Result<Vec<f64>, String> {
        let range_ns = &question.range_ns;
        let spans = self.phase(question, (known.ranks, known.until_ns), sources)?;
        let (calls, time_s) = self.calls_and_time(metric, question, known, sources, spans.as_deref())?;
        let span_s = range_ns.end.min(known.until_ns).saturating_sub(range_ns.start) as f64 / 1e9;
        // Nothing is known of a rank that was not heard.
        let finished = || known.column(|row| known.finished_s(row, range_ns), f64::NAN);
        let outside = || -> Vec<f64> {
            let of_rank = |(rank, (time_s, finished_s)): (usize, (&f64, f64))| {
                // A phase ends with a call.
                let span_s = spans.as_ref().map_or(span_s - finished_s, |spans| spans.seconds(rank));
                if finished_s.is_nan() { f64::NAN } else { (span_s - time_s).max(0.0) }
            };
            time_s.iter().zip(finished()).enumerate().map(of_rank).collect()
        };
        Ok(match metric {
            RankMetric::Calls => calls,
            RankMetric::Finished => finished(),
            RankMetric::OutsideMpi => outside(),
            RankMetric::Load => {
                let outside = outside();
                let heard: Vec<f64> = outside.iter().copied().filter(|of| !of.is_nan()).collect();
                let mean = heard.iter().sum::<f64>() / heard.len().max(1) as f64;
                outside.iter().map(|of| if mean > 0.0 { of / mean } else { f64::NAN }).collect()
            }
            _ => time_s,
        })
    }

    /// How many calls each rank made, and its seconds in them; while it was in a phase if there are spans of one.
    fn calls_and_time(
        &self,
        metric: RankMetric,
        question: &MetricsQuestion,
        known: &CountedRows,
        sources: &Sources<'_>,
        spans: Option<&PhaseSpans>,
    ) -> Result<(Vec<f64>, Vec<f64>), String> {
        let range_ns = &question.range_ns;
        let is_of_some = matches!(metric, RankMetric::MpiTime | RankMetric::Calls);
        let function = question.function.filter(|_| is_of_some);
        let site = question.site.filter(|_| is_of_some);
        let is_of_all = function.is_none() && site.is_none() && spans.is_none();
        if is_of_all && known.is_whole(range_ns) {
            let calls = known.column(|row| row.calls as f64, 0.0);
            return Ok((calls, known.column(|row| row.mpi_time_ns as f64 / 1e9, 0.0)));
        }
        let of = Subject::Calls(function, site, question.phase);
        let asked = CacheKey { range_ns: range_ns.clone(), ranks: known.ranks, of };
        let make = || {
            let only = (function, site, spans);
            let sums = CallSums::read(sources.calls, range_ns, only, known.ranks)?;
            Ok(Sums::Calls(Arc::new(sums)))
        };
        // The key says which sums they are: others are never there.
        let Sums::Calls(sums) = self.once(asked, sources, make)? else { return Ok(Default::default()) };
        Ok((sums.calls.clone(), sums.time_s.clone()))
    }

    fn of_messages(
        &self,
        metric: RankMetric,
        question: &MetricsQuestion,
        known: &CountedRows,
        sources: &Sources<'_>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<f64>, String> {
        let range_ns = &question.range_ns;
        if known.is_whole(range_ns)
            && question.phase.is_none()
            && let Some(counted) = counted(metric)
        {
            return Ok(known.column(counted, 0.0));
        }
        let make = || {
            let spans = self.phase(question, (known.ranks, known.until_ns), sources)?;
            let (of, spans) = (sources.messages, spans.as_deref());
            let sums = MessageSums::read(of, range_ns, spans, known.ranks, is_wanted)?;
            Ok(Sums::Messages(Arc::new(sums)))
        };
        let of = Subject::Messages(question.phase);
        let asked = CacheKey { range_ns: range_ns.clone(), ranks: known.ranks, of };
        let Sums::Messages(sums) = self.once(asked, sources, make)? else { return Ok(Vec::new()) };
        let unknown = |of: &[f64]| if sums.has_criteria { of.to_vec() } else { vec![f64::NAN; of.len()] };
        Ok(match metric {
            RankMetric::Sent => sums.sent.clone(),
            RankMetric::Received => sums.received.clone(),
            RankMetric::BytesSent => sums.bytes_sent.clone(),
            RankMetric::BytesReceived => sums.bytes_received.clone(),
            RankMetric::Latency => {
                // A rank without an exact message has no latency.
                sums.latency.iter().zip(&sums.exact).map(|(sum, exact)| sum / exact).collect()
            }
            RankMetric::Delayed => unknown(&sums.delayed),
            RankMetric::LateSender => sums.late_sender_s.clone(),
            _ => sums.sent.iter().zip(&sums.received).map(|(sent, received)| sent + received).collect(),
        })
    }

    /// When ranks were in the phase that is asked for; none where figures are of all phases.
    fn phase(
        &self,
        question: &MetricsQuestion,
        (ranks, until_ns): (usize, Nanoseconds),
        sources: &Sources<'_>,
    ) -> Result<Option<Arc<PhaseSpans>>, String> {
        let Some(phase) = question.phase else { return Ok(None) };
        // The whole run goes as far as it is known.
        let range_ns = question.range_ns.start..question.range_ns.end.min(until_ns);
        let asked = CacheKey { range_ns: range_ns.clone(), ranks, of: Subject::Phase(phase) };
        let make = || {
            let spans = PhaseSpans::read(sources.calls, &range_ns, phase, ranks)?;
            Ok(Sums::Phase(Arc::new(spans)))
        };
        let Sums::Phase(spans) = self.once(asked, sources, make)? else { return Ok(None) };
        Ok(Some(spans))
    }

    /// What was summed before, as long as nothing was added since, or what is summed now.
    fn once(
        &self,
        asked: CacheKey,
        sources: &Sources<'_>,
        make: impl FnOnce() -> Result<Sums, String>,
    ) -> Result<Sums, String> {
        // Before anything is read: what is added meanwhile may be missing.
        let version = sources.messages.version();
        {
            let mut kept = lock(&self.kept);
            kept.retain(|(_, of, _)| *of == version);
            if let Some((_, _, sums)) = kept.iter().find(|(other, ..)| *other == asked) {
                return Ok(sums.clone());
            }
        }
        let sums = make()?;
        let mut kept = lock(&self.kept);
        kept.push_back((asked, version, sums.clone()));
        while kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(sums)
    }
}

/// The figures of the whole run that are counted all the time and need no reading.
fn counted(metric: RankMetric) -> Option<fn(&RankRow) -> f64> {
    match metric {
        RankMetric::Sent => Some(|row| row.sent as f64),
        RankMetric::Received => Some(|row| row.received as f64),
        RankMetric::Messages => Some(|row| row.sent as f64 + row.received as f64),
        RankMetric::BytesSent => Some(|row| row.bytes_sent as f64),
        _ => None,
    }
}

fn diagnosed(
    metric: RankMetric,
    range_ns: &Range<Nanoseconds>,
    known: &CountedRows,
    course: Option<&Course>,
    answer: &mut RankMetrics,
) -> Result<Vec<f64>, String> {
    let course = course.ok_or("where time went is not known yet")?;
    let by_rank: &ByRank = &course.by_rank;
    let windows = course.rank_windows(range_ns);
    if windows.is_empty() {
        return Err("this range has no diagnosis".to_owned());
    }
    let (from_ns, to_ns) = course.rank_times(&windows);
    (answer.diagnosed_from_ns, answer.diagnosed_to_ns) = (from_ns, to_ns);
    // A rank that came later was not diagnosed.
    let value = |rank: usize| {
        if rank >= by_rank.ranks() {
            return f64::NAN;
        }
        let rank = Rank::from_index(rank);
        let (parts, [placement, imbalance, network, cpu]) = by_rank.sum(windows.clone(), &[(rank, rank)]);
        match metric {
            RankMetric::WaitingCompute => parts.waiting_by.compute,
            RankMetric::WaitingCpu => parts.waiting_by.cpu_wait,
            RankMetric::WaitingBase => parts.waiting_by.base,
            RankMetric::WaitingDistance => parts.waiting_by.distance,
            RankMetric::WaitingExcess => parts.waiting_by.excess,
            RankMetric::WaitingOperation => parts.waiting_by.operation,
            RankMetric::Placement => placement,
            RankMetric::Imbalance => imbalance,
            RankMetric::Network => network,
            RankMetric::CpuContention => cpu,
            _ => parts.waiting_s,
        }
    };
    Ok((0..known.ranks).map(value).collect())
}

fn scheduled(
    metric: RankMetric,
    range_ns: &Range<Nanoseconds>,
    known: &CountedRows,
) -> Result<Vec<f64>, String> {
    if !known.is_whole(range_ns) {
        return Err("the scheduler's figures are of the whole run only".to_owned());
    }
    if known.rows.iter().all(|row| row.run_ns == 0 && row.wait_ns == 0) {
        return Err("the scheduler's figures are not in this recording".to_owned());
    }
    let value = |row: &RankRow| match metric {
        RankMetric::Preemptions => row.involuntary as f64,
        _ => row.wait_ns as f64 / 1e9,
    };
    Ok(known.column(value, f64::NAN))
}
