//! The tables of the families' binary interfaces, against what each family's own `mpi.h` says.

use mpiscope_capture::{Family as Table, MPICH, OPEN_MPI};
use mpiscope_harness::{Family, Mpi, compile, root, run};
use std::collections::BTreeMap;
use std::time::Duration;

fn check(family: Family, table: &Table, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    let program = compile(&mpi, &root().join("tests/e2e/mpi_constants.c")).unwrap();
    let ended = run(&mut mpi.plain(1, &program, &[]).unwrap(), Duration::from_secs(60)).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let output = ended.output();
    let values: BTreeMap<&str, i64> = output
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    let number = |value: usize| i64::try_from(value).unwrap();
    let status = &table.status;
    let mut expected = BTreeMap::from([
        ("handle_bytes", number(table.handle_bytes)),
        ("request_bytes", number(table.handle_bytes)),
        ("any_source", i64::from(table.any_source)),
        ("proc_null", i64::from(table.proc_null)),
        ("root", i64::from(table.root)),
        ("any_tag", i64::from(table.any_tag)),
        ("undefined", i64::from(table.undefined)),
        ("grid", i64::from(table.grid)),
        ("graph", i64::from(table.graph)),
        ("distributed_graph", i64::from(table.distributed_graph)),
        ("error_truncate", i64::from(table.error_truncate)),
        ("status_ignore", number(table.status_ignore)),
        ("statuses_ignore", number(table.status_ignore)),
        ("in_place", table.in_place as i64),
        ("status_bytes", number(status.bytes)),
        ("status_source", number(status.source)),
        ("status_tag", number(status.tag)),
        ("count_low", number(status.count_low)),
        ("count_high", number(status.count_high)),
        ("count_high_shift", i64::from(status.count_high_shift)),
        ("cancelled", number(status.cancelled)),
        ("cancelled_inside_mask", 1),
    ]);
    // Where handles are addresses they differ from run to run, and the table has none.
    let handles = [
        ("comm_world", table.comm_world),
        ("comm_null", table.comm_null),
        ("byte", table.byte),
        ("double", table.double),
        ("sum", table.sum),
    ];
    for (name, value) in handles {
        if let Some(value) = value {
            expected.insert(name, i64::try_from(value).unwrap());
        } else {
            assert!(table.handle_bytes == size_of::<usize>(), "a number is missing in the table");
            expected.insert(name, values[name]);
        }
    }
    // The program gets the bits that the table counts as "cancelled", to look at nothing else.
    assert_eq!(values["cancelled_mask"] & !i64::from(status.cancelled_mask), 0);
    let mut values = values;
    values.remove("cancelled_mask");
    assert_eq!(values, expected);
}

#[test]
fn open_mpi() {
    check(Family::OpenMpi, &OPEN_MPI, "families open_mpi");
}

#[test]
fn mpich() {
    check(Family::Mpich, &MPICH, "families mpich");
}
