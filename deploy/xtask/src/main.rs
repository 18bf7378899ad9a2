//! Checks and generators of the repository; `main` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what it finds is for whoever runs it")]

mod calls;
mod commits;
mod git;
mod layers;
mod links;
mod modules;
mod references;
mod tree;
mod words;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

/// The root of the repository: two folders above this crate.
fn root() -> Result<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(own.ancestors().nth(2).context("deploy/xtask lies two folders below the root")?.to_path_buf())
}

fn main() -> ExitCode {
    // Without the places in this program: what failed is a place in the tree.
    run().map_or_else(
        |error| {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root()?;
    match words.as_slice() {
        ["calls"] => calls::write(&root),
        ["calls", "--check"] => calls::check(&root),
        ["layers"] => {
            layers::check(&root)?;
            modules::check(&root)
        }
        ["tree"] => tree::check(&root),
        ["links"] => links::check(&root).and_then(|()| references::check(&root)),
        ["commits"] => commits::check(&root),
        ["words"] => words::check(&root),
        _ => bail!("usage: cargo xtask calls [--check] | layers | tree | words | links | commits"),
    }
}
