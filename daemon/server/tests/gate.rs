//! Who comes in and who does not, over real sockets.

use crate::support::{refused, start, token};
use tokio::net::TcpStream;

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("no answer")
}

#[tokio::test]
async fn without_the_token_nothing_is_served() {
    let server = start(|_| ()).await;
    for path in ["/", "/index.html", "/assets/", "/health", "/feed", "/none", "/?token=", "/?token=1234"] {
        let answer = server.get(path, "").await;
        assert_eq!(status(&answer), "403", "{path}");
        assert!(!answer.contains(&token().hex()));
    }
    let wrong = format!("Cookie: mpiscope_{}={}\r\n", server.address.port(), "0".repeat(32));
    assert_eq!(status(&server.get("/", &wrong).await), "403");
    let other_port = format!("Cookie: mpiscope_1={}\r\n", token().hex());
    assert_eq!(status(&server.get("/", &other_port).await), "403");
}

#[tokio::test]
async fn the_address_with_the_token_sets_a_cookie_that_opens_the_page() {
    let server = start(|_| ()).await;
    let path = server.url.strip_prefix(&format!("http://{}", server.address)).unwrap().to_owned();
    let answer = server.get(&path, "").await;
    assert_eq!(status(&answer), "303");
    assert!(answer.contains("location: /\r\n"));
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let get = async |path: &str| server.get(path, &format!("Cookie: a=b; {pair}\r\n")).await;
    let page = get("/").await;
    assert_eq!(status(&page), "200");
    // Everything that the page names is there, with its type. A build without the page has one line of text.
    let named =
        page.split(['"', '\'']).filter(|word| word.starts_with("/assets/") || word.starts_with("./assets/"));
    for path in named.map(|word| word.trim_start_matches('.')) {
        let answer = get(path).await;
        assert_eq!(status(&answer), "200", "{path}");
        let media_type = if path.ends_with(".css") { "text/css" } else { "text/javascript" };
        assert!(answer.contains(&format!("content-type: {media_type}")), "{path}");
    }
    let bearer = format!("Authorization: Bearer {}\r\n", token().hex());
    assert_eq!(status(&server.get("/health", &bearer).await), "200");
    assert_eq!(status(&server.get("/none", &bearer).await), "404");
    assert_eq!(status(&server.get("/feed", &bearer).await), "426");
}

#[tokio::test]
async fn every_answer_is_locked_down() {
    let server = start(|_| ()).await;
    for headers in [String::new(), format!("Cookie: {}\r\n", server.cookie())] {
        let answer = server.get("/", &headers).await;
        assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self';"));
        assert!(answer.contains(&format!("connect-src 'self' ws://{};", server.address)));
        assert!(answer.contains("x-content-type-options: nosniff\r\n"));
        assert!(answer.contains("referrer-policy: no-referrer\r\n"));
        assert!(answer.contains("cache-control: no-store\r\n"));
        assert!(answer.contains("cross-origin-resource-policy: same-origin\r\n"));
    }
}

#[tokio::test]
async fn another_name_is_not_ours() {
    let server = start(|options| options.host_names.push("node17".to_owned())).await;
    let port = server.address.port();
    let bearer = format!("Authorization: Bearer {}", token().hex());
    for (host, expected) in [
        (format!("evil.example:{port}"), "421"),
        ("10.0.0.1".to_owned(), "421"),
        (format!("localhost:{port}"), "200"),
        ("localhost:9".to_owned(), "200"),
        ("[::1]:9".to_owned(), "200"),
        ("node17:80".to_owned(), "200"),
    ] {
        let request =
            format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n\r\n");
        assert_eq!(status(&server.raw(&request).await), expected, "{host}");
    }
    let request = format!("GET /health HTTP/1.1\r\nConnection: close\r\n{bearer}\r\n\r\n");
    assert_eq!(status(&server.raw(&request).await), "421", "no Host");
}

#[tokio::test]
async fn the_feed_is_for_the_page_only() {
    let server = start(|_| ()).await;
    let cookie = server.cookie();
    assert_eq!(refused(server.open_from(Some("http://evil.example"), &cookie).await), 403);
    assert_eq!(refused(server.open_from(Some("null"), &cookie).await), 403);
    assert_eq!(refused(server.open_from(None, "mpiscope_1=00").await), 403);
    assert!(server.open().await.is_ok());
    assert!(server.open_from(None, &cookie).await.is_ok(), "programs send no Origin");
}

#[tokio::test]
async fn large_or_foreign_requests_are_refused() {
    let server = start(|_| ()).await;
    let large = format!("X-Large: {}\r\n", "x".repeat(40_000));
    assert_eq!(status(&server.get("/", &large).await), "431");
    let post = format!(
        "POST / HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        server.address,
        server.cookie()
    );
    assert_eq!(status(&server.raw(&post).await), "405");
    assert_eq!(status(&server.raw("no request\r\n\r\n").await), "400");
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    let server = start(|options| options.requests_max = 128).await;
    // Far more than the server takes, and none says anything.
    let mut idle = Vec::new();
    for _ in 0..600 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    assert_eq!(server.health().await["status"], "ok");
    let page = server.open().await.unwrap();
    // Nor do those that come later take the place of a page.
    for _ in 0..600 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    server.until_viewers(1).await;
    drop(page);
}
