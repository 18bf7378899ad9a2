"""The asyncio client. It has the methods of the blocking one, to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from . import connection
from .address import parse
from .replies import Barrier, Batch, Reply, decode
from .requests import Requests


class AsyncClient(connection.State, Requests[Coroutine[Any, Any, None], Coroutine[Any, Any, int]]):
    """A connection to mpiscope. `async for` over it gives all replies until mpiscope ends."""

    def __init__(self, socket: ClientConnection, first: bytes | str) -> None:
        super().__init__(first)
        self._socket = socket

    def __repr__(self) -> str:
        return f"<mpiscope.AsyncClient {self.welcome.client} of {self.welcome.command!r}>"

    async def _send(self, request: dict[str, Any]) -> None:
        self._note_request(request)
        try:
            await self._socket.send(connection.encode(request))
        except ConnectionClosed as error:
            # Replies that came before are still to be read.
            if (ended := connection.closed(error)) is not None:
                raise ended from error

    async def _send_numbered(self, request: dict[str, Any]) -> int:
        number = self._numbered(request)
        await self._send(request)
        return number

    async def next(self, timeout: float | None = None) -> Reply | None:
        """The next reply; nothing once mpiscope has ended. Raises `TimeoutError` after `timeout` seconds without one.

        May be cancelled while it waits; nothing is lost.
        """
        try:
            async with asyncio.timeout(timeout):
                data = await self._socket.recv()
        except ConnectionClosed as error:
            if (ended := connection.closed(error)) is not None:
                raise ended from error
            return None
        return self._note(decode(data))

    async def __aiter__(self) -> AsyncIterator[Reply]:
        while (reply := await self.next()) is not None:
            yield reply

    async def batches(self, *subscriptions: int) -> AsyncIterator[Batch]:
        """The batches of these subscriptions, or of all, until they have ended. Other replies are left out.

        A barrier of another client is answered when the next batch is asked for: then this one has been drawn. A refused
        request raises `RequestFailed`.
        """
        while self._wanted(subscriptions) and (reply := await self.next()) is not None:
            if isinstance(reply, Barrier):
                await self.drawn(reply.barrier)
            elif (batch := self.batch_of(reply, *subscriptions)) is not None:
                yield batch

    async def close(self) -> None:
        """Leaves."""
        await self._socket.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def connect(address: str | None = None, name: str = "python", *, timeout: float = 10.0) -> AsyncClient:
    """Connects as `mpiscope.connect` does: `async with await mpiscope.aio.connect(...) as client`."""
    uri, token = parse(address)
    hello = connection.hello(name)
    try:
        socket = await open_socket(uri, **connection.options(token, timeout))
    except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
        raise connection.failed_to_connect(error) from None
    try:
        await socket.send(hello)
        async with asyncio.timeout(timeout):
            first = await socket.recv()
        return AsyncClient(socket, first)
    except ConnectionClosed as error:
        raise connection.closed_before_greeting(error) from None
    except TimeoutError as error:
        await socket.close()
        raise connection.failed_to_connect(error) from None
    except BaseException:
        await socket.close()
        raise
