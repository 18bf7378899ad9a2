//! What calls are made on and what it is called: communicators with their names and grids, windows, files, phases; and what
//! becomes of messages whose receives fail, or are left out because recording was paused.

use mpiscope_harness::{Family, LIMIT, Mpi, Recorded, Truth, folder, record, run};
use mpiscope_model::{CommInfo, CommKind, Rank};
use std::collections::BTreeMap;

const RANKS: u32 = 4;

fn recorded(mpi: &Mpi, app: &str) -> (Recorded, String, Truth) {
    recorded_on(mpi, app, RANKS)
}

fn recorded_on(mpi: &Mpi, app: &str, ranks: u32) -> (Recorded, String, Truth) {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let program = mpi.app(app).unwrap();
    let mut command = record(mpi, ranks, &program, &[], &out).unwrap();
    let ended = run(command.current_dir(folder.path()), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{app} on {}: {}", mpi.family.word(), ended.errors());
    (Recorded::load(&out).unwrap(), ended.output(), Truth::parse(&ended.stdout).unwrap())
}

/// The figure that a program prints behind a word.
fn printed_number(output: &str, word: &str) -> u64 {
    output.lines().find_map(|line| line.strip_prefix(word)).unwrap().trim().parse().unwrap()
}

fn called<'a>(recorded: &'a Recorded, name: &str) -> Vec<&'a CommInfo> {
    recorded.comms.iter().filter(|info| info.name == name).collect()
}

#[test]
fn communicators_have_their_names_and_ranks_their_places() {
    for mpi in Mpi::all_or_skip("objects communicators_have_their_names_and_ranks_their_places") {
        let ranks = RANKS.min(mpi.family.most_ranks_of_topologies());
        let (recorded, ..) = recorded_on(&mpi, "topologies", ranks);
        let place = mpi.family.word();
        // Twice each, the same on all members: a number of two would mean that they do not agree.
        let expected = [
            ("grid", 2, ranks),
            ("row of the grid", 4, ranks / 2),
            ("pairs", 2, ranks),
            ("ring", 2, ranks),
            ("star", 2, ranks),
            ("between", 2, ranks),
            ("merged", 2, ranks),
            ("later", 2, ranks),
            ("node", 2, ranks),
        ];
        for (name, number, size) in expected {
            let found = called(&recorded, name);
            assert_eq!(found.len(), number, "{place}: {name}: {:?}", recorded.comms);
            assert!(found.iter().all(|info| info.size == size), "{place}: {found:?}");
            assert!(found.iter().all(|info| info.kind == CommKind::Communicator), "{place}: {found:?}");
        }
        for grid in called(&recorded, "grid") {
            let found: BTreeMap<(u32, u16), (u32, u32, u16)> = recorded
                .coordinates
                .iter()
                .filter(|of| of.comm == grid.comm)
                .map(|of| ((of.rank.0, of.dimension), (of.coordinate, of.size, of.periodic)))
                .collect();
            let row = ranks / 2;
            let expected = (0..ranks)
                .flat_map(|rank| [((rank, 0), (rank / row, 2, 1)), ((rank, 1), (rank % row, row, 0))]);
            assert_eq!(found, expected.collect::<BTreeMap<_, _>>(), "{place}");
        }
    }
}

#[test]
fn windows_and_files_differ_and_peers_are_ranks_of_the_world() {
    for mpi in Mpi::all_or_skip("objects windows_and_files_differ") {
        let place = mpi.family.word();
        let (one_sided, ..) = recorded(&mpi, "one_sided");
        let windows = one_sided.comms.iter().filter(|info| info.kind == CommKind::Window).count();
        assert_eq!(windows, 5, "{place}: {:?}", one_sided.comms);
        let named = called(&one_sided, "of memory");
        assert_eq!(named.len(), 2, "{place}: {:?}", one_sided.comms);
        assert!(one_sided.calls.iter().any(|call| call.comm == Some(named[0].comm)), "{place}");
        for call in one_sided.calls.iter().filter(|call| one_sided.name(call) == "MPI_Rput") {
            assert_eq!(call.peer, Some(Rank((call.rank.0 + 1) % RANKS)), "{place}");
        }
        // On the window of those that go backward, rank 0 is the last of the world.
        let bytes = |rank: u32| u64::from(rank + 1) * 4;
        for rank in 0..RANKS {
            let puts = one_sided.calls.iter().filter(|call| one_sided.name(call) == "MPI_Put");
            let last = puts.filter(|call| call.rank.0 == rank).max_by_key(|call| call.start_ns).unwrap();
            assert_eq!((last.peer, last.bytes), (Some(Rank(RANKS - 1)), bytes(rank)), "{place}");
        }
        assert_eq!(one_sided.manifest.totals.unmatched_sends, 0, "{place}");

        let (files, ..) = recorded(&mpi, "files");
        let shared = called(&files, "shared.dat");
        assert_eq!(shared.len(), 1, "{place}: {:?}", files.comms);
        assert_eq!((shared[0].kind, shared[0].size), (CommKind::File, RANKS), "{place}");
        for rank in 0..RANKS {
            let own = called(&files, &format!("of-rank-{rank}"));
            assert_eq!(own.len(), 1, "{place}");
            let of_own = |call: &&mpiscope_model::Call| call.comm == Some(own[0].comm);
            assert!(files.calls.iter().filter(of_own).all(|call| call.rank.0 == rank), "{place}");
            assert!(files.calls.iter().filter(of_own).count() >= 8, "{place}");
        }
    }
}

#[test]
fn phases_have_names_and_what_is_paused_is_left_out_and_counted() {
    for mpi in Mpi::sample_or_skip("objects phases_have_names") {
        let place = mpi.family.word();
        let (recorded, output, truth) = recorded(&mpi, "phases");
        let phase = called(&recorded, "solve the system");
        assert_eq!(phase.len(), 1, "{place}: {:?}", recorded.comms);
        assert_eq!(phase[0].kind, CommKind::Phase, "{place}");
        let levels = |level: i32| {
            let of_level = |call: &&mpiscope_model::Call| {
                recorded.name(call) == "MPI_Pcontrol" && call.tag == Some(level)
            };
            recorded.calls.iter().filter(of_level).map(|call| call.comm).collect::<Vec<_>>()
        };
        let rounds = truth.calls[&(0, "MPI_Pcontrol".into())] / 4 * u64::from(RANKS);
        for (level, comm) in [(3, Some(phase[0].comm)), (-3, Some(phase[0].comm)), (0, None), (1, None)] {
            assert_eq!(levels(level), vec![comm; usize::try_from(rounds).unwrap()], "{place}: {level}");
        }
        let paused = printed_number(&output, "paused ") * u64::from(RANKS);
        let counts = recorded.counts();
        assert_eq!(counts.values().sum::<u64>() + paused, truth.all_calls(), "{place}");
        let manifest = &recorded.manifest;
        assert_eq!(recorded.missing(), Vec::<&str>::new(), "{place}");
        let pauses = manifest.pauses.as_ref().unwrap();
        assert_eq!((pauses.calls, pauses.gaps.len()), (paused, 0), "{place}");
        // Two of three exchanges are seen from both sides, and nothing of them is given to the third.
        let totals = recorded.manifest.totals;
        assert_eq!(totals.messages * 3, truth.all_messages().0 * 2, "{place}");
        assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}");
        assert_eq!(recorded.wrongly_paired(true), Vec::<String>::new(), "{place}");
        let lost = recorded.manifest.lost;
        assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}");
    }
}

#[test]
fn a_message_that_is_too_long_is_nobody_else_s() {
    for mpi in Mpi::all_or_skip("objects a_message_that_is_too_long_is_nobody_else_s") {
        let place = mpi.family.word();
        let (recorded, output, truth) = recorded(&mpi, "truncated");
        let truncated = printed_number(&output, "truncated ");
        let totals = recorded.manifest.totals;
        assert_eq!(totals.messages + truncated, truth.all_messages().0, "{place}");
        assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (truncated, 0), "{place}");
        // Those that fit are of four integers.
        assert!(recorded.messages.iter().all(|message| message.bytes == 16), "{place}");
        assert_eq!(recorded.counts(), truth.calls, "{place}");
    }
}

/// Under MPICH here nobody can be spawned.
#[test]
fn ranks_that_are_spawned_are_not_taken_for_others() {
    let test = "objects ranks_that_are_spawned_are_not_taken_for_others";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, test) else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let ended = run(&mut record(&mpi, 2, &mpi.app("spawn").unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let mut lines: Vec<String> = ended.output().lines().map(str::to_owned).collect();
    lines.sort();
    let expected = [
        "rank 0, of the first, got 20",
        "rank 0, of those that came later, got 10",
        "rank 1, of the first, got 21",
        "rank 1, of those that came later, got 11",
    ];
    assert_eq!(lines, expected);
    let stderr = ended.errors();
    let warning = "ranks that MPI_Comm_spawn starts are not recorded";
    assert_eq!(stderr.lines().filter(|line| line.contains(warning)).count(), 2, "{stderr}");
    let recorded = Recorded::load(&out).unwrap();
    assert_eq!(recorded.missing(), Vec::<&str>::new());
    let of = |name: &str| recorded.calls.iter().filter(|call| recorded.name(call) == name).count();
    assert_eq!((of("MPI_Init"), of("MPI_Comm_spawn"), of("MPI_Sendrecv")), (2, 2, 2));
}
