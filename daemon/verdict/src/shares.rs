//! What each rank's time was spent on, as it is kept beside what was found.

use mpiscope_diagnosis::{RankShares, ShareRow};
use mpiscope_recording as recording;
use mpiscope_recording::{Manifest, RecordingError, SHARES_FILE, read_shares, write_shares};
use std::path::Path;

const ZSTD_LEVEL: i32 = 3;
/// Calls for each cell that is kept, to keep a recording small, and the fewest and most cells of a level.
const CALLS_PER_CELL: u64 = 24;
const FEWEST_CELLS: u64 = 4_096;
const MOST_CELLS: u64 = 1 << 17;

/// Keeps them in a recording; nothing without a diagnosis.
pub(super) fn write(dir: &Path, shares: &RankShares) -> Result<(), RecordingError> {
    if shares.is_empty() {
        // Those of a verdict that was withheld go with it; mostly there are none.
        let _ = std::fs::remove_file(dir.join(SHARES_FILE));
        return Ok(());
    }
    let calls = Manifest::read(dir).map_or(0, |manifest| manifest.totals.calls);
    let cells = (calls / CALLS_PER_CELL).clamp(FEWEST_CELLS, MOST_CELLS);
    let rows: Vec<_> = shares.rows(cells as usize).iter().map(kept).collect();
    write_shares(dir, &rows, ZSTD_LEVEL)
}

/// Those of a recording; nothing where they are not kept.
pub(super) fn read(dir: &Path) -> RankShares {
    let Some(rows) = read_shares(dir) else { return RankShares::default() };
    let last = rows.iter().filter(|row| row.ranks == 1).map(|row| row.rank.index() + 1).max();
    // A rank that the job does not have would make room for all before it.
    let job = Manifest::read(dir).map_or(0, |manifest| manifest.job.ranks as usize);
    let most = if job > 0 { job } else { rows.len() };
    RankShares::restored(last.unwrap_or_default().min(most), rows.iter().map(found))
}

/// Whether a recording has them.
pub fn are_kept(dir: &Path) -> bool {
    dir.join(SHARES_FILE).is_file()
}

fn kept(row: &ShareRow) -> recording::ShareRow {
    let [compute, cpu_wait, transfer, library, work, cpu, network, distance, rest] =
        row.parts.map(i64::cast_unsigned);
    recording::ShareRow {
        from_ns: row.from_ns,
        width_ns: row.width_ns,
        rank: row.first_rank,
        ranks: row.ranks,
        compute_ns: compute,
        cpu_wait_ns: cpu_wait,
        transfer_ns: transfer,
        library_ns: library,
        waiting_work_ns: work,
        waiting_cpu_ns: cpu,
        waiting_network_ns: network,
        waiting_distance_ns: distance,
        waiting_rest_ns: rest,
    }
}

fn found(row: &recording::ShareRow) -> ShareRow {
    let parts = [
        row.compute_ns,
        row.cpu_wait_ns,
        row.transfer_ns,
        row.library_ns,
        row.waiting_work_ns,
        row.waiting_cpu_ns,
        row.waiting_network_ns,
        row.waiting_distance_ns,
        row.waiting_rest_ns,
    ];
    ShareRow {
        ranks: row.ranks,
        width_ns: row.width_ns,
        from_ns: row.from_ns,
        first_rank: row.rank,
        parts: parts.map(u64::cast_signed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn they_are_found_again() {
        let dir = tempfile::tempdir().unwrap();
        Manifest::default().write(dir.path()).unwrap();
        assert!(read(dir.path()).is_empty());
        let row = |at: u32| ShareRow {
            ranks: 1,
            width_ns: 1 << 20,
            from_ns: u64::from(at / 8) << 20,
            first_rank: Rank(at % 8),
            parts: [1, 2, 3, i64::from(at), -5, 6, 7, 8, 9],
        };
        let shares = RankShares::restored(8, (0..4_000).map(row));
        write(dir.path(), &shares).unwrap();
        assert!(are_kept(dir.path()) && read(dir.path()) == shares);
        let absurd = [ShareRow { first_rank: Rank((1 << 23) - 1), ..row(0) }, row(1)];
        let rows: Vec<_> = absurd.iter().map(kept).collect();
        write_shares(dir.path(), &rows, ZSTD_LEVEL).unwrap();
        assert_eq!(read(dir.path()).ranks(), 2);
        // Where there are none, those of before do not stay.
        write(dir.path(), &RankShares::default()).unwrap();
        assert!(!are_kept(dir.path()));
    }
}
