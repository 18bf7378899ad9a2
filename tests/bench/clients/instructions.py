#!/usr/bin/env python3
"""How many instructions the analysis takes per call without programs, and with programs that subscribe.

Usage: tests/bench/clients/instructions.py [--copies 3] [--rounds 3] [--seconds 20] [--rate 4000] [--ranks 16]
           [--program PATH]

It starts `mpiscope synth --live` under callgrind, which counts the instructions of each thread by itself, and connects
copies of one client: none, subscriptions to messages, to calls of rank 1, to windows, and all three kinds at once. The
cases take turns, round by round.

How to read it. `feed` is what Engine::feed takes per call, with all that it calls: ingest, matching, budget, counts.
`thread` is all of the thread that it runs in: also the recording, the log, and what pages and programs are sent ten times
a second, however many calls there are. Other threads answer programs, and are not in these counts. Figures are medians of
the rounds; `change` compares with no programs, and `spread` is how far rounds without programs are apart. It needs
valgrind and the built program (target/release).

Measured with --seconds 10 (40,016 calls, three copies, three rounds): feed 2,330 instructions per call without programs, and
0.8 to 1.4 % more with them (spread 0.5 %). The thread takes 9,691, and 18 to 19 % more as soon as any program is
connected, whatever it subscribes to (spread 0.9 %).
"""

import argparse
import asyncio
import ctypes
import errno
import re
import statistics
import struct
import subprocess
import tempfile
from pathlib import Path

from run import ROOT, Socket

SUBSCRIPTIONS = {
    "messages": {"what": "messages"},
    "calls of rank 1": {"what": "calls", "ranks": [[1, 1]]},
    "windows": {"what": "windows"},
}
CASES = {"no programs": [], **{name: [name] for name in SUBSCRIPTIONS}, "all of them": list(SUBSCRIPTIONS)}
FEED = "Engine::feed"
# Under callgrind a program takes fifty times as long to start.
CONNECT_S = 60


def hide_kernel_page():
    """Has the kernel refuse prctl(PR_GET_AUXV). It would lead to the page of the kernel's own functions, which valgrind unmaps."""
    refuse, allow, load, equal, give = 0x0005_0000 | errno.EINVAL, 0x7FFF_0000, 0x20, 0x15, 0x06
    prctl, get_auxv, no_new_privileges, set_filter = 157, 0x41555856, 38, 22
    # Number of the system call, then its first argument; each jump is (if so, if not).
    steps = [(load, 0, 0, 0), (equal, 0, 3, prctl), (load, 0, 0, 16), (equal, 0, 1, get_auxv)]
    code = b"".join(struct.pack("HBBI", *step) for step in [*steps, (give, 0, 0, refuse), (give, 0, 0, allow)])
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_filter, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


async def client(host, port, token, subscription):
    """Rows that came until the end."""
    socket = await asyncio.wait_for(Socket.connect(host, port, token), CONNECT_S)
    socket.say(do="hello", protocol=1, name="subscriber", patience_ms=60_000)
    socket.say(do="subscribe", id=1, **subscription)
    batches = 0
    try:
        while (text := await socket.hear()) is not None:
            batches += text.startswith(b'{"kind":"batch"')
            if text.startswith(b'{"kind":"failed"'):
                raise SystemExit(text.decode())
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    return batches


async def clients(case, copies, at):
    subscriptions = [SUBSCRIPTIONS[name] for name in CASES[case]] * copies
    return await asyncio.gather(*(client(*at, subscription) for subscription in subscriptions))


def inclusive(profile):
    """The instructions of one thread: all, and those of the feed with what it calls."""
    command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", profile]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    number = lambda found: int(found[1].replace(",", "")) if found else 0
    row = r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+"
    return (
        number(re.search(row + "PROGRAM TOTALS", listing, re.MULTILINE)),
        number(re.search(row + r"\S*" + FEED, listing, re.MULTILINE)),
    )


def measure(case, options):
    """Instructions per call of the feed and of its thread, calls, and batches that came."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={folder}/out"]
        command += [options.program, "synth", "--pattern", "halo2d", "--ranks", options.ranks]
        command += ["--seconds", options.seconds, "--rate", options.rate, "--live", "127.0.0.1:0"]
        words = [str(word) for word in command]
        running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=hide_kernel_page)
        output, batches = "", []
        try:
            for line in running.stderr:
                output += line
                if found := re.search(r"http://([\d.]+):(\d+)/\?token=(\w+)", line):
                    batches = asyncio.run(clients(case, options.copies, found.groups()))
            running.wait()
        finally:
            running.kill()
        calls = re.search(r"([\d\s]+) calls", output)
        if running.returncode or not calls:
            raise SystemExit(f"mpiscope synth failed:\n{output}")
        calls = int(re.sub(r"\s", "", calls[1]))
        threads = [inclusive(profile) for profile in Path(folder).glob("out*") if profile.stat().st_size]
        thread, feed = max(threads, key=lambda thread: thread[1])
        if feed == 0:
            raise SystemExit(f"no thread has {FEED}")
        return feed / calls, thread / calls, calls, sum(batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=4_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/mpiscope")
    options = parser.parse_args()
    rounds = {case: [] for case in CASES}
    for _ in range(options.rounds):
        for case, measured in rounds.items():
            measured.append(measure(case, options))
    column = lambda case, at: [measured[at] for measured in rounds[case]]
    print(f"{'':16} {'feed':>9} {'change':>8} {'thread':>9} {'change':>8} {'calls':>8} {'batches':>8}")
    before = [statistics.median(column("no programs", at)) for at in (0, 1)]
    for case in CASES:
        feed, thread, calls, batches = (statistics.median(column(case, at)) for at in range(4))
        print(f"{case:16} {feed:9.1f} {feed / before[0] - 1:+8.2%} {thread:9.1f} {thread / before[1] - 1:+8.2%} "
              f"{calls:8.0f} {batches:8.0f}")
    spread = [(max(column("no programs", at)) - min(column("no programs", at))) / before[at] for at in (0, 1)]
    print(f"spread           {'':9} {spread[0]:8.2%} {'':9} {spread[1]:8.2%}")


if __name__ == "__main__":
    main()
