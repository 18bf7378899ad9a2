#!/usr/bin/env python3
"""How many instructions recording adds to each kind of call, and how long they take.

Usage: tests/bench/overhead/instructions.py [--check | --write] [--target DIR]

Runs one_call.c against a fake MPI library (fake/mpi.c) under callgrind, bare and with the collector, each with two
numbers of repetitions: the difference of those is free of start and end, and what the collector adds to it is its own.
No MPI, no clock and no other process is in these counts, and they repeat to a fraction of an instruction on the
same build, however busy the machine is. What locked instructions and the two readings of the clock cost is not in
them, so the same program is run without callgrind as well, and the nanoseconds of its median batch are printed; the least
of a few runs, for it is one process and whatever disturbs it only adds.

The column `floor` is what floor.c adds to the same program: two readings of the time-stamp counter and one record.

How to read it. Each kind is a call or a pair of them; `isend_window` and `irecv_window` are per message in a window of
64 with its share of MPI_Waitall. Instructions are those of all code between the program and the fake library: ours,
and what it calls of libc.

--check compares with instructions.json and fails when a count grew by more than 3 % (polls: 15 %); --write writes that
file anew.
--functions names the functions the instructions of each kind are in. --call-paths records call paths as well; compare its
counts with those without: each function on the path adds to them.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, compile_with_fake_library, Failure, Jobs, Rings, run, WARNINGS

HERE = Path(__file__).resolve().parent
KNOWN = HERE / "instructions.json"
# Kinds, and how many calls (or pairs of calls) a step stands for.
KINDS = {
    "send": 1,
    "recv": 1,
    "isend_wait": 1,
    "irecv_wait": 1,
    "isend_window": 64,
    "irecv_window": 64,
    "failed_test": 1,
    "allreduce": 1,
    "barrier": 1,
}
FEW, MANY = 50, 250
# Of a timed run: what one kind writes at most into its ring (three slots a call) fits into it, warm-up included.
BATCHES, TIMED_CALLS, SLOTS, TIMED_RUNS = 100, 300_000, 1 << 20, 5
MOST_GROWTH = 0.03
# The one kind whose count follows the clock: a pause of more than 12 us between two polls ends the stretch of polls that
# are not timed, and that adds 4,700 instructions. Most runs of 250 polls have no such pause even beside four busy loops;
# on a machine that was taken away again and again each of five had one or two (+23 %). Pauses only add: the least of
# all runs counts, and runs are added while it is above what is allowed.
RUNS = {"failed_test": 5}
MOST_TRIES = {"failed_test": 10}
MOST_GROWTH_OF = {"failed_test": 0.15}
FUNCTIONS_SHOWN = 12


class Counter:
    """The program, its fake library, and callgrind."""

    def __init__(self, jobs, has_call_paths):
        self.jobs = jobs
        self.least = {}
        self.settings = {"MPISCOPE_CALL_PATHS": 1} if has_call_paths else {}
        self.program = compile_with_fake_library(jobs, HERE / "one_call.c")
        self.floor = jobs.folder / "floor.so"
        checked(["gcc", *WARNINGS, "-I", HERE / "fake", "-shared", "-fPIC", "-o", self.floor, HERE / "floor.c"])

    def run(self, command, preload):
        """What a command printed."""
        with Rings() as rings:
            settings = {"MPISCOPE_RINGS": rings.path, "MPISCOPE_RING_SLOTS": SLOTS, "FLOOR_SLOTS": SLOTS, **self.settings}
            done = checked(command, self.jobs.environment("openmpi", [preload] if preload else [], **settings))
            slots, lost = rings.filled()
        if preload == self.jobs.collector and (slots == 0 or lost > 0):
            raise Failure(f"{command} was not recorded: {slots} slots, {lost} calls lost\n{done.stderr}")
        return done.stdout

    def functions(self, kind, steps, preload):
        """Instructions by function."""
        profile = self.jobs.folder / "callgrind.out"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        self.run([*tool, self.program, kind, 0, steps], preload)
        listing = checked(["callgrind_annotate", "--threshold=100", "--auto=no", profile]).stdout
        found = {}
        for count, name in re.findall(r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*)$", listing, re.MULTILINE):
            if name != "PROGRAM TOTALS":
                name = re.sub(r"^\S+?:(?=\S)|\s*\[.*\]$", "", name)
                found[name] = found.get(name, 0) + int(count.replace(",", ""))
        return found

    def least_functions(self, *which):
        """Instructions by function in the run with the fewest, of all that were made until now and a few more."""
        runs = [self.functions(*which) for _ in range(RUNS.get(which[0], 1))]
        runs.extend(self.least.get(which, []))
        self.least[which] = [min(runs, key=lambda run: sum(run.values()))]
        return self.least[which][0]

    def added(self, kind):
        """Instructions that the collector adds to one call of a kind, by function."""
        added = {}
        for preload, sign in ((self.jobs.collector, 1), (None, -1)):
            for steps, side in ((MANY, 1), (FEW, -1)):
                for name, count in self.least_functions(kind, steps, preload).items():
                    added[name] = added.get(name, 0) + sign * side * count
        calls = (MANY - FEW) * KINDS[kind]
        return {name: count / calls for name, count in added.items()}

    def added_ns(self, kind):
        """Nanoseconds that the collector and the floor add to one call of a kind."""
        command = [self.program, kind, BATCHES, TIMED_CALLS // BATCHES // KINDS[kind]]
        least_ns = {None: [], self.jobs.collector: [], self.floor: []}
        for _ in range(TIMED_RUNS):
            for preload, times in least_ns.items():
                times.append(float(self.run(command, preload).split()[3]) / KINDS[kind])
        bare, collector, floor = (min(times) for times in least_ns.values())
        return collector - bare, floor - bare


def main():
    parser = arguments_of(__doc__)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail when a count grew by more than 3 %% (polls: 15 %%)")
    action.add_argument("--write", action="store_true", help="take these counts as those to compare with")
    parser.add_argument("--kind", choices=KINDS, help="only this one")
    parser.add_argument("--functions", action="store_true", help="say in which functions the instructions are")
    parser.add_argument("--call-paths", action="store_true", help="record call paths, too")
    options = parser.parse_args()
    if options.write and (options.kind or options.call_paths):
        parser.error("--write needs all kinds, and no call paths")
    known = json.loads(KNOWN.read_text()) if KNOWN.is_file() else {}
    if options.check and not known:
        raise Failure(f"{KNOWN.name} is missing: make it with --write")
    counts, grown = {}, []
    print(f"{'instructions added to':<22} {'now':>8} {'known':>8} {'change':>8} {'ns':>8} {'floor':>8}")
    with Jobs(options.target) as jobs:
        counter = Counter(jobs, options.call_paths)
        for kind in [options.kind] if options.kind else KINDS:
            before = known.get(kind)
            for _ in range(MOST_TRIES.get(kind, 1)):
                added = counter.added(kind)
                count = counts[kind] = round(sum(added.values()), 2)
                change = count / before - 1 if before else 0.0
                if change <= MOST_GROWTH_OF.get(kind, MOST_GROWTH):
                    break
            before_text = f"{before:.1f}" if before else "-"
            added_ns, floor_ns = counter.added_ns(kind)
            line = f"{kind:<22} {count:>8.1f} {before_text:>8} {change:>8.1%} {added_ns:>8.1f} {floor_ns:>8.1f}"
            print(line, flush=True)
            if options.functions:
                for name, part in sorted(added.items(), key=lambda item: -item[1])[:FUNCTIONS_SHOWN]:
                    if part >= 0.5:
                        print(f"{part:>31.1f} {name}")
            if change > MOST_GROWTH_OF.get(kind, MOST_GROWTH):
                grown.append(kind)
    if options.write:
        KNOWN.write_text(json.dumps(counts, indent=2) + "\n")
    if options.check and grown:
        raise Failure(f"more instructions than allowed: {', '.join(grown)}")


if __name__ == "__main__":
    run(main)
