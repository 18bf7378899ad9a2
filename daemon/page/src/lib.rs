//! The page of a run or of a recording.
//!
//! In: the state of a run, and what can be read about it. Out: an address, and pages that are fed behind it by a server on
//! a runtime of its own. It holds up no job: what it answers from files has a bound, and a page that is slow is left behind.

#[macro_use(say)]
extern crate mpiscope_process;

mod answers;
mod figure_rows;
mod layout_file;
mod layout_store;
mod library;
mod open;
mod run_data;
mod segment_cache;
mod sites;
mod source_text;
pub mod topology_files;
mod updates;

pub use figure_rows::{function_rows, node_rows, rank_rows};
pub use layout_file::LayoutFilePath;
pub use layout_store::{FILE as LAYOUTS, copy_layouts};
pub use library::inform;
use open::host_name;
pub use open::{Opened, open_in_browser, say_address};
pub use run_data::{CACHE_BYTES, RunData};
pub use segment_cache::SegmentCache;
pub use sites::SiteList;
pub use updates::Increments;

use answers::AnswerFile;
use anyhow::{Context as _, Result};
use crossbeam_channel::{Receiver, bounded};
use mpiscope_feed::{FeedState, Job, Library, Limits, Overview};
use mpiscope_server::{AnswerStore, Options, Publisher, Server, Source, Token, live};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Where pages are served unless told otherwise: this machine only, any free port.
pub const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// How long open pages get to ask for what their last picture needs.
const LAST_QUESTIONS: Duration = Duration::from_millis(1_500);
/// Files that this process may open: a connection of each page and program, and those of the recording.
const FILES: u64 = 4_096;
/// How long pages get to take in the last state.
const FAREWELL: Duration = Duration::from_secs(2);

/// A page that is being served.
pub struct Page {
    /// Gives nothing, and ends when the server has.
    ended: Receiver<()>,
    source: Source,
    shut: oneshot::Sender<()>,
    url: String,
}

/// A page that nobody has been let in to yet: who comes waits. What is known can be published first. Then nobody sees an empty
/// run.
pub struct ClosedPage {
    page: Page,
    admits: oneshot::Sender<()>,
}

impl ClosedPage {
    /// Lets in who waits, and all who come.
    pub fn admit(self) -> Page {
        // A server that ended before it began is found out by `close`.
        let _ = self.admits.send(());
        self.page
    }
}

/// What a page is fed through; one thread has it.
pub struct Feeding {
    /// Takes the state of the run.
    pub publisher: Publisher,
    /// Answers questions about it.
    pub library: Arc<Library>,
}

impl Page {
    /// Binds, for the run whose recording is in a folder.
    pub fn open(
        dir: &Path,
        address: SocketAddr,
        token: &str,
        job: Job,
        window_ns: u64,
        data: RunData,
        overview: Overview,
    ) -> Result<(ClosedPage, Feeding)> {
        let state = FeedState::with_limits(job, Limits { window_ns, ..Limits::default() });
        let answers: Arc<dyn AnswerStore> = Arc::new(AnswerFile::in_folder(dir));
        let library = data.into_library(dir, overview).with_window(window_ns);
        Self::open_with(address, token, state, Arc::new(library), Some(answers))
    }

    /// Binds, for a feed and a library.
    pub fn open_with(
        address: SocketAddr,
        token: &str,
        state: FeedState,
        library: Arc<Library>,
        answers: Option<Arc<dyn AnswerStore>>,
    ) -> Result<(ClosedPage, Feeding)> {
        mpiscope_process::own_process::allow_files(FILES);
        let (publisher, source) = live(state, Arc::clone(&library));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the page's server")?;
        let token = Token::from_bytes(parse_token(token)?);
        let bound = runtime
            .block_on(Server::bind(address, Options { answers, host: host_name(), ..Options::new(token) }))?;
        let url = bound.page_url();
        let (shut, closing) = oneshot::channel();
        let server = bound.serve(source.clone(), async {
            // A dropped sender means the same.
            let _ = closing.await;
        });
        let (ends, ended) = bounded::<()>(0);
        let (admits, admitted) = oneshot::channel();
        // Tokio's own threads panic where the system gives no more; this one is an error, and the run goes on.
        let serve = move || {
            let _ends = ends;
            if runtime.block_on(admitted).is_ok() {
                // A panic of the server ends its task alone.
                let _ = runtime.block_on(async { tokio::spawn(server).await });
            }
            runtime.shutdown_timeout(FAREWELL);
        };
        std::thread::Builder::new()
            .name("page".into())
            .spawn(serve)
            .context("cannot start the page's server")?;
        let page = Self { ended, source, shut, url };
        Ok((ClosedPage { page, admits }, Feeding { publisher, library }))
    }

    /// Says whether any page is open.
    pub fn watched(&self) -> impl Fn() -> bool + Send + use<> {
        let source = self.source.clone();
        move || source.is_watched()
    }

    /// The address to open, secret included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits a moment while pages are open that may still ask for what their last picture needs.
    pub fn linger(&self) {
        let begun = Instant::now();
        while self.source.is_watched() && begun.elapsed() < LAST_QUESTIONS {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets the open pages take in the last state, then closes.
    pub fn close(self) {
        let Self { ended, shut, .. } = self;
        let _ = shut.send(());
        // Pages that do not take it in are left behind.
        let _ = ended.recv_timeout(2 * FAREWELL);
    }
}

fn parse_token(text: &str) -> Result<[u8; 16]> {
    let number = u128::from_str_radix(text, 16).context("the page's secret is no hexadecimal number")?;
    Ok(number.to_be_bytes())
}
