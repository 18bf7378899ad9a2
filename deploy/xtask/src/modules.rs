//! The arrows between the modules of a crate: a module may use what is below it and beside it, nothing above it. Calls of
//! methods that another module adds to a type are not seen.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folders of the crates whose modules are checked.
const CHECKED: [&str; 2] = ["collector", "daemon"];

/// A module as its path in the crate; the crate itself is the empty one.
type Module = Vec<String>;

/// Who uses whom, with the number of the line.
type Imports = BTreeMap<Module, BTreeMap<Module, usize>>;

/// Fails at an import that goes up or that closes a circle.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut file_count = 0;
    let crates =
        CHECKED.map(|folder| crates(&root.join(folder))).into_iter().collect::<Result<Vec<_>>>()?.concat();
    for folder in &crates {
        let mut files = BTreeMap::new();
        read_modules(&folder.join("src"), &Vec::new(), &mut files)?;
        let faults = faults(&files);
        ensure!(faults.is_empty(), "{}:\n{}", folder.display(), faults.join("\n"));
        file_count += files.len();
    }
    ensure!(file_count > 0, "no modules in {}", CHECKED.join(" and "));
    println!("modules hold: {file_count} files of {} crates", crates.len());
    Ok(())
}

/// The crates of a folder, in order.
fn crates(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut crates = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() {
            crates.push(path);
        }
    }
    crates.sort();
    Ok(crates)
}

/// Reads the text of all modules in a folder. Tests use what they test, so they are left out.
fn read_modules(folder: &Path, parent: &Module, files: &mut BTreeMap<Module, String>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        let mut module = parent.clone();
        if !["lib", "main", "mod"].contains(&name.as_str()) {
            module.push(name);
        }
        if path.is_dir() {
            read_modules(&path, &module, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            files.insert(module, text);
        }
    }
    Ok(())
}

fn faults(files: &BTreeMap<Module, String>) -> Vec<String> {
    let mut imports = Imports::new();
    for (module, text) in files {
        imports.insert(module.clone(), imports_of(module, text, files));
    }
    let mut faults = Vec::new();
    for (module, used) in &imports {
        for (other, line) in used {
            let name = |module: &Module| format!("crate::{}", module.join("::"));
            if module.starts_with(other) {
                faults.push(format!("{}, line {line}: uses {}, above it", name(module), name(other)));
            } else if !other.starts_with(module) && reaches(other, module, &imports) {
                faults.push(format!("{}, line {line}: {} uses it too", name(module), name(other)));
            }
        }
    }
    faults
}

/// The modules that a file uses, but for the tests at its end.
fn imports_of(module: &Module, text: &str, files: &BTreeMap<Module, String>) -> BTreeMap<Module, usize> {
    let mut used = BTreeMap::new();
    let mut statement = String::new();
    let mut begins = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split_once("//").map_or(line, |(code, _)| code).trim();
        if line.split_once("mod tests {").is_some_and(|(before, _)| is_visibility(before)) {
            break;
        }
        if statement.is_empty() {
            let Some((_, path)) = line.split_once("use ").filter(|(before, _)| is_visibility(before)) else {
                let named = paths_in_code(line).into_iter().filter_map(|path| target(module, path, files));
                used.extend(named.map(|target| (target, number)));
                continue;
            };
            (begins, statement) = (number, path.to_owned());
        } else {
            statement.push_str(line);
        }
        if let Some(whole) = statement.strip_suffix(';') {
            for path in paths(whole) {
                used.extend(target(module, &path, files).map(|target| (target, begins)));
            }
            statement.clear();
        }
    }
    used
}

/// The paths that code names without importing them.
fn paths_in_code(line: &str) -> Vec<&str> {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let begins =
        ["crate::", "super::"].into_iter().flat_map(|start| line.match_indices(start)).map(|(at, _)| at);
    let is_part = |before: &str| {
        before.ends_with("(in ") || before.ends_with(|last| is_name(last) || "$:\"".contains(last))
    };
    let whole = begins.filter(|&at| !is_part(&line[..at]));
    let path = |at: usize| {
        let end = line[at..].find(|character| !is_name(character) && character != ':');
        line[at..end.map_or(line.len(), |end| at + end)].trim_end_matches(':')
    };
    whole.map(path).collect()
}

/// Whether this may stand before `use`.
fn is_visibility(before: &str) -> bool {
    before.is_empty() || (before.starts_with("pub") && before.ends_with(' '))
}

/// The paths of a statement, its braces opened.
fn paths(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.trim().to_owned()] };
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut from, mut parts) = (0_u32, 0, Vec::new());
    for (at, character) in inside.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(paths).map(|part| format!("{}{part}", before.trim())).collect()
}

/// The module of the crate that a path leads to; none where it leads out of the crate.
fn target(module: &Module, path: &str, files: &BTreeMap<Module, String>) -> Option<Module> {
    let mut names: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut found = match names[0] {
        "crate" => Vec::new(),
        "self" | "super" => module.clone(),
        child => {
            let mut child_module = module.clone();
            child_module.push(child.to_owned());
            return files.contains_key(&child_module).then(|| longest(module.clone(), &names, files));
        }
    };
    while let Some(&first) = names.first().filter(|name| ["crate", "self", "super"].contains(name)) {
        if first == "super" {
            found.pop();
        }
        names.remove(0);
    }
    Some(longest(found, &names, files)).filter(|found| found != module)
}

/// Goes down into modules as long as names are those of modules.
fn longest(mut module: Module, names: &[&str], files: &BTreeMap<Module, String>) -> Module {
    for name in names {
        module.push((*name).to_owned());
        if !files.contains_key(&module) {
            module.pop();
            break;
        }
    }
    module
}

fn reaches(from: &Module, to: &Module, imports: &Imports) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(imports.get(module).into_iter().flat_map(BTreeMap::keys));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let module =
            |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        faults(&files.iter().map(|(name, text)| (module(name), (*text).to_owned())).collect())
    }

    #[test]
    fn imports_go_down_or_aside() {
        let allowed = [
            ("", "mod a;\nuse a::b::{C, D};\npub use a::E;\nuse std::path::{Path, PathBuf};"),
            (
                "a",
                "use crate::other::{\n    self,\n    Thing,\n};\nuse b::C;\n#[cfg(test)]\nmod tests {\n    use crate::Top;",
            ),
            ("a::b", "use super::c::F;\nuse crate::other::Thing;"),
            ("a::c", ""),
            ("other", "use anyhow::Result;"),
        ];
        assert_eq!(faults_of(&allowed), Vec::<String>::new());
    }

    #[test]
    fn imports_that_go_up_or_in_a_circle_are_faults() {
        let up = [("", "use a::B;"), ("a", "use b::C;"), ("a::b", "use std::fs;\nuse super::{D};")];
        assert_eq!(faults_of(&up), ["crate::a::b, line 2: uses crate::a, above it"]);
        let commented = [("", ""), ("a", "use anyhow::Result; // why\nuse crate::B;")];
        assert_eq!(faults_of(&commented), ["crate::a, line 2: uses crate::, above it"]);
        let top = [("", ""), ("a", "use crate::{B, a::c};"), ("a::c", "")];
        assert_eq!(faults_of(&top), ["crate::a, line 1: uses crate::, above it"]);
        let circle = [("a", "use crate::c::D;"), ("c", "use super::e::F;"), ("e", "use crate::a::B;")];
        assert_eq!(faults_of(&circle).len(), 3);
        let named = [
            ("a", "fn b() { c(crate::e::D) }\npub(in crate::x) fn f() { $crate::g() }"),
            ("e", "use crate::a::b;"),
        ];
        assert_eq!(faults_of(&named).len(), 2);
        // A module that uses something beside its parent, which uses the parent.
        let around = [("a", "use b::C;"), ("a::b", "use crate::other::D;"), ("other", "use crate::a::E;")];
        assert_eq!(faults_of(&around).len(), 2);
    }
}
