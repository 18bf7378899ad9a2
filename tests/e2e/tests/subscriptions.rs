//! What subscriptions of other programs have, against recordings of real programs: windows, findings, what collectives
//! carry, and several copies of one program with different parts.

use crate::clients::{address, end_replay, python_client, python_or_skip, replay, simulated, until_programs};
use crate::support::turns::Turns;
use crate::support::{Page, block_on, run_with_page};
use mpiscope_client::{Batch, Client, Direction, Finding, Key, Reply, Request, Subscribe, Topic};
use mpiscope_harness::{LIMIT, Mpi, Recorded, Running, folder, mpiscope, report, run};
use std::collections::BTreeMap;
use tokio::time::timeout;

/// All batches of a subscription until its end.
async fn batches(address: &str, asked: Subscribe) -> Vec<Batch> {
    let mut client = Client::connect(address, "subscription").await.unwrap();
    client.send(&Request::Subscribe(asked)).await.unwrap();
    let mut batches = Vec::new();
    loop {
        match timeout(LIMIT, client.next()).await.unwrap().unwrap().expect("mpiscope ended too early") {
            Reply::Batch(batch) => batches.push(batch),
            Reply::End(_) => return batches,
            Reply::Failed(failed) => panic!("{}", failed.text),
            _ => {}
        }
    }
}

/// Why a subscription is refused.
async fn refused(address: &str, asked: Subscribe) -> String {
    let mut client = Client::connect(address, "subscription").await.unwrap();
    client.send(&Request::Subscribe(asked)).await.unwrap();
    loop {
        match timeout(LIMIT, client.next()).await.unwrap().unwrap().expect("mpiscope ended too early") {
            Reply::Failed(failed) => return failed.text,
            Reply::Subscribed(_) => panic!("it was accepted"),
            _ => {}
        }
    }
}

/// How many rows and bytes a function carries from one rank to another.
type Flows = BTreeMap<(String, u32, u32), (u64, u64)>;

const TIMES: u64 = 3;

/// What `flows.c` says.
fn flows(ranks: u32) -> Flows {
    let (one, block) = (4_u64, 24_u64);
    let mut flows = Flows::new();
    let mut add = |name: &str, from: u32, to: u32, bytes: u64| {
        flows.insert((name.to_owned(), from, to), (TIMES, TIMES * bytes));
    };
    for rank in 0..ranks {
        let own = one * u64::from(rank + 1);
        for (name, root, bytes) in
            [("MPI_Bcast", 1, block), ("MPI_Scatter", 3, block), ("MPI_Scatterv", 3, own)]
        {
            if rank != root {
                add(name, root, rank, bytes);
            }
        }
        for (name, root, bytes) in
            [("MPI_Reduce", 2, block), ("MPI_Gather", 3, block), ("MPI_Gatherv", 3, own)]
        {
            if rank != root {
                add(name, rank, root, bytes);
            }
        }
        for other in (0..ranks).filter(|other| *other != rank) {
            for (name, bytes) in [("MPI_Allreduce", block), ("MPI_Alltoall", block), ("MPI_Barrier", 0)] {
                add(name, rank, other, bytes);
            }
            if other > rank {
                add("MPI_Scan", rank, other, block);
            }
        }
    }
    flows
}

#[test]
fn collectives_are_expanded_exactly_both_ways() {
    for mpi in Mpi::sample_or_skip("subscriptions collectives_are_expanded_exactly_both_ways") {
        for ranks in [4, 16] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
            command.arg(&out).arg("--").args(mpi.words(ranks, &mpi.app("flows").unwrap(), &[]));
            mpi.prepare(&mut command).unwrap();
            let ended = run(command.current_dir(folder.path()), LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            let recorded = Recorded::load(&out).unwrap();
            let (running, address) = replay(&out);
            let mut orders = Vec::new();
            for direction in [Direction::Forward, Direction::Backward] {
                let asked = Subscribe {
                    expand_collectives: true,
                    direction,
                    most: Some(100),
                    communicators: vec![Key::from("MPI_COMM_WORLD")],
                    ..Subscribe::new(Topic::Messages, 1)
                };
                let (mut seen, mut order) = (Flows::new(), Vec::new());
                for batch in block_on(batches(&address, asked)) {
                    let rows = batch.messages.unwrap();
                    assert!(rows.source.len() <= 100 && batch.late == 0 && batch.missed == 0);
                    for row in 0..rows.source.len() {
                        let call =
                            recorded.calls.iter().find(|call| u32::from(call.function) == rows.function[row]);
                        let name = recorded.name(call.unwrap()).to_owned();
                        let flow = seen.entry((name, rows.source[row], rows.destination[row])).or_default();
                        *flow = (flow.0 + 1, flow.1 + rows.bytes[row] as u64);
                        order.push(rows.known_ns[row]);
                    }
                }
                assert_eq!(seen, flows(ranks), "{ranks} ranks, {direction:?}");
                orders.push(order);
            }
            assert!(orders[0].is_sorted());
            orders[1].reverse();
            assert_eq!(orders[0], orders[1]);
            // One function, and no messages; as such it is a call.
            let functions = vec!["MPI_Bcast".to_owned()];
            let asked =
                Subscribe { expand_collectives: true, functions, ..Subscribe::new(Topic::Messages, 1) };
            let rows: usize = block_on(batches(&address, asked)).iter().map(Batch::rows).sum();
            assert_eq!(rows as u64, TIMES * u64::from(ranks - 1));
            let rows: usize =
                block_on(batches(&address, Subscribe::new(Topic::Messages, 1))).iter().map(Batch::rows).sum();
            assert_eq!(rows, recorded.messages.len());
            end_replay(running);
        }
    }
}

/// Calls and messages by the beginning of a window.
async fn windows(address: &str, direction: Direction) -> BTreeMap<u64, (u64, u64, u64)> {
    let asked = Subscribe { direction, window_ns: Some(5e7), ..Subscribe::new(Topic::Windows, 1) };
    let mut table: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for batch in batches(address, asked).await {
        let rows = batch.windows.unwrap();
        for row in 0..rows.from_ns.len() {
            let window = table.entry(rows.from_ns[row] as u64).or_default();
            let [calls, messages, mpi_ns] =
                [rows.calls[row], rows.messages[row], rows.mpi_ns[row]].map(|figure| figure as u64);
            *window = (window.0 + calls, window.1 + messages, window.2 + mpi_ns);
        }
    }
    table
}

#[test]
fn windows_have_what_the_recording_has_both_ways_and_findings_are_those_of_the_verdict() {
    let folder = folder().unwrap();
    let out = simulated(folder.path());
    let recorded = Recorded::load(&out).unwrap();
    let mut expected: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    let window = |at_ns: u64| at_ns / 50_000_000 * 50_000_000;
    for call in &recorded.calls {
        let of = expected.entry(window(call.end_ns)).or_default();
        (of.0, of.2) = (of.0 + 1, of.2 + call.duration_ns());
    }
    for message in &recorded.messages {
        expected.entry(window(message.recv_ns)).or_default().1 += 1;
    }
    let (running, address) = replay(&out);
    for direction in [Direction::Forward, Direction::Backward] {
        let mut seen = block_on(windows(&address, direction));
        // Ranks may wait in a window in which no call returns.
        seen.retain(|_, of| *of != (0, 0, 0));
        assert_eq!(seen, expected, "{direction:?}");
    }
    let found = |direction| -> Vec<Finding> {
        let asked = Subscribe { direction, ..Subscribe::new(Topic::Findings, 1) };
        block_on(batches(&address, asked)).into_iter().flat_map(|batch| batch.findings.unwrap()).collect()
    };
    let (forward, mut backward) = (found(Direction::Forward), found(Direction::Backward));
    backward.reverse();
    assert_eq!(forward, backward);
    let report = report(&out).unwrap();
    let attributed =
        report["attribution"].as_array().unwrap().iter().filter(|of| of["cause"] != "none").count();
    let causes = forward.iter().filter(|of| format!("{:?}", of.kind) == "Cause").count();
    assert_eq!(causes, attributed, "{forward:?}");
    assert!(causes > 0 && forward.iter().all(|of| of.is_final && !of.text.is_empty()), "{forward:?}");
    // What is not there.
    let asked =
        Subscribe { communicators: vec![Key::from("MPI_COM_WORLD")], ..Subscribe::new(Topic::Calls, 1) };
    assert!(block_on(refused(&address, asked)).ends_with("did you mean MPI_COMM_WORLD?"));
    let asked = Subscribe { region: Some(4_000), ..Subscribe::new(Topic::Windows, 1) };
    let text = block_on(refused(&address, asked));
    assert!(
        text.starts_with("there is no region 4000; there are 0") || text.contains("none is known"),
        "{text}"
    );
    end_replay(running);
}

/// Rank, thread, function, start and end of a call.
type Row = (u64, u64, u64, u64, u64);

/// Prints the calls by some ranks, as such rows.
const COPY: &str = "
import json, os, mpiscope
calls = []
with mpiscope.connect(name='copy') as client:
    client.subscribe('calls', ranks=[tuple(json.loads(os.environ['RANKS']))])
    for batch in client.batches():
        rows = batch.calls
        columns = (rows.rank, rows.thread, rows.function, rows.start_ns, rows.end_ns)
        calls += zip(*(column.astype('u8').tolist() for column in columns))
print(json.dumps(calls))
";

#[test]
fn three_copies_of_one_program_get_a_part_each_and_together_all() {
    let test = "subscriptions three_copies_of_one_program_get_a_part_each_and_together_all";
    let Some(python) = python_or_skip(test) else { return };
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let (out, turns) = (folder.path().join("recording"), Turns::new(folder.path()));
    let running = run_with_page(&mpi, 16, "paced", &turns.arguments(), &out);
    let page = Page::open(&running, "mpiscope: live page");
    let parts = [(0, 4), (5, 5), (6, 15)];
    let copies = parts.map(|(first, last)| {
        let mut copy = python_client(&python);
        copy.args(["-c", COPY])
            .env("MPISCOPE_ADDRESS", address(&page))
            .env("RANKS", format!("[{first}, {last}]"));
        Running::start(&mut copy).unwrap()
    });
    until_programs(&page, 3);
    turns.wait_for(20);
    turns.end();
    let mut seen: Vec<Vec<Row>> = Vec::new();
    for copy in copies {
        let ended = copy.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        seen.push(serde_json::from_str(&ended.output()).unwrap());
    }
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let recorded = Recorded::load(&out).unwrap();
    let mut all: Vec<Row> = recorded
        .calls
        .iter()
        .map(|call| {
            (call.rank.0.into(), call.thread.into(), call.function.into(), call.start_ns, call.end_ns)
        })
        .collect();
    all.sort_unstable();
    assert!(all.len() > 1_000);
    for (part, (first, last)) in seen.iter().zip(parts) {
        assert!(!part.is_empty() && part.iter().all(|row| (first..=last).contains(&row.0)));
    }
    let mut together = seen.concat();
    together.sort_unstable();
    assert_eq!(together, all);
}
