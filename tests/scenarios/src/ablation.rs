//! What each rule of the replays is worth: what is found with all rules, and without one of them.

use crate::cases::Half;
use crate::diagnosis::{NEAR, Outcome};
use anyhow::{Context as _, Result};
use mpiscope_diagnosis::whatif::{GraphBuilder, Rule};
use mpiscope_model::Blame;
use std::iter;

/// A cause is found otherwise where it costs another share of the ranks' time by this much.
const OTHERWISE: f64 = 0.01;

/// How right the verdicts are with all rules, or without one.
pub(crate) struct Row {
    /// Verdicts with the right cause where something is to be found, and where nothing is.
    pub(crate) causes: usize,
    pub(crate) none: usize,
    /// Savings that are near enough.
    pub(crate) near: usize,
    /// Of each run that comes out otherwise than with all rules, how much farther it is from the truth.
    pub(crate) farther: Vec<f64>,
}

/// The rules with these names; all if none is named.
pub(crate) fn named(names: &[&str]) -> Result<Vec<Rule>> {
    if names.is_empty() {
        return Ok(Rule::ALL.to_vec());
    }
    let rule = |name: &&str| {
        let found = Rule::ALL.into_iter().find(|rule| format!("{rule:?}") == *name);
        found.with_context(|| format!("there is no rule {name}; there are {:?}", Rule::ALL))
    };
    names.iter().map(rule).collect()
}

/// A builder with all rules, then without each of these.
pub(crate) fn without_each(builder: &GraphBuilder, rules: &[Rule]) -> impl Iterator<Item = GraphBuilder> {
    iter::once(builder.clone()).chain(rules.iter().map(|rule| builder.without(*rule)))
}

/// Prints a row with all rules, and one without each of these.
pub(crate) fn table(title: &str, rules: &[Rule], row: impl Fn(usize) -> Row) {
    println!("\n{title}");
    println!(
        "{:<22}{:>8}{:>8}{:>8}{:>11}{:>9}{:>9}",
        "without", "causes", "none", "near", "otherwise", "farther", "nearer"
    );
    let words = iter::once("(nothing)".to_owned()).chain(rules.iter().map(|rule| format!("{rule:?}")));
    for (at, word) in words.enumerate() {
        let Row { causes, none, near, farther } = row(at);
        println!(
            "{word:<22}{causes:>8}{none:>8}{near:>8}{:>11}{:>9}{:>9}",
            farther.len(),
            farther.iter().filter(|farther| **farther > 0.0).count(),
            farther.iter().filter(|farther| **farther < 0.0).count(),
        );
    }
}

/// How far the shares of all causes are from the true ones.
fn error(outcome: &Outcome) -> f64 {
    Blame::ALL.into_iter().map(|cause| (outcome.found_share(cause) - outcome.true_share(cause)).abs()).sum()
}

fn is_otherwise(one: &Outcome, other: &Outcome) -> bool {
    Blame::ALL.into_iter().any(|cause| (one.found_share(cause) - other.found_share(cause)).abs() > OTHERWISE)
}

/// Prints what came out for each job: with all rules first, then without each of these.
pub(crate) fn print(rules: &[Rule], outcomes: &[Vec<Outcome>]) {
    for half in [Half::Tuned, Half::Unseen] {
        let is_of_half = |of: &&Vec<Outcome>| of.first().is_some_and(|of| of.half == half && !of.is_hidden);
        let of_half: Vec<_> = outcomes.iter().filter(is_of_half).collect();
        if of_half.is_empty() {
            continue;
        }
        let row = |at: usize| {
            let right = |is_costly: bool| {
                let of_kind = of_half.iter().filter(move |of| of[at].expected().is_some() == is_costly);
                of_kind.filter(|of| of[at].is_right()).count()
            };
            let near = of_half.iter().filter_map(|of| of[at].error()).filter(|error| error.abs() <= NEAR);
            let otherwise = of_half.iter().filter(|of| is_otherwise(&of[0], &of[at]));
            Row {
                causes: right(true),
                none: right(false),
                near: near.count(),
                farther: otherwise.map(|of| error(&of[at]) - error(&of[0])).collect(),
            }
        };
        table(&format!("{}: {} runs", half.words(), of_half.len()), rules, row);
    }
}
