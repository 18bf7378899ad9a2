//! Entering collectives: who waits for whom.

use super::job::Simulation;
use super::meeting::ROOT;
use crate::spec::Collective;

impl<const TOLD: bool> Simulation<TOLD> {
    /// Which collective it is when none is named.
    pub(super) fn turn(&self, step: u32) -> Collective {
        let all = self.plan.spec.collectives.as_ref();
        all.map_or(Collective::Barrier, |all| all.kinds[(step / all.every) as usize % all.kinds.len()])
    }

    /// What a rank hands over.
    pub(super) fn collective_bytes(&self, kind: Collective) -> u64 {
        let bytes = self.plan.spec.collectives.as_ref().map_or(8, |all| u64::from(all.bytes));
        match kind {
            Collective::Barrier => 0,
            Collective::Alltoall => bytes * u64::from(self.plan.spec.ranks),
            _ => bytes,
        }
    }

    /// A rank enters its next collective at a moment.
    pub(super) fn enter(&mut self, rank: u32, kind: Collective, at_ns: u64) {
        let number = self.ranks[rank as usize].meetings;
        self.ranks[rank as usize].meetings += 1;
        let bytes = self.collective_bytes(kind);
        let members = self.meetings.ranks;
        let meeting = self.meetings.meeting(number);
        meeting.entered += 1;
        meeting.last_ns = meeting.last_ns.max(at_ns);
        let all = meeting.entered == members;
        let operation = |from_ns| from_ns + self.plan.wires.operation(number, bytes, from_ns);
        let mut there_ns = None;
        match kind {
            Collective::Bcast => {
                if rank == ROOT {
                    there_ns = Some(operation(at_ns));
                    meeting.spread_ns = there_ns;
                } else if let Some(spread_ns) = meeting.spread_ns {
                    self.ranks[rank as usize].ready_ns = spread_ns;
                } else {
                    meeting.waiting.push(rank);
                    self.ranks[rank as usize].pending += 1;
                }
            }
            Collective::Reduce if rank != ROOT => {
                there_ns = all.then(|| operation(meeting.last_ns));
            }
            _ => {
                meeting.waiting.push(rank);
                self.ranks[rank as usize].pending += 1;
                there_ns = all.then(|| operation(meeting.last_ns));
            }
        }
        if let Some(there_ns) = there_ns {
            for waiting in std::mem::take(&mut meeting.waiting) {
                self.complete(waiting, there_ns);
            }
        }
        self.meetings.drop_complete();
    }
}
