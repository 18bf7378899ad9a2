//! All that comes out of some jobs, as one number a job: two builds that should find the same print the same.

use crate::job::batches;
use anyhow::Result;
use mpiscope_diagnosis::{Basis, BudgetOptions, ReplaySavings, Version, Windowed};
use mpiscope_model::Batch;
use mpiscope_synth::{Collective, Collectives, Noise, PATTERNS, Pattern, Sizes, Spec, Style};
use std::fmt::Debug;
use std::hash::Hasher;

/// What disturbs a job; each is met by several patterns and styles.
const DISTURBED_BY: [&[&str]; 7] = [
    &[],
    &["background-traffic"],
    &["stolen-cpu", "lost-records"],
    &["bad-mapping", "stolen-cpu"],
    &["lost-records"],
    &["imbalance", "serialized-root"],
    &["drifting-clocks", "background-traffic"],
];

struct Digest(rustc_hash::FxHasher);

impl Digest {
    fn add(&mut self, what: &impl Debug) {
        self.0.write(format!("{what:?}").as_bytes());
    }
}

/// The jobs, and the criteria for each.
fn jobs() -> Result<Vec<(Spec, BudgetOptions)>> {
    let mut jobs = Vec::new();
    let styles = [Style::Blocking, Style::Waitall, Style::Polling];
    let of_patterns = PATTERNS.iter().flat_map(|name| styles.map(|style| (name, style)));
    for (at, (name, style)) in of_patterns.enumerate() {
        let pattern: Pattern = name.parse()?;
        let ranks = if pattern == Pattern::AllToAll { 12 } else { 32 };
        let mut spec = Spec::new(pattern, ranks, 2.0, 50_000.0);
        (spec.seed, spec.style) = (at as u64 + 1, style);
        for name in DISTURBED_BY[at % DISTURBED_BY.len()] {
            spec.disturb.push(name.parse()?);
        }
        // Partners by chance are mostly on other nodes, where such messages leave no time for anything else.
        if at % 2 == 1 && pattern != Pattern::RandomSparse {
            spec.sizes = Sizes { min_bytes: 8, max_bytes: 150 << 10 };
            spec.noise = Noise::HeavyTailed { sigma: 0.3, share: 0.02, exponent: 1.2 };
        }
        if at % 3 == 1 {
            let kinds = vec![
                Collective::Barrier,
                Collective::Alltoall,
                Collective::Bcast,
                Collective::Reduce,
                Collective::Allreduce,
            ];
            spec.collectives = Some(Collectives { every: 3, kinds, bytes: 200 });
        }
        let mut options = BudgetOptions::default();
        if at % 4 == 2 {
            options.patience_ns = 150_000_000;
            options.window_ns = 10_000_000;
        }
        if at % 5 == 3 {
            (options.pending, options.kept) = (2_000, 500);
        }
        jobs.push((spec, options));
    }
    Ok(jobs)
}

/// Analyses a job, and adds all results to a digest.
fn analyse(mut windowed: Windowed, batches: &[Batch], digest: &mut Digest) -> Windowed {
    for batch in batches {
        let matched = windowed.feed(batch, batch.until_ns);
        digest.add(&matched);
    }
    digest.add(&windowed.finish());
    let budgeter = &windowed.budgeter;
    digest.add(budgeter.ledger());
    budgeter.paths().for_each(|path| digest.add(&path));
    let mut waits: Vec<_> = budgeter.waits().collect();
    waits.sort_unstable_by_key(|(key, _)| **key);
    digest.add(&waits);
    for version in [budgeter.criteria().clone(), budgeter.learnt()] {
        version.messages().for_each(|criterion| digest.add(criterion));
        digest.add(&version.collectives());
    }
    digest.add(&(budgeter.given_up(), budgeter.blocking_from_bytes(), budgeter.saw_disturbance()));
    digest.add(&(windowed.matcher.unmatched_sends(), windowed.matcher.unmatched_receives()));
    let advice = budgeter.advice();
    digest.add(&(&advice.node_of_rank, advice.inter_messages_after, budgeter.advised()));
    let (length_ns, path) = budgeter.critical_path();
    let ranks = budgeter.node_of_rank().len() as u32;
    let replayed = ReplaySavings { wall_s: [0.1, 0.2, 0.3, 0.4], ..ReplaySavings::default() };
    let found = Basis::new(budgeter, false, replayed).assess(&budgeter.ledger().total(), ranks, length_ns);
    digest.add(&(path, found));
    windowed
}

/// Prints the results of each job, in a pass that learns criteria and in one that uses them.
pub(crate) fn all() -> Result<()> {
    for (spec, options) in jobs()? {
        let batches = batches(&spec)?;
        let mut digest = Digest(rustc_hash::FxHasher::default());
        let learnt = analyse(Windowed::new(options), &batches, &mut digest).budgeter;
        let first = digest.0.finish();
        let version: Version = learnt.learnt();
        let mut last = Windowed::new(options).with_criteria(version.clone());
        last.budgeter = last.budgeter.with_advice(learnt.advice()).with_course(learnt.course(&version));
        let last = analyse(last, &batches, &mut digest).budgeter;
        let calls: usize = batches.iter().map(|batch| batch.calls.len()).sum();
        println!(
            "{first:016x} {:016x} {:?} {:?} {:?}: {calls} calls, {} given up",
            digest.0.finish(),
            spec.pattern,
            spec.style,
            spec.disturb.len(),
            last.given_up(),
        );
    }
    Ok(())
}
