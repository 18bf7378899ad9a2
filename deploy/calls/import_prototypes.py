#!/usr/bin/env python3
"""Writes collector/calls.toml from the MPI standard's machine-readable prototypes (PyPI: pympistandard).

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
}

# Functions that count have a second form with counts of 64 bits; its id is this much greater.
LARGE_COUNT_ID = 200
COUNTS = {"POLYXFER_NUM_ELEM_NNI", "POLYDISPLACEMENT"}

# The C type of a parameter by its kind in the standard's data; "handle" and "pointer" stand for the opaque types that
# differ between MPI families.
SCALARS = {
    "ARGUMENT_COUNT": "pointer",
    "ARGUMENT_LIST": "pointer",
    "BUFFER": "pointer",
    "COLOR": "int",
    "COMMUNICATOR": "handle",
    "DATATYPE": "handle",
    "ERROR_CODE": "int",
    "GROUP": "handle",
    "ARRAY_LENGTH": "int",
    "ARRAY_LENGTH_NNI": "int",
    "INDEX": "int",
    "INFO": "handle",
    "KEY": "int",
    "LOGICAL": "int",
    "MESSAGE": "handle",
    "OPERATION": "handle",
    "POLYDISPLACEMENT": "int",
    "POLYXFER_NUM_ELEM_NNI": "int",
    "RANK": "int",
    "REQUEST": "handle",
    "SPLIT_TYPE": "int",
    "STATUS": "status",
    "TAG": "int",
    "THREAD_LEVEL": "int",
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


def main():
    data = pathlib.Path(pympistandard.__file__).parent / "data" / "apis.json"
    standard = json.loads(data.read_text())
    lines = [
        "# The one table of MPI functions: everything that is generated comes from here (cargo xtask calls).",
        "# Prototypes are the standard's, written by deploy/calls/import_prototypes.py. Ids are never changed or reused.",
    ]
    found = [entry for name, told in CALLS.items() for entry in entries(name, *told, standard)]
    for name, number, family, shape, parameters, large in found:
        lines += ["", "[[call]]", f'name = "{name}"', f"id = {number}", f'family = "{family}"', f'shape = "{shape}"']
        lines.append("parameters = [")
        for parameter in parameters:
            kind, role = parameter_type(parameter, large), parameter["kind"].lower()
            lines.append(f'    {{ name = "{parameter["name"]}", type = "{kind}", role = "{role}" }},')
        lines.append("]")
    target = pathlib.Path(__file__).resolve().parents[2] / "collector" / "calls.toml"
    target.write_text("\n".join(lines) + "\n")
    print(f"{len(found)} calls in {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
