//! A table of who talked to whom: `a,b[,weight]` on each line.

use anyhow::{Context as _, Result, bail};
use mpiscope_model::Rank;
use mpiscope_topology::TalkGraph;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The line that may name the columns.
const HEADERS: [&str; 2] = ["a,b", "a,b,weight"];

/// Reads a table; errors name file and line.
pub(super) fn read(path: &Path) -> Result<TalkGraph> {
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let mut pairs = Vec::new();
    for (at, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.with_context(|| format!("read {}", path.display()))?;
        let place = || format!("{}, line {}", path.display(), at + 1);
        let line = std::str::from_utf8(&line).with_context(place)?;
        let line = if at == 0 { line.trim_start_matches('\u{feff}') } else { line }.trim();
        if line.is_empty() {
            continue;
        }
        let is_header = pairs.is_empty() && HEADERS.contains(&line.replace(' ', "").to_lowercase().as_str());
        if !is_header {
            pairs.push(pair(line).with_context(place)?);
        }
    }
    if pairs.is_empty() {
        bail!("{} names no ranks: each line is a,b or a,b,weight", path.display());
    }
    Ok(TalkGraph::new([], pairs))
}

fn pair(line: &str) -> Result<(Rank, Rank, f64)> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (one, other, weight) = match fields[..] {
        [one, other] => (one, other, None),
        [one, other, weight] => (one, other, Some(weight)),
        _ => bail!("a line is a,b or a,b,weight, not {} fields", fields.len()),
    };
    let rank = |field: &str| {
        field.parse().ok().map(Rank).with_context(|| format!("`{}` is no rank", field.escape_debug()))
    };
    let weight = match weight {
        None => 1.0,
        Some(field) => {
            let weight = field.parse().ok().filter(|weight| (0.0..=1e300).contains(weight));
            weight.with_context(|| format!("`{}` is no weight", field.escape_debug()))?
        }
    };
    Ok((rank(one)?, rank(other)?, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str) -> Result<TalkGraph> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("edges.csv");
        std::fs::write(&file, text).unwrap();
        read(&file)
    }

    #[test]
    fn lines_add_up_whichever_way_they_go() {
        let graph = reading("\u{feff}a, b, weight\r\n3,1,2.5\n\n 1 , 3 \n7,7,5\n4,3,0\n").unwrap();
        assert_eq!(graph.ranks(), [1, 3, 4, 7].map(Rank));
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(Rank(1), Rank(3), 3.5)]);
        assert_eq!(reading("0,1").unwrap().ranks(), [0, 1].map(Rank));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let wrong = [
            ("a,b\n0,1\n1,-2\n", "edges.csv, line 3: `-2` is no rank"),
            ("0,1,2\n\n1,2,many", "edges.csv, line 3: `many` is no weight"),
            ("0,1,NaN", "line 1: `NaN` is no weight"),
            ("0,1,inf", "line 1: `inf` is no weight"),
            ("0,1,-1", "line 1: `-1` is no weight"),
            ("0,1,2,3", "line 1: a line is a,b or a,b,weight, not 4 fields"),
            ("0", "line 1: a line is a,b or a,b,weight, not 1 fields"),
            ("from,to\n0,1", "line 1: `from` is no rank"),
            ("0,4294967296", "line 1: `4294967296` is no rank"),
            ("a,b\n", "names no ranks"),
            ("", "names no ranks"),
        ];
        for (text, expected) in wrong {
            let error = format!("{:#}", reading(text).unwrap_err());
            assert!(error.contains(expected) && !error.contains('\n'), "{text:?}: {error}");
        }
    }
}
