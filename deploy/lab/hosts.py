"""Hosts: what each has for itself, and commands that run on one."""

from __future__ import annotations

import os
import pwd
import selectors
import subprocess
import time
from pathlib import Path
from typing import NoReturn

from state import FRESH_ENVIRONMENT, OWN_FOLDER, SWITCH, Lab, LabError

# Folders that each host has for itself; of these, only what is shared is the same on all hosts.
OWN_FOLDERS = ("/tmp", "/run", "/dev/shm")

# How far the monotonic clock of a host is ahead of that of the host before it, where clocks are skewed.
SKEW_SECONDS = 1000

START_SECONDS = 30


def checked_shares(folders: list[str]) -> list[str]:
    """The folders that hosts have to be given, with their real names; refuses what cannot be shared."""
    shares = []
    for folder in folders:
        path = os.path.realpath(folder)
        if not os.path.isdir(path):
            raise LabError(f"{folder} cannot be shared: there is no such folder")
        if any(own == path or own.startswith(path.rstrip("/") + "/") for own in OWN_FOLDERS):
            raise LabError(f"{folder} cannot be shared as a whole: each host has its own {', '.join(OWN_FOLDERS)}")
        if path.startswith("/dev/shm/"):
            raise LabError(f"{folder} cannot be shared: /dev/shm is memory of one host")
        shares.append(path)
    # A folder before those in it, which would otherwise be covered; and everything else is shared anyway.
    return [path for path in sorted(set(shares)) if path.startswith(tuple(own + "/" for own in OWN_FOLDERS))]


def start(lab: Lab) -> None:
    """Makes the namespaces of all hosts and of the switch."""
    shares = checked_shares([str(lab.folder), str(OWN_FOLDER), *lab.options.share])
    hosts_file = lab.folder / "hosts"
    lines = ["127.0.0.1 localhost", *(f"{lab.address_of(host)} {host}" for host in lab.hosts)]
    hosts_file.write_text("\n".join(lines) + "\n")
    starting: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for host in [SWITCH, *lab.hosts]:
            command = [*_unshare(lab, host), str(OWN_FOLDER / "host"), lab.mark, host, str(hosts_file), *shares]
            with (lab.folder / "log" / host).open("ab") as log:
                starting[host] = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=FRESH_ENVIRONMENT,
                    start_new_session=True,
                    cwd="/",
                )
        lab.processes = _numbers(starting, lab.folder / "log")
    except BaseException:
        # What has no mark yet is not found by it.
        for process in starting.values():
            process.kill()
        raise
    lab.save()
    (lab.folder / "enter").mkdir()
    for host in lab.hosts:
        (lab.folder / "enter" / host).write_text(" ".join(lab.enter_options(host)) + "\n")


def _unshare(lab: Lab, host: str) -> list[str]:
    words = ["unshare", "--net", "--uts", "--ipc", "--mount"]
    children_only = []
    if host != SWITCH and lab.options.own_pids:
        children_only.append("--pid")
    if host != SWITCH and lab.options.skewed_clocks:
        ahead = str(lab.number_of(host) * SKEW_SECONDS)
        children_only += ["--time", "--monotonic", ahead, "--boottime", ahead]
    # These two are entered by children alone.
    return [*words, *children_only, "--fork", "--kill-child", "--"] if children_only else [*words, "--"]


def _numbers(starting: dict[str, subprocess.Popen[bytes]], logs: Path) -> dict[str, int]:
    """The process that each host says it is."""
    numbers: dict[str, int] = {}
    deadline = time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as waiting:
        for host, process in starting.items():
            assert process.stdout is not None
            waiting.register(process.stdout, selectors.EVENT_READ, host)
        while len(numbers) < len(starting):
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                missing = ", ".join(host for host in starting if host not in numbers)
                raise LabError(
                    f"after {START_SECONDS} s these hosts are not there: {missing}; the machine may be too busy"
                )
            for key, _ in ready:
                line = os.read(key.fd, 100)
                if not line.strip().isdigit():
                    starting[key.data].wait()
                    raise LabError(f"the host {key.data} did not start: {last_words(logs / key.data)}")
                numbers[key.data] = int(line)
                waiting.unregister(key.fd)
    return numbers


def last_words(log: Path) -> str:
    """What a process said last, for whoever has to find out why it did not start."""
    # What is indented explains the line before.
    lines = [line for line in log.read_text(errors="replace").splitlines() if line and not line[0].isspace()]
    return lines[-1] if lines else "it says nothing"


def execute(lab: Lab, host: str, user: str | None, more: dict[str, str], command: list[str]) -> NoReturn:
    """Becomes a command on a host, in this folder and with this environment and `more`."""
    environment = dict(os.environ) | more
    become: list[str] = []
    if user is not None:
        try:
            entry = pwd.getpwnam(user)
        except KeyError:
            raise LabError(f"there is no user {user} on this machine") from None
        environment |= {"HOME": entry.pw_dir, "USER": user, "LOGNAME": user, "SHELL": entry.pw_shell}
        become = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups", "--"]
    # Entering a host leads to its root folder. A folder that only another host has is left, as by ssh.
    back = ["sh", "-c", 'cd "$1" 2> /dev/null || cd /; shift; exec "$@"', "lab", os.getcwd()]
    words = [*lab.enter(host), *become, *back, *command]
    os.execvpe(words[0], words, environment)
