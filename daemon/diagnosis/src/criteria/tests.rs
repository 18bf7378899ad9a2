use super::bins::{FINE_BINS, FINE_BYTES};
use super::*;
use proptest::prelude::*;

fn learnt(samples: &[(Scope, u64, u64)]) -> Version {
    let mut criteria = Criteria::default();
    for &(scope, bytes, time_ns) in samples {
        criteria.message(scope, bytes, time_ns);
    }
    criteria.settle();
    criteria.version()
}

fn repeated(scope: Scope, bytes: u64, time_ns: u64, times: usize) -> Vec<(Scope, u64, u64)> {
    vec![(scope, bytes, time_ns); times]
}

#[test]
fn sizes_fall_into_bins_that_widen() {
    assert_eq!((size_bin(0), size_bin(49), size_bin(50), size_bin(65_535)), (0, 0, 1, FINE_BINS - 1));
    assert_eq!(size_bin(65_536), FINE_BINS);
    for bytes in [0, 1, 49, 50, 1_000, 65_535, 65_536, 70_000, 1 << 20, 123_456_789, 1 << 40] {
        let (from, to) = bin_sizes(size_bin(bytes));
        assert!(from <= bytes && bytes < to, "{bytes}: {from}..{to}");
        assert!(bytes < FINE_BYTES || to - from <= from / 60, "{bytes}: {from}..{to}");
    }
}

#[test]
fn what_follows_from_neighbours_is_the_same_when_asked_again() {
    let mut samples = repeated(Scope::Inter, 100, 2_000, 30);
    samples.extend(repeated(Scope::Inter, 300, 3_000, 30));
    let (version, never_asked) = (learnt(&samples), learnt(&samples));
    for bytes in [0, 210, 5_000, 1 << 20, 1 << 40] {
        let first = version.message_ns(Scope::Inter, bytes);
        assert!(first.is_some());
        assert_eq!(version.message_ns(Scope::Inter, bytes), first);
        assert_eq!(version.clone().message_ns(Scope::Inter, bytes), first);
        assert_eq!(version.message_ns(Scope::Intra, bytes), None);
    }
    assert_eq!(version, never_asked);
}

#[test]
fn a_median_needs_thirty_samples_and_else_neighbours() {
    let mut samples = repeated(Scope::Inter, 100, 2_000, 30);
    samples.extend(repeated(Scope::Inter, 300, 3_000, 30));
    samples.extend(repeated(Scope::Inter, 200, 90_000, 29));
    let version = learnt(&samples);
    let near = |found: Option<u64>, expected: u64| {
        let found = found.unwrap();
        assert!(found.abs_diff(expected) <= expected / 50, "{found} and not {expected}");
    };
    near(version.message_ns(Scope::Inter, 100), 2_000);
    near(version.message_ns(Scope::Inter, 200), 2_500);
    near(version.message_ns(Scope::Inter, 8), 2_000);
    near(version.message_ns(Scope::Inter, 500), 4_000);
    assert_eq!(version.message_ns(Scope::Intra, 100), None);
    assert!(version.is_unknown(Scope::Intra));
    let other =
        learnt(&[repeated(Scope::Intra, 8, 500, 40), repeated(Scope::Inter, 100, 9_000, 40)].concat());
    near(version.or(&other).message_ns(Scope::Intra, 8), 500);
    near(version.or(&other).message_ns(Scope::Inter, 100), 2_000);
}

#[test]
fn rare_sizes_are_taken_together() {
    // Sizes that are drawn at random never fall thirty times into 50 bytes.
    let spread: Vec<_> = (0..800_u64).map(|at| (Scope::Inter, 2_000 + at * 10, 10_000 + at * 10)).collect();
    let version = learnt(&spread);
    assert!(!version.is_unknown(Scope::Inter));
    for bytes in [2_500_u64, 4_000, 6_000, 9_000] {
        let found = version.message_ns(Scope::Inter, bytes).unwrap();
        let expected = bytes + 8_000;
        assert!(found.abs_diff(expected) < expected / 12, "{bytes}: {found} and not {expected}");
    }
    let sizes: Vec<(u64, u64)> = version.messages().map(MessageCriterion::sizes).collect();
    assert!(sizes.iter().all(|(from, to)| to - from > 50), "{sizes:?}");
    assert!(sizes.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{sizes:?}");
    // A bin that has enough of its own speaks for all.
    let more = learnt(&[spread, repeated(Scope::Inter, 4_000, 12_000, 30)].concat());
    assert_eq!(more.messages().map(|of| (of.bin, of.last_bin)).collect::<Vec<_>>(), [(80, 80)]);
}

#[test]
fn collectives_differ_by_function_ranks_bytes_and_part() {
    let key = CollectiveKey { function: 53, ranks: 8, bin: size_bin(8), is_root: false };
    let mut criteria = Criteria::default();
    (0..30).for_each(|_| criteria.collective(key, 5_000));
    assert!(criteria.settle());
    assert!(!criteria.settle());
    let version = criteria.version();
    let known = version.collective_ns(&key).unwrap();
    assert!(known.abs_diff(5_000) < 100);
    assert_eq!(version.collective_ns(&CollectiveKey { ranks: 9, ..key }), None);
    assert_eq!(version.collective_ns(&CollectiveKey { is_root: true, ..key }), None);
}

#[test]
fn sizes_that_a_run_knows_nothing_of_are_as_much_slower_as_others() {
    let quiet =
        learnt(&[repeated(Scope::Inter, 100, 2_000, 40), repeated(Scope::Inter, 5_000, 20_000, 40)].concat());
    let own = learnt(&repeated(Scope::Inter, 100, 2_400, 40));
    assert!(own.message_ns(Scope::Inter, 5_000).unwrap() < 3_000);
    let compared = own.held_against(&quiet);
    let near = |bytes, expected: u64| {
        let found = compared.message_ns(Scope::Inter, bytes).unwrap();
        assert!(found.abs_diff(expected) <= expected / 50, "{found} and not {expected}");
    };
    near(100, 2_400);
    near(5_000, 24_000);
}

#[test]
fn where_a_quiet_network_knows_no_collectives_nobody_knows_how_much_longer_they_take() {
    let key = CollectiveKey { function: 53, ranks: 8, bin: size_bin(8), is_root: false };
    let with = |collective_ns: Option<u64>, message_ns| {
        let mut criteria = Criteria::default();
        (0..30).for_each(|_| criteria.message(Scope::Inter, 100, message_ns));
        collective_ns.into_iter().for_each(|ns| (0..30).for_each(|_| criteria.collective(key, ns)));
        criteria.settle();
        criteria.version()
    };
    let own = with(Some(20_000), 8_000);
    let [messages, collectives] = own.longer_than(&own.held_against(&with(None, 2_000)));
    assert!((messages.unwrap() - 4.0).abs() < 0.1 && collectives.is_none());
    // Its own where the other is from the same run, the other's where it knows.
    assert_eq!(own.longer_than(&own)[1], Some(1.0));
    assert!(own.longer_than(&own.held_against(&with(Some(5_000), 2_000)))[1].is_some());
}

proptest! {
    #[test]
    fn order_and_merging_change_nothing(samples in proptest::collection::vec((0_u64..400, 100_u64..100_000), 0..400),
        at in 0_usize..400) {
        let scope = |bytes: u64| Scope::between_nodes(bytes.is_multiple_of(2));
        let of = |samples: &[(u64, u64)]| {
            let mut criteria = Criteria::default();
            samples.iter().for_each(|&(bytes, time)| criteria.message(scope(bytes), bytes, time));
            criteria
        };
        let mut whole = of(&samples);
        whole.settle();
        let mut reversed: Vec<_> = samples.clone();
        reversed.reverse();
        let mut reversed = of(&reversed);
        reversed.settle();
        let (front, back) = samples.split_at(at.min(samples.len()));
        let mut merged = of(front);
        merged.merge(&of(back));
        merged.settle();
        prop_assert_eq!(&reversed.version(), &whole.version());
        prop_assert_eq!(&merged.version(), &whole.version());
    }
}
