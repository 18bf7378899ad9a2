"""The network between hosts: a bridge of the kernel, racks of them, or the switch in user space."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from pathlib import Path

from hosts import last_words
from processes import all_must_run, must_run
from state import FRESH_ENVIRONMENT, OWN_FOLDER, SWITCH, Lab, LabError

SWITCH_PROGRAM = "mpiscope-lab-switch"
SWITCH_SECONDS = 10


def switch_program() -> Path | None:
    """The built switch; `None` when it is not built."""
    root = OWN_FOLDER.parent.parent
    target = root / os.environ.get("CARGO_TARGET_DIR", "target")
    program = target / "release" / SWITCH_PROGRAM
    return program.resolve() if program.is_file() else None


def start(lab: Lab) -> None:
    if lab.options.shaped:
        _start_switch(lab)
    else:
        _make_bridges(lab)
    all_must_run(
        [([*lab.enter(host, network_only=True), "ip", "-batch", "-"], _host_setup(lab, host)) for host in lab.hosts],
        "set up the hosts' network",
    )


def _host_setup(lab: Lab, host: str) -> str:
    lines = [
        "link set lo up",
        f"link set eth0 address {lab.network_address_of(host)}",
        f"addr add {lab.address_of(host)}/24 dev eth0",
        "link set eth0 up",
    ]
    # Static addresses: only the job's own traffic passes the links.
    lines += [
        f"neigh replace {lab.address_of(other)} lladdr {lab.network_address_of(other)} dev eth0 nud permanent"
        for other in lab.hosts
        if other != host
    ]
    return "\n".join(lines) + "\n"


def _make_bridges(lab: Lab) -> None:
    lines = ["link add spine type bridge", "link set spine up"]
    racks = lab.options.racks
    for rack in range(1, racks + 1) if racks > 1 else ():
        lines += [
            f"link add rack{rack} type bridge",
            f"link set rack{rack} up",
            f"link add up{rack} type veth peer name down{rack}",
            f"link set up{rack} master rack{rack} up",
            f"link set down{rack} master spine up",
        ]
    for host in lab.hosts:
        bridge = f"rack{lab.rack_of(host)}" if racks > 1 else "spine"
        port = f"port{lab.number_of(host)}"
        lines += [
            f"link add {port} type veth peer name eth0 netns {lab.processes[host]}",
            f"link set {port} master {bridge} up",
        ]
    must_run(
        [*lab.enter(SWITCH, network_only=True), "ip", "-batch", "-"],
        "make the lab's bridges",
        "\n".join(lines) + "\n",
    )


def _start_switch(lab: Lab) -> None:
    program = switch_program()
    if program is None:
        raise LabError(f"a shaped lab needs its switch: build it with `cargo build --release -p {SWITCH_PROGRAM}`")
    # It is opened here, for it may lie where the switch's own host cannot see it.
    with program.open("rb") as file, (lab.folder / "log/switch-program").open("ab") as log:
        words = [f"/proc/self/fd/{file.fileno()}", "--ports", str(lab.options.hosts), "--control", str(_control(lab))]
        process = subprocess.Popen(
            [*lab.enter(SWITCH), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=[file.fileno()],
            env=FRESH_ENVIRONMENT,
            start_new_session=True,
        )
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], SWITCH_SECONDS)
    if not ready or process.stdout.readline() != b"ready\n":
        raise LabError(f"the switch did not start: {last_words(lab.folder / 'log/switch-program')}")
    # Its delays are only right if it runs when a frame is due, whatever the ranks do with the processors.
    try:
        os.sched_setscheduler(process.pid, os.SCHED_RR, os.sched_param(10))
    except OSError:
        os.setpriority(os.PRIO_PROCESS, process.pid, -20)
    moves = [f"link set dev port{lab.number_of(host)} netns {lab.processes[host]} name eth0\n" for host in lab.hosts]
    must_run(
        [*lab.enter(SWITCH, network_only=True), "ip", "-batch", "-"],
        "give the hosts their interfaces",
        "".join(moves),
    )


def _control(lab: Lab) -> Path:
    return lab.folder / "switch.socket"


def ask_switch(lab: Lab, request: list[str]) -> list[str]:
    """What the switch answers, by lines."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SWITCH_SECONDS)
        try:
            connection.connect(str(_control(lab)))
            connection.sendall("".join(line + "\n" for line in [*request, "end"]).encode())
            with connection.makefile() as answer:
                lines = answer.read().splitlines()
        except OSError as error:
            raise LabError(
                f"the switch of the lab {lab.name} does not answer ({error}): start the lab again"
            ) from None
    if lines and lines[0].startswith("refused: "):
        raise LabError(f"the switch refuses: {lines[0].removeprefix('refused: ')}")
    return lines


def counters(lab: Lab) -> dict[str, dict[str, dict[str, int]]]:
    """What became of the frames of each link, by the hosts it leads from and to."""
    if not lab.options.shaped:
        raise LabError("only the switch of a lab that was started with --shaped counts frames")
    counters: dict[str, dict[str, dict[str, int]]] = {}
    for line in ask_switch(lab, ["counters"]):
        source, destination, *words = line.split(" ")
        figures = {name: int(value) for name, value in (word.split("=") for word in words)}
        counters.setdefault(f"node{source}", {})[f"node{destination}"] = figures
    return counters
