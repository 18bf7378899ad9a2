"""What both clients have in common: how they connect, what they know of the run, and how errors are named."""

from __future__ import annotations

import logging
from typing import Any

import msgpack
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

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
from .replies import PROTOCOL, Batch, Clock, End, Failed, Reply, Welcome, decode

_GOING_AWAY = 1001
_PROTOCOL_ERROR = 1002
_NAME_CHARACTERS = 64


def hello(name: str) -> bytes:
    """The first message of a client."""
    if not 1 <= len(name.strip()) <= _NAME_CHARACTERS:
        raise ValueError(f"a client's name has 1 to {_NAME_CHARACTERS} characters")
    return encode({"do": "hello", "protocol": PROTOCOL, "name": name, "format": "msgpack"})


def encode(request: dict[str, Any]) -> bytes:
    """A request as MessagePack."""
    return bytes(msgpack.packb(request))


def options(token: str, timeout: float) -> dict[str, Any]:
    """How to open the WebSocket."""
    return {
        "additional_headers": {"Authorization": f"Bearer {token}"},
        # The token goes to mpiscope alone: through no proxy, and into no log.
        "proxy": None,
        "logger": _silent_logger(),
        # The batches of a fast subscription come from this machine; compressing them costs more than it saves.
        "compression": None,
        "open_timeout": timeout,
        # mpiscope asks for a sign of life itself.
        "ping_interval": None,
        "close_timeout": 2.0,
        # A batch with as many rows as can be asked for.
        "max_size": 64 << 20,
    }


def _silent_logger() -> logging.Logger:
    """Debug output of websockets has all headers, and so the token. This logger is in no hierarchy: nobody enables it."""
    logger = logging.Logger("mpiscope.websocket", logging.CRITICAL)
    logger.addHandler(logging.NullHandler())
    return logger


def failed_to_connect(error: Exception) -> MpiscopeError:
    """Why there is no connection."""
    if isinstance(error, InvalidStatus):
        status, body = error.response.status_code, bytes(error.response.body or b"")
        text = body.decode("utf-8", "replace").strip()[:200] or f"it answers with HTTP status {status}"
        if status == 403:
            return TokenRefused(f"mpiscope refused the token (HTTP status 403): {text}")
        return Unreachable(f"mpiscope accepts no client: {text}")
    if isinstance(error, InvalidURI):
        return AddressError("this is not the address of a page: its host or port makes no sense")
    if isinstance(error, InvalidHandshake):
        return Unreachable("what answers at this address is not mpiscope")
    if isinstance(error, TimeoutError):
        return Unreachable("nobody answered at this address in time")
    return Unreachable(f"nobody answers at this address: {error}")


def closed_before_greeting(error: ConnectionClosed) -> MpiscopeError:
    """Why mpiscope closed the connection instead of greeting."""
    close = error.rcvd
    if close is not None and close.code == _PROTOCOL_ERROR:
        return ProtocolMismatch(f"mpiscope refused protocol {PROTOCOL}: {close.reason}")
    reason = "the connection broke" if close is None else close.reason or f"close code {close.code}"
    return ConnectionEnded(f"mpiscope ended the connection before its greeting: {reason}")


def closed(error: ConnectionClosed) -> MpiscopeError | None:
    """Why a connection ended; nothing if mpiscope or this client ended it as planned."""
    close = error.rcvd
    if close is not None and close.code in (1000, _GOING_AWAY):
        return None
    if close is None and error.sent is not None and error.sent.code == 1000:
        return None
    if close is not None:
        return ConnectionEnded(f"mpiscope ended the connection: {close.reason or f'close code {close.code}'}")
    sent = error.sent
    why = f": {sent.reason}" if sent is not None and sent.reason else ""
    return ConnectionEnded(f"the connection to mpiscope broke{why}")


class State:
    """What a client knows: the greeting, the shared clock, and which of its subscriptions go on."""

    def __init__(self, first: bytes | str) -> None:
        welcome = decode(first)
        if not isinstance(welcome, Welcome):
            raise UnreadableMessage(f"mpiscope sent {type(welcome).__name__} before its greeting")
        self._last_number = 0
        self._open: set[int] = set()
        self._greeted(welcome)

    def _greeted(self, welcome: Welcome) -> None:
        self._welcome, self._clock = welcome, welcome.clock
        self._names = {function.id: function.name for function in welcome.functions}

    @property
    def welcome(self) -> Welcome:
        """What mpiscope said about the run. In a live run, ranks and hosts may become known after the first reply."""
        return self._welcome

    @property
    def clock(self) -> Clock:
        """The shared clock, as it was in the newest reply."""
        return self._clock

    @property
    def subscriptions(self) -> frozenset[int]:
        """The subscriptions that have not ended."""
        return frozenset(self._open)

    def function_name(self, id: int) -> str:
        """The name of a function, such as `MPI_Send`."""
        return self._names.get(int(id), f"function {id}")

    def _numbered(self, request: dict[str, Any]) -> int:
        self._last_number += 1
        request["id"] = self._last_number
        if request["do"] == "subscribe":
            self._open.add(self._last_number)
        return self._last_number

    def _note_request(self, request: dict[str, Any]) -> None:
        if request["do"] == "unsubscribe":
            self._open.discard(request["id"])

    def _note(self, reply: Reply) -> Reply:
        match reply:
            case Welcome():
                self._greeted(reply)
            case Clock():
                self._clock = reply
            case End(id=id) | Failed(request="subscribe", id=int(id)):
                self._open.discard(id)
        return reply

    def _wanted(self, subscriptions: tuple[int, ...]) -> bool:
        """Whether one of these subscriptions goes on; of all where none is named."""
        return bool(self._open.intersection(subscriptions)) if subscriptions else bool(self._open)

    @staticmethod
    def batch_of(reply: Reply, *subscriptions: int) -> Batch | None:
        """The batch in a reply, if it is one of these subscriptions, or of any. A refused request raises `RequestFailed`."""
        if isinstance(reply, Failed) and reply.request != "receive":
            raise RequestFailed(reply.request, reply.id, reply.text)
        if isinstance(reply, Batch) and (not subscriptions or reply.id in subscriptions):
            return reply
        return None
