"""The words that start a program over the hosts of a lab: Open MPI's launcher, MPICH's, or Slurm's."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import dataclass

from state import Lab, LabError

# What MPI libraries need to use the lab's network and to share few processors.
OPEN_MPI_SETTINGS = {
    "pml": "ob1",
    "btl": "self,vader,tcp",
    "btl_tcp_if_include": "eth0",
    "oob_tcp_if_include": "eth0",
    "mpi_yield_when_idle": "1",
}
MPICH_SETTINGS = {"UCX_TLS": "self,tcp,posix,sysv,cma", "UCX_NET_DEVICES": "eth0"}


@dataclass
class Launch:
    """What `lab launcher` was asked for."""

    family: str
    ranks: int
    hosts: str
    slots: int | None
    # block, cyclic, or a file.
    placement: str
    ssh: bool
    slurm: bool
    preload: str | None
    # The launcher, where it has another name than Debian gives it.
    program: str | None


def words(lab: Lab, launch: Launch) -> list[str]:
    """The launcher and its options; the program follows."""
    if launch.slurm and not lab.options.slurm:
        raise LabError("this lab has no Slurm: start it with `lab up N --slurm`")
    if launch.ssh and not lab.options.sshd:
        raise LabError("this lab has no sshd: start it with `lab up N --sshd`")
    if launch.placement not in ("block", "cyclic") and not os.path.isfile(launch.placement):
        raise LabError(f"{launch.placement} is no placement: block, cyclic or a file")
    if launch.slurm:
        return _slurm(lab, launch)
    return _open_mpi(lab, launch) if launch.family == "openmpi" else _mpich(lab, launch)


def _slots(lab: Lab, launch: Launch) -> int:
    """The number that spreads the ranks evenly, unless a number is given."""
    return launch.slots or math.ceil(launch.ranks / len(lab.hosts_of(launch.hosts)))


def _agent(lab: Lab, launch: Launch) -> str:
    # A host with process numbers of its own sees no process of the others, by which they could be entered.
    if launch.ssh or lab.options.own_pids:
        return str(lab.folder / "ssh/ssh")
    return str(lab.folder / "agent")


def _program(launch: Launch, *names: str) -> str:
    """As Debian names it where several families are installed, or plainly."""
    return launch.program or next((name for name in names if shutil.which(name)), names[-1])


def _open_mpi(lab: Lab, launch: Launch) -> list[str]:
    settings = OPEN_MPI_SETTINGS | {"plm_rsh_agent": _agent(lab, launch)}
    command = [_program(launch, "mpirun.openmpi", "mpirun"), "--allow-run-as-root", "--oversubscribe"]
    for name, value in settings.items():
        command += ["--mca", name, value]
    slots = _slots(lab, launch)
    command += ["--host", ",".join(f"{host}:{slots}" for host in lab.hosts_of(launch.hosts))]
    match launch.placement:
        case "block":
            command += ["--map-by", "slot", "--bind-to", "none"]
        case "cyclic":
            command += ["--map-by", "node", "--bind-to", "none"]
        case file:
            command += ["--rankfile", os.path.abspath(file)]
    if launch.preload:
        command += ["-x", f"LD_PRELOAD={launch.preload}"]
    return [*command, "-n", str(launch.ranks)]


def _mpich(lab: Lab, launch: Launch) -> list[str]:
    command = [_program(launch, "mpiexec.mpich", "mpiexec.hydra", "mpiexec"), "-iface", "eth0"]
    command += ["-launcher", "rsh", "-launcher-exec", _agent(lab, launch)]
    for name, value in MPICH_SETTINGS.items():
        command += ["-genv", name, value]
    if launch.preload:
        command += ["-genv", "LD_PRELOAD", launch.preload]
    hosts = lab.hosts_of(launch.hosts)
    match launch.placement:
        case "block":
            command += ["-hosts", ",".join(f"{host}:{_slots(lab, launch)}" for host in hosts)]
        case "cyclic":
            command += ["-hosts", ",".join(f"{host}:1" for host in hosts)]
        case file:
            command += ["-machinefile", os.path.abspath(file)]
    return [*command, "-n", str(launch.ranks)]


def _slurm(lab: Lab, launch: Launch) -> list[str]:
    hosts = lab.hosts_of(launch.hosts)
    # What the libraries need is in the environment of every command on a host.
    command = ["srun", f"--mpi={'pmix' if launch.family == 'openmpi' else 'pmi2'}"]
    if launch.placement in ("block", "cyclic"):
        command += _spread(lab, launch, hosts)
    else:
        # A host for each rank; a list of nodes would be in its way.
        file = os.path.abspath(launch.placement)
        command = ["env", f"SLURM_HOSTFILE={file}", *command, "--distribution=arbitrary"]
    if launch.preload:
        command.append(f"--export=ALL,LD_PRELOAD={launch.preload}")
    return [*command, f"--ntasks={launch.ranks}"]


def _spread(lab: Lab, launch: Launch, hosts: list[str]) -> list[str]:
    command = [f"--nodes={len(hosts)}", f"--nodelist={','.join(hosts)}", f"--distribution={launch.placement}"]
    # Also where ranks are dealt out: otherwise Slurm gives a job as much as it can of the first host.
    command.append(f"--ntasks-per-node={_slots(lab, launch)}")
    return command
