//! Prints every message slower than 1 ms while the program runs. Takes the address from `MPISCOPE_ADDRESS`.

#![allow(clippy::print_stdout, reason = "it prints what it receives")]

use mpiscope_client::{Client, Reply, Request, Subscribe, Topic, address};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut client = Client::connect(&address()?, "slow messages").await?;
    let slow = Subscribe { at_least_ns: 1e6, ..Subscribe::new(Topic::Messages, 1) };
    client.send(&Request::Subscribe(slow)).await?;
    while let Some(reply) = client.next().await? {
        match reply {
            Reply::Batch(batch) => {
                let rows = batch.messages.unwrap_or_default();
                for row in 0..rows.source.len() {
                    let (from, to, bytes) = (rows.source[row], rows.destination[row], rows.bytes[row]);
                    let (end_s, took_ms) = (rows.receive_ns[row] / 1e9, rows.transfer_ns[row] / 1e6);
                    println!("{end_s:.6} s: {bytes} bytes from rank {from} to {to} took {took_ms:.3} ms");
                }
            }
            Reply::Failed(failed) => anyhow::bail!(failed.text),
            Reply::End(_) => break,
            _ => {}
        }
    }
    Ok(())
}
