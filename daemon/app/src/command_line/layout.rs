//! The options of `mpiscope layout`: which layout files to check or to evaluate, and for how many ranks.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum LayoutCommand {
    /// Check layout files and list their layouts
    #[command(after_help = "\
Prints a line for each layout: its name, its points and how many warnings there are. Warnings and errors have file, line \
and column. Exits with 2 when a layout has an error.")]
    Check(LayoutCheckOptions),
    /// Print where a layout places ranks, as CSV
    #[command(after_help = "\
Prints a header and a line for each point: rank,x,y,z,color. Without a recording, events are 0, and so are node and metadata \
without --topology.")]
    Eval(LayoutEvalOptions),
}

#[derive(Debug, Args)]
pub(crate) struct LayoutCheckOptions {
    /// The layout files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How many ranks to place
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = ranks())]
    pub(crate) ranks: u32,
    /// Where nodes or ranks are in the machine, as for `run`; ranks fill its nodes evenly, in its order
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LayoutEvalOptions {
    /// The layout file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How many ranks to place
    #[arg(long, value_name = "N", value_parser = ranks())]
    pub(crate) ranks: u32,
    /// The layout of the file [default: the first one]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where nodes or ranks are in the machine, as for `run`; ranks fill its nodes evenly, in its order
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Vec<PathBuf>,
}

fn ranks() -> clap::builder::RangedI64ValueParser<u32> {
    const MOST_RANKS: i64 = 1 << 20;
    clap::value_parser!(u32).range(1..=MOST_RANKS)
}
