//! How many calls a second become rows, effects and events.

use crate::{Took, sorted};
use anyhow::Result;
use mpiscope_ingest::Ingest;
use mpiscope_synth::{Spec, generate};
use mpiscope_wire::Message;

/// Takes in all messages of a simulated job: as the recorder does without and with a live analysis, and as a reading of a log
/// does that replays nothing.
pub(crate) fn all(spec: &Spec, rounds: usize) -> Result<()> {
    let messages: Vec<Message> = generate(spec)?.collect();
    for name in ["rows and events", "rows, effects and events", "effects and events"] {
        let mut rates = Vec::new();
        for _ in 0..rounds {
            let own = messages.clone();
            let mut ingest = match name {
                "rows and events" => Ingest::new(),
                "effects and events" => Ingest::for_diagnosis().without_rows(),
                _ => Ingest::for_diagnosis(),
            };
            let mut calls = 0;
            let begun = Took::begin();
            for message in own {
                calls +=
                    ingest.step(message).map_or(0, |batch| batch.calls.len().max(batch.activities.len()));
            }
            rates.push(calls as f64 / 1e6 / begun.end().processor_s);
        }
        let [least, middle, most] = sorted(rates);
        println!("{name:<26} {middle:>7.2} million calls/s [{least:.2}..{most:.2}]");
    }
    Ok(())
}
