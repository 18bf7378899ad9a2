//! The values of settings that are more than a number or a text.

use serde::Deserialize;
use std::fmt;

/// Who starts the agent of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Start {
    /// The first of its ranks that finds none.
    #[default]
    Ranks,
    /// Somebody, beforehand.
    ByHand,
}

/// Whether the daemon listens for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Listen {
    /// When ranks may run on other hosts.
    #[default]
    Auto,
    Never,
    Always,
}

/// The ports that may be listened on; `None` is any that is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ports(pub(crate) Option<(u16, u16)>);

impl fmt::Display for Start {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ranks => "ranks",
            Self::ByHand => "by-hand",
        })
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Auto => "auto",
            Self::Never => "never",
            Self::Always => "always",
        })
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => out.write_str("any"),
            Some((first, last)) if first == last => write!(out, "{first}"),
            Some((first, last)) => write!(out, "{first}-{last}"),
        }
    }
}

/// A range of ports, one port, or "any".
pub(super) fn ports(text: &str) -> Result<Ports, String> {
    let wrong = || format!("{text:?} is no range of ports such as \"40000-40100\", nor \"any\"");
    if text == "any" {
        return Ok(Ports(None));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(wrong);
    let (first, last) = (port(first)?, port(last)?);
    if first > last {
        return Err(wrong());
    }
    Ok(Ports(Some((first, last))))
}

/// A size in bytes: a number and a unit.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size such as \"4 GiB\"");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let power = match unit.trim() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return Err(wrong()),
    };
    Ok((number * (1_u64 << power) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes =
            [("0", 0), ("17", 17), ("17 B", 17), ("64MiB", 64 << 20), ("4 GiB", 4 << 30), ("1.5 KiB", 1536)];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "4 GB", "-1", "lots", "GiB", "1.2.3"] {
            assert!(size(text).unwrap_err().contains("4 GiB"), "{text}");
        }
    }

    #[test]
    fn ports_are_a_range() {
        let ranges = [("any", None), ("7", Some((7, 7))), ("40000-40100", Some((40_000, 40_100)))];
        for (text, range) in ranges {
            assert_eq!(ports(text), Ok(Ports(range)), "{text}");
            assert_eq!(Ports(range).to_string(), text);
        }
        for text in ["", "0", "5-4", "1-70000", "a-b", "1-2-3"] {
            assert!(ports(text).unwrap_err().contains("range of ports"), "{text}");
        }
    }
}
