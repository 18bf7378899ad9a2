//! How fast jobs are simulated: `speed PATTERN RANKS SECONDS RATE [DISTURBANCE]`.

#![allow(clippy::print_stdout, reason = "its figures are for whoever runs it")]

use mpiscope_synth::{Spec, generate};
use mpiscope_wire::Message;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pattern, ranks, seconds, rate, disturb @ ..] = words.as_slice() else {
        return Err("speed PATTERN RANKS SECONDS RATE [DISTURBANCE]".into());
    };
    let mut spec = Spec::new(pattern.parse()?, ranks.parse()?, seconds.parse()?, rate.parse()?);
    spec.disturb = disturb.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let begin = Instant::now();
    let mut run = generate(&spec)?;
    let ready_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let mut slots = 0;
    for message in run.by_ref() {
        if let Message::Slots(batch) = message {
            slots += batch.slots.len();
        }
    }
    let told_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let truth = run.truth();
    println!(
        "ready in {ready_s:.2} s; {} calls, {slots} slots in {told_s:.2} s: {:.2} million calls a second; truth in {:.2} s",
        truth.calls,
        truth.calls as f64 / told_s / 1e6,
        begin.elapsed().as_secs_f64()
    );
    println!("{:.3} s, {:?}", truth.duration_s, truth.main);
    Ok(())
}
