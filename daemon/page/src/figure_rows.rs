//! Figures as rows of the feed.

use mpiscope_feed::{FunctionRow, NodeRow, RankRow};
use mpiscope_matching::Counts;
use mpiscope_model::{InFlight, Node, ProcessState, Rank, RankInfo};
use mpiscope_verdict::Processors;
use std::collections::BTreeSet;

/// The functions that were called, and those that were entered and have not returned for the first time.
pub fn function_rows(counts: &Counts, in_flight: &[InFlight]) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = counts
        .functions()
        .filter_map(|(function, totals)| {
            let entry = mpiscope_wire::by_id(function)?;
            Some(FunctionRow {
                function,
                name: entry.name,
                family: entry.family.word(),
                calls: totals.calls,
                polls: totals.polls,
                bytes: totals.bytes,
                time_ns: totals.time_ns,
                p50_ns: totals.quantile_ns(0.5),
                p99_ns: totals.quantile_ns(0.99),
                max_ns: totals.max_ns(),
            })
        })
        .collect();
    for call in in_flight {
        if !rows.iter().any(|row| row.function == call.function) {
            rows.extend(mpiscope_wire::by_id(call.function).map(|entry| FunctionRow {
                function: call.function,
                name: entry.name,
                family: entry.family.word(),
                ..FunctionRow::default()
            }));
        }
    }
    rows
}

/// The hosts: their names, how well their clocks are known, whether ranks of them are silent, and their CPUs.
pub fn node_rows<'a>(
    names: impl Iterator<Item = &'a str>,
    clock_uncertainty_ns: impl Fn(Node) -> Option<u64>,
    ranks: impl Iterator<Item = &'a RankInfo>,
    processors: &Processors,
) -> Vec<NodeRow> {
    let is_silent = |info: &&RankInfo| info.state == ProcessState::Silent;
    let silent: BTreeSet<Node> = ranks.filter(is_silent).map(|info| info.node).collect();
    let row = |(node, name): (Node, &str)| NodeRow {
        node,
        name: name.to_owned(),
        clock_uncertainty_ns: clock_uncertainty_ns(node),
        is_silent: silent.contains(&node),
        cpus: processors.of_node(node),
    };
    (0..).map(Node).zip(names).map(row).collect()
}

/// Ranks; those of `in_call` ended in a call that did not return.
pub fn rank_rows<'a>(
    counts: &Counts,
    processors: &Processors,
    ranks: impl Iterator<Item = &'a RankInfo>,
    in_call: &BTreeSet<Rank>,
) -> Vec<RankRow> {
    ranks
        .map(|info| {
            let totals = counts.rank(info.rank);
            let is_over = !matches!(info.state, ProcessState::Running | ProcessState::Silent);
            let makes_no_more = is_over && !in_call.contains(&info.rank);
            let scheduling = processors.figures_of(info.rank).copied().unwrap_or_default();
            RankRow {
                rank: info.rank,
                node: info.node,
                calls: totals.calls,
                sent: totals.sent,
                received: totals.received,
                bytes_sent: totals.sent_bytes,
                mpi_time_ns: totals.time_ns,
                run_ns: scheduling.run_ns,
                wait_ns: scheduling.wait_ns,
                involuntary: scheduling.involuntary,
                state: info.state,
                ended_ns: if makes_no_more { totals.last_ns } else { 0 },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{node_rows, rank_rows};
    use mpiscope_matching::Counts;
    use mpiscope_model::{Call, Node, ProcessState, Rank, RankCpus, RankInfo};
    use mpiscope_verdict::Processors;

    fn info(rank: u32, node: u32, state: ProcessState) -> RankInfo {
        RankInfo {
            rank: Rank(rank),
            world_size: 3,
            node: Node(node),
            pid: 1,
            library: String::new(),
            state,
            cost_per_call_ns: 0.0,
            cpus: RankCpus::default(),
        }
    }

    #[test]
    fn a_rank_has_ended_when_its_process_has_and_no_call_is_open() {
        let ranks = [
            info(0, 0, ProcessState::Finalized),
            info(1, 0, ProcessState::Running),
            info(2, 0, ProcessState::Vanished),
            info(3, 0, ProcessState::Vanished),
        ];
        let mut counts = Counts::new(1_000);
        let call = |rank| Call { rank: Rank(rank), start_ns: 10, end_ns: 70, ..Call::default() };
        counts.calls(&[call(0), call(1), call(2), call(3)]);
        let rows = rank_rows(&counts, &Processors::default(), ranks.iter(), &[Rank(3)].into());
        assert_eq!(rows.iter().map(|row| row.ended_ns).collect::<Vec<_>>(), [70, 0, 70, 0]);
    }

    #[test]
    fn a_node_is_silent_as_long_as_one_of_its_ranks_is() {
        let ranks = [
            info(0, 0, ProcessState::Running),
            info(1, 1, ProcessState::Finalized),
            info(2, 1, ProcessState::Silent),
        ];
        let rows = node_rows(
            ["a", "b"].into_iter(),
            |node| (node == Node(1)).then_some(9),
            ranks.iter(),
            &Processors::default(),
        );
        let listed: Vec<_> = rows
            .iter()
            .map(|row| (row.node, row.name.as_str(), row.clock_uncertainty_ns, row.is_silent))
            .collect();
        assert_eq!(listed, [(Node(0), "a", None, false), (Node(1), "b", Some(9), true)]);
    }
}
