//! What came out, as tables.

use crate::cases::Half;
use crate::diagnosis::{NEAR, Outcome};
use mpiscope_model::Blame;

/// What is asked for.
const RIGHT: f64 = 0.95;
const NONE_RIGHT: f64 = 0.98;
const SURE: f64 = 0.8;
const SURE_RIGHT: f64 = 0.8;

/// What the table of confidence tells apart.
const CONFIDENCES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.01];

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Prints what came out for a half of the cases; says whether it is good enough.
pub(crate) fn print(half: Half, outcomes: &[&Outcome]) -> bool {
    println!("\n{}: {} runs", half.words(), outcomes.len());
    let diagnosed: Vec<&&Outcome> = outcomes.iter().filter(|outcome| !outcome.is_hidden).collect();
    let kinds: Vec<Option<Blame>> = Blame::ALL.into_iter().map(Some).chain([None]).collect();
    let word = |kind: &Option<Blame>| kind.map_or("none", Blame::word);
    print!("{:>12}", "true \\ found");
    kinds.iter().for_each(|kind| print!("{:>12}", word(kind)));
    println!();
    for expected in &kinds {
        print!("{:>12}", word(expected));
        for found in &kinds {
            let both =
                diagnosed.iter().filter(|of| of.expected() == *expected && of.found.verdict.cause == *found);
            print!("{:>12}", both.count());
        }
        println!();
    }
    let right = diagnosed.iter().filter(|outcome| outcome.is_right()).count();
    let undisturbed: Vec<_> = diagnosed.iter().filter(|outcome| outcome.is_undisturbed()).collect();
    let none = undisturbed.iter().filter(|outcome| outcome.is_right()).count();
    let cheap: Vec<_> = diagnosed.iter().filter(|outcome| outcome.expected().is_none()).collect();
    let none_of_cheap = cheap.iter().filter(|outcome| outcome.is_right()).count();
    let mut errors: Vec<f64> = diagnosed.iter().filter_map(|outcome| outcome.error()).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let near = errors.iter().filter(|error| **error <= NEAR).count();
    let middle = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let sure: Vec<_> = diagnosed.iter().filter(|outcome| outcome.found.verdict.confidence >= SURE).collect();
    let sure_right = sure.iter().filter(|outcome| outcome.is_right()).count();
    let hidden: Vec<_> = outcomes.iter().filter(|outcome| outcome.is_hidden).collect();
    let unsure = hidden.iter().filter(|outcome| outcome.found.verdict.confidence < SURE).count();
    let line = |what: &str, part: usize, whole: usize, least: f64| {
        let of = share(part, whole);
        let mark = if of >= least { "" } else { "   TOO FEW" };
        println!(
            "{what:<58} {part:>4} of {whole:>4}  {:>5.1} % (at least {:.0} %){mark}",
            100.0 * of,
            100.0 * least
        );
        of >= least
    };
    let mut enough = line("cause right", right, diagnosed.len(), RIGHT);
    enough &= line("none, of undisturbed runs", none, undisturbed.len(), NONE_RIGHT);
    enough &=
        line("none, of all in which nothing costs enough to count", none_of_cheap, cheap.len(), NONE_RIGHT);
    enough &= line("right, of verdicts with confidence 0.8 and above", sure_right, sure.len(), SURE_RIGHT);
    enough &= line("low confidence where nothing can tell", unsure, hidden.len(), 1.0);
    let on_the_line =
        diagnosed.iter().filter(|outcome| !outcome.is_right() && outcome.is_on_the_line()).count();
    println!(
        "{:<58} {on_the_line:>4} of {:>4}",
        "wrong, and as near to the line as seconds are to be",
        diagnosed.len() - right
    );
    print_confidence(&diagnosed);
    let several: Vec<bool> = diagnosed.iter().filter_map(|outcome| outcome.has_all_in_order()).collect();
    println!(
        "{:<58} {:>4} of {:>4}",
        "all found in the order of their cost, of several causes",
        several.iter().filter(|all| **all).count(),
        several.len()
    );
    let near_enough = middle <= NEAR;
    println!(
        "avoidable seconds: {near} of {} within 15 %, off by {:.1} % in the median, {:.1} % at nine tenths{}",
        errors.len(),
        100.0 * middle,
        100.0 * errors.get(errors.len() * 9 / 10).copied().unwrap_or_default(),
        if near_enough { "" } else { "   TOO FAR" }
    );
    enough && near_enough
}

/// How often verdicts of each confidence are right.
fn print_confidence(diagnosed: &[&&Outcome]) {
    println!("{:>12}{:>12}{:>12}{:>12}", "confidence", "verdicts", "right", "share");
    for (from, to) in CONFIDENCES.iter().zip(&CONFIDENCES[1..]) {
        let within = |of: &&&&Outcome| (*from..*to).contains(&of.found.verdict.confidence);
        let of_confidence: Vec<_> = diagnosed.iter().filter(within).collect();
        let right = of_confidence.iter().filter(|outcome| outcome.is_right()).count();
        if !of_confidence.is_empty() {
            let percent = 100.0 * share(right, of_confidence.len());
            println!(
                "{:>12}{:>12}{right:>12}{percent:>10.1} %",
                format!("{from:.1} to {:.1}", to.min(1.0)),
                of_confidence.len()
            );
        }
    }
}
