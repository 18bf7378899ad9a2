from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Literal

import pytest
from conftest import PATIENCE_S, program, report, serving

import mpiscope

parquet = pytest.importorskip("pyarrow.parquet")

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, address: str, *arguments: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(FOLDER / name), *arguments]
    environment = {**os.environ, mpiscope.VARIABLE: address, "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 30


def test_slow_messages_are_those_of_the_recording(address: str, recording: Path) -> None:
    transfer_ns = parquet.read_table(recording / "messages")["t_msg_ns"].to_pylist()
    slow = sum(each >= 1_000_000 for each in transfer_ns)
    lines = run("slow_messages.py", address).splitlines()
    assert len(lines) == slow > 0
    assert all(" took " in line and float(line.split()[-2]) >= 1.0 for line in lines)


def test_the_histogram_has_all_messages(address: str, recording: Path) -> None:
    last = run("histogram.py", address).split("\033[J")[-1]
    messages = report(recording)["totals"]["messages"]
    assert last.startswith(f"{messages} messages")
    assert sum(int(line.split()[2]) for line in last.splitlines()[1:]) == messages


def test_each_message_of_high_latency_is_marked(address: str) -> None:
    with mpiscope.connect(address, "reader") as reader:
        reader.subscribe("messages")
        high = sum(int((batch.messages.latency > 4).sum()) for batch in reader.batches())
    run("annotate.py", address)
    with mpiscope.connect(address, "another reader") as reader:
        notes = 0
        while notes < high:
            # Those that were there before come first.
            notes += isinstance(reader.next(PATIENCE_S), mpiscope.Annotation)
    assert high > 0


def test_a_view_of_its_own_is_on_the_page(address: str) -> None:
    environment = {**os.environ, mpiscope.VARIABLE: address}
    url, token = address.split("/?token=")
    page = urllib.request.Request(f"{url}/panels/1", headers={"Authorization": f"Bearer {token}"})
    with subprocess.Popen([sys.executable, str(FOLDER / "own_view.py")], env=environment) as example:
        try:
            deadline = time.monotonic() + PATIENCE_S
            while True:
                try:
                    html = urllib.request.urlopen(page, timeout=PATIENCE_S).read().decode()
                    break
                except urllib.error.HTTPError as error:
                    assert error.code == 404 and time.monotonic() < deadline and example.poll() is None
                    time.sleep(0.05)
        finally:
            example.kill()
    assert html == (FOLDER.parents[1] / "own_view.html").read_text()


def test_the_matrix_has_all_messages_both_ways(address: str, recording: Path) -> None:
    totals = report(recording)["totals"]
    forward = json.loads(run("matrix.py", address))
    assert [sum(pair[column] for pair in forward) for column in (2, 3)] == [totals["messages"], totals["bytes"]]
    assert json.loads(run("matrix.py", address, "backward")) == forward


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A simulated job, and the same with ranks that compute longer."""
    folder = tmp_path_factory.mktemp("two")
    for name, disturb in (("a", []), ("b", ["--disturb", "imbalance"])):
        job = ["synth", "--pattern", "halo2d", "--ranks", "16", "--rate", "20000", "--seconds", "2", *disturb]
        subprocess.run([program(), *job, "-o", folder / name], check=True, capture_output=True)
    return folder / "a", folder / "b"


def test_both_recordings_are_on_one_clock(two_runs: tuple[Path, Path]) -> None:
    a, b = two_runs
    command = [str(program()), "compare", "--json", "--align", "turn", str(a), str(b)]
    alignment = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["alignment"]
    calls = {"a": report(a)["totals"]["calls"], "b": report(b)["totals"]["calls"]}
    with serving("replay", a, "--with", b, "--align", "turn") as address:
        first, *lines = run("two_runs.py", address).splitlines()
        assert first == alignment["reason"] and alignment["by"] == "turn"
        assert len(lines) == len(alignment["sections"]) > 0
        for line, section in zip(lines, alignment["sections"], strict=True):
            lengths = [section[f"{of}_to_ns"] - section[f"{of}_from_ns"] for of in "ab"]
            start = f"{section['number']} A {lengths[0] / 1e6:.3f} ms, B {lengths[1] / 1e6:.3f} ms; in MPI"
            assert line.strip().startswith(start), line
        assert run("two_runs.py", address, "backward").splitlines()[1:] == lines

        edges = {section["b_from_ns"]: section["a_from_ns"] for section in alignment["sections"]}
        directions: tuple[Literal["forward", "backward"], ...] = ("forward", "backward")
        for direction in directions:
            with mpiscope.connect(address, direction) as client:
                client.subscribe("calls", direction=direction)
                client.subscribe("calls", recording="b", direction=direction)
                seen, on_edges = {"a": 0, "b": 0}, 0
                passed: dict[str, list[float]] = {"a": [], "b": []}
                for batch in client.batches():
                    of = batch.recording
                    seen[of] += len(batch)
                    # Rows and batches are in order on the clock of a.
                    ends = [*passed[of], *batch.calls.end_ns.tolist(), batch.to_ns]
                    assert ends == sorted(ends, reverse=direction == "backward")
                    passed[of] = [batch.to_ns]
                    assert (batch.own is not None) == (of == "b")
                    if batch.own is not None:
                        for own, time in zip(batch.own.from_ns.tolist(), batch.calls.start_ns.tolist(), strict=True):
                            on_edges += abs(edges.get(int(own), time) - time) > 1e-3
                assert (seen, on_edges) == (calls, 0)


def test_one_recording_has_no_second(address: str) -> None:
    with mpiscope.connect(address, "one") as client:
        assert client.welcome.second is None
        client.subscribe("calls", recording="b")
        with pytest.raises(mpiscope.RequestFailed, match="there is no recording b"):
            next(client.batches())


def outputs(name: str) -> list[dict[str, Any]]:
    """What the cells of a notebook give."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(FOLDER / name, as_version=4)
    nbclient.NotebookClient(book, timeout=PATIENCE_S, kernel_name="python3").execute()
    return [output for cell in book.cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("name", ["live_histogram.ipynb", "communication_matrix.ipynb"])
def test_a_notebook_shows_the_run(
    name: str, address: str, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mpiscope.VARIABLE, address)
    found = outputs(name)
    assert any("image/png" in output.get("data", {}) for output in found)
    totals = report(recording)["totals"]
    text = "".join(output.get("text", "") for output in found)
    transfer_ns = parquet.read_table(recording / "messages")["t_msg_ns"].to_pylist()
    within = sum(100 <= each <= 100_000_000 for each in transfer_ns)
    expected = {
        "live_histogram.ipynb": f"{within} messages between",
        "communication_matrix.ipynb": f"{totals['messages']} messages, {totals['bytes']} bytes",
    }
    assert expected[name] in text
