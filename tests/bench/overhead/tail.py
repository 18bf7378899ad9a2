#!/usr/bin/env python3
"""How long the slowest of many calls take in the collector, while the agent takes out what they leave.

Usage: tests/bench/overhead/tail.py [--rounds 5] [--calls 10000000] [--spacing 500] [--json FILE]

How it measures. tail.c calls MPI_Send of a fake MPI library (fake/mpi.c), whose functions do next to nothing, under
`mpiscope run`: agent and recorder work as for any program, and all that a call takes is the collector's. In the same
process, in turns of a thousand calls, it calls a control that reads the clock twice and makes the same real call. What
the system does to the process meanwhile (ticks, other processes) meets both alike. A call begins `--spacing` nanoseconds after
the one before, to let the recorder follow: without that it loses calls, which is another path.

How to read it. For each quantile: the median over the rounds of wrapper and control in nanoseconds, with what reading
the clock around the call takes, and of their ratio and difference within a round; quartiles are in brackets. `lost` is
the share of calls that were not recorded.
"""

import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, compile_with_fake_library, Failure, Jobs, quartiles, run, spread, take_recording

HERE = Path(__file__).resolve().parent
BLOCK_CALLS = 1000
SIDES = ("wrapper", "control")


def parse(output):
    """Nanoseconds by side and quantile."""
    found = {}
    for line in output.splitlines():
        side, *words = line.split()
        found[side] = dict(zip(words[::2], map(float, words[1::2])))
    if set(found) != set(SIDES):
        raise Failure(f"tail printed something else:\n{output}")
    return found


def one_round(jobs, program, calls, spacing_ns):
    """Nanoseconds by side and quantile, and the share of calls that were lost."""
    out = jobs.folder / "tail.scope"
    command = jobs.recorded([program, calls, BLOCK_CALLS, spacing_ns], out)
    done = checked(command, jobs.environment("openmpi"))
    _, recorded, lost = take_recording(out)
    if recorded + lost < calls:
        raise Failure(f"of {calls} calls {recorded} were recorded and {lost} lost:\n{done.stderr}")
    return parse(done.stdout), lost / (recorded + lost)


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="runs of the program [default: 5]")
    parser.add_argument("--calls", type=int, default=10_000_000, help="calls of each side [default: 10000000]")
    parser.add_argument("--spacing", type=int, default=500, help="nanoseconds from call to call [default: 500]")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    rounds, lost_shares = [], []
    with Jobs(options.target) as jobs:
        program = compile_with_fake_library(jobs, HERE / "tail.c")
        for _ in range(options.rounds):
            found, lost_share = one_round(jobs, program, options.calls, options.spacing)
            rounds.append(found)
            lost_shares.append(lost_share)
    lost_share = statistics.median(lost_shares)
    results = {"rounds": options.rounds, "calls": options.calls, "lost_share": lost_share, "quantiles": {}}
    print(f"{options.calls} calls of each, one every {options.spacing} ns, {options.rounds} rounds: nanoseconds")
    print(f"{'':<8}{'wrapper':<26}{'control':<26}{'ratio':<20}difference")
    for name in rounds[0]["wrapper"]:
        sides = [[found[side][name] for found in rounds] for side in SIDES]
        row = {side: quartiles(values) for side, values in zip(SIDES, sides)}
        row["ratio"] = quartiles([wrapper / control for wrapper, control in zip(*sides)])
        row["difference"] = quartiles([wrapper - control for wrapper, control in zip(*sides)])
        results["quantiles"][name] = row
        words = {of: spread(values, 1) for of, values in row.items()}
        columns = f"{words['wrapper']:<26}{words['control']:<26}{words['ratio']:<20}"
        print(f"{name:<8}{columns}{words['difference']}")
    print(f"lost {lost_share:.2%}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    run(main)
