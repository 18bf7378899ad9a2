//! A flow over several processes. Each is a thread here, with the sockets and bytes that there are between processes; and
//! how many bytes these are.

use anyhow::{Context, Result};
use mpiscope_flow::{Cluster, Flow, FlowOptions, work_on_share};
use mpiscope_model::Batch;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn flow(processes: usize, options: &FlowOptions, batches: Vec<Batch>) -> Result<()> {
    over(Cluster::all(processes)?, options, batches)
}

fn over(clusters: Vec<Cluster>, options: &FlowOptions, batches: Vec<Batch>) -> Result<()> {
    let share = options.for_others();
    let mut clusters = clusters.into_iter();
    let center = clusters.next().context("a flow has a process")?;
    std::thread::scope(|scope| {
        let others: Vec<_> = clusters.map(|cluster| scope.spawn(|| work_on_share(&share, cluster))).collect();
        let flow = Flow::start_over(options, center)?;
        for batch in batches {
            flow.feed(batch)?;
        }
        flow.finish()?;
        for other in others {
            other.join().ok().context("a process panicked")??;
        }
        Ok(())
    })
}

/// The bytes that all processes send each other: those of the dataflow, and those of what workers tell each other.
pub(crate) fn bytes(processes: usize, options: &FlowOptions, batches: Vec<Batch>) -> Result<[u64; 2]> {
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
    over(clusters, options, batches)?;
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
