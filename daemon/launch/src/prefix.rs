//! Commands that run another: `env X=1`, `time`, `nice -n 5`, `timeout 60`, ...; the launcher is looked for behind them.

use super::words::split_assignment;
use std::ffi::OsString;
use std::path::Path;

/// What stands before the command proper.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Where the command proper begins.
    pub(super) end: usize,
    pub(super) assigned: Vec<(String, usize)>,
    pub(super) unset: Vec<String>,
    /// `env -i`.
    pub(super) empties: bool,
}

/// A command of that kind: the options that take a value as a word of their own, and how many words precede the command
/// that it runs.
struct Kind {
    name: &'static str,
    valued: &'static [&'static str],
    operands: usize,
    /// The options that stand for an operand.
    instead: &'static [&'static str],
}

const fn kind(name: &'static str, valued: &'static [&'static str], operands: usize) -> Kind {
    Kind { name, valued, operands, instead: &[] }
}

const KINDS: &[Kind] = &[
    kind("env", &["-u", "--unset", "-C", "--chdir"], 0),
    kind("time", &["-f", "--format", "-o", "--output"], 0),
    kind("nice", &["-n", "--adjustment"], 0),
    kind("nohup", &[], 0),
    kind("setsid", &[], 0),
    kind("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    kind("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
    kind("ionice", &["-c", "--class", "-n", "--classdata"], 0),
    // With -c the list of processors takes the mask's place.
    Kind { name: "taskset", valued: &["-c", "--cpu-list"], operands: 1, instead: &["-c", "--cpu-list"] },
    kind("numactl", &["-i", "-N", "-C", "-m", "-p", "-P", "-w"], 0),
    kind("chrt", &["-T", "--sched-runtime", "-P", "--sched-period", "-D", "--sched-deadline"], 1),
];

pub(super) fn read(words: &[OsString]) -> Prefix {
    let mut prefix = Prefix::default();
    loop {
        let begin = prefix.end;
        let Some(name) = words.get(begin).and_then(|word| Path::new(word).file_name()) else { return prefix };
        let Some(kind) = KINDS.iter().find(|kind| name == kind.name) else { return prefix };
        let mut found = read_arguments(words, begin + 1, kind);
        // Nothing behind it: it is the command itself.
        if found.end >= words.len() {
            return prefix;
        }
        prefix.end = found.end;
        prefix.assigned.append(&mut found.assigned);
        prefix.unset.append(&mut found.unset);
        prefix.empties |= found.empties;
    }
}

/// The options, assignments and operands of one program from this place on, and where they end.
fn read_arguments(words: &[OsString], begin: usize, kind: &Kind) -> Prefix {
    let text = |at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let mut at = begin;
    let mut operands = kind.operands;
    let mut found = Prefix::default();
    while at < words.len() {
        let word = text(at);
        if word == "--" {
            at += 1;
            break;
        }
        if word.starts_with('-') && (word.len() > 1 || kind.name == "env") {
            let valued = kind.valued.contains(&word);
            if kind.name == "env" {
                read_option_of_env(word, text(at + 1), &mut found);
            }
            if kind.instead.contains(&word) {
                operands = 0;
            }
            at += 1 + usize::from(valued);
        } else if kind.name == "env"
            && let Some((name, _)) = split_assignment(&words[at])
        {
            found.assigned.push((name.to_owned(), at));
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    found.end = at;
    found
}

fn read_option_of_env(word: &str, next: &str, found: &mut Prefix) {
    match word {
        "-" | "-i" | "--ignore-environment" => found.empties = true,
        "-u" | "--unset" => found.unset.push(next.to_owned()),
        _ => {
            let joined = word.strip_prefix("--unset=").or_else(|| word.strip_prefix("-u"));
            found.unset.extend(joined.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(line: &str) -> usize {
        read(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).end
    }

    #[test]
    fn the_command_is_found_behind_those_that_run_it() {
        let lines = [
            "mpirun -n 2 ./a",
            "env | mpirun ./a",
            "env A=1 B=2 | mpirun ./a",
            "/usr/bin/env -u A -C /tmp A=1 | /usr/bin/mpirun ./a",
            "time | mpirun ./a",
            "/usr/bin/time -v -o file | mpirun ./a",
            "nice | mpirun ./a",
            "nice -n 5 | mpirun ./a",
            "nice -5 | mpirun ./a",
            "timeout 60 | mpirun ./a",
            "timeout -k 5 --signal=INT 60s | mpirun ./a",
            "stdbuf -oL | mpirun ./a",
            "stdbuf -o L -e 0 | mpirun ./a",
            "taskset -c 0,1 | mpirun ./a",
            "taskset 0x3 | mpirun ./a",
            "chrt -r 5 | mpirun ./a",
            "nohup nice -n 5 env A=1 timeout 9 | mpirun -n 4 ./a",
            "env A=1 -- | mpirun ./a",
            "numactl -N 0 --membind=0 | mpirun ./a",
            "strace -f mpirun ./a",
        ];
        for line in lines {
            let expected = line.split(" | ").count() - 1;
            let before = if expected == 1 { line.split(" | ").next().unwrap().split(' ').count() } else { 0 };
            assert_eq!(end(&line.replace(" | ", " ")), before, "{line}");
        }
    }

    #[test]
    fn a_prefix_without_a_command_is_the_command() {
        for line in ["env", "env A=1", "time", "timeout 60", "nice -n 5", "taskset -c 0"] {
            assert_eq!(end(line), 0, "{line}");
        }
    }

    #[test]
    fn what_env_does_is_known() {
        let words = ["env", "-u", "A", "--unset=B", "-uC", "D=1", "nice", "env", "-i", "E=2", "mpirun"];
        let prefix = read(&words.map(OsString::from));
        assert_eq!(prefix.unset, ["A", "B", "C"]);
        assert_eq!(prefix.assigned, [("D".to_owned(), 5), ("E".to_owned(), 9)]);
        assert!(prefix.empties);
        assert_eq!(prefix.end, 10);
    }
}
