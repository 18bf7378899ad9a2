//! How long layouts take to place the ranks of a run.
//!
//! `cargo run --release -p mpiscope-bench-layout [-- RANKS]` prints the median and the slowest of many evaluations for a layout
//! of 30 statements and for each bundled one, with 16,384 ranks unless told otherwise.

#![allow(clippy::print_stdout, reason = "its figures are for whoever runs it")]

use anyhow::{Context as _, Result};
use mpiscope_layout::{BUNDLED, Inputs, Layout, LayoutFile, Values};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 101;

/// 30 statements of the kinds that real layouts have: grid arithmetic, angles, metadata, events and choices.
const STATEMENTS_30: &str = "\
BEGIN_VIZ=30 statements
edge=ceil(sqrt(maxRank))
column=mod(rank, edge)
row=floor(rank/edge)
half=edge/2
dx=column-half
dy=row-half
distance=sqrt(dx^2+dy^2)
angle=atan2(dy, dx)
turn=2*pi()*distance/edge
cpu=mod(metadata(cpu), 2)
core=floor(metadata(core)/8)
shiftY=column*3+cpu
shiftZ=row*3+core
share=(event0.val-event0.min)/max(event0.max-event0.min, 1)
excess=max(event0.val-event0.mean, 0)/max(event0.mean, 1)
isOdd=mod(row+column, 2)
lift=if(isOdd, share, -share)
theta=2*pi()/edge*column
phi=pi()/edge*row
radius=100+20*share
side=sin(phi)
sx=cos(theta)*side*radius
sy=sin(theta)*side*radius
sz=cos(phi)*radius
jitter=(rand()-0.5)/10
blend=min(share+excess, 1)
x=sx*(1-blend)+shiftY*blend+jitter
y=sy*(1-blend)+shiftZ*blend+lift
z=sz*(1-blend)+cos(angle+turn)*blend
color=share*100
END_VIZ
";

fn inputs(ranks: usize) -> Inputs {
    let values = |modulus: usize| Values::PerRank((0..ranks).map(|rank| (rank % modulus) as f64).collect());
    let mut inputs = Inputs::new(ranks);
    inputs.set_node(values(128));
    inputs.set_color(values(1000));
    inputs.set_event(0, values(997));
    for key in ["cpu", "core", "host", "slot", "cart_x", "cart_y", "cart_z"] {
        inputs.set_metadata(key, values(16));
    }
    for key in ["hosts", "cart_size_x", "cart_size_y", "cart_size_z"] {
        inputs.set_metadata(key, Values::Same(16.0));
    }
    inputs
}

/// Prints the times of a layout.
fn measure(layout: &Layout, inputs: &Inputs) -> Result<()> {
    let mut seconds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        black_box(layout.evaluate(black_box(inputs))?);
        seconds.push(begin.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let (median, slowest) = (seconds[ROUNDS / 2] * 1e3, seconds[ROUNDS - 1] * 1e3);
    println!("{:<14} {median:8.3} ms   slowest {slowest:8.3} ms", layout.name());
    Ok(())
}

fn main() -> Result<()> {
    let ranks =
        std::env::args().nth(1).map_or(Ok(16_384), |word| word.parse()).context("RANKS is a number")?;
    let inputs = inputs(ranks);
    println!("{ranks} ranks, {ROUNDS} rounds");
    for text in [STATEMENTS_30].into_iter().chain(BUNDLED.map(|layout| layout.text)) {
        let file = LayoutFile::parse(text.as_bytes());
        if let Some(error) = file.errors.into_iter().next() {
            return Err(error.into());
        }
        file.layouts.iter().try_for_each(|layout| measure(layout, &inputs))?;
    }
    Ok(())
}
