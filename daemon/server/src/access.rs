//! Who may do what: the owner's token with all rights, and tokens that the owner issued with some.
//!
//! In: the secret of a request. Out: a [`Grant`], which a connection carries as long as it is open. It must never say which
//! digits of a secret were right, and a revoked token must end its connections.

use crate::token::Token;
use mpiscope_feed::exchange::{Command, LinkRequest, Question};
use mpiscope_feed::{Access, AccessKind, IssuedLink, NewLink};
use mpiscope_protocol::Right;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Links at a time.
pub(crate) const LINKS_MAX: usize = 64;
/// Characters of a label.
const LABEL_CHARS_MAX: usize = 64;
/// The number of the owner's grant; links have larger ones.
pub(crate) const OWNER: u32 = 0;

/// All tokens of one server.
#[derive(Debug)]
pub(crate) struct Tokens {
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    /// Where the page is served: the name of the host, and the port.
    host: (String, u16),
}

#[derive(Debug)]
struct Inner {
    owner: Issued,
    links: BTreeMap<u32, Issued>,
    last: u32,
}

#[derive(Debug)]
struct Issued {
    token: Token,
    label: String,
    rights: Rights,
    connections: u32,
    revoked: watch::Sender<bool>,
}

/// What a token allows besides reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rights {
    control: bool,
    annotate: bool,
}

/// What one request may do.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// [`OWNER`], or the number of a link.
    pub(crate) number: u32,
    pub(crate) rights: Rights,
    revoked: watch::Receiver<bool>,
}

/// An open connection with its grant; it is counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Connected {
    tokens: Arc<Tokens>,
    grant: Grant,
}

impl Rights {
    const ALL: Rights = Rights { control: true, annotate: true };

    pub(crate) fn list(self) -> Vec<Right> {
        [Right::Read, Right::Control, Right::Annotate].into_iter().filter(|right| self.has(*right)).collect()
    }

    fn has(self, right: Right) -> bool {
        match right {
            Right::Read => true,
            Right::Control => self.control,
            Right::Annotate => self.annotate,
        }
    }

    /// # Errors
    /// One sentence that names the right that is missing.
    pub(crate) fn check(self, right: Right) -> Result<(), String> {
        let word = match right {
            Right::Read => "read",
            Right::Control => "control",
            Right::Annotate => "annotate",
        };
        if self.has(right) { Ok(()) } else { Err(format!("this token does not give the right to {word}")) }
    }
}

impl Issued {
    fn new(token: Token, label: String, rights: Rights) -> Self {
        Self { token, label, rights, connections: 0, revoked: watch::Sender::new(false) }
    }

    fn grant(&self, number: u32) -> Grant {
        Grant { number, rights: self.rights, revoked: self.revoked.subscribe() }
    }
}

impl Inner {
    fn all(&self) -> impl Iterator<Item = (u32, &Issued)> {
        std::iter::once((OWNER, &self.owner))
            .chain(self.links.iter().map(|(&number, issued)| (number, issued)))
    }

    fn issued_mut(&mut self, number: u32) -> Option<&mut Issued> {
        if number == OWNER { Some(&mut self.owner) } else { self.links.get_mut(&number) }
    }
}

impl Tokens {
    pub(crate) fn new(owner: Token, host: String, port: u16) -> Self {
        let owner = Issued::new(owner, String::new(), Rights::ALL);
        let inner = Inner { owner, links: BTreeMap::new(), last: OWNER };
        Self { inner: Mutex::new(inner), changes: watch::Sender::default(), host: (host, port) }
    }

    /// A panic elsewhere while the lock was held leaves tokens that are still right.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a secret allows. Compares it with all tokens: the time does not depend on which one it is.
    pub(crate) fn find(&self, offered: &str) -> Option<Grant> {
        let inner = self.lock();
        let mut found = None;
        for (number, issued) in inner.all() {
            if issued.token.matches(offered) {
                found = Some(issued.grant(number));
            }
        }
        found
    }

    /// Tells of links that come, go, or are used.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// What a page learns about its own rights.
    pub(crate) fn message(&self, grant: &Grant) -> Access {
        let is_owner = grant.number == OWNER;
        let link = |(&number, issued): (&u32, &Issued)| IssuedLink {
            number,
            label: issued.label.clone(),
            can_control: issued.rights.control,
            can_annotate: issued.rights.annotate,
            connections: issued.connections,
        };
        let links = if is_owner { self.lock().links.iter().map(link).collect() } else { Vec::new() };
        let (host, port) = if is_owner { self.host.clone() } else { Default::default() };
        Access {
            kind: AccessKind::Access,
            is_owner,
            can_control: grant.rights.control,
            can_annotate: grant.rights.annotate,
            links,
            links_max: if is_owner { LINKS_MAX as u32 } else { 0 },
            host,
            port,
            made: None,
            refused: String::new(),
        }
    }

    /// Makes a link.
    ///
    /// # Errors
    /// One sentence about why there is none.
    pub(crate) fn issue(&self, grant: &Grant, asked: &LinkRequest) -> Result<NewLink, String> {
        is_owner(grant)?;
        let label: String = asked.label.trim().chars().filter(|letter| !letter.is_control()).collect();
        if !(1..=LABEL_CHARS_MAX).contains(&label.chars().count()) {
            return Err(format!("the label of a link has 1 to {LABEL_CHARS_MAX} characters"));
        }
        let token =
            Token::random().map_err(|error| format!("the system gives no random numbers: {error}"))?;
        let mut inner = self.lock();
        if inner.links.len() >= LINKS_MAX {
            return Err(format!("there are {LINKS_MAX} links, which is the most; revoke one first"));
        }
        inner.last += 1;
        let (number, secret) = (inner.last, token.hex());
        let rights = Rights { control: asked.can_control, annotate: asked.can_annotate };
        inner.links.insert(number, Issued::new(token, label, rights));
        drop(inner);
        self.changed();
        Ok(NewLink { number, token: secret })
    }

    /// Ends a link and its connections.
    ///
    /// # Errors
    /// One sentence about why not.
    pub(crate) fn revoke(&self, grant: &Grant, number: u32) -> Result<(), String> {
        is_owner(grant)?;
        let issued = self.lock().links.remove(&number);
        let issued = issued.ok_or_else(|| format!("there is no link {number}; it may be revoked already"))?;
        issued.revoked.send_replace(true);
        self.changed();
        Ok(())
    }

    /// A connection opens.
    pub(crate) fn connect(self: &Arc<Self>, grant: Grant) -> Connected {
        if let Some(issued) = self.lock().issued_mut(grant.number) {
            issued.connections += 1;
        }
        self.changed();
        Connected { tokens: Arc::clone(self), grant }
    }
}

fn is_owner(grant: &Grant) -> Result<(), String> {
    if grant.number == OWNER {
        return Ok(());
    }
    Err("only the owner of the run, with the address that mpiscope printed, can make or revoke links"
        .to_owned())
}

/// Whether a page may ask a question. One that writes a file, or reads one that is not part of the recording, is the
/// owner's.
pub(crate) fn may_ask(grant: &Grant, question: &Question) -> Result<(), String> {
    let what = match question {
        Question::SaveLayout(_) => "keep layouts",
        Question::SourceText(_) => "read the program's source",
        _ => return Ok(()),
    };
    if grant.number == OWNER {
        return Ok(());
    }
    Err(format!("only the owner of the run, with the address that mpiscope printed, can {what}"))
}

/// The right that a page needs for a command.
pub(crate) fn needs(command: &Command) -> Right {
    match command {
        Command::Live
        | Command::Pause
        | Command::Play(_)
        | Command::Rate(_)
        | Command::Seek(_)
        | Command::Step(_)
        | Command::Select(_)
        | Command::Record(_) => Right::Control,
        // Links are checked by themselves: they take more than a right.
        Command::Follow(_) | Command::Issue(_) | Command::Revoke(_) => Right::Read,
    }
}

/// Returns once a token is revoked; never for the owner's.
pub(crate) async fn revoked(grant: &mut Grant) {
    // A sender that is gone was revoked, or its server has ended.
    let _ = grant.revoked.wait_for(|is_revoked| *is_revoked).await;
}

impl Connected {
    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        // A revoked link counts nothing any more.
        if let Some(issued) = self.tokens.lock().issued_mut(self.grant.number) {
            issued.connections = issued.connections.saturating_sub(1);
        }
        self.tokens.changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(label: &str, can_control: bool) -> LinkRequest {
        LinkRequest { label: label.to_owned(), can_control, can_annotate: false }
    }

    fn tokens() -> (Arc<Tokens>, Grant) {
        let owner = Token::from_bytes([7; 16]);
        let tokens = Arc::new(Tokens::new(owner.clone(), "node1".to_owned(), 80));
        let grant = tokens.find(&owner.hex()).unwrap();
        (tokens, grant)
    }

    #[test]
    fn a_link_has_its_rights_until_it_is_revoked() {
        let (tokens, owner) = tokens();
        assert_eq!(owner.rights.list(), [Right::Read, Right::Control, Right::Annotate]);
        let made = tokens.issue(&owner, &request("  Ana\n", true)).unwrap();
        let grant = tokens.find(&made.token).unwrap();
        assert_eq!((grant.number, grant.rights.list()), (made.number, vec![Right::Read, Right::Control]));
        assert_eq!(grant.rights.check(Right::Control), Ok(()));
        assert!(grant.rights.check(Right::Annotate).unwrap_err().contains("annotate"));
        let connected = tokens.connect(grant.clone());
        assert_eq!(
            (tokens.message(&owner).links[0].connections, &*tokens.message(&owner).links[0].label),
            (1, "Ana")
        );
        assert!(tokens.message(&grant).links.is_empty() && tokens.message(&grant).host.is_empty());
        assert!(tokens.issue(&grant, &request("b", false)).is_err());
        assert!(tokens.revoke(&grant, made.number).is_err());
        tokens.revoke(&owner, made.number).unwrap();
        assert!(*connected.grant.revoked.borrow());
        assert!(tokens.find(&made.token).is_none());
        assert!(tokens.revoke(&owner, made.number).is_err());
        // The next one has another number, also in its cookie.
        assert_ne!(tokens.issue(&owner, &request("c", false)).unwrap().number, made.number);
        drop(connected);
        assert_eq!(tokens.message(&owner).links[0].connections, 0);
    }

    #[test]
    fn there_are_at_most_64_links_with_readable_labels() {
        let (tokens, owner) = tokens();
        for number in 0..LINKS_MAX {
            tokens.issue(&owner, &request(&number.to_string(), false)).unwrap();
        }
        assert!(tokens.issue(&owner, &request("more", false)).unwrap_err().contains("64"));
        tokens.revoke(&owner, 3).unwrap();
        assert!(tokens.issue(&owner, &request(" \u{7} ", false)).is_err());
        assert!(tokens.issue(&owner, &request(&"x".repeat(65), false)).is_err());
        assert!(tokens.issue(&owner, &request("more", false)).is_ok());
        assert!(!format!("{tokens:?}").contains(&"07".repeat(16)));
    }
}
