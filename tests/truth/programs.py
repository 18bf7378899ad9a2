#!/usr/bin/env python3
"""Whether the verdict is right on LAMMPS, HPCC and ScaLAPACK's LU test beside a busy loop.

Usage: tests/truth/programs.py [--rounds 3] [--only WORD]... [--json FILE]

Two ranks run on one core each; in every other run a busy loop shares the first core. The disturbance costs the difference of the medians,
from the start of MPI to its end. Programs that are not installed are skipped.
"""

import glob
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cases import Case
from run import (
    Jobs,
    Outcome,
    ROOT,
    busy_loop,
    checked,
    is_selected,
    compare_rounds,
    print_case,
    print_summary,
    report_of,
    run,
    selecting_arguments,
    summary,
    write_figures,
)

sys.path.insert(0, str(ROOT / "tests" / "bench" / "overhead"))
import hpcc  # noqa: E402

HPCC_ROWS = 1_000
# The test takes no larger matrices, so it factors small ones again and again.
LU_SIZES = " ".join(["600"] * 10)
LU_INPUT = f"""'LU factorization of small matrices'
'two ranks'
'LU.out'
6
10
{LU_SIZES}
{LU_SIZES}
2
16 64
1
1
1
1
2
1 2
2 1
1.0
F
"""


@dataclass
class Program:
    """A program from elsewhere: its words, and what writes the file that it reads from its folder."""

    name: str
    family: str
    words: list
    prepare: Callable[[Path], object] = lambda _: None


def programs():
    """All that are installed."""
    found = []
    if lammps := shutil.which("lmp"):
        words = [lammps, "-log", "none", "-var", "cells", "20", "-var", "steps", "300"]
        found.append(Program("LAMMPS", "openmpi", [*words, "-in", str(ROOT / "tests" / "apps" / "inputs" / "melt.lammps")]))
    if (program := shutil.which("hpcc")) and Path(hpcc.EXAMPLE).exists():
        found.append(Program("HPCC", "openmpi", [program], lambda folder: hpcc.write_input(folder, HPCC_ROWS)))
    for family in ("openmpi", "mpich"):
        for test in glob.glob(f"/usr/lib/*/scalapack/{family}-tests/xdlu"):
            found.append(Program("ScaLAPACK LU", family, [test], lambda folder: (folder / "LU.dat").write_text(LU_INPUT)))
    return found


def measure(jobs, program, case, is_disturbed, out):
    """Runs a program once; what was said of it."""
    folder = jobs.folder / f"{program.family}-{program.name.replace(' ', '-')}"
    folder.mkdir(exist_ok=True)
    program.prepare(folder)
    command = jobs.recorded(jobs.launch_ranks(program.family, 2, *program.words), out)
    with busy_loop(is_disturbed):
        checked(command, environment=jobs.environment(program.family), cwd=folder)
    report = report_of(jobs, out)
    shutil.rmtree(out)
    return Outcome.of_report(case, is_disturbed, report["job"]["duration_s"], report)


def main():
    options = selecting_arguments(__doc__, "--rounds", 3).parse_args()
    outcomes = []
    with Jobs(options.target) as jobs:
        for program in programs():
            case = Case(f"{program.name}, busy loop", program.family, 2, "cpu", program.name, beside="loop")
            if is_selected(case, options):
                out = jobs.folder / "recording"
                of_case = compare_rounds(options.rounds, lambda _, is_disturbed: measure(jobs, program, case, is_disturbed, out))
                print_case(of_case)
                outcomes += of_case
    if not outcomes:
        print("SKIPPED: no program is installed, or none has these words")
        return
    figures = summary(outcomes)
    print_summary(figures)
    write_figures(figures, options)


if __name__ == "__main__":
    run(main)
