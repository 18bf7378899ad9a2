"""Marks each message whose latency ratio L exceeds 4, on the page and in all other views. Takes the address from
MPISCOPE_ADDRESS."""

import numpy as np

import mpiscope

with mpiscope.connect(name="slow by L") as client:
    client.subscribe("messages")
    for batch in client.batches():
        rows = batch.messages
        for row in np.flatnonzero(rows.latency > 4):
            text = f"L = {rows.latency[row]:.1f}: {rows.bytes[row]:.0f} bytes from rank {rows.source[row]}"
            client.annotate(rows.send_ns[row], text, until_ns=rows.receive_ns[row], rank=rows.destination[row])
