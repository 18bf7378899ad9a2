//! A recording in tables that can be compared with a truth.

use crate::truth::{STARTS, TRUTH_FUNCTIONS, TRUTH_OTHERS, Truth, tells_bytes};
use anyhow::{Result, ensure};
use mpiscope_model::{Call, CommInfo, Coordinate, Message, Rank, RankInfo};
use mpiscope_recording::{Manifest, Recording};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The functions that send and receive at once: the bytes of their rows are those they sent.
pub const SENDS_AND_RECEIVES: [&str; 2] = ["MPI_Sendrecv", "MPI_Sendrecv_replace"];

const RECEIVES: [&str; 10] = [
    "MPI_Recv",
    "MPI_Mrecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
];

/// Those of them that may receive several messages at once.
const SEVERAL: [&str; 4] = ["MPI_Waitall", "MPI_Waitsome", "MPI_Testall", "MPI_Testsome"];

/// All that a recording holds.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What it says of itself.
    pub manifest: Manifest,
    /// The rows of calls.
    pub calls: Vec<Call>,
    /// The rows of messages.
    pub messages: Vec<Message>,
    /// The ranks.
    pub ranks: Vec<RankInfo>,
    /// Communicators, windows, files and phases.
    pub comms: Vec<CommInfo>,
    /// Where ranks stand in grids.
    pub coordinates: Vec<Coordinate>,
    names: BTreeMap<u16, String>,
}

impl Recorded {
    /// The missing parts of the run, as the recording lists them. An omitted diagnosis, or a second reading for it, is none: on a
    /// busy machine it takes too long.
    #[must_use]
    pub fn missing(&self) -> Vec<&str> {
        let missing = self.manifest.missing.iter().map(String::as_str);
        let omitted = ["there is no diagnosis", "the second of two readings"];
        missing.filter(|sentence| !omitted.iter().any(|words| sentence.starts_with(words))).collect()
    }

    /// Reads a recording through the product's own reader.
    ///
    /// # Errors
    /// When there is none, or anything of it is damaged.
    pub fn load(folder: &Path) -> Result<Self> {
        let recording = Recording::open(folder)?;
        let (tables, mut faults) = recording.tables();
        let (mut calls, mut messages) = (recording.calls(), recording.messages());
        let all_calls: Vec<Call> = calls.by_ref().flatten().collect();
        let all_messages: Vec<Message> = messages.by_ref().flatten().collect();
        faults.extend(calls.faults().iter().chain(messages.faults()).cloned());
        ensure!(faults.is_empty(), "the recording is damaged: {faults:?}");
        Ok(Self {
            manifest: recording.manifest().clone(),
            calls: all_calls,
            messages: all_messages,
            ranks: tables.ranks,
            comms: tables.communicators,
            coordinates: tables.coordinates,
            names: tables.functions.into_iter().map(|row| (row.function, row.name)).collect(),
        })
    }

    /// The name of a row's function.
    #[must_use]
    pub fn name(&self, call: &Call) -> &str {
        self.names.get(&call.function).map_or("?", String::as_str)
    }

    /// Messages and bytes by source and destination.
    #[must_use]
    pub fn pairs(&self) -> BTreeMap<(u32, u32), (u64, u64)> {
        let mut pairs = BTreeMap::new();
        for message in &self.messages {
            let pair: &mut (u64, u64) = pairs.entry((message.src.0, message.dst.0)).or_default();
            pair.0 += 1;
            pair.1 += message.bytes;
        }
        pairs
    }

    /// Calls by rank and function, polls that were folded into a row included: those of functions that a truth tells of.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(u32, String), u64> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            let name = self.name(call);
            if TRUTH_FUNCTIONS.contains(&name) || TRUTH_OTHERS.contains(&name) {
                *counts.entry((call.rank.0, name.to_owned())).or_default() += call.count;
            }
        }
        counts
    }

    /// What the calls of collectives moved, in bytes, by rank and function, where it is not nothing.
    #[must_use]
    pub fn moved(&self) -> BTreeMap<(u32, String), u64> {
        let mut moved = BTreeMap::new();
        for call in self.calls.iter().filter(|call| call.bytes > 0) {
            let name = self.name(call);
            if tells_bytes(name) {
                *moved.entry((call.rank.0, name.to_owned())).or_default() += call.bytes;
            }
        }
        moved
    }

    /// The functions with calls that no truth lists.
    #[must_use]
    pub fn other_functions(&self) -> BTreeSet<&str> {
        let names = self.calls.iter().map(|call| self.name(call));
        names.filter(|name| !TRUTH_FUNCTIONS.contains(name)).collect()
    }

    /// In what it differs from the truth, a sentence each; nothing when it is exact.
    #[must_use]
    pub fn differences(&self, truth: &Truth) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, of: String, truth: u64, recorded: u64| {
            if truth != recorded {
                differences.push(format!("{what} {of}: {truth} made, {recorded} recorded"));
            }
        };
        let (pairs, mut counts, mut moved) = (self.pairs(), self.counts(), self.moved());
        if !truth.tells_others() {
            counts.retain(|(_, function), _| !TRUTH_OTHERS.contains(&function.as_str()));
            moved.retain(|(_, function), _| !TRUTH_OTHERS.contains(&function.as_str()));
        }
        if !truth.moved.keys().any(|(_, function)| STARTS.contains(&function.as_str())) {
            moved.retain(|(_, function), _| !STARTS.contains(&function.as_str()));
        }
        for key in truth.pairs.keys().chain(pairs.keys()).collect::<BTreeSet<_>>() {
            let (of, none) = (format!("{} -> {}", key.0, key.1), (0, 0));
            let (made, recorded) = (truth.pairs.get(key).unwrap_or(&none), pairs.get(key).unwrap_or(&none));
            compare("messages", of.clone(), made.0, recorded.0);
            compare("bytes", of, made.1, recorded.1);
        }
        for key in truth.calls.keys().chain(counts.keys()).collect::<BTreeSet<_>>() {
            let of = format!("of {} on rank {}", key.1, key.0);
            let made = truth.calls.get(key).copied().unwrap_or_default();
            compare("calls", of, made, counts.get(key).copied().unwrap_or_default());
        }
        for key in truth.moved.keys().chain(moved.keys()).collect::<BTreeSet<_>>() {
            let of = format!("of {} on rank {}", key.1, key.0);
            let made = truth.moved.get(key).copied().unwrap_or_default();
            compare("moved bytes", of, made, moved.get(key).copied().unwrap_or_default());
        }
        differences
    }

    /// Where the messages of a receiving call are not what that call says it received, a sentence each.
    ///
    /// A message's bytes are the sender's word and a receiving row's are the receiver's, so in a program whose messages
    /// all have different sizes this finds every message that was paired wrongly. With `lossy`, messages may be missing,
    /// but what is there has to fit: exactly where a call receives one message, else it must not be more. Of what
    /// `MPI_Isendrecv` receives only the sender has a word: the one other message of such a call has to be there.
    #[must_use]
    pub fn wrongly_paired(&self, lossy: bool) -> Vec<String> {
        let mut both_ways = BTreeSet::new();
        let mut received: BTreeMap<(Rank, u64), u64> = BTreeMap::new();
        let mut several = BTreeSet::new();
        for call in &self.calls {
            let name = self.name(call);
            if SENDS_AND_RECEIVES.contains(&name) {
                both_ways.insert((call.rank, call.end_ns));
            } else if RECEIVES.contains(&name) {
                *received.entry((call.rank, call.end_ns)).or_default() += call.bytes;
                if SEVERAL.contains(&name) {
                    several.insert((call.rank, call.end_ns));
                }
            }
        }
        let is_unsized = self.calls.iter().any(|call| self.name(call).starts_with("MPI_Isendrecv"));
        let mut arrived: BTreeMap<(Rank, u64), Vec<u64>> = BTreeMap::new();
        for message in &self.messages {
            arrived.entry((message.dst, message.recv_ns)).or_default().push(message.bytes);
        }
        let mut wrong = Vec::new();
        for key in received.keys().chain(arrived.keys()).collect::<BTreeSet<_>>() {
            let sizes = arrived.get(key).map_or(&[][..], Vec::as_slice);
            let (sum, bytes) = (sizes.iter().sum::<u64>(), received.get(key).copied());
            let fits = match bytes {
                _ if both_ways.contains(key) => true,
                Some(bytes) if lossy && several.contains(key) => sum <= bytes,
                Some(_) if lossy && sizes.is_empty() => true,
                Some(bytes) if is_unsized => bytes == 0 || sizes.contains(&bytes),
                Some(bytes) => sum == bytes,
                None => false,
            };
            if !fits {
                let (rank, at_ns) = key;
                let received =
                    bytes.map_or("no call".into(), |bytes| format!("a call that received {bytes} bytes"));
                wrong.push(format!("rank {rank} at {at_ns} ns: {received}, and messages of {sizes:?} bytes"));
            }
        }
        wrong
    }
}
