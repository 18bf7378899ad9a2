//! Which hosts share recording and analysis: how they are reached, and what people should know of them.

use anyhow::{Context as _, Result};
use mpiscope_link::{Certificate, LinkError, Meeting, MeetingOptions, Secret};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which hosts share recording and analysis, and how they are reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnalysisHosts {
    /// A process for each of them.
    pub hosts: Vec<AnalysisHost>,
    /// What starts a command on another host: its words, before the host's name.
    pub shell: Vec<String>,
    /// Where to listen for them, the first that can be had.
    pub listen: Vec<SocketAddr>,
    /// How they may find this host: names or addresses.
    pub own_names: Vec<String>,
    /// Whether connections are encrypted.
    pub tls: bool,
}

impl AnalysisHosts {
    /// A place to meet this number of others, known to those who have its secret.
    pub(crate) fn open(&self, secret: &Secret, others: usize) -> Result<(Meeting, Option<Certificate>)> {
        let certificate = self.tls.then(Certificate::make).transpose()?;
        let open = |address: &SocketAddr| {
            let (secret, certificate) = (secret.clone(), certificate.clone());
            Meeting::open(MeetingOptions { address: *address, secret, certificate, others })
        };
        // The first that can be had, or why the last cannot.
        let mut opened = Err(LinkError::Given("no address to listen at".to_owned()));
        for address in &self.listen {
            opened = open(address);
            if opened.is_ok() {
                break;
            }
        }
        Ok((opened.context("listen for processes on other hosts")?, certificate))
    }

    /// Where the others may find it.
    pub(crate) fn addresses(&self, meeting: &Meeting) -> Vec<String> {
        let port = meeting.address().port();
        self.own_names.iter().map(|name| format!("{name}:{port}")).collect()
    }
}

/// A host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnalysisHost {
    /// Its name.
    pub name: String,
    /// Whether it is the daemon's own.
    pub is_own: bool,
}

/// What people should know of them, until somebody takes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notices(Arc<Mutex<Vec<String>>>);

impl Notices {
    fn all(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, text: String) {
        self.all().push(text);
    }

    /// Those that are new.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.all())
    }
}
