//! What the lab says to a running switch, and what it hears. Requests are lines:
//!
//! ```text
//! links                                   counters
//! FROM TO [NAME=VALUE]... [cut]           end
//! end
//! ```
//!
//! `links` replaces what all links do; ports count from 1; names are `delay_ns`, `jitter_ns`, `distribution`,
//! `rate_bits`, `loss`. The answer ends the connection: `done`, `refused: WHY`, or a line `FROM TO NAME=VALUE...` for
//! each link that had frames.

use crate::link::{Counters, Distribution, Settings};
use crate::switch::{Ends, Switch};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The table of all links between 128 hosts fits many times.
const MOST_BYTES: u64 = 16 << 20;

const PATIENCE: Duration = Duration::from_secs(5);

/// Serves one connection after the other, for as long as the switch runs.
pub(crate) fn serve(listener: &UnixListener, switch: &Mutex<Switch>) {
    for connection in listener.incoming().flatten() {
        // Whoever asked and went away needs no answer.
        let _ = serve_one(connection, switch);
    }
}

fn serve_one(mut connection: UnixStream, switch: &Mutex<Switch>) -> Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let mut lines = Vec::new();
    for line in BufReader::new((&connection).take(MOST_BYTES)).lines() {
        let line = line?;
        if line == "end" {
            break;
        }
        lines.push(line);
    }
    let answer = answer(&lines, switch).unwrap_or_else(|error| format!("refused: {error:#}\n"));
    Ok(connection.write_all(answer.as_bytes())?)
}

fn answer(lines: &[String], switch: &Mutex<Switch>) -> Result<String> {
    let (first, others) = lines.split_first().context("no request")?;
    let mut switch = switch.lock().unwrap_or_else(PoisonError::into_inner);
    match first.as_str() {
        "links" => {
            let ports = switch.ports();
            switch.set(&table(others, ports)?);
            Ok("done\n".to_owned())
        }
        "counters" => Ok(switch.counters().map(counters_line).collect()),
        other => bail!("no such request: {other}"),
    }
}

fn table(lines: &[String], ports: usize) -> Result<BTreeMap<Ends, Settings>> {
    lines.iter().map(|line| link(line, ports).with_context(|| format!("the link {line:?}"))).collect()
}

fn link(line: &str, ports: usize) -> Result<(Ends, Settings)> {
    let mut words = line.split(' ');
    let mut port = || {
        let port = words.next().context("no port")?.parse::<usize>()?;
        ensure!((1..=ports).contains(&port), "there is no port {port}");
        Ok(port - 1)
    };
    let ends = (port()?, port()?);
    let mut settings = Settings::default();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "delay_ns" => settings.delay_ns = value.parse()?,
            "jitter_ns" => settings.jitter_ns = value.parse()?,
            "rate_bits" => settings.rate_bits = value.parse()?,
            "loss" => {
                settings.loss = value.parse()?;
                ensure!((0.0..=1.0).contains(&settings.loss), "a loss is between 0 and 1");
            }
            "distribution" => {
                settings.distribution = match value {
                    "uniform" => Distribution::Uniform,
                    "normal" => Distribution::Normal,
                    "pareto" => Distribution::Pareto,
                    _ => bail!("no such distribution: {value}"),
                }
            }
            "cut" => settings.cut = true,
            _ => bail!("no such setting: {name}"),
        }
    }
    Ok((ends, settings))
}

fn counters_line(((from, to), counters): (Ends, Counters)) -> String {
    let Counters { frames, forwarded, forwarded_bytes, lost, cut, overflowed, refused } = counters;
    let mut line = format!("{} {}", from + 1, to + 1);
    let named = [
        ("frames", frames),
        ("forwarded", forwarded),
        ("forwarded_bytes", forwarded_bytes),
        ("lost", lost),
        ("cut", cut),
        ("overflowed", overflowed),
        ("refused", refused),
    ];
    for (name, value) in named {
        let _ = write!(line, " {name}={value}");
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(switch: &Mutex<Switch>, request: &str) -> String {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(request.as_bytes()).unwrap();
        serve_one(theirs, switch).unwrap();
        let mut answer = String::new();
        ours.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_table_is_understood() {
        let words = "2 1 delay_ns=5 jitter_ns=3 distribution=pareto rate_bits=1000 loss=0.25 cut";
        let settings = Settings {
            delay_ns: 5,
            jitter_ns: 3,
            distribution: Distribution::Pareto,
            rate_bits: 1000,
            loss: 0.25,
            cut: true,
        };
        assert_eq!(link(words, 2).unwrap(), ((1, 0), settings));
        assert_eq!(link("1 2", 2).unwrap(), ((0, 1), Settings::default()));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let switch = Mutex::new(Switch::new(2, 1));
        for (request, why) in [
            ("end\n", "no request"),
            ("dance\nend\n", "no such request: dance"),
            ("links\n1 3 cut\nend\n", "there is no port 3"),
            ("links\n1 0 cut\nend\n", "there is no port 0"),
            ("links\n1\nend\n", "no port"),
            ("links\n1 2 colour=red\nend\n", "no such setting: colour"),
            ("links\n1 2 distribution=flat\nend\n", "no such distribution: flat"),
            ("links\n1 2 cut\n2 1 loss=2\nend\n", "between 0 and 1"),
            ("links\n1 2 delay_ns=-1\nend\n", "invalid digit"),
        ] {
            let answer = ask(&switch, request);
            assert!(answer.starts_with("refused: ") && answer.contains(why), "{request:?}: {answer}");
        }
        switch.lock().unwrap().take(0, 0, &[0xff; 20]);
        assert!(switch.lock().unwrap().due(0).is_some());
    }

    #[test]
    fn links_are_set_and_counters_are_listed() {
        let switch = Mutex::new(Switch::new(2, 1));
        assert_eq!(ask(&switch, "links\n1 2 cut\nend\n"), "done\n");
        assert_eq!(ask(&switch, "counters\nend\n"), "");
        switch.lock().unwrap().take(0, 0, &[0xff; 20]);
        let counted = "1 2 frames=1 forwarded=0 forwarded_bytes=0 lost=0 cut=1 overflowed=0 refused=0\n";
        assert_eq!(ask(&switch, "counters\nend\n"), counted);
    }
}
