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
        let mut topology = HwlocTopology::default();
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
            topology.read_tag(tag).map_err(|text| SiteError { line: line_of(behind), text })?;
        }
        let machine = topology.into_machine()?;
        if !machine.name.is_empty() {
            self.add_node(&machine.name.clone());
        }
        self.machines.push(machine);
        Ok(())
    }
}

/// What the tags so far say of a machine.
#[derive(Default)]
struct HwlocTopology<'a> {
    machine: Machine,
    cores: Counter,
    packages: Counter,
    /// The CPUs of each memory node, a bit each.
    memory: Vec<Vec<u64>>,
    /// The types of the objects that are open.
    open: Vec<&'a str>,
}

impl<'a> HwlocTopology<'a> {
    /// Reads a tag, without its brackets. An error is a text.
    fn read_tag(&mut self, tag: &'a str) -> Result<(), String> {
        if tag.starts_with("/object") {
            self.close_object();
            return Ok(());
        }
        if tag.starts_with("info ") && attribute(tag, "name") == Some("HostName") {
            attribute(tag, "value").unwrap_or_default().clone_into(&mut self.machine.name);
        }
        let Some(kind) = tag.strip_prefix("object ").and_then(|tag| attribute(tag, "type")) else {
            return Ok(());
        };
        self.add_object(kind, tag);
        if tag.ends_with('/') {
            if kind == "Core" {
                self.cores.open = None;
            }
        } else if self.open.len() < MOST_DEPTH {
            self.open.push(kind);
        } else {
            return Err(format!("more than {MOST_DEPTH} objects within each other"));
        }
        Ok(())
    }

    fn add_object(&mut self, kind: &str, tag: &str) {
        match kind {
            "Core" => self.cores.begin(),
            "Package" | "Socket" => self.packages.begin(),
            "NUMANode" => self.memory.push(attribute(tag, "cpuset").map(cpu_mask).unwrap_or_default()),
            "PU" => {
                let number = attribute(tag, "os_index").and_then(|number| number.parse().ok());
                if let Some(number) = number.filter(|number| *number < MOST_CPUS) {
                    let at = |of: &Counter| of.open.unwrap_or_default();
                    self.machine.cpus.insert(number, [at(&self.cores), at(&self.packages), 0]);
                }
            }
            _ => {}
        }
    }

    fn close_object(&mut self) {
        match self.open.pop() {
            Some("Core") => self.cores.open = None,
            Some("Package" | "Socket") => self.packages.open = None,
            _ => {}
        }
    }

    /// The machine, its CPUs with their memory nodes.
    fn into_machine(self) -> Result<Machine, SiteError> {
        let Self { mut machine, memory, .. } = self;
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
        Ok(machine)
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
