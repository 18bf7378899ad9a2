//! Who may come in: pure decisions over a request's headers.
//!
//! Anyone on this machine can reach a loopback port, and any web page that a user has open can make their browser send
//! requests to it. Hence a token that only the user knows, a Host that must be ours (a name that an attacker points at
//! 127.0.0.1 is not), and an Origin that must be the page itself.

use crate::token::Token;
use std::net::IpAddr;

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
    /// It does not know the token.
    Secret,
}

/// The rules of one server.
#[derive(Debug)]
pub(crate) struct Gate {
    token: Token,
    bound: IpAddr,
    host_names: Vec<String>,
}

impl Gate {
    pub(crate) fn new(token: Token, bound: IpAddr, host_names: Vec<String>) -> Self {
        Gate { token, bound, host_names }
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

    /// Whether the request knows the token, by cookie or by `Authorization: Bearer`.
    pub(crate) fn secret(&self, claims: &Claims<'_>) -> Result<(), Refusal> {
        let bearer = claims.authorization.and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|offered| self.token.matches(offered.trim())) {
            return Ok(());
        }
        let name = cookie_name(self.host(claims)?);
        let known = claims.cookie.unwrap_or_default().split(';').any(|pair| {
            pair.trim().split_once('=').is_some_and(|(key, value)| key == name && self.token.matches(value))
        });
        if known { Ok(()) } else { Err(Refusal::Secret) }
    }

    /// The cookie to set when the query of `/` holds the right token.
    pub(crate) fn cookie_for(&self, query: &str, host: &str) -> Result<String, Refusal> {
        let offered = query.split('&').find_map(|pair| pair.strip_prefix("token=")).ok_or(Refusal::Secret)?;
        if !self.token.matches(offered) {
            return Err(Refusal::Secret);
        }
        Ok(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(host), self.token.hex()))
    }
}

/// Cookies are shared by all ports of a host, so the name holds the port that the browser sees: two runs, or two
/// tunnels to two machines, must not overwrite each other's.
fn cookie_name(host: &str) -> String {
    let port = split_host(host).map(|(_, port)| port).filter(|port| !port.is_empty()).unwrap_or("80");
    format!("mpiscope_{port}")
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
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn gate(bound: Ipv4Addr) -> Gate {
        Gate::new(Token::from_bytes([7; 16]), bound.into(), vec!["node17".to_owned()])
    }

    fn to(host: &str) -> Claims<'_> {
        Claims { host: Some(host), ..Claims::default() }
    }

    #[test]
    fn only_our_names_are_served() {
        let gate = gate(Ipv4Addr::LOCALHOST);
        for host in
            ["localhost", "LOCALHOST:80", "127.0.0.1:8123", "[::1]:9", "[::1]", "node17:1", "127.0.0.2:5"]
        {
            assert_eq!(gate.host(&to(host)), Ok(host), "{host}");
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
            assert_eq!(gate.host(&to(host)), Err(Refusal::Host), "{host}");
        }
        assert_eq!(gate.host(&Claims::default()), Err(Refusal::Host));
    }

    #[test]
    fn listening_everywhere_serves_any_address_but_no_other_name() {
        let gate = gate(Ipv4Addr::UNSPECIFIED);
        assert!(gate.host(&to("10.1.2.3:80")).is_ok());
        assert_eq!(gate.host(&to("evil.example:80")), Err(Refusal::Host));
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
        let set = gate.cookie_for(&format!("a=b&token={hex}"), "localhost:9").unwrap();
        assert_eq!(set, format!("mpiscope_9={hex}; HttpOnly; SameSite=Strict; Path=/"));
        let cookie = format!("other=1; mpiscope_9={hex}");
        let with = |host| Claims { host: Some(host), cookie: Some(&cookie), ..Claims::default() };
        assert_eq!(gate.secret(&with("localhost:9")), Ok(()));
        assert_eq!(gate.secret(&with("localhost:10")), Err(Refusal::Secret));
        assert_eq!(gate.cookie_for("token=", "localhost:9"), Err(Refusal::Secret));
        let bearer = format!("Bearer {hex}");
        let program = Claims { host: Some("localhost:9"), authorization: Some(&bearer), ..Claims::default() };
        assert_eq!(gate.secret(&program), Ok(()));
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
            prop_assert!(gate.secret(&claims).is_err());
            prop_assert!(gate.cookie_for(&text, &host).is_err());
        }
    }
}
