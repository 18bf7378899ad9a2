//! The simulated job, as words that another process takes.

use anyhow::{Context, Result};
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
}

impl Job {
    pub(crate) fn to_text(&self) -> String {
        let Self { pattern, style, ranks, seconds } = self;
        format!("{pattern} {style} {ranks} {seconds}")
    }

    pub(crate) fn from_text(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [pattern, style, ranks, seconds] = words[..] else {
            anyhow::bail!("four words of a job: {text}")
        };
        Ok(Self {
            pattern: pattern.to_owned(),
            style: style.to_owned(),
            ranks: ranks.parse().context("the number of ranks")?,
            seconds: seconds.parse().context("the seconds")?,
        })
    }

    pub(crate) fn spec(&self) -> Result<Spec> {
        let mut spec = Spec::new(self.pattern.parse()?, self.ranks, self.seconds, 1_000_000.0);
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
