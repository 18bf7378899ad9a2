//! What the agent of a simulated node reports, encoded as far as that is possible before the job starts.
//!
//! Slots count in ticks of the node's counter, so their frames do not depend on when the job starts. Messages with times
//! of the node's clock do: they are encoded when they are written.

use anyhow::{Result, bail};
use mpiscope_synth::{NodeClock, Run, node_name};
use mpiscope_wire::{ClockKind, Message, Slots};

/// What all agents together may hold before the job starts.
const MOST_BYTES: usize = 4 << 30;

/// What the agent of a node reports.
#[derive(Debug)]
pub(super) struct NodeFrames {
    pub(super) node: String,
    pub(super) clock: NodeClock,
    /// In the order of their times.
    pub(super) parts: Vec<Part>,
}

/// What a node reports of a slice of the run.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// When the slice is over.
    pub(super) until_ns: u64,
    /// Frames of slots, each by its end in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// What else is reported.
    messages: Vec<Message>,
}

impl Part {
    /// Hands out its frames. The job started when the node's clock was `shift_ns` beyond that of the simulation.
    pub(super) fn encode(self, shift_ns: u64, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut from = 0;
        for end in self.ends {
            take(&self.bytes[from..end])?;
            from = end;
        }
        let mut frame = Vec::new();
        for mut message in self.messages {
            match &mut message {
                Message::ClockSample(sample) => sample.monotonic_ns += shift_ns,
                Message::Scheduling(figures) => figures.monotonic_ns += shift_ns,
                // Ticks are those of the simulated clock.
                Message::Process(process) => process.clock = ClockKind::TimeStampCounter,
                _ => {}
            }
            frame.clear();
            message.encode(&mut frame);
            take(&frame)?;
        }
        Ok(())
    }

    fn add(&mut self, message: Message) -> usize {
        let Message::Slots(Slots { process, ring, from, slots }) = message else {
            self.messages.push(message);
            return size_of::<Message>();
        };
        let before = self.bytes.len();
        Message::of_slots(process, ring, from, &slots).encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.len() - before
    }
}

/// All of a run, by node; how many bytes that takes.
///
/// # Errors
/// When it is too much, or `check` refuses to go on.
pub(super) fn encode(
    run: &mut Run,
    nodes: u32,
    check: impl Fn() -> Result<()>,
) -> Result<(Vec<NodeFrames>, usize)> {
    let of_node = |node| NodeFrames { node: node_name(node), clock: run.clock_of(node), parts: Vec::new() };
    let mut all: Vec<NodeFrames> = (0..nodes).map(of_node).collect();
    let (mut node, mut bytes) = (0, 0);
    while let Some(message) = run.next() {
        if let Message::Origin(origin) = &message {
            node = origin.agent as usize;
            check()?;
        }
        if !message.is_from_agent() {
            continue;
        }
        let until_ns = run.until_ns();
        let parts = &mut all[node].parts;
        if parts.last().is_none_or(|last| last.until_ns != until_ns) {
            parts.push(Part { until_ns, ..Part::default() });
        }
        bytes += parts.last_mut().map_or(0, |last| last.add(message));
        if bytes > MOST_BYTES {
            bail!("the frames of all calls do not fit into memory: choose a smaller --rate or --seconds");
        }
    }
    Ok((all, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_synth::{Spec, generate};
    use mpiscope_wire::Packed;

    #[test]
    fn every_message_of_an_agent_is_handed_out_once_in_order() {
        let mut spec = Spec::new("ring".parse().unwrap(), 6, 0.3, 20_000.0);
        (spec.nodes, spec.has_agent_per_node) = (3, true);
        spec.disturb = vec!["drifting-clocks".parse().unwrap()];
        let (all, bytes) = encode(&mut generate(&spec).unwrap(), 3, || Ok(())).unwrap();
        let expected = generate(&spec).unwrap().filter(Message::is_from_agent).count();
        let (mut count, mut encoded) = (0, 0);
        for NodeFrames { parts, node, .. } in all {
            assert!(parts.is_sorted_by_key(|part| part.until_ns), "{node}");
            let mut next = std::collections::BTreeMap::<u32, u64>::new();
            for part in parts {
                part.encode(1_000_000, |frame| {
                    let found = mpiscope_wire::first_frame(frame).unwrap().unwrap();
                    assert_eq!(found.bytes.len(), frame.len());
                    match Message::decode(found.kind, found.payload).unwrap() {
                        Message::Packed(Packed { process, from, slots, .. }) => {
                            let next = next.entry(process).or_default();
                            assert_eq!(*next, from);
                            *next += slots.len() as u64;
                        }
                        Message::Slots(slots) => {
                            let next = next.entry(slots.process).or_default();
                            assert_eq!(*next, slots.from);
                            *next += slots.slots.len() as u64;
                        }
                        Message::ClockSample(sample) => {
                            assert_eq!(sample.monotonic_ns, sample.ticks + 1_000_000);
                        }
                        Message::Process(process) => assert_eq!(process.node, node),
                        _ => {}
                    }
                    (count, encoded) = (count + 1, encoded + frame.len());
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(next.len(), 2);
        }
        assert_eq!(count, expected);
        assert!(bytes > 0 && encoded > 0);
    }
}
