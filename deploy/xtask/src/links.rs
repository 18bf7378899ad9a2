//! Links and sizes of the documents.
//!
//! In: all tracked Markdown files. Out: every local link that leads nowhere, every document in `docs/` to which no link
//! leads, and every document that is too long. Addresses on the network are not looked at.

use crate::git::tracked;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Documents that stay short, and how many bytes they may have.
const MOST_BYTES: [(&str, usize); 3] =
    [("README.md", 8_000), ("ARCHITECTURE.md", 15_000), ("GLOSSARY.md", 10_000)];

/// A link: the line, and what it names.
#[derive(Debug, PartialEq, Eq)]
struct Link<'a> {
    line: usize,
    target: &'a str,
}

/// Fails with all that was found.
pub(crate) fn check(root: &Path) -> Result<()> {
    let files: BTreeSet<String> = tracked(root)?.into_iter().collect();
    let mut documents = BTreeMap::new();
    for name in files.iter().filter(|name| name.ends_with(".md")) {
        // A file that is deleted but not yet committed is still listed.
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        documents.insert(name.clone(), text);
    }
    for (name, _) in MOST_BYTES {
        ensure!(documents.contains_key(name), "{name} is missing");
    }
    let (faults, links) = faults(&documents, &files);
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("links hold: {} documents, {links} local links", documents.len());
    Ok(())
}

/// Everything that is wrong, and how many local links were looked at.
fn faults(documents: &BTreeMap<String, String>, files: &BTreeSet<String>) -> (Vec<String>, usize) {
    let mut faults = Vec::new();
    let mut reached = BTreeSet::new();
    let mut count = 0;
    for (name, text) in documents {
        for link in links(text).into_iter().filter(|link| !is_address(link.target)) {
            count += 1;
            match resolve(name, link.target, documents, files) {
                Ok(path) => drop(reached.insert(path)),
                Err(why) => faults.push(format!("{name}:{}: {} {why}", link.line, link.target)),
            }
        }
        let most = MOST_BYTES.iter().find(|(limited, _)| limited == name);
        if let Some((_, most)) = most.filter(|(_, most)| text.len() > *most) {
            faults.push(format!("{name} has {} bytes, more than {most}: move a part into docs/", text.len()));
        }
    }
    let unreached = documents.keys().filter(|name| name.starts_with("docs/") && !reached.contains(*name));
    faults.extend(unreached.map(|name| format!("{name}: no document links to it")));
    (faults, count)
}

fn is_address(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// The file that a link leads to, or why it leads nowhere.
fn resolve(
    from: &str,
    target: &str,
    documents: &BTreeMap<String, String>,
    files: &BTreeSet<String>,
) -> Result<String, String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() {
        from.to_owned()
    } else {
        joined(from, path).map_err(|error| error.to_string())?
    };
    let folder = format!("{}/", path.trim_end_matches('/'));
    if !files.contains(&path) && !files.iter().any(|file| file.starts_with(&folder)) {
        return Err("leads to no tracked file".into());
    }
    if let Some(anchor) = anchor {
        let text = documents.get(&path).ok_or("has an anchor, and its file is no document")?;
        if !anchors(text).contains(anchor) {
            return Err("leads to no heading".into());
        }
    }
    Ok(path)
}

/// A path of the repository, from the folder of a document.
fn joined(from: &str, path: &str) -> Result<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().context("leads out of the repository")?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The lines of a document outside of code blocks, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// `[text](target)` and `[name]: target`.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        if let Some((_, target)) = text.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            links.push(Link { line, target: target.trim() });
        }
        let mut from = 0;
        while let Some(found) = text[from..].find("](") {
            let begin = from + found + 2;
            let Some(length) = text[begin..].find(')') else { break };
            // Inline code is no link.
            if text[..begin].matches('`').count().is_multiple_of(2) {
                links.push(Link { line, target: text[begin..begin + length].trim() });
            }
            from = begin + length;
        }
    }
    links
}

/// The anchors of the headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let letters = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor: String = letters.flat_map(char::to_lowercase).collect::<String>().replace(' ', "-");
        let again = (1..).map(|turn| format!("{anchor}-{turn}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(documents: &[(&str, &str)]) -> Vec<String> {
        let documents: BTreeMap<String, String> =
            documents.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let mut files: BTreeSet<String> = documents.keys().cloned().collect();
        files.insert("deploy/test".into());
        faults(&documents, &files).0
    }

    #[test]
    fn links_to_files_folders_and_headings_hold() {
        let readme = "# A\n[one](docs/b.md#two-words) [two](#a) [three](deploy) [four](https://x.y/z)\n[ref]: deploy/test\n";
        assert!(
            found(&[("README.md", readme), ("docs/b.md", "# Two *words*\n[up](../README.md)")]).is_empty()
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_line() {
        let readme = "\n[one](none.md)\n[two](docs/b.md#none)\n[three](../x)\n";
        let expected = [
            "README.md:2: none.md leads to no tracked file",
            "README.md:3: docs/b.md#none leads to no heading",
            "README.md:4: ../x leads out of the repository",
            "docs/b.md: no document links to it",
        ];
        assert_eq!(found(&[("README.md", readme), ("docs/b.md", "# B")]), expected);
    }

    #[test]
    fn code_has_no_links_and_no_headings() {
        let text = "`[a](none.md)`\n```\n# Title\n[b](none.md)\n```\n";
        assert!(links(text).is_empty() && anchors(text).is_empty());
    }

    #[test]
    fn a_heading_that_comes_twice_has_a_number() {
        let both = anchors("# A: b_c, (d)\n## A: b_c, (d)\n");
        assert_eq!(both.into_iter().collect::<Vec<_>>(), ["a-b_c-d", "a-b_c-d-1"]);
    }

    #[test]
    fn a_long_document_is_refused() {
        let long = "x".repeat(8_001);
        assert_eq!(
            found(&[("README.md", &long)]),
            ["README.md has 8001 bytes, more than 8000: move a part into docs/"]
        );
    }
}
