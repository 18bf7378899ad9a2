//! Windows worked by hand.

use super::*;

/// Ten windows of a hundred messages each; some of these take longer by a factor.
fn seen(factor: impl Fn(usize, u64) -> f64) -> Hindrance {
    let mut seen = RatioCounts::new(1000);
    for window in 0..10 {
        for number in 0..100 {
            let took_ns = ((900 + 2 * number) as f64 * factor(window, number)) as u64;
            seen.add(Kind::Message, window as u64 * 1000 + number, took_ns, 1000);
        }
    }
    seen.assess(Longer::NOT, Some(1.0))
}

#[test]
fn a_disturbed_window_would_have_been_like_a_quiet_one() {
    let found = seen(|window, _| if window >= 6 { 4.0 } else { 1.0 });
    assert!(found.is_varied());
    assert_eq!(found.spared_ns(Kind::Message, 2_500, 4000, 1000), 0);
    let spared_ns = found.spared_ns(Kind::Message, 7_500, 4000, 1000);
    assert!((2_900..3_100).contains(&spared_ns), "{spared_ns}");
    assert_eq!(found.spared_ns(Kind::Collective, 7_500, 4000, 1000), 0);
}

#[test]
fn a_tail_that_is_always_there_is_no_disturbance() {
    let found = seen(|window, number| if (number + window as u64).is_multiple_of(20) { 300.0 } else { 1.0 });
    assert!(!found.is_varied());
    assert!((0..10).all(|window| found.spared_ns(Kind::Message, window * 1000, 300_000, 1000) == 0));
}

#[test]
fn what_was_there_before_it_was_waited_for_counts_as_far_as_it_says_something() {
    // Of ten messages that take from 1 to 10, each half of those below 6 was not waited for until 5.5.
    let mut counts = Counts::NONE;
    for took in 1..=10 {
        let bin = place(f64::from(took)) as usize;
        let (known, most) = if took < 6 { (10, 10) } else { (20, 0) };
        counts.known[bin] += known;
        counts.at_most[place(5.5) as usize] += most;
    }
    let spread = counts.spread();
    assert!((spread.0.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let below = spread.below(place(5.5).floor() + 1.0);
    assert!((below - 0.5).abs() < 0.01, "{below}");
    let quarter = spread.quantile(0.25);
    assert!((place(2.0)..=place(3.0) + 1.0).contains(&quarter), "{}", ratio_at(quarter));
}

#[test]
fn what_comes_and_goes_lasts_for_a_while() {
    let of = |times: &dyn Fn(usize) -> f64| comes_and_goes(&(0..40).map(times).collect::<Vec<f64>>());
    let when = |is_disturbed: bool| if is_disturbed { 4.0 } else { 1.0 };
    assert!(of(&|at| when((10..30).contains(&at))) && of(&|at| when(at >= 20)));
    assert!(of(&|at| when((5..15).contains(&at) || (25..35).contains(&at))));
    assert!(!of(&|_| 4.0) && !of(&|_| 1.0) && !of(&|at| when(at < 2)));
    // By chance, as the bits of a number fall.
    assert!(!of(&|at| when(0xB5_A4_C9_36_D2_u64 >> at & 1 == 1)));
    // A gradual rise: most windows lie between quiet and disturbed.
    assert!(!of(&|at| 1.0 + at as f64 / 70.0));
}

#[test]
fn a_run_that_was_never_quiet_is_held_against_a_good_one() {
    let mut seen = RatioCounts::new(1000);
    (0..1000).for_each(|at| seen.add(Kind::Message, at * 10, 1000, 1000));
    assert_eq!(seen.assess(Longer::NOT, Some(1.0)).spared_ns(Kind::Message, 500, 1000, 1000), 0);
    // Medians by sizes may be of a disturbed half, where what is usual was not longer.
    let of_halves = Longer { usual: 1.0, whole: Some(4.0) };
    assert_eq!(seen.assess(of_halves, None).spared_ns(Kind::Message, 500, 1000, 1000), 0);
    let spared_ns =
        seen.assess(Longer { usual: 4.0, whole: Some(4.0) }, None).spared_ns(Kind::Message, 500, 1000, 1000);
    assert!((725..775).contains(&spared_ns), "{spared_ns}");
}
