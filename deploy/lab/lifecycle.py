"""A lab comes up, whole or not at all, and goes down without a trace."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import time
from typing import Any

import checks
import hosts
import links
import network
import processes
import slurm
import sshd
import state
from state import OWN_FOLDER, Lab, LabError, Options


def up(name: str, options: Options) -> None:
    """Makes a lab; when something fails, what was made is undone."""
    begun = time.monotonic()
    lacking = checks.missing(options)
    if lacking:
        raise LabError("this machine cannot run such a lab. " + " ".join(lacking))
    if options.hosts > checks.MOST_HOSTS:
        raise LabError(f"a lab has at most {checks.MOST_HOSTS} hosts")
    if not 1 <= options.racks <= options.hosts:
        raise LabError("every rack has a host: --racks is between 1 and the number of hosts")
    if options.shaped and options.racks > 1:
        raise LabError("a lab has racks or is shaped: the switch of a shaped one connects all hosts directly")
    lab = Lab(state.check_name(name), f"mpiscope-lab/{name}/{secrets.token_hex(8)}", options)
    # Also when somebody loses patience.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _claim(lab)
    try:
        _make(lab)
    except BaseException:
        _end(lab)
        raise
    print(f"lab: {name} is up: {options.hosts} hosts in {time.monotonic() - begun:.1f} s")


def _claim(lab: Lab) -> None:
    while True:
        state.BASE.mkdir(mode=0o755, exist_ok=True)
        try:
            lab.folder.mkdir(mode=0o755)
            return
        except FileNotFoundError:
            # The last other lab has just ended, and took the folder of all labs with it.
            continue
        except FileExistsError:
            raise LabError(
                f"a lab {lab.name} is already up: end it with `lab down --name {lab.name}`, or use another name"
            ) from None


def _make(lab: Lab) -> None:
    (lab.folder / "log").mkdir()
    # What is mounted is found by the mark, which is known before anything is.
    lab.save()
    agent = lab.folder / "agent"
    shutil.copyfile(OWN_FOLDER / "agent", agent)
    agent.chmod(0o755)
    hosts.start(lab)
    network.start(lab)
    if lab.options.sshd:
        sshd.start_sshd(lab)
    if lab.options.slurm:
        slurm.start(lab)


def down(name: str) -> None:
    """Ends a lab; one that is not up needs no end."""
    if not state.exists(name):
        return
    if not state.is_root():
        raise LabError("only root can end a lab")
    try:
        lab = state.load(name)
    except LabError:
        # Nothing was started before the lab's file was there.
        shutil.rmtree(state.BASE / name)
        return
    if state.carries(os.getpid(), lab.mark):
        raise LabError("a lab is ended from outside: this is one of its hosts")
    _end(lab)


def _end(lab: Lab) -> None:
    # Namespaces, interfaces and mounts go with the last process that lives in them.
    processes.end_all(lab.mark)
    shutil.rmtree(lab.folder)
    try:
        state.BASE.rmdir()
    except OSError:
        # Another lab is up.
        pass


def status(lab: Lab) -> dict[str, Any]:
    """What there is to know of a lab."""
    alive = processes.of_mark(lab.mark)
    return {
        "name": lab.name,
        "folder": str(lab.folder),
        "options": vars(lab.options),
        "hosts": [
            {
                "name": host,
                "address": lab.address_of(host),
                "rack": lab.rack_of(host),
                "process": lab.processes.get(host),
                "alive": lab.processes.get(host) in alive,
            }
            for host in lab.hosts
        ],
        "processes": len(alive),
        "links": links.current(lab),
    }


def clocks(lab: Lab) -> dict[str, dict[str, int]]:
    """How far the clocks of each host are ahead of the machine's, in nanoseconds."""
    ahead = {}
    for host in lab.hosts:
        lab.enter(host)
        clocks_ns = {"monotonic_ns": 0, "boottime_ns": 0}
        try:
            with open(f"/proc/{lab.processes[host]}/timens_offsets") as lines:
                for line in lines:
                    clock, seconds, nanoseconds = line.split()
                    clocks_ns[f"{clock}_ns"] = int(seconds) * 10**9 + int(nanoseconds)
        except FileNotFoundError:
            # A kernel without namespaces of time has one clock.
            pass
        ahead[host] = clocks_ns
    return ahead


def names() -> list[str]:
    """The labs that are up."""
    return sorted(folder.name for folder in state.BASE.iterdir()) if state.BASE.is_dir() else []


def as_json(what: dict[str, Any] | list[Any]) -> str:
    return json.dumps(what, indent=1)
