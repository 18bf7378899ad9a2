//! A histogram of transfer times, drawn again with every batch. Takes the address from `MPISCOPE_ADDRESS`.

#![allow(clippy::print_stdout, reason = "it prints what it receives")]

use mpiscope_client::{Client, Reply, Request, Subscribe, Topic, address};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut client = Client::connect(&address()?, "histogram").await?;
    client.send(&Request::Subscribe(Subscribe::new(Topic::Messages, 1))).await?;
    // Each bin is twice as wide as the one before.
    let mut counts = [0; 20];
    while let Some(reply) = client.next().await?.filter(|reply| !matches!(reply, Reply::End(_))) {
        if let Reply::Batch(batch) = reply {
            for transfer_ns in batch.messages.unwrap_or_default().transfer_ns {
                counts[((transfer_ns / 1e3).max(0.5).log2() as usize + 1).min(19)] += 1;
            }
            let (all, most) =
                counts.iter().fold((0, 1), |(all, most), &count| (all + count, count.max(most)));
            println!("\x1b[H\x1b[J{all} messages until {:.3} s of the run", batch.to_ns / 1e9);
            for (bin, &count) in counts.iter().enumerate() {
                println!("below {:6} us {count:10} {}", 1 << bin, "#".repeat(60 * count / most));
            }
        }
    }
    Ok(())
}
