from __future__ import annotations

import json
import random
from dataclasses import fields
from typing import Any

import msgpack
import numpy as np
import pytest
from conftest import ROOT

import mpiscope
from mpiscope.replies import decode
from mpiscope.requests import Requests

SCHEMA = json.loads((ROOT / "docs/protocol.schema.json").read_text())
TYPES = SCHEMA["definitions"]
KINDS = {each["properties"]["kind"]["const"]: each for each in TYPES["Reply"]["oneOf"]}
REQUESTS = {each["properties"]["do"]["const"]: each for each in TYPES["Request"]["oneOf"]}


def columns(kind: type[mpiscope.Columns], rows: int) -> dict[str, bytes]:
    dtypes = {column.name: column.metadata["dtype"] for column in fields(kind)}
    return {name: np.arange(rows).astype(dtype).tobytes() for name, dtype in dtypes.items()}


def batch(**more: Any) -> bytes:
    message = {"kind": "batch", "id": 3, "from_ns": 5.0, "to_ns": 9.0, "late": 1, "missed": 2, **more}
    return bytes(msgpack.packb(message))


#: Of messages where collectives were to be expanded.
EXPANDED = {"function", "known_ns", "collective"}


@pytest.mark.parametrize(
    "kind", [mpiscope.Calls, mpiscope.Messages, mpiscope.ExpandedMessages, mpiscope.Windows]
)
def test_columns_are_those_of_the_schema(kind: type[mpiscope.Columns]) -> None:
    formats = {"uint32": "<u4", "int32": "<i4", "double": "<f8"}
    listed = {
        name: np.dtype(formats[column["items"]["format"]])
        for name, column in TYPES[kind.__name__.removeprefix("Expanded").removesuffix("s") + "Columns"][
            "properties"
        ].items()
        if kind is not mpiscope.Messages or name not in EXPANDED
    }
    assert {column.name: column.metadata["dtype"] for column in fields(kind)} == listed


def test_columns_are_views_of_the_received_bytes() -> None:
    reply = decode(batch(calls=columns(mpiscope.Calls, 4), of_the_future=[1]))
    assert isinstance(reply, mpiscope.Batch)
    assert (reply.id, reply.late, reply.missed, len(reply), reply.is_backward) == (3, 1, 2, 4, False)
    assert reply.calls.end_ns.tolist() == [0.0, 1.0, 2.0, 3.0] and reply.calls.tag.dtype == np.int32
    assert reply.calls.rank.base is not None and not reply.calls.rank.flags.writeable
    with pytest.raises(TypeError, match="has no messages"):
        _ = reply.messages


def test_batches_have_windows_findings_or_expanded_messages() -> None:
    reply = decode(batch(windows=columns(mpiscope.Windows, 3)))
    assert isinstance(reply, mpiscope.Batch) and reply.windows.calls.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(TypeError, match="no findings"):
        _ = reply.findings
    reply = decode(batch(messages=columns(mpiscope.ExpandedMessages, 2)))
    assert isinstance(reply, mpiscope.Batch) and isinstance(reply.messages, mpiscope.ExpandedMessages)
    assert reply.messages.collective.tolist() == [0, 1]
    found = {"finding": "hang/1", "kind": "hang", "from_ns": 7.0, "ranks": [[1, 2]], "text": "a", "is_final": True}
    reply = decode(batch(findings=[found]))
    assert isinstance(reply, mpiscope.Batch) and len(reply) == 1
    assert reply.findings[0] == mpiscope.Finding("hang/1", "hang", 7.0, "a", True, ranks=((1, 2),))
    with pytest.raises(TypeError, match="no table"):
        reply.table()


def test_a_table_has_nulls_where_there_is_no_value() -> None:
    pytest.importorskip("pyarrow")
    calls = columns(mpiscope.Calls, 2)
    calls["peer"] = np.array([7, mpiscope.NONE], "<u4").tobytes()
    calls["tag"] = np.array([mpiscope.NO_TAG, -1], "<i4").tobytes()
    reply = decode(batch(calls=calls))
    assert isinstance(reply, mpiscope.Batch)
    table = reply.table()
    assert table.column_names == [column.name for column in fields(mpiscope.Calls)]
    assert table["peer"].to_pylist() == [7, None] and table["tag"].to_pylist() == [None, -1]
    messages = columns(mpiscope.Messages, 2)
    messages["latency"] = np.array([4.5, np.nan], "<f8").tobytes()
    reply = decode(batch(messages=messages))
    assert isinstance(reply, mpiscope.Batch)
    assert reply.table()["latency"].to_pylist() == [4.5, None]


def example(schema: dict[str, Any]) -> Any:
    """A value as a schema wants it."""
    if "$ref" in schema:
        return example(TYPES[schema["$ref"].rsplit("/", 1)[1]])
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema or "oneOf" in schema:
        return example((schema.get("anyOf") or schema["oneOf"])[0])
    if "allOf" in schema:
        return example(schema["allOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "array":
        if isinstance(schema.get("items"), dict) and schema["items"].get("format") == "double":
            return np.array([1.0, 2.0]).tobytes()
        return [example(each) for each in schema["items"]] if isinstance(schema.get("items"), list) else []
    if kind == "object":
        return {name: example(each) for name, each in schema.get("properties", {}).items()}
    return {"string": "text", "integer": 1, "number": 1.0, "boolean": True, "null": None}[kind]


def reply_of(kind: str) -> dict[str, Any]:
    """A reply of a kind as the schema has it."""
    schema = KINDS[kind]
    own = TYPES[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else {}
    parts = [schema, own, *(TYPES[each["$ref"].rsplit("/", 1)[1]] for each in schema.get("allOf", []))]
    message = {name: example(each) for part in parts for name, each in part.get("properties", {}).items()}
    if kind == "batch":
        message["calls"], message["messages"] = columns(mpiscope.Calls, 2), None
    if kind == "welcome":
        # In MessagePack columns of numbers are bytes.
        times = {name: np.zeros(2).tobytes() for name in ("a_from_ns", "a_to_ns", "b_from_ns", "b_to_ns")}
        message["second"]["sections"] = {"name": ["", ""], "number": np.zeros(2, "<u4").tobytes(), **times}
    return {**message, "kind": kind}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_schema_is_read(kind: str) -> None:
    message = reply_of(kind)
    reply = decode(msgpack.packb({**message, "of_the_future": {"x": 1}}))
    for field in fields(reply):
        value = getattr(reply, field.name)
        if isinstance(value, (int, str, float)):
            assert value == message[field.name], field.name


class Recorder(Requests[None, int]):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def _send(self, request: dict[str, Any]) -> None:
        self.sent.append(request)

    def _send_numbered(self, request: dict[str, Any]) -> int:
        self.sent.append({**request, "id": 1})
        return 1


def test_every_request_of_the_schema_can_be_sent() -> None:
    client = Recorder()
    client.subscribe("calls", ranks=[1, (3, 5)], region=2, batch_rows=9, begin=5)
    client.unsubscribe(1)
    client.live()
    client.pause()
    client.play(-2)
    client.set_rate(0.5)
    client.seek(7)
    client.step(-7)
    client.step_to(1, "backward")
    client.select((1, 2), [3, (4, 5)], [6])
    client.barrier(0.5)
    client.drawn(4)
    client.annotate(1, "note", until_ns=2, rank=3, colour="#ff0000", link="https://example.org")
    client.remove(4)
    client.series("load", [1, 2], [3, 4], "%")
    client.tell({"frame": 7}, to=2)
    client.panel("matrix", "<p>")
    client.tell_panel(1, {"frame": 7})
    client.close_panel(1)
    assert {request["do"] for request in client.sent} == set(REQUESTS) - {"hello"}
    for request in client.sent:
        schema = REQUESTS[request["do"]]
        parts = [schema]
        for each in [schema, *schema.get("allOf", [])]:
            if "$ref" in each:
                parts.append(TYPES[each["$ref"].rsplit("/", 1)[1]])
        known = {name for part in parts for name in part.get("properties", {})}
        required = {name for part in parts for name in part.get("required", [])}
        assert required <= set(request) <= known, request["do"]
    assert client.sent[0]["ranks"] == [(1, 1), (3, 5)] and client.sent[0]["from"] == {"time_ns": 5.0}
    with pytest.raises(ValueError, match="rate is nan"):
        client.play(float("nan"))


@pytest.mark.parametrize(
    "data",
    [
        "{}",
        b"",
        b"\xc1",
        msgpack.packb([1]),
        msgpack.packb({"kind": "of the future"}),
        msgpack.packb({"kind": "end"}),
        batch(),
        batch(calls={"rank": b"\0" * 4}),
        batch(calls={**columns(mpiscope.Calls, 2), "rank": b"\0" * 4}),
        batch(calls={**columns(mpiscope.Calls, 2), "rank": b"\0" * 7}),
        batch(calls=7),
        batch(messages={**columns(mpiscope.Messages, 2), "tag": [1, 2]}),
    ],
)
def test_what_is_no_message_is_one_clear_error(data: bytes | str) -> None:
    with pytest.raises(mpiscope.UnreadableMessage, match="mpiscope sent"):
        decode(data)


def test_no_bytes_make_it_fail_otherwise() -> None:
    chance = random.Random(1)
    good = batch(calls=columns(mpiscope.Calls, 3))
    for _ in range(2000):
        data = bytearray(good[: chance.randrange(len(good) + 1)])
        for _ in range(chance.randrange(4)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            decode(bytes(data))
        except mpiscope.UnreadableMessage:
            pass


def test_another_version_is_a_mismatch() -> None:
    with pytest.raises(mpiscope.ProtocolMismatch, match="speaks protocol 2"):
        decode(msgpack.packb({**reply_of("welcome"), "protocol": 2}))
