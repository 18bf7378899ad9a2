//! What the recorder's thread does without the disk: slots become rows, messages are matched, all is added up.

use crate::{number, packed, spread};
use anyhow::{Context as _, Result, bail};
use mpiscope_engine::{Engine, Step, Sums};
use mpiscope_model::Call;
use mpiscope_process::at_once::both;
use mpiscope_synth::{Pattern, Spec, generate};
use mpiscope_wire::Message;
use std::time::Instant;

const WINDOW_NS: u64 = 100_000_000;

pub(crate) fn measure(mut words: impl Iterator<Item = String>) -> Result<()> {
    let (mut ranks, mut seconds, mut rate, mut rounds) = (64, 20.0, 200_000.0, 5);
    let (mut slots, mut threads) = (1 << 18, vec![1, 2]);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--ranks" => ranks = number(words.next().as_ref(), "--ranks")?,
            "--seconds" => seconds = number(words.next().as_ref(), "--seconds")?,
            "--rate" => rate = number(words.next().as_ref(), "--rate")?,
            "--rounds" => rounds = number(words.next().as_ref(), "--rounds")?,
            "--slots" => slots = number(words.next().as_ref(), "--slots")?,
            "--threads" => {
                let list = words.next().context("--threads needs numbers such as 1,2")?;
                threads = list
                    .split(',')
                    .map(|word| number(Some(&word.to_owned()), "--threads"))
                    .collect::<Result<_>>()?;
            }
            other => bail!("there is no option {other}"),
        }
    }
    let messages = passes(&Spec::new(Pattern::Halo3d, ranks, seconds, rate), slots)?;
    let mut figures = vec![Vec::new(); threads.len()];
    let mut calls = 0;
    for _ in 0..rounds {
        for (&threads, figures) in threads.iter().zip(&mut figures) {
            let own = messages.clone();
            let begun = Instant::now();
            calls = go(own, threads);
            figures.push(calls as f64 / 1e6 / begun.elapsed().as_secs_f64());
        }
    }
    println!("{calls} calls of {ranks} ranks, {slots} slots at a time");
    for (threads, figures) in threads.iter().zip(figures) {
        let (least, median, greatest) = spread(figures);
        println!("{threads} threads: {median:.2} [{least:.2}..{greatest:.2}] million calls a second");
    }
    Ok(())
}

/// The messages of a job, as if the rings were looked at whenever they have about that number of slots.
fn passes(spec: &Spec, most: usize) -> Result<Vec<Message>> {
    let mut waiting = 0;
    let is_kept = |message: &Message| match message {
        Message::ClockSample(_) => {
            let is_due = waiting >= most;
            waiting = if is_due { 0 } else { waiting };
            is_due
        }
        message => {
            waiting += message.slot_count();
            true
        }
    };
    Ok(generate(spec)?.filter(is_kept).map(|message| packed(&message).unwrap_or(message)).collect())
}

fn go(messages: Vec<Message>, threads: usize) -> u64 {
    let mut engine = Engine::new(WINDOW_NS);
    engine.share_out(threads);
    let (mut sums, mut rows) = (Sums::default(), Vec::new());
    for message in messages {
        let steps = engine.feed(message);
        steps.iter().for_each(|step| take(&engine, step, &mut sums, &mut rows));
    }
    let steps = engine.finish();
    steps.iter().for_each(|step| take(&engine, step, &mut sums, &mut rows));
    engine.totals.calls
}

/// As the recorder does, which copies rows for the next segment.
fn take(engine: &Engine, step: &Step, sums: &mut Sums, rows: &mut Vec<Call>) {
    let add = || sums.add(&step.calls, &step.messages, &step.windows);
    let copy = || {
        rows.clear();
        rows.extend_from_slice(&step.calls);
    };
    both(engine.is_shared_out(step.calls.len()), add, copy);
}
