//! A flow over several processes: real ones, connected as those of a run are; and how many bytes they send each other.

use crate::job::Job;
use crate::processor_s;
use anyhow::{Context, Result};
use mpiscope_flow::{Cluster, Feeder, Flow, FlowOptions, TryFeedError, work_on_share};
use mpiscope_link::{Certificate, Meeting, MeetingOptions, MemberOptions, Mesh, Secret, join};
use mpiscope_model::{Batch, Rank};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long processes may take to come together.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long one that has no room for a batch waits before it tries again.
const REST: Duration = Duration::from_micros(200);

/// This process and others, connected.
pub(crate) struct Processes {
    mesh: Mesh,
    others: Vec<Child>,
}

impl Processes {
    /// Starts others, which work on their shares of a flow. With a job, they also feed it.
    pub(crate) fn start(processes: usize, options: &FlowOptions, job: Option<&Job>) -> Result<Self> {
        let (secret, certificate) = (Secret::draw()?, Certificate::make()?);
        let job = job.map_or_else(String::new, |job| format!("{} {}", processes - 1, job.to_text()));
        let text = format!("{} {}\n{job}", secret.to_text(), certificate.public());
        let (address, certificate) = ("127.0.0.1:0".parse()?, Some(certificate));
        let meeting = Meeting::open(MeetingOptions { address, secret, certificate, others: processes - 1 })?;
        let start = |number: usize| -> Result<Child> {
            let mut other = Command::new(std::env::current_exe()?)
                .args(["--join", &meeting.address().to_string(), &number.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            other.stdin.take().context("a process has an input")?.write_all(text.as_bytes())?;
            Ok(other)
        };
        let others = (1..processes).map(start).collect::<Result<_>>()?;
        let mesh = meeting.hold(&options.for_others(), PATIENCE, &|| true)?;
        Ok(Self { mesh, others })
    }

    /// Analyses; says how much CPU time the others took.
    pub(crate) fn flow(self, options: &FlowOptions, batches: Vec<Batch>) -> Result<f64> {
        let Self { mut mesh, others } = self;
        let cluster = Cluster { number: mesh.number, peers: std::mem::take(&mut mesh.peers) };
        let flow = Flow::start_over(options, cluster)?;
        feed_all(&flow, options, batches)?;
        flow.finish()?;
        drop(mesh);
        let took_s = |other: Child| -> Result<f64> {
            Ok(String::from_utf8(other.wait_with_output()?.stdout)?.trim().parse()?)
        };
        others.into_iter().map(took_s).sum()
    }
}

/// What another process does; it prints its CPU time.
pub(crate) fn work(address: &str, number: &str) -> Result<f64> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let (text, job) = text.split_once('\n').context("two lines")?;
    let (secret, certificate) = text.split_once(' ').context("a secret and a certificate")?;
    let (secret, certificate) = (Secret::from_text(secret)?, Some(certificate.to_owned()));
    let (addresses, number) = (vec![address.to_owned()], number.parse()?);
    let rows = if job.is_empty() { None } else { Some(rows_of(job, number)?) };
    let (mut mesh, share) =
        join(MemberOptions { addresses, secret, certificate, number, patience: PATIENCE })?;
    let begun_s = processor_s();
    let cluster = Cluster { number: mesh.number, peers: std::mem::take(&mut mesh.peers) };
    let feeder = rows.map(|rows| feed(&share, rows)).transpose()?;
    work_on_share(&share, cluster, feeder)?;
    drop(mesh);
    Ok(processor_s() - begun_s)
}

/// What the ranks of a process do, batch by batch.
fn rows_of(job: &str, number: usize) -> Result<Vec<Batch>> {
    let (others, job) = job.split_once(' ').context("how many others, and a job")?;
    let (others, job): (u64, _) = (others.parse()?, Job::from_text(job)?);
    let ranks = u64::from(job.spec()?.ranks);
    let is_own = |rank: Rank| u64::from(rank.0) * others / ranks + 1 == number as u64;
    Ok(job.batches()?.iter().map(|batch| batch.activities_of(is_own)).collect())
}

/// Feeds batches on a thread of its own, as soon as there is room.
fn feed(share: &[u8], rows: Vec<Batch>) -> Result<Feeder> {
    let feeder = Feeder::new(share)?;
    let of_thread = feeder.clone();
    std::thread::spawn(move || {
        for mut batch in rows {
            while let Err(TryFeedError::Full(again)) = of_thread.try_feed(batch) {
                batch = *again;
                std::thread::sleep(REST);
            }
        }
        of_thread.close();
    });
    Ok(feeder)
}

/// A flow over processes that are threads here. With a job, the others feed it.
fn over(clusters: Vec<Cluster>, options: &FlowOptions, batches: Vec<Batch>, job: Option<&Job>) -> Result<()> {
    let (share, others) = (options.for_others(), clusters.len() - 1);
    let mut clusters = clusters.into_iter();
    let center = clusters.next().context("a flow has a process")?;
    std::thread::scope(|scope| {
        let start = |cluster: Cluster| -> Result<_> {
            let rows = job.map(|job| rows_of(&format!("{others} {}", job.to_text()), cluster.number));
            let feeder = rows.transpose()?.map(|rows| feed(&share, rows)).transpose()?;
            let share = &share;
            Ok(scope.spawn(move || work_on_share(share, cluster, feeder)))
        };
        let others = clusters.map(start).collect::<Result<Vec<_>>>()?;
        let flow = Flow::start_over(options, center)?;
        feed_all(&flow, options, batches)?;
        flow.finish()?;
        for other in others {
            other.join().ok().context("a process panicked")??;
        }
        Ok(())
    })
}

/// Feeds what the first process has of each batch.
fn feed_all(flow: &Flow, options: &FlowOptions, batches: Vec<Batch>) -> Result<()> {
    for mut batch in batches {
        let elsewhere = if options.fed_by_others.is_some() { batch.activities.len() as u64 } else { 0 };
        if elsewhere > 0 {
            batch.leave_out_rows();
        }
        flow.feed_beside(batch, elsewhere)?;
    }
    Ok(())
}

/// The bytes that all processes send each other: those of the dataflow, and those of what workers tell each other.
pub(crate) fn bytes(
    processes: usize,
    options: &FlowOptions,
    batches: Vec<Batch>,
    job: Option<&Job>,
) -> Result<[u64; 2]> {
    let mut clusters = Cluster::all(processes)?;
    let counts = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
    for streams in clusters.iter_mut().flat_map(|cluster| cluster.peers.iter_mut().flatten()) {
        for (stream, count) in streams.iter_mut().zip(&counts) {
            let (own, between) = UnixStream::pair()?;
            let beyond = std::mem::replace(stream, own);
            carry(between.try_clone()?, beyond.try_clone()?, None);
            carry(beyond, between, Some(Arc::clone(count)));
        }
    }
    over(clusters, options, batches, job)?;
    Ok(counts.map(|count| count.load(Ordering::Relaxed)))
}

/// Carries bytes until they end, and counts them on their way.
fn carry(mut from: UnixStream, mut to: UnixStream, count: Option<Arc<AtomicU64>>) {
    std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut bytes)
            && to.write_all(&bytes[..read]).is_ok()
        {
            if let Some(count) = &count {
                count.fetch_add(read as u64, Ordering::Relaxed);
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}
