from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from conftest import JOB, PATIENCE_S, report, serving

import mpiscope
from mpiscope.requests import Direction

parquet = pytest.importorskip("pyarrow.parquet")

T = TypeVar("T")
Matrix = npt.NDArray[np.float64]


RANKS = 16


def matrix(rows: mpiscope.Messages) -> Matrix:
    """Messages and bytes by source and destination."""
    sums = np.zeros((2, RANKS, RANKS))
    np.add.at(sums[0], (rows.source, rows.destination), 1)
    np.add.at(sums[1], (rows.source, rows.destination), rows.bytes)
    return sums


def keys(rows: mpiscope.Messages) -> list[tuple[float, ...]]:
    """What tells one message from another."""
    columns = (rows.source, rows.destination, rows.tag, rows.bytes, rows.send_ns, rows.receive_ns)
    return list(zip(*(column.tolist() for column in columns)))


def recorded(folder: Path) -> list[tuple[float, ...]]:
    """The same of the recording's own tables."""
    table = parquet.read_table(folder / "messages")
    names = ("src", "dst", "tag", "bytes", "send_ns", "recv_ns")
    return sorted(zip(*(table[name].to_pylist() for name in names)))


def follow(client: mpiscope.Client, direction: Direction = "forward") -> tuple[Matrix, list[tuple[float, ...]]]:
    """All messages of a run, as a matrix and one by one."""
    sums, rows = np.zeros((2, RANKS, RANKS)), []
    subscription = client.subscribe("messages", direction=direction)
    for batch in client.batches(subscription):
        assert batch.is_backward == (direction == "backward") and batch.missed == 0
        sums += matrix(batch.messages)
        rows += keys(batch.messages)
    # Otherwise mpiscope ended before all had come.
    assert subscription not in client.subscriptions
    return sums, rows


def exact(folder: Path, sums: Matrix, rows: list[tuple[float, ...]]) -> None:
    """Each message of a recording once, and nothing else."""
    totals = report(folder)["totals"]
    assert (sums[0].sum(), sums[1].sum()) == (totals["messages"], totals["bytes"])
    assert len(rows) == totals["messages"] > 0
    assert sorted(rows) == recorded(folder)


def test_the_matrix_is_exact_forward_and_backward(recording: Path, address: str) -> None:
    with mpiscope.connect(address, "matrix") as client:
        assert (client.welcome.ranks, client.welcome.is_live) == (RANKS, False)
        sums, rows = follow(client)
        exact(recording, sums, rows)
        assert [row[-1] for row in rows] == sorted(row[-1] for row in rows)
        back, backward = follow(client, "backward")
        assert np.array_equal(back, sums)
        assert [row[-1] for row in backward] == sorted((row[-1] for row in backward), reverse=True)
        exact(recording, back, backward)


def test_the_matrix_of_a_live_run_is_exact(tmp_path: Path) -> None:
    folder = tmp_path / "live.scope"
    with serving(*JOB, "--seconds", "3", "--live", "127.0.0.1:0", "-o", folder) as address:
        with mpiscope.connect(address, "matrix") as client:
            # Nothing of the job may be known yet.
            assert client.welcome.is_live
            sums, rows = follow(client)
            assert (client.welcome.ranks, len(client.welcome.nodes)) == (RANKS, 2)
            # mpiscope ends, and this client with it.
            while client.next(PATIENCE_S) is not None:
                pass
    exact(folder, sums, rows)
    with serving("replay", folder) as address, mpiscope.connect(address, "matrix") as client:
        back, backward = follow(client, "backward")
    assert np.array_equal(back, sums) and sorted(backward) == sorted(rows)


def test_asyncio_gets_the_same(address: str) -> None:
    async def count() -> tuple[list[tuple[float, ...]], str]:
        async with await mpiscope.aio.connect(address, "asyncio") as client:
            await client.subscribe("messages", ranks=[(0, 3)])
            rows = [key async for batch in client.batches() for key in keys(batch.messages)]
            other = await mpiscope.aio.connect(address, "other")
            await other.tell({"n": 7}, to=client.welcome.client)
            await other.close()
            async for reply in client:
                if isinstance(reply, mpiscope.ClientMessage):
                    assert reply.data == {"n": 7}
                    return rows, reply.author
        raise AssertionError("no message came")

    rows, author = asyncio.run(asyncio.wait_for(count(), PATIENCE_S))
    with mpiscope.connect(address, "blocking") as client:
        client.subscribe("messages", ranks=[0, (1, 2), 3])
        assert [key for batch in client.batches() for key in keys(batch.messages)] == rows != []
    assert author == "other" and all(min(row[0], row[1]) <= 3 for row in rows)


def test_filters_select_what_they_say(address: str) -> None:
    with mpiscope.connect(address, "filters") as client:
        family = next(each.family for each in client.welcome.functions if each.name == "MPI_Waitall")
        client.subscribe("calls")
        waits = {"all": 0, "long": 0, "of two": 0}
        for batch in client.batches():
            rows = batch.calls
            is_wait = [client.function_name(id) == "MPI_Waitall" for id in rows.function]
            is_long = rows.end_ns - rows.start_ns >= 1e6
            waits["all"] += int(np.sum(is_wait))
            waits["long"] += int(np.sum(is_wait & is_long))
            waits["of two"] += int(np.sum(is_wait & np.isin(rows.rank, [1, 2])))
        assert waits["all"] > waits["long"] > 0

        def count(**filters: object) -> int:
            subscription = client.subscribe("calls", functions=["MPI_Waitall"], **filters)  # type: ignore[arg-type]
            return sum(len(batch) for batch in client.batches(subscription))

        assert count() == waits["all"]
        assert count(at_least_ns=1e6) == waits["long"]
        assert count(ranks=[(1, 2)]) == waits["of two"]
        assert count(families=[family]) >= waits["all"]
        middle = client.welcome.clock.until_ns / 2
        later = count(begin=middle)
        assert 0 < later < waits["all"] == later + count(begin=middle, direction="backward")
        with pytest.raises(mpiscope.RequestFailed, match='no function "MPI_Sned"') as failed:
            next(client.batches(client.subscribe("calls", functions=["MPI_Sned"])))
        assert failed.value.request == "subscribe" and not client.subscriptions
        # The connection goes on.
        assert count(batch_rows=7) == waits["all"]


def until_clock(client: mpiscope.Client, is_there: Callable[[mpiscope.Clock], bool]) -> mpiscope.Clock:
    """Reads replies until the shared clock is somewhere."""
    while not is_there(client.clock):
        assert client.next(PATIENCE_S) is not None
    return client.clock


def test_the_clock_moves_and_rows_come_in_step(address: str) -> None:
    with mpiscope.connect(address, "leader") as leader, mpiscope.connect(address, "follower") as follower:
        leader.seek(0.0)
        for client in (leader, follower):
            until_clock(client, lambda clock: clock.time_ns == 0.0)
        in_step = follower.subscribe("messages", pace="clock")
        wait_for(follower, mpiscope.Subscribed)
        leader.step_to(leader.subscribe("messages", begin="now"))
        first = until_clock(leader, lambda clock: clock.time_ns > 0.0)
        assert first.mode == "paused"
        batch = wait_for(follower, mpiscope.Batch)
        assert (batch.to_ns, batch.messages.receive_ns[-1]) == (first.time_ns + 1.0, first.time_ns)
        forward = len(batch)
        leader.step(-first.time_ns)
        batch = wait_for(follower, mpiscope.Batch)
        assert batch.is_backward and len(batch) == forward
        leader.seek(2e9)
        jump = wait_for(follower, mpiscope.Jump)
        assert (jump.id, jump.to_ns) == (in_step, 2e9 + 1.0)
        leader.play(0.5)
        assert until_clock(follower, lambda clock: clock.mode == "playing").rate == 0.5
        leader.set_rate(0.25)
        until_clock(follower, lambda clock: clock.rate == 0.25)
        leader.pause()
        until_clock(follower, lambda clock: clock.mode == "paused")
        leader.select((1e8, 2e8), ranks=[0, (2, 3)], hidden=[])
        selected = until_clock(follower, lambda clock: clock.range_ns is not None)
        assert selected.range_ns == (1e8, 2e8) and selected.ranks == ((0, 0), (2, 3))


def test_answers_reach_other_clients(address: str) -> None:
    with mpiscope.connect(address, "author") as author, mpiscope.connect(address, "reader") as reader:
        number = author.annotate(5.0, "look", until_ns=9.0, rank=np.uint32(3), colour="#ff8800")
        confirmed = wait_for(author, mpiscope.Annotation)
        assert (confirmed.id, confirmed.author, confirmed.rank) == (number, "author", 3)
        assert wait_for(reader, mpiscope.Annotation).text == "look"
        author.series("load", np.array([1.0, 2.0]), np.array([0.5, 0.25]), "%")
        series = wait_for(reader, mpiscope.Series)
        assert (series.unit, series.value.tolist()) == ("%", [0.5, 0.25])
        barrier = author.barrier(10.0)
        reader.drawn(wait_for(reader, mpiscope.Barrier).barrier)
        assert wait_for(author, mpiscope.Passed) == mpiscope.Passed(barrier, ())
        reader.remove(confirmed.annotation)
        assert "only its author" in wait_for(reader, mpiscope.Failed).text
        author.remove(confirmed.annotation)
        assert wait_for(reader, mpiscope.Removed) == mpiscope.Removed(confirmed.annotation)


def test_who_waits_for_batches_answers_barriers(address: str) -> None:
    with mpiscope.connect(address, "author") as author, mpiscope.connect(address, "reader") as reader:
        in_step = reader.subscribe("messages", pace="clock")
        waiting = Thread(target=lambda: list(reader.batches(in_step)))
        waiting.start()
        barrier = author.barrier(10.0)
        assert wait_for(author, mpiscope.Passed) == mpiscope.Passed(barrier, ())
        # Leaving ends the waiting, without an error.
        reader.close()
        waiting.join(PATIENCE_S)
        assert not waiting.is_alive()


def wait_for(client: mpiscope.Client, kind: type[T]) -> T:
    """The next reply of a kind."""
    while not isinstance(reply := client.next(PATIENCE_S), kind):
        assert reply is not None
    return reply


def test_a_verdict_comes(address: str, recording: Path) -> None:
    with mpiscope.connect(address, "verdict") as client:
        client.subscribe("verdicts")
        verdict = wait_for(client, mpiscope.Verdict)
    expected = report(recording)["verdict"]
    assert (verdict.cause, verdict.is_final) == (expected["cause"], True)
    assert verdict.avoidable_s == pytest.approx(expected["avoidable_s"])


def test_a_wrong_token_is_refused_and_no_log_has_the_right_one(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(mpiscope.TokenRefused, match="refused the token"):
        mpiscope.connect(address[:-1] + ("0" if address[-1] != "0" else "1"), "x")
    with pytest.raises(mpiscope.TokenRefused):
        asyncio.run(mpiscope.aio.connect(address + "0", "x"))
    with mpiscope.connect(address, "x") as client:
        assert (shown := repr(client)) and address.rsplit("=")[1] not in shown
    assert address.rsplit("=")[1] not in caplog.text


def test_a_client_of_another_version_says_so(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpiscope.connection.PROTOCOL", 2)
    with pytest.raises(mpiscope.ProtocolMismatch, match="protocol 1, not 2"):
        mpiscope.connect(address, "x")
    with pytest.raises(mpiscope.ProtocolMismatch, match="protocol 1, not 2"):
        asyncio.run(mpiscope.aio.connect(address, "x"))


def test_when_mpiscope_ends_replies_end_without_an_error(recording: Path) -> None:
    with serving("replay", recording) as address:
        client = mpiscope.connect(address, "x")
        client.subscribe("messages")
        assert sum(len(batch) for batch in client.batches()) > 0
    assert list(client) == [] or all(isinstance(reply, mpiscope.Clock) for reply in client)
    client.close()


def test_a_client_against_the_protocol_learns_why(address: str) -> None:
    with mpiscope.connect(address, "x") as client:
        client._send({"do": "no such thing"})
        with pytest.raises(mpiscope.ConnectionEnded, match="no message of the protocol"):
            while client.next(PATIENCE_S) is not None:
                pass
