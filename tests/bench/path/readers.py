#!/usr/bin/env python3
"""What the daemon of a run has left to do when other processes read calls for it (`run --hostfile`).

Usage: tests/bench/path/readers.py [--program million] [--rounds 5] [--readers 0,1,2] [--json FILE]

Two ranks have written all their calls to rings, Open MPI, before the daemon begins. Then it records them, on all processors, with
this number of readers on the same host, connected as those of other hosts are. No page is served, so no rows go to the daemon. Rounds are
interleaved.

How to read it. `daemon` is the processor time of the daemon's process alone, in microseconds a call, its start and end included;
`all` is that of the daemon and all readers until the pass over the run begins. `wall` is the time from the start to the end without that
pass. Medians, with the extremes in brackets. On a machine with few processors, all of it shares them: `daemon` is the figure that
says what other hosts would relieve.
"""

import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import FAMILY, PROGRAMS, configuration, fill, read_manifest, start_daemon
from jobs import arguments_of, Failure, Jobs, Rings, ROOT, run, TIMEOUT_S

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LOOK_EVERY_S = 0.01


def processor_s(process):
    """The processor time of a process until now; none once it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


class Watched:
    """The last processor time of a process that was seen."""

    def __init__(self, process):
        self.process, self.seen_s = process, 0.0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.wait(LOOK_EVERY_S):
            self.seen_s = processor_s(self.process) or self.seen_s

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def analysis(readers):
    """The hosts of that many readers."""
    if readers == 0:
        return None
    host = {"name": "localhost", "is_own": True}
    return {"hosts": [host] * readers, "shell": [], "listen": ["127.0.0.1:0"], "own_names": ["127.0.0.1"], "tls": True}


def record(jobs, program, arguments, readers):
    """Microseconds per call: of the daemon, of all, and of wall time."""
    out = jobs.folder / "readers.scope"
    processors = ",".join(str(processor) for processor in sorted(os.sched_getaffinity(0)))
    with Rings() as rings:
        fill(jobs, program, arguments, rings)
        begun = time.monotonic()
        first_line = configuration(out, rings) | {"analysis": analysis(readers)}
        daemon = start_daemon(jobs, first_line, processors)
        with Watched(daemon.pid) as watched:
            try:
                end = json.dumps({"end": {"exit": 0}})
                answer, _ = daemon.communicate(f"{end}\n", timeout=TIMEOUT_S)
            finally:
                daemon.kill()
        elapsed_s = time.monotonic() - begun
    summary = json.loads(answer).get("done")
    if summary is None:
        raise Failure(f"mpiscope record: {answer}")
    manifest = read_manifest(out)
    if sum(manifest["lost"].values()) > 0:
        raise Failure(f"calls were lost: {manifest['missing']}")
    segments = len(manifest["segments"]["calls"])
    if segments < readers:
        raise Failure(f"{readers} readers wrote {segments} segments: not all took part")
    cost = manifest["cost"]
    seconds = [watched.seen_s, cost["agent_cpu_s"], elapsed_s - summary["pass_s"]]
    return [second / cost["calls"] * 1e6 for second in seconds]


def figures(rows):
    """Median and extremes of each column."""
    return [(statistics.median(column), min(column), max(column)) for column in zip(*rows)]


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured [default: 5]")
    parser.add_argument("--program", choices=PROGRAMS, default="million", help="which program [default: million]")
    parser.add_argument("--readers", default="0,1,2", help="how many readers [default: 0,1,2]")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    counts = [int(count) for count in options.readers.split(",")]
    results = {count: [] for count in counts}
    with Jobs(options.target) as jobs:
        program = jobs.compile_program(FAMILY, ROOT / "tests" / "apps" / f"{options.program}.c")
        for _ in range(options.rounds):
            for count in counts:
                results[count].append(record(jobs, program, PROGRAMS[options.program], count))
    print("readers  " + "  ".join(f"{name:<22}" for name in ["daemon, us per call", "all", "wall"]))
    for count, rows in results.items():
        columns = [f"{middle:.3f} [{low:.3f}..{high:.3f}]" for middle, low, high in figures(rows)]
        print(f"{count:<7}  " + "  ".join(f"{column:<22}" for column in columns), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    run(main)
