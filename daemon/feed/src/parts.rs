//! Values of the owner as parts of messages.

use crate::evolution::Pending;
use crate::message::{Functions, InFlight, Losses, Nodes, Ranks, TimelineCells, Totals};
use crate::rows::{FunctionRow, NodeRow, RankRow, Update};
use mpiscope_diagnosis::RegionOfRank;
use mpiscope_matching::TimelineCell;
use mpiscope_model::ProcessState;

pub(crate) fn functions(rows: &[FunctionRow]) -> Functions {
    Functions {
        id: rows.iter().map(|row| u32::from(row.function)).collect(),
        name: rows.iter().map(|row| row.name.to_owned()).collect(),
        family: rows.iter().map(|row| row.family.to_owned()).collect(),
        calls: rows.iter().map(|row| row.calls).collect(),
        polls: rows.iter().map(|row| row.polls).collect(),
        bytes: rows.iter().map(|row| row.bytes).collect(),
        time_ns: rows.iter().map(|row| row.time_ns).collect(),
        p50_ns: rows.iter().map(|row| row.p50_ns).collect(),
        p99_ns: rows.iter().map(|row| row.p99_ns).collect(),
        max_ns: rows.iter().map(|row| row.max_ns).collect(),
    }
}

pub(crate) fn ranks(rows: &[RankRow]) -> Ranks {
    Ranks {
        rank: rows.iter().map(|row| row.rank.0).collect(),
        node: rows.iter().map(|row| row.node.0).collect(),
        calls: rows.iter().map(|row| row.calls).collect(),
        sent: rows.iter().map(|row| row.sent).collect(),
        received: rows.iter().map(|row| row.received).collect(),
        bytes_sent: rows.iter().map(|row| row.bytes_sent).collect(),
        mpi_time_ns: rows.iter().map(|row| row.mpi_time_ns).collect(),
        run_ns: rows.iter().map(|row| row.run_ns).collect(),
        wait_ns: rows.iter().map(|row| row.wait_ns).collect(),
        involuntary: rows.iter().map(|row| row.involuntary).collect(),
        state: rows.iter().map(|row| state_number(row.state)).collect(),
        ended_ns: rows.iter().map(|row| row.ended_ns).collect(),
    }
}

pub(crate) fn nodes(rows: &[NodeRow]) -> Nodes {
    let uncertainty =
        |row: &NodeRow| row.clock_uncertainty_ns.map_or(f64::INFINITY, |found_ns| found_ns as f64);
    Nodes {
        node: rows.iter().map(|row| row.node.0).collect(),
        name: rows.iter().map(|row| row.name.clone()).collect(),
        clock_uncertainty_ns: rows.iter().map(uncertainty).collect(),
        state: rows.iter().map(|row| u32::from(row.is_silent)).collect(),
        ranks: rows.iter().map(|row| row.cpus.map_or(0, |cpus| cpus.ranks)).collect(),
        cpus_on_host: rows.iter().map(|row| row.cpus.map_or(0, |cpus| cpus.on_host)).collect(),
        cpus_usable: rows.iter().map(|row| row.cpus.map_or(0.0, |cpus| cpus.usable)).collect(),
        bound: rows.iter().map(|row| row.cpus.map_or(0, |cpus| u32::from(cpus.is_bound))).collect(),
    }
}

pub(crate) fn timeline(window_ns: u64, cells: &[TimelineCell]) -> TimelineCells {
    TimelineCells {
        window_ns,
        start_ns: cells.iter().map(|cell| cell.start_ns).collect(),
        function: cells.iter().map(|cell| u32::from(cell.function)).collect(),
        calls: cells.iter().map(|cell| cell.calls).collect(),
    }
}

pub(crate) fn in_flight(calls: &[mpiscope_model::InFlight], most: usize) -> InFlight {
    let mut longest = calls.to_vec();
    longest.sort_unstable_by_key(|call| (call.since_ns, call.rank, call.thread));
    longest.truncate(most);
    InFlight {
        total: calls.len() as u64,
        rank: longest.iter().map(|call| call.rank.0).collect(),
        thread: longest.iter().map(|call| u32::from(call.thread)).collect(),
        function: longest.iter().map(|call| u32::from(call.function)).collect(),
        since_ns: longest.iter().map(|call| call.since_ns).collect(),
    }
}

pub(crate) fn pending(regions: &RegionOfRank, update: &Update<'_>) -> Pending {
    let all = mpiscope_diagnosis::pending(regions, update.in_flight, update.now_ns);
    // Ranks of regions that are not named are in none.
    let all: Vec<_> = all.into_iter().filter(|of| of.region != u32::MAX).collect();
    Pending {
        region: all.iter().map(|of| of.region).collect(),
        calls: all.iter().map(|of| of.calls).collect(),
        since_ns: all.iter().map(|of| of.since_ns).collect(),
        total_ns: all.iter().map(|of| of.total_ns).collect(),
    }
}

fn state_number(state: ProcessState) -> u32 {
    match state {
        ProcessState::Running => 0,
        ProcessState::Finalized => 1,
        ProcessState::Aborted => 2,
        ProcessState::Vanished => 3,
        ProcessState::Silent => 4,
    }
}

pub(crate) fn totals(totals: mpiscope_model::Totals) -> Totals {
    Totals {
        calls: totals.calls,
        polls: totals.polls,
        messages: totals.messages,
        bytes: totals.bytes,
        intra_messages: totals.intra_messages,
        inter_messages: totals.inter_messages,
        unmatched_sends: totals.unmatched_sends,
        unmatched_receives: totals.unmatched_receives,
        uncertain_messages: totals.uncertain_messages,
    }
}

pub(crate) fn losses(losses: mpiscope_model::Losses) -> Losses {
    let mpiscope_model::Losses { ring_full, no_ring, unreadable, unsaved } = losses;
    Losses { ring_full, no_ring, unreadable, unsaved }
}
