#!/usr/bin/env python3
"""Prints what memcheck says of the collector, and nothing of what it says of others; exits with 1 if there is any.

Usage: own_errors.py REPORT.xml...

An error is the collector's when its code is the innermost that is neither valgrind's nor the C library's. What a process
still has when it ends is none; reports in XML always list it.
"""

import sys
import xml.etree.ElementTree as tree

OURS = "libmpiscope_shim.so"
# What is called to do something for somebody else.
SERVANTS = ("vgpreload", "/libc.so", "/libc-", "/ld-linux")


def innermost(stack):
    """The object that the error lies in, and the frames in words."""
    frames = [(frame.findtext("obj", ""), frame.findtext("fn", "?"), frame.findtext("line", "")) for frame in stack]
    others = (of for of, _, _ in frames if not any(servant in of for servant in SERVANTS))
    return next(others, ""), [f"    {name}:{line} ({of})" for of, name, line in frames]


def errors(path):
    for error in tree.parse(path).getroot().iter("error"):
        stack = error.find("stack")
        of, frames = innermost(stack.findall("frame"))
        if OURS in of and not error.findtext("kind", "").startswith("Leak_"):
            what = error.findtext("what") or error.findtext("xwhat/text")
            yield "\n".join([f"{error.findtext('kind')}: {what}", *frames])


def main():
    found = [error for path in sys.argv[1:] for error in errors(path)]
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
