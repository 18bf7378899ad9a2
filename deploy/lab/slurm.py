"""A Slurm cluster on the hosts of a lab: the controller on node1, a daemon on each host."""

from __future__ import annotations

import os
import subprocess

import launchers
from processes import all_must_run, until
from state import FRESH_ENVIRONMENT, Lab, LabError

# More than any test asks for: the hosts share the machine's processors whatever Slurm believes.
PROCESSORS = 64
MEMORY_MIB = 4096

READY_SECONDS = 30


def _configuration(lab: Lab) -> str:
    nodes = "node1" if lab.options.hosts == 1 else f"node[1-{lab.options.hosts}]"
    settings = {
        "ClusterName": "lab",
        "SlurmctldHost": "node1",
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": "socket=/run/munge/socket",
        "CredType": "cred/munge",
        # Below /run: each host has its own.
        "StateSaveLocation": "/run/slurm/controller",
        "SlurmdSpoolDir": "/run/slurm/daemon",
        "SlurmctldPidFile": "/run/slurm/controller.pid",
        "SlurmdPidFile": "/run/slurm/daemon.pid",
        "SlurmctldLogFile": "/run/slurm/controller.log",
        "SlurmdLogFile": "/run/slurm/daemon.log",
        # The control groups are the machine's; a lab leaves them alone.
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "SlurmdParameters": "config_overrides",
        "ReturnToService": "2",
        "MpiDefault": "none",
    }
    if lab.options.racks > 1:
        settings["TopologyPlugin"] = "topology/tree"
    lines = [f"{name}={value}" for name, value in settings.items()]
    lines.append(f"NodeName={nodes} CPUs={PROCESSORS} RealMemory={MEMORY_MIB} State=UNKNOWN")
    lines.append(f"PartitionName=lab Nodes={nodes} Default=YES MaxTime=INFINITE State=UP")
    return "\n".join(lines) + "\n"


def _topology(lab: Lab) -> str:
    racks = range(1, lab.options.racks + 1)
    nodes = {rack: ",".join(host for host in lab.hosts if lab.rack_of(host) == rack) for rack in racks}
    lines = [f"SwitchName=rack{rack} Nodes={nodes[rack]}" for rack in racks]
    lines.append(f"SwitchName=spine Switches={','.join(f'rack{rack}' for rack in racks)}")
    return "\n".join(lines) + "\n"


def start(lab: Lab) -> None:
    folder = lab.folder / "slurm"
    folder.mkdir()
    (folder / "slurm.conf").write_text(_configuration(lab))
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    if lab.options.racks > 1:
        (folder / "topology.conf").write_text(_topology(lab))
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    munge = (
        "mkdir -p /run/munge /run/slurm/controller /run/slurm/daemon && chmod 755 /run/munge &&"
        f" install -m 400 {key} /run/munge/key &&"
        # Without --force it refuses the root user.
        " munged --force --key-file=/run/munge/key --socket=/run/munge/socket --pid-file=/run/munge/pid"
        " --log-file=/run/munge/log --seed-file=/run/munge/seed"
    )
    controller = f" && slurmctld -f {folder}/slurm.conf"
    daemon = f" && slurmd -f {folder}/slurm.conf"
    scripts = {host: munge + (controller if host == "node1" else "") + daemon for host in lab.hosts}
    all_must_run([([*lab.enter(host), "sh", "-c", script], "") for host, script in scripts.items()], "start Slurm")
    if not until(READY_SECONDS, lambda: _idle(lab) == lab.options.hosts):
        last = subprocess.run(
            [*lab.enter("node1"), "tail", "-n", "3", "/run/slurm/controller.log"], capture_output=True, text=True
        )
        raise LabError(
            f"after {READY_SECONDS} s Slurm has {_idle(lab)} of {lab.options.hosts} hosts: {last.stdout.strip()}"
        )


def environment(lab: Lab) -> dict[str, str]:
    """What the users of such a cluster would have in their environment; srun hands it on to the ranks."""
    if not lab.options.slurm:
        return {}
    settings = {f"OMPI_MCA_{name}": value for name, value in launchers.OPEN_MPI_SETTINGS.items()}
    settings |= launchers.MPICH_SETTINGS
    # By the other way, a tree, ranks are now and then let out of MPI_Init while one on another host is still at its
    # beginning, and crashes with the first message that it gets.
    settings["SLURM_PMIX_FENCE"] = "ring"
    return settings | {"SLURM_CONF": str(lab.folder / "slurm/slurm.conf")}


def _idle(lab: Lab) -> int:
    words = [*lab.enter("node1"), "sinfo", "--noheader", "--states=idle", "--format=%D"]
    output = subprocess.run(words, capture_output=True, text=True, env=FRESH_ENVIRONMENT | environment(lab)).stdout
    return sum(int(word) for word in output.split() if word.isdecimal())
