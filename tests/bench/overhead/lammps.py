#!/usr/bin/env python3
"""What recording costs a program that people use: LAMMPS, a Lennard-Jones liquid, two ranks of Open MPI.

Usage: tests/bench/overhead/lammps.py [--pairs 10] [--steps 200] [--json FILE]

How it measures. Each pair is a bare run and one under `mpiscope run`, one right after the other; every second pair is
in the other order, so that a machine that slowly changes favours neither. Both cores belong to the ranks, so agent and
recorder run at their expense, as on a full node without a core to spare. A first run of each is not counted.

How to read it. `loop` is the time that LAMMPS says its steps took, `wall` what the whole command took, with its start
and, for `mpiscope run`, until the recording is complete. Both are seconds by the median run. `ratio` is recorded over
bare in a pair, the median over the pairs; quartiles are in brackets. `lost` is the share of calls that were not
recorded. Where the bare runs themselves differ by more than an eighth between their quartiles, others had the processors
meanwhile, and the last line says that nothing can be concluded.
"""

import json
import re
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, Failure, Jobs, quartiles, ROOT, run

FAMILY = "openmpi"
INPUT = ROOT / "tests" / "apps" / "inputs" / "melt.lammps"
CELLS = 20
CLOCKS = ("loop", "wall")
VARIANTS = ("bare", "mpiscope run")
MOST_SPREAD = 1 / 8


class Bench:
    """LAMMPS and its input."""

    def __init__(self, jobs, steps):
        program = shutil.which("lmp")
        if program is None:
            raise Failure("lmp is not installed (Debian: lammps)")
        words = ["-log", "none", "-var", "cells", CELLS, "-var", "steps", steps, "-in", INPUT]
        self.jobs = jobs
        self.command = jobs.launch(FAMILY, program, *words)
        self.calls = self.lost = 0

    def run(self, variant):
        """Seconds by each clock."""
        out = self.jobs.folder / "lammps.scope"
        command = self.jobs.recorded(self.command, out) if variant == "mpiscope run" else self.command
        begin_s = time.monotonic()
        done = checked(command, self.jobs.environment(FAMILY, OMP_NUM_THREADS=1))
        wall_s = time.monotonic() - begin_s
        if variant == "mpiscope run":
            manifest = json.loads((out / "manifest.json").read_text())
            shutil.rmtree(out)
            self.calls, self.lost = manifest["cost"]["calls"], sum(manifest["lost"].values())
        loop = re.search(r"^Loop time of ([0-9.e-]+) on 2 procs", done.stdout, re.MULTILINE)
        if loop is None:
            raise Failure(f"lmp does not say how long it took:\n{done.stdout}")
        return {"loop": float(loop[1]), "wall": wall_s}


def measure(bench, pairs):
    """Seconds of each variant by each clock, in pairs."""
    found = {variant: {clock: [] for clock in CLOCKS} for variant in VARIANTS}
    for variant in VARIANTS:
        bench.run(variant)
    for pair in range(pairs):
        for variant in VARIANTS if pair % 2 == 0 else reversed(VARIANTS):
            for clock, seconds in bench.run(variant).items():
                found[variant][clock].append(seconds)
    return found


def text(values):
    low, middle, high = values
    return f"{middle:.3f} [{low:.3f}..{high:.3f}]"


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--pairs", type=int, default=10, help="pairs of runs [default: 10]")
    parser.add_argument("--steps", type=int, default=200, help="steps of a run [default: 200]")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    with Jobs(options.target) as jobs:
        bench = Bench(jobs, options.steps)
        found = measure(bench, options.pairs)
    lost_share = bench.lost / max(bench.calls + bench.lost, 1)
    results = {"pairs": options.pairs, "calls": bench.calls, "lost_share": lost_share}
    for clock in CLOCKS:
        bare, recorded = (found[variant][clock] for variant in VARIANTS)
        results[clock] = {
            "bare_s": quartiles(bare),
            "recorded_s": quartiles(recorded),
            "ratio": quartiles([with_it / without for without, with_it in zip(bare, recorded)]),
        }
    size = f"{CELLS ** 3 * 4} atoms, {options.steps} steps, {bench.calls} calls"
    print(f"LAMMPS, {size}, 2 ranks: {options.pairs} pairs")
    for clock in CLOCKS:
        row = results[clock]
        print(f"{clock}   bare {text(row['bare_s'])}   recorded {text(row['recorded_s'])}   ratio {text(row['ratio'])}")
    print(f"lost {results['lost_share']:.1%}")
    low, middle, high = results["loop"]["bare_s"]
    if high - low > MOST_SPREAD * middle:
        print("the machine was not calm: nothing can be concluded from this")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    run(main)
