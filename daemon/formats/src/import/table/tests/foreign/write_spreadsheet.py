"""write_spreadsheet.py FOLDER: writes the table of `../written.rs` as Gnumeric saves a sheet as text. Its numbers are
floating-point, so times are text."""

import subprocess
import sys
import tempfile
from pathlib import Path

import openpyxl

folder = Path(sys.argv[1])
book = openpyxl.Workbook()
book.active.append(["rank", "type", "timestamp_ns", "source", "destination", "size", "duration_ns", "tag"])
book.active.append([0, "send", "1700000000000000500", 0, 1, 100, 50, 4])
book.active.append([1, "receive", "1700000000000000900", 0, 1, 100, 3e2, 4.0])
with tempfile.TemporaryDirectory() as scratch:
    sheet = Path(scratch) / "sheet.xlsx"
    book.save(sheet)
    for name, options in (("gnumeric.csv", "separator=,"), ("gnumeric_tabs.txt", "separator='\t' eol=windows quoting-mode=always")):
        command = ["ssconvert", "-T", "Gnumeric_stf:stf_assistant", "-O", options, sheet, folder / name]
        subprocess.run(command, check=True, capture_output=True)
