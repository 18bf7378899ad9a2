//! Which family of functions one belongs to: the page gives each family one hue.

/// The family of an MPI function by its name in C: `send`, `receive`, `complete`, `probe`, `rooted`, `all`,
/// `barrier`, `communicator`, `one-sided`, `io`, `setup` or `other`.
///
/// Nonblocking, persistent and large-count variants belong to the family of the plain function.
#[must_use]
pub fn family_of(name: &str) -> &'static str {
    let stem = name.strip_prefix("MPI_").unwrap_or(name).to_ascii_lowercase();
    let stem = stem.strip_suffix("_c").unwrap_or(&stem);
    let plain = stem.strip_suffix("_init").unwrap_or(stem);
    let blocking = plain.strip_prefix('i').unwrap_or(plain);
    by_stem(stem).or_else(|| by_stem(plain)).or_else(|| by_stem(blocking)).unwrap_or("other")
}

fn by_stem(stem: &str) -> Option<&'static str> {
    let family = match stem {
        "send" | "bsend" | "ssend" | "rsend" | "psend" | "sendrecv" | "sendrecv_replace" | "start"
        | "startall" | "pready" | "pready_range" | "pready_list" => "send",
        "recv" | "mrecv" | "precv" | "parrived" => "receive",
        "wait" | "waitall" | "waitany" | "waitsome" | "test" | "testall" | "testany" | "testsome"
        | "test_cancelled" | "cancel" | "request_free" | "request_get_status" => "complete",
        "probe" | "mprobe" => "probe",
        "bcast" | "scatter" | "scatterv" | "gather" | "gatherv" | "reduce" => "rooted",
        "allreduce"
        | "allgather"
        | "allgatherv"
        | "alltoall"
        | "alltoallv"
        | "alltoallw"
        | "scan"
        | "exscan"
        | "reduce_scatter"
        | "reduce_scatter_block" => "all",
        "barrier" => "barrier",
        "put" | "get" | "accumulate" | "get_accumulate" | "rput" | "rget" | "raccumulate"
        | "rget_accumulate" | "fetch_and_op" | "compare_and_swap" => "one-sided",
        "init" | "init_thread" | "finalize" | "abort" | "pcontrol" => "setup",
        "topo_test" | "dims_create" => "communicator",
        _ => return by_prefix(stem),
    };
    Some(family)
}

fn by_prefix(stem: &str) -> Option<&'static str> {
    const PREFIXES: [(&str, &str); 9] = [
        ("neighbor_", "all"),
        ("comm_", "communicator"),
        ("group_", "communicator"),
        ("cart", "communicator"),
        ("graph_", "communicator"),
        ("dist_graph_", "communicator"),
        ("intercomm_", "communicator"),
        ("win_", "one-sided"),
        ("file_", "io"),
    ];
    PREFIXES.iter().find(|(prefix, _)| stem.starts_with(prefix)).map(|(_, family)| *family)
}

#[cfg(test)]
mod tests {
    use super::family_of;

    #[test]
    fn variants_belong_to_the_plain_function() {
        for (name, family) in [
            ("MPI_Send", "send"),
            ("MPI_Issend", "send"),
            ("MPI_Send_c", "send"),
            ("MPI_Psend_init", "send"),
            ("MPI_Imrecv", "receive"),
            ("MPI_Improbe", "probe"),
            ("MPI_Ibcast", "rooted"),
            ("MPI_Allreduce_init", "all"),
            ("MPI_Ineighbor_alltoall", "all"),
            ("MPI_Ibarrier", "barrier"),
            ("MPI_Comm_idup", "communicator"),
            ("MPI_Init", "setup"),
            ("MPI_Init_thread", "setup"),
            ("MPI_File_iwrite", "io"),
            ("MPI_Win_fence", "one-sided"),
            ("MPI_Waitall", "complete"),
            ("MPI_Get_version", "other"),
        ] {
            assert_eq!(family_of(name), family, "{name}");
        }
    }
}
