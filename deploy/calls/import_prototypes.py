#!/usr/bin/env python3
"""Writes collector/calls.toml and collector/standard.txt from the MPI standard's machine-readable prototypes (PyPI: pympistandard).

Needed only when the table grows; neither building nor running mpiscope needs it. The list below names the functions,
their ids and what kind of call each is. Ids are stable: never change or reuse one, only add.
"""

import json
import pathlib
import sys

import pympistandard

# name: (id, family, shape). The shape names the hand-written piece of the collector that knows what such a call means.
CALLS = {
    "MPI_Init": (1, "setup", "init"),
    "MPI_Init_thread": (2, "setup", "init"),
    "MPI_Finalize": (3, "setup", "finalize"),
    "MPI_Abort": (4, "setup", "abort"),
    "MPI_Send": (10, "send", "send"),
    "MPI_Bsend": (11, "send", "send"),
    "MPI_Ssend": (12, "send", "send"),
    "MPI_Rsend": (13, "send", "send"),
    "MPI_Isend": (14, "send", "start_send"),
    "MPI_Ibsend": (15, "send", "start_send"),
    "MPI_Issend": (16, "send", "start_send"),
    "MPI_Irsend": (17, "send", "start_send"),
    "MPI_Recv": (20, "receive", "receive"),
    "MPI_Irecv": (21, "receive", "post"),
    "MPI_Sendrecv": (22, "send", "sendrecv"),
    "MPI_Sendrecv_replace": (23, "send", "sendrecv"),
    "MPI_Mrecv": (24, "receive", "matched_receive"),
    "MPI_Imrecv": (25, "receive", "matched_post"),
    "MPI_Wait": (30, "complete", "wait_one"),
    "MPI_Waitall": (31, "complete", "wait_all"),
    "MPI_Waitany": (32, "complete", "wait_any"),
    "MPI_Waitsome": (33, "complete", "wait_some"),
    "MPI_Test": (34, "complete", "test_one"),
    "MPI_Testall": (35, "complete", "test_all"),
    "MPI_Testany": (36, "complete", "test_any"),
    "MPI_Testsome": (37, "complete", "test_some"),
    "MPI_Probe": (40, "probe", "probe"),
    "MPI_Iprobe": (41, "probe", "iprobe"),
    "MPI_Mprobe": (42, "probe", "mprobe"),
    "MPI_Improbe": (43, "probe", "improbe"),
    "MPI_Barrier": (50, "barrier", "collective_uniform"),
    "MPI_Bcast": (51, "rooted", "collective_uniform"),
    "MPI_Reduce": (52, "rooted", "collective_uniform"),
    "MPI_Allreduce": (53, "all", "collective_uniform"),
    "MPI_Gather": (54, "rooted", "collective_gather"),
    "MPI_Gatherv": (55, "rooted", "collective_gather"),
    "MPI_Scatter": (56, "rooted", "collective_scatter"),
    "MPI_Scatterv": (57, "rooted", "collective_scatter"),
    "MPI_Allgather": (58, "all", "collective_allgather"),
    "MPI_Allgatherv": (59, "all", "collective_allgather"),
    "MPI_Alltoall": (60, "all", "collective_alltoall"),
    "MPI_Alltoallv": (61, "all", "collective_alltoall"),
    "MPI_Alltoallw": (62, "all", "collective_alltoall"),
    "MPI_Reduce_scatter": (63, "all", "collective_reduce_scatter"),
    "MPI_Reduce_scatter_block": (64, "all", "collective_reduce_scatter"),
    "MPI_Scan": (65, "all", "collective_uniform"),
    "MPI_Exscan": (66, "all", "collective_uniform"),
    "MPI_Comm_split": (70, "communicator", "comm_new"),
    "MPI_Comm_dup": (71, "communicator", "comm_new"),
    "MPI_Comm_create": (72, "communicator", "comm_new"),
    "MPI_Comm_free": (73, "communicator", "comm_free"),
    "MPI_Comm_disconnect": (74, "communicator", "comm_free"),
    "MPI_Comm_dup_with_info": (75, "communicator", "comm_new"),
    "MPI_Comm_split_type": (76, "communicator", "comm_new"),
    "MPI_Type_free": (80, "hidden", "type_free"),
    "MPI_Request_free": (81, "complete", "request_free"),
    "MPI_Cancel": (82, "complete", "request_cancel"),
    "MPI_Send_init": (90, "send", "send_init"),
    "MPI_Bsend_init": (91, "send", "send_init"),
    "MPI_Ssend_init": (92, "send", "send_init"),
    "MPI_Rsend_init": (93, "send", "send_init"),
    "MPI_Recv_init": (94, "receive", "receive_init"),
    "MPI_Start": (95, "send", "start_one"),
    "MPI_Startall": (96, "send", "start_all"),
    "MPI_Ibarrier": (100, "barrier", "collective_uniform"),
    "MPI_Ibcast": (101, "rooted", "collective_uniform"),
    "MPI_Ireduce": (102, "rooted", "collective_uniform"),
    "MPI_Iallreduce": (103, "all", "collective_uniform"),
    "MPI_Igather": (104, "rooted", "collective_gather"),
    "MPI_Igatherv": (105, "rooted", "collective_gather"),
    "MPI_Iscatter": (106, "rooted", "collective_scatter"),
    "MPI_Iscatterv": (107, "rooted", "collective_scatter"),
    "MPI_Iallgather": (108, "all", "collective_allgather"),
    "MPI_Iallgatherv": (109, "all", "collective_allgather"),
    "MPI_Ialltoall": (110, "all", "collective_alltoall"),
    "MPI_Ialltoallv": (111, "all", "collective_alltoall"),
    "MPI_Ialltoallw": (112, "all", "collective_alltoall"),
    "MPI_Ireduce_scatter": (113, "all", "collective_reduce_scatter"),
    "MPI_Ireduce_scatter_block": (114, "all", "collective_reduce_scatter"),
    "MPI_Iscan": (115, "all", "collective_uniform"),
    "MPI_Iexscan": (116, "all", "collective_uniform"),
    "MPI_Isendrecv": (120, "send", "isendrecv"),
    "MPI_Isendrecv_replace": (121, "send", "isendrecv"),
    "MPI_Psend_init": (122, "send", "partitioned_send_init"),
    "MPI_Precv_init": (123, "receive", "partitioned_receive_init"),
    "MPI_Pready": (124, "send", "plain"),
    "MPI_Pready_range": (125, "send", "plain"),
    "MPI_Pready_list": (126, "send", "plain"),
    "MPI_Parrived": (127, "complete", "poll"),
    "MPI_Request_get_status": (128, "complete", "poll"),
    "MPI_Buffer_detach": (129, "complete", "plain"),
    "MPI_Pcontrol": (130, "setup", "pcontrol"),
    "MPI_Session_init": (131, "setup", "session_init"),
    "MPI_Session_finalize": (132, "setup", "plain"),
    "MPI_Comm_set_name": (133, "hidden", "comm_name"),
    "MPI_Win_set_name": (134, "hidden", "window_name"),
    "MPI_Comm_create_group": (140, "communicator", "comm_of_members"),
    "MPI_Comm_create_from_group": (141, "communicator", "comm_of_members"),
    "MPI_Comm_idup": (142, "communicator", "comm_idup"),
    "MPI_Comm_idup_with_info": (143, "communicator", "comm_idup"),
    "MPI_Intercomm_create": (144, "communicator", "comm_of_members"),
    "MPI_Intercomm_create_from_groups": (145, "communicator", "comm_of_members"),
    "MPI_Intercomm_merge": (146, "communicator", "comm_new"),
    "MPI_Cart_create": (147, "communicator", "comm_new"),
    "MPI_Cart_sub": (148, "communicator", "comm_new"),
    "MPI_Graph_create": (149, "communicator", "comm_new"),
    "MPI_Dist_graph_create": (150, "communicator", "comm_new"),
    "MPI_Dist_graph_create_adjacent": (151, "communicator", "comm_new"),
    "MPI_Comm_spawn": (152, "communicator", "comm_new"),
    "MPI_Comm_spawn_multiple": (153, "communicator", "comm_new"),
    "MPI_Comm_accept": (154, "communicator", "comm_new"),
    "MPI_Comm_connect": (155, "communicator", "comm_new"),
    "MPI_Comm_join": (156, "communicator", "comm_of_members"),
    "MPI_Open_port": (157, "communicator", "plain"),
    "MPI_Close_port": (158, "communicator", "plain"),
    "MPI_Publish_name": (159, "communicator", "plain"),
    "MPI_Unpublish_name": (160, "communicator", "plain"),
    "MPI_Lookup_name": (161, "communicator", "plain"),
    "MPI_Neighbor_allgather": (400, "neighbor", "collective_neighbor_allgather"),
    "MPI_Neighbor_allgatherv": (401, "neighbor", "collective_neighbor_allgather"),
    "MPI_Neighbor_alltoall": (402, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Neighbor_alltoallv": (403, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Neighbor_alltoallw": (404, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Ineighbor_allgather": (405, "neighbor", "collective_neighbor_allgather"),
    "MPI_Ineighbor_allgatherv": (406, "neighbor", "collective_neighbor_allgather"),
    "MPI_Ineighbor_alltoall": (407, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Ineighbor_alltoallv": (408, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Ineighbor_alltoallw": (409, "neighbor", "collective_neighbor_alltoall"),
    "MPI_Neighbor_allgather_init": (410, "neighbor", "persistent_neighbor_allgather"),
    "MPI_Neighbor_allgatherv_init": (411, "neighbor", "persistent_neighbor_allgather"),
    "MPI_Neighbor_alltoall_init": (412, "neighbor", "persistent_neighbor_alltoall"),
    "MPI_Neighbor_alltoallv_init": (413, "neighbor", "persistent_neighbor_alltoall"),
    "MPI_Neighbor_alltoallw_init": (414, "neighbor", "persistent_neighbor_alltoall"),
    "MPI_Barrier_init": (420, "barrier", "persistent_uniform"),
    "MPI_Bcast_init": (421, "rooted", "persistent_uniform"),
    "MPI_Reduce_init": (422, "rooted", "persistent_uniform"),
    "MPI_Allreduce_init": (423, "all", "persistent_uniform"),
    "MPI_Gather_init": (424, "rooted", "persistent_gather"),
    "MPI_Gatherv_init": (425, "rooted", "persistent_gather"),
    "MPI_Scatter_init": (426, "rooted", "persistent_scatter"),
    "MPI_Scatterv_init": (427, "rooted", "persistent_scatter"),
    "MPI_Allgather_init": (428, "all", "persistent_allgather"),
    "MPI_Allgatherv_init": (429, "all", "persistent_allgather"),
    "MPI_Alltoall_init": (430, "all", "persistent_alltoall"),
    "MPI_Alltoallv_init": (431, "all", "persistent_alltoall"),
    "MPI_Alltoallw_init": (432, "all", "persistent_alltoall"),
    "MPI_Reduce_scatter_init": (433, "all", "persistent_reduce_scatter"),
    "MPI_Reduce_scatter_block_init": (434, "all", "persistent_reduce_scatter"),
    "MPI_Scan_init": (435, "all", "persistent_uniform"),
    "MPI_Exscan_init": (436, "all", "persistent_uniform"),
    "MPI_Win_create": (440, "one-sided", "window_new"),
    "MPI_Win_allocate": (441, "one-sided", "window_new"),
    "MPI_Win_allocate_shared": (442, "one-sided", "window_new"),
    "MPI_Win_create_dynamic": (443, "one-sided", "window_new"),
    "MPI_Win_free": (444, "one-sided", "window_free"),
    "MPI_Win_attach": (445, "one-sided", "window_call"),
    "MPI_Win_detach": (446, "one-sided", "window_call"),
    "MPI_Win_fence": (447, "one-sided", "window_call"),
    "MPI_Win_start": (448, "one-sided", "window_call"),
    "MPI_Win_complete": (449, "one-sided", "window_call"),
    "MPI_Win_post": (450, "one-sided", "window_call"),
    "MPI_Win_wait": (451, "one-sided", "window_call"),
    "MPI_Win_test": (452, "one-sided", "poll"),
    "MPI_Win_lock": (453, "one-sided", "window_call"),
    "MPI_Win_lock_all": (454, "one-sided", "window_call"),
    "MPI_Win_unlock": (455, "one-sided", "window_call"),
    "MPI_Win_unlock_all": (456, "one-sided", "window_call"),
    "MPI_Win_flush": (457, "one-sided", "window_call"),
    "MPI_Win_flush_all": (458, "one-sided", "window_call"),
    "MPI_Win_flush_local": (459, "one-sided", "window_call"),
    "MPI_Win_flush_local_all": (460, "one-sided", "window_call"),
    "MPI_Win_sync": (461, "one-sided", "window_call"),
    "MPI_Put": (462, "one-sided", "window_call"),
    "MPI_Get": (463, "one-sided", "window_call"),
    "MPI_Accumulate": (464, "one-sided", "window_call"),
    "MPI_Get_accumulate": (465, "one-sided", "window_call"),
    "MPI_Fetch_and_op": (466, "one-sided", "window_call"),
    "MPI_Compare_and_swap": (467, "one-sided", "window_call"),
    "MPI_Rput": (468, "one-sided", "window_call"),
    "MPI_Rget": (469, "one-sided", "window_call"),
    "MPI_Raccumulate": (470, "one-sided", "window_call"),
    "MPI_Rget_accumulate": (471, "one-sided", "window_call"),
    "MPI_File_open": (480, "io", "file_open"),
    "MPI_File_close": (481, "io", "file_close"),
    "MPI_File_delete": (482, "io", "plain"),
    "MPI_File_set_size": (483, "io", "file_call"),
    "MPI_File_preallocate": (484, "io", "file_call"),
    "MPI_File_get_size": (485, "io", "file_call"),
    "MPI_File_sync": (486, "io", "file_call"),
    "MPI_File_set_view": (487, "io", "file_call"),
    "MPI_File_set_info": (488, "io", "file_call"),
    "MPI_File_set_atomicity": (489, "io", "file_call"),
    "MPI_File_seek": (490, "io", "file_call"),
    "MPI_File_seek_shared": (491, "io", "file_call"),
    "MPI_File_get_position_shared": (492, "io", "file_call"),
    "MPI_File_read": (500, "io", "file_call"),
    "MPI_File_read_all": (501, "io", "file_call"),
    "MPI_File_read_at": (502, "io", "file_call"),
    "MPI_File_read_at_all": (503, "io", "file_call"),
    "MPI_File_read_shared": (504, "io", "file_call"),
    "MPI_File_read_ordered": (505, "io", "file_call"),
    "MPI_File_write": (506, "io", "file_call"),
    "MPI_File_write_all": (507, "io", "file_call"),
    "MPI_File_write_at": (508, "io", "file_call"),
    "MPI_File_write_at_all": (509, "io", "file_call"),
    "MPI_File_write_shared": (510, "io", "file_call"),
    "MPI_File_write_ordered": (511, "io", "file_call"),
    "MPI_File_iread": (512, "io", "file_call"),
    "MPI_File_iread_all": (513, "io", "file_call"),
    "MPI_File_iread_at": (514, "io", "file_call"),
    "MPI_File_iread_at_all": (515, "io", "file_call"),
    "MPI_File_iread_shared": (516, "io", "file_call"),
    "MPI_File_iwrite": (517, "io", "file_call"),
    "MPI_File_iwrite_all": (518, "io", "file_call"),
    "MPI_File_iwrite_at": (519, "io", "file_call"),
    "MPI_File_iwrite_at_all": (520, "io", "file_call"),
    "MPI_File_iwrite_shared": (521, "io", "file_call"),
    "MPI_File_read_all_begin": (522, "io", "file_call"),
    "MPI_File_read_all_end": (523, "io", "file_call"),
    "MPI_File_read_at_all_begin": (524, "io", "file_call"),
    "MPI_File_read_at_all_end": (525, "io", "file_call"),
    "MPI_File_read_ordered_begin": (526, "io", "file_call"),
    "MPI_File_read_ordered_end": (527, "io", "file_call"),
    "MPI_File_write_all_begin": (528, "io", "file_call"),
    "MPI_File_write_all_end": (529, "io", "file_call"),
    "MPI_File_write_at_all_begin": (530, "io", "file_call"),
    "MPI_File_write_at_all_end": (531, "io", "file_call"),
    "MPI_File_write_ordered_begin": (532, "io", "file_call"),
    "MPI_File_write_ordered_end": (533, "io", "file_call"),
}

# Functions that count have a second form with counts of 64 bits; its id is this much greater.
LARGE_COUNT_ID = 200
COUNTS = {"POLYXFER_NUM_ELEM", "POLYXFER_NUM_ELEM_NNI", "POLYDISPLACEMENT", "POLYRMA_DISPLACEMENT", "POLYNUM_BYTES"}

# The C type of a parameter by its kind in the standard's data; "handle" and "pointer" stand for the opaque types that
# differ between MPI families.
SCALARS = {
    "ACCESS_MODE": "int",
    "ARGUMENT_COUNT": "pointer",
    "ARGUMENT_LIST": "pointer",
    "ARRAY_LENGTH": "int",
    "ARRAY_LENGTH_NNI": "int",
    "ARRAY_LENGTH_PI": "int",
    "ASSERT": "int",
    "BUFFER": "pointer",
    "COLOR": "int",
    "COMMUNICATOR": "handle",
    "COMM_SIZE": "int",
    "C_BUFFER": "pointer",
    "C_BUFFER2": "pointer",
    "DATATYPE": "handle",
    "DEGREE": "int",
    "DIMENSION": "int",
    "DISPLACEMENT": "count",
    "ERRHANDLER": "handle",
    "ERROR_CODE": "int",
    "FILE": "handle",
    "FILE_DESCRIPTOR": "int",
    "GROUP": "handle",
    "INDEX": "int",
    "INFO": "handle",
    "KEY": "int",
    "LOCK_TYPE": "int",
    "LOGICAL": "int",
    "MESSAGE": "handle",
    "NUM_DIMS": "int",
    "OFFSET": "count",
    "OPERATION": "handle",
    "PARTITION": "int",
    "POLYDISPLACEMENT": "int",
    "POLYNUM_BYTES": "int",
    "POLYRMA_DISPLACEMENT": "int",
    "POLYXFER_NUM_ELEM": "int",
    "POLYXFER_NUM_ELEM_NNI": "int",
    "PROFILE_LEVEL": "int",
    "RANK": "int",
    "RANK_NNI": "int",
    "REQUEST": "handle",
    "RMA_DISPLACEMENT_NNI": "count",
    "SESSION": "handle",
    "SPLIT_TYPE": "int",
    "STATUS": "status",
    "STRING": "pointer",
    "STRING_2DARRAY": "pointer",
    "STRING_ARRAY": "pointer",
    "TAG": "int",
    "THREAD_LEVEL": "int",
    "UPDATE_MODE": "int",
    "VARARGS": "pointer",
    "WEIGHT": "int",
    "WINDOW": "handle",
    "WINDOW_SIZE": "count",
    "WIN_ATTACH_SIZE": "count",
    "XFER_NUM_ELEM_NNI": "count",
}


def parameter_type(parameter, large):
    """The type that the generated wrapper gives the parameter."""
    kind = "count" if large and parameter["kind"] in COUNTS else SCALARS[parameter["kind"]]
    if kind == "pointer":
        return "pointer"
    by_address = parameter["param_direction"] != "in" or parameter["length"] is not None or parameter["pointer"]
    if not by_address:
        return kind
    return f"{kind}*"


# Those that programs call so often that each instruction counts.
FREQUENT = [
    "MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany",
    "MPI_Waitsome", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Probe", "MPI_Iprobe", "MPI_Start",
    "MPI_Startall", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Put", "MPI_Get", "MPI_Win_flush",
]


def entries(name, number, family, shape, standard):
    """A function and, where it has one, its form with large counts."""
    parameters = [
        parameter
        for parameter in standard[name.lower()]["parameters"]
        if "c_parameter" not in parameter["suppress"]
    ]
    yield name, number, family, shape, parameters, False
    if any(parameter["kind"] in COUNTS for parameter in parameters):
        yield f"{name}_c", number + LARGE_COUNT_ID, family, shape, parameters, True


def names_of_c(standard):
    """All functions that a program in C can call, without their forms for large counts."""
    for function in standard.values():
        attributes = function["attributes"]
        if attributes["c_expressible"] and not attributes["callback"] and function["name"].startswith("MPI_"):
            yield function["name"]


def main():
    data = pathlib.Path(pympistandard.__file__).parent / "data" / "apis.json"
    standard = json.loads(data.read_text())
    lines = [
        "# The one table of MPI functions: everything that is generated comes from here (cargo xtask calls).",
        "# `frequent`: compiled in one piece with its recording, for the fewest instructions.",
        "# Prototypes are the standard's, written by deploy/calls/import_prototypes.py. Ids are never changed or reused.",
    ]
    found = [entry for name, arguments in CALLS.items() for entry in entries(name, *arguments, standard)]
    for name, number, family, shape, parameters, large in found:
        lines += ["", "[[call]]", f'name = "{name}"', f"id = {number}", f'family = "{family}"', f'shape = "{shape}"']
        if name in FREQUENT:
            lines.append("frequent = true")
        lines.append("parameters = [")
        for parameter in parameters:
            kind, role = parameter_type(parameter, large), parameter["kind"].lower()
            lines.append(f'    {{ name = "{parameter["name"]}", type = "{kind}", role = "{role}" }},')
        lines.append("]")
    collector = pathlib.Path(__file__).resolve().parents[2] / "collector"
    target = collector / "calls.toml"
    target.write_text("\n".join(lines) + "\n")
    (collector / "standard.txt").write_text("\n".join(names_of_c(standard)) + "\n")
    print(f"{len(found)} calls in {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
