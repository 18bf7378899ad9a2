"""What a lab needs of a machine, and what is missing on this one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import network
from state import FRESH_ENVIRONMENT, Options, is_root

# Programs by what asks for them, with the packages that Debian and Ubuntu have them in.
ALWAYS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
SSHD = {"sshd": "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client"}
SLURM = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
TRAFFIC = {"iperf3": "iperf3"}

MOST_HOSTS = 250


def everything() -> Options:
    """A lab with all that there can be."""
    return Options(hosts=1, skewed_clocks=True, slurm=True, sshd=True, own_pids=True, shaped=True)


def missing(options: Options, traffic: bool = False) -> list[str]:
    """What such a lab lacks here: sentences that say what to do."""
    if not is_root():
        return ["Only root can make hosts: run this as root, or with sudo."]
    programs = (
        ALWAYS | (SSHD if options.sshd else {}) | (SLURM if options.slurm else {}) | (TRAFFIC if traffic else {})
    )
    lacking = [
        f"{program} is not installed: install the package {package}."
        for program, package in programs.items()
        if shutil.which(program, path=FRESH_ENVIRONMENT["PATH"]) is None
    ]
    # What follows is tried with the programs.
    return lacking or list(_beyond_programs(options))


def _beyond_programs(options: Options) -> Iterator[str]:
    namespaces = ["--net", "--uts", "--ipc", "--mount"]
    if not _works([*namespaces, "--", "true"]):
        yield "This machine makes no namespaces: a container has to be privileged for that, and a kernel built with them."
        return
    if options.own_pids and not _works([*namespaces, "--pid", "--fork", "--", "true"]):
        yield "This machine makes no namespaces of process numbers: leave --pids own out."
    if options.skewed_clocks and not _works([*namespaces, "--time", "--monotonic", "1", "--fork", "--", "true"]):
        yield "This machine makes no namespaces of time, for which Linux 5.6 is needed: leave --clocks skewed out."
    if not _works([*namespaces, "--", "mount", "-t", "tmpfs", "none", "/tmp"]):
        yield "Nothing can be mounted here: a container has to be privileged for that."
    if options.shaped:
        if not Path("/dev/net/tun").exists():
            yield "There is no /dev/net/tun: load the kernel's module tun, or leave --shaped out."
        if network.switch_program() is None:
            yield f"The switch is not built: `cargo build --release -p {network.SWITCH_PROGRAM}`, or leave --shaped out."
    elif not _works(["--net", "--", "sh", "-c", "ip link add spine type bridge && ip link add port1 type veth"]):
        yield "The kernel has no bridges or no veth interfaces: load its modules bridge and veth."


def _works(words: list[str]) -> bool:
    return subprocess.run(["unshare", *words], capture_output=True, env=FRESH_ENVIRONMENT).returncode == 0
