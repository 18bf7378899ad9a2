"""Rebuilds the communication matrix of a run: messages and bytes of each pair of ranks, as JSON. Takes the address from
MPISCOPE_ADDRESS. With the word `backward` it goes from the end of the run to its start."""

import json
import sys
from collections import Counter

import mpiscope

messages, size = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
with mpiscope.connect(name="matrix") as client:
    client.subscribe("messages", direction="backward" if "backward" in sys.argv else "forward")
    for batch in client.batches():
        rows = batch.messages
        for pair, count in zip(zip(rows.source.tolist(), rows.destination.tolist()), rows.bytes.tolist()):
            messages[pair] += 1
            size[pair] += int(count)
    if client.subscriptions:
        sys.exit("mpiscope ended before all messages had come")
print(json.dumps(sorted([*pair, messages[pair], size[pair]] for pair in messages)))
