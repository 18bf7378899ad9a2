"""What a lab is made of, as its state folder remembers it, and how its hosts are entered."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

BASE = Path("/run/mpiscope-lab")
OWN_FOLDER = Path(__file__).resolve().parent

# The switch stands in a namespace of its own, which is made like a host.
SWITCH = "switch"

# What a lab's services and hosts begin with, as those of a machine that was just started.
FRESH_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}


class LabError(Exception):
    """What went wrong, in a sentence that says what to do."""


@dataclass
class Options:
    """What `lab up` was asked for."""

    hosts: int
    racks: int = 1
    skewed_clocks: bool = False
    slurm: bool = False
    sshd: bool = False
    own_pids: bool = False
    shaped: bool = False
    share: list[str] = field(default_factory=list)


@dataclass
class Lab:
    """A lab that is up, or being made or ended."""

    name: str
    # Tells this lab from all others that ever had its name.
    mark: str
    options: Options
    # The process that keeps each host's namespaces alive, and the switch's.
    processes: dict[str, int] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return BASE / self.name

    @property
    def hosts(self) -> list[str]:
        return [host_name(number) for number in range(1, self.options.hosts + 1)]

    def save(self) -> None:
        replace_text(self.folder / "lab.json", json.dumps(asdict(self), indent=1))

    def number_of(self, host: str) -> int:
        """1 for node1; refuses names that are no host's."""
        if host not in self.hosts:
            raise LabError(f"the lab {self.name} has no host {host}: its hosts are node1 to node{self.options.hosts}")
        return int(host.removeprefix("node"))

    def hosts_of(self, words: str) -> list[str]:
        """The hosts that `all` or a list with commas names."""
        if words == "all":
            return self.hosts
        hosts = words.split(",")
        for host in hosts:
            self.number_of(host)
        return hosts

    def rack_of(self, host: str) -> int:
        """Racks are filled one after the other, as evenly as they can be."""
        return (self.number_of(host) - 1) * self.options.racks // self.options.hosts + 1

    def address_of(self, host: str) -> str:
        return f"10.77.0.{self.number_of(host)}"

    def network_address_of(self, host: str) -> str:
        """The Ethernet address; the switch reads the host's number in it."""
        return f"02:00:6c:61:{self.number_of(host) >> 8:02x}:{self.number_of(host) & 255:02x}"

    def enter(self, host: str, network_only: bool = False) -> list[str]:
        """The words before a command that make it run on a host."""
        process = self.processes.get(host)
        if process is None:
            raise LabError(f"the lab {self.name} has no host {host}: its hosts are node1 to node{self.options.hosts}")
        if not carries(process, self.mark):
            raise LabError(
                f"the host {host} of the lab {self.name} is gone: end the lab (`lab down`) and start it again"
            )
        if network_only:
            return ["nsenter", "-t", str(process), "--net", "--"]
        return ["nsenter", *self.enter_options(host), "--"]

    def enter_options(self, host: str) -> list[str]:
        options = ["-t", str(self.processes[host]), "--mount", "--uts", "--ipc", "--net"]
        if host != SWITCH and self.options.own_pids:
            options.append("--pid")
        if host != SWITCH and self.options.skewed_clocks:
            options.append("--time")
        return options


def host_name(number: int) -> str:
    return f"node{number}"


def replace_text(path: Path, text: str) -> None:
    """In one step: nobody reads half a file."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    fresh.rename(path)


def carries(process: int, mark: str) -> bool:
    """Whether a process lives in a host with this mark: the table of its mounts says so."""
    try:
        return f" {mark} " in Path(f"/proc/{process}/mountinfo").read_text(errors="replace")
    except OSError:
        return False


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise LabError(
            f"{name!r} is no name for a lab: letters, digits, '-', '_' and '.' make one, at most 64 of them"
        )
    return name


def exists(name: str) -> bool:
    return (BASE / check_name(name)).is_dir()


def load(name: str) -> Lab:
    """The lab of this name; refuses when it is not up."""
    path = BASE / check_name(name) / "lab.json"
    try:
        saved = json.loads(path.read_text())
    except FileNotFoundError:
        raise LabError(f"no lab {name} is up: start it with `lab up N --name {name}`") from None
    except PermissionError:
        raise LabError("only root can use a lab") from None
    return Lab(saved["name"], saved["mark"], Options(**saved["options"]), saved["processes"])


def is_root() -> bool:
    return os.geteuid() == 0
