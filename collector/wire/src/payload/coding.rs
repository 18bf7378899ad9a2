//! How payloads lie in bytes: fixed little-endian fields, strings with a length before them.

use super::{
    Agent, ClockKind, ClockSample, Contact, Cpus, EndState, Heard, LastCalls, Lost, Message, Origin,
    PayloadFault, Process, RoundTrip, RunEnd, RunStart, Scheduling, Skipped, Slots, Switched, Unrecorded,
};
use crate::flight::{FLIGHT_WORDS, Flight};
use crate::frame::{FrameKind, encode_frame};
use crate::slot::SLOT_BYTES;

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (head, rest) = self.bytes.split_at_checked(count).ok_or("it is too short")?;
        self.bytes = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)?.try_into().map_err(|_| "it is too short")
    }

    fn u32(&mut self) -> Result<u32, &'static str> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<String, &'static str> {
        let length = self.u32()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| "a text is no UTF-8")
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.bytes.is_empty() { Ok(()) } else { Err("it is too long") }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

impl Message {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut payload = Vec::new();
        encode_frame(self.write(&mut payload), &payload, out);
    }

    fn write(&self, out: &mut Vec<u8>) -> FrameKind {
        match self {
            Message::RunStart(start) => {
                put_text(out, &start.run);
                put_text(out, &start.node);
                out.extend_from_slice(&start.unix_ns.to_le_bytes());
                out.extend_from_slice(&start.monotonic_ns.to_le_bytes());
                out.extend_from_slice(&(start.command.len() as u32).to_le_bytes());
                for word in &start.command {
                    put_text(out, word);
                }
                FrameKind::RunStart
            }
            Message::Process(process) => {
                for number in
                    [process.process, process.pid, process.rank, process.world_size, process.clock.number()]
                {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                out.extend_from_slice(&process.made_ns.to_le_bytes());
                out.extend_from_slice(&process.cost_per_call_ns.to_bits().to_le_bytes());
                put_text(out, &process.library);
                put_text(out, &process.node);
                FrameKind::Process
            }
            Message::Slots(slots) => {
                out.reserve(16 + slots.slots.len() * SLOT_BYTES);
                out.extend_from_slice(&slots.process.to_le_bytes());
                out.extend_from_slice(&slots.ring.to_le_bytes());
                out.extend_from_slice(&slots.from.to_le_bytes());
                for word in slots.slots.iter().flatten() {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                FrameKind::Slots
            }
            Message::ClockSample(sample) => {
                out.extend_from_slice(&sample.ticks.to_le_bytes());
                out.extend_from_slice(&sample.monotonic_ns.to_le_bytes());
                FrameKind::ClockSample
            }
            Message::Lost(lost) => {
                out.extend_from_slice(&lost.process.to_le_bytes());
                out.extend_from_slice(&lost.state.number().to_le_bytes());
                for number in [lost.ring_full, lost.no_ring, lost.unreadable] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                FrameKind::Lost
            }
            Message::RunEnd(end) => {
                out.extend_from_slice(&u32::from(end.exit.is_some()).to_le_bytes());
                out.extend_from_slice(&end.exit.unwrap_or_default().to_le_bytes());
                out.extend_from_slice(&end.monotonic_ns.to_le_bytes());
                FrameKind::RunEnd
            }
            Message::Agent(agent) => {
                out.extend_from_slice(&agent.agent.to_le_bytes());
                out.extend_from_slice(&agent.identity.to_le_bytes());
                put_text(out, &agent.node);
                FrameKind::Agent
            }
            Message::Origin(origin) => {
                out.extend_from_slice(&origin.agent.to_le_bytes());
                out.extend_from_slice(&origin.sequence.to_le_bytes());
                FrameKind::Origin
            }
            Message::Contact(contact) => {
                out.extend_from_slice(&contact.agent.to_le_bytes());
                out.extend_from_slice(&contact.heard.number().to_le_bytes());
                FrameKind::Contact
            }
            Message::RoundTrip(trip) => {
                out.extend_from_slice(&trip.agent.to_le_bytes());
                out.extend_from_slice(&trip.local_ns.to_le_bytes());
                out.extend_from_slice(&trip.offset_ns.to_le_bytes());
                out.extend_from_slice(&trip.uncertainty_ns.to_le_bytes());
                FrameKind::RoundTrip
            }
            Message::Scheduling(figures) => {
                out.extend_from_slice(&figures.process.to_le_bytes());
                for number in [
                    figures.monotonic_ns,
                    figures.run_ns,
                    figures.wait_ns,
                    figures.voluntary,
                    figures.involuntary,
                ] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                // Later than the others, and rare.
                if figures.stopped_ns > 0 || figures.blocked_ns > 0 {
                    out.extend_from_slice(&figures.stopped_ns.to_le_bytes());
                }
                if figures.blocked_ns > 0 {
                    out.extend_from_slice(&figures.blocked_ns.to_le_bytes());
                }
                FrameKind::Scheduling
            }
            Message::LastCalls(last) => {
                out.extend_from_slice(&last.process.to_le_bytes());
                for word in last.calls.iter().flat_map(Flight::encode) {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                FrameKind::LastCalls
            }
            Message::Switched(switched) => {
                out.extend_from_slice(&u32::from(switched.is_on).to_le_bytes());
                out.extend_from_slice(&switched.monotonic_ns.to_le_bytes());
                FrameKind::Switched
            }
            Message::Unrecorded(unrecorded) => {
                out.extend_from_slice(&unrecorded.process.to_le_bytes());
                out.extend_from_slice(&unrecorded.calls.to_le_bytes());
                FrameKind::Unrecorded
            }
            Message::Skipped(skipped) => {
                out.extend_from_slice(&skipped.process.to_le_bytes());
                out.extend_from_slice(&skipped.ring.to_le_bytes());
                out.extend_from_slice(&skipped.to.to_le_bytes());
                FrameKind::Skipped
            }
            Message::Cpus(cpus) => {
                for number in [cpus.process, cpus.on_host, cpus.quota_milli] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                put_text(out, &cpus.allowed);
                FrameKind::Cpus
            }
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it does not match its kind.
    pub fn decode(kind: FrameKind, payload: &[u8]) -> Result<Self, PayloadFault> {
        let mut reader = Reader { bytes: payload };
        Self::read(kind, &mut reader)
            .and_then(|message| reader.end().map(|()| message))
            .map_err(|reason| PayloadFault { kind, reason })
    }

    fn read(kind: FrameKind, reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(match kind {
            FrameKind::RunStart => {
                let (run, node) = (reader.text()?, reader.text()?);
                let (unix_ns, monotonic_ns) = (reader.u64()?, reader.u64()?);
                let mut command = Vec::new();
                for _ in 0..reader.u32()? {
                    command.push(reader.text()?);
                }
                Message::RunStart(RunStart { run, node, unix_ns, monotonic_ns, command })
            }
            FrameKind::Process => Message::Process(Process {
                process: reader.u32()?,
                pid: reader.u32()?,
                rank: reader.u32()?,
                world_size: reader.u32()?,
                clock: ClockKind::from_number(reader.u32()?).ok_or("its clock is of no known kind")?,
                made_ns: reader.u64()?,
                cost_per_call_ns: f64::from_bits(reader.u64()?),
                library: reader.text()?,
                node: reader.text()?,
            }),
            FrameKind::Slots => {
                let (process, ring, from) = (reader.u32()?, reader.u32()?, reader.u64()?);
                let bytes = reader.take(reader.bytes.len())?;
                if bytes.len() % SLOT_BYTES != 0 {
                    return Err("its slots are not whole");
                }
                let slots = bytes
                    .chunks_exact(SLOT_BYTES)
                    .map(|slot| {
                        let mut words = slot.chunks_exact(8);
                        std::array::from_fn(|_| {
                            let word = words.next().and_then(|word| word.try_into().ok());
                            u64::from_le_bytes(word.unwrap_or_default())
                        })
                    })
                    .collect();
                Message::Slots(Slots { process, ring, from, slots })
            }
            FrameKind::ClockSample => {
                Message::ClockSample(ClockSample { ticks: reader.u64()?, monotonic_ns: reader.u64()? })
            }
            FrameKind::Lost => {
                let process = reader.u32()?;
                let state = EndState::from_number(reader.u32()?).ok_or("its state is of no known kind")?;
                Message::Lost(Lost {
                    process,
                    state,
                    ring_full: reader.u64()?,
                    no_ring: reader.u64()?,
                    unreadable: reader.u64()?,
                })
            }
            FrameKind::RunEnd => {
                let known = reader.u32()? != 0;
                let exit = i32::from_le_bytes(reader.array()?);
                Message::RunEnd(RunEnd { exit: known.then_some(exit), monotonic_ns: reader.u64()? })
            }
            FrameKind::Agent => Message::Agent(Agent {
                agent: reader.u32()?,
                identity: u128::from_le_bytes(reader.array()?),
                node: reader.text()?,
            }),
            FrameKind::Origin => Message::Origin(Origin { agent: reader.u32()?, sequence: reader.u64()? }),
            FrameKind::Contact => {
                let (agent, number) = (reader.u32()?, reader.u32()?);
                let heard = Heard::ALL.into_iter().find(|heard| heard.number() == number);
                Message::Contact(Contact { agent, heard: heard.ok_or("its state is of no known kind")? })
            }
            FrameKind::RoundTrip => Message::RoundTrip(RoundTrip {
                agent: reader.u32()?,
                local_ns: reader.u64()?,
                offset_ns: i64::from_le_bytes(reader.array()?),
                uncertainty_ns: reader.u64()?,
            }),
            FrameKind::Scheduling => Message::Scheduling(Scheduling {
                process: reader.u32()?,
                monotonic_ns: reader.u64()?,
                run_ns: reader.u64()?,
                wait_ns: reader.u64()?,
                voluntary: reader.u64()?,
                involuntary: reader.u64()?,
                stopped_ns: if reader.bytes.is_empty() { 0 } else { reader.u64()? },
                blocked_ns: if reader.bytes.is_empty() { 0 } else { reader.u64()? },
            }),
            FrameKind::LastCalls => {
                let process = reader.u32()?;
                let mut calls = Vec::new();
                while !reader.bytes.is_empty() {
                    let mut words = [0; FLIGHT_WORDS];
                    for word in &mut words {
                        *word = reader.u64()?;
                    }
                    calls.push(Flight::decode(&words));
                }
                Message::LastCalls(LastCalls { process, calls })
            }
            FrameKind::Switched => {
                let is_on = reader.u32()? != 0;
                Message::Switched(Switched { is_on, monotonic_ns: reader.u64()? })
            }
            FrameKind::Unrecorded => {
                let process = reader.u32()?;
                Message::Unrecorded(Unrecorded { process, calls: reader.u64()? })
            }
            FrameKind::Skipped => {
                let (process, ring) = (reader.u32()?, reader.u32()?);
                Message::Skipped(Skipped { process, ring, to: reader.u64()? })
            }
            FrameKind::Cpus => Message::Cpus(Cpus {
                process: reader.u32()?,
                on_host: reader.u32()?,
                quota_milli: reader.u32()?,
                allowed: reader.text()?,
            }),
        })
    }
}
