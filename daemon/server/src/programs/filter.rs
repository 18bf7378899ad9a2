//! Which calls and messages a subscription is to.

use super::requests::shortened;
use mpiscope_feed::Library;
use mpiscope_feed::exchange::{Ranks, is_among};
use mpiscope_model::{Call, Message};
use mpiscope_protocol::{Subscribe, Topic};
use std::collections::BTreeSet;

/// The most entries of one list.
const ENTRIES_MAX: usize = 4_096;

/// What is repeated of a name that there is not.
const NAME_BYTES_MAX: usize = 64;

/// What a subscription asks for, checked.
#[derive(Debug)]
pub(super) struct Filter {
    /// By id; empty for all.
    functions: Vec<bool>,
    ranks: Ranks,
    region: Option<u32>,
    communicators: BTreeSet<u32>,
    sites: BTreeSet<u32>,
    at_least_ns: u64,
}

impl Filter {
    /// # Errors
    /// One sentence about what makes no sense.
    pub(super) fn new(asked: &Subscribe, library: &Library) -> Result<Self, String> {
        let lists = [
            ("functions", asked.functions.len()),
            ("families", asked.families.len()),
            ("ranks", asked.ranks.len()),
            ("communicators", asked.communicators.len()),
            ("sites", asked.sites.len()),
        ];
        if let Some((name, entries)) = lists.into_iter().find(|&(_, entries)| entries > ENTRIES_MAX) {
            return Err(format!("{name} has {entries} entries; {ENTRIES_MAX} is the most"));
        }
        let of_calls = [("functions", &asked.functions), ("families", &asked.families)];
        for (name, list) in of_calls {
            if asked.what != Topic::Calls && !list.is_empty() {
                return Err(format!("{name} select calls; messages and verdicts are of no function"));
            }
        }
        if asked.what != Topic::Calls && !asked.sites.is_empty() {
            return Err("sites select calls; messages and verdicts have none".to_owned());
        }
        if let Some(&(first, last)) = asked.ranks.iter().find(|(first, last)| first > last) {
            return Err(format!("ranks {first} to {last} is no range: the first is greater than the last"));
        }
        Ok(Self {
            functions: functions(asked, library)?,
            ranks: Some(asked.ranks.clone()).filter(|ranks| !ranks.is_empty()),
            region: asked.region,
            communicators: asked.communicators.iter().copied().collect(),
            sites: asked.sites.iter().copied().collect(),
            at_least_ns: asked.at_least_ns.max(0.0) as u64,
        })
    }

    /// The ranks, as regions are now. Of a region that there is not, nothing is found.
    pub(super) fn ranks(&self, library: &Library) -> Ranks {
        let Some(region) = self.region else { return self.ranks.clone() };
        let of_region = library.ranks_of_region(region).unwrap_or_default();
        match &self.ranks {
            None => Some(of_region),
            Some(ranks) => Some(common(ranks, &of_region)),
        }
    }

    pub(super) fn keeps_call(&self, call: &Call, ranks: &Ranks) -> bool {
        call.duration_ns() >= self.at_least_ns
            && (self.functions.is_empty() || self.functions.get(usize::from(call.function)) == Some(&true))
            && has(&self.communicators, call.comm)
            && has(&self.sites, call.site)
            && is_among(ranks.as_deref(), call.rank)
    }

    pub(super) fn keeps_message(&self, message: &Message, ranks: &Ranks) -> bool {
        message.t_msg_ns >= self.at_least_ns
            && has(&self.communicators, Some(message.comm))
            && (is_among(ranks.as_deref(), message.src) || is_among(ranks.as_deref(), message.dst))
    }
}

fn has(list: &BTreeSet<u32>, value: Option<u32>) -> bool {
    list.is_empty() || value.is_some_and(|value| list.contains(&value))
}

/// What two lists of ranges have in common.
fn common(one: &[(u32, u32)], other: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(first, last)| first <= last).collect()
}

fn functions(asked: &Subscribe, library: &Library) -> Result<Vec<bool>, String> {
    if asked.functions.is_empty() && asked.families.is_empty() {
        return Ok(Vec::new());
    }
    let all = library.functions();
    if let Some(name) = asked.functions.iter().find(|name| all.iter().all(|function| function.name != **name))
    {
        let name = shortened(name, NAME_BYTES_MAX);
        let nearest = nearest(&name, all.iter().map(|function| function.name));
        let hint = match nearest {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "the greeting lists those that there are".to_owned(),
        };
        return Err(format!("there is no function {name:?}; {hint}"));
    }
    if let Some(name) =
        asked.families.iter().find(|name| all.iter().all(|function| function.family != **name))
    {
        let families: BTreeSet<&str> = all.iter().map(|function| function.family).collect();
        let name = shortened(name, NAME_BYTES_MAX);
        let families = families.into_iter().collect::<Vec<_>>().join(", ");
        return Err(format!("there is no family {name:?}; there are {families}"));
    }
    let mut wanted =
        vec![false; all.iter().map(|function| usize::from(function.id) + 1).max().unwrap_or_default()];
    for function in all {
        let by_name = asked.functions.iter().any(|name| name == function.name);
        wanted[usize::from(function.id)] =
            by_name || asked.families.iter().any(|name| name == function.family);
    }
    Ok(wanted)
}

/// The name that one was probably meant to be: the same but for case, or a few letters.
fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.to_ascii_lowercase();
    let most = (asked.len() / 4).clamp(1, 3);
    names
        .map(|name| (distance(asked.as_bytes(), name.to_ascii_lowercase().as_bytes()), name))
        .filter(|(letters, _)| *letters <= most)
        .min()
        .map(|(_, name)| name)
}

/// How many letters have to be added, removed or replaced.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let replaced = before + usize::from(a != b);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_with_a_slip_is_known() {
        let near = |name| nearest(name, ["MPI_Send", "MPI_Ssend", "MPI_Barrier"].into_iter());
        for (asked, meant) in
            [("MPI_Sned", "MPI_Send"), ("mpi_send", "MPI_Send"), ("MPI_Bariers", "MPI_Barrier")]
        {
            assert_eq!(near(asked), Some(meant));
        }
        for asked in ["", "MPI_Wait", "MPI_Allreduce", "\u{fc}\u{fc}"] {
            assert_eq!(near(asked), None, "{asked}");
        }
    }
}
