#!/usr/bin/env python3
"""What recording costs on a node that is not the daemon's.

Usage: tests/bench/nodes/run.py [--rounds 5] [--seconds 5] [--json FILE]

Two hosts of a lab (root; see deploy/lab/lab --help): `mpiscope run` is on the first, all ranks are on the second, where an
agent of its own reads their rings and brings what it read over the link between them. Open MPI.

    added     nanoseconds a call: `pingpong` (see tests/bench/overhead) on the second host, bare and recorded in turns;
              half of what is added to a step of two calls a rank, by the median batch and by the mean
    agent     its share of a processor while four ranks make about 100,000 calls a second
    wire      bytes that leave the host for each of those calls, less those of an unrecorded run

Both cores belong to ranks, agent and daemon together, as on a full node. Medians over the rounds, quartiles in brackets.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from hosts import Lab
from jobs import arguments_of, checked, Failure, Jobs, quartiles, ROOT, run, spread, take_recording

RANKS = 4
# Messages a second of each rank; a message is three calls.
RATE = 8_333
BATCHES, STEPS = 200, 1000


class Nodes(Lab):
    """Two hosts: `mpiscope run` is on the first, all ranks are on the second."""

    def __init__(self, jobs):
        super().__init__(jobs, 2)

    def launch(self, ranks):
        return self.launcher("openmpi", ranks, "--hosts", "node2", "--slots", ranks)

    def command(self, words, out):
        """The command on the first host, recorded into a folder if one is named."""
        return self.on("node1", self.jobs.recorded(words, out) if out else words)

    def new_recording(self):
        return self.jobs.folder / f"{time.monotonic_ns()}.scope"

    def sent_bytes(self):
        return int(checked(self.on("node2", ["cat", "/sys/class/net/eth0/statistics/tx_bytes"])).stdout)


def agents():
    """The working processes of agents."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if entry.name.isdigit() and words[1:2] == [b"agent"] and b"MPISCOPE_AGENT_WORKER=1" in (
                (entry / "environ").read_bytes().split(b"\0")
            ):
                found.append(entry)
        except OSError:
            continue
    return found


def processor_s(process):
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def recorded_calls(out):
    """The calls in a recording, which has to have all of them."""
    manifest, calls, lost = take_recording(out)
    if lost:
        raise Failure(f"calls were lost: {manifest['lost']}")
    return calls


def pingpong(lab, program, recorded):
    out = lab.new_recording() if recorded else None
    figures = checked(lab.command([*lab.launch(2), program, BATCHES, STEPS], out)).stdout.split()
    if recorded and recorded_calls(out) < 4 * BATCHES * STEPS:
        raise Failure("calls are missing")
    return float(figures[1]), float(figures[3])


def traffic(lab, program, seconds, recorded):
    """Bytes that left the second host, calls that were recorded, calls a second, and the agent's share of a processor."""
    out = lab.new_recording() if recorded else None
    command = lab.command([*lab.launch(RANKS), program, seconds, RATE], out)
    before = lab.sent_bytes()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    share = None
    if recorded:
        # Well inside the run: neither its start nor its end.
        time.sleep(seconds * 0.3)
        [agent] = agents()
        begin = (time.monotonic(), processor_s(agent))
        time.sleep(seconds * 0.5)
        share = (processor_s(agent) - begin[1]) / (time.monotonic() - begin[0])
    if running.wait(timeout=120) != 0:
        raise Failure("the job failed")
    sent = lab.sent_bytes() - before
    if not recorded:
        return sent, 0, 0, share
    calls = recorded_calls(out)
    return sent, calls, calls / seconds, share


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each measurement [default: 5]")
    parser.add_argument("--seconds", type=int, default=5, help="of the steady traffic [default: 5]")
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    options = parser.parse_args()
    with Jobs(options.target) as jobs, Nodes(jobs) as lab:
        program = jobs.compile_program("openmpi", ROOT / "tests" / "bench" / "overhead" / "pingpong.c")
        steady = jobs.compile_program("openmpi", ROOT / "tests" / "apps" / "linger.c")
        added, added_by_mean = [], []
        bare = pingpong(lab, program, recorded=False)
        for _ in range(options.rounds):
            mean, median = pingpong(lab, program, recorded=True)
            before, bare = bare, pingpong(lab, program, recorded=False)
            added.append((median - (before[1] + bare[1]) / 2) / 4)
            added_by_mean.append((mean - (before[0] + bare[0]) / 2) / 4)
        rates, shares, wire = [], [], []
        for _ in range(options.rounds):
            plain = traffic(lab, steady, options.seconds, recorded=False)[0]
            sent, calls, rate, share = traffic(lab, steady, options.seconds, recorded=True)
            rates.append(rate / 1e3)
            shares.append(share * 100)
            wire.append((sent - plain) / calls)
    figures = {
        "added_ns_per_call": quartiles(added),
        "added_by_mean_ns_per_call": quartiles(added_by_mean),
        "thousand_calls_per_s": quartiles(rates),
        "agent_percent_of_a_core": quartiles(shares),
        "bytes_per_call_on_the_wire": quartiles(wire),
    }
    print(f"added to a call       {spread(figures['added_ns_per_call'], 1, 'ns')}")
    print(f"  by the mean         {spread(figures['added_by_mean_ns_per_call'], 1, 'ns')}")
    print(f"steady traffic        {spread(figures['thousand_calls_per_s'], 1, 'thousand calls a second')}")
    print(f"agent                 {spread(figures['agent_percent_of_a_core'], 1, '% of a core')}")
    print(f"wire                  {spread(figures['bytes_per_call_on_the_wire'], 2, 'bytes a call')}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    run(main)
