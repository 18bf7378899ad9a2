"""What can go wrong. Every error is a `MpiscopeError`, and its text is one sentence without a token."""

from __future__ import annotations


class MpiscopeError(Exception):
    """Any error of this package."""


class AddressError(MpiscopeError, ValueError):
    """The address is not the one that mpiscope printed."""


class Unreachable(MpiscopeError, ConnectionError):
    """Nobody answers at the address, or the server refuses another client."""


class TokenRefused(MpiscopeError, PermissionError):
    """The server does not accept the token."""


class ProtocolMismatch(MpiscopeError):
    """The server speaks another version of the protocol."""


class UnreadableMessage(MpiscopeError, ValueError):
    """The server sent something that is not a message of the protocol."""


class ConnectionEnded(MpiscopeError, ConnectionError):
    """The connection broke. Rows that were on the way are missing; a connection that mpiscope ends is no error."""


class RequestFailed(MpiscopeError):
    """The server refused a request. The connection goes on."""

    def __init__(self, request: str, id: int | None, text: str) -> None:
        super().__init__(f"{request}: {text}")
        self.request = request
        self.id = id
        self.text = text
