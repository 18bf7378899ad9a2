//! Who may come in: pure decisions over a request's headers.
//!
//! Anyone on this machine can reach a loopback port, and any web page that a user has open can make their browser send
//! requests to it. Hence tokens that only the user and whom they gave a link know, a Host that must be ours (a name that an attacker points at
//! 127.0.0.1 is not), and an Origin that must be the page itself.

use crate::access::{Grant, OWNER, Tokens};
use std::net::IpAddr;
use std::sync::Arc;

/// What a request says about itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claims<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) origin: Option<&'a str>,
    pub(crate) cookie: Option<&'a str>,
    pub(crate) authorization: Option<&'a str>,
}

/// Why a request is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was sent to a name that is not ours.
    Host,
    /// Another site's page sent it.
    Origin,
    /// It knows no token.
    Secret,
}

/// The rules of one server.
#[derive(Debug)]
pub(crate) struct Gate {
    tokens: Arc<Tokens>,
    bound: IpAddr,
    host_names: Vec<String>,
}

impl Gate {
    pub(crate) fn new(tokens: Arc<Tokens>, bound: IpAddr, host_names: Vec<String>) -> Self {
        Gate { tokens, bound, host_names }
    }

    /// The Host header, checked: its name must be ours; the port may be another one, since tunnels change it.
    pub(crate) fn host<'a>(&self, claims: &Claims<'a>) -> Result<&'a str, Refusal> {
        let host = claims.host.ok_or(Refusal::Host)?;
        let (name, port) = split_host(host).ok_or(Refusal::Host)?;
        if !port.is_empty() && port.parse::<u16>().is_err() {
            return Err(Refusal::Host);
        }
        if self.is_ours(name) { Ok(host) } else { Err(Refusal::Host) }
    }

    fn is_ours(&self, name: &str) -> bool {
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
            // Rebinding needs a name, so where we listen on every address, any address in digits is fine.
            return address.is_loopback() || address == self.bound || self.bound.is_unspecified();
        }
        self.host_names.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// Browsers send an Origin with every WebSocket; programs send none.
    pub(crate) fn origin(&self, claims: &Claims<'_>) -> Result<(), Refusal> {
        let host = self.host(claims)?;
        let Some(origin) = claims.origin else { return Ok(()) };
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        match from {
            Some(from) if from.eq_ignore_ascii_case(host) => Ok(()),
            _ => Err(Refusal::Origin),
        }
    }

    /// What the request may do, by `Authorization: Bearer`, or by the cookie of the owner or of the link under whose path it
    /// asks.
    pub(crate) fn grant(&self, claims: &Claims<'_>, link: Option<u32>) -> Result<Grant, Refusal> {
        let bearer = claims.authorization.and_then(|value| value.strip_prefix("Bearer "));
        if let Some(grant) = bearer.and_then(|offered| self.tokens.find(offered.trim())) {
            return Ok(grant);
        }
        let number = link.unwrap_or(OWNER);
        let name = cookie_name(self.host(claims)?, number);
        let pairs =
            claims.cookie.unwrap_or_default().split(';').filter_map(|pair| pair.trim().split_once('='));
        let offered = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value);
        let mut grants = offered.filter_map(|value| self.tokens.find(value));
        grants.find(|grant| grant.number == number).ok_or(Refusal::Secret)
    }

    /// The cookie to set, and the path where it opens the page, when the query of `/` holds a token.
    pub(crate) fn enter(&self, query: &str, host: &str) -> Result<(String, String), Refusal> {
        let offered = query.split('&').find_map(|pair| pair.strip_prefix("token=")).ok_or(Refusal::Secret)?;
        let grant = self.tokens.find(offered).ok_or(Refusal::Secret)?;
        let (name, path) = (cookie_name(host, grant.number), page_path(grant.number));
        // A link is often opened from another site, such as a chat. Browsers would keep a strict cookie from the redirect.
        let same_site = if grant.number == OWNER { "Strict" } else { "Lax" };
        Ok((format!("{name}={offered}; HttpOnly; SameSite={same_site}; Path={path}"), path))
    }
}

/// Where a page is served. Each link has a path of its own and takes nothing from the owner in the same browser.
fn page_path(number: u32) -> String {
    if number == OWNER { "/".to_owned() } else { format!("/link/{number}/") }
}

/// The number of a link from a path, and the rest of the path.
pub(crate) fn split_path(path: &str) -> (Option<u32>, &str) {
    let parts = path.strip_prefix("/link/").and_then(|rest| {
        let (number, _) = rest.split_once('/')?;
        let is_plain = !number.starts_with('0') && number.bytes().all(|digit| digit.is_ascii_digit());
        Some((number.parse().ok().filter(|_| is_plain)?, &rest[number.len()..]))
    });
    parts.map_or((None, path), |(number, rest)| (Some(number), rest))
}

/// Cookies are shared by all ports of a host, so the name holds the port that the browser sees: two runs, or two
/// tunnels to two machines, must not overwrite each other's.
fn cookie_name(host: &str, number: u32) -> String {
    let port = port_of(host);
    if number == OWNER { format!("mpiscope_{port}") } else { format!("mpiscope_{port}_{number}") }
}

/// The port that the browser sees.
pub(crate) fn port_of(host: &str) -> &str {
    split_host(host).map(|(_, port)| port).filter(|port| !port.is_empty()).unwrap_or("80")
}

/// `name:port` into both; the port is empty when there is none, and `[::1]` keeps its brackets.
fn split_host(host: &str) -> Option<(&str, &str)> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, rest) = host.split_at_checked(end)?;
    match rest {
        "" => Some((name, "")),
        rest => rest.strip_prefix(':').map(|port| (name, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Token;
    use mpiscope_feed::exchange::LinkRequest;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn gate(bound: Ipv4Addr) -> Gate {
        let tokens = Tokens::new(Token::from_bytes([7; 16]), "node17".to_owned(), 9);
        Gate::new(Arc::new(tokens), bound.into(), vec!["node17".to_owned()])
    }

    fn claims_of(host: &str) -> Claims<'_> {
        Claims { host: Some(host), ..Claims::default() }
    }

    #[test]
    fn only_our_names_are_served() {
        let gate = gate(Ipv4Addr::LOCALHOST);
        for host in
            ["localhost", "LOCALHOST:80", "127.0.0.1:8123", "[::1]:9", "[::1]", "node17:1", "127.0.0.2:5"]
        {
            assert_eq!(gate.host(&claims_of(host)), Ok(host), "{host}");
        }
        let wrong = [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil:80",
            "10.0.0.1",
            "localhost:x",
            "[::1",
            "a:1:2",
        ];
        for host in wrong {
            assert_eq!(gate.host(&claims_of(host)), Err(Refusal::Host), "{host}");
        }
        assert_eq!(gate.host(&Claims::default()), Err(Refusal::Host));
    }

    #[test]
    fn listening_everywhere_serves_any_address_but_no_other_name() {
        let gate = gate(Ipv4Addr::UNSPECIFIED);
        assert!(gate.host(&claims_of("10.1.2.3:80")).is_ok());
        assert_eq!(gate.host(&claims_of("evil.example:80")), Err(Refusal::Host));
    }

    #[test]
    fn the_page_itself_is_the_only_origin() {
        let gate = gate(Ipv4Addr::LOCALHOST);
        let from = |origin| Claims { host: Some("localhost:9"), origin, ..Claims::default() };
        assert_eq!(gate.origin(&from(None)), Ok(()));
        assert_eq!(gate.origin(&from(Some("http://localhost:9"))), Ok(()));
        for origin in
            ["null", "http://localhost:10", "http://127.0.0.1:9", "ftp://localhost:9", "http://evil.example"]
        {
            assert_eq!(gate.origin(&from(Some(origin))), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn the_cookie_belongs_to_the_port_that_the_browser_sees() {
        let gate = gate(Ipv4Addr::LOCALHOST);
        let hex = "07".repeat(16);
        let (set, path) = gate.enter(&format!("a=b&token={hex}"), "localhost:9").unwrap();
        assert_eq!(set, format!("mpiscope_9={hex}; HttpOnly; SameSite=Strict; Path=/"));
        assert_eq!(path, "/");
        let cookie = format!("other=1; mpiscope_9={hex}");
        let with = |host| Claims { host: Some(host), cookie: Some(&cookie), ..Claims::default() };
        let number = |host| gate.grant(&with(host), None).map(|grant| grant.number);
        assert_eq!(number("localhost:9"), Ok(OWNER));
        assert_eq!(number("localhost:10"), Err(Refusal::Secret));
        assert!(gate.enter("token=", "localhost:9").is_err());
        let bearer = format!("Bearer {hex}");
        let program = Claims { host: Some("localhost:9"), authorization: Some(&bearer), ..Claims::default() };
        assert!(gate.grant(&program, None).is_ok());
    }

    #[test]
    fn a_link_has_a_cookie_and_a_path_of_its_own() {
        let gate = gate(Ipv4Addr::LOCALHOST);
        let owner = gate.tokens.find(&"07".repeat(16)).unwrap();
        let asked = LinkRequest { label: "Ana".to_owned(), can_control: false, can_annotate: false };
        let [one, two] = [0, 1].map(|_| gate.tokens.issue(&owner, &asked).unwrap());
        let (set, path) = gate.enter(&format!("token={}", one.token), "localhost:9").unwrap();
        assert_eq!(set, format!("mpiscope_9_1={}; HttpOnly; SameSite=Lax; Path=/link/1/", one.token));
        assert_eq!((path.as_str(), split_path("/link/1/feed")), ("/link/1/", (Some(1), "/feed")));
        let number = |cookie: String, link| {
            let claims = Claims { host: Some("localhost:9"), cookie: Some(&cookie), ..Claims::default() };
            gate.grant(&claims, link).map(|grant| grant.number)
        };
        let own = format!("mpiscope_9_1={}", one.token);
        assert_eq!(number(own.clone(), Some(1)), Ok(1));
        // Neither where the owner's page is, nor under another link, nor under another name.
        assert_eq!(number(own.clone(), None), Err(Refusal::Secret));
        assert_eq!(number(own, Some(2)), Err(Refusal::Secret));
        assert_eq!(number(format!("mpiscope_9={}", one.token), None), Err(Refusal::Secret));
        assert_eq!(number(format!("mpiscope_9_1={}", two.token), Some(1)), Err(Refusal::Secret));
        let both = format!("mpiscope_9_1={}; mpiscope_9={}", one.token, "07".repeat(16));
        assert_eq!((number(both.clone(), None), number(both, Some(1))), (Ok(OWNER), Ok(1)));
        for path in
            ["/link/", "/link/1", "/link/01/", "/link/x/", "/link/+1/", "/link/99999999999/", "/link//"]
        {
            assert_eq!(split_path(path).0, None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic_or_open(host in "[\\[\\]:a-z0-9.]{0,20}", text in ".{0,60}") {
            let gate = gate(Ipv4Addr::LOCALHOST);
            let claims = Claims {
                host: Some(&host),
                origin: Some(&text),
                cookie: Some(&text),
                authorization: Some(&text),
            };
            let _ = gate.origin(&claims);
            prop_assert!(gate.grant(&claims, None).is_err());
            prop_assert!(gate.grant(&claims, split_path(&text).0).is_err());
            prop_assert!(gate.enter(&text, &host).is_err());
        }
    }
}
