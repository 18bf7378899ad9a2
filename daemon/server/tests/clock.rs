//! The shared clock and questions, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod support;

use futures_util::SinkExt as _;
use mpiscope_feed::JobState;
use mpiscope_feed::exchange::{Mode, Outgoing};
use serde_json::json;
use support::{Heard, hear, perspective, say, start};
use tokio_tungstenite::tungstenite;

#[tokio::test]
async fn one_page_moves_it_and_all_hear_of_it() {
    let mut server = start(|_| {}).await;
    for _ in 0..20 {
        server.publish(2, JobState::Running);
    }
    let (mut one, mut other) = (server.open().await.unwrap(), server.open().await.unwrap());
    let first = perspective(&mut one).await;
    assert_eq!((first.mode, first.time_ns), (Mode::Live, 2e9));
    perspective(&mut other).await;
    say(&mut one, json!({"do": "seek", "time_ns": 5e8})).await;
    let heard = loop {
        let heard = perspective(&mut other).await;
        if heard.mode == Mode::Paused {
            break heard;
        }
    };
    assert_eq!((heard.time_ns, heard.pages, heard.followers), (5e8, 2, 2));
    say(&mut other, json!({"do": "follow", "follow": false})).await;
    say(&mut other, json!({"do": "select", "range_ns": [1.0, 2.0], "ranks": null, "hidden": [4]})).await;
    let heard = loop {
        let heard = perspective(&mut one).await;
        if heard.selection.hidden == [4] {
            break heard;
        }
    };
    assert_eq!((heard.time_ns, heard.followers, heard.selection.range_ns), (5e8, 1, Some((1.0, 2.0))));
    say(&mut one, json!({"do": "play", "rate": 1000.0})).await;
    // At the edge of what is known it goes on live.
    while perspective(&mut one).await.mode != Mode::Live {}
    server.publish(2, JobState::Ended);
    while perspective(&mut one).await.mode != Mode::Paused {}
}

#[tokio::test]
async fn questions_are_answered_to_the_page_that_asked() {
    let mut server = start(|_| {}).await;
    server.publish(4, JobState::Running);
    let mut page = server.open().await.unwrap();
    say(&mut page, json!({"ask": "calls", "id": 42, "from_ns": 0, "to_ns": 1000, "most": 50})).await;
    let answer = loop {
        if let Heard::Message(Outgoing::Answer(answer)) = hear(&mut page).await {
            break answer;
        }
    };
    let calls = answer.calls.unwrap();
    assert_eq!((answer.id, calls.total, calls.duration_ns.0[0]), (42, 1, 150.0));
    // More than may wait: each gets an answer all the same.
    for id in 0..40 {
        say(&mut page, json!({"ask": "ping", "id": id})).await;
    }
    let mut answered = std::collections::BTreeSet::new();
    while answered.len() < 40 {
        if let Heard::Message(Outgoing::Answer(answer)) = hear(&mut page).await {
            answered.insert(answer.id);
        }
    }
}

#[tokio::test]
async fn what_makes_no_sense_closes_the_page_with_a_reason() {
    let server = start(|_| {}).await;
    let mut page = server.open().await.unwrap();
    page.send(tungstenite::Message::text("hello")).await.unwrap();
    loop {
        if let Heard::Closed(code) = hear(&mut page).await {
            assert_eq!(code, Some(1003));
            break;
        }
    }
}
