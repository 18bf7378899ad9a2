#!/usr/bin/env python3
"""Whether what a rank needs grows with the calls it makes.

Usage: tests/bench/overhead/memory.py [--calls 10000000] [--family openmpi] [--json FILE]

memory.c makes and frees requests, datatypes and communicators, each rank for itself, bare and under `mpiscope run`. What
is resident in it is looked at after each tenth of the calls: in all, with the ring that it shares with the agent, and
what it has alone. Fails when what it has alone grows from the second tenth to the last by more than in the bare run and
by more than MOST_GROWN_KIB, or when what is resident exceeds the bare run's by more than MOST_MORE_KIB: the rings, and
the collector itself.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, Failure, FAMILIES, Jobs, run, take_recording

HERE = Path(__file__).resolve().parent
# Of a step of memory.c, those that are recorded.
CALLS_OF_STEP = 64 + 64 + 1 + 2
MOST_GROWN_KIB = 256
MOST_MORE_KIB = 4096 + 4096


def resident(jobs, family, program, steps, is_recorded):
    """KiB after each tenth, in all and alone, and how many calls were lost."""
    out = jobs.folder / "memory.scope"
    command = jobs.launch_ranks(family, 1, program, steps)
    lost = 0
    if is_recorded:
        done = checked(jobs.recorded(command, out), jobs.environment(family))
        _, calls, lost = take_recording(out)
        if calls + lost < steps * CALLS_OF_STEP:
            raise Failure(f"{calls} calls were recorded and {lost} lost of {steps} steps")
    else:
        done = checked(command, jobs.environment(family))
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()], lost


def measure(jobs, family, calls):
    """The figures of a family, and what is wrong with them."""
    program = jobs.compile_program(family, HERE / "memory.c")
    steps = calls // CALLS_OF_STEP // 10 * 10
    bare, _ = resident(jobs, family, program, steps, False)
    recorded, lost = resident(jobs, family, program, steps, True)
    bare_grown, grown = (tenths[-1][1] - tenths[1][1] for tenths in (bare, recorded))
    more = recorded[-1][0] - bare[-1][0]
    print(f"{family}, {steps * CALLS_OF_STEP} calls, {lost} lost: KiB resident (alone) after each tenth")
    for name, tenths in (("bare", bare), ("recorded", recorded)):
        print(f"{name:<9}{'  '.join(f'{whole} ({alone})' for whole, alone in tenths)}")
    print(f"grown {grown} KiB, bare {bare_grown} KiB; {more} KiB more than bare at the end", flush=True)
    wrong = []
    if grown - max(bare_grown, 0) > MOST_GROWN_KIB:
        wrong.append(f"{family}: it grew by {grown} KiB, without mpiscope by {bare_grown} KiB")
    if more > MOST_MORE_KIB:
        wrong.append(f"{family}: {more} KiB more are resident than without mpiscope")
    return {"bare_kib": bare, "recorded_kib": recorded, "lost_calls": lost}, wrong


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000, help="calls in all [default: 10000000]")
    parser.add_argument("--family", choices=FAMILIES, help="only this one")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    results, wrong = {}, []
    with Jobs(options.target) as jobs:
        for family in [options.family] if options.family else FAMILIES:
            results[family], more = measure(jobs, family, options.calls)
            wrong += more
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    if wrong:
        raise Failure("; ".join(wrong))


if __name__ == "__main__":
    run(main)
