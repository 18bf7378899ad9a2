//! The simulated job, as words that another process takes.

use anyhow::{Context as _, Result, bail};
use mpiscope_ingest::Ingest;
use mpiscope_model::Batch;
use mpiscope_synth::{Spec, generate};

/// Made again from the same words, it is the same.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) pattern: String,
    pub(crate) style: String,
    pub(crate) ranks: u32,
    pub(crate) seconds: f64,
    pub(crate) calls_per_s: f64,
}

impl Job {
    pub(crate) fn to_text(&self) -> String {
        let Self { pattern, style, ranks, seconds, calls_per_s } = self;
        format!("{pattern} {style} {ranks} {seconds} {calls_per_s}")
    }

    pub(crate) fn from_text(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [pattern, style, ranks, seconds, calls_per_s] = words[..] else {
            bail!("five words of a job: {text}")
        };
        Ok(Self {
            pattern: pattern.to_owned(),
            style: style.to_owned(),
            ranks: ranks.parse().context("the number of ranks")?,
            seconds: seconds.parse().context("the seconds")?,
            calls_per_s: calls_per_s.parse().context("the calls a second")?,
        })
    }

    pub(crate) fn spec(&self) -> Result<Spec> {
        let mut spec = Spec::new(self.pattern.parse()?, self.ranks, self.seconds, self.calls_per_s);
        spec.style = self.style.parse()?;
        Ok(spec)
    }

    pub(crate) fn batches(&self) -> Result<Vec<Batch>> {
        batches(&self.spec()?)
    }
}

/// The batches of a simulated job.
pub(crate) fn batches(spec: &Spec) -> Result<Vec<Batch>> {
    let mut ingest = Ingest::for_diagnosis();
    Ok(generate(spec)?.filter_map(|message| ingest.step(message)).collect())
}
