"""Adds a view to the page: how many bytes each rank sent to each other rank. Takes the address from MPISCOPE_ADDRESS.
The view stays as long as this program runs. Stop it with Ctrl-C."""

from pathlib import Path

import numpy as np

import mpiscope

HTML = (Path(__file__).parents[2] / "own_view.html").read_text()

with mpiscope.connect(name="bytes sent") as client:
    panel = client.panel("Bytes sent", HTML)
    client.subscribe("messages")
    sent = np.zeros((0, 0))
    for batch in client.batches():
        rows = batch.messages
        missing = max(0, client.welcome.ranks - len(sent))
        sent = np.pad(sent, (0, missing))
        np.add.at(sent, (rows.source, rows.destination), rows.bytes)
        client.tell_panel(panel, sent.astype(int).tolist())
    for _ in client:
        pass
