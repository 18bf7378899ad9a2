"""Several hosts on one machine for benchmarks (deploy/lab; needs root)."""

import os

from jobs import checked, ROOT

LAB = ROOT / "deploy" / "lab" / "lab"


class Lab:
    """Hosts that see what was built and the benchmark's folder, up while they are used."""

    def __init__(self, jobs, hosts, *features):
        self.jobs = jobs
        self.name = f"bench-{os.getpid()}"
        shared = [word for folder in (ROOT, jobs.target, jobs.folder) for word in ("--share", folder)]
        self.lab("up", hosts, *features, *shared)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lab("down")

    def lab(self, word, *words):
        """Runs a command of `lab`; its output."""
        return checked([LAB, word, "--name", self.name, *words]).stdout

    def launcher(self, family, ranks, *options):
        """The words that start a program over the hosts; the program follows."""
        return self.lab("launcher", family, "-n", ranks, *options).splitlines()

    def on(self, host, words):
        """The command that runs another on a host."""
        return [str(word) for word in (LAB, "exec", "--name", self.name, host, *words)]
