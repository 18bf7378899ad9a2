#!/usr/bin/env python3
"""What recording costs a program that people use: LAMMPS, a Lennard-Jones liquid, two ranks of Open MPI.

Usage: tests/bench/overhead/lammps.py [--pairs 10] [--steps 200] [--json FILE]

`loop` is the time that LAMMPS says its steps took.
"""

import re
import shutil

from pairs import arguments, compare, FAMILY, Pairs

from jobs import Failure, ROOT, run

INPUT = ROOT / "tests" / "apps" / "inputs" / "melt.lammps"
CELLS = 20


def loop_s(output):
    """Seconds of the steps, as LAMMPS says."""
    loop = re.search(r"^Loop time of ([0-9.e-]+) on 2 procs", output, re.MULTILINE)
    if loop is None:
        raise Failure(f"lmp does not say how long it took:\n{output}")
    return float(loop[1])


def main():
    parser = arguments(__doc__)
    parser.add_argument("--steps", type=int, default=200, help="steps of a run [default: 200]")
    options = parser.parse_args()

    def prepare(jobs):
        program = shutil.which("lmp")
        if program is None:
            raise Failure("lmp is not installed (Debian: lammps)")
        words = ["-log", "none", "-var", "cells", CELLS, "-var", "steps", options.steps, "-in", INPUT]
        return Pairs(jobs, jobs.launch(FAMILY, program, *words), "loop", loop_s)

    compare(options, f"LAMMPS, {CELLS ** 3 * 4} atoms, {options.steps} steps", prepare)


if __name__ == "__main__":
    run(main)
