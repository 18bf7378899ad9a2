//! What a function does, as far as a replay needs to know.

use mpiscope_model::Flow;

/// What a function does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallKind {
    /// It waits for nobody.
    #[default]
    Local,
    /// It starts or ends MPI on all ranks together.
    Setup,
    /// A blocking send or an exchange: it may wait until its receiver enters MPI.
    Send,
    /// A blocking receive.
    Receive,
    /// It starts transfers that a later call completes.
    Post,
    /// It waits for requests.
    Wait,
    /// It tests or probes, and returns at once.
    Poll,
    /// It begins or ends accesses to windows of other ranks, and may wait for one of them.
    Access {
        /// Whether it gives a lock back, for which others may wait.
        unlocks: bool,
    },
    /// A collective that is done when its call returns.
    Collective {
        /// Who waits for whom; none where nothing says for which of the others each waits.
        flow: Option<Flow>,
        /// Whether it synchronizes although it moves nothing.
        is_barrier: bool,
    },
    /// A collective that a later call completes.
    Start {
        /// As above.
        flow: Option<Flow>,
        /// Whether it synchronizes although it moves nothing.
        is_barrier: bool,
    },
}

impl CallKind {
    /// That of a function by its name in C.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let name = name.strip_prefix("MPI_").unwrap_or(name);
        let name = name.strip_suffix("_c").unwrap_or(name);
        match name {
            "Init" | "Init_thread" | "Finalize" => return CallKind::Setup,
            // With buffers of its own, too, Open MPI waits for a receiver that is far behind.
            "Send" | "Bsend" | "Ssend" | "Rsend" | "Sendrecv" | "Sendrecv_replace" => return CallKind::Send,
            "Recv" | "Mrecv" => return CallKind::Receive,
            "Isend" | "Ibsend" | "Issend" | "Irsend" | "Irecv" | "Imrecv" | "Isendrecv"
            | "Isendrecv_replace" | "Start" | "Startall" => return CallKind::Post,
            _ if name.starts_with("Wait") => return CallKind::Wait,
            _ if name.starts_with("Test") && name != "Test_cancelled" => return CallKind::Poll,
            "Probe" | "Iprobe" | "Mprobe" | "Improbe" => return CallKind::Poll,
            "Win_start" | "Win_complete" | "Win_wait" | "Win_lock" | "Win_lock_all" | "Win_flush"
            | "Win_flush_all" => return CallKind::Access { unlocks: false },
            "Win_unlock" | "Win_unlock_all" => return CallKind::Access { unlocks: true },
            _ => {}
        }
        let started = name.strip_prefix('I').map(str::to_ascii_lowercase);
        if let Some((flow, is_barrier)) = started.as_deref().and_then(collective) {
            return CallKind::Start { flow, is_barrier };
        }
        let collective = collective(&name.to_ascii_lowercase());
        collective.map_or(CallKind::Local, |(flow, is_barrier)| CallKind::Collective { flow, is_barrier })
    }
}

/// Who waits for whom in a collective, and whether it is a barrier.
fn collective(name: &str) -> Option<(Option<Flow>, bool)> {
    let flow = match name {
        "barrier" => return Some((Some(Flow::All), true)),
        "scan" | "exscan" => Flow::FromLower,
        "bcast" | "scatter" | "scatterv" => Flow::FromRoot,
        "reduce" | "gather" | "gatherv" => Flow::ToRoot,
        "allgather"
        | "allgatherv"
        | "allreduce"
        | "alltoall"
        | "alltoallv"
        | "alltoallw"
        | "reduce_scatter"
        | "reduce_scatter_block" => Flow::All,
        _ if name.starts_with("neighbor_") && !name.ends_with("_init") => return Some((None, false)),
        _ => return None,
    };
    Some((Some(flow), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_distinguished_by_what_they_wait_for() {
        let all = |is_barrier| CallKind::Collective { flow: Some(Flow::All), is_barrier };
        assert_eq!(CallKind::of_name("MPI_Barrier"), all(true));
        assert_eq!(CallKind::of_name("MPI_Allreduce_c"), all(false));
        assert_eq!(
            CallKind::of_name("MPI_Iallreduce"),
            CallKind::Start { flow: Some(Flow::All), is_barrier: false }
        );
        let among_neighbors = CallKind::Collective { flow: None, is_barrier: false };
        assert_eq!(CallKind::of_name("MPI_Neighbor_alltoallv_c"), among_neighbors);
        assert_eq!(CallKind::of_name("MPI_Neighbor_allgather_init"), CallKind::Local);
        assert_eq!(
            CallKind::of_name("MPI_Ineighbor_allgather"),
            CallKind::Start { flow: None, is_barrier: false }
        );
        assert_eq!(CallKind::of_name("MPI_Sendrecv"), CallKind::Send);
        assert_eq!(CallKind::of_name("MPI_Bsend"), CallKind::Send);
        assert_eq!(CallKind::of_name("MPI_Irecv"), CallKind::Post);
        assert_eq!(CallKind::of_name("MPI_Waitall"), CallKind::Wait);
        assert_eq!(CallKind::of_name("MPI_Iprobe"), CallKind::Poll);
        assert_eq!(CallKind::of_name("MPI_Win_complete"), CallKind::Access { unlocks: false });
        assert_eq!(CallKind::of_name("MPI_Win_unlock"), CallKind::Access { unlocks: true });
        assert_eq!(CallKind::of_name("MPI_Win_post"), CallKind::Local);
        assert_eq!(CallKind::of_name("MPI_Init"), CallKind::Setup);
        assert_eq!(CallKind::of_name("MPI_Comm_rank"), CallKind::Local);
        assert_eq!(CallKind::of_name("MPI_Bcast_init"), CallKind::Local);
    }
}
