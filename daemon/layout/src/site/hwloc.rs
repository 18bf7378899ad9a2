//! `hwloc` XML (`lstopo node.xml`): to which core, package and memory node a CPU belongs.

use super::description::SiteDescription;
use super::error::SiteError;
use super::machine::Machine;

/// More CPUs than a host has.
const MOST_CPUS: u32 = 1 << 16;
/// Objects within each other.
const MOST_DEPTH: usize = 64;

/// How many of each type were seen, and which one is open.
#[derive(Default)]
struct Counter {
    count: u32,
    open: Option<u32>,
}

impl SiteDescription {
    pub(super) fn read_hwloc(&mut self, text: &str) -> Result<(), SiteError> {
        let mut machine = Machine::default();
        let (mut cores, mut packages) = (Counter::default(), Counter::default());
        let mut memory: Vec<Vec<u64>> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        let mut rest = text;
        let line_of = |rest: &str| {
            let before = text.len() - rest.len();
            1 + text.as_bytes().iter().take(before).filter(|byte| **byte == b'\n').count() as u32
        };
        while let Some((_, after)) = rest.split_once('<') {
            let Some((tag, behind)) = after.split_once('>') else {
                return Err(SiteError {
                    line: line_of(after),
                    text: "expected `>`, found the end".to_owned(),
                });
            };
            rest = behind;
            if tag.starts_with("/object") {
                match open.pop() {
                    Some("Core") => cores.open = None,
                    Some("Package" | "Socket") => packages.open = None,
                    _ => {}
                }
                continue;
            }
            if tag.starts_with("info ") && attribute(tag, "name") == Some("HostName") {
                machine.name = attribute(tag, "value").unwrap_or_default().to_owned();
            }
            let Some(kind) = tag.strip_prefix("object ").and_then(|tag| attribute(tag, "type")) else {
                continue;
            };
            match kind {
                "Core" => cores.begin(),
                "Package" | "Socket" => packages.begin(),
                "NUMANode" => memory.push(attribute(tag, "cpuset").map(cpu_mask).unwrap_or_default()),
                "PU" => {
                    let number = attribute(tag, "os_index").and_then(|number| number.parse().ok());
                    if let Some(number) = number.filter(|number| *number < MOST_CPUS) {
                        let at = |of: &Counter| of.open.unwrap_or_default();
                        machine.cpus.insert(number, [at(&cores), at(&packages), 0]);
                    }
                }
                _ => {}
            }
            if tag.ends_with('/') {
                if kind == "Core" {
                    cores.open = None;
                }
            } else if open.len() < MOST_DEPTH {
                open.push(kind);
            } else {
                let text = format!("more than {MOST_DEPTH} objects within each other");
                return Err(SiteError { line: line_of(behind), text });
            }
        }
        if machine.cpus.is_empty() {
            let text = "expected hwloc's <object type=\"PU\" os_index=...>, found none".to_owned();
            return Err(SiteError { line: 1, text });
        }
        for (number, at) in &mut machine.cpus {
            let has = |mask: &Vec<u64>| {
                mask.get(*number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
            };
            at[2] = memory.iter().position(has).unwrap_or_default() as u32;
        }
        if !machine.name.is_empty() {
            self.add_node(&machine.name.clone());
        }
        self.machines.push(machine);
        Ok(())
    }
}

impl Counter {
    fn begin(&mut self) {
        self.open = Some(self.count);
        self.count += 1;
    }
}

/// The value of an attribute as it is written.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let (value, behind) = after.split_once('"')?;
        let found = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        if found == name {
            return Some(value);
        }
        rest = behind;
    }
    None
}

/// `0x00000003,0xffffffff`: words of 32 bits, the highest first.
fn cpu_mask(mask: &str) -> Vec<u64> {
    let words: Vec<u64> = mask
        .split(',')
        .map(|word| {
            let word = word.trim();
            u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).unwrap_or_default()
        })
        .collect();
    let low_first: Vec<u64> = words.into_iter().rev().collect();
    low_first
        .chunks(2)
        .map(|pair| pair[0] & 0xffff_ffff | pair.get(1).copied().unwrap_or_default() << 32)
        .collect()
}
