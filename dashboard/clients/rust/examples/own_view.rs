//! Adds a view to the page: how many bytes each rank sent to each other rank. Takes the address from `MPISCOPE_ADDRESS`.
//! The view stays as long as this program runs. Stop it with Ctrl-C.

use mpiscope_client::{AddPanel, Client, Reply, Request, Subscribe, TellPanel, Topic, address};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut client = Client::connect(&address()?, "bytes sent").await?;
    let (title, html) = ("Bytes sent".to_owned(), include_str!("../../own_view.html").to_owned());
    client.send(&Request::Panel(AddPanel { id: 1, title, html })).await?;
    client.send(&Request::Subscribe(Subscribe::new(Topic::Messages, 2))).await?;
    let mut sent: Vec<Vec<f64>> = Vec::new();
    while let Some(reply) = client.next().await? {
        if let Reply::Batch(batch) = reply {
            let ranks = client.welcome().ranks as usize;
            sent.resize(ranks, Vec::new());
            sent.iter_mut().for_each(|row| row.resize(ranks, 0.0));
            let rows = batch.messages.unwrap_or_default();
            for row in 0..rows.source.len() {
                sent[rows.source[row] as usize][rows.destination[row] as usize] += rows.bytes[row];
            }
            client.send(&Request::TellPanel(TellPanel { id: 1, data: serde_json::json!(sent) })).await?;
        } else if let Reply::Failed(failed) = reply {
            anyhow::bail!(failed.text);
        }
    }
    Ok(())
}
