//! From a request to a response: the gate first, then files, health or the feed.

use crate::access::{Grant, Tokens};
use crate::assets;
use crate::gate::{Claims, Gate, Refusal, split_path};
use crate::live::Source;
use crate::programs::{self, Program};
use crate::refusal;
use crate::viewer::{self, Patience};
use mpiscope_feed::exchange::LAYOUT_SOURCE_BYTES_MAX;
use mpiscope_feed::message::PROTOCOL;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use warp::Filter;
use warp::filters::path::FullPath;
use warp::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use warp::http::{Method, StatusCode};
use warp::reply::{Reply, Response};
use warp::ws::Ws;

/// What a page sends is small: questions, moves of the clock, and the text of a layout.
const INCOMING_BYTES_MAX: usize = LAYOUT_SOURCE_BYTES_MAX + (8 << 10);

/// What a program sends at once: points of a series at the most.
const PROGRAM_BYTES_MAX: usize = 1 << 20;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) gate: Gate,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) source: Source,
    pub(crate) viewers: Arc<Semaphore>,
    pub(crate) viewers_max: usize,
    pub(crate) programs: Arc<Semaphore>,
    pub(crate) programs_max: usize,
    /// Questions of all pages together that may read files at a time.
    pub(crate) readers: Arc<Semaphore>,
    pub(crate) patience: Patience,
    pub(crate) stop: watch::Receiver<bool>,
}

struct Request {
    method: Method,
    path: String,
    query: String,
    headers: HeaderMap,
    upgrade: Option<Ws>,
}

/// Every request goes through here; it is answered, never rejected.
pub(crate) fn filter(
    site: Arc<Site>,
) -> impl Filter<Extract = (Response,), Error = std::convert::Infallible> + Clone + Send + Sync + 'static {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    let upgrade = warp::ws().map(Some).or(warp::any().map(|| None)).unify();
    warp::method().and(warp::path::full()).and(query).and(warp::header::headers_cloned()).and(upgrade).map(
        move |method, path: FullPath, query, headers, upgrade| {
            let path = path.as_str().to_owned();
            site.answer(Request { method, path, query, headers, upgrade })
        },
    )
}

impl Site {
    fn answer(&self, request: Request) -> Response {
        let headers = request.headers.clone();
        let claims = claims(&headers);
        let is_person = headers.get(header::ACCEPT).is_some_and(accepts_html);
        let (mut response, host) = match self.gate.host(&claims) {
            Ok(host) => match self.route(request, &claims, host) {
                Ok(response) => (response, host),
                Err(Refusal::Secret) if is_person => (refusal::page(host), host),
                Err(refusal) => (refuse(refusal), host),
            },
            Err(refusal) => (refuse(refusal), ""),
        };
        protect(response.headers_mut(), host);
        response
    }

    fn route(&self, request: Request, claims: &Claims<'_>, host: &str) -> Result<Response, Refusal> {
        if request.path == "/" && request.query.split('&').any(|pair| pair.starts_with("token=")) {
            return self.gate.enter(&request.query, host).map(|(cookie, path)| enter(&cookie, &path));
        }
        let (link, path) = split_path(&request.path);
        let grant = self.gate.grant(claims, link)?;
        if request.method != Method::GET && request.method != Method::HEAD {
            return Ok(words(StatusCode::METHOD_NOT_ALLOWED, "mpiscope only answers GET here."));
        }
        match path {
            "/feed" => {
                self.gate.origin(claims)?;
                Ok(self.feed(request.upgrade, grant))
            }
            "/programs" => {
                self.gate.origin(claims)?;
                Ok(self.program(request.upgrade, grant))
            }
            "/health" => Ok(self.health()),
            path => Ok(match path.strip_prefix("/panels/") {
                Some(number) => self.source.panels.response(number),
                None => file(path),
            }),
        }
    }

    fn program(&self, upgrade: Option<Ws>, grant: Grant) -> Response {
        let Some(upgrade) = upgrade else { return websocket_only() };
        let Ok(permit) = Arc::clone(&self.programs).try_acquire_owned() else {
            let text = format!("{} programs are connected, which is the most; end one.", self.programs_max);
            return words(StatusCode::SERVICE_UNAVAILABLE, &text);
        };
        let program = Program {
            source: self.source.clone(),
            readers: Arc::clone(&self.readers),
            connected: Arc::new(self.tokens.connect(grant)),
        };
        let stop = self.stop.clone();
        upgrade
            .max_message_size(PROGRAM_BYTES_MAX)
            .max_frame_size(PROGRAM_BYTES_MAX)
            .on_upgrade(move |socket| async move {
                programs::run(socket, program, stop).await;
                drop(permit);
            })
            .into_response()
    }

    fn feed(&self, upgrade: Option<Ws>, grant: Grant) -> Response {
        let Some(upgrade) = upgrade else { return websocket_only() };
        let Ok(permit) = Arc::clone(&self.viewers).try_acquire_owned() else {
            let text = format!("{} pages are open already, which is the most; close one.", self.viewers_max);
            return words(StatusCode::SERVICE_UNAVAILABLE, &text);
        };
        let (source, stop, patience) = (self.source.clone(), self.stop.clone(), self.patience);
        let (readers, connected) = (Arc::clone(&self.readers), self.tokens.connect(grant));
        upgrade
            .max_message_size(INCOMING_BYTES_MAX)
            .max_frame_size(INCOMING_BYTES_MAX)
            .on_upgrade(move |socket| async move {
                viewer::run(socket, source, connected, readers, stop, patience).await;
                drop(permit);
            })
            .into_response()
    }

    fn health(&self) -> Response {
        let viewers = self.viewers_max - self.viewers.available_permits().min(self.viewers_max);
        warp::reply::json(&serde_json::json!({
            "status": "ok",
            "protocol": PROTOCOL,
            "number": self.source.number(),
            "viewers": viewers,
            "viewers_max": self.viewers_max,
            "programs": self.source.board.clients(),
        }))
        .into_response()
    }
}

fn websocket_only() -> Response {
    words(StatusCode::UPGRADE_REQUIRED, "This address speaks WebSocket only.")
}

/// Browsers say so when a person goes to an address; programs and the page itself do not.
fn accepts_html(value: &HeaderValue) -> bool {
    value.to_str().is_ok_and(|accepted| accepted.contains("text/html"))
}

fn claims(headers: &HeaderMap) -> Claims<'_> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    Claims {
        host: text(header::HOST),
        // An origin that is not even text is a foreign one.
        origin: headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("null")),
        cookie: text(header::COOKIE),
        authorization: text(header::AUTHORIZATION),
    }
}

fn file(path: &str) -> Response {
    match assets::find(path) {
        Some(asset) => {
            warp::reply::with_header(asset.bytes, header::CONTENT_TYPE, asset.media_type).into_response()
        }
        None => words(StatusCode::NOT_FOUND, "There is nothing here; the page is at /."),
    }
}

/// Trades the token in the address for a cookie: it must not stay in the address bar and the history.
fn enter(cookie: &str, path: &str) -> Response {
    let response = warp::reply::with_header(StatusCode::SEE_OTHER, header::LOCATION, path);
    warp::reply::with_header(response, header::SET_COOKIE, cookie).into_response()
}

fn refuse(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Host => words(
            StatusCode::MISDIRECTED_REQUEST,
            "mpiscope answers to localhost and to the address it listens on, not to this name.",
        ),
        Refusal::Origin => words(StatusCode::FORBIDDEN, "Only mpiscope's own page may open the feed."),
        Refusal::Secret => words(StatusCode::FORBIDDEN, refusal::SENTENCE),
    }
}

fn words(status: StatusCode, text: &str) -> Response {
    let body =
        warp::reply::with_header(format!("{text}\n"), header::CONTENT_TYPE, "text/plain; charset=utf-8");
    warp::reply::with_status(body, status).into_response()
}

/// What every response says: run nothing, load nothing and connect to nothing but this server; keep nothing.
fn protect(headers: &mut HeaderMap, host: &str) {
    // `'self'` covers the WebSocket in current browsers; older ones want it named, and cannot read IPv6 literals.
    let socket = if host.is_empty() || host.contains('[') { String::new() } else { format!(" ws://{host}") };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'{socket}; img-src 'self' data: blob:; \
         worker-src 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
    );
    // Some pages have a stricter one.
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let name = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(name, HeaderValue::from_static("same-origin"));
}
