//! Calls that have not returned: translates their words to the ids of the run.

use super::state::Ingest;
use crate::clock::EarlierLine;
use crate::process::ProcessInput;
use mpiscope_model::{Asks, Comm, InFlight, Member, Peer, Rank, Side};
use mpiscope_wire::{Asked, CommDefinition, Flight, PEER_ANY};

impl Ingest {
    /// A call in flight of an agent's process, in ids of the run; `None` for a process that never introduced itself.
    #[must_use]
    pub fn in_flight(&self, agent: u32, flight: &Flight) -> Option<InFlight> {
        let process = self.processes.get((agent, flight.process))?;
        let origin = self.origins.get(agent as usize)?;
        let since_ns = origin.run_ns(process.clock, flight.since_ticks, &mut EarlierLine::default());
        Some(InFlight {
            rank: process.rank,
            thread: flight.thread,
            function: flight.function,
            since_ns,
            site: process.sites.get(flight.site),
            asks: self.asks(process, flight.asked),
        })
    }

    fn asks(&self, process: &ProcessInput, asked: Asked) -> Asks {
        let (peer, of) = (|rank, comm| self.peer(process, rank, comm), |handle| process.comm_of(handle));
        match asked {
            Asked::Nothing => Asks::Nothing,
            Asked::Send { to, tag, comm } => Asks::Send { to: peer(to, comm), tag, comm: of(comm) },
            Asked::Receive { from, tag, comm } => {
                let tag = (tag >= 0).then_some(tag);
                Asks::Receive { from: peer(from, comm), tag, comm: of(comm) }
            }
            Asked::Exchange { to, from, tag, comm } => {
                Asks::Exchange { to: peer(to, comm), from: peer(from, comm), tag, comm: of(comm) }
            }
            Asked::Members { comm } => Asks::Members { comm: of(comm) },
            Asked::Post { post } => Asks::Post { post },
            Asked::Requests { count } => Asks::Requests { count },
        }
    }

    /// Who a rank of a communicator is in the world.
    fn peer(&self, process: &ProcessInput, rank: i32, handle: u64) -> Peer {
        let Ok(place) = u32::try_from(rank) else {
            return if rank == PEER_ANY { Peer::Any } else { Peer::Nobody };
        };
        let Some(comm) = process.comm_of(handle) else { return Peer::Unknown };
        if comm == Comm::WORLD {
            return if place < process.world_size { Peer::Rank(Rank(place)) } else { Peer::Unknown };
        }
        // Ranks of a communicator with two groups are those of the other.
        let side = match process.side_of(handle) {
            Side::First => Side::Second,
            Side::Second => Side::First,
            side => side,
        };
        self.members.get(&(comm, side, place)).map_or(Peer::Unknown, |&rank| Peer::Rank(rank))
    }

    /// A process reports its rank in a communicator.
    pub(super) fn member(&mut self, comm: Comm, side: Side, definition: &CommDefinition, rank: Rank) {
        let place = definition.own_rank;
        if comm == Comm::WORLD {
            return;
        }
        let is_known = self.members.contains_key(&(comm, side, place));
        // In this table and in the batch. The members beyond it are unknown.
        let has_room = is_known || self.memory.take_entry::<((Comm, Side, u32), [u32; 4])>();
        if has_room && self.members.insert((comm, side, place), rank) != Some(rank) {
            self.decoded.batch.members.push(Member { comm, side, place, rank });
        }
    }

    /// The last calls of processes; by now everything they refer to is published.
    pub(super) fn settle_last_calls(&mut self) {
        for (agent, last) in std::mem::take(&mut self.last_calls) {
            let calls = last.calls.iter().filter_map(|call| self.in_flight(agent, call));
            let calls: Vec<InFlight> = calls.collect();
            if !self.memory.take(2 * size_of_val(calls.as_slice())) {
                continue;
            }
            self.decoded.batch.last_calls.extend(calls);
        }
    }
}
