//! What clients may not do, how long they may take, and how many there may be.

use super::*;
use std::ops::Range;

#[tokio::test]
async fn what_is_against_the_protocol_ends_only_that_client() {
    let (mut running, _, _) = run_of((0..3).map(call).collect(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut good = connect(&running, "good").await;
    let hello =
        |protocol: u32, name: &str| json!({"do": "hello", "protocol": protocol, "name": name}).to_string();
    let cases = [
        vec!["{".to_owned()],
        vec![json!({"do": "pause"}).to_string()],
        vec![hello(2, "x")],
        vec![hello(1, "  ")],
        vec![hello(1, "x"), "[]".to_owned()],
        vec![hello(1, "x"), json!({"do": "no such thing"}).to_string()],
        vec![hello(1, "x"), json!({"do": "seek"}).to_string()],
        vec![hello(1, "x"), "[".repeat(100_000)],
        // The reason repeats it, and a close frame holds fewer bytes.
        vec![hello(1, "x"), json!({"do": "\u{1f980}".repeat(50)}).to_string()],
    ];
    for messages in cases {
        let mut socket = raw(&running).await;
        for message in &messages {
            socket.send(tungstenite::Message::text(message.as_str())).await.unwrap();
        }
        let code = loop {
            if let Err(code) = hear(&mut socket).await {
                break code;
            }
        };
        assert_eq!(code, Some(1002), "{messages:?}");
    }
    // Larger than anything that a program has to say.
    let mut socket = raw(&running).await;
    let _ = socket.send(tungstenite::Message::binary(vec![0; 2 << 20])).await;
    while hear(&mut socket).await.is_ok() {}
    subscribe(&mut good, Subscribe::new(Topic::Calls, 1)).await;
    assert_eq!(until_the_end(&mut good).await.0, [0, 1, 2]);
}

#[tokio::test]
async fn nobody_without_the_token_and_no_page_of_others_connects() {
    let (running, _, _) = run_of(Vec::new(), Vec::new()).await;
    let attempt = |headers: Vec<(&'static str, String)>| {
        let mut request = format!("ws://{}/programs", running.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        async { support::refused(tokio_tungstenite::connect_async(request).await.map(|(page, _)| page)) }
    };
    let bearer = || ("authorization", format!("Bearer {}", token().hex()));
    assert_eq!(attempt(Vec::new()).await, 403);
    assert_eq!(attempt(vec![("authorization", "Bearer 00".to_owned())]).await, 403);
    assert_eq!(attempt(vec![bearer(), ("origin", "http://evil.example".to_owned())]).await, 403);
    let wrong = Client::connect(&running.url.replace("token=", "token=f"), "x").await;
    assert!(wrong.unwrap_err().to_string().contains("403"));
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_dropped_and_delays_nobody() {
    const ROWS: u64 = 100_000;
    let stored = Stored { calls: Arc::new(Mutex::new((0..ROWS).map(call).collect())), ..Stored::default() };
    let library = Arc::new(Library::new(Box::new(stored)).with_functions(FUNCTIONS.into_iter()));
    let mut running = start_with(library, |options| options.program_patience = Duration::from_secs(5)).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut stuck = connect(&running, "stuck").await;
    // More than the system keeps for a connection.
    stuck
        .send(&Request::Subscribe(Subscribe { most: Some(65_536), ..Subscribe::new(Topic::Calls, 1) }))
        .await
        .unwrap();
    let mut good = connect(&running, "good").await;
    subscribe(&mut good, Subscribe::new(Topic::Calls, 1)).await;
    assert_eq!(until_the_end(&mut good).await.0.len() as u64, ROWS);
    tokio::spawn(async move { while let Ok(Some(_)) = good.next().await {} });
    let alone = async {
        while running.health().await["programs"] != 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, alone).await.expect("the stuck client was not dropped");
}

#[tokio::test]
async fn more_rows_of_one_moment_than_a_batch_holds_come_in_several() {
    let calls = |numbers: Range<u64>| {
        let call = |number: u64| Call {
            end_ns: 5_000,
            start_ns: 1,
            bytes: number / 2,
            function: 1,
            ..Call::default()
        };
        numbers.map(call).collect::<Vec<_>>()
    };
    // Each row is there twice.
    let (mut running, _, _) = run_of(calls(0..3_000), Vec::new()).await;
    running.publish(1, mpiscope_feed::JobState::Ended);
    let mut client = connect(&running, "moment").await;
    for direction in [Direction::Forward, Direction::Backward] {
        subscribe(&mut client, Subscribe { most: Some(7), direction, ..Subscribe::new(Topic::Calls, 1) })
            .await;
        let mut numbers = Vec::new();
        loop {
            match next_but_clock(&mut client).await {
                Reply::Batch(batch) => {
                    assert!(batch.rows() <= 7);
                    numbers.extend(batch.calls.unwrap().bytes.into_iter().map(|bytes| bytes as u64));
                }
                Reply::End(_) => break,
                other => panic!("{other:?}"),
            }
        }
        if direction == Direction::Backward {
            numbers.reverse();
        }
        assert_eq!(numbers, (0..3_000).map(|number| number / 2).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn who_answers_no_ping_is_dropped_in_seconds_and_who_is_idle_stays() {
    let stored = Stored::default();
    let library = Arc::new(Library::new(Box::new(stored)));
    let mut running = start_with(library, |options| options.program_patience = Duration::from_secs(5)).await;
    running.publish(4, mpiscope_feed::JobState::Running);
    // One that only reads, one that reads nothing, and one that says that it may be busy.
    let mut idle = connect(&running, "idle").await;
    let idle_for_ever = tokio::spawn(async move { while let Ok(Some(_)) = idle.next().await {} });
    let begun = std::time::Instant::now();
    let dead = connect(&running, "dead").await;
    let busy = Client::connect_patiently(&running.url, "busy", Some(60_000)).await.unwrap();
    let dropped = async {
        while running.health().await["programs"] != 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, dropped).await.expect("the dead client was not dropped");
    assert!(begun.elapsed() >= Duration::from_secs(3), "dropped while it had time to answer");
    assert!(!idle_for_ever.is_finished());
    drop((dead, busy));
}

#[tokio::test]
async fn a_client_has_few_barriers_at_a_time_and_none_keeps_it_connected() {
    let (running, _, _) = live_run().await;
    let mut client = connect(&running, "many").await;
    let _silent = connect(&running, "silent").await;
    for id in 0..6 {
        client.send(&Request::Barrier(Barrier { id, timeout_ms: 10_000 })).await.unwrap();
    }
    for id in [4, 5] {
        match next_but_clock(&mut client).await {
            Reply::Failed(failed) => assert_eq!(failed.id, Some(id)),
            other => panic!("{other:?}"),
        }
    }
    client.close().await.unwrap();
    let begun = std::time::Instant::now();
    while running.health().await["programs"] != 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(9), "its barriers kept it connected");
}

#[tokio::test]
async fn a_thousand_clients_at_once_all_get_everything() {
    const CLIENTS: usize = 1_000;
    // Both ends of each connection are in this process.
    let Ok(()) = enough_files(2 * CLIENTS as u64 + 200) else {
        eprintln!("left out: this process may not open as many files");
        return;
    };
    let (mut running, _, _) = run_of((0..500).map(call).collect(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let url = running.url.clone();
        clients.push(tokio::spawn(async move {
            let mut client = Client::connect(&url, &format!("client {number}")).await.unwrap();
            subscribe(&mut client, Subscribe { most: Some(100), ..Subscribe::new(Topic::Calls, 1) }).await;
            (until_the_end(&mut client).await.0.len(), client)
        }));
    }
    let mut connected = Vec::new();
    for client in clients {
        let (rows, client) = timeout(PATIENCE, client).await.unwrap().unwrap();
        assert_eq!(rows, 500);
        connected.push(client);
    }
    assert_eq!(running.health().await["programs"], CLIENTS);
}

/// Lets this process open this many files.
fn enough_files(files: u64) -> Result<(), ()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum }).map_err(|_| ())
}

#[tokio::test]
async fn the_end_comes_also_to_who_begins_behind_it() {
    let (mut running, _, _) = run_of((0..10).map(call).collect(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut client = connect(&running, "behind").await;
    for (direction, rows) in [(Direction::Forward, 0), (Direction::Backward, 10)] {
        let from = Begin::TimeNs(1e30);
        subscribe(&mut client, Subscribe { from, direction, ..Subscribe::new(Topic::Calls, 1) }).await;
        assert_eq!(until_the_end(&mut client).await.0.len(), rows);
    }
}
