//! Rows in order, those of interest, as a plain search of all of them finds.

use mpiscope_model::{Call, Rank, Site};
use mpiscope_recording::{CallFilter, Cursor, Direction, Filter as _, Segment, SegmentReader, SegmentWriter};
use proptest::prelude::*;

prop_compose! {
    fn any_call()(
        rank in 0_u32..6, function in 0_u16..4, at in 0_u64..4_000, long in prop_oneof![0_u64..60, 0_u64..4_000],
        peer in proptest::option::of(0_u32..6), bytes in 0_u64..1_000, site in proptest::option::of((0_u32..5).prop_map(Site)),
    ) -> Call {
        let (rank, peer) = (Rank(rank), peer.map(Rank));
        Call { rank, function, start_ns: at, end_ns: at + long, peer, bytes, site, ..Call::default() }
    }
}

prop_compose! {
    fn any_filter()(
        ranks in proptest::option::of((0_u32..6, 0_u32..3)),
        functions in proptest::option::of(proptest::collection::vec(0_u16..4, 1..3)),
        peers in proptest::option::of((0_u32..6, 0_u32..3)),
        bytes in proptest::option::of((0_u64..1_000, 0_u64..300)),
        duration_ns in proptest::option::of((0_u64..400, 0_u64..4_000)),
        sites in proptest::option::of(proptest::collection::vec((0_u32..5).prop_map(Site), 1..3)),
    ) -> CallFilter {
        let up = |(from, more)| vec![Rank(from)..=Rank(from + more)];
        let far = |(from, more)| from..=from + more;
        CallFilter {
            ranks: ranks.map(up), functions, peers: peers.map(up),
            bytes: bytes.map(far), duration_ns: duration_ns.map(far), sites,
        }
    }
}

/// All fields of a call, to give calls of one moment an order too.
fn all(call: &Call) -> impl Ord + std::fmt::Debug + use<> {
    (call.start_ns, call.rank, call.function, call.end_ns, call.peer, call.bytes, call.site)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_cursor_finds_what_a_search_of_everything_finds(
        calls in proptest::collection::vec(any_call(), 0..400),
        filter in any_filter(),
        (from_ns, long_ns) in (0_u64..4_500, 0_u64..5_000),
        backward: bool,
        rows_per_segment in 20_usize..200,
        rows_per_group in 5_usize..60,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = SegmentWriter::<Call>::open(dir.path(), rows_per_segment, 1)
            .unwrap()
            .with_rows_per_group(rows_per_group);
        let mut segments: Vec<Segment> = Vec::new();
        let mut in_order = calls.clone();
        in_order.sort_by_key(|call| call.end_ns);
        writer.push(&in_order, &mut segments).unwrap();
        writer.seal(&mut segments).unwrap();
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let range = from_ns..from_ns + long_ns;
        let reader = SegmentReader::uncorrected(dir.path().to_path_buf());
        let mut cursor = Cursor::<Call, _>::new(reader, segments, range.clone(), direction, filter.clone());
        let found: Vec<Call> = cursor.by_ref().flatten().collect();
        prop_assert!(cursor.faults().is_empty());
        let times: Vec<u64> = found.iter().map(|call| call.start_ns).collect();
        if backward {
            prop_assert!(times.is_sorted_by(|a, b| a >= b));
        } else {
            prop_assert!(times.is_sorted());
        }
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start && filter.keeps(call);
        let mut found: Vec<_> = found.iter().map(all).collect();
        let mut expected: Vec<_> = calls.iter().filter(within).map(all).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}
