//! The hosts that `--hostfile` names for the live analysis.

use super::link::{anywhere, reachable_names};
use crate::command_line::RunOptions;
use crate::site::{Ports, Site};
use anyhow::{Context as _, Result, bail};
use mpiscope_process::local_host::host_name;
use mpiscope_recorder::AnalysisHosts;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

/// More processes than these do not make an analysis faster.
const MOST_HOSTS: usize = 64;

/// The names in a file for launchers: one at the beginning of each line, before `slots=4` or `:4`. What follows `#` is a remark.
///
/// # Errors
/// When the file cannot be read, or names no host, or too many.
pub(crate) fn read(path: &Path) -> Result<Vec<String>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("read the hosts of {}", path.display()))?;
    let mut names = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let Some(word) = line.split_whitespace().next() else { continue };
        // With more colons it is an address.
        let name = word.split_once(':').filter(|(_, slots)| is_number(slots)).map_or(word, |(name, _)| name);
        if name.starts_with('-') || !name.chars().all(is_of_name) {
            bail!("{}, line {}: {word:?} is no name of a host", path.display(), number + 1);
        }
        names.push(name.to_owned());
    }
    match names.len() {
        0 => bail!("{} names no host", path.display()),
        1..=MOST_HOSTS => Ok(names),
        count => bail!("{} names {count} hosts; an analysis has {MOST_HOSTS} at most", path.display()),
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._:@".contains(character)
}

/// How the hosts are reached; none without others. The daemon's own host takes part anyway: its first line stands for the
/// daemon, each further one for another process.
pub(crate) fn analysis_hosts(options: &RunOptions, site: &Site) -> Result<Option<AnalysisHosts>> {
    let Some(path) = &options.hostfile else { return Ok(None) };
    let names = without_daemon(read(path)?, &host_name());
    if names.is_empty() {
        return Ok(None);
    }
    let are_all_here = names.iter().all(|name| is_here(name, &host_name()));
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (address, own_names) = if are_all_here {
        (loopback, vec![loopback.to_string()])
    } else {
        (anywhere(site), reachable_names(&site.agents.addresses, anywhere(site)))
    };
    let Ports(ports) = site.agents.ports;
    let ports = ports.map_or(0..=0, |(first, last)| first..=last);
    Ok(Some(AnalysisHosts {
        names,
        shell: site.analysis.shell.clone(),
        listen: ports.map(|port| SocketAddr::new(address, port)).collect(),
        own_names,
        tls: site.agents.tls,
    }))
}

fn is_here(name: &str, own: &str) -> bool {
    name == "localhost" || name == own
}

fn without_daemon(mut names: Vec<String>, own: &str) -> Vec<String> {
    if let Some(daemon) = names.iter().position(|name| is_here(name, own)) {
        names.remove(daemon);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("hosts");
        std::fs::write(&path, text)?;
        read(&path)
    }

    #[test]
    fn the_files_of_both_families_are_read() {
        let open_mpi =
            "# nodes\nnode1 slots=4 max_slots=8\n\n  node2\tslots=4 # the other\nuser@node3.site\n";
        assert_eq!(names(open_mpi).unwrap(), ["node1", "node2", "user@node3.site"]);
        assert_eq!(names("node1:4\nnode2:4\nfe80::1\n").unwrap(), ["node1", "node2", "fe80::1"]);
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        for (text, expected) in [
            ("# nobody\n", "names no host"),
            ("node1\n-oProxyCommand=x\n", "line 2: \"-oProxyCommand=x\" is no name of a host"),
            ("a;b\n", "line 1: \"a;b\" is no name of a host"),
            (&"a\n".repeat(65), "names 65 hosts; an analysis has 64 at most"),
        ] {
            let error = format!("{:#}", names(text).unwrap_err());
            assert!(error.ends_with(expected), "{error}");
        }
        assert!(read(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn the_daemon_is_the_process_of_its_own_host() {
        let left = |words: &[&str]| without_daemon(words.iter().map(ToString::to_string).collect(), "here");
        assert_eq!(left(&["there", "here", "here"]), ["there", "here"]);
        assert_eq!(left(&["localhost"]), Vec::<String>::new());
        assert_eq!(left(&["there"]), ["there"]);
    }
}
