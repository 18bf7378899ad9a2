"""A recording of a simulated job and its replay, made with the built program. MPISCOPE_PROGRAM names another program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
#: No reply takes longer, also on a busy machine.
PATIENCE_S = 60.0
#: A job of 16 ranks on two nodes, whose messages are slow at times. words: allow the name of a disturbance
JOB = ["synth", "--pattern", "halo2d", "--ranks", "16", "--rate", "20000", "--disturb", "background-traffic"]


def program() -> Path:
    """The built program."""
    path = ROOT / os.environ.get("MPISCOPE_PROGRAM", "target/release/mpiscope")
    if not path.exists():
        pytest.fail(f"{path} is not there: cargo build --release -p mpiscope-app", pytrace=False)
    return path


def report(recording: Path) -> dict[str, Any]:
    """What `mpiscope report --json` has."""
    command = [str(program()), "report", "--json", str(recording)]
    answer: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer


@contextmanager
def serving(*arguments: str | Path) -> Iterator[str]:
    """A command that prints the address of a page, until it is not needed any more."""
    with subprocess.Popen([program(), *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "http://" in line:
                    yield "http://" + line.split("http://")[1].split()[0]
                    break
            else:
                pytest.fail(f"{arguments[0]} printed no address")
        finally:
            process.send_signal(signal.SIGINT)
            # Whatever it still prints must not keep it from ending.
            process.communicate(timeout=PATIENCE_S)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of the simulated job."""
    folder = tmp_path_factory.mktemp("job") / "job.scope"
    subprocess.run([program(), *JOB, "--seconds", "2", "-o", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def address(recording: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the recording's page. Each test has a copy, for annotations are kept with the recording."""
    copy = shutil.copytree(recording, tmp_path / "copy.scope")
    with serving("replay", copy) as address:
        yield address
