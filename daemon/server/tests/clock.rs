//! The shared clock and questions, over real sockets.

use crate::support;
use crate::support::{Heard, OneCall, hear, perspective, say, start, start_with};
use futures_util::SinkExt as _;
use mpiscope_feed::exchange::{Mode, Outgoing};
use mpiscope_feed::{JobState, Library, MessageSource, Messages};
use mpiscope_model::Message;
use serde_json::json;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};
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
    let id = answer.id;
    let calls = answer.calls().unwrap();
    assert_eq!((id, calls.total, calls.duration_ns.0[0]), (42, 1, 150.0));
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

/// Messages from the beginning on come to no end as long as somebody looks; from later on there are none.
#[derive(Debug)]
struct Endless;

/// Beyond it a test has failed already.
const LONGEST: Duration = Duration::from_secs(10);

impl MessageSource for Endless {
    fn visit(
        &self,
        range_ns: &Range<u64>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let begun = Instant::now();
        while range_ns.start == 0 && begun.elapsed() < LONGEST && visitor(&[]).is_continue() {}
        Ok(())
    }
}

#[tokio::test]
async fn a_newer_question_of_a_kind_takes_the_place_of_the_one_before() {
    let messages = Messages { source: Box::new(Endless), flow: |_| None };
    let mut server = start_with(Library::new(Box::new(OneCall)).with_messages(messages), |_| {}).await;
    server.publish(2, JobState::Running);
    let (mut page, mut other) = (server.open().await.unwrap(), server.open().await.unwrap());
    say(&mut page, json!({"ask": "dag", "id": 1, "from_ns": 0, "to_ns": 9})).await;
    say(&mut page, json!({"ask": "past", "id": 2, "from_ns": 0, "to_ns": 9})).await;
    // A question of another page is none of its business.
    say(&mut other, json!({"ask": "dag", "id": 3, "from_ns": 5, "to_ns": 9})).await;
    let answered = async |page: &mut support::Page| loop {
        if let Heard::Message(Outgoing::Answer(answer)) = hear(page).await {
            break (answer.id, answer.error().is_some(), answer.dag().is_some());
        }
    };
    say(&mut page, json!({"ask": "dag", "id": 4, "from_ns": 5, "to_ns": 9})).await;
    let mut first_two = [answered(&mut page).await, answered(&mut page).await];
    first_two.sort_unstable();
    assert_eq!(first_two, [(1, true, false), (4, false, true)]);
    say(&mut page, json!({"ask": "future", "id": 5, "from_ns": 5, "to_ns": 9})).await;
    let mut last_two = [answered(&mut page).await, answered(&mut page).await];
    last_two.sort_unstable();
    // That rank has no event to ask about.
    assert_eq!(last_two, [(2, true, false), (5, true, false)]);
    assert_eq!(answered(&mut other).await, (3, false, true));
}

#[tokio::test]
async fn so_it_is_with_messages_and_their_courses() {
    let messages = Messages { source: Box::new(Endless), flow: |_| None };
    let mut server = start_with(Library::new(Box::new(OneCall)).with_messages(messages), |_| {}).await;
    server.publish(2, JobState::Running);
    let mut page = server.open().await.unwrap();
    // Neither takes the place of the other.
    say(&mut page, json!({"ask": "messages", "id": 1, "from_ns": 0, "to_ns": 9})).await;
    say(&mut page, json!({"ask": "courses", "id": 2, "from_ns": 0, "to_ns": 9})).await;
    // An event is asked for while they go on.
    say(&mut page, json!({"ask": "event", "id": 3, "time_ns": 50})).await;
    say(&mut page, json!({"ask": "messages", "id": 4, "from_ns": 5, "to_ns": 9})).await;
    say(&mut page, json!({"ask": "courses", "id": 5, "from_ns": 5, "to_ns": 9})).await;
    let mut answered = Vec::new();
    while answered.len() < 5 {
        if let Heard::Message(Outgoing::Answer(answer)) = hear(&mut page).await {
            let (id, is_error) = (answer.id, answer.error().is_some());
            answered.push((id, is_error, answer.event().and_then(|event| event.at_ns)));
        }
    }
    answered.sort_unstable();
    let expected =
        [(1, true, None), (2, true, None), (3, false, Some(100)), (4, false, None), (5, false, None)];
    assert_eq!(answered, expected);
}
