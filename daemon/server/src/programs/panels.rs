//! Whole views of programs: their HTML, and what programs tell them.
//!
//! In: HTML and messages of clients. Out: a list of tabs and the messages for pages, and the HTML for the frame in which a
//! page shows it. A panel is code of somebody else: its response must never let it run with the page's own origin.

use mpiscope_feed::{PanelMessage, PanelMessageKind, PanelTab, PanelsKind, encode};
use mpiscope_protocol::{AddPanel, PanelAdded, TellPanel};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, watch};
use warp::http::StatusCode;
use warp::http::header::{self, HeaderValue};
use warp::reply::{Reply, Response};

/// Panels of one program.
const OWN_MAX: usize = 4;
/// Panels of a run.
const PANELS_MAX: usize = 32;
const TITLE_CHARS_MAX: usize = 32;
const HTML_BYTES_MAX: usize = 200 << 10;
/// Messages that wait for a page, of all panels; one that is slower misses the oldest.
const WAITING_MAX: usize = 64;

/// The frame runs scripts without an origin: no cookie, no storage, no request, no page around it that it could reach.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// What a program tells its panel, as pages get it.
type Encoded = Arc<Vec<u8>>;

/// All panels of a run.
#[derive(Debug)]
pub(crate) struct Panels {
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    messages: broadcast::Sender<Encoded>,
}

#[derive(Debug, Default)]
struct Inner {
    panels: BTreeMap<u64, Panel>,
    last: u64,
}

#[derive(Debug)]
struct Panel {
    /// The program, and its number for the panel.
    owner: (u64, u32),
    title: String,
    author: String,
    html: Arc<str>,
    /// The newest message, for pages that open later.
    newest: Option<Encoded>,
}

/// The panels of one program; they go when this is dropped.
#[derive(Debug)]
pub(crate) struct OwnPanels {
    panels: Arc<Panels>,
    client: u64,
    author: String,
}

impl Default for Panels {
    fn default() -> Self {
        let messages = broadcast::Sender::new(WAITING_MAX);
        Self { inner: Mutex::default(), changes: watch::Sender::default(), messages }
    }
}

impl Panels {
    /// A panic elsewhere while the lock was held leaves a list that is still sound.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A program that may add panels.
    pub(crate) fn for_client(self: &Arc<Self>, client: u64, author: String) -> OwnPanels {
        OwnPanels { panels: Arc::clone(self), client, author }
    }

    /// Tells of panels that come and go.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// The newest message of each panel, and all that programs tell their panels after those, as pages get them.
    pub(crate) fn listen(&self) -> (Vec<Encoded>, broadcast::Receiver<Encoded>) {
        // Messages are sent under the lock: each is on one side.
        let inner = self.lock();
        let newest = inner.panels.values().filter_map(|panel| panel.newest.clone()).collect();
        (newest, self.messages.subscribe())
    }

    /// The tabs of all panels.
    pub(crate) fn tabs(&self) -> mpiscope_feed::Panels {
        let inner = self.lock();
        let tab = |(&number, panel): (&u64, &Panel)| PanelTab {
            number,
            title: panel.title.clone(),
            author: panel.author.clone(),
        };
        mpiscope_feed::Panels { kind: PanelsKind::Panels, panels: inner.panels.iter().map(tab).collect() }
    }

    /// The HTML of a panel, for a frame of the page.
    pub(crate) fn response(&self, number: &str) -> Response {
        let number = number.parse().ok();
        let html = number
            .and_then(|number: u64| self.lock().panels.get(&number).map(|panel| Arc::clone(&panel.html)));
        let (status, html) = match html {
            Some(html) => (StatusCode::OK, html.to_string()),
            None => (StatusCode::NOT_FOUND, "The program that made this view is gone.\n".to_owned()),
        };
        let body = warp::reply::with_header(html, header::CONTENT_TYPE, "text/html; charset=utf-8");
        let mut response = warp::reply::with_status(body, status).into_response();
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        response
    }
}

impl Inner {
    fn number_of(&self, owner: (u64, u32)) -> Option<u64> {
        self.panels.iter().find(|(_, panel)| panel.owner == owner).map(|(&number, _)| number)
    }
}

impl OwnPanels {
    /// Adds a panel, or replaces one of the same program.
    ///
    /// # Errors
    /// One sentence about what is too much.
    pub(crate) fn add(&self, asked: AddPanel) -> Result<PanelAdded, String> {
        let AddPanel { id, title, html } = asked;
        let title: String = title.trim().chars().filter(|letter| !letter.is_control()).collect();
        if !(1..=TITLE_CHARS_MAX).contains(&title.chars().count()) {
            return Err(format!("the title of a panel has 1 to {TITLE_CHARS_MAX} characters"));
        }
        if html.len() > HTML_BYTES_MAX {
            return Err(format!("the HTML of a panel has at most {} KiB", HTML_BYTES_MAX >> 10));
        }
        let mut inner = self.panels.lock();
        let owner = (self.client, id);
        let before = inner.number_of(owner);
        if before.is_none() {
            if inner.panels.values().filter(|panel| panel.owner.0 == self.client).count() >= OWN_MAX {
                return Err(format!("a client has at most {OWN_MAX} panels"));
            }
            if inner.panels.len() >= PANELS_MAX {
                return Err(format!("there are {PANELS_MAX} panels, which is the most"));
            }
        }
        // Another number makes pages load it anew.
        before.map(|before| inner.panels.remove(&before));
        inner.last += 1;
        let panel = inner.last;
        let author = self.author.clone();
        inner.panels.insert(panel, Panel { owner, title, author, html: html.into(), newest: None });
        drop(inner);
        self.panels.changed();
        Ok(PanelAdded { id, panel })
    }

    /// # Errors
    /// One sentence when there is no such panel.
    pub(crate) fn tell(&self, asked: &TellPanel) -> Result<(), String> {
        let mut inner = self.panels.lock();
        let panel = self.number(&inner, asked.id)?;
        let kind = PanelMessageKind::PanelMessage;
        let message = encode(&PanelMessage { kind, panel, data: asked.data.to_string() });
        let bytes = Arc::new(message.map_err(|error| error.to_string())?);
        if let Some(panel) = inner.panels.get_mut(&panel) {
            panel.newest = Some(Arc::clone(&bytes));
        }
        // Under the lock, to make the newest the last that pages get. Nobody listens while no page is open.
        let _ = self.panels.messages.send(bytes);
        Ok(())
    }

    /// # Errors
    /// One sentence when there is no such panel.
    pub(crate) fn close(&self, id: u32) -> Result<(), String> {
        let mut inner = self.panels.lock();
        let panel = self.number(&inner, id)?;
        inner.panels.remove(&panel);
        drop(inner);
        self.panels.changed();
        Ok(())
    }

    fn number(&self, inner: &Inner, id: u32) -> Result<u64, String> {
        inner.number_of((self.client, id)).ok_or_else(|| format!("this client has no panel {id}"))
    }
}

impl Drop for OwnPanels {
    fn drop(&mut self) {
        let mut inner = self.panels.lock();
        let before = inner.panels.len();
        inner.panels.retain(|_, panel| panel.owner.0 != self.client);
        let is_changed = inner.panels.len() != before;
        drop(inner);
        if is_changed {
            self.panels.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(id: u32) -> AddPanel {
        AddPanel { id, title: " own\u{7} view".to_owned(), html: "<p>1</p>".to_owned() }
    }

    #[test]
    fn panels_are_bounded_and_go_with_their_program() {
        let panels = Arc::new(Panels::default());
        let own = panels.for_client(1, "a".to_owned());
        let numbers: Vec<u64> = (0..OWN_MAX as u32).map(|id| own.add(panel(id)).unwrap().panel).collect();
        assert_eq!(panels.tabs().panels[0].title, "own view");
        assert!(own.add(panel(9)).unwrap_err().contains("at most 4"));
        // The same number of the client's again is another panel.
        assert!(!numbers.contains(&own.add(panel(0)).unwrap().panel));
        assert_eq!(panels.tabs().panels.len(), OWN_MAX);
        assert!(own.add(AddPanel { title: "  ".to_owned(), ..panel(0) }).is_err());
        assert!(own.add(AddPanel { title: "x".repeat(33), ..panel(0) }).is_err());
        assert!(own.add(AddPanel { html: "x".repeat(HTML_BYTES_MAX + 1), ..panel(0) }).is_err());
        let others: Vec<OwnPanels> = (2..9).map(|client| panels.for_client(client, "b".to_owned())).collect();
        for other in &others {
            (0..OWN_MAX as u32).for_each(|id| assert!(other.add(panel(id)).is_ok()));
        }
        let last = panels.for_client(9, "c".to_owned());
        assert!(last.add(panel(0)).unwrap_err().contains("32"));
        own.close(1).unwrap();
        assert!(own.close(1).is_err());
        assert!(last.add(panel(0)).is_ok());
        drop(others);
        assert_eq!(panels.tabs().panels.len(), OWN_MAX);
        drop((own, last));
        assert!(panels.tabs().panels.is_empty());
    }

    #[test]
    fn only_its_program_tells_a_panel_something() {
        let panels = Arc::new(Panels::default());
        let (own, other) = (panels.for_client(1, "a".to_owned()), panels.for_client(2, "b".to_owned()));
        own.add(panel(5)).unwrap();
        let message = TellPanel { id: 5, data: serde_json::json!([1]) };
        assert!(other.tell(&message).unwrap_err().contains("no panel 5"));
        let (newest, mut messages) = panels.listen();
        assert!(newest.is_empty());
        own.tell(&message).unwrap();
        // Whoever listens from now on gets it once.
        let (newest, mut later) = panels.listen();
        assert_eq!((*messages.try_recv().unwrap()).clone(), *newest[0]);
        assert!(messages.try_recv().is_err() && later.try_recv().is_err());
    }
}
