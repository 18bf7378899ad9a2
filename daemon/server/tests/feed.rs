//! What open pages get, and what they cannot do to others.

use crate::support::{PATIENCE, next, refused, start};
use futures_util::SinkExt;
use mpiscope_feed::JobState;
use mpiscope_feed::message::Kind;
use std::time::Duration;
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
    // The stuck page is never given up: whoever waited for it would wait for longer than this test may take.
    let mut server = start(|_| ()).await;
    server.publish(RANKS, JobState::Running);
    let _stuck = server.open().await.unwrap();
    let mut page = server.open().await.unwrap();
    assert_eq!(next(&mut page).await.unwrap().number, 1);
    // Each delta is a megabyte, and together they are more than the system keeps for a connection.
    for number in 2..60 {
        server.publish(RANKS, JobState::Running);
        assert_eq!(next(&mut page).await.unwrap().number, number);
    }
}

#[tokio::test]
async fn a_page_that_reads_nothing_for_long_is_dropped() {
    const RANKS: u32 = 20_000;
    let mut server = start(|options| options.send_timeout = Duration::from_millis(200)).await;
    let _stuck = server.open().await.unwrap();
    let drop_it = async {
        while server.health().await["viewers"] != 0 {
            server.publish(RANKS, JobState::Running);
        }
    };
    tokio::time::timeout(PATIENCE, drop_it).await.expect("the stuck page was not dropped");
}

#[tokio::test]
async fn a_page_that_was_away_gets_a_fresh_snapshot() {
    const RANKS: u32 = 20_000;
    let mut server = start(|_| ()).await;
    server.publish(RANKS, JobState::Running);
    let mut page = server.open().await.unwrap();
    assert_eq!(next(&mut page).await.unwrap().kind, Kind::Snapshot);
    let mut last = 1;
    for _ in 0..80 {
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
    assert!(snapshots > 0, "80 megabytes of deltas are not kept for anybody");
}

#[tokio::test]
async fn a_large_message_from_a_page_closes_it() {
    let server = start(|_| ()).await;
    let mut page = server.open().await.unwrap();
    assert!(next(&mut page).await.is_some());
    page.send(Message::binary(vec![0; 100])).await.unwrap();
    page.send(Message::binary(vec![0; 5_000])).await.unwrap();
    assert!(next(&mut page).await.is_none());
    server.until_viewers(0).await;
}

#[tokio::test]
async fn a_page_that_gives_no_sign_of_life_is_dropped() {
    let server = start(|options| options.silence_timeout = Duration::from_millis(300)).await;
    let page = server.open().await.unwrap();
    // Nobody polls this page, so it answers no ping.
    server.until_viewers(0).await;
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
    let open_again = async {
        while server.open().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, open_again).await.expect("a place that became free was not given away");
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
