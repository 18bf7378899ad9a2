"""write.py FOLDER: writes the table of `../written.rs` with pandas, in the ways that pandas is used."""

import sys

import pandas

folder = sys.argv[1]
table = pandas.DataFrame(
    {
        "rank": [0, 1],
        "type": ["send", "receive"],
        "timestamp_ns": [1700000000000000500, 1700000000000000900],
        "source": 0,
        "destination": 1,
        "size": 100,
        "duration_ns": [50, 300],
        "tag": 4,
    }
)
table.to_csv(f"{folder}/pandas.csv", index=False)
table.to_csv(f"{folder}/pandas_index.csv")
# A column of floating-point numbers, as one becomes that ever had an empty cell.
floating = table.astype({"duration_ns": float, "tag": float, "size": float})
floating.to_csv(f"{folder}/pandas_float.tsv", index=False, sep="\t")
floating.to_csv(f"{folder}/pandas_decimal_comma.csv", index=False, sep=";", decimal=",")
