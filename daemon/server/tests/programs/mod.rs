//! What external programs get, what they may do, and what they cannot do to others.

mod limits;
#[path = "../../src/programs/stored.rs"]
mod stored;
use crate::support;

use crate::support::{Heard, PATIENCE, Running, hear as hear_page, start_with, token};
use futures_util::{SinkExt, StreamExt};
use mpiscope_client::{
    Annotate, Barrier, Begin, Client, Direction, Pace, Reply, Request, SetSeries, Subscribe, Tell, Topic,
};
use mpiscope_feed::exchange::Outgoing;
use mpiscope_feed::{FunctionName, Library, Messages};
use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_server::{AnswerStore, Answers};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stored::{Stored, add};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

const FUNCTIONS: [FunctionName; 2] = [
    FunctionName { id: 1, name: "MPI_Send", family: "send" },
    FunctionName { id: 2, name: "MPI_Barrier", family: "barrier" },
];

/// A run of these calls and messages; the first update of a [`Running`] makes 0.1 s of it known.
async fn run_of(calls: Vec<Call>, messages: Vec<Message>) -> (Running, Stored, Arc<Library>) {
    let stored = Stored { calls: Arc::new(Mutex::new(calls)), messages: Arc::new(Mutex::new(messages)) };
    let library = Library::new(Box::new(stored.clone()))
        .with_messages(Messages { source: Box::new(stored.clone()), flow: |_| None })
        .with_functions(FUNCTIONS.into_iter());
    let library = Arc::new(library);
    let running = start_with(Arc::clone(&library), |_| ()).await;
    (running, stored, library)
}

/// A run that goes on; nothing but 0.1 s of it is known yet.
async fn live_run() -> (Running, Stored, Arc<Library>) {
    let (mut running, stored, library) = run_of(Vec::new(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Running);
    (running, stored, library)
}

async fn connect(running: &Running, name: &str) -> Client {
    timeout(PATIENCE, Client::connect(&running.url, name)).await.unwrap().unwrap()
}

async fn next(client: &mut Client) -> Reply {
    timeout(PATIENCE, client.next()).await.unwrap().unwrap().expect("the server ended the connection")
}

/// The next reply that is not about the clock.
async fn next_but_clock(client: &mut Client) -> Reply {
    loop {
        match next(client).await {
            Reply::Clock(_) => {}
            reply => return reply,
        }
    }
}

async fn subscribe(client: &mut Client, asked: Subscribe) {
    let id = asked.id;
    client.send(&Request::Subscribe(asked)).await.unwrap();
    match next_but_clock(client).await {
        Reply::Subscribed(subscribed) => assert_eq!(subscribed.id, id),
        other => panic!("{other:?}"),
    }
}

fn call(number: u64) -> Call {
    Call {
        rank: Rank((number % 4) as u32),
        function: 1 + (number % 2) as u16,
        start_ns: number * 1_000,
        end_ns: number * 1_000 + 700,
        bytes: number,
        ..Call::default()
    }
}

fn message(number: u64) -> Message {
    Message {
        src: Rank((number % 4) as u32),
        dst: Rank(((number + 1) % 4) as u32),
        tag: -7,
        comm: Comm::WORLD,
        bytes: number,
        send_ns: number * 1_000,
        recv_ns: number * 1_000 + 500,
        t_msg_ns: 500,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: false,
        exact: true,
    }
}

/// The `bytes` of all rows until a subscription ends: the tests give each row another number.
async fn until_the_end(client: &mut Client) -> (Vec<u64>, u32) {
    let (mut numbers, mut late) = (Vec::new(), 0);
    loop {
        match next_but_clock(client).await {
            Reply::Batch(batch) => {
                late += batch.late;
                assert_eq!(batch.missed, 0);
                let bytes = batch.calls.map(|calls| calls.bytes);
                let bytes = bytes.or(batch.messages.map(|messages| messages.bytes)).unwrap();
                numbers.extend(bytes.into_iter().map(|bytes| bytes as u64));
            }
            Reply::End(_) => return (numbers, late),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn all_rows_come_once_in_order_forward_and_backward() {
    const ROWS: u64 = 20_000;
    let (mut running, _, _) = run_of((0..ROWS).map(call).collect(), (0..ROWS).map(message).collect()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut client = connect(&running, "matrix").await;
    assert_eq!((client.welcome().ranks, client.welcome().is_live), (4, false));
    assert_eq!(client.function_name(2), Some("MPI_Barrier"));
    for what in [Topic::Calls, Topic::Messages] {
        subscribe(&mut client, Subscribe::new(what, 1)).await;
        let (numbers, _) = until_the_end(&mut client).await;
        assert_eq!(numbers, (0..ROWS).collect::<Vec<_>>());
        subscribe(&mut client, Subscribe { direction: Direction::Backward, ..Subscribe::new(what, 1) }).await;
        let (numbers, _) = until_the_end(&mut client).await;
        assert_eq!(numbers, (0..ROWS).rev().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_subscription_has_what_it_asks_for_and_nothing_else() {
    let (mut running, _, _) = run_of((0..100).map(call).collect(), (0..100).map(message).collect()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut client = connect(&running, "filters").await;
    let all = Subscribe::new(Topic::Calls, 1);
    let cases = [
        (Subscribe { functions: vec!["MPI_Send".into()], ..all.clone() }, 50),
        (Subscribe { families: vec!["barrier".into()], ..all.clone() }, 50),
        (Subscribe { ranks: vec![(1, 1), (3, 9)], ..all.clone() }, 50),
        (Subscribe { at_least_ns: 701.0, ..all.clone() }, 0),
        (Subscribe { from: Begin::TimeNs(50_000.0), ..all.clone() }, 50),
        (Subscribe { ranks: vec![(0, 0)], ..Subscribe::new(Topic::Messages, 1) }, 50),
        (Subscribe { communicators: vec![0.into()], ..Subscribe::new(Topic::Messages, 1) }, 100),
    ];
    for (asked, rows) in cases {
        subscribe(&mut client, asked.clone()).await;
        assert_eq!(until_the_end(&mut client).await.0.len(), rows, "{asked:?}");
    }
    let wrong = [
        (
            Subscribe { functions: vec!["MPI_Sned".into()], ..all.clone() },
            "there is no function \"MPI_Sned\"; did you mean MPI_Send?",
        ),
        (Subscribe { families: vec!["sends".into()], ..all.clone() }, "there are barrier, send"),
        (Subscribe { ranks: vec![(3, 1)], ..all.clone() }, "the first is greater"),
        (Subscribe { region: Some(5), ..all.clone() }, "there is no region 5; none is known"),
        (
            Subscribe { functions: vec!["MPI_Send".into()], ..Subscribe::new(Topic::Messages, 1) },
            "select calls",
        ),
        (Subscribe { from: Begin::TimeNs(-1.0), ..all }, "no time of the run"),
    ];
    for (asked, reason) in wrong {
        client.send(&Request::Subscribe(asked)).await.unwrap();
        match next_but_clock(&mut client).await {
            Reply::Failed(failed) => assert!(failed.text.contains(reason), "{}", failed.text),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn rows_of_a_live_run_come_once_also_those_that_are_late() {
    let (mut running, stored, library) = live_run().await;
    let mut client = connect(&running, "live").await;
    subscribe(&mut client, Subscribe::new(Topic::Messages, 1)).await;
    let add = |numbers: Vec<u64>| {
        let rows: Vec<Message> = numbers.into_iter().map(message).collect();
        add(&library, &stored, &[], &rows);
    };
    // After the first update 0.1 s are known. Each makes 0.1 s more known, which is 100,000 numbers; every seventh is known one update late.
    let mut expected = 0;
    for step in 1..6_u64 {
        let (from, to) = (step * 100_000, (step + 1) * 100_000);
        add((from..to).step_by(100).filter(|number| number % 700 != 0).collect());
        library.complete_until((step + 1) * 100_000_000);
        running.publish(4, mpiscope_feed::JobState::Running);
        add((from..to).step_by(100).filter(|number| number % 700 == 0).collect());
        expected += 1_000;
    }
    running.publish(4, mpiscope_feed::JobState::Ended);
    let (mut numbers, _) = until_the_end(&mut client).await;
    numbers.sort_unstable();
    assert_eq!(numbers.len(), expected);
    assert!(numbers.iter().zip((100_000..600_000).step_by(100)).all(|(number, of)| *number == of));
}

#[tokio::test]
async fn a_subscription_in_step_follows_the_clock_both_ways() {
    let (mut running, _, _) = run_of((0..100).map(call).collect(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let (mut one, mut other) = (connect(&running, "one").await, connect(&running, "other").await);
    one.send(&Request::Seek { time_ns: 0.0 }).await.unwrap();
    while !matches!(next(&mut other).await, Reply::Clock(clock) if clock.time_ns == 0.0) {}
    subscribe(&mut other, Subscribe { pace: Pace::Clock, ..Subscribe::new(Topic::Calls, 9) }).await;
    let mut numbers = Vec::new();
    // Ten calls forward, five back, then elsewhere without what lies between.
    let moves = [(10_000.0, 10), (-5_000.0, 5)];
    for (by_ns, rows) in moves {
        one.send(&Request::Step { by_ns }).await.unwrap();
        let mut came = 0;
        while came < rows {
            if let Reply::Batch(batch) = next_but_clock(&mut other).await {
                came += batch.rows();
                numbers.extend(batch.calls.unwrap().bytes.into_iter().map(|bytes| bytes as u64));
            }
        }
        assert_eq!(came, rows);
    }
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5]);
    // Where no call ended, a batch without rows says that it has all.
    for (by_ns, to_ns) in [(100.0, 5_101.0), (-100.0, 5_001.0)] {
        one.send(&Request::Step { by_ns }).await.unwrap();
        match next_but_clock(&mut other).await {
            Reply::Batch(batch) => {
                assert_eq!((batch.rows(), batch.from_ns, batch.to_ns), (0, to_ns - by_ns, to_ns));
                assert!(batch.calls.is_some());
            }
            other => panic!("{other:?}"),
        }
    }
    one.send(&Request::Seek { time_ns: 80_000.0 }).await.unwrap();
    match next_but_clock(&mut other).await {
        Reply::Jump(jump) => assert_eq!((jump.id, jump.from_ns, jump.to_ns), (9, 5_001.0, 80_001.0)),
        other => panic!("{other:?}"),
    }
    // To the next call of another program's subscription.
    subscribe(
        &mut one,
        Subscribe { functions: vec!["MPI_Barrier".into()], ..Subscribe::new(Topic::Calls, 2) },
    )
    .await;
    one.send(&Request::StepTo { id: 2, direction: Direction::Forward }).await.unwrap();
    match next_but_clock(&mut other).await {
        Reply::Batch(batch) => assert_eq!(batch.calls.unwrap().bytes, [80.0, 81.0]),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_new_comes_and_the_rest_is_counted() {
    let (mut running, stored, library) = live_run().await;
    let mut client = connect(&running, "newest").await;
    let asked = Subscribe { pace: Pace::Newest, most: Some(10), ..Subscribe::new(Topic::Calls, 1) };
    subscribe(&mut client, asked).await;
    let rows: Vec<Call> = (110_000..110_100).map(call).collect();
    add(&library, &stored, &rows, &[]);
    running.publish(4, mpiscope_feed::JobState::Running);
    match next_but_clock(&mut client).await {
        Reply::Batch(batch) => {
            assert_eq!((batch.rows(), batch.missed), (10, 90));
            assert_eq!(batch.calls.unwrap().bytes, (110_090..110_100).map(f64::from).collect::<Vec<_>>());
        }
        other => panic!("{other:?}"),
    }
}

/// What is kept of a run's answers.
#[derive(Debug, Default)]
struct AnswersInMemory(Mutex<Answers>);

impl AnswerStore for AnswersInMemory {
    fn load(&self) -> Answers {
        self.0.lock().unwrap().clone()
    }

    fn save(&self, answers: &Answers) -> Result<(), String> {
        *self.0.lock().unwrap() = answers.clone();
        Ok(())
    }
}

#[tokio::test]
async fn answers_reach_others_are_kept_and_are_there_again() {
    let kept = Arc::new(AnswersInMemory::default());
    let start = |kept: &Arc<AnswersInMemory>| {
        let answers: Arc<dyn AnswerStore> = Arc::<AnswersInMemory>::clone(kept);
        start_with(Arc::new(Library::new(Box::new(Stored::default()))), |options| {
            options.answers = Some(answers);
        })
    };
    let note = |text: &str| {
        let (time_ns, until_ns, rank, text) = (5.0, Some(9.0), Some(3), text.to_owned());
        Annotate { id: 4, time_ns, until_ns, rank, text, colour: Some("#ff8800".into()), link: None }
    };
    let mut running = start(&kept).await;
    running.publish(4, mpiscope_feed::JobState::Running);
    let (mut one, mut other) = (connect(&running, "one").await, connect(&running, "other").await);
    one.send(&Request::Annotate(note("look"))).await.unwrap();
    let number = match next_but_clock(&mut one).await {
        Reply::Annotation(annotation) => {
            assert_eq!((annotation.id, annotation.author.as_str()), (4, "one"));
            annotation.annotation
        }
        reply => panic!("{reply:?}"),
    };
    assert!(
        matches!(next_but_clock(&mut other).await, Reply::Annotation(annotation) if annotation.text == "look")
    );
    let (name, unit) = ("load".to_owned(), "%".to_owned());
    let series = SetSeries { name, unit, time_ns: vec![1.0, 2.0], value: vec![0.5, 0.25] };
    one.send(&Request::Series(series)).await.unwrap();
    assert!(matches!(next_but_clock(&mut other).await, Reply::Series(series) if series.value == [0.5, 0.25]));
    one.send(&Request::Tell(Tell { to: None, data: json!({"frame": 7}) })).await.unwrap();
    assert!(
        matches!(next_but_clock(&mut other).await, Reply::ClientMessage(message) if message.data["frame"] == 7)
    );
    // Pages get it too, those that are open and those that come later.
    let mut page = running.open().await.unwrap();
    let shown = loop {
        if let Heard::Message(Outgoing::Annotations(shown)) = hear_page(&mut page).await {
            break shown;
        }
    };
    assert_eq!((shown.annotations[0].text.as_str(), shown.series[0].points), ("look", 2));
    // Nobody removes what another wrote, and nothing that makes no sense is kept.
    let wrong = [
        Request::Remove { annotation: number },
        Request::Annotate(note("")),
        Request::Annotate(Annotate { link: Some("javascript:alert(1)".into()), ..note("x") }),
        Request::Annotate(Annotate { colour: Some("red".into()), ..note("x") }),
        Request::Annotate(Annotate { until_ns: Some(1.0), ..note("x") }),
    ];
    for request in wrong {
        other.send(&request).await.unwrap();
        assert!(matches!(next_but_clock(&mut other).await, Reply::Failed(_)), "{request:?}");
    }
    running.stop.send(()).unwrap();
    running.serving.await.unwrap();
    assert_eq!(kept.0.lock().unwrap().annotations.len(), 1);
    let mut running = start(&kept).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut again = connect(&running, "one").await;
    assert!(
        matches!(next_but_clock(&mut again).await, Reply::Annotation(annotation) if annotation.text == "look")
    );
    assert!(
        matches!(next_but_clock(&mut again).await, Reply::Series(series) if series.time_ns == [1.0, 2.0])
    );
    again.send(&Request::Remove { annotation: number }).await.unwrap();
    again.send(&Request::Annotate(note("new"))).await.unwrap();
    match next_but_clock(&mut again).await {
        Reply::Annotation(annotation) => assert_eq!(annotation.annotation, number + 1),
        reply => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn a_barrier_waits_for_those_that_draw_and_no_longer_than_asked() {
    let (running, _, _) = live_run().await;
    let (mut one, mut other) = (connect(&running, "one").await, connect(&running, "other").await);
    let silent = connect(&running, "silent").await;
    one.send(&Request::Barrier(Barrier { id: 1, timeout_ms: 50 })).await.unwrap();
    match next_but_clock(&mut other).await {
        Reply::Barrier(barrier) => {
            assert_eq!(barrier.author, "one");
            other.send(&Request::Drawn { barrier: barrier.barrier }).await.unwrap();
        }
        reply => panic!("{reply:?}"),
    }
    match next_but_clock(&mut one).await {
        Reply::Passed(passed) => assert!(passed.missing.contains(&silent.welcome().client), "{passed:?}"),
        reply => panic!("{reply:?}"),
    }
    // Whoever leaves is not waited for.
    one.send(&Request::Barrier(Barrier { id: 2, timeout_ms: 10_000 })).await.unwrap();
    match next_but_clock(&mut other).await {
        Reply::Barrier(barrier) => other.send(&Request::Drawn { barrier: barrier.barrier }).await.unwrap(),
        reply => panic!("{reply:?}"),
    }
    silent.close().await.unwrap();
    match next_but_clock(&mut one).await {
        Reply::Passed(passed) => assert_eq!((passed.id, passed.missing), (2, Vec::new())),
        reply => panic!("{reply:?}"),
    }
}

type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

async fn raw(running: &Running) -> Socket {
    let mut request = format!("ws://{}/programs", running.address).into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", token().hex()).parse().unwrap());
    tokio_tungstenite::connect_async(request).await.unwrap().0
}

/// The next message as JSON; the close code once the server closed.
async fn hear(socket: &mut Socket) -> Result<Value, Option<u16>> {
    loop {
        match timeout(PATIENCE, socket.next()).await.unwrap() {
            Some(Ok(tungstenite::Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(tungstenite::Message::Close(frame))) => return Err(frame.map(|frame| frame.code.into())),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(None),
        }
    }
}

#[tokio::test]
async fn json_is_as_good_as_messagepack() {
    let (mut running, _, _) = run_of((0..3).map(call).collect(), Vec::new()).await;
    running.publish(4, mpiscope_feed::JobState::Ended);
    let mut socket = raw(&running).await;
    let hello = json!({"do": "hello", "protocol": 1, "name": "by hand", "of_the_future": true});
    socket.send(tungstenite::Message::text(hello.to_string())).await.unwrap();
    let welcome = hear(&mut socket).await.unwrap();
    assert_eq!(
        (&welcome["kind"], &welcome["is_live"], &welcome["run_ns"]),
        (&json!("welcome"), &json!(false), &json!(1e8))
    );
    let asked = json!({"do": "subscribe", "id": 3, "what": "calls"});
    socket.send(tungstenite::Message::text(asked.to_string())).await.unwrap();
    let batch = loop {
        let heard = hear(&mut socket).await.unwrap();
        if heard["kind"] == "batch" {
            break heard;
        }
    };
    assert_eq!(batch["calls"]["rank"], json!([0, 1, 2]));
    assert_eq!(batch["calls"]["end_ns"], json!([700.0, 1_700.0, 2_700.0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever the times, the batches and the direction: every call once, in order.
    #[test]
    fn every_call_comes_once_whatever_the_times(
        mut times in prop::collection::vec(prop_oneof![0..40_u64, 0..3_000_000_u64, 0..90_000_000_u64], 0..300),
        most in 1..20_u32,
        is_backward in any::<bool>(),
    ) {
        times.sort_unstable();
        let calls: Vec<Call> = (0..).zip(&times).map(|(number, &end_ns)| {
            Call { end_ns, start_ns: end_ns.saturating_sub(10), bytes: number, function: 1, ..Call::default() }
        }).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let numbers = runtime.block_on(async {
            let (mut running, _, _) = run_of(calls, Vec::new()).await;
            running.publish(1, mpiscope_feed::JobState::Ended);
            let mut client = connect(&running, "any").await;
            let direction = if is_backward { Direction::Backward } else { Direction::Forward };
            subscribe(&mut client, Subscribe { most: Some(most), direction, ..Subscribe::new(Topic::Calls, 1) }).await;
            until_the_end(&mut client).await.0
        });
        let ends: Vec<u64> = numbers.iter().map(|&number| times[number as usize]).collect();
        let mut expected = times.clone();
        if is_backward {
            expected.reverse();
        }
        prop_assert_eq!(ends, expected);
        let mut each = numbers;
        each.sort_unstable();
        prop_assert_eq!(each, (0..times.len() as u64).collect::<Vec<_>>());
    }
}
