//! `mpiscope whatif`: the recorded run replayed with changes.

use crate::command_line::WhatifOptions;
use anyhow::{Context as _, Result, ensure};
use mpiscope_diagnosis::whatif::{Change, Graph, Replayer as _, UnfeltFlights};
use mpiscope_engine::load::{Trust, is_in_log, load_traffic, load_with};
use mpiscope_feed::Overview;
use mpiscope_model::words::nanoseconds;
use mpiscope_model::{Function, Node, Rank};
use mpiscope_placement::place;
use mpiscope_process::output::print;
use mpiscope_recording::{Job, Recording};
use mpiscope_verdict::{SideBySide, finish_graph, graph_builder, graph_of_segments};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

const SCHEMA: &str = "mpiscope.whatif/1";

/// What is printed as JSON.
#[derive(Serialize)]
struct Answer {
    schema: &'static str,
    recorded_s: f64,
    replayed_s: f64,
    predicted_s: f64,
    /// The least and the most that it may take.
    range_s: (f64, f64),
    next: Next,
    /// Where the unchanged replay stops following the run; null where it does not.
    departs: Option<Departs>,
}

/// What costs most after the change.
#[derive(Serialize)]
struct Next {
    cause: &'static str,
    avoidable_wall_s: f64,
}

#[derive(Serialize)]
struct Departs {
    rank: u32,
    at_s: f64,
}

pub(crate) fn whatif(options: &WhatifOptions) -> Result<ExitCode> {
    let recording = Recording::open(&options.dir)?;
    let (graph, faults) = graph_of(&options.dir, &recording)?;
    for fault in faults {
        say!("{fault}");
    }
    ensure!(graph.call_count() > 0, "{} has no calls to replay", options.dir.display());
    let job = &recording.manifest().job;
    let advised = advised(&options.dir, &recording);
    let change = change(options, job, advised.as_deref(), graph.rank_count())?;
    let answer = answer(&graph, &change, advised.as_deref());
    let text = if options.json { serde_json::to_string_pretty(&answer)? + "\n" } else { words(&answer) };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn graph_of(dir: &Path, recording: &Recording) -> Result<(Graph, Vec<String>)> {
    if !is_in_log(recording) {
        return graph_of_segments(recording);
    }
    let mut builder = graph_builder(recording)?;
    load_with(dir, recording, Trust::Checked, Overview::default(), &mut |rows| {
        rows.calls.iter().for_each(|call| builder.call(call));
        rows.messages.iter().for_each(|message| builder.message(message));
        Ok(())
    })?;
    Ok((finish_graph(builder)?, Vec::new()))
}

/// The advised placement, where there is one.
fn advised(dir: &Path, recording: &Recording) -> Option<Vec<Node>> {
    let job = &recording.manifest().job;
    if job.nodes.len() < 2 {
        return None;
    }
    let traffic = load_traffic(dir, recording).ok()?;
    place(&traffic.job, &traffic.traffic).ok().map(|placement| placement.advice.node_of_rank)
}

fn change(options: &WhatifOptions, job: &Job, advised: Option<&[Node]>, ranks: usize) -> Result<Change> {
    let mut change = Change {
        balanced: options.balanced,
        own_cores: options.own_cores,
        quiet_network: options.quiet,
        latency: options.latency,
        bandwidth: options.bandwidth,
        ..Change::default()
    };
    match options.place.as_deref().map(|place| (place, place.to_str())) {
        None => {}
        Some((_, Some("advised"))) => {
            let advised = advised.context(
                "no placement can be advised: all ranks are on one node, or it is not known where they are",
            )?;
            change.placement = Some(advised.to_vec());
        }
        Some((file, _)) => change.placement = Some(placement_of(file, job, ranks)?),
    }
    for (list, factor) in &options.rank {
        change
            .ranks
            .extend(Rank::all(ranks as u32).filter(|rank| list.contains(*rank)).map(|rank| (rank, *factor)));
    }
    for (name, factor) in &options.function {
        change.functions.push((function(name)?, *factor));
    }
    Ok(change)
}

fn function(name: &str) -> Result<Function> {
    let known = mpiscope_wire::FUNCTIONS.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
    known.map(|entry| entry.id).with_context(|| format!("{name} is no MPI function that mpiscope records"))
}

/// A table of ranks and names of nodes, as `import --nodes` takes it.
fn placement_of(file: &Path, job: &Job, ranks: usize) -> Result<Vec<Node>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let mut names: Vec<String> = job.nodes.iter().map(|node| node.name.clone()).collect();
    let mut nodes: Vec<Option<Node>> = vec![None; ranks];
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map(|(_, line)| line.replace(' ', ""));
    ensure!(header.as_deref() == Some("rank,node"), "{}: the first line has to be rank,node", file.display());
    for (number, line) in lines {
        let place =
            || format!("{}, line {number}: a rank below {ranks} and a node are expected", file.display());
        let (rank, name) = line.split_once(',').with_context(place)?;
        let rank: usize = rank.trim().parse().ok().filter(|rank| *rank < ranks).with_context(place)?;
        let name = name.trim();
        let node = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        nodes[rank] = Some(Node::from_index(node));
    }
    let missing = nodes.iter().position(Option::is_none);
    ensure!(missing.is_none(), "{}: rank {} has no node", file.display(), missing.unwrap_or_default());
    Ok(nodes.into_iter().flatten().collect())
}

fn answer(graph: &Graph, change: &Change, advised: Option<&[Node]>) -> Answer {
    let seconds = |ns: f64| ns / 1e9;
    let changes = [UnfeltFlights::Drawn, UnfeltFlights::Low, UnfeltFlights::High]
        .map(|unfelt| Change { unfelt, ..change.clone() });
    let outcomes = SideBySide.outcomes(graph, &changes);
    let [predicted_s, low_s, high_s] = [0, 1, 2].map(|at| seconds(outcomes[at].run_ns));
    let after = graph.savings_after(change, advised, &SideBySide);
    let next = after.causes.iter().max_by(|one, other| one.wall_ns.total_cmp(&other.wall_ns));
    let next = next.filter(|saving| saving.wall_ns >= 0.02 * predicted_s * 1e9);
    let departs = after.departure.map(|of| Departs { rank: of.rank.0, at_s: of.at_ns as f64 / 1e9 });
    Answer {
        schema: SCHEMA,
        recorded_s: seconds(after.recorded_ns),
        replayed_s: seconds(after.replayed_ns),
        predicted_s,
        range_s: (predicted_s.min(low_s).min(high_s), predicted_s.max(low_s).max(high_s)),
        next: Next {
            cause: next.map_or("none", |saving| saving.cause.word()),
            avoidable_wall_s: next.map_or(0.0, |saving| seconds(saving.wall_ns)),
        },
        departs,
    }
}

/// The answer in sentences.
fn words(answer: &Answer) -> String {
    let time = |seconds: f64| nanoseconds((seconds.max(0.0) * 1e9) as u64);
    let mut text = format!(
        "{} recorded, {} replayed without a change.\n{} with the change, between {} and {}.\n",
        time(answer.recorded_s),
        time(answer.replayed_s),
        time(answer.predicted_s),
        time(answer.range_s.0),
        time(answer.range_s.1),
    );
    text += &match answer.next.cause {
        "none" => "Nothing else saves 2 % or more.\n".to_owned(),
        cause => {
            let name = match cause {
                "mapping" => "a better placement",
                "pattern" => "balanced work",
                "background" => "a quiet network",
                _ => "a CPU for every rank",
            };
            format!("Next, {name} saves {}.\n", time(answer.next.avoidable_wall_s))
        }
    };
    if let Some(departs) = &answer.departs {
        text += &format!(
            "The replay departs from the run at {} on rank {}: do not rely on these times.\n",
            time(departs.at_s),
            departs.rank
        );
    }
    text
}
