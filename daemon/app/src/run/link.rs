//! What agents of other hosts need to reach the daemon, and how their ranks are told.

use super::Place;
use crate::daemon::Link;
use anyhow::Result;
use mpiscope_link::{Certificate, Secret};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How long the end of a run waits for an agent that is cut off.
const PATIENCE: Duration = Duration::from_secs(45);

/// A new secret, a new certificate, any port of any address.
pub(crate) fn link() -> Result<Link> {
    Ok(Link {
        addresses: vec![(Ipv4Addr::UNSPECIFIED, 0).into()],
        secret: Secret::draw()?.to_text(),
        certificate: Some(Certificate::make()?),
        patience: PATIENCE,
    })
}

/// A variable of the ranks' environment.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) value: OsString,
    /// Whether it may be seen by other users, as command lines are.
    pub(crate) is_secret: bool,
}

fn open(name: &'static str, value: impl Into<OsString>) -> Variable {
    Variable { name, value: value.into(), is_secret: false }
}

/// What the ranks are told.
pub(crate) fn variables(place: &Place, link: Option<(&Link, SocketAddr)>) -> Result<Vec<Variable>> {
    let mut variables = vec![open("MPISCOPE_RINGS", &place.rings), open("MPISCOPE_SPOOL", &place.spool)];
    if let Some((link, address)) = link {
        variables.push(open("MPISCOPE_AGENT", std::env::current_exe()?));
        variables.push(open("MPISCOPE_DAEMON", reachable(address).join(",")));
        if let Some(certificate) = &link.certificate {
            variables.push(open("MPISCOPE_CERTIFICATE", certificate.public()));
        }
        variables.push(Variable {
            name: "MPISCOPE_SECRET",
            value: link.secret.clone().into(),
            is_secret: true,
        });
    }
    Ok(variables)
}

/// The addresses under which other hosts may find this one: its name, and those of its interfaces.
fn reachable(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    if !address.ip().is_unspecified() {
        return vec![address.to_string()];
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut all = vec![format!("{name}:{port}")];
    let mut found: Vec<IpAddr> = if_addrs::get_if_addrs()
        .unwrap_or_default()
        .into_iter()
        .filter(|interface| !interface.is_loopback() && !interface.is_link_local())
        .map(|interface| interface.ip())
        .filter(|ip| ip.is_ipv4() || address.is_ipv6())
        .collect();
    found.sort();
    found.dedup();
    all.extend(found.into_iter().map(|ip| SocketAddr::new(ip, port).to_string()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_its_own_is_told_as_it_is() {
        assert_eq!(reachable(([10, 1, 2, 3], 9).into()), ["10.1.2.3:9"]);
        let any = reachable(([0, 0, 0, 0], 9).into());
        assert!(any.iter().all(|address| address.ends_with(":9") && !address.starts_with("127.")), "{any:?}");
    }
}
