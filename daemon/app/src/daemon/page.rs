//! The page's server, on a runtime of its own.

use super::Configuration;
use anyhow::{Context as _, Result};
use mpiscope_feed::{FeedState, Job, Limits};
use mpiscope_server::{Options, Publisher, Server, Token, live};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long pages get to take in the last state.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Page {
    serving: Option<Serving>,
    publisher: Option<Publisher>,
}

struct Serving {
    runtime: Runtime,
    server: JoinHandle<()>,
    shut: oneshot::Sender<()>,
    url: String,
}

impl Page {
    /// Binds and serves, or does nothing when no page is wanted.
    pub(crate) fn open(configuration: &Configuration, window_ns: u64) -> Result<Self> {
        let Some(address) = configuration.listen else { return Ok(Self::default()) };
        let job = Job {
            run: configuration.run.clone(),
            command: configuration.command.join(" "),
            ..Job::default()
        };
        let (publisher, source) =
            live(FeedState::with_limits(job, Limits { window_ns, ..Limits::default() }));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("page")
            .enable_all()
            .build()
            .context("start the page's server")?;
        let token = Token::from_bytes(parse_token(&configuration.token)?);
        let bound = runtime.block_on(Server::bind(address, Options::new(token)))?;
        let url = bound.page_url();
        let (shut, closing) = oneshot::channel();
        let server = runtime.spawn(bound.serve(source, async {
            // A dropped sender means the same.
            let _ = closing.await;
        }));
        let serving = Some(Serving { runtime, server, shut, url });
        Ok(Self { serving, publisher: Some(publisher) })
    }

    /// The end that the recorder writes to; there is one.
    pub(crate) fn publisher(&mut self) -> Option<Publisher> {
        self.publisher.take()
    }

    /// The address to open, secret included.
    pub(crate) fn url(&self) -> Option<String> {
        self.serving.as_ref().map(|serving| serving.url.clone())
    }

    /// Lets the open pages take in the last state, then closes.
    pub(crate) fn close(self) {
        let Some(Serving { runtime, server, shut, .. }) = self.serving else { return };
        let _ = shut.send(());
        // Pages that do not take it in are left behind.
        let _ = runtime.block_on(async { tokio::time::timeout(FAREWELL, server).await });
        runtime.shutdown_timeout(FAREWELL);
    }
}

fn parse_token(text: &str) -> Result<[u8; 16]> {
    let number = u128::from_str_radix(text, 16).context("the page's secret is no hexadecimal number")?;
    Ok(number.to_be_bytes())
}
