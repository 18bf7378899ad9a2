#!/usr/bin/env python3
"""What recording costs a program that people use: the HPC Challenge, two ranks of Open MPI.

Usage: tests/bench/overhead/hpcc.py [--pairs 5] [--size 800] [--json FILE]

It solves equations, transposes, transforms, updates memory at random and polls for messages by the million, small
ones among them. `hpl` is the time that it says the equations took, which most of the others follow in their own ways;
`wall` has all of them in it.
"""

import re
import shutil

from pairs import arguments, compare, FAMILY, Pairs

from jobs import Failure, run

EXAMPLE = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
REPORT = "hpccoutf.txt"


def write_input(folder, size):
    """The example of the package for two ranks, with matrices of a size."""
    try:
        lines = open(EXAMPLE, encoding="ascii").read().splitlines()
    except FileNotFoundError:
        raise Failure(f"{EXAMPLE} is missing (Debian: hpcc)") from None
    for number, line in enumerate(lines):
        _, _, name = line.partition(" ")
        for value, names in ((size, "Ns"), (1, "Ps"), (2, "Qs")):
            if name.strip() == names:
                lines[number] = f"{value} {names}"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")


def main():
    parser = arguments(__doc__)
    parser.set_defaults(pairs=5)
    parser.add_argument("--size", type=int, default=800, help="rows of the matrices [default: 800]")
    options = parser.parse_args()

    def prepare(jobs):
        program = shutil.which("hpcc")
        if program is None:
            raise Failure("hpcc is not installed (Debian: hpcc)")
        write_input(jobs.folder, options.size)
        report = jobs.folder / REPORT

        def hpl_s(_):
            text = report.read_text()
            # It goes on in the file of a run before.
            report.unlink()
            found = re.search(r"^HPL_time=([0-9.e+-]+)$", text, re.MULTILINE)
            if found is None or "Success=1" not in text:
                raise Failure(f"hpcc does not say that it succeeded:\n{text[-2000:]}")
            return float(found[1])

        return Pairs(jobs, jobs.launch(FAMILY, program), "hpl", hpl_s, jobs.folder)

    compare(options, f"HPCC, {options.size} rows", prepare)


if __name__ == "__main__":
    run(main)
