//! An example, not a measurement: serves the page with an invented job, to look at it and to load it.
//!
//! `cargo run -p mpiscope-server --example fake_job -- --ranks 1024 --scene live`; the scenes are waiting, first, live,
//! ended, failed, killed, lossy. Whatever the page shows here was made up by this file.

#![expect(clippy::unwrap_used, reason = "an example may stop at the first surprise")]

use mpiscope_feed::{FeedState, FunctionRow, Job, JobState, RankRow, Update, WindowIncrement};
use mpiscope_model::{Fault, Losses, ProcessState, Totals};
use mpiscope_server::{Options, Server, Token, live};
use std::time::Duration;

const STEP_NS: u64 = 100_000_000;

/// Number, name, calls per rank and step, mean duration, bytes per call, polls per call.
const FUNCTIONS: [(u16, &str, u64, u64, u64, u64); 12] = [
    (1, "MPI_Init", 0, 180_000_000, 0, 0),
    (10, "MPI_Send", 210, 2_400, 4_096, 0),
    (14, "MPI_Isend", 800, 690, 65_536, 0),
    (20, "MPI_Recv", 210, 31_000, 4_096, 0),
    (21, "MPI_Irecv", 800, 540, 65_536, 0),
    (30, "MPI_Waitall", 100, 142_000, 0, 0),
    (33, "MPI_Test", 40, 310, 0, 212),
    (36, "MPI_Iprobe", 12, 420, 0, 31),
    (40, "MPI_Bcast", 2, 88_000, 8_192, 0),
    (42, "MPI_Allreduce", 25, 410_000, 8, 0),
    (50, "MPI_Barrier", 2, 1_900_000, 0, 0),
    (60, "MPI_Comm_split", 0, 2_300_000, 0, 0),
];

struct Arguments {
    ranks: u32,
    scene: String,
    address: std::net::SocketAddr,
    seconds: u64,
}

fn arguments() -> Arguments {
    let mut found =
        Arguments { ranks: 4, scene: "live".to_owned(), address: Server::DEFAULT_ADDRESS, seconds: 221 };
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name.as_str() {
            "--ranks" => found.ranks = value.parse().unwrap(),
            "--scene" => found.scene = value,
            "--listen" => found.address = value.parse().unwrap(),
            "--seconds" => found.seconds = value.parse().unwrap(),
            other => panic!("unknown argument {other}"),
        }
    }
    found
}

/// A number that looks random and is the same each time.
fn scatter(seed: u64) -> f64 {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40) as f64 / f64::from(1 << 24)
}

/// The invented counters, as the real owner would keep them.
struct Fake {
    step: u64,
    now_ns: u64,
    job: Job,
    losses: Losses,
    totals: Totals,
    functions: Vec<FunctionRow>,
    ranks: Vec<RankRow>,
    faults: Vec<Fault>,
    window: WindowIncrement,
}

/// Enough for the functions of this example.
fn family_of(name: &str) -> &'static str {
    match name {
        "MPI_Isend" | "MPI_Send" => "send",
        "MPI_Irecv" | "MPI_Recv" => "receive",
        "MPI_Waitall" | "MPI_Wait" | "MPI_Test" => "complete",
        "MPI_Bcast" | "MPI_Reduce" => "rooted",
        "MPI_Allreduce" => "all",
        "MPI_Barrier" => "barrier",
        _ => "setup",
    }
}

impl Fake {
    fn new(arguments: &Arguments) -> Self {
        let ranks = arguments.ranks;
        let command = if arguments.scene == "waiting" && ranks == 0 {
            String::new()
        } else {
            format!("mpirun -n {ranks} ./cg.C --size 1000000 --iterations 400")
        };
        let rank = |rank| RankRow {
            rank,
            node: rank / 32,
            calls: 0,
            sent: 0,
            received: 0,
            bytes_sent: 0,
            mpi_time_ns: 0,
            state: ProcessState::Running,
        };
        let function = |(function, name, ..): &(u16, &'static str, u64, u64, u64, u64)| FunctionRow {
            function: *function,
            name,
            family: family_of(name),
            calls: 0,
            polls: 0,
            bytes: 0,
            time_ns: 0,
            p50_ns: 0,
            p99_ns: 0,
            max_ns: 0,
        };
        Fake {
            step: 0,
            now_ns: 0,
            job: Job {
                run: "fake".to_owned(),
                command,
                nodes: ranks.div_ceil(32),
                ranks,
                mpi: "Open MPI 4.1.6 (invented)".to_owned(),
                state: JobState::Waiting,
                exit: None,
                started_unix_ns: 1_790_000_000_000_000_000,
            },
            losses: Losses::default(),
            totals: Totals::default(),
            functions: FUNCTIONS.iter().map(function).collect(),
            ranks: (0..ranks).map(rank).collect(),
            faults: Vec::new(),
            window: WindowIncrement::default(),
        }
    }

    fn step(&mut self) {
        let pace = 0.75 + 0.2 * (self.step as f64 / 40.0).sin() + 0.05 * scatter(self.step);
        let quiet = self.step % 300 > 280;
        self.job.state = JobState::Running;
        self.window = WindowIncrement { start_ns: self.now_ns, ..WindowIncrement::default() };
        self.step += 1;
        self.now_ns += STEP_NS;
        let ranks = u64::from(self.job.ranks);
        for (row, (_, _, rate, duration_ns, bytes, polls)) in self.functions.iter_mut().zip(FUNCTIONS) {
            let first = self.step == 1 && rate == 0;
            let paced = if quiet { rate / 50 } else { (rate as f64 * pace) as u64 };
            let calls = if first { ranks } else { ranks * paced };
            row.calls += calls;
            row.polls += calls * polls;
            row.bytes += calls * bytes;
            row.time_ns += calls * duration_ns * (polls + 1) / 6;
            (row.p50_ns, row.p99_ns, row.max_ns) = (duration_ns / 10, duration_ns / 2, duration_ns * 5 / 4);
            self.totals.calls += calls;
            self.totals.polls += calls * polls;
            self.window.calls += calls;
        }
        self.window.messages = self.window.calls * 10 / 22;
        self.window.bytes = self.window.messages * 52_000;
        self.totals.messages += self.window.messages;
        self.totals.bytes += self.window.bytes;
        self.totals.intra_messages = self.totals.messages / 10 * 8;
        self.totals.inter_messages = self.totals.messages - self.totals.intra_messages;
        self.totals.unmatched_sends = 3;
        self.step_ranks();
    }

    fn step_ranks(&mut self) {
        let ranks = u64::from(self.job.ranks).max(1);
        for row in &mut self.ranks {
            let imbalance = if row.rank % 128 == 3 {
                0.04
            } else {
                0.22 + 0.3 * f64::from(row.rank % 32) / 32.0 + 0.1 * scatter(u64::from(row.rank))
            };
            row.calls += self.window.calls / ranks;
            row.sent += self.window.messages / ranks;
            row.received += self.window.messages / ranks;
            row.bytes_sent += self.window.bytes / ranks;
            row.mpi_time_ns += (STEP_NS as f64 * imbalance) as u64;
        }
    }

    fn lose(&mut self) {
        self.losses = Losses { ring_full: 48_213 + self.step, no_ring: 12, unreadable: 0 };
        self.faults = vec![
            Fault {
                rank: Some(3),
                text: "Calls came faster than they were read: the ring was full for 120 ms.".to_owned(),
            },
            Fault { rank: None, text: "Node tile17 has not reported for 2.1 s.".to_owned() },
        ];
        if let Some(row) = self.ranks.get_mut(3) {
            row.state = ProcessState::Vanished;
        }
    }

    fn finish(&mut self, state: JobState, exit: i32) {
        self.job.state = state;
        self.job.exit = Some(exit);
        self.window = WindowIncrement::default();
        for row in &mut self.ranks {
            row.state = match (exit, row.rank) {
                (0, _) => ProcessState::Finalized,
                (_, 1) => ProcessState::Aborted,
                _ => ProcessState::Vanished,
            };
        }
    }

    fn update(&self) -> Update<'_> {
        let running = self.job.state == JobState::Running;
        let waiting = self.job.state == JobState::Waiting;
        Update {
            now_ns: self.now_ns,
            lag_ns: if running { 60_000_000 + (scatter(self.step) * 4e7) as u64 } else { 0 },
            job: &self.job,
            totals: self.totals,
            losses: self.losses,
            functions: if waiting { &[] } else { &self.functions },
            ranks: if waiting { &[] } else { &self.ranks },
            windows: std::slice::from_ref(&self.window),
            faults: &self.faults,
        }
    }
}

#[tokio::main]
async fn main() {
    let arguments = arguments();
    let mut fake = Fake::new(&arguments);
    let (mut publisher, source) = live(FeedState::new(fake.job.clone()));
    let server = Server::bind(arguments.address, Options::new(Token::from_bytes([0x42; 16]))).await.unwrap();
    println!("{}", server.page_url());
    let serving = tokio::spawn(server.serve(source, async {
        let _ = tokio::signal::ctrl_c().await;
    }));

    let scene = arguments.scene.as_str();
    let steps = match scene {
        "waiting" => 0,
        "first" => 12,
        _ => arguments.seconds * 10,
    };
    for _ in 0..steps {
        fake.step();
        publisher.publish(&fake.update());
    }
    fake.window = WindowIncrement::default();
    match scene {
        "lossy" => fake.lose(),
        "ended" => fake.finish(JobState::Ended, 0),
        "failed" => fake.finish(JobState::Ended, 1),
        "killed" => fake.finish(JobState::Killed, 137),
        _ => {}
    }
    publisher.publish(&fake.update());
    fake.faults.clear();
    let moving = matches!(scene, "live" | "lossy");
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    while !serving.is_finished() {
        tick.tick().await;
        if moving {
            fake.step();
            publisher.publish(&fake.update());
        }
    }
}
