//! The options of `mpiscope whatif`: what to change in the replay of a run.

use clap::Args;
use mpiscope_formats::export::RankList;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct WhatifOptions {
    /// Folder of the recording
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Place ranks as `mpiscope remap` advises, or by a table with the columns rank and node
    #[arg(long, value_name = "advised|FILE")]
    pub(crate) place: Option<PathBuf>,
    /// Balance the load: ranks with the same role compute for the same time
    #[arg(long = "even-work")]
    pub(crate) balanced: bool,
    /// Messages between nodes are as fast as in the quietest quarter of the run
    #[arg(long)]
    pub(crate) quiet: bool,
    /// No rank waits for a CPU
    #[arg(long)]
    pub(crate) own_cores: bool,
    /// Multiply the computing of ranks, such as 0,8-15=0.5; may be given several times
    #[arg(long, value_name = "LIST=FACTOR", value_parser = rank_factor)]
    pub(crate) rank: Vec<(RankList, f64)>,
    /// Multiply the latency of messages
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) latency: Option<f64>,
    /// Multiply the bandwidth
    #[arg(long, value_name = "FACTOR", value_parser = positive_factor)]
    pub(crate) bandwidth: Option<f64>,
    /// Multiply the own time of an MPI function; may be given several times
    #[arg(long, value_name = "NAME=FACTOR", value_parser = function_factor)]
    pub(crate) function: Vec<(String, f64)>,
    /// Print JSON (schema mpiscope.whatif/1)
    #[arg(long)]
    pub(crate) json: bool,
}

fn factor(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e6;
    let factor = text.trim().parse().ok().filter(|factor| (0.0..=MOST).contains(factor));
    factor.ok_or_else(|| "expected a factor from 0 to 1000000".to_owned())
}

fn positive_factor(text: &str) -> Result<f64, String> {
    factor(text)
        .and_then(|factor| if factor > 0.0 { Ok(factor) } else { Err("expected a factor above 0".into()) })
}

fn rank_factor(text: &str) -> Result<(RankList, f64), String> {
    let (list, by) = text.rsplit_once('=').ok_or("expected ranks and a factor, such as 0,8-15=0.5")?;
    Ok((list.parse()?, factor(by)?))
}

fn function_factor(text: &str) -> Result<(String, f64), String> {
    let (name, by) = text.rsplit_once('=').ok_or("expected a function and a factor, such as MPI_Send=2")?;
    Ok((name.trim().to_owned(), factor(by)?))
}
