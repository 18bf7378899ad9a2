//! The listening socket: a bounded number of connections, and none may dawdle.

use crate::access::Tokens;
use crate::connections::{Connections, Place};
use crate::gate::Gate;
use crate::live::{Source, stopped};
use crate::programs::{AnswerStore, Keeper};
use crate::routes::{self, Site};
use crate::token::Token;
use crate::viewer::Patience;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use warp::Filter;
use warp::http::StatusCode;
use warp::hyper::server::conn::http1;
use warp::hyper::service::{Service as _, service_fn};
use warp::reply::Response;

/// Connections that are not, or not yet, a feed: as many as may wait to be accepted. Of many programs that
/// connect at once none has to give way to another. A quarter of the files that this process may open is the bound, too: without
/// one, anyone on this machine could take all of them from the recording.
const REQUESTS_MAX: u64 = 1_024;
const REQUESTS_MIN: u64 = 64;
/// The request line and all headers.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// To send them, and between two requests on one connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Questions of all pages together that may read files at a time: the job needs the processors more.
const READERS_MAX: usize = 2;
/// How often the shared clock is looked after.
const CLOCK_EVERY: Duration = Duration::from_millis(30);
/// To accept again where that failed.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
/// For all connections together to take the last state.
const FAREWELL: Duration = Duration::from_secs(2);

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address or port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// What opens the page.
    pub token: Token,
    /// The name of this host, for people who come from another one.
    pub host: String,
    /// Host names, beside localhost and addresses, by which the page may be asked for.
    pub host_names: Vec<String>,
    /// Connections at a time that are not, or not yet, of a page or program.
    pub requests_max: u32,
    /// Pages open at a time.
    pub viewers_max: usize,
    /// Programs connected at a time.
    pub programs_max: usize,
    /// How long a program may give no sign of life, unless it asks for more.
    pub program_patience: Duration,
    /// Where what programs say about the run is kept; nowhere where there is none.
    pub answers: Option<Arc<dyn AnswerStore>>,
    /// How long a page may take for one message before it is dropped.
    pub send_timeout: Duration,
    /// How long a page may give no sign of life.
    pub silence_timeout: Duration,
}

impl Options {
    /// The usual ones.
    #[must_use]
    pub fn new(token: Token) -> Self {
        Options {
            token,
            host: String::new(),
            host_names: Vec::new(),
            requests_max: requests_max(getrlimit(Resource::Nofile).current),
            viewers_max: 64,
            programs_max: 1_024,
            program_patience: Duration::from_secs(5),
            answers: None,
            send_timeout: Duration::from_secs(10),
            silence_timeout: Duration::from_secs(60),
        }
    }

    fn patience(&self) -> Patience {
        Patience { send: self.send_timeout, silence: self.silence_timeout, farewell: FAREWELL }
    }
}

/// The page's server, before it listens.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Where to listen unless told otherwise: this machine only, any free port.
    pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    /// Takes the address, to be printed before anything is served.
    ///
    /// # Errors
    /// When the address is taken or not of this machine.
    pub async fn bind(address: SocketAddr, options: Options) -> Result<Bound, ServerError> {
        let bind = |source| ServerError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let local_address = listener.local_addr().map_err(bind)?;
        Ok(Bound { listener, local_address, options })
    }
}

/// A server that has its address.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    local_address: SocketAddr,
    options: Options,
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// The address to open in a browser on this machine; it holds the secret.
    #[must_use]
    pub fn page_url(&self) -> String {
        let ip = self.local_address.ip();
        let ip = if ip.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { ip };
        let address = SocketAddr::new(ip, self.local_address.port());
        format!("http://{address}/?token={}", self.options.token.hex())
    }

    /// Serves until `shutdown` is ready. Then the pages get what was published last and are closed, within two seconds.
    pub async fn serve(self, source: Source, shutdown: impl Future<Output = ()>) {
        let Bound { listener, local_address, options } = self;
        let (stop_sender, stop) = watch::channel(false);
        let viewers = Arc::new(Semaphore::new(options.viewers_max));
        let programs = Arc::new(Semaphore::new(options.programs_max));
        let patience = options.patience();
        source.board.set_patience(options.program_patience);
        let answers = options.answers.map(|store| Keeper::start(store, &source));
        let tokens = Arc::new(Tokens::new(options.token, options.host, local_address.port()));
        let site = Site {
            gate: Gate::new(Arc::clone(&tokens), local_address.ip(), options.host_names),
            tokens,
            source,
            viewers: Arc::clone(&viewers),
            viewers_max: options.viewers_max,
            programs: Arc::clone(&programs),
            programs_max: options.programs_max,
            readers: Arc::new(Semaphore::new(READERS_MAX)),
            patience,
            stop: stop.clone(),
        };
        let connections = Connections::new(options.requests_max);
        let clock = site.source.clone();
        let filter = routes::filter(Arc::new(site));
        tokio::select! {
            () = keep(answers.as_ref()) => {}
            () = keep_clock(&clock) => {}
            () = accept(&listener, &filter, &connections, &stop) => {}
            () = shutdown => {}
        }
        drop(listener);
        // A page that is being upgraded right now holds a request's permit, then a viewer's: wait in this order.
        stop_sender.send_replace(true);
        let all_closed = async {
            connections.all_closed().await;
            let _ = viewers.acquire_many(count(options.viewers_max)).await;
            let _ = programs.acquire_many(count(options.programs_max)).await;
        };
        let _ = timeout(FAREWELL, all_closed).await;
        if let Some(answers) = answers {
            answers.save().await;
        }
    }
}

/// Keeps what programs say, for ever.
async fn keep(answers: Option<&Keeper>) {
    match answers {
        Some(answers) => answers.keep().await,
        None => std::future::pending().await,
    }
}

/// Stops the shared clock where there is no more to show.
async fn keep_clock(source: &Source) {
    loop {
        sleep(CLOCK_EVERY).await;
        source.stage.look_after(source.known());
    }
}

fn count(permits: usize) -> u32 {
    u32::try_from(permits).unwrap_or(u32::MAX)
}

/// How many connections that are no feed may be open, for this many files.
fn requests_max(files: Option<u64>) -> u32 {
    files.map_or(REQUESTS_MAX, |files| (files / 4).clamp(REQUESTS_MIN, REQUESTS_MAX)) as u32
}

async fn accept<F>(
    listener: &TcpListener,
    filter: &F,
    connections: &Arc<Connections>,
    stop: &watch::Receiver<bool>,
) where
    F: Filter<Extract = (Response,), Error = Infallible> + Clone + Send + Sync + 'static,
    F::Future: Send,
{
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely. Strangers close theirs first; without any, others may close some.
            let wait = if connections.close_oldest_stranger() { ACCEPT_AGAIN } else { 20 * ACCEPT_AGAIN };
            sleep(wait).await;
            continue;
        };
        // What finds no room is closed at once rather than left waiting.
        if let Some(place) = connections.admit().await {
            tokio::spawn(converse(stream, filter.clone(), place, stop.clone()));
        }
    }
}

/// One connection until it closes or becomes a feed, which then holds a permit of its own.
async fn converse<F>(stream: TcpStream, filter: F, place: Place, mut stop: watch::Receiver<bool>)
where
    F: Filter<Extract = (Response,), Error = Infallible> + Clone + Send + Sync + 'static,
    F::Future: Send,
{
    // Deltas are small and should not wait for more; without it they only come later.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(warp::service(filter));
    let service = service_fn(|request| {
        let response = service.call(request);
        async {
            let response = response.await?;
            if !matches!(response.status(), StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST) {
                place.keep();
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    // Errors here are the client's: it left, dawdled, or sent what is no request.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = place.must_close() => {}
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(FAREWELL, connection).await;
        }
    }
}
