#!/usr/bin/env python3
"""python_ring.py [rounds [matched] [persistent]]: what a program in Python does through mpi4py, and its word about it.

Each call of mpi4py stands next to the functions that it ends in. Objects (the methods in lower case) travel pickled, as
one message of bytes; collective ones in two steps, sizes first. By default their receives probe first; with `matched`
they take matched probes, which is the default of mpi4py. With `persistent` there are persistent
requests as well.

The truth is printed as tests/apps/truth.h describes it. mpi4py has no PMPI functions, so the gathering of the truth is
counted in it, before it is done.
"""

import pickle
import sys
from array import array

import mpi4py

WORDS = sys.argv[1:]
mpi4py.rc.recv_mprobe = "matched" in WORDS
# Otherwise objects are reduced along a tree of messages of its own.
mpi4py.rc.fast_reduce = False

from mpi4py import MPI  # noqa: E402, the settings come before

ROUNDS = int(WORDS[0]) if WORDS else 20
WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE
# mpi4py tells the size of a pickled object as one MPI_INT, since its version 4 as one MPI_COUNT.
SIZE_BYTES = 4 if mpi4py.__version__.startswith("3.") else 8
FUNCTIONS = (
    "Init_thread Finalize Send Bsend Ssend Rsend Isend Issend Recv Irecv Sendrecv Sendrecv_replace Wait Waitall "
    "Waitany Waitsome Test Testall Testany Testsome Probe Iprobe Mprobe Improbe Mrecv Imrecv Send_init Recv_init "
    "Start Startall Request_free Barrier Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather "
    "Allgatherv Alltoall Alltoallv Reduce_scatter_block Scan Exscan Ibarrier Ibcast Ireduce Iallreduce Iallgather "
    "Ialltoall Comm_split Comm_dup Comm_free"
).split()
CALLS, MOVED = dict.fromkeys(FUNCTIONS, 0), dict.fromkeys(FUNCTIONS, 0)
MESSAGES, BYTES = [0] * SIZE, [0] * SIZE


def called(*functions):
    """One call of each of these."""
    for function in functions:
        CALLS[function] += 1


def moved(size, *functions):
    """One call of each of these collectives, which moves N bytes on this rank."""
    called(*functions)
    for function in functions:
        MOVED[function] += size


def sent(function, destination, size):
    """One call that sends one message of N bytes."""
    called(function)
    message_to(destination, size)


def message_to(destination, size):
    MESSAGES[destination] += 1
    BYTES[destination] += size


def pickled(thing):
    """The bytes of an object in a message."""
    return len(MPI.pickle.dumps(thing))


def object_received():
    called(*(("Mprobe", "Mrecv") if mpi4py.rc.recv_mprobe else ("Probe", "Recv")))


def buffers(count):
    """Messages from and to memory."""
    message, buffer = array("d", [RANK] * count), array("d", [0] * count)
    size = 8 * count
    sent("Isend", RIGHT, size)
    request = WORLD.Isend(message, RIGHT, 1)
    called("Recv")
    WORLD.Recv(buffer, LEFT, 1)
    assert buffer[0] == LEFT
    called("Wait")
    request.Wait()

    if RANK == 0:
        for _ in range(1, SIZE):
            called("Recv")
            status = MPI.Status()
            WORLD.Recv(buffer, MPI.ANY_SOURCE, 2, status)
            assert buffer[0] == status.Get_source()
    else:
        function, send = [("Send", WORLD.Send), ("Ssend", WORLD.Ssend)][count % 2]
        sent(function, 0, size)
        send(message, 0, 2)

    sent("Sendrecv", RIGHT, size)
    WORLD.Sendrecv(message, RIGHT, 3, buffer, LEFT, 3)
    sent("Sendrecv_replace", LEFT, size)
    WORLD.Sendrecv_replace(buffer, LEFT, 4, RIGHT, 4)
    assert buffer[0] == RANK

    # With gaps: every other element of a vector.
    gaps = MPI.DOUBLE.Create_vector(count, 1, 2).Commit()
    sparse = array("d", [RANK] * (2 * count))
    sent("Isend", RIGHT, size)
    request = WORLD.Isend([sparse, 1, gaps], RIGHT, 5)
    called("Probe")
    status = MPI.Status()
    WORLD.Probe(LEFT, 5, status)
    assert status.Get_count(MPI.DOUBLE) == count
    called("Recv")
    WORLD.Recv(buffer, LEFT, 5)
    called("Wait")
    request.Wait()
    gaps.Free()


def requests(count):
    """Requests to all others, completed in each way that there is."""
    others = [rank for rank in range(SIZE) if rank != RANK]
    message = bytearray(count)
    for way in ("Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome"):
        buffers = [bytearray(count) for _ in others]
        pending = []
        for buffer, other in zip(buffers, others):
            called("Irecv")
            pending.append(WORLD.Irecv(buffer, other, 6))
        for other in others:
            sent("Isend", other, count)
            pending.append(WORLD.Isend(message, other, 6))
        complete = getattr(MPI.Request, way)
        done = 0
        while done < len(pending):
            called(way)
            result = complete(pending)
            if way in ("Waitall", "Testall"):
                done = len(pending) if result else 0
            elif way == "Waitany":
                done += 1
            elif way == "Testany":
                done += result[1]
            else:
                done += len(result or ())
    called("Irecv")
    buffer = bytearray(count)
    request = WORLD.Irecv(buffer, LEFT, 7)
    sent("Issend", RIGHT, count)
    other = WORLD.Issend(message, RIGHT, 7)
    called("Test")
    while not request.Test():
        called("Test")
    called("Wait")
    other.Wait()


def objects(count):
    """Objects, which mpi4py pickles."""
    thing = {"from": RANK, "values": list(range(count)), "text": "x" * count}
    size = pickled(thing)
    if RANK == 0:
        for _ in range(1, SIZE):
            object_received()
            received = WORLD.recv(source=MPI.ANY_SOURCE, tag=8)
            assert received["values"] == thing["values"]
    else:
        sent("Send", 0, size)
        WORLD.send(thing, 0, 8)
    sent("Isend", RIGHT, size)
    request = WORLD.isend(thing, RIGHT, 9)
    object_received()
    assert WORLD.recv(source=LEFT, tag=9)["from"] == LEFT
    called("Wait")
    request.wait()

    called("Irecv")
    request = WORLD.irecv(source=LEFT, tag=10)
    sent("Send", RIGHT, size)
    WORLD.send(thing, RIGHT, 10)
    called("Wait")
    assert request.wait()["from"] == LEFT

    # A request, a receive, and the wait for the request.
    sent("Isend", RIGHT, size)
    object_received()
    called("Wait")
    assert WORLD.sendrecv(thing, RIGHT, 11, None, LEFT, 11)["from"] == LEFT


def matched(count):
    """A message that is taken before it is received."""
    sent("Isend", RIGHT, count)
    request = WORLD.Isend(bytearray(count), RIGHT, 12)
    called("Mprobe")
    message = WORLD.Mprobe(MPI.ANY_SOURCE, 12)
    called("Imrecv", "Wait")
    message.Irecv(bytearray(count)).Wait()
    called("Wait")
    request.Wait()


def persistent(count):
    """Requests that are started again and again."""
    called("Send_init", "Recv_init")
    pair = [WORLD.Send_init(bytearray(count), RIGHT, 13), WORLD.Recv_init(bytearray(count), LEFT, 13)]
    for _ in range(3):
        called("Startall", "Waitall")
        message_to(RIGHT, count)
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
    for request in pair:
        called("Request_free")
        request.Free()


def collectives(count):
    """Operations of all ranks on memory, blocking and not."""
    root, size = count % SIZE, 8 * count
    own = array("q", [RANK] * count)
    everybody = array("q", [rank for rank in range(SIZE) for _ in range(count)])
    result, everything = array("q", own), array("q", everybody)
    called("Barrier")
    moved(size, "Bcast", "Gather", "Allgather", "Reduce", "Allreduce", "Scan", "Exscan")
    moved(SIZE * size, "Alltoall", "Reduce_scatter_block")
    # The root hands over everything; the others hand over nothing and receive their own.
    moved(SIZE * size if RANK == root else size, "Scatter")
    WORLD.Barrier()
    WORLD.Bcast(result, root)
    assert result[0] == root
    WORLD.Gather(own, everything if RANK == root else None, root)
    WORLD.Scatter(everybody if RANK == root else None, result, root)
    WORLD.Allgather(own, everything)
    assert everything == everybody and result == own
    WORLD.Alltoall(everybody, everything)
    WORLD.Reduce(own, result if RANK == root else None, MPI.SUM, root)
    WORLD.Allreduce(own, result, MPI.SUM)
    assert result[0] == SIZE * (SIZE - 1) // 2
    WORLD.Scan(own, result)
    WORLD.Exscan(own, result)
    WORLD.Reduce_scatter_block(everybody, result, MPI.MAX)
    assert result == own

    counts = [rank + 1 for rank in range(SIZE)]
    part, parts = array("q", [RANK] * (RANK + 1)), array("q", [0] * sum(counts))
    moved(8 * (RANK + 1), "Allgatherv", "Gatherv")
    moved(8 * (sum(counts) if RANK == root else RANK + 1), "Scatterv")
    WORLD.Allgatherv(part, [parts, counts])
    WORLD.Gatherv(part, [parts, counts] if RANK == root else None, root)
    WORLD.Scatterv([parts, counts] if RANK == root else None, part, root)
    assert part[0] == RANK

    called("Ibarrier", "Wait", "Waitall")
    moved(size, "Ibcast", "Iallreduce", "Iallgather", "Ireduce")
    moved(SIZE * size, "Ialltoall")
    WORLD.Ibarrier().Wait()
    # Named, to live until the end: mpi4py 3.1 does not keep what Ireduce writes to.
    broadcast, collected, reduced = array("q", own), array("q", everybody), array("q", own)
    begun = [WORLD.Ibcast(broadcast, root), WORLD.Iallreduce(own, result), WORLD.Iallgather(own, collected)]
    begun.append(WORLD.Ialltoall(everybody, everything))
    begun.append(WORLD.Ireduce(own, reduced if RANK == root else None, MPI.SUM, root))
    MPI.Request.Waitall(begun)
    assert result[0] == SIZE * (SIZE - 1) // 2


def collectives_of_objects(count):
    """Sizes first, then the pickled bytes."""
    root = count % SIZE
    texts, number = [pickled("x" * rank) for rank in range(SIZE)], pickled(RANK)
    moved(SIZE_BYTES, "Bcast", "Gather", "Allgather")
    moved(SIZE * SIZE_BYTES, "Alltoall")
    moved(SIZE * SIZE_BYTES if RANK == root else SIZE_BYTES, "Scatter")
    moved(pickled({"root": root}), "Bcast")
    moved(texts[RANK], "Gatherv")
    moved(sum(texts) if RANK == root else texts[RANK], "Scatterv")
    moved(number, "Allgatherv")
    moved(SIZE * number, "Alltoallv")
    assert WORLD.bcast({"root": RANK}, root) == {"root": root}
    gathered = WORLD.gather("x" * RANK, root)
    assert WORLD.scatter(gathered, root) == "x" * RANK
    assert WORLD.allgather(RANK) == list(range(SIZE))
    assert WORLD.alltoall([RANK] * SIZE) == list(range(SIZE))
    # Gathered and added up in Python.
    called("Barrier")
    moved(SIZE_BYTES, "Allgather", "Gather")
    moved(number, "Allgatherv", "Gatherv")
    WORLD.barrier()
    assert WORLD.allreduce(RANK) == SIZE * (SIZE - 1) // 2
    WORLD.reduce(RANK, root=root)


def halves(count):
    """The odd and the even ranks among themselves, in turned order."""
    called("Comm_split")
    half = WORLD.Split(RANK % 2, -RANK)
    ranks = [rank for rank in reversed(range(SIZE)) if rank % 2 == RANK % 2]
    own = half.Get_rank()
    sent("Sendrecv", ranks[(own + 1) % len(ranks)], 3 * count)
    half.Sendrecv(bytearray(3 * count), (own + 1) % len(ranks), 0, bytearray(3 * count), (own - 1) % len(ranks), 0)
    called("Comm_dup", "Comm_free", "Comm_free")
    half.Dup().Free()
    half.Free()


def print_truth():
    """Gathers what all ranks did, and lets nobody go on before it is out."""
    called("Barrier", "Finalize")
    moved(8 * 2 * (len(FUNCTIONS) + SIZE), "Gather")
    own = array("q", [*CALLS.values(), *MOVED.values(), *MESSAGES, *BYTES])
    everything = array("q", [0] * (len(own) * SIZE)) if RANK == 0 else None
    WORLD.Gather(own, everything, 0)
    if RANK == 0:
        lines = ["mpiscope-truth 1"]
        by_source = [everything[rank * len(own) : (rank + 1) * len(own)] for rank in range(SIZE)]
        for source, numbers in enumerate(by_source):
            messages, sizes = numbers[-2 * SIZE : -SIZE], numbers[-SIZE:]
            lines += [f"pair {source} {to} {messages[to]} {sizes[to]}" for to in range(SIZE) if messages[to]]
        for rank, numbers in enumerate(by_source):
            lines += [f"calls {rank} MPI_{name} {count}" for name, count in zip(FUNCTIONS, numbers) if count]
            sizes = numbers[len(FUNCTIONS) : -2 * SIZE]
            lines += [f"moved {rank} MPI_{name} {size}" for name, size in zip(FUNCTIONS, sizes) if size]
        print("\n".join([*lines, "end"]), flush=True)
    WORLD.Barrier()


def main():
    called("Init_thread")
    for round_number in range(ROUNDS):
        # Another size in each round: a message that is paired wrongly does not fit.
        count = 1 + round_number % 7
        buffers(count)
        requests(count)
        objects(count)
        halves(count)
        if "matched" in WORDS:
            matched(count)
        if "persistent" in WORDS:
            persistent(count)
        collectives(count)
        collectives_of_objects(count)
    print_truth()


main()
