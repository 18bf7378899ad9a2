"""The address that mpiscope printed, in parts. The token never appears in an address of a WebSocket or in a message."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qs, urlsplit

from .errors import AddressError

#: The environment variable that holds the address. Unlike an argument, other users of the machine do not see it.
VARIABLE = "MPISCOPE_ADDRESS"

_SHAPE = "give the whole address that mpiscope printed, as http://HOST:PORT/?token=..."


def parse(address: str | None) -> tuple[str, str]:
    """The address of the WebSocket, and the token. Without an address, takes the one in `MPISCOPE_ADDRESS`."""
    if address is None:
        address = os.environ.get(VARIABLE)
        if not address:
            raise AddressError(f"there is no address: pass one, or set {VARIABLE}; {_SHAPE}")
    try:
        parts = urlsplit(address.strip())
        host = parts.netloc if parts.hostname and parts.port != 0 and "@" not in parts.netloc else ""
    except ValueError:
        host = ""
    if not host or parts.scheme != "http":
        raise AddressError(f"this is not the address of a page: {_SHAPE}")
    token = parse_qs(parts.query).get("token", [""])[0]
    if not re.fullmatch(r"[!-~]+", token):
        raise AddressError(f"the address has no token: {_SHAPE}")
    return f"ws://{host}/programs", token
