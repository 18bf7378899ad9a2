"""read_with_others.py RECORDING REPORT: reads a recording's Parquet files with pyarrow, Polars and DuckDB, each on its own,
and compares what they add up to with each other and with the report's JSON. Prints "the same", or fails."""

import json
import pathlib
import sys

import duckdb
import polars
import pyarrow.parquet

recording = pathlib.Path(sys.argv[1])
report = json.loads(pathlib.Path(sys.argv[2]).read_text())
middle_ns = int(report["job"]["duration_s"] * 5e8)


def with_pyarrow(kind):
    """Rows as Python has them: no arithmetic of a library is trusted here."""
    return pyarrow.parquet.read_table(recording / kind).to_pylist()


def of_rows():
    calls, messages, windows = with_pyarrow("calls"), with_pyarrow("messages"), with_pyarrow("windows")
    names = {row["function"]: row["name"] for row in with_pyarrow("tables/functions.parquet")}
    functions = {}
    for call in calls:
        name = names[call["function"]]
        count, time_ns = functions.get(name, (0, 0))
        functions[name] = (count + call["count"], time_ns + call["end_ns"] - call["start_ns"])
    return {
        "calls": len(calls),
        "made": sum(call["count"] for call in calls),
        "messages": len(messages),
        "bytes": sum(message["bytes"] for message in messages),
        "inter": sum(message["inter"] for message in messages),
        "in windows": sum(row["calls"] for row in windows),
        "before the middle": sum(call["start_ns"] < middle_ns for call in calls),
        "without a peer": sum(call["peer"] is None for call in calls),
        "functions": functions,
    }


def of_polars():
    calls, messages, windows = (
        polars.read_parquet(recording / kind / "*.parquet") for kind in ("calls", "messages", "windows")
    )
    names = polars.read_parquet(recording / "tables" / "functions.parquet")
    grouped = (
        calls.with_columns(time_ns=polars.col("end_ns") - polars.col("start_ns"))
        .group_by("function")
        .agg(polars.col("count").sum(), polars.col("time_ns").sum())
        .join(names, on="function")
    )
    return {
        "calls": calls.height,
        "made": calls["count"].sum(),
        "messages": messages.height,
        "bytes": messages["bytes"].sum(),
        "inter": messages["inter"].sum(),
        "in windows": windows["calls"].sum(),
        "before the middle": calls.filter(polars.col("start_ns") < middle_ns).height,
        "without a peer": calls["peer"].null_count(),
        "functions": {row["name"]: (row["count"], row["time_ns"]) for row in grouped.to_dicts()},
    }


def of_duckdb():
    database = duckdb.connect()
    for kind in ("calls", "messages", "windows"):
        files = str(recording / kind / "*.parquet")
        database.execute(f"create view {kind} as select * from read_parquet('{files}')")
    names = str(recording / "tables" / "functions.parquet")

    def one(what):
        return int(database.execute(f"select {what}").fetchone()[0])

    functions = database.execute(
        "select name, sum(count), sum(end_ns - start_ns) from calls join read_parquet(?) using (function) group by name",
        [names],
    ).fetchall()
    return {
        "calls": one("count(*) from calls"),
        "made": one("sum(count) from calls"),
        "messages": one("count(*) from messages"),
        "bytes": one("sum(bytes) from messages"),
        "inter": one("count(*) from messages where inter"),
        "in windows": one("sum(calls) from windows"),
        "before the middle": one(f"count(*) from calls where start_ns < {middle_ns}"),
        "without a peer": one("count(*) from calls where peer is null"),
        "functions": {name: (int(count), int(time_ns)) for name, count, time_ns in functions},
    }


totals = report["totals"]
figures = {
    "calls": totals["calls"],
    "made": totals["calls"] + totals["polls"],
    "messages": totals["messages"],
    "bytes": totals["bytes"],
    "inter": totals["inter_messages"],
    "in windows": totals["calls"],
}
plain, frame, database = of_rows(), of_polars(), of_duckdb()
for reader, found in (("Polars", frame), ("DuckDB", database)):
    if found != plain:
        different = [what for what in plain if found[what] != plain[what]]
        sys.exit(f"{reader}: {different}: {[(found[what], plain[what]) for what in different]}")
for what, value in figures.items():
    if plain[what] != value:
        sys.exit(f"the report: {what}: {value}, and the rows say {plain[what]}")
functions = {row["name"]: row["calls"] + row["polls"] for row in report["functions"]}
if functions != {name: count for name, (count, _) in plain["functions"].items()}:
    sys.exit(f"the report: functions: {functions}, and the rows say {plain['functions']}")
print("the same")
