"""Prints each turn or phase that two recordings have, with its length and the time in MPI in both. Takes the address of
`mpiscope replay A --with B` from MPISCOPE_ADDRESS. With the word `backward` it goes from the end to the start."""

import sys

import numpy as np

import mpiscope

with mpiscope.connect(name="two runs") as client:
    second = client.welcome.second
    if second is None:
        sys.exit("there is one recording: start mpiscope replay A --with B")
    starts_ns = [section.a_from_ns for section in second.sections]
    in_mpi_ns = {recording: np.zeros(len(starts_ns) + 1) for recording in "ab"}
    client.subscribe("calls", direction="backward" if "backward" in sys.argv else "forward")
    client.subscribe("calls", recording="b", direction="backward" if "backward" in sys.argv else "forward")
    for batch in client.batches():
        # One clock says which turn a call is in, and b's own time how long it took.
        calls, times = batch.calls, batch.own
        took_ns = calls.end_ns - calls.start_ns if times is None else times.to_ns - times.from_ns
        np.add.at(in_mpi_ns[batch.recording], np.searchsorted(starts_ns, calls.start_ns, side="right"), took_ns)
    print(second.reason)
    for at, of in enumerate(second.sections, start=1):
        a_ms, b_ms = (of.a_to_ns - of.a_from_ns) / 1e6, (of.b_to_ns - of.b_from_ns) / 1e6
        mpi_ms = [in_mpi_ns[recording][at] / 1e6 for recording in "ab"]
        print(of.name, of.number, f"A {a_ms:.3f} ms, B {b_ms:.3f} ms; in MPI A {mpi_ms[0]:.3f} ms, B {mpi_ms[1]:.3f} ms")
