//! What came out, as tables.

use crate::cases::Half;
use crate::judge::Outcome;
use mpiscope_analysis::Blame;

/// What is asked for.
const RIGHT: f64 = 0.95;
const NONE_RIGHT: f64 = 0.98;
const NEAR: f64 = 0.15;
const SURE: f64 = 0.8;
const SURE_RIGHT: f64 = 0.8;

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Prints what came out for a half of the cases; says whether it is good enough.
pub(crate) fn print(half: Half, outcomes: &[&Outcome]) -> bool {
    println!("\n{}: {} runs", half.words(), outcomes.len());
    let judged: Vec<&&Outcome> = outcomes.iter().filter(|outcome| !outcome.is_hidden).collect();
    let kinds: Vec<Option<Blame>> = Blame::ALL.into_iter().map(Some).chain([None]).collect();
    let word = |kind: &Option<Blame>| kind.map_or("none", Blame::word);
    print!("{:>12}", "true \\ found");
    kinds.iter().for_each(|kind| print!("{:>12}", word(kind)));
    println!();
    for expected in &kinds {
        print!("{:>12}", word(expected));
        for found in &kinds {
            let both =
                judged.iter().filter(|of| of.expected() == *expected && of.found.verdict.cause == *found);
            print!("{:>12}", both.count());
        }
        println!();
    }
    let right = judged.iter().filter(|outcome| outcome.is_right()).count();
    let undisturbed: Vec<_> = judged.iter().filter(|outcome| outcome.expected().is_none()).collect();
    let none = undisturbed.iter().filter(|outcome| outcome.is_right()).count();
    let mut errors: Vec<f64> = judged.iter().filter_map(|outcome| outcome.error()).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let near = errors.iter().filter(|error| **error <= NEAR).count();
    let middle = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let sure: Vec<_> = judged.iter().filter(|outcome| outcome.found.verdict.confidence >= SURE).collect();
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
    let mut enough = line("cause right", right, judged.len(), RIGHT);
    enough &= line("none, of undisturbed runs", none, undisturbed.len(), NONE_RIGHT);
    enough &= line("right, of verdicts with confidence 0.8 and above", sure_right, sure.len(), SURE_RIGHT);
    enough &= line("low confidence where nothing can tell", unsure, hidden.len(), 1.0);
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
