//! Marks each message whose latency ratio L exceeds 4, in all views. Takes the address from `MPISCOPE_ADDRESS`.

use mpiscope_client::{Annotate, Client, Reply, Request, Subscribe, Topic, address};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut client = Client::connect(&address()?, "slow by L").await?;
    client.send(&Request::Subscribe(Subscribe::new(Topic::Messages, 1))).await?;
    while let Some(reply) = client.next().await? {
        match reply {
            Reply::Batch(batch) => {
                let rows = batch.messages.unwrap_or_default();
                for row in (0..rows.source.len()).filter(|&row| rows.latency[row] > 4.0) {
                    let text = format!("L = {:.1}, from rank {}", rows.latency[row], rows.source[row]);
                    let (time_ns, until_ns) = (rows.send_ns[row], Some(rows.receive_ns[row]));
                    let (rank, colour, link) = (Some(rows.destination[row]), None, None);
                    let note = Annotate { id: 0, time_ns, until_ns, rank, text, colour, link };
                    client.send(&Request::Annotate(note)).await?;
                }
            }
            Reply::Failed(failed) => anyhow::bail!(failed.text),
            Reply::End(_) => break,
            _ => {}
        }
    }
    Ok(client.close().await?)
}
