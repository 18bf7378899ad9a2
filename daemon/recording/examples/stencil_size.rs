//! Measures the size of a recording and the speed of sealing and reading it, on the modelled traffic of a stencil
//! code: halo exchange with six neighbours, then a reduction, on 16 ranks of 4 nodes.
//!
//! `cargo run --release -p mpiscope-recording --example stencil_size -- FOLDER [MILLIONS_OF_CALLS] [ZSTD_LEVEL]`

use mpiscope_model::{Call, Message};
use mpiscope_recording::{Manifest, Recording, RecordingOptions, RecordingWriter, Tables};
use std::path::PathBuf;
use std::time::Instant;

const RANKS: usize = 16;
const NEIGHBOURS: usize = 6;
const IRECV: u16 = 40;
const ISEND: u16 = 30;
const WAITALL: u16 = 61;
const ALLREDUCE: u16 = 102;

/// Pseudo-random numbers, the same at each run.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    fn log_normal(&mut self, median_ns: f64, sigma: f64) -> u64 {
        let normal = (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos();
        (median_ns * (sigma * normal).exp()) as u64
    }
}

/// The job, a step at a time.
struct Stencil {
    random: Random,
    now_ns: [u64; RANKS],
}

/// The neighbour of a rank in a torus of 4 by 2 by 2.
fn neighbour(rank: usize, direction: usize) -> usize {
    let (x, y, z) = (rank % 4, rank / 4 % 2, rank / 8);
    match direction {
        0 => (x + 1) % 4 + 4 * y + 8 * z,
        1 => (x + 3) % 4 + 4 * y + 8 * z,
        2 | 3 => x + 4 * (1 - y) + 8 * z,
        _ => x + 4 * y + 8 * (1 - z),
    }
}

fn halo_bytes(direction: usize) -> u64 {
    [8192, 8192, 32_768, 32_768, 16_384, 16_384][direction]
}

impl Stencil {
    fn call(&mut self, rank: usize, function: u16, median_ns: f64, calls: &mut Vec<Call>) -> usize {
        let start_ns = self.now_ns[rank] + self.random.log_normal(150.0, 0.6);
        let end_ns = start_ns + self.random.log_normal(median_ns, 0.6);
        self.now_ns[rank] = end_ns;
        calls.push(Call { rank: rank as u32, function, start_ns, end_ns, comm: Some(0), ..Call::default() });
        calls.len() - 1
    }

    fn step(&mut self, calls: &mut Vec<Call>, messages: &mut Vec<Message>) {
        let mut sends = Vec::new();
        for rank in 0..RANKS {
            self.now_ns[rank] += self.random.log_normal(200_000.0, 0.3);
            for (function, median_ns) in [(IRECV, 250.0), (ISEND, 700.0)] {
                for direction in 0..NEIGHBOURS {
                    let at = self.call(rank, function, median_ns, calls);
                    calls[at].peer = Some(neighbour(rank, direction) as u32);
                    calls[at].tag = Some(direction as i32);
                    if function == ISEND {
                        calls[at].bytes = halo_bytes(direction);
                        sends.push((rank, neighbour(rank, direction), direction, calls[at].start_ns));
                    }
                }
            }
        }
        for rank in 0..RANKS {
            self.wait(rank, &sends, calls, messages);
        }
        let entered_ns = self.now_ns.iter().copied().max().unwrap_or_default();
        for rank in 0..RANKS {
            let at = self.call(rank, ALLREDUCE, 0.0, calls);
            calls[at].bytes = 8;
            calls[at].end_ns = entered_ns.max(calls[at].start_ns) + self.random.log_normal(6000.0, 0.3);
            self.now_ns[rank] = calls[at].end_ns;
        }
    }

    fn wait(
        &mut self,
        rank: usize,
        sends: &[(usize, usize, usize, u64)],
        calls: &mut Vec<Call>,
        messages: &mut Vec<Message>,
    ) {
        let at = self.call(rank, WAITALL, 400.0, calls);
        let start_ns = calls[at].start_ns;
        let first = messages.len();
        let mut last_ns = calls[at].end_ns;
        for &(src, dst, direction, send_ns) in sends.iter().filter(|send| send.1 == rank) {
            last_ns = last_ns.max(send_ns + self.random.log_normal(3000.0, 0.5));
            calls[at].bytes += halo_bytes(direction);
            messages.push(Message {
                src: src as u32,
                dst: dst as u32,
                tag: direction as i32,
                comm: 0,
                bytes: halo_bytes(direction),
                send_ns,
                recv_ns: 0,
                t_msg_ns: 0,
                late_sender_ns: send_ns.saturating_sub(start_ns),
                late_receiver_ns: None,
                inter: src / 4 != dst / 4,
                exact: false,
            });
        }
        calls[at].end_ns = last_ns + self.random.log_normal(200.0, 0.5);
        self.now_ns[rank] = calls[at].end_ns;
        for message in &mut messages[first..] {
            message.recv_ns = calls[at].end_ns;
            message.t_msg_ns = calls[at].end_ns - message.send_ns.max(start_ns);
        }
        if let Some(binding) = messages[first..].iter_mut().max_by_key(|message| message.send_ns) {
            binding.exact = binding.send_ns > start_ns;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().ok_or("name a folder")?);
    let calls_wanted = arguments.next().map_or(Ok(5), |text| text.parse::<usize>())? * 1_000_000;
    let zstd_level = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let mut job = Stencil { random: Random(0x9E37_79B9_7F4A_7C15), now_ns: [0; RANKS] };
    let (mut calls, mut messages) = (Vec::new(), Vec::new());
    while calls.len() < calls_wanted {
        job.step(&mut calls, &mut messages);
    }
    calls.sort_by_key(|call| call.end_ns);
    messages.sort_by_key(|message| message.recv_ns);

    let options = RecordingOptions { zstd_level, ..RecordingOptions::default() };
    let mut writer = RecordingWriter::create(&dir, Manifest::default(), options)?;
    let (mut call_seconds, mut message_seconds) = (0.0, 0.0);
    let share = messages.len() / (calls.len() / 1000);
    let (mut call_batches, mut message_batches) = (calls.chunks(1000), messages.chunks(share.max(1)));
    loop {
        let (some_calls, some_messages) = (call_batches.next(), message_batches.next());
        let started = Instant::now();
        writer.push_calls(some_calls.unwrap_or_default())?;
        call_seconds += started.elapsed().as_secs_f64();
        let started = Instant::now();
        writer.push_messages(some_messages.unwrap_or_default())?;
        message_seconds += started.elapsed().as_secs_f64();
        if some_calls.is_none() && some_messages.is_none() {
            break;
        }
    }
    let started = Instant::now();
    let manifest = writer.finish(&Tables::default())?;
    let last_seconds = started.elapsed().as_secs_f64();

    let seconds = call_seconds + message_seconds + last_seconds;
    println!(
        "{} calls in {call_seconds:.2} s, {} messages in {message_seconds:.2} s, the last segments and the end in {last_seconds:.2} s",
        calls.len(),
        messages.len()
    );
    println!("rows sealed a second: {:.0}", (calls.len() + messages.len()) as f64 / seconds);
    let size = |folder: &str| -> std::io::Result<u64> {
        std::fs::read_dir(dir.join(folder))?
            .map(|entry| entry.and_then(|entry| entry.metadata()).map(|found| found.len()))
            .sum()
    };
    println!("bytes a row of calls: {:.3}", size("calls")? as f64 / calls.len() as f64);
    println!("bytes a row of messages: {:.3}", size("messages")? as f64 / messages.len() as f64);
    println!(
        "bytes a call, the whole folder: {:.3}",
        manifest.cost.bytes_on_disk as f64 / calls.len() as f64
    );

    let recording = Recording::open(&dir)?;
    let started = Instant::now();
    let read_calls: usize = recording.calls().map(|batch| batch.len()).sum();
    println!("calls read a second: {:.0}", read_calls as f64 / started.elapsed().as_secs_f64());
    let middle_ns = calls[calls.len() / 2].start_ns;
    let started = Instant::now();
    let found: usize =
        recording.calls_between(middle_ns..middle_ns + 1_000_000).map(|batch| batch.len()).sum();
    println!(
        "{found} calls of one millisecond in the middle found in {:.1} ms",
        started.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}
