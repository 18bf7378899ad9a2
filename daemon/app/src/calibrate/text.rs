//! The criteria for people: a table of at most thirty lines.

use mpiscope_model::words::{bytes, count, nanoseconds, plural};
use mpiscope_verdict::criteria_file::{CriteriaFile, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// More sizes than are sampled.
const MOST_SIZES: usize = 17;

/// The table, with how far the clocks of several nodes may be apart.
pub(crate) fn text(criteria: &CriteriaFile, ranks: u32, apart_ns: Option<u64>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(criteria, ranks, apart_ns, &mut out);
    out
}

fn write(criteria: &CriteriaFile, ranks: u32, apart_ns: Option<u64>, out: &mut String) -> std::fmt::Result {
    let nodes = plural(criteria.nodes.into(), "node");
    writeln!(out, "{} on {nodes}, {}", plural(ranks.into(), "rank"), criteria.mpi)?;
    messages(criteria, out)?;
    if let Some(apart_ns) = apart_ns {
        writeln!(out, "  clock uncertainty {}", nanoseconds(apart_ns))?;
    }
    collectives(criteria, out)
}

fn messages(criteria: &CriteriaFile, out: &mut String) -> std::fmt::Result {
    let scopes: BTreeSet<Scope> = criteria.messages.iter().map(|one| one.scope).collect();
    let sizes: BTreeSet<u64> = criteria.messages.iter().map(|one| one.size).collect();
    write!(out, "  {:<10}", "messages")?;
    for scope in &scopes {
        let words = match scope {
            Scope::Intra => "within nodes",
            Scope::Inter => "between nodes",
        };
        write!(out, " {words:>14} {:>9}", "samples")?;
    }
    writeln!(out)?;
    for &size in sizes.iter().take(MOST_SIZES) {
        write!(out, "  {:>10}", bytes(size))?;
        for scope in &scopes {
            let found = criteria.messages.iter().find(|one| (one.scope, one.size) == (*scope, size));
            let median = found.map_or_else(String::new, |one| nanoseconds(one.median_ns));
            write!(out, " {median:>14} {:>9}", found.map_or_else(String::new, |one| count(one.samples)))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn collectives(criteria: &CriteriaFile, out: &mut String) -> std::fmt::Result {
    let mut functions: BTreeMap<&str, String> = BTreeMap::new();
    for one in &criteria.collectives {
        let line = functions.entry(&one.function).or_default();
        match one.bytes {
            0 => write!(line, "{}", nanoseconds(one.median_ns))?,
            size => write!(line, "{:>10} {:>8}", bytes(size), nanoseconds(one.median_ns))?,
        }
    }
    for (function, line) in functions {
        writeln!(out, "  {function:<14} {line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_verdict::criteria_file::{CollectiveCriterion, MessageCriterion};

    #[test]
    fn it_is_at_most_thirty_lines() {
        let mut criteria = CriteriaFile::new("Open MPI v4.1.4".into(), 2, 2, 0);
        for size in 1..200 {
            for scope in [Scope::Intra, Scope::Inter] {
                let criterion =
                    MessageCriterion { scope, size, samples: 1000, median_ns: size * 10, normal_ns: None };
                criteria.messages.push(criterion);
            }
        }
        for function in
            ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall"]
        {
            for bytes in [8, 1024] {
                let (function, ranks) = (function.to_owned(), 4);
                let criterion = CollectiveCriterion {
                    function,
                    ranks,
                    bytes,
                    is_root: false,
                    samples: 30,
                    median_ns: 1500,
                };
                criteria.collectives.push(criterion);
            }
        }
        let text = text(&criteria, 8, Some(900));
        assert!(text.lines().count() <= 30, "{text}");
        assert!(text.contains("within nodes") && text.contains("between nodes"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("MPI_Bcast             8 B  1.50 us  1.00 KiB  1.50 us"), "{text}");
    }
}
