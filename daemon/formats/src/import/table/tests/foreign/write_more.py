"""write_more.py FOLDER: writes the table of `../written.rs` with Python's module csv, Polars, DuckDB and Arrow."""

import csv
import sys

import duckdb
import polars
import pyarrow.csv

folder = sys.argv[1]
columns = {
    "rank": [0, 1],
    "type": ["send", "receive"],
    "timestamp_ns": [1700000000000000500, 1700000000000000900],
    "source": [0, 0],
    "destination": [1, 1],
    "size": [100, 100],
    "duration_ns": [50, 300],
    "tag": [4, 4],
}
for dialect, suffix in (("excel", "csv"), ("excel-tab", "tsv"), ("unix", "txt")):
    with open(f"{folder}/python_{dialect.replace('-', '_')}.{suffix}", "w", newline="") as file:
        writer = csv.writer(file, dialect=dialect)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
whole = polars.DataFrame(columns)
whole.write_csv(f"{folder}/polars.csv")
# As for Excel in a language with a decimal comma.
floating = whole.with_columns(polars.col("size", "duration_ns", "tag").cast(polars.Float64))
floating.write_csv(
    f"{folder}/polars_excel.csv", separator=";", include_bom=True, line_terminator="\r\n", decimal_comma=True
)
duckdb.sql(f"COPY whole TO '{folder}/duckdb.csv'")
duckdb.sql(f"COPY floating TO '{folder}/duckdb_tabs.tsv' (DELIMITER '\t', FORCE_QUOTE *)")
pyarrow.csv.write_csv(whole.to_arrow(), f"{folder}/arrow.csv")
