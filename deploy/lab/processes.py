"""The processes of a lab: starting them, finding them, ending them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from state import FRESH_ENVIRONMENT, LabError, carries

Result = TypeVar("Found")


def until(seconds: float, look: Callable[[], Result | None]) -> Result | None:
    """Looks again and again until there is something, or the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.01)


def in_background(words: list[str], log: Path, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Starts something that outlives this command and holds none of its files. What it says goes into the log."""
    with log.open("ab") as file:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=FRESH_ENVIRONMENT | (environment or {}),
            start_new_session=True,
            cwd="/",
        )


def must_run(words: list[str], what: str, text: str = "") -> str:
    """Runs a command to its end; when it fails, `what` could not be done."""
    ended = subprocess.run(words, input=text, capture_output=True, text=True, env=FRESH_ENVIRONMENT)
    if ended.returncode != 0:
        messages = ended.stderr.strip() or ended.stdout.strip() or f"exit status {ended.returncode}"
        raise LabError(f"cannot {what}: {words[0]} says: {said}")
    return ended.stdout


def all_must_run(commands: list[tuple[list[str], str]], what: str) -> None:
    """The same for several at once, each with what it reads."""
    running = [
        subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=FRESH_ENVIRONMENT,
        )
        for words, _ in commands
    ]
    messages = [process.communicate(text)[1].strip() for process, (_, text) in zip(running, commands)]
    for process, errors in zip(running, messages):
        if process.returncode != 0:
            raise LabError(f"cannot {what}: {errors or f'exit status {process.returncode}'}")


def of_mark(mark: str) -> list[int]:
    """All processes that live in the hosts of a lab, whoever started them."""
    own = os.getpid()
    numbers = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    marked: dict[str, bool] = {}
    found = []
    for process in numbers:
        try:
            namespace = os.readlink(f"/proc/{process}/ns/mnt")
        except OSError:
            continue
        # All processes of a host see the same table; it is read once. That of one which is just ending may be empty.
        if not marked.get(namespace):
            marked[namespace] = carries(process, mark)
        if marked[namespace] and process != own:
            found.append(process)
    return found


def end_all(mark: str) -> None:
    """Ends everything that lives in the hosts of a lab, and nothing else."""

    def none_left() -> bool:
        left = of_mark(mark)
        for process in left:
            send(process, signal.SIGKILL)
        return not left

    if not until(10, none_left):
        raise LabError(f"the processes {of_mark(mark)} of the lab do not end: they may be waiting for a device")


def send(process: int, number: signal.Signals) -> None:
    """One that is gone needs no signal."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass
