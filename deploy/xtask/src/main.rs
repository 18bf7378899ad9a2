//! Checks and generators of the house: `cargo xtask calls [--check]`, `cargo xtask layers`, `cargo xtask tree`.

#![allow(clippy::print_stdout, reason = "what it finds is for whoever runs it")]

mod calls;
mod layers;
mod tree;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The root of the repository: two folders above this crate.
fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(here.ancestors().nth(2).context("deploy/xtask lies two folders below the root")?.to_path_buf())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root()?;
    match words.as_slice() {
        ["calls"] => calls::write(&root),
        ["calls", "--check"] => calls::check(&root),
        ["layers"] => layers::check(&root),
        ["tree"] => tree::check(&root),
        _ => bail!("usage: cargo xtask calls [--check] | layers | tree"),
    }
}
