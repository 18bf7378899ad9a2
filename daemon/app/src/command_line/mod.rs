//! The command line: its arguments, and the texts of its help.

mod arguments;
mod help;
mod hostfile;
mod layout;
mod range;
mod regions;
mod synth;
mod values;
mod whatif;

pub(crate) use arguments::*;
pub(crate) use help::{parse, print_completions, refuse, write_manual};
pub(crate) use hostfile::Hostfile;
pub(crate) use layout::{LayoutCheckOptions, LayoutCommand, LayoutEvalOptions};
pub(crate) use range::range_ns;
pub(crate) use regions::RegionsOptions;
pub(crate) use synth::SynthOptions;
pub(crate) use values::{ExportFormat, ExportTable};
pub(crate) use whatif::WhatifOptions;
