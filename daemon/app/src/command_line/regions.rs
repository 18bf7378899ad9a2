//! The options of `mpiscope regions`: whose messages are counted, and how ranks are grouped.

use clap::Args;
use mpiscope_topology::{Cut, Method};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RegionsOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR", required_unless_present = "edges", conflicts_with = "edges")]
    pub(crate) dir: Option<PathBuf>,
    /// Table of pairs of ranks that communicated
    #[arg(long, value_name = "FILE")]
    pub(crate) edges: Option<PathBuf>,
    /// How to measure the distance of ranks: by the shortest path, or by all paths
    #[arg(long, value_name = "paper|free-energy", default_value = "free-energy", value_parser = method)]
    pub(crate) method: Method,
    /// Where to cut the hierarchy: at the greatest modularity, or at a distance [default: 2.0 for paper, else auto]
    #[arg(long, value_name = "auto|N.N", value_parser = cut, conflicts_with = "count")]
    pub(crate) cut: Option<Cut>,
    /// Find this number of regions
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The words of a method.
fn method(word: &str) -> Result<Method, String> {
    match word {
        "paper" => Ok(Method::Paper),
        "free-energy" => Ok(Method::FreeEnergy),
        _ => Err("it is paper or free-energy".to_owned()),
    }
}

/// The words of a cut.
fn cut(word: &str) -> Result<Cut, String> {
    let at = || word.parse().ok().filter(|at: &f64| at.is_finite() && *at >= 0.0).map(Cut::At);
    let cut = if word == "auto" { Some(Cut::Auto) } else { at() };
    cut.ok_or_else(|| "it is auto or a distance, such as 2.0".to_owned())
}
