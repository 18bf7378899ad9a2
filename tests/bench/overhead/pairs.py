"""What recording costs a program that people use: pairs of runs, bare and recorded.

How it measures. Each pair is a bare run and one under `mpiscope run`, one right after the other; every second pair is
in the other order: a machine that slowly changes favours neither. Both cores belong to the ranks, so agent and
recorder run at their expense, as on a full node without a spare CPU. A first run of each is not counted.

How to read it. `wall` is what the whole command took, with its start and, for `mpiscope run`, until the recording is
complete; the other clock is the program's own. Both are seconds by the median run. `ratio` is recorded over bare in a
pair, the median over the pairs; quartiles are in brackets. `lost` is the share of calls that were not recorded. Where
the bare runs themselves differ by more than an eighth between their quartiles, others had the processors meanwhile, and the
last line says that nothing can be concluded.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, Jobs, quartiles, spread, take_recording

FAMILY = "openmpi"
VARIANTS = ("bare", "mpiscope run")
MOST_SPREAD = 1 / 8


class Pairs:
    """A program, its own clock, and what was found of its runs."""

    def __init__(self, jobs, command, clock, seconds_of, cwd=None):
        self.jobs, self.command, self.cwd = jobs, command, cwd
        self.clock, self.seconds_of = clock, seconds_of
        self.found = {variant: {clock: [], "wall": []} for variant in VARIANTS}
        self.calls = self.lost = 0

    def run(self, variant):
        """Seconds by each clock."""
        out = self.jobs.folder / "program.scope"
        command = self.jobs.recorded(self.command, out) if variant == "mpiscope run" else self.command
        begin_s = time.monotonic()
        done = checked(command, self.jobs.environment(FAMILY, OMP_NUM_THREADS=1), self.cwd)
        wall_s = time.monotonic() - begin_s
        if variant == "mpiscope run":
            _, self.calls, self.lost = take_recording(out)
        return {self.clock: self.seconds_of(done.stdout), "wall": wall_s}

    def measure(self, pairs):
        """Makes N pairs of runs."""
        for variant in VARIANTS:
            self.run(variant)
        for pair in range(pairs):
            for variant in VARIANTS if pair % 2 == 0 else reversed(VARIANTS):
                for clock, seconds in self.run(variant).items():
                    self.found[variant][clock].append(seconds)

    def results(self):
        """What was found, by clock."""
        results = {"calls": self.calls, "lost_share": self.lost / max(self.calls + self.lost, 1)}
        for clock in (self.clock, "wall"):
            bare, recorded = (self.found[variant][clock] for variant in VARIANTS)
            results[clock] = {
                "bare_s": quartiles(bare),
                "recorded_s": quartiles(recorded),
                "ratio": quartiles([with_it / without for without, with_it in zip(bare, recorded)]),
            }
        return results

    def print(self, results):
        """The same for people."""
        for clock in (self.clock, "wall"):
            row = {name: spread(values, 3) for name, values in results[clock].items()}
            print(f"{clock}   bare {row['bare_s']}   recorded {row['recorded_s']}   ratio {row['ratio']}")
        print(f"lost {results['lost_share']:.1%}")
        low, middle, high = results[self.clock]["bare_s"]
        if high - low > MOST_SPREAD * middle:
            print("the machine was not calm: nothing can be concluded from this")


def arguments(documentation):
    """A parser of the command line that these benchmarks share."""
    parser = arguments_of(documentation + "\n" + __doc__.partition("\n\n")[2])
    parser.add_argument("--pairs", type=int, default=10, help="pairs of runs [default: 10]")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    return parser


def compare(options, title, prepare):
    """Measures what `prepare` makes of the jobs, and says what was found."""
    with Jobs(options.target) as jobs:
        pairs = prepare(jobs)
        pairs.measure(options.pairs)
    results = pairs.results()
    print(f"{title}, {pairs.calls} calls, 2 ranks: {options.pairs} pairs")
    pairs.print(results)
    if options.json:
        options.json.write_text(json.dumps({"pairs": options.pairs, **results}, indent=2) + "\n")
