//! Sums by rank over calls and messages of a range.

use crate::call_source::CallSource;
use crate::dependencies::Dependencies;
use crate::overlap::inside_s;
use crate::rank_phases::PhaseSpans;
use mpiscope_diagnosis::Version;
use mpiscope_model::{Function, Message, Nanoseconds, Site};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// What calls of a range sum to.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallSums {
    pub(crate) calls: Vec<f64>,
    pub(crate) time_s: Vec<f64>,
}

/// What messages of a range sum to. A message counts where it begins for its sender, and where it ends for its receiver.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageSums {
    pub(crate) sent: Vec<f64>,
    pub(crate) received: Vec<f64>,
    pub(crate) bytes_sent: Vec<f64>,
    pub(crate) bytes_received: Vec<f64>,
    /// Of messages whose time is exact and for which it is known what is usual.
    pub(crate) exact: Vec<f64>,
    pub(crate) latency: Vec<f64>,
    pub(crate) delayed: Vec<f64>,
    pub(crate) late_sender_s: Vec<f64>,
    /// Whether it is known what is usual.
    pub(crate) has_criteria: bool,
}

impl CallSums {
    /// Of calls of all functions and call sites, or of one; of the whole range, or while ranks were in a phase.
    pub(crate) fn read(
        source: &dyn CallSource,
        range_ns: &Range<Nanoseconds>,
        (function, site, phase): (Option<Function>, Option<Site>, Option<&PhaseSpans>),
        ranks: usize,
    ) -> Result<Self, String> {
        let mut sums = Self { calls: vec![0.0; ranks], time_s: vec![0.0; ranks] };
        source.visit(range_ns, &mut |call| {
            let rank = call.rank.index();
            let is_other = function.is_some_and(|function| function != call.function)
                || site.is_some_and(|site| Some(site) != call.site)
                || phase.is_some_and(|spans| !spans.contains(rank, call.start_ns));
            if rank >= ranks || is_other {
                return;
            }
            // Each call is counted in one range.
            sums.calls[rank] += f64::from(u8::from(range_ns.contains(&call.start_ns)));
            sums.time_s[rank] += inside_s(range_ns, call.start_ns, call.end_ns);
        })?;
        Ok(sums)
    }
}

impl MessageSums {
    pub(crate) fn read(
        messages: &Dependencies,
        range_ns: &Range<Nanoseconds>,
        phase: Option<&PhaseSpans>,
        ranks: usize,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self, String> {
        let is_in = |rank: usize, at_ns| {
            range_ns.contains(&at_ns) && phase.is_none_or(|spans| spans.contains(rank, at_ns))
        };
        let criteria = messages.usual();
        let mut sums = Self::zero(ranks, criteria.is_some());
        messages.visit(range_ns, is_wanted, &mut |messages| {
            for message in messages {
                let (src, dst) = (message.src.index(), message.dst.index());
                if src < ranks && is_in(src, message.send_ns) {
                    sums.sent[src] += 1.0;
                    sums.bytes_sent[src] += message.bytes as f64;
                }
                if dst < ranks && is_in(dst, message.recv_ns) {
                    sums.add_received(message, criteria.as_deref());
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(sums)
    }

    fn zero(ranks: usize, has_criteria: bool) -> Self {
        let zeros = || vec![0.0; ranks];
        Self {
            sent: zeros(),
            received: zeros(),
            bytes_sent: zeros(),
            bytes_received: zeros(),
            exact: zeros(),
            latency: zeros(),
            delayed: zeros(),
            late_sender_s: zeros(),
            has_criteria,
        }
    }

    /// Takes in a message for its receiver.
    fn add_received(&mut self, message: &Message, criteria: Option<&Version>) {
        let dst = message.dst.index();
        self.received[dst] += 1.0;
        self.bytes_received[dst] += message.bytes as f64;
        self.late_sender_s[dst] += message.late_sender_ns as f64 / 1e9;
        let Some(criteria) = criteria else { return };
        if let Some(latency) = criteria.exact_latency(message) {
            self.exact[dst] += 1.0;
            self.latency[dst] += latency;
            self.delayed[dst] += f64::from(u8::from(criteria.is_delayed(message) == Some(true)));
        }
    }
}

/// Mean seconds of a rank by function and row of ranks.
pub(crate) fn by_function(
    source: &dyn CallSource,
    range_ns: &Range<Nanoseconds>,
    (ranks, ranks_per_row): (usize, usize),
) -> Result<Vec<(Function, Vec<f64>)>, String> {
    let rows = ranks.div_ceil(ranks_per_row);
    let mut sums: BTreeMap<Function, Vec<f64>> = BTreeMap::new();
    source.visit(range_ns, &mut |call| {
        let rank = call.rank.index();
        if rank < ranks {
            let of = sums.entry(call.function).or_insert_with(|| vec![0.0; rows]);
            of[rank / ranks_per_row] += inside_s(range_ns, call.start_ns, call.end_ns);
        }
    })?;
    let mut all: Vec<(Function, Vec<f64>)> = sums.into_iter().collect();
    for (_, of) in &mut all {
        for (row, seconds) in of.iter_mut().enumerate() {
            *seconds /= ranks_per_row.min(ranks - row * ranks_per_row) as f64;
        }
    }
    let total = |of: &(Function, Vec<f64>)| of.1.iter().sum::<f64>();
    all.sort_by(|one, other| total(other).total_cmp(&total(one)));
    Ok(all)
}
