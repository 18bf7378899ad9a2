#!/usr/bin/env python3
"""What the path from the rings to the finished recording costs: calls per second of processor time, bytes per call.

Usage: tests/bench/path/run.py [--program halo3d] [--rounds 5] [--json FILE]

Three of the test programs, Open MPI, two ranks. Each is measured twice:

    offline  `mpiscope record` is stopped by a signal while the ranks run and write to rings that hold all they do;
             then it goes on, bound to one processor: ring -> agent -> log -> ingest -> analysis -> Parquet. Nothing
             competes with it and nothing is lost, so this is the number to compare versions by.
    live     `mpiscope run`, on processors that are all taken by ranks. What the rings cannot hold is lost.

How to read it. `calls/s` is recorded calls per second of the daemon's processor time (all its threads, start and end
included), median over the rounds, with quartiles in brackets for offline. `wall` is the calls per second of time that
passed from when the daemon went on. `bytes` is what the finished recording takes on disk per call. `lost` is the share
of calls that are missing from a live recording. `with page` is the offline figure when a page is served (and nobody looks at
it), as a share of the one without, measured in turns.
"""

import json
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from jobs import arguments_of, checked, Failure, Jobs, quartiles, Rings, ROOT, run, take_recording, TIMEOUT_S

FAMILY = "openmpi"
# Arguments for two to four million calls.
PROGRAMS = {
    "million": [2_000_000],
    "halo3d": [100_000, 2],
    "cg": [200_000],
}
SLOTS = 1 << 22
WINDOW_NS = 100_000_000
# So long a daemon needs at most from its first word to its first look at the clocks.
SETTLE_S = 0.1


def read_manifest(out):
    """The manifest of a recording that has to be whole, which is then removed."""
    manifest, _, _ = take_recording(out)
    if manifest["state"] != "complete":
        raise Failure(f"the recording is {manifest['state']}")
    return manifest


def fill(jobs, program, arguments, rings):
    """Runs a program whose rings nobody empties."""
    settings = {"MPISCOPE_RINGS": rings.path, "MPISCOPE_RING_SLOTS": SLOTS}
    command = jobs.launch(FAMILY, program, *arguments)
    checked(command, jobs.environment(FAMILY, [jobs.collector], **settings))
    slots, lost = rings.filled()
    if lost > 0 or slots == 0:
        raise Failure(f"{program.name} wrote {slots} slots and lost {lost} calls: SLOTS is too small, or it is off")


def configuration(out, rings, listen=None):
    """The first line that the daemon of a run reads."""
    return {
        "run": "bench",
        "out": str(out),
        "rings": [str(rings.path)],
        "command": ["bench"],
        "window_ns": WINDOW_NS,
        "workers": 1,
        "latency": "t_msg",
        "criteria": None,
        "paused": False,
        "flight": None,
        "hang_after": {"secs": 0, "nanos": 0},
        "keep": None,
        "topology": [],
        "listen": listen,
        "token": "0" * 32,
        "link": None,
        "resume": False,
    }


def start_daemon(jobs, first_line, processors):
    """A daemon that records, on these processors."""
    daemon = subprocess.Popen(
        ["taskset", "-c", processors, jobs.mpiscope, "record"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    daemon.stdin.write(f"{json.dumps(first_line)}\n")
    daemon.stdin.flush()
    ready = json.loads(daemon.stdout.readline() or "{}")
    if "ready" not in ready:
        daemon.kill()
        raise Failure(f"mpiscope record: {ready}")
    return daemon


def record_offline(jobs, program, arguments, listen=None):
    """The manifest of a run that was recorded afterwards, and the seconds that took; with a page when it listens."""
    out = jobs.folder / "offline.scope"
    with Rings() as rings:
        daemon = start_daemon(jobs, configuration(out, rings, listen), "0")
        try:
            # It reads both clocks once, to place what comes later.
            time.sleep(SETTLE_S)
            daemon.send_signal(signal.SIGSTOP)
            fill(jobs, program, arguments, rings)
            begun = time.monotonic()
            daemon.send_signal(signal.SIGCONT)
            end = json.dumps({"end": {"exit": 0}})
            answer, _ = daemon.communicate(f"{end}\n", timeout=TIMEOUT_S)
        finally:
            daemon.kill()
        elapsed_s = time.monotonic() - begun
    if "done" not in json.loads(answer):
        raise Failure(f"mpiscope record: {answer}")
    return read_manifest(out), elapsed_s


def record_live(jobs, program, arguments):
    """The manifest of a real run."""
    out = jobs.folder / "live.scope"
    command = jobs.launch(FAMILY, program, *arguments)
    checked(jobs.recorded(command, out), jobs.environment(FAMILY))
    return read_manifest(out)


def calls_per_cpu_s(cost):
    return cost["calls"] / cost["agent_cpu_s"]


def measure(jobs, name, rounds):
    """The figures of a program."""
    arguments = PROGRAMS[name]
    program = jobs.compile_program(FAMILY, ROOT / "tests" / "apps" / f"{name}.c")
    offline, wall, live, lost_shares, with_page = [], [], [], [], []
    for _ in range(rounds):
        manifest, elapsed_s = record_offline(jobs, program, arguments)
        if sum(manifest["lost"].values()) > 0:
            raise Failure(f"{name}: calls were lost offline: {manifest['missing']}")
        cost = manifest["cost"]
        offline.append(calls_per_cpu_s(cost))
        wall.append(cost["calls"] / elapsed_s)
        page_manifest, _ = record_offline(jobs, program, arguments, "127.0.0.1:0")
        with_page.append(calls_per_cpu_s(page_manifest["cost"]) / offline[-1])
        live_manifest = record_live(jobs, program, arguments)
        live.append(calls_per_cpu_s(live_manifest["cost"]))
        lost = sum(live_manifest["lost"].values())
        lost_shares.append(lost / (lost + live_manifest["cost"]["calls"]))
    return {
        "calls": cost["calls"],
        "messages": manifest["totals"]["messages"],
        "offline_calls_per_cpu_s": quartiles(offline),
        "offline_calls_per_s": statistics.median(wall),
        "with_page_share": quartiles(with_page),
        "bytes_per_call": cost["bytes_on_disk"] / cost["calls"],
        "live_calls_per_cpu_s": statistics.median(live),
        "live_lost_share": statistics.median(lost_shares),
    }


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured [default: 5]")
    parser.add_argument("--program", choices=PROGRAMS, help="only this one")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    results = {}
    print(f"{'':<8} {'calls':>9} {'messages':>9} {'offline, million calls/s':>25} {'wall':>6} {'bytes':>6} ", end="")
    print(f"{'live':>6} {'lost':>6}  with page")
    with Jobs(options.target) as jobs:
        for name in [options.program] if options.program else PROGRAMS:
            row = results[name] = measure(jobs, name, options.rounds)
            low, middle, high = (value / 1e6 for value in row["offline_calls_per_cpu_s"])
            offline = f"{middle:.2f} [{low:.2f}..{high:.2f}]"
            print(f"{name:<8} {row['calls']:>9} {row['messages']:>9} {offline:>25}", end="")
            print(f" {row['offline_calls_per_s'] / 1e6:>6.2f} {row['bytes_per_call']:>6.2f}", end="")
            print(f"  {row['live_calls_per_cpu_s'] / 1e6:>6.2f} {row['live_lost_share']:>6.1%}", end="")
            low, middle, high = row["with_page_share"]
            print(f"  {middle:.2f} [{low:.2f}..{high:.2f}]", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    run(main)
