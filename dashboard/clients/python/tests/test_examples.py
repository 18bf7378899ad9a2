from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE_S, report

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
