"""A plot in a notebook that follows a run. Needs `pip install mpiscope[jupyter]`."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from IPython.display import Image, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .blocking import Client
from .replies import Barrier, Batch, Reply


def live_plot(
    client: Client,
    add: Callable[[Batch], None],
    draw: Callable[[Axes], None],
    *,
    every_s: float = 0.5,
    for_s: float | None = None,
) -> Figure:
    """Shows a plot below the cell and redraws it while batches come: until the subscriptions of the client end, for
    `for_s` seconds, or until the cell is interrupted.

    `add` takes each batch. `draw` paints all that was added on empty axes, at most once every `every_s` seconds.
    """
    plot = _Plot(draw)
    until = math.inf if for_s is None else time.monotonic() + for_s
    due, has_new = time.monotonic() + every_s, False
    try:
        for reply in _replies(client, every_s, until):
            if reply is not None and (batch := client.batch_of(reply)) is not None:
                add(batch)
                has_new = True
            is_due = reply is None or isinstance(reply, Barrier) or time.monotonic() >= due
            if has_new and is_due:
                plot.show()
                due, has_new = time.monotonic() + every_s, False
            if isinstance(reply, Barrier):
                client.drawn(reply.barrier)
    except KeyboardInterrupt:
        pass
    plot.show()
    return plot.figure


def _replies(client: Client, pause_s: float, until: float) -> Iterator[Reply | None]:
    """Replies while subscriptions go on; `None` where none came for a while."""
    while client.subscriptions and time.monotonic() < until:
        try:
            reply = client.next(timeout=pause_s)
        except TimeoutError:
            yield None
            continue
        if reply is None:
            return
        yield reply


class _Plot:
    """One picture below the cell, drawn again in place."""

    def __init__(self, draw: Callable[[Axes], None]) -> None:
        self.figure = Figure(layout="constrained")
        self._draw = draw
        self._axes = self.figure.add_subplot()
        self._handle: Any = display(self._picture(), display_id=True)  # type: ignore[no-untyped-call]

    def show(self) -> None:
        self._handle.update(self._picture())

    def _picture(self) -> Any:
        self._axes.clear()
        self._draw(self._axes)
        png = io.BytesIO()
        self.figure.savefig(png, format="png")
        return Image(data=png.getvalue())  # type: ignore[no-untyped-call]
