"""Prints every message slower than 1 ms while the program runs. Takes the address from MPISCOPE_ADDRESS."""

import mpiscope

with mpiscope.connect(name="slow messages") as client:
    client.subscribe("messages", at_least_ns=1e6)
    for batch in client.batches():
        rows = batch.messages
        for row in zip(rows.source, rows.destination, rows.bytes, rows.transfer_ns / 1e6, rows.receive_ns / 1e9):
            print("{4:.6f} s: {2:.0f} bytes from rank {0} to rank {1} took {3:.3f} ms".format(*row))
