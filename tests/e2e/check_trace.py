"""check_trace.py TRACE REPORT [MISSING_ARROWS]: checks a trace for Perfetto by the documented form of JSON traces (events
with the fields that their phase requires, slices that nest, arrows that begin and end once, in slices) and compares its
figures with the report's JSON. Prints "sound", or fails."""

import collections
import json
import pathlib
import sys

trace = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
report = json.loads(pathlib.Path(sys.argv[2]).read_text())
missing_arrows = int(sys.argv[3]) if len(sys.argv) > 3 else 0

# What each phase requires, and its type.
REQUIRED = {
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "dur": (int, float), "args": dict},
    "s": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "id": (int, str)},
    "f": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "id": (int, str), "bp": str},
}
ABOUT = {"process_name": "name", "process_sort_index": "sort_index", "thread_name": "name"}


def check(holds, what):
    if not holds:
        sys.exit(what)


def same(what, found, expected):
    check(found == expected, f"{what}: found {found!r}, expected {expected!r}")


def ns(microseconds):
    return round(microseconds * 1000)


check(isinstance(trace, dict) and isinstance(trace.get("traceEvents"), list), "no list of events")
check(trace.get("displayTimeUnit") in ("ms", "ns"), "no unit of time")
by_phase = collections.defaultdict(list)
for event in trace["traceEvents"]:
    check(event.get("ph") in REQUIRED, f"an event of an unknown phase: {event}")
    for field, kind in REQUIRED[event["ph"]].items():
        check(isinstance(event.get(field), kind), f"{field} is missing or wrong: {event}")
    for field in ("ts", "dur"):
        check(event.get(field, 0) >= 0, f"{field} is negative: {event}")
    by_phase[event["ph"]].append(event)

processes, threads = {}, {}
for event in by_phase["M"]:
    check(event["name"] in ABOUT and ABOUT[event["name"]] in event["args"], f"says nothing: {event}")
    if event["name"] == "process_name":
        check(event["pid"] not in processes, f"a process is named twice: {event}")
        processes[event["pid"]] = event["args"]["name"]
    if event["name"] == "thread_name":
        key = event["tid"]
        check(key not in threads, f"a thread is named twice: {event}")
        threads[key] = event["pid"]
node_of = {rank: node["name"] for node in report["job"]["nodes"] for rank in node["ranks"]}
names = sorted(processes.values())
same("processes", names, sorted(f"rank {rank} on {node}" for rank, node in node_of.items()))

slices = collections.defaultdict(list)
for event in by_phase["X"]:
    same(f"process of thread {event['tid']}", threads.get(event["tid"]), event["pid"])
    slices[event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]), event))
for tid, own in slices.items():
    own.sort(key=lambda one: (one[0], -one[1]))
    open_ends = []
    for begin, end, event in own:
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        check(not open_ends or end <= open_ends[-1], f"a slice that does not nest: {event}")
        open_ends.append(end)


def slice_at(event):
    """The slice that holds an arrow's end."""
    import bisect

    own, at = slices[event["tid"]], ns(event["ts"])
    place = bisect.bisect_right(own, at, key=lambda one: one[0]) - 1
    check(place >= 0 and own[place][0] <= at < own[place][1], f"an arrow's end in no slice: {event}")
    return own[place][2]


ends = {phase: {event["id"]: event for event in by_phase[phase]} for phase in "sf"}
for phase in "sf":
    same(f"ends of arrows ({phase}) with numbers of their own", len(ends[phase]), len(by_phase[phase]))
same("arrows that end", set(ends["f"]), set(ends["s"]))
for number, start in ends["s"].items():
    end = ends["f"][number]
    check(ns(start["ts"]) <= ns(end["ts"]), f"an arrow that ends before it begins: {start} {end}")
    same("name and category", (start["name"], start["cat"]), (end["name"], end["cat"]))
    sender, receiver = slice_at(start)["name"], slice_at(end)["name"]
    check("send" in sender.lower() or "Start" in sender, f"{sender} sends no message")
    receives = ("recv", "wait", "test")
    check(any(word in receiver.lower() for word in receives), f"{receiver} receives no message")

totals = report["totals"]
same("slices", len(by_phase["X"]), totals["calls"])
same("arrows", len(ends["s"]) + missing_arrows, totals["messages"])
counts = collections.Counter()
for event in by_phase["X"]:
    counts[event["name"]] += event["args"].get("polls", 1)
same("functions", dict(counts), {row["name"]: row["calls"] + row["polls"] for row in report["functions"]})
print("sound")
