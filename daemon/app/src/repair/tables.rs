//! The small tables that were lost, from what other files have of them.

use mpiscope_model::{Comm, CommInfo, Node, NodeInfo, ProcessState, Rank, RankCpus, RankInfo};
use mpiscope_recording::{FunctionName, Job, SegmentFault, Tables};
use std::collections::BTreeSet;

/// Fills in the tables that these faults tell of; says what of them is not known any more.
pub(super) fn rebuild(
    tables: &mut Tables,
    faults: &[SegmentFault],
    job: &Job,
    used_comms: &BTreeSet<Comm>,
) -> Vec<String> {
    let mut missing = Vec::new();
    for fault in faults {
        let name = fault.file.trim_start_matches("tables/").trim_end_matches(".parquet");
        let lost = match name {
            "functions" => {
                tables.functions = functions();
                continue;
            }
            "nodes" => {
                tables.nodes = nodes(job);
                continue;
            }
            "ranks" => {
                tables.ranks = ranks(job);
                "processes of ranks, how they ended and what recording cost them"
            }
            "communicators" => {
                tables.communicators = used_comms.iter().map(|&comm| communicator(comm)).collect();
                "sizes and members of communicators"
            }
            _ => "the call sites",
        };
        missing.push(format!("{lost}: {} was lost", fault.file));
    }
    missing
}

/// Those that this program knows.
fn functions() -> Vec<FunctionName> {
    let all = mpiscope_wire::FUNCTIONS.iter();
    all.map(|entry| FunctionName { function: entry.id, name: entry.name.to_owned() }).collect()
}

fn nodes(job: &Job) -> Vec<NodeInfo> {
    let named = job.nodes.iter().zip((0..).map(Node));
    named.map(|(node, number)| NodeInfo { node: number, name: node.name.clone() }).collect()
}

fn ranks(job: &Job) -> Vec<RankInfo> {
    let state = if job.exit == Some(0) { ProcessState::Finalized } else { ProcessState::Vanished };
    let of_nodes = job.nodes.iter().zip((0..).map(Node));
    let mut ranks: Vec<RankInfo> = of_nodes
        .flat_map(|(node, number)| node.ranks.iter().map(move |&rank| (rank, number)))
        .map(|(rank, node)| RankInfo {
            rank: Rank(rank),
            world_size: job.ranks,
            node,
            pid: 0,
            library: job.mpi.clone(),
            state,
            cost_per_call_ns: 0.0,
            cpus: RankCpus::default(),
        })
        .collect();
    ranks.sort_by_key(|info| info.rank);
    ranks
}

/// One that was there; nothing else is known of it.
fn communicator(comm: Comm) -> CommInfo {
    CommInfo { comm, id: comm.0.into(), ..CommInfo::default() }
}
