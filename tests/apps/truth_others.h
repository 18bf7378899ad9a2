/* The functions that only some programs count: where a truth tells of one of them, it tells of all. Each is called by
 * T(name, bytes, arguments), where the program says what the call moves. They are not poisoned. */
#ifndef TRUTH_OTHERS_H
#define TRUTH_OTHERS_H

#define TRUTH_OTHERS(X)                                                                              \
    X(Isendrecv) X(Isendrecv_replace) X(Psend_init) X(Precv_init) X(Pready) X(Pready_range)          \
    X(Pready_list) X(Parrived) X(Request_get_status) X(Buffer_detach) X(Pcontrol)                    \
    X(Comm_create_group) X(Comm_idup) X(Comm_idup_with_info) X(Comm_split_type) X(Comm_dup_with_info) \
    X(Comm_disconnect) X(Intercomm_create) X(Intercomm_merge) X(Cart_create) X(Cart_sub)             \
    X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent)                               \
    X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv)          \
    X(Neighbor_alltoallw) X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Ineighbor_alltoall)       \
    X(Ineighbor_alltoallv) X(Ineighbor_alltoallw) X(Neighbor_allgather_init)                         \
    X(Neighbor_allgatherv_init) X(Neighbor_alltoall_init) X(Neighbor_alltoallv_init)                 \
    X(Neighbor_alltoallw_init) X(Barrier_init) X(Bcast_init) X(Reduce_init) X(Allreduce_init)        \
    X(Gather_init) X(Gatherv_init) X(Scatter_init) X(Scatterv_init) X(Allgather_init)                \
    X(Allgatherv_init) X(Alltoall_init) X(Alltoallv_init) X(Alltoallw_init) X(Reduce_scatter_init)   \
    X(Reduce_scatter_block_init) X(Scan_init) X(Exscan_init)                                         \
    X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_free)           \
    X(Win_attach) X(Win_detach) X(Win_fence) X(Win_start) X(Win_complete) X(Win_post) X(Win_wait)    \
    X(Win_test) X(Win_lock) X(Win_lock_all) X(Win_unlock) X(Win_unlock_all) X(Win_flush)             \
    X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Win_sync) X(Put) X(Get)             \
    X(Accumulate) X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Rput) X(Rget)              \
    X(Raccumulate) X(Rget_accumulate)                                                                \
    X(File_open) X(File_close) X(File_delete) X(File_set_size) X(File_preallocate) X(File_get_size)  \
    X(File_sync) X(File_set_view) X(File_set_info) X(File_set_atomicity) X(File_seek)                \
    X(File_seek_shared) X(File_get_position_shared) X(File_read) X(File_read_all) X(File_read_at)    \
    X(File_read_at_all) X(File_read_shared) X(File_read_ordered) X(File_write) X(File_write_all)     \
    X(File_write_at) X(File_write_at_all) X(File_write_shared) X(File_write_ordered) X(File_iread)   \
    X(File_iread_all) X(File_iread_at) X(File_iread_at_all) X(File_iread_shared) X(File_iwrite)      \
    X(File_iwrite_all) X(File_iwrite_at) X(File_iwrite_at_all) X(File_iwrite_shared)                 \
    X(File_read_all_begin) X(File_read_all_end) X(File_read_at_all_begin) X(File_read_at_all_end)    \
    X(File_read_ordered_begin) X(File_read_ordered_end) X(File_write_all_begin)                      \
    X(File_write_all_end) X(File_write_at_all_begin) X(File_write_at_all_end)                        \
    X(File_write_ordered_begin) X(File_write_ordered_end)

#define T(name, bytes, ...) (truth_moved(TRUTH_##name, bytes), MPI_##name(__VA_ARGS__))

#endif
