//! Whole views of programs: where they are served, what pages hear of them, and what they may not do.

use crate::support::{Heard, PATIENCE, Page, Running, hear, start};
use mpiscope_client::{AddPanel, Client, Reply, Request, TellPanel};
use mpiscope_feed::exchange::Outgoing;
use mpiscope_feed::{JobState, PanelMessage, PanelTab};
use serde_json::{Value, json};
use tokio::time::timeout;

async fn connect(server: &Running, name: &str) -> Client {
    timeout(PATIENCE, Client::connect(&server.url, name)).await.unwrap().unwrap()
}

async fn reply(client: &mut Client) -> Reply {
    loop {
        match timeout(PATIENCE, client.next()).await.unwrap().unwrap().unwrap() {
            Reply::Clock(_) => {}
            reply => return reply,
        }
    }
}

async fn add(client: &mut Client, id: u32, html: &str) -> u64 {
    let panel = AddPanel { id, title: "matrix".to_owned(), html: html.to_owned() };
    client.send(&Request::Panel(panel)).await.unwrap();
    match reply(client).await {
        Reply::Panel(added) if added.id == id => added.panel,
        other => panic!("{other:?}"),
    }
}

async fn tell(client: &mut Client, id: u32, data: Value) {
    client.send(&Request::TellPanel(TellPanel { id, data })).await.unwrap();
}

/// The next list of panels.
async fn tabs(page: &mut Page) -> Vec<PanelTab> {
    loop {
        match hear(page).await {
            Heard::Message(Outgoing::Panels(panels)) => return panels.panels,
            Heard::Message(_) => {}
            Heard::Closed(code) => panic!("the page was closed with {code:?}"),
        }
    }
}

async fn message(page: &mut Page) -> PanelMessage {
    loop {
        match hear(page).await {
            Heard::Message(Outgoing::PanelMessage(message)) => return message,
            Heard::Message(_) => {}
            Heard::Closed(code) => panic!("the page was closed with {code:?}"),
        }
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("no answer")
}

#[tokio::test]
async fn a_panel_is_a_tab_until_its_program_leaves() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut page = server.open().await.unwrap();
    assert!(tabs(&mut page).await.is_empty());
    let mut client = connect(&server, "own").await;
    let first = add(&mut client, 7, "<p>first</p>").await;
    let tab = |number| PanelTab { number, title: "matrix".to_owned(), author: "own".to_owned() };
    assert_eq!(tabs(&mut page).await, [tab(first)]);
    tell(&mut client, 7, json!({"a": [1, null]})).await;
    let first_message = message(&mut page).await;
    assert_eq!((first_message.panel, first_message.data.as_str()), (first, r#"{"a":[1,null]}"#));

    // Who opens the page later hears of the panel and of its newest message.
    tell(&mut client, 7, json!(2)).await;
    assert_eq!(message(&mut page).await.data, "2");
    let mut later = server.open().await.unwrap();
    assert_eq!(tabs(&mut later).await, [tab(first)]);
    assert_eq!(message(&mut later).await.data, "2");

    let second = add(&mut client, 7, "<p>second</p>").await;
    assert_eq!(tabs(&mut page).await, [tab(second)]);
    let cookie = format!("Cookie: {}\r\n", server.cookie());
    assert_eq!(status(&server.get(&format!("/panels/{first}"), &cookie).await), "404");
    assert!(server.get(&format!("/panels/{second}"), &cookie).await.ends_with("<p>second</p>"));
    drop(client);
    assert!(tabs(&mut page).await.is_empty());
    assert_eq!(status(&server.get(&format!("/panels/{second}"), &cookie).await), "404");
}

#[tokio::test]
async fn a_panel_is_served_for_a_frame_without_an_origin() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut client = connect(&server, "own").await;
    let number = add(&mut client, 1, "<script>parent.document</script>").await;
    let path = format!("/panels/{number}");
    assert_eq!(status(&server.get(&path, "").await), "403");
    let answer = server.get(&path, &format!("Cookie: {}\r\n", server.cookie())).await;
    assert_eq!(status(&answer), "200");
    let policies: Vec<&str> =
        answer.lines().filter_map(|line| line.strip_prefix("content-security-policy: ")).collect();
    assert_eq!(policies.len(), 1, "{answer}");
    for part in
        ["sandbox allow-scripts;", "default-src 'none';", "form-action 'none'", "frame-ancestors 'self'"]
    {
        assert!(policies[0].contains(part), "{part} is not in {}", policies[0]);
    }
    for part in
        ["allow-same-origin", "allow-top-navigation", "allow-popups", "connect-src", "'self';", "http:"]
    {
        assert!(!policies[0].contains(part), "{part} is in {}", policies[0]);
    }
    assert!(
        answer.contains("x-content-type-options: nosniff\r\n") && answer.contains("content-type: text/html")
    );
    // The page itself shows frames of its own server alone.
    let page = server.get("/", &format!("Cookie: {}\r\n", server.cookie())).await;
    assert!(page.contains("frame-src 'self';"), "{page}");
    for path in ["/panels/", "/panels/x", "/panels/-1", "/panels/99", "/panels/1/../2"] {
        let answer = server.get(path, &format!("Cookie: {}\r\n", server.cookie())).await;
        assert_eq!(status(&answer), "404", "{path}");
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_the_client_goes_on() {
    let mut server = start(|_| ()).await;
    server.publish(4, JobState::Running);
    let mut client = connect(&server, "own").await;
    let large = AddPanel { id: 1, title: "a".to_owned(), html: "x".repeat(201 << 10) };
    let requests = [
        (Request::Panel(large), "200 KiB"),
        (Request::Panel(AddPanel { id: 1, title: String::new(), html: String::new() }), "title"),
        (Request::TellPanel(TellPanel { id: 1, data: json!(1) }), "no panel 1"),
        (Request::TellPanel(TellPanel { id: 1, data: json!("x".repeat(65 << 10)) }), "64 KiB"),
        (Request::ClosePanel { id: 1 }, "no panel 1"),
    ];
    for (request, words) in requests {
        client.send(&request).await.unwrap();
        match reply(&mut client).await {
            Reply::Failed(failed) => {
                assert!(failed.text.contains(words) && failed.id == Some(1), "{failed:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    add(&mut client, 1, "<p>small</p>").await;
}
