"""A histogram of transfer times in the terminal, drawn again with every batch. Takes the address from MPISCOPE_ADDRESS."""

import numpy as np

import mpiscope

edges_us = 2.0 ** np.arange(-3, 18)
counts = np.zeros(len(edges_us) - 1, dtype=np.int64)

with mpiscope.connect(name="histogram") as client:
    client.subscribe("messages")
    for batch in client.batches():
        times_us = np.clip(batch.messages.transfer_ns / 1e3, edges_us[0], edges_us[-1])
        counts += np.histogram(times_us, edges_us)[0]
        print(f"\033[H\033[J{counts.sum()} messages until {batch.to_ns / 1e9:.3f} s of the run")
        for edge, count in zip(edges_us, counts):
            print(f"{edge:12.3f} us {count:10} {'#' * round(60 * count / max(counts.max(), 1))}")
