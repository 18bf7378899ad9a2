use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One thing that a rank did.
#[derive(Debug, Clone)]
enum Did {
    Direct(u32, Cause, u64, u64),
    Compute(u32, u64, u64, u64),
    Waiting(u32, Vec<(u64, u64)>, Causes),
}

fn take(shares: &mut RankShares, did: &Did) {
    match did {
        Did::Direct(rank, cause, from, to) => shares.direct(Rank(*rank), *cause, *from, *to),
        Did::Compute(rank, from, to, cpu_wait) => shares.compute(Rank(*rank), *from, *to, *cpu_wait),
        Did::Waiting(rank, pieces, by) => {
            let whole = pieces.iter().map(|(from, to)| to - from).sum();
            shares.waiting(Rank(*rank), pieces, whole, *by);
        }
    }
}

/// The same, one interval after the other, by the widths that the operator has in the end.
fn plain(all: &[Did], ranks_per_row: u32, width_ns: u64) -> BTreeMap<(u32, u64), ShareCell> {
    let mut found: BTreeMap<(u32, u64), ShareCell> = BTreeMap::new();
    let mut piece =
        |rank: u32, from: u64, to: u64, whole: u64, before: u64, parts: ShareCell, rest: usize| {
            for window in from / width_ns..to.div_ceil(width_ns) {
                let begin = from.max(window * width_ns);
                let end = to.min((window + 1) * width_ns);
                let floor = |part: i64, x: u64| (i128::from(part) * i128::from(x) / i128::from(whole)) as i64;
                let cell = found.entry((rank / ranks_per_row, window)).or_default();
                let mut left = (end - begin) as i64;
                for kind in (0..SHARE_KINDS).filter(|kind| *kind != rest) {
                    let (from_x, to_x) = (before + begin - from, before + end - from);
                    let part = floor(parts[kind], to_x) - floor(parts[kind], from_x);
                    cell[kind] += part;
                    left -= part;
                }
                cell[rest] += left;
            }
        };
    for did in all {
        match did {
            Did::Direct(rank, cause, from, to) => {
                piece(*rank, *from, *to, to - from, 0, ShareCell::default(), kind_of(*cause) as usize);
            }
            Did::Compute(rank, from, to, cpu_wait) => {
                let mut parts = ShareCell::default();
                parts[ShareKind::CpuWait as usize] = *cpu_wait as i64;
                piece(*rank, *from, *to, to - from, 0, parts, ShareKind::Compute as usize);
            }
            Did::Waiting(rank, pieces, by) => {
                let mut parts = ShareCell::default();
                for cause in Cause::ALL {
                    parts[awaited_kind_of(cause) as usize] += by[cause];
                }
                let whole = pieces.iter().map(|(from, to)| to - from).sum();
                let mut before = 0;
                for &(from, to) in pieces {
                    piece(*rank, from, to, whole, before, parts, ShareKind::WaitingForWork as usize);
                    before += to - from;
                }
            }
        }
    }
    found.retain(|_, cell| *cell != ShareCell::default());
    found
}

fn did() -> impl Strategy<Value = Did> {
    let rank = prop_oneof![0_u32..4, 500_u32..530];
    let times = (0_u64..80_000_000, 1_u64..30_000_000);
    let causes = proptest::collection::vec(-3_000_000_i64..9_000_000, CAUSES_MADE);
    (rank, times, 0_u32..3, causes, 0..10_usize).prop_map(|(rank, (from, length), what, causes, cause)| {
        match what {
            0 => Did::Direct(rank, Cause::ALL[cause], from, from + length),
            1 => Did::Compute(rank, from, from + length, length / 3),
            _ => {
                let pieces = vec![(from, from + length), (from + length + 5, from + 2 * length + 9)];
                let whole: i64 = pieces.iter().map(|(from, to)| (to - from) as i64).sum();
                let mut by = Causes::default();
                Cause::ALL.iter().zip(&causes).for_each(|(cause, ns)| by[*cause] = *ns);
                by[Cause::Compute] += whole - by.sum();
                Did::Waiting(rank, pieces, by)
            }
        }
    })
}

const CAUSES_MADE: usize = 10;

fn cells(level: &Level) -> BTreeMap<(u32, u64), ShareCell> {
    let mut found = BTreeMap::new();
    for (at, window) in level.windows.iter().enumerate() {
        for (row, cell) in window.iter().enumerate().filter(|(_, cell)| **cell != ShareCell::default()) {
            found.insert((row as u32, at as u64), *cell);
        }
    }
    found
}

/// An operator whose levels are full early.
fn small() -> RankShares {
    let mut shares = RankShares { ranks: 0, levels: vec![Level::new(0, 1 << 12)] };
    shares.expect(Rank(529));
    shares
}

proptest! {
    #[test]
    fn every_level_has_what_adding_up_one_by_one_gives(all in proptest::collection::vec(did(), 1..60)) {
        let mut shares = small();
        all.iter().for_each(|did| take(&mut shares, did));
        for level in &shares.levels {
            prop_assert_eq!(cells(level), plain(&all, 1 << level.shift, level.width_ns));
        }
    }

    #[test]
    fn the_order_does_not_matter(all in proptest::collection::vec(did(), 1..60), from in 0_usize..60) {
        let mut shares = small();
        all.iter().for_each(|did| take(&mut shares, did));
        let mut other = small();
        // A copy that somebody holds goes on being what it was.
        let mut copies = Vec::new();
        let from = from % all.len();
        for did in all[from..].iter().chain(&all[..from]).rev() {
            take(&mut other, did);
            copies.push((other.clone(), cells(&other.levels[0])));
        }
        prop_assert!(shares == other && shares.levels.len() == 2);
        for (copy, before) in copies {
            prop_assert_eq!(cells(&copy.levels[0]), before);
        }
    }

    #[test]
    fn a_table_sums_to_the_time_of_its_rows(
        all in proptest::collection::vec(did(), 1..60), ranks_per_row in 1_u32..40, most in 1_usize..80,
    ) {
        let mut shares = small();
        all.iter().for_each(|did| take(&mut shares, did));
        let table = shares.table(&(0..Nanoseconds::MAX), &(Rank(0)..Rank::MAX), ranks_per_row, (most, 1 << 20));
        prop_assert!(table.windows <= most.max(2) && table.ranks_per_row <= ranks_per_row);
        prop_assert_eq!(table.cells.len(), table.rows * table.windows);
        let mut expected: BTreeMap<u32, ShareCell> = BTreeMap::new();
        for ((row, _), cell) in plain(&all, table.ranks_per_row, 1 << 40) {
            sum(expected.entry(row).or_default(), &cell);
        }
        let mut found: BTreeMap<u32, ShareCell> = BTreeMap::new();
        for (row, windows) in table.cells.chunks(table.windows.max(1)).enumerate() {
            let mut whole = ShareCell::default();
            windows.iter().for_each(|cell| sum(&mut whole, cell));
            if whole != ShareCell::default() {
                found.insert(row as u32, whole);
            }
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_is_kept_is_read_again(all in proptest::collection::vec(did(), 1..60)) {
        let mut shares = RankShares::default();
        all.iter().for_each(|did| take(&mut shares, did));
        let again = RankShares::restored(shares.ranks(), shares.rows(MOST_CELLS).into_iter());
        for (one, other) in shares.levels.iter().zip(&again.levels) {
            prop_assert_eq!(cells(one), cells(other));
        }
        // Fewer cells have the same sums.
        let few = RankShares::restored(shares.ranks(), shares.rows(600).into_iter());
        let whole = |of: &RankShares| of.table(&(0..Nanoseconds::MAX), &(Rank(0)..Rank::MAX), 1, (1, 1 << 20)).cells;
        prop_assert_eq!(whole(&few), whole(&shares));
    }
}

#[test]
fn memory_is_bounded_with_many_ranks() {
    let mut shares = RankShares::default();
    for step in 0..400_u64 {
        for rank in (0..16_384).step_by(331).chain([16_383]) {
            shares.compute(Rank(rank), step * 50_000_000, (step + 1) * 50_000_000, 7);
        }
    }
    let levels: Vec<_> = shares.levels.iter().map(|level| (level.shift, level.windows.len())).collect();
    assert_eq!(levels.iter().map(|(shift, _)| *shift).collect::<Vec<_>>(), [0, 4, 8]);
    assert!(
        shares.levels.iter().all(|level| level.windows.len() * level.rows <= level.most_cells),
        "{levels:?}"
    );
    // Of groups windows are shorter.
    assert!(levels[2].1 >= 512 && levels[1].1 >= 64 && levels[0].1 >= 8, "{levels:?}");
}

#[test]
fn any_time_has_its_window() {
    let mut shares = RankShares::default();
    shares.expect(Rank(16_383));
    shares.direct(Rank(3), Cause::Other, 5, 9);
    shares.direct(Rank(16_383), Cause::Other, Nanoseconds::MAX - 3, Nanoseconds::MAX);
    let table = shares.table(&(0..Nanoseconds::MAX), &(Rank(0)..Rank::MAX), 1, (2, 1 << 20));
    let mut sum_ns = 0;
    table.cells.iter().for_each(|cell| sum_ns += cell[ShareKind::Library as usize]);
    assert_eq!(sum_ns, 7);
}
