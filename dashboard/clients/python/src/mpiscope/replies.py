"""What mpiscope sends, one class for each kind. `decode` makes them from bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgpack
import numpy as np

from .columns import F64, Calls, Columns, ExpandedMessages, Messages, OwnTimes, Windows
from .errors import ProtocolMismatch, UnreadableMessage

if TYPE_CHECKING:
    import pyarrow

#: The version of the protocol that this package speaks.
PROTOCOL = 1

#: Ranges of ranks, both ends included.
#: One of two recordings that are replayed together.
Recording: TypeAlias = Literal["a", "b"]
RankRanges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A host."""

    node: int
    name: str
    ranks: RankRanges


@dataclass(frozen=True, slots=True)
class Function:
    """An MPI function: the id that columns have, its name in C, and its family, such as `collective`."""

    id: int
    name: str
    family: str


@dataclass(frozen=True, slots=True)
class Clock:
    """The shared clock and the selection."""

    version: int
    mode: Literal["live", "paused", "playing"]
    #: The position of the clock.
    time_ns: float
    #: Seconds of the run per second, while it plays.
    rate: float
    #: Calls are known up to this time.
    until_ns: float
    #: The selected range of time; all where there is none. So the next two.
    range_ns: tuple[float, float] | None
    ranks: RankRanges | None
    #: Ids of functions that are not shown.
    hidden: tuple[int, ...]
    #: Open pages, and connected programs, this one included.
    pages: int
    clients: int


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A turn of the main loop, or a phase, that both recordings have. Times in b are b's own."""

    #: The name of the phase; empty for a turn.
    name: str
    #: Which turn, or which phase of that name, from 1 on.
    number: int
    a_from_ns: float
    a_to_ns: float
    b_from_ns: float
    b_to_ns: float


@dataclass(frozen=True, slots=True, eq=False)
class SecondRun:
    """Recording b, which is on the clock of recording a."""

    command: str
    ranks: int
    #: How long it took, in its own time.
    run_ns: float
    #: `start`, `phase` or `turn`.
    aligned_by: str
    #: Why, and what was matched, in a sentence.
    reason: str
    #: In the order of time.
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Welcome:
    """What mpiscope says first about the run."""

    protocol: int
    #: This client's number, by which others can tell it something.
    client: int
    #: What the token allows: `read`, `control`, `annotate`.
    rights: tuple[str, ...]
    command: str
    ranks: int
    nodes: tuple[Node, ...]
    functions: tuple[Function, ...]
    is_live: bool
    clock: Clock
    #: How long the run took, if it has ended.
    run_ns: float | None = None
    #: Recording b, where two are replayed together.
    second: SecondRun | None = None


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A subscription is accepted. `note` says what of its filter is not known yet."""

    id: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was found about the run. One with the same `finding` replaces what came before."""

    finding: str
    #: `cause`, `disturbance`, `growth`, `source`, `hang` or `stopped`.
    kind: str
    from_ns: float
    text: str
    is_final: bool
    #: None where it has not ended.
    to_ns: float | None = None
    #: Empty for all ranks.
    ranks: RankRanges = ()
    region: int | None = None
    other: int | None = None
    #: `mapping`, `pattern`, `background` or `cpu`.
    cause: str | None = None
    avoidable_s: float | None = None
    confidence: float | None = None
    #: It is not held any more.
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows of a subscription: all of them from `from_ns` to `to_ns`, and late ones in front."""

    id: int
    from_ns: float
    #: The rows are complete up to this time. Lies before `from_ns` where time goes backward.
    to_ns: float
    #: The calls, messages, windows or findings, whichever the subscription is to.
    rows: Calls | Messages | Windows | tuple[Finding, ...]
    #: Rows in front that became known late and lie before `from_ns`.
    late: int = 0
    #: Rows left out before this batch, because the client was too slow for the pace it chose.
    missed: int = 0
    #: The recording of the rows; `b` only where two are replayed together.
    recording: Recording = "a"
    #: Of recording b: when the rows were in its own time.
    own: OwnTimes | None = None

    @property
    def calls(self) -> Calls:
        """The rows of a subscription to calls."""
        if not isinstance(self.rows, Calls):
            raise TypeError("this batch has no calls; its subscription is not to calls")
        return self.rows

    @property
    def messages(self) -> Messages:
        """The rows of a subscription to messages."""
        if not isinstance(self.rows, Messages):
            raise TypeError("this batch has no messages; its subscription is not to messages")
        return self.rows

    @property
    def windows(self) -> Windows:
        """The rows of a subscription to windows."""
        if not isinstance(self.rows, Windows):
            raise TypeError("this batch has no windows; its subscription is not to windows")
        return self.rows

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The rows of a subscription to findings."""
        if not isinstance(self.rows, tuple):
            raise TypeError("this batch has no findings; its subscription is not to findings")
        return self.rows

    @property
    def is_backward(self) -> bool:
        """Whether the rows go from late to early."""
        return self.to_ns < self.from_ns

    def __len__(self) -> int:
        return len(self.rows)

    def table(self) -> pyarrow.Table:
        """The rows as an Arrow table; findings have none."""
        if not isinstance(self.rows, Columns):
            raise TypeError("findings are no table; their subscription is to `findings`")
        return self.rows.table()


@dataclass(frozen=True, slots=True)
class Jump:
    """The shared clock went elsewhere: rows between these times are left out."""

    id: int
    from_ns: float
    to_ns: float


@dataclass(frozen=True, slots=True)
class End:
    """A subscription has sent all its rows."""

    id: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why time is lost, as `mpiscope report --json` has it under `verdict`."""

    id: int
    #: `mapping`, `pattern`, `background`, `cpu` or `none`.
    cause: str
    #: Seconds that could be avoided, summed over ranks, and how much sooner the run would end.
    avoidable_s: float
    avoidable_wall_s: float
    share: float
    confidence: float
    is_final: bool
    #: `whole` or `part` of the run; `hung`, `lost` or `unseen` where there is no verdict.
    basis: str = ""


@dataclass(frozen=True, slots=True)
class Barrier:
    """Another client waits until this one has drawn what it has. Answer with `client.drawn(barrier)`."""

    barrier: int
    author: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A barrier of this client has ended. `missing` has the clients that did not answer in time."""

    id: int
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note on the run, of this or of another client."""

    annotation: int
    author: str
    time_ns: float
    text: str
    #: The number that `client.annotate` returned; 0 for notes of others.
    id: int = 0
    until_ns: float | None = None
    rank: int | None = None
    colour: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """An annotation was removed."""

    annotation: int


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Points that another client added to a series."""

    name: str
    author: str
    unit: str
    time_ns: F64
    value: F64


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message of another client."""

    client: int
    author: str
    data: Any


@dataclass(frozen=True, slots=True)
class PanelAdded:
    """A panel of this client is on the page."""

    id: int
    panel: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A request that mpiscope refused. The connection goes on."""

    request: str
    text: str
    id: int | None = None


Reply: TypeAlias = (
    Welcome
    | Clock
    | Subscribed
    | Batch
    | Jump
    | End
    | Verdict
    | Barrier
    | Passed
    | Annotation
    | Removed
    | Series
    | ClientMessage
    | PanelAdded
    | Failed
)

_Map: TypeAlias = Mapping[str, Any]


def _ranges(pairs: Any) -> RankRanges:
    return tuple((int(first), int(last)) for first, last in pairs)


def _make(kind: type[Any], message: _Map, **converted: Any) -> Any:
    """Takes the fields that the class has, and ignores others: later servers may add some."""
    known = {each.name: message[each.name] for each in fields(kind) if each.name in message}
    return kind(**{**known, **converted})


def _clock(message: _Map) -> Clock:
    range_ns, ranks = message.get("range_ns"), message.get("ranks")
    clock: Clock = _make(
        Clock,
        message,
        range_ns=None if range_ns is None else (float(range_ns[0]), float(range_ns[1])),
        ranks=None if ranks is None else _ranges(ranks),
        hidden=tuple(message.get("hidden") or ()),
    )
    return clock


def _welcome(message: _Map) -> Welcome:
    if message["protocol"] != PROTOCOL:
        raise ProtocolMismatch(f"mpiscope speaks protocol {message['protocol']}, this package speaks {PROTOCOL}")
    welcome: Welcome = _make(
        Welcome,
        message,
        rights=tuple(message["rights"]),
        nodes=tuple(_make(Node, node, ranks=_ranges(node["ranks"])) for node in message["nodes"]),
        functions=tuple(_make(Function, function) for function in message["functions"]),
        clock=_clock(message["clock"]),
        second=_second(message["second"]) if "second" in message else None,
    )
    return welcome


def _second(message: _Map) -> SecondRun:
    columns = message["sections"]
    kinds = {"number": "<u4", "a_from_ns": "<f8", "a_to_ns": "<f8", "b_from_ns": "<f8", "b_to_ns": "<f8"}
    values = [np.frombuffer(columns[name], kind).tolist() for name, kind in kinds.items()]
    second: SecondRun = _make(
        SecondRun,
        message,
        sections=tuple(Section(*row) for row in zip(columns["name"], *values, strict=True)),
    )
    return second


def _batch(message: _Map) -> Batch:
    rows: Calls | Messages | Windows | tuple[Finding, ...]
    if "calls" in message:
        rows = Calls.decode(message["calls"])
    elif "windows" in message:
        rows = Windows.decode(message["windows"])
    elif "findings" in message:
        rows = tuple(_finding(finding) for finding in message["findings"])
    else:
        columns = message["messages"]
        rows = (ExpandedMessages if "known_ns" in columns else Messages).decode(columns)
    own = OwnTimes.decode(message["own"]) if "own" in message else None
    batch: Batch = _make(Batch, message, rows=rows, own=own)
    return batch


def _finding(message: _Map) -> Finding:
    finding: Finding = _make(Finding, message, ranks=_ranges(message.get("ranks", ())))
    return finding


def _series(message: _Map) -> Series:
    columns = {name: np.frombuffer(message[name], "<f8") for name in ("time_ns", "value")}
    series: Series = _make(Series, message, **columns)
    return series


def _passed(message: _Map) -> Passed:
    return Passed(id=message["id"], missing=tuple(message["missing"]))


def _plain(kind: type[Any]) -> Callable[[_Map], Reply]:
    def make(message: _Map) -> Reply:
        reply: Reply = _make(kind, message)
        return reply

    return make


_KINDS: dict[str, Callable[[_Map], Reply]] = {
    "welcome": _welcome,
    "clock": _clock,
    "subscribed": _plain(Subscribed),
    "batch": _batch,
    "jump": _plain(Jump),
    "end": _plain(End),
    "verdict": _plain(Verdict),
    "barrier": _plain(Barrier),
    "passed": _passed,
    "annotation": _plain(Annotation),
    "removed": _plain(Removed),
    "series": _series,
    "said": _plain(ClientMessage),
    "panel": _plain(PanelAdded),
    "failed": _plain(Failed),
}


def decode(data: bytes | str) -> Reply:
    """A reply from the bytes of one WebSocket message."""
    if isinstance(data, str):
        raise UnreadableMessage("mpiscope sent text where MessagePack was asked for")
    try:
        message = msgpack.unpackb(data)
        return _KINDS[message["kind"]](message)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, msgpack.UnpackException) as error:
        why = f"{type(error).__name__}: {error}"
        raise UnreadableMessage(f"mpiscope sent what is no message of protocol {PROTOCOL}: {why}") from error
