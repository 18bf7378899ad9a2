//! `mpiscope regions`: which ranks talk mostly among themselves, by a table of who talked to whom or by a recording.

mod edges;

use crate::command_line::RegionsOptions;
use anyhow::{Result, ensure};
use mpiscope_engine::load::load_traffic;
use mpiscope_model::Rank;
use mpiscope_model::words::{plural, ranges};
use mpiscope_process::output::print;
use mpiscope_recording::Recording;
use mpiscope_topology::{Clustering, Cut, MOST_EXACT, TalkGraph, modularity};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// For scripts. A distance is null where ranks do not reach each other, and all of it where there are too many ranks.
#[derive(Serialize)]
struct RegionsReport {
    ranks: Vec<u32>,
    distance: Option<Vec<Vec<Option<f64>>>>,
    regions: Vec<Vec<u32>>,
    modularity: f64,
    /// Whether all ranks were looked at one by one.
    exact: bool,
}

pub(crate) fn regions(options: &RegionsOptions) -> Result<ExitCode> {
    let graph = match (&options.edges, &options.dir) {
        (Some(file), _) => edges::read(file)?,
        (None, Some(dir)) => of_recording(dir)?,
        (None, None) => unreachable!("one of them is required"),
    };
    let method = options.method;
    let cut = options.count.map(Cut::Count).or(options.cut).unwrap_or(method.usual_cut());
    let has_distances = options.json && graph.ranks().len() <= MOST_EXACT;
    let clustering = if has_distances {
        Clustering::with_distances(&graph, method)
    } else {
        Clustering::new(&graph, method)
    };
    let regions = clustering.cut(cut);
    let found = RegionsReport {
        ranks: numbers(graph.ranks()),
        distance: has_distances.then(|| distances(&clustering, graph.ranks().len())),
        regions: regions.iter().map(|region| numbers(region)).collect(),
        modularity: modularity(&graph, &regions),
        exact: clustering.is_exact(),
    };
    if options.json {
        print(&(serde_json::to_string(&found)? + "\n"))?;
    } else {
        print(&text(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The messages between the ranks of a recording.
fn of_recording(dir: &Path) -> Result<TalkGraph> {
    let traffic = load_traffic(dir, &Recording::open(dir)?)?;
    ensure!(traffic.faults.is_empty(), "regions need all messages: {}", traffic.faults.join("; "));
    let pairs = traffic.traffic.pairs().map(|(one, other, flow)| (one, other, flow.messages as f64));
    Ok(TalkGraph::new(Rank::all(traffic.job.plausible_ranks()), pairs))
}

/// Digits beyond the ninth are not worth their bytes.
fn distances(clustering: &Clustering<'_>, ranks: usize) -> Vec<Vec<Option<f64>>> {
    let round = |distance: Option<f64>| distance.map(|distance| (distance * 1e9).round() / 1e9);
    let of = |place| clustering.distances_of(place).unwrap_or_default().into_iter().map(round).collect();
    (0..ranks).map(of).collect()
}

fn numbers(ranks: &[Rank]) -> Vec<u32> {
    ranks.iter().map(|rank| rank.0).collect()
}

fn text(found: &RegionsReport) -> String {
    let mut text = String::new();
    let regions = plural(found.regions.len() as u64, "region");
    let ranks = plural(found.ranks.len() as u64, "rank");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{regions} of {ranks}, modularity {:.3}", found.modularity);
    for (id, region) in found.regions.iter().enumerate() {
        let _ = writeln!(text, "  {id:>5}  {:>12}  {}", plural(region.len() as u64, "rank"), ranges(region));
    }
    if !found.exact {
        let _ = writeln!(
            text,
            "More than {} reach each other: those that talk most were brought together first.",
            plural(MOST_EXACT as u64, "rank")
        );
    }
    text
}
