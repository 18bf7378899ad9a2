//! What open pages get, and what they cannot do to others.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod support;

use futures_util::SinkExt;
use mpiscope_feed::JobState;
use mpiscope_feed::message::Kind;
use std::time::{Duration, Instant};
use support::{next, refused, start};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn a_page_gets_a_snapshot_and_then_each_delta() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut page = server.open().await.unwrap();
    let first = next(&mut page).await.unwrap();
    assert_eq!((first.kind, first.number), (Kind::Snapshot, 1));
    assert_eq!(first.ranks.unwrap().rank.0, [0, 1, 2, 3]);
    for number in 2..40 {
        assert_eq!(server.publish(4, JobState::Running), number);
        let delta = next(&mut page).await.unwrap();
        assert_eq!((delta.kind, delta.number), (Kind::Delta, number));
        assert!(delta.job.is_none(), "only what changed");
    }
}

#[tokio::test]
async fn a_page_that_reads_nothing_harms_nobody() {
    const RANKS: u32 = 20_000;
    let mut server = start(|options| options.send_timeout = Duration::from_millis(500)).await;
    server.publish(RANKS, JobState::Running);
    let stuck = server.open().await.unwrap();
    let mut page = server.open().await.unwrap();
    assert_eq!(next(&mut page).await.unwrap().number, 1);
    let mut slowest = Duration::ZERO;
    for number in 2..60 {
        let started = Instant::now();
        server.publish(RANKS, JobState::Running);
        slowest = slowest.max(started.elapsed());
        assert_eq!(next(&mut page).await.unwrap().number, number);
    }
    // A delta of 20,000 ranks is about a megabyte; writing it takes tens of milliseconds in a test build.
    assert!(slowest < Duration::from_millis(400), "the owner waited {slowest:?}");
    for _ in 0..50 {
        if server.health().await["viewers"] == 1 {
            drop(stuck);
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the stuck page was not dropped");
}

#[tokio::test]
async fn a_page_that_was_away_gets_a_fresh_snapshot() {
    const RANKS: u32 = 20_000;
    let mut server = start(|_| ()).await;
    server.publish(RANKS, JobState::Running);
    let mut page = server.open().await.unwrap();
    assert_eq!(next(&mut page).await.unwrap().kind, Kind::Snapshot);
    let mut last = 1;
    for _ in 0..200 {
        last = server.publish(RANKS, JobState::Running);
        tokio::task::yield_now().await;
    }
    let mut number = 1;
    let mut snapshots = 0;
    while number < last {
        let message = next(&mut page).await.unwrap();
        match message.kind {
            Kind::Snapshot => snapshots += 1,
            Kind::Delta => assert_eq!(message.number, number + 1),
        }
        number = message.number;
    }
    assert_eq!(number, last);
    assert!(snapshots > 0, "200 megabytes of deltas are not kept for anybody");
}

#[tokio::test]
async fn a_large_message_from_a_page_closes_it() {
    let server = start(|_| ()).await;
    let mut page = server.open().await.unwrap();
    assert!(next(&mut page).await.is_some());
    page.send(Message::binary(vec![0; 100])).await.unwrap();
    page.send(Message::binary(vec![0; 5_000])).await.unwrap();
    assert!(next(&mut page).await.is_none());
    for _ in 0..50 {
        if server.health().await["viewers"] == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the page still counts as open");
}

#[tokio::test]
async fn a_page_that_gives_no_sign_of_life_is_dropped() {
    let server = start(|options| options.silence_timeout = Duration::from_millis(300)).await;
    let page = server.open().await.unwrap();
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(server.health().await["viewers"], 0, "nobody polls this page, so it answers no ping");
    drop(page);
}

#[tokio::test]
async fn there_are_at_most_64_pages() {
    let server = start(|_| ()).await;
    let mut pages = Vec::new();
    for _ in 0..64 {
        pages.push(server.open().await.unwrap());
    }
    assert_eq!(refused(server.open().await), 503);
    assert_eq!(server.health().await["viewers"], 64);
    pages.pop();
    for _ in 0..50 {
        if server.open().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a place that became free was not given away");
}

#[tokio::test]
async fn the_end_shows_the_last_state_and_closes() {
    let mut server = start(|_| ()).await;
    server.publish(2, JobState::Running);
    let mut page = server.open().await.unwrap();
    assert_eq!(next(&mut page).await.unwrap().number, 1);
    server.publish(2, JobState::Ended);
    server.stop.send(()).unwrap();
    let last = next(&mut page).await.unwrap();
    assert_eq!(last.job.unwrap().state, JobState::Ended);
    assert!(next(&mut page).await.is_none());
    tokio::time::timeout(Duration::from_secs(3), server.serving).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(server.address).await.is_err());
}
