//! How many calls a second become rows, effects and events.

use crate::{Took, sorted};
use anyhow::Result;
use mpiscope_ingest::Ingest;
use mpiscope_synth::{Spec, generate};
use mpiscope_wire::Message;

/// Takes in all messages of a simulated job, as the recorder does and as the two readings of a log do.
pub(crate) fn all(spec: &Spec, rounds: usize) -> Result<()> {
    let messages: Vec<Message> = generate(spec)?.collect();
    for (name, has_effects) in [("rows and events", false), ("rows, effects and events", true)] {
        let mut rates = Vec::new();
        for _ in 0..rounds {
            let own = messages.clone();
            let mut ingest = if has_effects { Ingest::for_diagnosis() } else { Ingest::new() };
            let mut calls = 0;
            let begun = Took::begin();
            for message in own {
                calls += ingest.step(message).map_or(0, |batch| batch.calls.len());
            }
            rates.push(calls as f64 / 1e6 / begun.end().processor_s);
        }
        let [least, middle, most] = sorted(rates);
        println!("{name:<26} {middle:>7.2} million calls/s [{least:.2}..{most:.2}]");
    }
    Ok(())
}
