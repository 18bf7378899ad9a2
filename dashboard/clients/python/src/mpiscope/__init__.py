"""A client of mpiscope: receives calls, messages and verdicts of an MPI job while it runs, or of its recording.

    import mpiscope

    with mpiscope.connect("http://127.0.0.1:4711/?token=...", "slow messages") as client:
        client.subscribe("messages", at_least_ns=1e6)
        for batch in client.batches():
            print(len(batch), "messages took longer than 1 ms")

`mpiscope.aio.connect` gives the same client for asyncio. docs/protocol.md of mpiscope explains what comes and when.
"""

from __future__ import annotations

from . import aio, errors
from .address import VARIABLE
from .aio import AsyncClient
from .blocking import Client, connect
from .columns import NO_TAG, NONE, Calls, Columns, ExpandedMessages, Messages, OwnTimes, Windows
from .errors import (
    AddressError,
    ConnectionEnded,
    MpiscopeError,
    ProtocolMismatch,
    RequestFailed,
    TokenRefused,
    UnreadableMessage,
    Unreachable,
)
from .replies import (
    PROTOCOL,
    Annotation,
    Barrier,
    Batch,
    ClientMessage,
    Clock,
    End,
    Failed,
    Finding,
    Function,
    Jump,
    Node,
    PanelAdded,
    Passed,
    Removed,
    Reply,
    SecondRun,
    Section,
    Series,
    Subscribed,
    Verdict,
    Welcome,
)

__all__ = [
    "NONE",
    "NO_TAG",
    "PROTOCOL",
    "VARIABLE",
    "AddressError",
    "Annotation",
    "AsyncClient",
    "Barrier",
    "Batch",
    "Calls",
    "Client",
    "ClientMessage",
    "Clock",
    "Columns",
    "ConnectionEnded",
    "End",
    "ExpandedMessages",
    "Failed",
    "Finding",
    "Function",
    "Jump",
    "Messages",
    "MpiscopeError",
    "Node",
    "OwnTimes",
    "PanelAdded",
    "Passed",
    "ProtocolMismatch",
    "Removed",
    "Reply",
    "RequestFailed",
    "SecondRun",
    "Section",
    "Series",
    "Subscribed",
    "TokenRefused",
    "UnreadableMessage",
    "Unreachable",
    "Verdict",
    "Welcome",
    "Windows",
    "aio",
    "connect",
    "errors",
]
