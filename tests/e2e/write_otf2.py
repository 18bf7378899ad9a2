"""write_otf2.py FOLDER [matched]: writes an archive as other tools do, with the format's own Python package: times in microseconds,
functions of the program around those of MPI, messages with requests, a communicator of its own and one of two groups,
collectives, a thread that does not call MPI, and functions of MPI that are not recorded. Groups and communicators of other
paradigms, a location that is no thread, metrics and one-sided transfers are there as well. A nonblocking
collective is called on a call path, whose samples are there. With `matched` there are messages that are probed for, too,
which only libraries from version 3.1 on read."""

import sys

import otf2
from otf2.enums import CollectiveOp, GroupFlag, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole

RANKS = 4
NONE = 0xFFFFFFFF

with otf2.writer.open(sys.argv[1], timer_resolution=1_000_000) as trace:
    define = trace.definitions
    machine = define.system_tree_node("cluster", class_name="machine")
    nodes = [define.system_tree_node(name, class_name="node", parent=machine) for name in ("left", "right")]
    processes = [define.location_group(f"process {rank}", system_tree_parent=nodes[rank % 2]) for rank in range(RANKS)]
    threads = [define.location("main", type=LocationType.CPU_THREAD, group=process) for process in processes]
    helper = define.location("helper", type=LocationType.CPU_THREAD, group=processes[0])
    everyone = define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=threads)

    def comm(name, ranks):
        group = define.group(
            name, group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, group_flags=GroupFlag.NONE, members=ranks
        )
        return define.comm(name, group=group)

    world, odd = comm("world", list(range(RANKS))), comm("odd", [3, 1])
    # What others than MPI define: the group of the communicator of the tool itself, and a team of threads.
    define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MEASUREMENT_SYSTEM, members=threads)
    tools = define.group(
        "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MEASUREMENT_SYSTEM, members=list(range(RANKS))
    )
    define.comm("tool", group=tools)
    define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.OPENMP, members=[threads[0], helper])
    team = define.comm(
        "team", group=define.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.OPENMP, members=[0, 1])
    )
    define.comm("elsewhere", group=define.group("", group_type=GroupType.LOCATIONS, members=threads[:2]))
    device = define.location_group(
        "device", location_group_type=LocationGroupType.ACCELERATOR, system_tree_parent=nodes[0]
    )
    stream = define.location("stream", type=LocationType.ACCELERATOR_STREAM, group=device)
    metric = define.metric("cache misses", unit="number")
    timer = define.interrupt_generator("timer", period=1000)
    window = define.rma_win("window", comm=world)
    names = "main MPI_Comm_size MPI_Isend MPI_Irecv MPI_Waitall MPI_Wait MPI_Bcast MPI_Send MPI_Recv MPI_Win_fence"
    names += " solve MPI_Iallreduce MPI_Mprobe MPI_Mrecv"
    region = {
        name: define.region(
            name,
            region_role=RegionRole.FUNCTION,
            paradigm=Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER,
        )
        for name in names.split()
    }
    main_path = define.calling_context(region["main"], parent=None)
    solve_path = define.calling_context(region["solve"], parent=main_path)
    reduce_path = define.calling_context(region["MPI_Iallreduce"], parent=solve_path)
    for rank, thread in enumerate(threads):
        to = trace.event_writer_from_location(thread)
        time = 1000 + rank
        to.enter(time, region["main"])

        def call(name, inside=lambda begin, end: None, takes=10):
            """A call that takes some microseconds, and what happens between its ends."""
            global time
            time += 5
            begin, time = time, time + takes
            to.enter(begin, region[name])
            inside(begin, time)
            to.leave(time, region[name])

        call("MPI_Comm_size")
        call("MPI_Win_fence")
        after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
        for step in range(50):
            call("MPI_Irecv", lambda begin, end: to.mpi_irecv_request(end, 2 * step))
            call("MPI_Isend", lambda begin, end: to.mpi_isend(begin, after, world, step, 100 + rank, 2 * step + 1))

            def completes(begin, end):
                to.mpi_isend_complete(end, 2 * step + 1)
                to.mpi_irecv(end, before, world, step, 100 + before, 2 * step)

            call("MPI_Waitall", completes, takes=100)
        if rank == 3:
            call("MPI_Send", lambda begin, end: to.mpi_send(begin, 1, odd, 7, 1 << 33))
        if rank == 1:
            call("MPI_Recv", lambda begin, end: to.mpi_recv(end, 0, odd, 7, 1 << 33), takes=200)

        to.metric(time + 1, metric, 7)
        to.rma_put(time + 1, window, after, 80, 1)
        to.rma_op_complete_blocking(time + 1, window, 1)

        def bcast(begin, end):
            to.mpi_collective_begin(begin)
            to.mpi_collective_end(end, CollectiveOp.BCAST, world, 2, 40 if rank == 2 else 0, 0 if rank == 2 else 40)

        call("MPI_Bcast", bcast, takes=500)

        # Entered and left by call path.
        to.calling_context_enter(time + 1, solve_path, 1)
        to.calling_context_enter(time + 5, reduce_path, 1)
        to.non_blocking_collective_request(time + 6, 1000)
        time += 10
        to.calling_context_leave(time, reduce_path)
        to.calling_context_sample(time, solve_path, 1, timer)
        to.calling_context_leave(time + 1, solve_path)
        time += 200
        call(
            "MPI_Wait",
            lambda begin, end: to.non_blocking_collective_complete(
                end, CollectiveOp.ALLREDUCE, world, NONE, 80, 80, 1000
            ),
            takes=30,
        )
        if "matched" in sys.argv:
            if rank == 0:
                call("MPI_Send", lambda begin, end: to.mpi_send(begin, 1, world, 9, 300))
            if rank == 1:
                call("MPI_Mprobe", lambda begin, end: to.mpi_probe(end, 0, world, 9, 77), takes=40)
                call("MPI_Mrecv", lambda begin, end: to.mpi_mrecv(end, 77, 300), takes=20)
        to.leave(time + 1, region["main"])
    to = trace.event_writer_from_location(stream)
    to.enter(1000, region["main"])
    to.leave(1100, region["main"])
    to = trace.event_writer_from_location(helper)
    to.thread_team_begin(1400, team)
    to.thread_team_end(1400, team)
    to.enter(1500, region["main"])
    to.leave(1600, region["main"])
