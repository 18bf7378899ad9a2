//! Links with rights: what their holders may do, who makes them, and what is left when they are revoked.

use crate::support::{Heard, PATIENCE, Page, Running, hear, next, perspective, refused, say, start, token};
use futures_util::{SinkExt, StreamExt};
use mpiscope_client::{
    AddPanel, Annotate, Barrier, Client, Reply, Request, Right, SetSeries, Subscribe, Tell, TellPanel, Topic,
};
use mpiscope_feed::exchange::{Mode, Outgoing};
use mpiscope_feed::{Access, JobState, NewLink};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

async fn access(page: &mut Page) -> Access {
    loop {
        match hear(page).await {
            Heard::Message(Outgoing::Access(access)) => return access,
            Heard::Message(_) => {}
            Heard::Closed(code) => panic!("the page was closed with {code:?}"),
        }
    }
}

/// Why a question has no answer.
async fn answer_error(page: &mut Page, id: u32) -> String {
    loop {
        match hear(page).await {
            Heard::Message(Outgoing::Answer(answer)) if answer.id == id => {
                return answer.error().unwrap_or_default().to_owned();
            }
            Heard::Message(_) => {}
            Heard::Closed(code) => panic!("the page was closed with {code:?}"),
        }
    }
}

/// Waits until the owner's page has this state.
async fn until(page: &mut Page, is_so: impl Fn(&Access) -> bool) -> Access {
    loop {
        let state = access(page).await;
        if is_so(&state) {
            return state;
        }
    }
}

/// A link that the owner's page asks for.
async fn issue(owner: &mut Page, label: &str, control: bool, annotate: bool) -> NewLink {
    say(owner, json!({"do": "issue", "label": label, "control": control, "annotate": annotate})).await;
    until(owner, |state| state.made.is_some()).await.made.unwrap()
}

fn cookie(server: &Running, link: &NewLink) -> String {
    format!("mpiscope_{}_{}={}", server.address.port(), link.number, link.token)
}

async fn open_link(server: &Running, link: &NewLink) -> Result<Page, tokio_tungstenite::tungstenite::Error> {
    let address = format!("ws://{}/link/{}/feed", server.address, link.number);
    let mut request = address.into_client_request().unwrap();
    request.headers_mut().insert("cookie", cookie(server, link).parse().unwrap());
    request.headers_mut().insert("origin", format!("http://{}", server.address).parse().unwrap());
    tokio_tungstenite::connect_async(request).await.map(|(page, _)| page)
}

async fn closed(page: &mut Page) -> Option<u16> {
    loop {
        if let Heard::Closed(code) = hear(page).await {
            return code;
        }
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("no answer")
}

#[tokio::test]
async fn a_reader_sees_the_run_and_moves_nothing_until_the_link_is_revoked() {
    let mut server = start(|options| options.host = "node17".to_owned()).await;
    server.publish(4, JobState::Running);
    let mut owner = server.open().await.unwrap();
    let state = access(&mut owner).await;
    assert!(state.is_owner && state.can_control && state.can_annotate && state.links.is_empty());
    assert_eq!((state.host.as_str(), state.port, state.links_max), ("node17", server.address.port(), 64));

    let link = issue(&mut owner, "Ana", false, false).await;
    let answer = server.get(&format!("/?token={}", link.token), "").await;
    assert_eq!(status(&answer), "303");
    assert!(answer.contains(&format!("location: /link/{}/\r\n", link.number)), "{answer}");
    assert!(
        answer.contains(&format!("; HttpOnly; SameSite=Lax; Path=/link/{}/\r\n", link.number)),
        "{answer}"
    );
    let of_link = format!("Cookie: {}\r\n", cookie(&server, &link));
    assert_eq!(status(&server.get(&format!("/link/{}/", link.number), &of_link).await), "200");
    // It takes nothing from the owner, who has another path, and gives nothing there.
    assert_eq!(status(&server.get("/", &of_link).await), "403");

    let mut reader = open_link(&server, &link).await.unwrap();
    let state = access(&mut reader).await;
    assert!(!state.is_owner && !state.can_control && !state.can_annotate && state.links.is_empty());
    assert!(next(&mut reader).await.is_some(), "the run is shown");
    let state = until(&mut owner, |state| state.links.iter().any(|link| link.connections == 1)).await;
    assert_eq!((state.links[0].label.as_str(), state.links[0].can_control), ("Ana", false));

    let commands = [
        json!({"do": "live"}),
        json!({"do": "pause"}),
        json!({"do": "play", "rate": 1.0}),
        json!({"do": "rate", "rate": 2.0}),
        json!({"do": "seek", "time_ns": 5.0}),
        json!({"do": "step", "by_ns": 5.0}),
        json!({"do": "select", "range_ns": [1.0, 2.0], "ranks": null, "hidden": []}),
        json!({"do": "record", "on": false}),
    ];
    for command in commands {
        say(&mut reader, command.clone()).await;
        let state = access(&mut reader).await;
        assert!(state.refused.contains("the right to control"), "{command}: {state:?}");
    }
    for command in
        [json!({"do": "issue", "label": "me", "control": true}), json!({"do": "revoke", "id": link.number})]
    {
        say(&mut reader, command.clone()).await;
        assert!(access(&mut reader).await.refused.contains("owner"), "{command}");
    }
    say(&mut reader, json!({"ask": "save_layout", "id": 7, "by": "user", "source": ""})).await;
    assert!(answer_error(&mut reader, 7).await.contains("only the owner"));
    assert_eq!(server.publisher.wanted(), None);
    // Letting go of the clock is its own affair.
    say(&mut reader, json!({"do": "follow", "follow": false})).await;
    while perspective(&mut owner).await.followers != 1 {}
    let mut fresh = server.open().await.unwrap();
    let clock = perspective(&mut fresh).await;
    assert_eq!((clock.mode, clock.selection.range_ns), (Mode::Live, None));

    say(&mut owner, json!({"do": "revoke", "id": link.number})).await;
    assert_eq!(closed(&mut reader).await, Some(1008));
    until(&mut owner, |state| state.links.is_empty()).await;
    assert_eq!(status(&server.get(&format!("/link/{}/", link.number), &of_link).await), "403");
    assert_eq!(status(&server.get(&format!("/?token={}", link.token), "").await), "403");
    assert_eq!(refused(open_link(&server, &link).await), 403);
    say(&mut owner, json!({"do": "revoke", "id": link.number})).await;
    assert!(until(&mut owner, |state| !state.refused.is_empty()).await.refused.contains("no link 1"));
}

#[tokio::test]
async fn a_page_that_speaks_while_its_link_is_revoked_hears_why() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut owner = server.open().await.unwrap();
    for _ in 0..20 {
        let link = issue(&mut owner, "Ana", false, false).await;
        let (mut speaks, mut hears) = open_link(&server, &link).await.unwrap().split();
        // What the server has not read when it closes makes the system throw away what it sent.
        let speaking = tokio::spawn(async move {
            let follow = rmp_serde::to_vec_named(&json!({"do": "follow", "follow": true})).unwrap();
            while speaks.send(Message::binary(follow.clone())).await.is_ok() {}
        });
        say(&mut owner, json!({"do": "revoke", "id": link.number})).await;
        let code = loop {
            match timeout(PATIENCE, hears.next()).await.unwrap() {
                Some(Ok(Message::Close(frame))) => break frame.map(|frame| u16::from(frame.code)),
                Some(Ok(_)) => {}
                other => panic!("the connection ended without a reason: {other:?}"),
            }
        };
        assert_eq!(code, Some(1008));
        drop(hears);
        speaking.await.unwrap();
    }
}

#[tokio::test]
async fn a_link_with_control_moves_the_clock_and_makes_no_links() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut owner = server.open().await.unwrap();
    let link = issue(&mut owner, "Ana", true, false).await;
    let mut other = open_link(&server, &link).await.unwrap();
    say(&mut other, json!({"do": "pause"})).await;
    while perspective(&mut owner).await.mode != Mode::Paused {}
    say(&mut other, json!({"do": "record", "on": false})).await;
    say(&mut other, json!({"do": "issue", "label": "me"})).await;
    assert!(until(&mut other, |state| !state.refused.is_empty()).await.refused.contains("owner"));
    assert_eq!(server.publisher.wanted(), Some(false));
}

#[tokio::test]
async fn a_program_does_what_its_token_allows() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut owner = server.open().await.unwrap();
    let requests = || {
        let select = mpiscope_client::Selection::default();
        let series =
            SetSeries { name: "a".into(), unit: String::new(), time_ns: vec![1.0], value: vec![1.0] };
        let note = Annotate {
            time_ns: 1.0,
            text: "a".into(),
            id: 0,
            until_ns: None,
            rank: None,
            colour: None,
            link: None,
        };
        [
            (Right::Control, Request::Live),
            (Right::Control, Request::Pause),
            (Right::Control, Request::Play { rate: 1.0 }),
            (Right::Control, Request::Rate { rate: 1.0 }),
            (Right::Control, Request::Seek { time_ns: 1.0 }),
            (Right::Control, Request::Step { by_ns: 1.0 }),
            (Right::Control, Request::StepTo { id: 1, direction: mpiscope_client::Direction::Forward }),
            (Right::Control, Request::Select(select)),
            (Right::Control, Request::Barrier(Barrier { id: 1, timeout_ms: 1 })),
            (Right::Annotate, Request::Annotate(note)),
            (Right::Annotate, Request::Remove { annotation: 1 }),
            (Right::Annotate, Request::Series(series)),
            (Right::Annotate, Request::Tell(Tell { to: None, data: Value::Null })),
            (Right::Annotate, Request::Panel(AddPanel { id: 1, title: "a".into(), html: String::new() })),
            (Right::Annotate, Request::TellPanel(TellPanel { id: 1, data: Value::Null })),
            (Right::Annotate, Request::ClosePanel { id: 1 }),
        ]
    };
    for (control, annotate) in [(false, false), (true, false), (false, true)] {
        let link = issue(&mut owner, "program", control, annotate).await;
        let address = server.url.replace(&token().hex(), &link.token);
        let mut client = timeout(PATIENCE, Client::connect(&address, "program")).await.unwrap().unwrap();
        let mut rights = vec![Right::Read];
        rights.extend(control.then_some(Right::Control));
        rights.extend(annotate.then_some(Right::Annotate));
        assert_eq!(client.welcome().rights, rights);
        for (needs, request) in requests().into_iter().filter(|(needs, _)| !rights.contains(needs)) {
            client.send(&request).await.unwrap();
            let failed = loop {
                match timeout(PATIENCE, client.next()).await.unwrap().unwrap().unwrap() {
                    Reply::Failed(failed) => break failed,
                    Reply::Clock(_) => {}
                    other => panic!("{request:?} was answered with {other:?}"),
                }
            };
            let word = if needs == Right::Control { "control" } else { "annotate" };
            assert_eq!(failed.text, format!("this token does not give the right to {word}"), "{request:?}");
        }
        client.send(&Request::Subscribe(Subscribe::new(Topic::Calls, 1))).await.unwrap();
        while !matches!(
            timeout(PATIENCE, client.next()).await.unwrap().unwrap().unwrap(),
            Reply::Subscribed(_)
        ) {}
        // Revoked, it is closed at once.
        say(&mut owner, json!({"do": "revoke", "id": link.number})).await;
        while let Ok(Some(_)) = timeout(PATIENCE, client.next()).await.unwrap() {}
    }
}

#[tokio::test]
async fn people_without_a_token_learn_what_to_do() {
    let server = start(|_| ()).await;
    for path in ["/", "/link/7/", "/?token=1234", "/none"] {
        let answer = server.get(path, "Accept: text/html,*/*\r\n").await;
        assert_eq!(status(&answer), "403", "{path}");
        assert!(answer.contains("content-type: text/html"), "{answer}");
        assert!(answer.contains("Copy link"), "{answer}");
        let port = server.address.port();
        assert!(answer.contains(&format!("ssh -N -L {port}:localhost:{port} HOST")), "{answer}");
        assert!(answer.contains(&format!("http://127.0.0.1:{port}/?token=")), "{answer}");
        assert!(
            answer.contains("default-src 'none'; style-src 'nonce-") && !answer.contains("script-src"),
            "{answer}"
        );
        assert!(!answer.contains(&token().hex()) && !answer.contains("unsafe"), "{answer}");
    }
    let plain = server.get("/", "Accept: */*\r\n").await;
    assert!(plain.contains("text/plain") && status(&plain) == "403");
}
