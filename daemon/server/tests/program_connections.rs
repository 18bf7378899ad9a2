//! When programs connect and leave: what they learn later, and what is left of them.

use crate::support::{PATIENCE, Running, start_with, token};
use futures_util::{SinkExt, StreamExt};
use mpiscope_client::{Client, Reply, Request, Subscribe, Tell, Topic};
use mpiscope_feed::{CallSource, Library};
use mpiscope_model::{Call, Nanoseconds};
use serde_json::{Value, json};
use std::ops::Range;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// A run of this number of calls.
#[derive(Debug)]
struct Calls(u64);

impl CallSource for Calls {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let calls = (0..self.0).map(|number| Call {
            start_ns: number * 1_000,
            end_ns: number * 1_000 + 700,
            ..Call::default()
        });
        calls
            .filter(|call| call.start_ns < range.end && call.end_ns >= range.start)
            .for_each(|call| visitor(&call));
        Ok(())
    }
}

async fn connect(running: &Running, name: &str) -> Client {
    timeout(PATIENCE, Client::connect(&running.url, name)).await.unwrap().unwrap()
}

/// The next reply that is not about the clock.
async fn next_but_clock(client: &mut Client) -> Reply {
    loop {
        match timeout(PATIENCE, client.next())
            .await
            .unwrap()
            .unwrap()
            .expect("the server ended the connection")
        {
            Reply::Clock(_) => {}
            reply => return reply,
        }
    }
}

#[tokio::test]
async fn who_connects_before_the_job_begins_learns_of_its_ranks_later() {
    let mut running = start_with(Library::new(Box::new(Calls(0))), |_| ()).await;
    running.publish(0, mpiscope_feed::JobState::Waiting);
    let mut client = connect(&running, "early").await;
    assert_eq!((client.welcome().ranks, client.welcome().is_live), (0, true));
    let number = client.welcome().client;
    running.publish(4, mpiscope_feed::JobState::Running);
    assert!(matches!(next_but_clock(&mut client).await, Reply::Welcome(welcome) if welcome.ranks == 4));
    assert_eq!((client.welcome().ranks, client.welcome().client), (4, number));
}

#[tokio::test]
async fn what_a_client_asks_before_it_leaves_is_carried_out() {
    let mut running = start_with(Library::new(Box::new(Calls(5_000))), |_| ()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    for _ in 0..20 {
        let (mut author, mut reader) = (connect(&running, "author").await, connect(&running, "reader").await);
        // Rows are on the way while it leaves.
        let asked = Subscribe { most: Some(10), ..Subscribe::new(Topic::Calls, 1) };
        author.send(&Request::Subscribe(asked)).await.unwrap();
        for number in 0..10 {
            author.send(&Request::Tell(Tell { to: None, data: json!(number) })).await.unwrap();
        }
        author.close().await.unwrap();
        for number in 0..10 {
            assert!(
                matches!(next_but_clock(&mut reader).await, Reply::ClientMessage(heard) if heard.data == number)
            );
        }
    }
}

#[tokio::test]
async fn a_subscription_after_the_end_of_another_comes_at_once() {
    let mut running = start_with(Library::new(Box::new(Calls(3))), |_| ()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut request = format!("ws://{}/programs", running.address).into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", token().hex()).parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let hello = json!({"do": "hello", "protocol": 1, "name": "by hand"});
    socket.send(tungstenite::Message::text(hello.to_string())).await.unwrap();
    let mut pings = 0;
    for turn in 0..300 {
        let id = turn % 2;
        let asked = json!({"do": "subscribe", "id": id, "what": "calls"});
        socket.send(tungstenite::Message::text(asked.to_string())).await.unwrap();
        loop {
            match timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap() {
                tungstenite::Message::Text(text) => {
                    let heard: Value = serde_json::from_str(&text).unwrap();
                    if heard["kind"] == "end" && heard["id"] == id {
                        break;
                    }
                }
                tungstenite::Message::Ping(_) => pings += 1,
                other => panic!("turn {turn}: {other:?} before the end"),
            }
        }
    }
    // Whoever forgets a subscription comes back to it with the next look at signs of life: that would take minutes.
    assert!(pings <= 30, "{pings} pings");
}
