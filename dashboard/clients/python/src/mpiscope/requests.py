"""What a client sends: the methods that the blocking and the asyncio client share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from operator import index
from typing import Any, Generic, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .replies import Recording

#: What a subscription is to.
Subject: TypeAlias = Literal["calls", "messages", "verdicts", "windows", "findings"]
#: Where a subscription begins: also a time of the run in nanoseconds.
Begin: TypeAlias = Literal["start", "now", "clock"] | SupportsFloat
#: `fast`: as fast as the client reads. `clock`: in step with the shared clock. `newest`: new rows only, one batch at a time.
Pace: TypeAlias = Literal["fast", "clock", "newest"]
Direction: TypeAlias = Literal["forward", "backward"]
#: Single ranks, and pairs of the first and the last rank of a range.
Ranks: TypeAlias = Iterable[SupportsIndex | tuple[SupportsIndex, SupportsIndex]]

Sent = TypeVar("Sent")
Number = TypeVar("Number")


def _pairs(ranks: Ranks) -> list[tuple[int, int]]:
    pairs = (each if isinstance(each, tuple) else (each, each) for each in ranks)
    return [(index(first), index(last)) for first, last in pairs]


def _key(key: SupportsIndex | str) -> int | str:
    return key if isinstance(key, str) else index(key)


def _number(name: str, value: SupportsFloat) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}; it has to be a number")
    return number


class Requests(ABC, Generic[Sent, Number]):
    """Requests. In the asyncio client each returns an awaitable.

    A refused request gives no error here: its `Failed` reply comes with the other replies.
    """

    @abstractmethod
    def _send(self, request: dict[str, Any]) -> Sent:
        """Sends a request."""

    @abstractmethod
    def _send_numbered(self, request: dict[str, Any]) -> Number:
        """Gives a request the next number, sends it, and returns the number."""

    def subscribe(
        self,
        to: Subject,
        *,
        functions: Iterable[str] = (),
        families: Iterable[str] = (),
        ranks: Ranks = (),
        region: SupportsIndex | None = None,
        communicators: Iterable[SupportsIndex | str] = (),
        sites: Iterable[SupportsIndex | str] = (),
        at_least_ns: SupportsFloat = 0.0,
        begin: Begin = "start",
        pace: Pace = "fast",
        direction: Direction = "forward",
        batch_rows: int | None = None,
        expand_collectives: bool = False,
        window_ns: SupportsFloat | None = None,
        recording: Recording = "a",
    ) -> Number:
        """Asks for rows of a topic, and returns the number of the subscription.

        Without a filter all rows come. `functions` (names in C), `families` (such as `collective`) and `sites` select
        calls. `ranks` and `region` select calls by these ranks, and messages from or to them. `at_least_ns` leaves out
        shorter calls, or messages with a shorter transfer time. `batch_rows` is the most rows of a batch. Communicators
        and sites are numbers or names, such as `MPI_COMM_WORLD` and `main.c:12`. With `expand_collectives`, messages come
        with what collectives carry between each two ranks. `window_ns` is the length of windows.
        `recording` is `b` for the second of two recordings that are replayed together; its times are on the clock of `a`.
        """
        request: dict[str, Any] = {
            "do": "subscribe",
            "what": to,
            "functions": list(functions),
            "families": list(families),
            "ranks": _pairs(ranks),
            "communicators": [_key(each) for each in communicators],
            "sites": [_key(each) for each in sites],
            "at_least_ns": _number("at_least_ns", at_least_ns),
            "from": begin if isinstance(begin, str) else {"time_ns": _number("begin", begin)},
            "pace": pace,
            "direction": direction,
        }
        if region is not None:
            request["region"] = index(region)
        if batch_rows is not None:
            request["most"] = int(batch_rows)
        if expand_collectives:
            request["expand_collectives"] = True
        if recording != "a":
            request["recording"] = recording
        if window_ns is not None:
            request["window_ns"] = _number("window_ns", window_ns)
        return self._send_numbered(request)

    def unsubscribe(self, subscription: int) -> Sent:
        """Ends a subscription. Batches that are on the way still come."""
        return self._send({"do": "unsubscribe", "id": subscription})

    def live(self) -> Sent:
        """Moves the shared clock to now, and lets it follow the run."""
        return self._send({"do": "live"})

    def pause(self) -> Sent:
        """Stops the shared clock."""
        return self._send({"do": "pause"})

    def play(self, rate: SupportsFloat = 1.0) -> Sent:
        """Lets the shared clock run, at `rate` seconds of the run per second; backward if negative."""
        return self._send({"do": "play", "rate": _number("rate", rate)})

    def set_rate(self, rate: SupportsFloat) -> Sent:
        """Changes the speed of the shared clock, whether it runs or not."""
        return self._send({"do": "rate", "rate": _number("rate", rate)})

    def seek(self, time_ns: SupportsFloat) -> Sent:
        """Moves the shared clock. Subscriptions in step with it leave out what lies between."""
        return self._send({"do": "seek", "time_ns": _number("time_ns", time_ns)})

    def step(self, by_ns: SupportsFloat) -> Sent:
        """Moves the shared clock by a time and stops it. Subscriptions in step with it get what lies between."""
        return self._send({"do": "step", "by_ns": _number("by_ns", by_ns)})

    def step_to(self, subscription: int, direction: Direction = "forward") -> Sent:
        """Moves the shared clock to the next row of a subscription, or to the row before, and stops it."""
        return self._send({"do": "step_to", "id": subscription, "direction": direction})

    def select(
        self,
        range_ns: tuple[SupportsFloat, SupportsFloat] | None = None,
        ranks: Ranks | None = None,
        hidden: Iterable[SupportsIndex] = (),
    ) -> Sent:
        """Changes what all views show: a range of time, ranks, and ids of functions to hide. Without arguments, all."""
        return self._send(
            {
                "do": "select",
                "range_ns": None if range_ns is None else [_number("range_ns", each) for each in range_ns],
                "ranks": None if ranks is None else _pairs(ranks),
                "hidden": [index(each) for each in hidden],
            }
        )

    def barrier(self, timeout_s: SupportsFloat = 1.0) -> Number:
        """Asks all other clients to draw what they have. A `Passed` reply with the returned number comes afterwards."""
        milliseconds = int(max(_number("timeout_s", timeout_s), 0.0) * 1e3)
        return self._send_numbered({"do": "barrier", "timeout_ms": min(milliseconds, 10_000)})

    def drawn(self, barrier: int) -> Sent:
        """Answers the barrier of another client."""
        return self._send({"do": "drawn", "barrier": barrier})

    def annotate(
        self,
        time_ns: SupportsFloat,
        text: str,
        *,
        until_ns: SupportsFloat | None = None,
        rank: SupportsIndex | None = None,
        colour: str | None = None,
        link: str | None = None,
    ) -> Number:
        """Adds a note to the run. An `Annotation` reply with the returned number as `id` confirms it.

        A note is at a moment, or lasts until `until_ns`. It belongs to one rank or to all. `colour` is `#rrggbb`,
        `link` an http or https address.
        """
        request: dict[str, Any] = {"do": "annotate", "time_ns": _number("time_ns", time_ns), "text": text}
        if until_ns is not None:
            request["until_ns"] = _number("until_ns", until_ns)
        optional = {"rank": rank if rank is None else index(rank), "colour": colour, "link": link}
        request.update((name, value) for name, value in optional.items() if value is not None)
        return self._send_numbered(request)

    def remove(self, annotation: int) -> Sent:
        """Removes an annotation of this client, by its `annotation` number."""
        return self._send({"do": "remove", "annotation": annotation})

    def series(self, name: str, time_ns: npt.ArrayLike, value: npt.ArrayLike, unit: str = "") -> Sent:
        """Adds points to a series. All views show it over time."""
        columns = {"time_ns": _blob(time_ns), "value": _blob(value)}
        return self._send({"do": "series", "name": name, "unit": unit, **columns})

    def tell(self, data: Any, to: int | None = None) -> Sent:
        """Tells another client something, or all others: anything that JSON can hold, at most 64 KiB."""
        request = {"do": "tell", "data": data}
        return self._send(request if to is None else {**request, "to": to})

    def panel(self, title: str, html: str) -> Number:
        """Adds a view to the page, as a tab, and returns its number. A `PanelAdded` reply confirms it.

        `html` is a whole page with its scripts and styles in it, of at most 200 KiB: it can load nothing. Its scripts
        get the shared clock and what `tell_panel` sends by `message` events. It stays as long as this client is connected.
        """
        return self._send_numbered({"do": "panel", "title": title, "html": html})

    def tell_panel(self, panel: int, data: Any) -> Sent:
        """Tells a panel of this client something: anything that JSON can hold, at most 64 KiB."""
        return self._send({"do": "tell_panel", "id": panel, "data": data})

    def close_panel(self, panel: int) -> Sent:
        """Takes a panel of this client off the page."""
        return self._send({"do": "close_panel", "id": panel})


def _blob(values: npt.ArrayLike) -> bytes:
    return np.asarray(values, dtype="<f8").tobytes()
