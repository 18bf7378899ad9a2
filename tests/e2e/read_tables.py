"""read_tables.py RECORDING KIND CSV PARQUET: reads exported tables with Python's csv module and with pyarrow, and compares
them row by row with the recording's own Parquet files and the names in its small tables. Prints "the same", or fails."""

import csv
import json
import pathlib
import sys

import pyarrow.parquet as parquet

recording, kind = pathlib.Path(sys.argv[1]), sys.argv[2]


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


def table(name):
    return parquet.read_table(recording / "tables" / f"{name}.parquet").to_pylist()


manifest = json.loads((recording / "manifest.json").read_text())
rows = [row for segment in manifest["segments"][kind] for row in parquet.read_table(recording / segment["file"]).to_pylist()]
functions = {row["function"]: row["name"] for row in table("functions")}
sites = {row["site"]: row for row in table("sites")}
comms = {row["comm"] for row in table("communicators")}


def comm_name(comm):
    return None if comm not in comms else "MPI_COMM_WORLD" if comm == 0 else f"communicator {comm}"


exported = parquet.read_table(sys.argv[4])
own = parquet.read_table(recording / manifest["segments"][kind][0]["file"]).column_names
names = ["function_name", "comm_name", "site_name"] if kind == "calls" else ["comm_name"]
same("columns", exported.column_names, own + names)
exported = exported.to_pylist()
same("rows", len(exported), len(rows))


def begins(row):
    return row["start_ns"] if kind == "calls" else min(row["send_ns"], row["recv_ns"])


def order(row):
    """By time, and what begins together by all that there is of it."""
    return begins(row), str([row[name] for name in own])


same("the order of time", [begins(row) for row in exported], sorted(begins(row) for row in exported))
pairs = zip(sorted(exported, key=lambda row: order({name: row[name] for name in own})), sorted(rows, key=order))
for found, expected in pairs:
    same("a row", {name: found[name] for name in own}, expected)
    same("the name of a communicator", found["comm_name"], comm_name(found["comm"]))
    if kind == "calls":
        same("the name of a function", found["function_name"], functions[found["function"]])
        site = sites.get(found["site"])
        same("whether a site is named", found["site_name"] is None, site is None)
        if site and site["file"]:
            place = f"{site['file'].rsplit('/', 1)[-1]}:{site['line']} "
            same("the name of a site", found["site_name"][: len(place)], place)

with open(sys.argv[3], newline="", encoding="utf-8") as file:
    text = file.read()
same("carriage returns", text.count("\r"), 0)
lines = list(csv.reader(text.splitlines(keepends=True), strict=True))
same("header", lines[0], own + names)
same("lines", len(lines) - 1, len(exported))


def word(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


for line, row in zip(lines[1:], exported):
    same("a line", line, [word(value) for value in row.values()])
print("the same")
