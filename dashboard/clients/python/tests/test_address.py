from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

import mpiscope
from mpiscope.address import parse


@pytest.mark.parametrize(
    ("address", "uri", "token"),
    [
        ("http://127.0.0.1:4711/?token=ab12\n", "ws://127.0.0.1:4711/programs", "ab12"),
        ("http://[::1]:80/?a=b&token=ab", "ws://[::1]:80/programs", "ab"),
        ("http://node7/?token=ab&view=why#x", "ws://node7/programs", "ab"),
    ],
)
def test_a_whole_address_has_a_host_and_a_token(address: str, uri: str, token: str) -> None:
    assert parse(address) == (uri, token)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:80",
        "http://127.0.0.1:80/",
        "http:///?token=secret",
        "http://h:1/?token=",
        "http://h:99999/?token=secret",
        "http://h:1/?token=sec%0d%0aret",
        "https://h:1/?token=secret",
        "http://me:secret@h/?token=secret",
        "ws://h:1/programs?token=secret",
        "http://[::1/?token=secret",
    ],
)
def test_anything_else_is_refused_without_showing_the_token(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(mpiscope.AddressError) as refused:
        mpiscope.connect(address, "x")
    text = str(refused.value)
    assert "http://HOST:PORT/?token=..." in text and "secret" not in text
    monkeypatch.setenv(mpiscope.VARIABLE, address)
    with pytest.raises(mpiscope.AddressError):
        mpiscope.connect()


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that says one thing, and what it heard."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/?token=secret", heard
        thread.join()


def test_who_is_not_mpiscope_is_named() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") as (address, heard):
        with pytest.raises(mpiscope.Unreachable) as refused:
            mpiscope.connect(address, "x")
    assert "hi" in str(refused.value)
    request = heard[0].decode()
    assert request.startswith("GET /programs HTTP/1.1") and "Authorization: Bearer secret\r\n" in request
    assert "origin:" not in request.lower()
    with answering(b"220 mail.example ESMTP\r\n") as (address, _):
        with pytest.raises(mpiscope.Unreachable, match="is not mpiscope"):
            mpiscope.connect(address, "x")


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/?token=secret"
    with pytest.raises(mpiscope.Unreachable, match="nobody answers"):
        mpiscope.connect(address, "x")


@pytest.mark.parametrize("name", ["", "  ", "x" * 65])
def test_a_client_has_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 64 characters"):
        mpiscope.connect("http://127.0.0.1:1/?token=a", name)
