"""The blocking client: for scripts, threads and notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from . import connection
from .address import parse
from .replies import Barrier, Batch, Reply, decode
from .requests import Requests


class Client(connection.State, Requests[None, int]):
    """A connection to mpiscope. Iterating over it gives all replies until mpiscope ends."""

    def __init__(self, socket: ClientConnection, first: bytes | str, stack: ExitStack) -> None:
        super().__init__(first)
        self._socket = socket
        self._stack = stack

    def __repr__(self) -> str:
        return f"<mpiscope.Client {self.welcome.client} of {self.welcome.command!r}>"

    def _send(self, request: dict[str, Any]) -> None:
        self._note_request(request)
        try:
            self._socket.send(connection.encode(request))
        except ConnectionClosed as error:
            # Replies that came before are still to be read.
            if (ended := connection.closed(error)) is not None:
                raise ended from error

    def _send_numbered(self, request: dict[str, Any]) -> int:
        number = self._numbered(request)
        self._send(request)
        return number

    def next(self, timeout: float | None = None) -> Reply | None:
        """The next reply; nothing once mpiscope has ended. Raises `TimeoutError` after `timeout` seconds without one."""
        try:
            data = self._socket.recv(timeout)
        except ConnectionClosed as error:
            if (ended := connection.closed(error)) is not None:
                raise ended from error
            return None
        return self._note(decode(data))

    def __iter__(self) -> Iterator[Reply]:
        while (reply := self.next()) is not None:
            yield reply

    def batches(self, *subscriptions: int) -> Iterator[Batch]:
        """The batches of these subscriptions, or of all, until they have ended. Other replies are left out.

        A barrier of another client is answered when the next batch is asked for: then this one has been drawn. A refused
        request raises `RequestFailed`.
        """
        while self._wanted(subscriptions) and (reply := self.next()) is not None:
            if isinstance(reply, Barrier):
                self.drawn(reply.barrier)
            elif (batch := self.batch_of(reply, *subscriptions)) is not None:
                yield batch

    def close(self) -> None:
        """Leaves."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(address: str | None = None, name: str = "python", *, timeout: float = 10.0) -> Client:
    """Connects to the run or recording whose page is at an address, under a name that people see.

    The address is the whole one that mpiscope printed. Without it, the one in `MPISCOPE_ADDRESS` is used.
    """
    uri, token = parse(address)
    hello = connection.hello(name)
    with ExitStack() as stack:
        try:
            socket = stack.enter_context(open_socket(uri, **connection.options(token, timeout)))
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
            raise connection.failed_to_connect(error) from None
        try:
            socket.send(hello)
            first = socket.recv(timeout)
        except ConnectionClosed as error:
            raise connection.closed_before_greeting(error) from None
        except TimeoutError as error:
            raise connection.failed_to_connect(error) from None
        return Client(socket, first, stack.pop_all())
    raise AssertionError("an exit stack swallows no error")
