//! Prints the time in MPI of each turn or phase that two recordings have. Takes the address of `mpiscope replay A --with B`
//! from `MPISCOPE_ADDRESS`.
#![allow(clippy::print_stdout, reason = "it prints what it receives")]
use mpiscope_client::{Batch, Client, Recording, Reply, Request, Subscribe, Topic, address};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut client = Client::connect(&address()?, "two runs").await?;
    let second =
        client.welcome().second.clone().ok_or(anyhow::anyhow!("start mpiscope replay A --with B"))?;
    let mut in_mpi_ms = vec![[0.0; 2]; second.sections.number.len() + 1];
    for (run, recording) in [Recording::A, Recording::B].into_iter().enumerate() {
        client.send(&Request::Subscribe(Subscribe { recording, ..Subscribe::new(Topic::Calls, 1) })).await?;
        while let Some(reply) = client.next().await?.filter(|reply| !matches!(reply, Reply::End(_))) {
            let Reply::Batch(Batch { calls: Some(calls), own, .. }) = reply else { continue };
            // One clock says which turn a call is in, and B's own time how long it took.
            let own = own.as_ref().map(|own| (&own.from_ns, &own.to_ns));
            let (from_ns, to_ns) = own.unwrap_or((&calls.start_ns, &calls.end_ns));
            for (row, start_ns) in calls.start_ns.iter().enumerate() {
                let section = second.sections.a_from_ns.partition_point(|from_ns| from_ns <= start_ns);
                in_mpi_ms[section][run] += (to_ns[row] - from_ns[row]) / 1e6;
            }
        }
    }
    for (at, [a, b]) in in_mpi_ms[1..].iter().enumerate() {
        println!("{} {} A {a:.3} ms, B {b:.3} ms", second.sections.name[at], second.sections.number[at]);
    }
    Ok(client.close().await?)
}
