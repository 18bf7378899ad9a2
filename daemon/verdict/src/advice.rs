//! A better placement for a job that is running, from a process of its own: the partitioning library takes the signals of
//! the process it is in.

use super::apart::{LOW_PRIORITY, answer, start};
use anyhow::{Context as _, Result, ensure};
use mpiscope_model::{Node, Rank};
use mpiscope_process::output::print;
use mpiscope_topology::{Advice, Flow, Traffic, advise, capacities};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::process::{ExitCode, Stdio};

/// The word by which this program is asked for advice. Not for people.
const COMMAND: &str = "advise";

#[derive(Serialize, Deserialize)]
struct Question {
    node_of_rank: Vec<u32>,
    /// Ranks that talk to each other: messages, bytes.
    pairs: Vec<(u32, u32, u64, u64)>,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    node_of_rank: Vec<u32>,
    messages: (u64, u64),
    bytes: (u64, u64),
}

/// The whole life of the process that finds a placement.
pub fn advise_apart() -> Result<ExitCode> {
    let _ = rustix::process::setpriority_process(None, LOW_PRIORITY);
    let question: Question =
        serde_json::from_reader(std::io::stdin().lock()).context("nobody said who talks to whom")?;
    let mut traffic = Traffic::default();
    for &(one, other, messages, bytes) in &question.pairs {
        traffic.add(Rank(one), Rank(other), Flow { messages, bytes });
    }
    let today: Vec<Node> = question.node_of_rank.into_iter().map(Node).collect();
    let nodes = today.iter().map(|node| node.index() + 1).max().unwrap_or_default();
    ensure!(nodes <= today.len(), "there are more nodes than ranks");
    let advice = advise(&traffic, &today, &capacities(&today, nodes));
    let answer = Answer {
        node_of_rank: advice.node_of_rank.into_iter().map(|node| node.0).collect(),
        messages: (advice.inter_messages_before, advice.inter_messages_after),
        bytes: (advice.inter_bytes_before, advice.inter_bytes_after),
    };
    print(&serde_json::to_string(&answer)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Asks another process for a placement, and waits for it.
pub fn ask(traffic: &Traffic, node_of_rank: &[Node]) -> Result<Advice> {
    let pairs =
        traffic.pairs().map(|(one, other, flow)| (one.0, other.0, flow.messages, flow.bytes)).collect();
    let question = Question { node_of_rank: node_of_rank.iter().map(|node| node.0).collect(), pairs };
    let mut child = start([COMMAND.as_ref()], Stdio::piped())?;
    if let Some(mut stdin) = child.stdin.take() {
        // It reads all before it writes anything.
        serde_json::to_writer(&mut stdin, &question)?;
        stdin.flush()?;
    }
    let answer: Answer = answer(child)?;
    Ok(Advice {
        node_of_rank: answer.node_of_rank.into_iter().map(Node).collect(),
        inter_messages_before: answer.messages.0,
        inter_messages_after: answer.messages.1,
        inter_bytes_before: answer.bytes.0,
        inter_bytes_after: answer.bytes.1,
    })
}
