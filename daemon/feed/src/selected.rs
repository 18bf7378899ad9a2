//! The figures of a selection: what all views and the report show of a range, some ranks, and some functions.
//!
//! A call counts in the range in which it begins, and its time as far as it lies in the range. A message counts where its
//! send begins; a receive where it ends. Ranges that follow each other therefore sum to the run.

use crate::call_source::CallSource;
use crate::column::{F64Column, U32Column};
use crate::course::RangeBudget;
use crate::dependencies::Dependencies;
use crate::function_figures::FunctionFigures;
use crate::overlap::inside_ns;
use crate::question::wanted;
use crate::question::{SelectedQuestion, is_among};
use crate::regions::Regions;
use mpiscope_diagnosis::Version;
use mpiscope_matching::{FunctionTotals, MessageSizes};
use mpiscope_model::{Call, Function, Message, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// The figures of a range, of some ranks or all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Selected {
    /// The range, as far as the run goes.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Rows of calls of the selected ranks and functions.
    pub calls: u64,
    /// Polls folded into them beyond the rows.
    pub polls: u64,
    /// Time of these calls in the range, over all threads.
    pub mpi_time_ns: u64,
    /// Messages from or to the selected ranks, of all functions.
    pub messages: u64,
    /// Those within nodes.
    pub intra_messages: u64,
    /// Those between nodes.
    pub inter_messages: u64,
    /// Their payload.
    pub bytes: u64,
    /// Each function of the selected ranks, whether it is selected or not.
    pub functions: SelectedFunctions,
    /// Each selected rank, by the selected functions.
    pub ranks: SelectedRanks,
    /// These messages by size class.
    pub sizes: SelectedSizes,
    /// Messages inside each region.
    pub regions: SelectedRegions,
    /// Where time in MPI went, of all functions; null where that is not known.
    pub budget: Option<RangeBudget>,
    /// Why there is no budget; empty where there is one.
    pub budget_missing: String,
}

/// Functions, one a place in all columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SelectedFunctions {
    /// Its number.
    pub function: U32Column,
    /// Rows.
    pub calls: F64Column,
    /// Polls folded into them beyond the rows.
    pub polls: F64Column,
    /// What they sent, or received where they sent nothing.
    pub bytes: F64Column,
    /// Their time in the range.
    pub time_ns: F64Column,
    /// Half of them took at most this long.
    pub p50_ns: F64Column,
    /// 99 of 100 of them took at most this long.
    pub p99_ns: F64Column,
    /// The longest of them.
    pub max_ns: F64Column,
}

/// Ranks, one a place in all columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SelectedRanks {
    /// Its number.
    pub rank: U32Column,
    /// Rows of calls.
    pub calls: F64Column,
    /// Their time in the range, over its threads.
    pub mpi_time_ns: F64Column,
    /// Messages whose send begins in the range.
    pub sent: F64Column,
    /// Messages whose receive ends in the range.
    pub received: F64Column,
    /// Payload of those sent.
    pub bytes_sent: F64Column,
}

/// Size classes of messages, one a place in all columns; those without messages are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SelectedSizes {
    /// 0 for empty messages, `n` for those of 2^(n-1) bytes and more, and less than 2^n.
    pub class: U32Column,
    /// Messages.
    pub messages: F64Column,
    /// Their payload.
    pub bytes: F64Column,
}

/// Regions, one a place in all columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SelectedRegions {
    /// Its name.
    pub id: U32Column,
    /// Messages between its ranks.
    pub messages: F64Column,
    /// Those whose transfer time is exact and for which the expected one is known.
    pub exact: F64Column,
    /// Those of them that took longer than is normal.
    pub delayed: F64Column,
    /// Those of them that took longer than expected (L > 1).
    pub above_expected: F64Column,
    /// Their mean latency ratio; not a number where there are none.
    pub latency: F64Column,
}

#[derive(Default, Clone, Copy)]
struct RankPart {
    calls: u64,
    time_ns: u64,
    sent: u64,
    received: u64,
    bytes_sent: u64,
}

#[derive(Default, Clone, Copy)]
struct RegionPart {
    messages: u64,
    exact: u64,
    delayed: u64,
    above_expected: u64,
    latency: f64,
}

/// This many calls, about, are read before it is asked again whether anybody still wants the answer.
const CALLS_PER_SLICE: u64 = 1 << 20;
/// The number of calls may be of a damaged file.
const MOST_SLICES: u64 = 1 << 14;

/// Ranges one after the other, whose sums are those of the whole; of as many calls each if calls were spread evenly.
pub(crate) fn slices(
    range_ns: &Range<Nanoseconds>,
    calls: u64,
    until_ns: Nanoseconds,
) -> impl Iterator<Item = Range<Nanoseconds>> + use<> {
    let (start_ns, end_ns) = (range_ns.start, range_ns.end);
    let span_ns = end_ns.min(until_ns).saturating_sub(start_ns);
    let share = span_ns as f64 / until_ns.max(1) as f64;
    let count = ((calls as f64 * share) as u64 / CALLS_PER_SLICE + 1).min(span_ns.max(1));
    let count = count.min(MOST_SLICES);
    let at = move |slice: u64| {
        if slice == count {
            end_ns
        } else {
            start_ns + (u128::from(span_ns) * u128::from(slice) / u128::from(count)) as u64
        }
    };
    (0..count).map(move |slice| at(slice)..at(slice + 1))
}

impl RegionPart {
    fn add(&mut self, message: &Message, criteria: Option<&Version>) {
        self.messages += 1;
        let Some(criteria) = criteria else { return };
        if let Some(latency) = criteria.exact_latency(message) {
            self.exact += 1;
            self.delayed += u64::from(criteria.is_delayed(message) == Some(true));
            self.above_expected += u64::from(latency > 1.0);
            self.latency += latency;
        }
    }
}

/// What a selection adds up to while its rows are read.
struct SelectionSums<'a> {
    question: &'a SelectedQuestion,
    found: Selected,
    of_function: BTreeMap<Function, FunctionTotals>,
    of_rank: Vec<RankPart>,
    of_region: Vec<RegionPart>,
    /// The place of each rank's region.
    region_of: FxHashMap<Rank, usize>,
    criteria: Option<Arc<Version>>,
    sizes: MessageSizes,
}

impl SelectionSums<'_> {
    /// Takes in a call of the selected ranks that was read for this part of the range.
    fn add_call(&mut self, call: &Call, slice_ns: &Range<Nanoseconds>) {
        let time_ns = inside_ns(slice_ns, call.start_ns, call.end_ns);
        let begins = slice_ns.contains(&call.start_ns);
        self.of_function.entry(call.function).or_default().add(call, time_ns, begins);
        if self.question.hidden.contains(&call.function.into()) {
            return;
        }
        let found = &mut self.found;
        found.mpi_time_ns = found.mpi_time_ns.saturating_add(time_ns);
        found.calls += u64::from(begins);
        let polls = call.count.saturating_sub(1);
        found.polls = found.polls.saturating_add(if begins { polls } else { 0 });
        if let Some(of) = self.of_rank.get_mut(call.rank.index()) {
            of.calls += u64::from(begins);
            of.time_ns = of.time_ns.saturating_add(time_ns);
        }
    }

    /// Takes in a message from or to the selected ranks.
    fn add_message(&mut self, message: &Message) {
        let range_ns = &self.question.range_ns;
        if range_ns.contains(&message.recv_ns)
            && let Some(receiver) = self.of_rank.get_mut(message.dst.index())
        {
            receiver.received += 1;
        }
        if !range_ns.contains(&message.send_ns) {
            return;
        }
        if let Some(sender) = self.of_rank.get_mut(message.src.index()) {
            sender.sent += 1;
            sender.bytes_sent = sender.bytes_sent.saturating_add(message.bytes);
        }
        let found = &mut self.found;
        found.messages += 1;
        found.inter_messages += u64::from(message.inter);
        found.intra_messages += u64::from(!message.inter);
        found.bytes = found.bytes.saturating_add(message.bytes);
        self.sizes.feed(std::slice::from_ref(message));
        let (src, dst) = (self.region_of.get(&message.src), self.region_of.get(&message.dst));
        if let (Some(&region), true) = (src, src == dst) {
            self.of_region[region].add(message, self.criteria.as_deref());
        }
    }

    fn into_selected(self, regions: &Regions) -> Selected {
        let mut found = self.found;
        for (function, totals) in &self.of_function {
            found.functions.push(*function, totals);
        }
        let of_rank = self.of_rank.iter().enumerate().map(|(rank, of)| (Rank::from_index(rank), of));
        for (rank, of) in of_rank.filter(|(rank, _)| is_among(self.question.ranks.as_deref(), *rank)) {
            found.ranks.push(rank, of);
        }
        found.sizes.fill(&self.sizes);
        for (region, of) in regions.regions.iter().zip(&self.of_region) {
            found.regions.push(region.id, of);
        }
        found
    }
}

/// The sums of a selection, without the budget. The job has these ranks, and is known until a time with some rows of calls.
pub(crate) fn selected(
    question: &SelectedQuestion,
    (ranks, until_ns, call_count): (usize, Nanoseconds, u64),
    calls: &dyn CallSource,
    messages: &Dependencies,
    regions: &Regions,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Selected, String> {
    let SelectedQuestion { range_ns, ranks: only, .. } = question;
    let mut sums = SelectionSums {
        question,
        found: Selected {
            from_ns: range_ns.start.min(until_ns),
            to_ns: range_ns.end.min(until_ns),
            ..Selected::default()
        },
        of_function: BTreeMap::new(),
        of_rank: vec![RankPart::default(); ranks],
        of_region: vec![RegionPart::default(); regions.regions.len()],
        region_of: (regions.regions.iter().enumerate())
            .flat_map(|(at, region)| region.each_rank().map(move |rank| (rank, at)))
            .collect(),
        criteria: messages.usual(),
        sizes: MessageSizes::default(),
    };
    for slice_ns in slices(range_ns, call_count, until_ns) {
        wanted(is_wanted)?;
        calls.visit_of(&slice_ns, only, &mut |call| sums.add_call(call, &slice_ns))?;
    }
    wanted(is_wanted)?;
    let is_selected = |rank| is_among(only.as_deref(), rank);
    messages.visit(range_ns, is_wanted, &mut |batch| {
        let touching = batch.iter().filter(|of| is_selected(of.src) || is_selected(of.dst));
        touching.for_each(|message| sums.add_message(message));
        ControlFlow::Continue(())
    })?;
    Ok(sums.into_selected(regions))
}

impl SelectedFunctions {
    /// The figures of the function at this place.
    #[must_use]
    pub fn figures(&self, at: usize) -> FunctionFigures {
        FunctionFigures {
            calls: self.calls.0[at] as u64,
            polls: self.polls.0[at] as u64,
            bytes: self.bytes.0[at] as u64,
            seconds: self.time_ns.0[at] / 1e9,
            p50_ns: self.p50_ns.0[at] as u64,
            p99_ns: self.p99_ns.0[at] as u64,
            max_ns: self.max_ns.0[at] as u64,
        }
    }

    fn push(&mut self, function: Function, totals: &FunctionTotals) {
        self.function.0.push(function.into());
        self.calls.0.push(totals.calls as f64);
        self.polls.0.push(totals.polls as f64);
        self.bytes.0.push(totals.bytes as f64);
        self.time_ns.0.push(totals.time_ns as f64);
        self.p50_ns.0.push(totals.quantile_ns(0.5) as f64);
        self.p99_ns.0.push(totals.quantile_ns(0.99) as f64);
        self.max_ns.0.push(totals.max_ns() as f64);
    }
}

impl SelectedRanks {
    fn push(&mut self, rank: Rank, of: &RankPart) {
        self.rank.0.push(rank.0);
        self.calls.0.push(of.calls as f64);
        self.mpi_time_ns.0.push(of.time_ns as f64);
        self.sent.0.push(of.sent as f64);
        self.received.0.push(of.received as f64);
        self.bytes_sent.0.push(of.bytes_sent as f64);
    }
}

impl SelectedSizes {
    fn fill(&mut self, sizes: &MessageSizes) {
        for (class, totals) in sizes.classes() {
            self.class.0.push(class);
            self.messages.0.push(totals.messages as f64);
            self.bytes.0.push(totals.bytes as f64);
        }
    }
}

impl SelectedRegions {
    fn push(&mut self, id: u32, of: &RegionPart) {
        self.id.0.push(id);
        self.messages.0.push(of.messages as f64);
        self.exact.0.push(of.exact as f64);
        self.delayed.0.push(of.delayed as f64);
        self.above_expected.0.push(of.above_expected as f64);
        self.latency.0.push(if of.exact > 0 { of.latency / of.exact as f64 } else { f64::NAN });
    }
}
