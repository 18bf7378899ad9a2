#!/usr/bin/env python3
"""Whether the verdict is right on real MPI runs that were disturbed on purpose, and its seconds near the measured ones.

Usage: tests/truth/run.py [--rounds 3] [--only WORD]... [--keep DIR] [--json FILE]
       tests/truth/run.py --check

Each case is one program (tests/apps/patterns.c), run with and without a disturbance in turns, all under `mpiscope run`. What
the disturbance costs is measured by the program's own clock: the median time of its steps with it, minus the median without
it. Where it costs less than 2 % of the run, nothing is to be found. Ranks sleep instead of working where more of them than
CPUs are to be honest; where CPUs are disturbed, two ranks compute on a core each and a busy loop shares one of the cores.
Networks are disturbed between four hosts of a lab (deploy/lab; needs root), by its switch and not by load on the same CPUs.

How to read it. A verdict is right when its cause is the disturbance's (`none` without one) and its saving is within a factor of
1.5 of the measured cost. `few CPUs`: the scheduler said that ranks waited for a CPU for 10 % of the time; a run without a
disturbance may be blamed on that. Bins of confidence say how often verdicts of that confidence were right.

--check runs thirteen cases, for the short check: each must have its cause, and a saving within a factor of 2, in one of three tries.
Where other programs take the CPUs at the end, wrong ones are skipped.
"""

import contextlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from cases import Case, HOSTS, all_cases
from hosts import LAB, Lab
from jobs import arguments_of, checked, Failure, Jobs, ROOT, run, TIMEOUT_S

CAUSES = ("pattern", "cpu", "background", "mapping", "none")
# Right is a saving within this factor of the measured cost.
FACTOR = 1.5
# A disturbance that costs a smaller share of the run is none.
NEGLIGIBLE = 0.02
# An undisturbed run with enough CPUs may be blamed for this share.
MOST_BLAMED = 0.03
# What the short check runs, with fewer steps; savings may be off by this factor.
CHECKED = (
    "openmpi ring of 4, 1000 bytes, slow rank",
    "openmpi pipeline of 4, 1000 bytes, slow rank",
    "openmpi halo of 8, 1000 bytes, slow rank",
    "openmpi allreduce of 8, moving slow rank",
    "openmpi waits of 8, slow rank",
    "openmpi reduce of 8, slow rank",
    "openmpi polls of 8, slow rank",
    "openmpi allreduce of 8, any slow rank",
    "openmpi neighbors of 8, slow rank",
    "mpich halo of 2, slow rank",
    "openmpi allreduce of 2, busy loop",
    "openmpi ring of 4, stopped rank",
    "openmpi halo of 4 hosts, slow link",
)
CHECKED_STEPS = 200
CHECKED_FACTOR = 2
# Where others take more of the CPUs than this, wrong cases of the short check are skipped; it is tried for this long.
MOST_TAKEN = 0.2
TRIED_S = 0.3
# So may be the share for which an undisturbed run is blamed.
CHECKED_BLAMED = 0.1
# Other load on the machine disturbs runs, too: a case that is wrong is run again.
CHECKED_TRIES = 3
BINS = ((0.9, 1.01), (0.7, 0.9), (0.0, 0.7))
# One rank is stopped for this time, and goes on for as long, again and again.
STOP_S = 0.25


@dataclass
class Outcome:
    """What mpiscope said of one run."""

    case: Case
    is_disturbed: bool
    length_s: float
    cause: str
    saving_s: float
    share: float
    confidence: float
    is_short: bool
    measured_s: float = field(default=0.0)
    # The folder of its recording, if that is kept.
    recording: str = ""

    @classmethod
    def of_report(cls, case, is_disturbed, length_s, report):
        """What a report says of a run."""
        verdict = report["verdict"]
        return cls(
            case=case,
            is_disturbed=is_disturbed,
            length_s=length_s,
            cause=verdict["cause"],
            saving_s=verdict["avoidable_wall_s"],
            share=verdict["share"],
            confidence=verdict["confidence"],
            is_short=report.get("cpu_shortage") is not None,
        )

    @property
    def expected(self):
        """The cause that is right."""
        return self.case.expected if self.measured_s >= NEGLIGIBLE * self.length_s else "none"

    @property
    def is_cause_right(self):
        """Whether the cause is the right one; a run that is short of CPUs without a disturbance may be blamed on that."""
        return self.cause == self.expected or (self.expected == "none" and self.is_short and self.cause == "cpu")

    @property
    def is_right(self):
        """Whether cause and seconds are right."""
        if not self.is_cause_right:
            return False
        return self.expected == "none" or self.is_within(FACTOR)

    def is_within(self, factor):
        """Whether the saving is near the measured cost."""
        low, high = sorted((self.saving_s, self.measured_s))
        return low > 0 and high <= factor * low

    @property
    def is_acceptable(self):
        """What the short check asks for: undisturbed runs with enough CPUs are not blamed, others for their cause."""
        if self.expected == "none":
            return self.is_short or self.cause == "none" or self.share <= CHECKED_BLAMED
        return self.is_cause_right and self.is_within(CHECKED_FACTOR)


def ranks_of(program):
    """The processes that run a program, by rank."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "exe") != str(program):
                continue
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for word in words:
            name, _, value = word.partition(b"=")
            if name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK"):
                found[int(value)] = int(folder.name)
    return found


def send(pid, sign):
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        pass


def stop_now_and_then(process, program):
    """Stops rank 1 for half of the time until the job ends."""
    until = time.monotonic() + TIMEOUT_S
    while process.poll() is None and time.monotonic() < until:
        pid = ranks_of(program).get(1)
        if pid is not None:
            try:
                send(pid, signal.SIGSTOP)
                time.sleep(STOP_S)
            finally:
                send(pid, signal.SIGCONT)
        time.sleep(STOP_S)


class Hosts(Lab):
    """Hosts whose network foreign programs use, or whose links are slow."""

    def __init__(self, jobs):
        super().__init__(jobs, HOSTS, "--shaped")
        self.criteria = {}

    def disturb(self, case, is_disturbed):
        """Sets all links as the case has them."""
        self.calm()
        if case.links:
            self.lab("link", *case.links.split())
        if is_disturbed and case.beside == "traffic":
            self.lab("traffic", "node1", "node2", "--rate", "85mbit", "--seconds", TIMEOUT_S)
        elif is_disturbed and case.beside.startswith("node"):
            self.lab("link", *case.beside.split())

    def calm(self):
        """All links are plain, and nobody else uses them."""
        self.lab("traffic", "--stop")
        self.lab("link", "--clear")

    def launch(self, case, program, is_disturbed):
        """The words that start a program over the hosts."""
        placement = "cyclic" if is_disturbed and case.beside == "cyclic" else "block"
        launcher = self.launcher(case.family, case.ranks, "--placement", placement)
        return [*launcher, program, *case.arguments(is_disturbed)]

    def criteria_of(self, case, program):
        """Words that name the criteria of undisturbed hosts; none where the case has no criteria."""
        if not case.is_calibrated:
            return []
        key = (case.family, case.ranks, case.links)
        if key not in self.criteria:
            self.disturb(case, False)
            file = self.jobs.folder / f"criteria-{len(self.criteria)}.json"
            launch = self.launch(case, program, False)
            calibrate = [self.jobs.mpiscope, "calibrate", "--seconds", 5, "--output", file, "--", *launch]
            checked(self.on("node1", calibrate), environment=self.jobs.environment(case.family))
            self.criteria[key] = file
        return ["--criteria", str(self.criteria[key])]


def what_hosts_lack():
    """Why no lab runs here, or no foreign traffic in it; nothing where both do."""
    check = subprocess.run([LAB, "check", "--shaped"], capture_output=True, text=True)
    if check.returncode != 0:
        return " ".join((check.stdout + check.stderr).split())
    return None if shutil.which("iperf3") else "iperf3 is missing"


def command_of(jobs, hosts, case, program, is_disturbed, out):
    """The whole command line."""
    if case.links is not None:
        criteria = hosts.criteria_of(case, program)
        hosts.disturb(case, is_disturbed)
        return hosts.on("node1", jobs.recorded(hosts.launch(case, program, is_disturbed), out, criteria))
    if case.ranks <= len(os.sched_getaffinity(0)):
        launch = jobs.launch_ranks(case.family, case.ranks, program, *case.arguments(is_disturbed))
    else:
        bind = ["--bind-to", "none", "--oversubscribe"] if case.family == "openmpi" else []
        words = map(str, case.arguments(is_disturbed))
        launch = [f"mpirun.{case.family}", *bind, "-n", str(case.ranks), str(program), *words]
    return jobs.recorded(launch, out)


def own_share(_):
    """The share of the time in which a process that computes has a CPU."""
    begun, had = time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < TRIED_S:
        pass
    return (time.process_time() - had) / (time.perf_counter() - begun)


def usable_cpus():
    """As many CPUs as this may use at a time, also where a control group limits them."""
    cpus = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cpus = min(cpus, max(1, int(quota) // int(period)))
    return cpus


def share_of_others():
    """The share of the CPUs that other programs take."""
    cpus = usable_cpus()
    with multiprocessing.Pool(cpus) as pool:
        return 1 - statistics.mean(pool.map(own_share, range(cpus), chunksize=1))


@contextlib.contextmanager
def busy_loop(is_wanted):
    """Something that computes on the first core meanwhile."""
    if not is_wanted:
        yield
        return
    first = min(os.sched_getaffinity(0))
    loop = subprocess.Popen(["taskset", "-c", str(first), "sh", "-c", "while :; do :; done"])
    try:
        yield
    finally:
        loop.terminate()
        loop.wait()


def measure(jobs, hosts, case, program, is_disturbed, out):
    """Runs a case once; what was said of it."""
    process = None
    loop = busy_loop(is_disturbed and case.beside == "loop")
    with loop, tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        try:
            command = command_of(jobs, hosts, case, program, is_disturbed, out)
            process = subprocess.Popen(command, env=jobs.environment(case.family), stdout=output, stderr=errors)
            if is_disturbed and case.beside == "stops":
                stop_now_and_then(process, program)
            process.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"{case.name} took longer than {TIMEOUT_S} s") from None
        finally:
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait()
        output.seek(0)
        errors.seek(0)
        took = re.search(r"took (\d+) ns", output.read())
        if process.returncode != 0 or took is None:
            raise Failure(f"{case.name} ended with {process.returncode}:\n{errors.read()}")
        length_s = int(took.group(1)) / 1e9
    return Outcome.of_report(case, is_disturbed, length_s, report_of(jobs, out))


def report_of(jobs, out):
    """What mpiscope says of a recording."""
    return json.loads(checked([jobs.mpiscope, "report", "--json", out]).stdout)


def compare_rounds(rounds, measure_once):
    """All rounds of a case, with and without the disturbance in turns; the disturbance costs the difference of the medians."""
    outcomes = [measure_once(number, is_disturbed) for number in range(rounds) for is_disturbed in (False, True)]
    without_s, with_s = (
        statistics.median(outcome.length_s for outcome in outcomes if outcome.is_disturbed == of) for of in (False, True)
    )
    for outcome in outcomes:
        outcome.measured_s = with_s - without_s if outcome.is_disturbed else 0.0
    return outcomes


def run_case(jobs, hosts, case, program, options):
    """All rounds of a case; its recordings are kept if that is wanted."""

    def measure_once(number, is_disturbed):
        # The hosts of a lab see this folder.
        out = jobs.folder / f"{case.family}-{case.name}-{number}-{int(is_disturbed)}".replace(",", "").replace(" ", "-")
        outcome = measure(jobs, hosts, case, program, is_disturbed, out)
        if options.keep:
            outcome.recording = out.name
            shutil.move(out, Path(options.keep) / out.name)
        else:
            shutil.rmtree(out)
        return outcome

    return compare_rounds(options.rounds, measure_once)


def print_case(outcomes):
    """A line for a case: what the disturbance cost, and what was said of each run."""
    case = outcomes[0].case
    measured_s = next(outcome.measured_s for outcome in outcomes if outcome.is_disturbed)
    words = [
        f"{'with' if of.is_disturbed else 'without'}: {of.cause}"
        + (f" {of.saving_s:.2f} s" if of.cause != "none" else "")
        + f" at {of.confidence:.2f}{' few CPUs' if of.is_short else ''}{'' if of.is_right else ' WRONG'}"
        for of in outcomes
    ]
    print(f"{case.family} {case.name}: costs {measured_s:.2f} s; {'; '.join(words)}", flush=True)


def summary(outcomes):
    """The tables, in numbers."""
    matrix = {
        expected: {cause: sum(of.expected == expected and of.cause == cause for of in outcomes) for cause in CAUSES}
        for expected in CAUSES
    }
    found = [of for of in outcomes if of.expected != "none" and of.is_cause_right]
    ratios = sorted(of.saving_s / of.measured_s for of in found)
    bins = []
    for low, high in BINS:
        inside = [of for of in outcomes if low <= of.confidence < high]
        bins.append({"from": low, "runs": len(inside), "right": sum(of.is_right for of in inside)})
    disturbed = [of for of in outcomes if of.expected != "none"]
    others = [of for of in outcomes if of.expected == "none"]
    return {
        "matrix": matrix,
        "disturbed": {"runs": len(disturbed), "causes_right": sum(of.is_cause_right for of in disturbed)},
        "undisturbed": {
            "runs": len(others),
            "short_of_cpus": sum(of.is_short for of in others),
            "blamed_with_enough_cpus": sum(not of.is_short and of.cause != "none" and of.share > MOST_BLAMED for of in others),
        },
        "saving_to_cost": {
            "runs": len(ratios),
            "median_error": statistics.median(abs(ratio - 1) for ratio in ratios) if ratios else None,
            "within_factor_2": sum(0.5 <= ratio <= 2 for ratio in ratios),
        },
        "confidence": bins,
        "runs": [
            {"recording": of.recording, "expected": of.expected, "measured_s": of.measured_s, "is_short": of.is_short}
            for of in outcomes
            if of.recording
        ],
    }


def print_summary(of):
    """The tables, in words."""
    print("\nexpected \\ found " + "".join(f"{cause:>12}" for cause in CAUSES))
    for expected, row in of["matrix"].items():
        if any(row.values()):
            print(f"{expected:<17}" + "".join(f"{row[cause]:>12}" for cause in CAUSES))
    disturbed, others, saving = of["disturbed"], of["undisturbed"], of["saving_to_cost"]
    print(f"{disturbed['causes_right']} of {disturbed['runs']} disturbed runs have the right cause")
    print(
        f"{others['blamed_with_enough_cpus']} of {others['runs'] - others['short_of_cpus']} undisturbed runs with enough CPUs are "
        f"blamed above 3 %; {others['short_of_cpus']} more were short of CPUs"
    )
    if saving["runs"]:
        print(
            f"savings are off by {saving['median_error']:.0%} in the median; {saving['within_factor_2']} of {saving['runs']} are within "
            "a factor of 2"
        )
    for each in of["confidence"]:
        share = f", {each['right'] / each['runs']:.0%}" if each["runs"] else ""
        print(f"confidence from {each['from']:.1f}: {each['right']} of {each['runs']} right{share}")


def write_figures(figures, options):
    """Writes figures to the file of --json."""
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n")


def selecting_arguments(documentation, repeat, times):
    """A parser with how often each case is run, which cases, and where figures go."""
    parser = arguments_of(documentation)
    parser.add_argument(repeat, type=int, default=times)
    parser.add_argument("--only", action="append", default=[], help="cases whose names have all of these words")
    parser.add_argument("--json", help="a file for the figures")
    return parser


def is_selected(case, options):
    """Whether the name of a case has all words of --only."""
    return all(word in f"{case.family} {case.name}" for word in options.only)


def skip(options, reason):
    """Says that something does not run here; deploy/test counts what the short check skips."""
    print(f"SKIPPED: {reason}", flush=True)
    if not options.check:
        return
    with open(Path(options.target) / "tests-skipped.txt", "a", encoding="utf-8") as file:
        file.write(f"SKIPPED: {reason}\n")


def main():
    parser = selecting_arguments(__doc__, "--rounds", 3)
    parser.add_argument("--keep", help="a folder to leave the recordings in")
    parser.add_argument("--check", action="store_true", help="a few cases that all must be right")
    options = parser.parse_args()
    # Whoever ends it ends the hosts, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    source = ROOT / "tests" / "apps" / "patterns.c"
    cases = [case for case in all_cases() if is_selected(case, options)]
    if options.check:
        options.rounds = 1
        cases = [case for case in all_cases() if f"{case.family} {case.name}" in CHECKED]
        if len(cases) != len(CHECKED):
            raise Failure("CHECKED names a case that there is not")
        for case in cases:
            case.steps = CHECKED_STEPS
    if any(case.links is not None for case in cases) and (lacks := what_hosts_lack()) is not None:
        skip(options, f"truth, cases between hosts: {lacks}")
        cases = [case for case in cases if case.links is None]
    with Jobs(options.target) as jobs, contextlib.ExitStack() as stack:
        needs_hosts = any(case.links is not None for case in cases)
        hosts = stack.enter_context(Hosts(jobs)) if needs_hosts else None
        programs = {}
        outcomes = []
        for case in cases:
            if case.family not in programs:
                programs[case.family] = jobs.compile_program(case.family, source)
            for _ in range(CHECKED_TRIES if options.check else 1):
                found = run_case(jobs, hosts, case, programs[case.family], options)
                print_case(found)
                if all(outcome.is_acceptable for outcome in found):
                    break
            outcomes += found
    if options.check:
        wrong = {of.case.name for of in outcomes if not of.is_acceptable}
        if wrong and (taken := share_of_others()) > MOST_TAKEN:
            reason = f"other programs take {taken:.0%} of the CPUs, and what a disturbance costs cannot be measured then"
            for name in sorted(wrong):
                skip(options, f"truth {name}: {reason}")
            cases = [case for case in cases if case.name not in wrong]
            wrong = set()
        print(f"test result: {'FAILED' if wrong else 'ok'}. {len(cases) - len(wrong)} passed; {len(wrong)} failed")
        sys.exit(1 if wrong else 0)
    if not outcomes:
        raise Failure("no case has these words")
    figures = summary(outcomes)
    print_summary(figures)
    write_figures(figures, options)


if __name__ == "__main__":
    run(main)
