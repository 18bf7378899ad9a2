//! A flow over several processes. Each is a thread here, with the sockets and bytes that there are between processes.

use anyhow::{Context, Result};
use mpiscope_flow::{Cluster, Flow, FlowOptions, work_on_share};
use mpiscope_model::Batch;

pub(crate) fn flow(processes: usize, options: &FlowOptions, batches: Vec<Batch>) -> Result<()> {
    let share = options.for_others();
    let mut clusters = Cluster::all(processes)?.into_iter();
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
