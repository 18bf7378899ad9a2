//! The file of `run --hostfile`.

/// More processes than these do not make an analysis faster.
const MOST_PROCESSES: usize = 64;

/// The hosts of a file, each with its number of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hostfile(pub(crate) Vec<(String, usize)>);

/// Reads a file for launchers: at the beginning of each line the name of a host, which may come several times. `slots=4`, `:4` and what
/// follows `#` are ignored; `processes=2` asks for two processes of the analysis.
pub(crate) fn hostfile(path: &str) -> Result<Hostfile, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut hosts: Vec<(String, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(word) = words.next() else { continue };
        // With more colons it is an address.
        let name = word.split_once(':').filter(|(_, slots)| is_number(slots)).map_or(word, |(name, _)| name);
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_of_name) {
            return Err(format!("line {}: {word:?} is no name of a host", number + 1));
        }
        let processes = words.find_map(|word| word.strip_prefix("processes="));
        let processes = processes.map_or(Ok(1), |number| number.parse::<usize>());
        let Some(processes) = processes.ok().filter(|processes| (1..=MOST_PROCESSES).contains(processes))
        else {
            return Err(format!("line {}: processes= takes a number from 1 to {MOST_PROCESSES}", number + 1));
        };
        match hosts.iter_mut().find(|(known, _)| known == name) {
            Some((_, of_host)) => *of_host = processes.max(*of_host),
            None => hosts.push((name.to_owned(), processes)),
        }
    }
    match hosts.iter().map(|(_, processes)| processes).sum::<usize>() {
        0 => Err("it names no host".to_owned()),
        1..=MOST_PROCESSES => Ok(Hostfile(hosts)),
        count => Err(format!("it asks for {count} processes; an analysis has {MOST_PROCESSES} at most")),
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._:@".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Vec<(String, usize)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hosts");
        std::fs::write(&path, text).unwrap();
        hostfile(path.to_str().unwrap()).map(|Hostfile(hosts)| hosts)
    }

    fn once(names: &[&str]) -> Vec<(String, usize)> {
        names.iter().map(|name| ((*name).to_owned(), 1)).collect()
    }

    #[test]
    fn the_files_of_launchers_are_read() {
        let open_mpi =
            "# nodes\nnode1 slots=4 max_slots=8\n\n  node2\tslots=4 # the other\nuser@node3.site\n";
        assert_eq!(hosts(open_mpi).unwrap(), once(&["node1", "node2", "user@node3.site"]));
        assert_eq!(hosts("node1:4\nnode2:4\nfe80::1\n").unwrap(), once(&["node1", "node2", "fe80::1"]));
        assert_eq!(hosts("[fe80::1]\n").unwrap(), once(&["fe80::1"]));
        // A line for each slot.
        assert_eq!(hosts(&"node1\nnode2\n".repeat(100)).unwrap(), once(&["node1", "node2"]));
        assert_eq!(hosts("node1 slots=8 processes=3\n").unwrap(), [("node1".to_owned(), 3)]);
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let many: String = (0..65).map(|at| format!("node{at}\n")).collect();
        for (text, expected) in [
            ("# nobody\n", "it names no host"),
            ("node1\n-oProxyCommand=x\n", "line 2: \"-oProxyCommand=x\" is no name of a host"),
            ("a;b\n", "line 1: \"a;b\" is no name of a host"),
            (":4\n", "line 1: \":4\" is no name of a host"),
            ("a processes=0\n", "line 1: processes= takes a number from 1 to 64"),
            (&many, "it asks for 65 processes; an analysis has 64 at most"),
        ] {
            assert_eq!(hosts(text).unwrap_err(), expected);
        }
        assert!(hostfile("/nowhere").is_err());
    }
}
