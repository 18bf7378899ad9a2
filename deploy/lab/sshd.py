"""Real sshd on each host, with keys that open the hosts of this lab and nothing else."""

from __future__ import annotations

from pathlib import Path

from processes import all_must_run, must_run
from state import Lab

SSHD = "/usr/sbin/sshd"


def start_sshd(lab: Lab) -> None:
    folder = lab.folder / "ssh"
    folder.mkdir(mode=0o700)
    for key in ("host_key", "user_key"):
        must_run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], "make keys for ssh")
    (folder / "authorized_keys").write_text((folder / "user_key.pub").read_text())
    known = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text("".join(f"{host} {known}" for host in lab.hosts))
    (folder / "sshd_config").write_text(
        f"HostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\n"
        "PidFile /run/sshd.pid\n"
        # The folders above the keys are the lab's, and not what sshd expects of a home.
        "StrictModes no\n"
        "PermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\n"
        "UseDNS no\n"
        # A launcher opens many connections at the same moment.
        "MaxStartups 200\n"
        # Without PAM an account whose password is locked is refused, key or not.
        f"UsePAM {'yes' if _root_is_locked() else 'no'}\n"
    )
    (folder / "config").write_text(
        f"IdentityFile {folder}/user_key\n"
        f"UserKnownHostsFile {folder}/known_hosts\n"
        "IdentitiesOnly yes\n"
        "BatchMode yes\n"
        "LogLevel ERROR\n"
    )
    wrapper = folder / "ssh"
    wrapper.write_text(f'#!/bin/sh\n# ssh with the keys of the lab {lab.name}.\nexec ssh -F {folder}/config "$@"\n')
    wrapper.chmod(0o755)
    script = f"mkdir -p /run/sshd && exec {SSHD} -f {folder}/sshd_config"
    all_must_run([([*lab.enter(host), "sh", "-c", script], "") for host in lab.hosts], "start sshd")


def _root_is_locked() -> bool:
    for line in Path("/etc/shadow").read_text().splitlines():
        name, password, *_ = line.split(":")
        if name == "root":
            return password.startswith("!")
    return False
