//! Names and numbers in filters that are not there, and what was probably meant.

use crate::programs::requests::shortened;
use mpiscope_protocol::Key;
use std::collections::BTreeSet;

/// What is repeated of a name that there is not.
pub(super) const NAME_BYTES_MAX: usize = 64;
/// Those that are listed where nothing is like what was asked for.
const LISTED_MAX: usize = 8;

/// The numbers of communicators or call sites. What is not known is an error, or a note if it may come to be.
///
/// # Errors
/// One sentence about what is not there.
pub(super) fn numbers(
    what: &str,
    asked: &[Key],
    known: impl FnOnce() -> Vec<(u32, String)>,
    is_over: bool,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<u32>, String> {
    if asked.is_empty() {
        return Ok(BTreeSet::new());
    }
    let known = known();
    let ids: BTreeSet<u32> = known.iter().map(|(id, _)| *id).collect();
    let (mut numbers, mut unknown) = (BTreeSet::new(), None);
    for key in asked {
        match key {
            Key::Id(id) => {
                numbers.insert(*id);
                if !ids.contains(id) {
                    unknown.get_or_insert(*id);
                }
            }
            Key::Name(name) => numbers.extend(named(what, name, &known)?),
        }
    }
    // Where nobody knows any, as in tests, nothing is refused.
    if let Some(id) = unknown.filter(|_| !known.is_empty()) {
        missing(format!("there is no {what} {id}; {}", those(&known)), is_over, notes)?;
    }
    Ok(numbers)
}

/// # Errors
/// One sentence if nothing has this name. A name that comes later is not looked up again.
fn named(what: &str, name: &str, known: &[(u32, String)]) -> Result<Vec<u32>, String> {
    let of_name: Vec<u32> = known.iter().filter(|(_, known)| known == name).map(|(id, _)| *id).collect();
    if of_name.is_empty() {
        let name = shortened(name, NAME_BYTES_MAX);
        let meant = nearest(&name, known.iter().map(|(_, name)| name.as_str()));
        let hint = meant.map_or_else(|| those(known), |meant| format!("did you mean {meant}?"));
        return Err(format!("there is no {what} {name:?}; {hint}"));
    }
    Ok(of_name)
}

/// # Errors
/// One sentence if there is no such region.
pub(super) fn region(
    asked: u32,
    known: &[u32],
    is_over: bool,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    if known.contains(&asked) {
        return Ok(());
    }
    let known: Vec<(u32, String)> = known.iter().map(|&id| (id, String::new())).collect();
    missing(format!("there is no region {asked}; {}", those(&known)), is_over, notes)
}

fn missing(text: String, is_over: bool, notes: &mut Vec<String>) -> Result<(), String> {
    if is_over {
        return Err(text);
    }
    notes.push(format!("{text} so far"));
    Ok(())
}

/// The first of those that there are.
fn those(known: &[(u32, String)]) -> String {
    let one = |(id, name): &(u32, String)| match name.as_str() {
        "" => id.to_string(),
        name => format!("{id} ({})", shortened(name, NAME_BYTES_MAX)),
    };
    let listed: Vec<String> = known.iter().take(LISTED_MAX).map(one).collect();
    let more = known.len().saturating_sub(LISTED_MAX);
    match (known.len(), more) {
        (0, _) => "none is known".to_owned(),
        (1, _) => format!("there is {}", listed.join(", ")),
        (_, 0) => format!("there are {}", listed.join(", ")),
        (..) => format!("there are {} and {more} more", listed.join(", ")),
    }
}

/// The name that one was probably meant to be: the same but for case, or a few letters.
pub(super) fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
    use super::*;

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

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let known = || vec![(0, "MPI_COMM_WORLD".to_owned()), (3, "rows".to_owned()), (4, "rows".to_owned())];
        let mut notes = Vec::new();
        let mut find = |asked: &[Key], is_over| numbers("communicator", asked, known, is_over, &mut notes);
        assert_eq!(find(&["rows".into(), 0.into()], true), Ok(BTreeSet::from([0, 3, 4])));
        assert_eq!(
            find(&["row".into()], false).unwrap_err(),
            "there is no communicator \"row\"; did you mean rows?"
        );
        assert_eq!(
            find(&[7.into()], true).unwrap_err(),
            "there is no communicator 7; there are 0 (MPI_COMM_WORLD), 3 (rows), 4 (rows)"
        );
        assert!(
            find(&["planes of the grid".into()], true)
                .unwrap_err()
                .contains("; there are 0 (MPI_COMM_WORLD)")
        );
        // It may still be made.
        assert_eq!(find(&[7.into(), 0.into(), 8.into()], false), Ok(BTreeSet::from([0, 7, 8])));
        assert_eq!(
            region(5, &[0, 1], true, &mut Vec::new()).unwrap_err(),
            "there is no region 5; there are 0, 1"
        );
        assert!(region(5, &[], false, &mut notes).is_ok());
        assert_eq!(notes[1], "there is no region 5; none is known so far");
        assert!(notes[0].ends_with("4 (rows) so far"), "{notes:?}");
        assert_eq!(notes.len(), 2, "one sentence for all numbers of a list");
        let many: Vec<(u32, String)> = (0..20).map(|id| (id, String::new())).collect();
        assert_eq!(those(&many), "there are 0, 1, 2, 3, 4, 5, 6, 7 and 12 more");
    }
}
