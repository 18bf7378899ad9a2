"""How the benchmarks compile and start MPI programs, with and without mpiscope.

Both MPI families run two ranks bound to a core each. Ranks of MPICH get tests/apps/support/ucx_yield.c preloaded,
without which it can hang on a busy machine; the bare program gets it as well, which cancels it out.
"""

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ("openmpi", "mpich")
WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-O2", "-g"]
TIMEOUT_S = 120
PAGE_BYTES = 4096
RING_HEADER_BYTES = 192
LOST_CALLS_AT = 136


class Failure(Exception):
    """A measurement that cannot be made, in a sentence."""


def checked(command, environment=None, cwd=None):
    """Runs a command to its end; what it printed, or a Failure with what it complained about."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"{command} took longer than {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise Failure(f"{command} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done


def run(main):
    """Runs a script's main function; one sentence names what cannot be measured."""
    try:
        main()
    except Failure as failure:
        sys.exit(f"{Path(sys.argv[0]).name}: {failure}")


def arguments_of(documentation):
    """A parser of the command line that all benchmarks share; the help is the script's own header."""
    description, _, more = documentation.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default=ROOT / "target", help="where mpiscope and its collector were built")
    return parser


class Jobs:
    """Compiled programs in a folder of their own, and the environment to run them in."""

    def __init__(self, target):
        self.target = Path(target).resolve()
        self.mpiscope = self.target / "release" / "mpiscope"
        self.collector = self.target / "shim" / "libmpiscope_shim.so"
        for needed in (self.mpiscope, self.collector):
            if not needed.is_file():
                raise Failure(f"{needed} is missing: build it first")
        self._folder = tempfile.TemporaryDirectory(prefix="mpiscope-bench-")
        self.folder = Path(self._folder.name)
        self.ucx_yield = self.folder / "ucx_yield.so"
        source = ROOT / "tests" / "apps" / "support" / "ucx_yield.c"
        checked(["gcc", *WARNINGS, "-shared", "-fPIC", "-o", self.ucx_yield, source])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def compile_program(self, family, source):
        """The path of the compiled program."""
        program = self.folder / f"{source.stem}.{family}"
        checked([f"mpicc.{family}", *WARNINGS, "-pthread", "-o", program, source])
        return program

    def compile_preload(self, family, source, name, options=()):
        """A library for LD_PRELOAD. It is not linked to MPI: launchers do not load MPI by it."""
        compiled = self.folder / f"{name}.{family}.o"
        library = self.folder / f"{name}.{family}.so"
        checked([f"mpicc.{family}", *WARNINGS, *options, "-fPIC", "-c", "-o", compiled, source])
        checked(["gcc", "-shared", "-Wl,-z,lazy", "-o", library, compiled])
        return library

    def environment(self, family, preloads=(), **more):
        """The environment of a launcher."""
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        environment.update({name: str(value) for name, value in more.items()})
        preloads = [str(path) for path in preloads]
        if family == "mpich":
            preloads.append(str(self.ucx_yield))
        environment.pop("LD_PRELOAD", None)
        # Each rank has a core to itself: waiting by giving the processor away is for those that share one.
        environment.pop("OMPI_MCA_mpi_yield_when_idle", None)
        if preloads:
            environment["LD_PRELOAD"] = ":".join(preloads)
        return environment

    def launch(self, family, program, *arguments):
        """The command that starts two ranks, each on its core."""
        return self.launch_ranks(family, 2, program, *arguments)

    def launch_ranks(self, family, ranks, program, *arguments):
        """The command that starts N ranks, each on its core."""
        bind = "--bind-to" if family == "openmpi" else "-bind-to"
        return [f"mpirun.{family}", bind, "core", "-n", str(ranks), str(program), *map(str, arguments)]

    def recorded(self, command, out, options=()):
        """The command that records another."""
        return [str(self.mpiscope), "run", "--no-dashboard", *options, "--out", str(out), "--", *command]


def compile_with_fake_library(jobs, source):
    """The path of a program that is linked to the MPI library whose functions do next to nothing."""
    fake = ROOT / "tests" / "bench" / "overhead" / "fake"
    library, program = jobs.folder / "libfake_mpi.so", jobs.folder / source.stem
    compiler = ["gcc", *WARNINGS, "-I", fake]
    checked([*compiler, "-shared", "-fPIC", "-o", library, fake / "mpi.c"])
    checked([*compiler, f"-Wl,-rpath,{jobs.folder}", "-o", program, source, library])
    return program


class Rings:
    """A folder in shared memory for rings that nobody empties."""

    def __init__(self):
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.path = Path(tempfile.mkdtemp(prefix="mpiscope-bench-", dir=base))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A daemon that took everything out has removed it.
        shutil.rmtree(self.path, ignore_errors=True)

    def files(self):
        """The regions of the ranks."""
        return sorted(self.path.glob("*.ring"))

    def filled(self):
        """Slots that were written and calls that were lost, over all ranks. The header of a region's first ring lies
        on its second page (collector/ring/src/layout.rs): it begins with the first of these numbers, the other is behind
        the owner."""
        slots = lost = 0
        for path in self.files():
            with open(path, "rb") as region:
                region.seek(PAGE_BYTES)
                header = region.read(RING_HEADER_BYTES)
            (written,), (dropped,) = (struct.unpack_from("<Q", header, at) for at in (0, LOST_CALLS_AT))
            slots += written
            lost += dropped
        return slots, lost


def take_recording(out):
    """The manifest of a recording, which is then removed; how many calls are in it and how many were lost."""
    manifest = json.loads((out / "manifest.json").read_text())
    shutil.rmtree(out)
    return manifest, manifest["cost"]["calls"], sum(manifest["lost"].values())


def spread(values, digits=0, unit=""):
    """Quartiles in words: the median, and from where to where the middle half goes."""
    low, middle, high = (f"{value:.{digits}f}" for value in values)
    return f"{middle}{unit and ' '}{unit} [{low}..{high}]"


def quartiles(values):
    """Lower quartile, median and upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))
