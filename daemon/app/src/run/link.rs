//! What agents of other hosts need to reach the daemon, and how their ranks get it.

use crate::command_line::RunOptions;
use crate::remote_agent::LEFT_FILE;
use crate::site::{Listen, Ports, Site, Start};
use anyhow::{Context as _, Result};
use mpiscope_launch::{System, may_span_hosts};
use mpiscope_link::{Certificate, Secret};
use mpiscope_process::local_host::host_name;
use mpiscope_process::private::create_private;
use mpiscope_recorder::Link;
use mpiscope_ring::clock::DRIFT_VARIABLE;
use std::ffi::OsString;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// A new secret and a new certificate, and where to listen; none when there are no other hosts.
pub(crate) fn link(options: &RunOptions, site: &Site, system: &System) -> Result<Option<Link>> {
    let listens = match site.agents.listen {
        Listen::Never => false,
        Listen::Always => true,
        Listen::Auto => may_span_hosts(&options.command, system),
    };
    if !listens {
        return Ok(None);
    }
    Ok(Some(Link {
        addresses: addresses(site, anywhere(site)),
        secret: Secret::draw()?.to_text(),
        certificate: site.agents.tls.then(Certificate::make).transpose()?,
        patience: site.limits.patience,
    }))
}

/// Where to listen, as the site allows.
pub(super) fn addresses(site: &Site, address: IpAddr) -> Vec<SocketAddr> {
    let Ports(ports) = site.agents.ports;
    let ports = ports.map_or(0..=0, |(first, last)| first..=last);
    ports.map(|port| SocketAddr::new(address, port)).collect()
}

/// All addresses of this host.
pub(super) fn anywhere(site: &Site) -> IpAddr {
    if site.agents.addresses.iter().any(IpAddr::is_ipv6) {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    } else {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED)
    }
}

/// What the ranks and their agents get.
pub(crate) fn variables(
    link: &Link,
    address: SocketAddr,
    site: &Site,
    program: &Path,
) -> Vec<(String, OsString)> {
    let named = |name: &str, value: OsString| (name.to_owned(), value);
    let mut variables = vec![
        named("MPISCOPE_DAEMON", reachable(address, &site.agents.addresses).join(",").into()),
        named("MPISCOPE_SECRET", link.secret.clone().into()),
        named("MPISCOPE_SPOOL_BYTES", site.limits.spool_bytes.to_string().into()),
    ];
    if let Some(certificate) = &link.certificate {
        variables.push(named("MPISCOPE_CERTIFICATE", certificate.public().into()));
    }
    if let Some(drift) = std::env::var_os(DRIFT_VARIABLE) {
        variables.push(named(DRIFT_VARIABLE, drift));
    }
    if site.agents.start == Start::Ranks {
        variables.push(named("MPISCOPE_AGENT", program.into()));
    }
    variables
}

/// Leaves what agents have to know in the recording, for those that are started by hand.
pub(crate) fn leave<'a>(out: &Path, variables: impl Iterator<Item = &'a (String, OsString)>) -> Result<()> {
    let path = out.join(LEFT_FILE);
    let text: String =
        variables.map(|(name, value)| format!("{name}={}\n", value.to_string_lossy())).collect();
    let mut file = create_private(&path).with_context(|| format!("write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("write {}", path.display()))?;
    say!("start an agent on each node: mpiscope agent {}", out.display());
    Ok(())
}

/// The addresses under which other hosts may find this one.
fn reachable(address: SocketAddr, by_site: &[IpAddr]) -> Vec<String> {
    let names = reachable_names(by_site, address.ip());
    names.into_iter().map(|name| format!("{name}:{}", address.port())).collect()
}

/// Names and addresses under which other hosts may find this one, which listens at an address: those of the site, or its name and
/// all that its interfaces have.
pub(super) fn reachable_names(by_site: &[IpAddr], listening: IpAddr) -> Vec<String> {
    let name = |ip: IpAddr| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
    if !by_site.is_empty() {
        return by_site.iter().copied().map(name).collect();
    }
    let mut all = vec![host_name()];
    let mut found: Vec<IpAddr> = if_addrs::get_if_addrs()
        .unwrap_or_default()
        .into_iter()
        .filter(|interface| !interface.is_loopback() && !interface.is_link_local())
        .map(|interface| interface.ip())
        .filter(|ip| ip.is_ipv4() || listening.is_ipv6())
        .collect();
    found.sort();
    found.dedup();
    all.extend(found.into_iter().map(name));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_get_the_sites_addresses_and_nothing_else() {
        let addresses = reachable(([0, 0, 0, 0], 9).into(), &[[10, 1, 2, 3].into()]);
        assert_eq!(addresses, ["10.1.2.3:9"]);
    }

    #[test]
    fn without_any_they_get_all_of_the_host_but_its_loopback() {
        let addresses = reachable(([0, 0, 0, 0], 9).into(), &[]);
        assert!(!addresses.is_empty());
        assert!(
            addresses.iter().all(|address| address.ends_with(":9") && !address.starts_with("127.")),
            "{addresses:?}"
        );
    }
}
