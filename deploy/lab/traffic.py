"""Foreign traffic: flows of iperf3 between hosts, beside whatever a job sends."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

from processes import in_background, send, until
from state import Lab, LabError, carries

FIRST_PORT = 5201
START_SECONDS = 10
# What a flow may take longer than it was asked to.
END_SECONDS = 30


def start(lab: Lab, source: str, destination: str, rate_bits: int | None, seconds: int, streams: int) -> str:
    """Starts a flow; returns its name."""
    lab.number_of(source)
    lab.number_of(destination)
    if source == destination:
        raise LabError("a flow leads from one host to another")
    folder = _new_folder(lab)
    port = str(FIRST_PORT + int(folder.name))
    server_log = folder / "server"
    server = in_background([*lab.enter(destination), "iperf3", "-s", "-1", "--forceflush", "-p", port], server_log)
    if not until(START_SECONDS, lambda: "listening" in server_log.read_text() or server.poll() is not None):
        raise LabError(f"iperf3 does not listen on {destination}")
    if server.poll() is not None:
        raise LabError(f"iperf3 does not start on {destination}: {server_log.read_text().strip()}")
    client = [*lab.enter(source), "iperf3", "-J", "-c", lab.address_of(destination), "-p", port]
    client += ["-t", str(seconds), "-P", str(streams)]
    if rate_bits is not None:
        # iperf3 counts for each stream.
        client += ["-b", str(max(1, rate_bits // streams))]
    process = in_background(client, folder / "client.json")
    about = {"from": source, "to": destination, "seconds": seconds, "processes": [server.pid, process.pid]}
    (folder / "about.json").write_text(json.dumps(about))
    return folder.name


def _new_folder(lab: Lab) -> Path:
    number = 0
    while True:
        folder = lab.folder / "traffic" / str(number)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def _flows(lab: Lab) -> list[tuple[Path, dict[str, Any]]]:
    paths = sorted((lab.folder / "traffic").glob("*/about.json"), key=lambda path: int(path.parent.name))
    return [(path.parent, json.loads(path.read_text())) for path in paths]


def wait(lab: Lab) -> list[dict[str, Any]]:
    """What each flow transferred, once all of them are over."""
    return [_outcome(lab, folder, about) for folder, about in _flows(lab)]


def _outcome(lab: Lab, folder: Path, about: dict[str, Any]) -> dict[str, Any]:
    def is_over() -> bool:
        return not any(carries(process, lab.mark) for process in about["processes"])

    until(about["seconds"] + END_SECONDS, is_over)
    flow = {"flow": folder.name, "from": about["from"], "to": about["to"]}
    try:
        result = json.loads((folder / "client.json").read_text())
    except ValueError:
        return flow | {"error": "it was stopped, or did not end"}
    if "error" in result:
        return flow | {"error": result["error"]}
    received = result["end"]["sum_received"]
    return flow | {"bytes": received["bytes"], "bits_per_second": received["bits_per_second"]}


def stop(lab: Lab) -> None:
    """Ends all flows and forgets them."""
    for folder, about in _flows(lab):
        for process in about["processes"]:
            if carries(process, lab.mark):
                send(process, signal.SIGKILL)
        shutil.rmtree(folder)
