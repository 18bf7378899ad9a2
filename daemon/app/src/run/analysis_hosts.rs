//! The hosts that `--hostfile` names for recording and live analysis.

use super::link::{addresses, anywhere, reachable_names};
use crate::command_line::Hostfile;
use crate::site::Site;
use mpiscope_process::local_host::host_name;
use mpiscope_recorder::{AnalysisHost, AnalysisHosts};
use std::net::{IpAddr, Ipv4Addr};

/// How the hosts are reached; none without others. The daemon is a process of its own host, whether that is listed or not.
pub(crate) fn analysis_hosts(hostfile: Option<&Hostfile>, site: &Site) -> Option<AnalysisHosts> {
    let hosts = others(hostfile?, is_own);
    if hosts.is_empty() {
        say!("the file of --hostfile names this host alone: nothing is shared");
        return None;
    }
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (address, own_names) = if hosts.iter().all(|host| host.is_own) {
        (loopback, vec![loopback.to_string()])
    } else {
        (anywhere(site), reachable_names(&site.agents.addresses, anywhere(site)))
    };
    Some(AnalysisHosts {
        hosts,
        shell: site.analysis.shell.clone(),
        listen: addresses(site, address),
        own_names,
        tls: site.agents.tls,
    })
}

/// The processes beside the daemon's.
fn others(Hostfile(hosts): &Hostfile, is_own: impl Fn(&str) -> bool) -> Vec<AnalysisHost> {
    let of_host = |(name, processes): &(String, usize)| {
        let host = AnalysisHost { name: name.clone(), is_own: is_own(name) };
        let others = processes - usize::from(host.is_own);
        std::iter::repeat_n(host, others)
    };
    hosts.iter().flat_map(of_host).collect()
}

/// Whether it is the name of this host, with or without its domain, or one of its addresses.
fn is_own(name: &str) -> bool {
    if let Ok(address) = name.parse::<IpAddr>() {
        let own = if_addrs::get_if_addrs().unwrap_or_default();
        return address.is_loopback() || own.iter().any(|interface| interface.ip() == address);
    }
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    name == "localhost" || first(name) == first(&host_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemon_is_a_process_of_its_own_host() {
        let others = |hosts: &[(&str, usize)]| -> Vec<String> {
            let hosts = hosts.iter().map(|(name, processes)| ((*name).to_owned(), *processes)).collect();
            super::others(&Hostfile(hosts), |name| name == "own").into_iter().map(|host| host.name).collect()
        };
        assert_eq!(others(&[("there", 1), ("own", 2)]), ["there", "own"]);
        assert_eq!(others(&[("own", 1)]), Vec::<String>::new());
        assert_eq!(others(&[("there", 2)]), ["there", "there"]);
        assert!(is_own("localhost") && is_own("127.0.0.1") && is_own(&host_name()) && !is_own("far-away"));
        assert!(is_own(&format!("{}.site.example", host_name())));
    }
}
