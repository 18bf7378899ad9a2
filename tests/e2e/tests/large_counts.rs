//! Functions with counts of 64 bits are recorded as those of 32 are. Only an MPI of version 4 has them, which the Open MPI
//! of most systems is not yet.

use mpiscope_harness::{Family, Mpi, Recorded, folder, record, run};
use std::collections::BTreeMap;
use std::time::Duration;

const RANKS: u32 = 3;
/// What the program does: rounds, and numbers of four bytes in a message.
const ROUNDS: u64 = 5;
const BYTES: u64 = 3 * 4;

#[test]
fn they_are_counted_with_their_bytes() {
    let Some(mpi) = Mpi::find_or_skip(Family::Mpich, "large_counts") else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let program = mpi.app("large_counts").unwrap();
    let mut command = record(&mpi, RANKS, &program, &[], &out).unwrap();
    let ended = run(command.current_dir(folder.path()), Duration::from_secs(60)).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let recorded = Recorded::load(&out).unwrap();
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for call in &recorded.calls {
        let of = found.entry(recorded.name(call)).or_default();
        *of = (of.0 + call.count, of.1 + call.bytes);
    }
    let ranks = u64::from(RANKS);
    let each = |bytes: u64| (ranks * ROUNDS, ranks * ROUNDS * bytes);
    let expected = BTreeMap::from([
        ("MPI_Irecv_c", each(0)),
        ("MPI_Isend_c", (2 * ranks * ROUNDS, ranks * ROUNDS * (BYTES + 4))),
        ("MPI_Sendrecv_c", each(BYTES)),
        ("MPI_Mrecv_c", each(4)),
        ("MPI_Bcast_c", each(BYTES)),
        ("MPI_Allreduce_c", each(BYTES)),
        ("MPI_Alltoallv_c", each(BYTES * ranks)),
        ("MPI_Gatherv_c", each(BYTES)),
        ("MPI_Recv_init_c", each(0)),
        ("MPI_Send_init_c", each(0)),
        ("MPI_Bcast_init_c", each(0)),
        ("MPI_Win_create_c", each(0)),
        ("MPI_Put_c", each(BYTES)),
        ("MPI_Get_c", each(BYTES)),
        ("MPI_Accumulate_c", each(8)),
        ("MPI_Neighbor_allgather_c", each(BYTES)),
        ("MPI_Neighbor_alltoall_c", each(8)),
        ("MPI_Neighbor_allgatherv_c", each(4)),
        ("MPI_File_write_at_c", each(BYTES)),
        ("MPI_File_read_at_all_c", each(BYTES)),
    ]);
    found.retain(|name, _| name.ends_with("_c"));
    assert_eq!(found, expected);
    let totals = recorded.manifest.totals;
    // Those of the persistent sends too.
    assert_eq!(totals.messages, 4 * ranks * ROUNDS);
    assert_eq!(totals.bytes, ranks * ROUNDS * (3 * BYTES + 4));
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives, totals.uncertain_messages), (0, 0, 0));
}
