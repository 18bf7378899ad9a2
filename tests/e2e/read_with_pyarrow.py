"""read_with_pyarrow.py RECORDING REPORT: reads a recording's Parquet files with pyarrow alone, checks the names and the
order of their columns, and compares their rows and sums with the report's JSON. Prints "the same", or fails."""

import json
import pathlib
import sys

import pyarrow.compute as compute
import pyarrow.parquet as parquet

COLUMNS = {
    "calls": "rank thread function start_ns end_ns peer tag bytes comm site count",
    "messages": "src dst tag comm bytes send_ns recv_ns t_msg_ns late_sender_ns late_receiver_ns inter exact",
    "scheduling": "rank at_ns run_ns wait_ns voluntary involuntary stopped_ns",
}
# Columns that are null where a call has none, or several.
NULLABLE = {"calls": {"peer", "tag", "comm", "site"}, "messages": {"late_receiver_ns"}, "scheduling": set()}

recording = pathlib.Path(sys.argv[1])
report = json.loads(pathlib.Path(sys.argv[2]).read_text())
manifest = json.loads((recording / "manifest.json").read_text())


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


def total(column):
    return compute.sum(column).as_py() or 0


tables = {}
for kind in ("calls", "messages", "windows", "scheduling"):
    files = sorted(str(path.relative_to(recording)) for path in (recording / kind).glob("*.parquet"))
    same(f"files of {kind}", files, [segment["file"] for segment in manifest["segments"][kind]])
    for segment in manifest["segments"][kind]:
        same(segment["file"], parquet.read_metadata(recording / segment["file"]).num_rows, segment["rows"])
    table = tables[kind] = parquet.read_table(recording / kind)
    # A run may be over before anybody looked what the scheduler does.
    if kind in COLUMNS and (files or kind != "scheduling"):
        expected = COLUMNS[kind].split()
        # More may be added, behind.
        same(f"columns of {kind}", table.column_names[: len(expected)], expected)
        for name in set(expected) - NULLABLE[kind]:
            same(f"nulls in {kind}.{name}", table[name].null_count, 0)

calls, messages, windows = tables["calls"], tables["messages"], tables["windows"]
totals = report["totals"]
same("calls", calls.num_rows, totals["calls"])
same("calls and polls", total(calls["count"]), totals["calls"] + totals["polls"])
same("messages", messages.num_rows, totals["messages"])
same("bytes", total(messages["bytes"]), totals["bytes"])
same("inter", total(compute.cast(messages["inter"], "int64")), totals["inter_messages"])
same("calls in windows", total(windows["calls"]), totals["calls"])
same("polls in windows", total(windows["polls"]), totals["polls"])
same("backward calls", total(compute.cast(compute.less(calls["end_ns"], calls["start_ns"]), "int64")), 0)

names = parquet.read_table(recording / "tables" / "functions.parquet").to_pydict()
name_of = dict(zip(names["function"], names["name"]))
counts = calls.group_by("function").aggregate([("count", "sum")]).to_pydict()
found = {name_of[function]: count for function, count in zip(counts["function"], counts["count_sum"])}
same("functions", found, {row["name"]: row["calls"] + row["polls"] for row in report["functions"]})

ranks = parquet.read_table(recording / "tables" / "ranks.parquet").to_pydict()
same("ranks", sorted(ranks["rank"]), list(range(report["job"]["ranks"])))
nodes = parquet.read_table(recording / "tables" / "nodes.parquet").to_pydict()
same("nodes", nodes["name"], [node["name"] for node in report["job"]["nodes"]])
comms = parquet.read_table(recording / "tables" / "communicators.parquet").to_pydict()
used = set(compute.unique(messages["comm"]).to_pylist())
same("communicators without a name", used - set(comms["comm"]), set())
last = {row["rank"]: row for row in tables["scheduling"].to_pylist()}
figures = [{**row, "run_s": row["run_ns"] / 1e9, "wait_s": row["wait_ns"] / 1e9, "stopped_s": row["stopped_ns"] / 1e9} for row in last.values()]
measured = [rank for rank in report["ranks"] if rank["run_s"] is not None]
for name in ("rank", "run_s", "wait_s", "stopped_s", "voluntary", "involuntary"):
    same(f"{name} of scheduling", [row[name] for row in figures], [rank[name] for rank in measured])
print("the same")
