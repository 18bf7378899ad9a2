#!/usr/bin/env python3
"""What recording costs the program, in time.

Usage: tests/bench/overhead/run.py [--quick] [--family openmpi] [--program pingpong] [--json FILE]

Three programs of two ranks: `pingpong` (a step is one MPI_Send and one MPI_Recv in each rank), `message_rate` (a step
is a window of 64 MPI_Isend or MPI_Irecv, an MPI_Waitall, and one answer) and `collectives` (a step is one
MPI_Allreduce); all with 8 bytes. Five or six variants of each:

    bare                 nothing preloaded
    floor_rdtsc          the least a recorder can do, see floor.c: two readings of the time-stamp counter, one record
    floor_clock          the same with clock_gettime
    eztrace              a tracer that others made, where it is installed (Debian's package `eztrace`): two records of
                         OTF2 and more a call, in memory until the end of the run
    mpiscope rings only  the collector, with rings that hold the whole run and nobody who reads them: the cost inside
                         the job alone
    mpiscope run         the real thing. Both cores belong to the ranks, so agent and recorder run at their expense, as
                         on a full node without a spare CPU; what the rings cannot hold meanwhile is lost

How it measures. Each run of a variant stands between two bare runs, and what counts is its difference to their mean.
Where the two bare runs differ by more than an eighth the machine changed meanwhile (virtual processors are moved, other
work comes and goes) and the run is repeated, at most three times as often as there are rounds.

How to read it. `step` is the time of a step by the median batch, `added` what a variant adds to bare; both are medians
over the rounds, with quartiles in brackets. `by mean` is what is added to the mean of all batches: moments in which
somebody else had the processor are in it, so for `mpiscope run` it is the number that tells what the agent takes.
`to floor` is `added` over that of floor_rdtsc, `rate` the share of the bare program's steps a second. `lost` is the
share of calls that were not recorded.
"""

import json
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, Failure, FAMILIES, Jobs, quartiles, Rings, run, spread, take_recording

HERE = Path(__file__).resolve().parent
# Slots of a ring: what the longest program writes in a rank, with its warm-up, is less.
SLOTS = 1 << 21
# Batches, steps in a batch, calls in a step over both ranks, messages in a step.
PROGRAMS = {
    "pingpong": (400, 1000, 4, 2),
    "message_rate": (400, 25, 132, 65),
    "collectives": (600, 1000, 2, 0),
}
PEERS = ("eztrace",) if shutil.which("eztrace") else ()
VARIANTS = ("floor_rdtsc", "floor_clock", *PEERS, "mpiscope rings only", "mpiscope run")
MOST_DRIFT = 1 / 8


class Series:
    """The runs of one variant of one program."""

    def __init__(self):
        self.bare_ns = []
        self.step_ns = []
        self.added_ns = []
        self.added_by_mean_ns = []
        self.lost_share = []


class Bench:
    """One family's programs and preloads."""

    def __init__(self, jobs, family, programs):
        self.jobs = jobs
        self.family = family
        self.programs = {name: jobs.compile_program(family, HERE / f"{name}.c") for name in programs}
        floor = HERE / "floor.c"
        self.floors = {
            "floor_rdtsc": jobs.compile_preload(family, floor, "floor_rdtsc"),
            "floor_clock": jobs.compile_preload(family, floor, "floor_clock", ["-DFLOOR_CLOCK"]),
        }
        self.recordings = 0

    def run(self, name, variant):
        """Mean and median nanoseconds of a step, and the share of calls that were lost."""
        batches, steps, calls, _ = PROGRAMS[name]
        command = self.jobs.launch(self.family, self.programs[name], batches, steps)
        if variant == "mpiscope run":
            return self.run_recorded(command)
        if variant == "eztrace":
            return self.run_traced(name, batches * steps * calls, command)
        if variant == "mpiscope rings only":
            with Rings() as rings:
                preloads = [self.jobs.collector]
                settings = {"MPISCOPE_RINGS": rings.path, "MPISCOPE_RING_SLOTS": SLOTS}
                done = checked(command, self.jobs.environment(self.family, preloads, **settings))
                slots, lost = rings.filled()
            if lost > 0 or slots < batches * steps * calls:
                raise Failure(f"{name} wrote {slots} slots and lost {lost} calls: SLOTS is too small, or it is off")
            return *parse(done.stdout), 0.0
        preloads = [self.floors[variant]] if variant in self.floors else []
        done = checked(command, self.jobs.environment(self.family, preloads, FLOOR_SLOTS=SLOTS))
        return *parse(done.stdout), 0.0

    def run_recorded(self, command):
        self.recordings += 1
        out = self.jobs.folder / f"{self.family}-{self.recordings}.scope"
        done = checked(self.jobs.recorded(command, out), self.jobs.environment(self.family))
        _, calls, lost = take_recording(out)
        return *parse(done.stdout), lost / (lost + calls)

    def run_traced(self, name, calls, command):
        """As run_recorded, by the other tracer; it loses nothing that it does not say."""
        out = self.jobs.folder / "eztrace"
        at = command.index(str(self.programs[name]))
        traced = [*command[:at], "eztrace", "-t", self.family, "-o", out, *command[at:]]
        done = checked(traced, self.jobs.environment(self.family))
        written = sum(file.stat().st_size for file in out.rglob("*.evt"))
        shutil.rmtree(out)
        # A record of OTF2 has its time, which takes two bytes at least, and what it is.
        if written < 3 * calls:
            raise Failure(f"{name} made {calls} calls, and eztrace wrote {written} bytes")
        return *parse(done.stdout), 0.0


def parse(output):
    words = output.split()
    return float(words[1]), float(words[3])


def measure(bench, name, rounds):
    """The series of each variant: bare runs and the variants take turns."""
    series = {variant: Series() for variant in VARIANTS}
    bare = bench.run(name, "bare")
    for _ in range(3 * rounds):
        for variant in VARIANTS:
            found = series[variant]
            if len(found.step_ns) == rounds:
                continue
            mean_ns, median_ns, lost_share = bench.run(name, variant)
            before, bare = bare, bench.run(name, "bare")
            if abs(bare[1] - before[1]) > MOST_DRIFT * min(bare[1], before[1]):
                continue
            found.bare_ns.append((bare[1] + before[1]) / 2)
            found.step_ns.append(median_ns)
            found.added_ns.append(median_ns - found.bare_ns[-1])
            found.added_by_mean_ns.append(mean_ns - (bare[0] + before[0]) / 2)
            found.lost_share.append(lost_share)
    for variant, found in series.items():
        if not found.step_ns:
            raise Failure(f"{name}, {variant}: the machine never was calm enough")
    return series


def summary(name, series):
    """What the table and the JSON say of a program."""
    messages = PROGRAMS[name][3]
    bare_ns = [value for found in series.values() for value in found.bare_ns]
    rows = {"bare": {"runs": len(bare_ns), "step_ns": quartiles(bare_ns)}}
    floor_ns = statistics.median(series["floor_rdtsc"].added_ns)
    for variant, found in series.items():
        added_ns = quartiles(found.added_ns)
        rows[variant] = {
            "runs": len(found.step_ns),
            "step_ns": quartiles(found.step_ns),
            "added_ns": added_ns,
            "added_by_mean_ns": quartiles(found.added_by_mean_ns),
            "to_floor": added_ns[1] / floor_ns if floor_ns > 0 else None,
            "share_of_bare_rate": statistics.median(
                bare / step for bare, step in zip(found.bare_ns, found.step_ns)
            ),
            "lost_share": statistics.median(found.lost_share),
        }
    if messages:
        for row in rows.values():
            row["messages_per_s"] = messages * 1e9 / row["step_ns"][1]
    return rows


def print_table(family, name, rows):
    print(f"\n{family}, {name}: nanoseconds a step")
    more = f"{'by mean':>8} {'to floor':>9} {'rate':>6} {'lost':>7}"
    print(f"{'':<20} runs {'step':<20} {'added':<20}{more}")
    for variant, row in rows.items():
        line = f"{variant:<20} {row['runs']:>4} {spread(row['step_ns']):<20}"
        if "added_ns" in row:
            ratio = f"{row['to_floor']:.2f}" if row["to_floor"] is not None else "-"
            line += f" {spread(row['added_ns']):<20}{row['added_by_mean_ns'][1]:>8.0f} {ratio:>9}"
            line += f" {row['share_of_bare_rate']:>6.2f} {row['lost_share']:>7.1%}"
        print(line)
    if "messages_per_s" in rows["bare"]:
        rates = (f"{variant} {row['messages_per_s'] / 1e6:.1f}" for variant, row in rows.items())
        print(f"million messages a second: {', '.join(rates)}")
    sys.stdout.flush()


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="runs of each variant [default: 7]")
    parser.add_argument("--quick", action="store_true", help="3 rounds")
    parser.add_argument("--family", choices=FAMILIES, help="only this one")
    parser.add_argument("--program", choices=PROGRAMS, help="only this one")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    rounds = 3 if options.quick else options.rounds
    results = {}
    with Jobs(options.target) as jobs:
        for family in [options.family] if options.family else FAMILIES:
            names = [options.program] if options.program else list(PROGRAMS)
            bench = Bench(jobs, family, names)
            results[family] = {}
            for name in names:
                rows = summary(name, measure(bench, name, rounds))
                results[family][name] = rows
                print_table(family, name, rows)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    run(main)
