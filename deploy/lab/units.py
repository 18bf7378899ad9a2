"""Durations, rates and shares as people write them on a command line."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

DURATIONS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
RATES = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}


def _number_and_unit(text: str, units: dict[str, int], what: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]+)", text.lower())
    if not match or match[2] not in units:
        raise ArgumentTypeError(
            f"{text!r} is no {what}: a number and one of {', '.join(units)}, as in {example(what)}"
        )
    return round(float(match[1]) * units[match[2]])


def example(what: str) -> str:
    return "2ms" if what == "duration" else "100mbit"


def nanoseconds(text: str) -> int:
    return _number_and_unit(text, DURATIONS_NS, "duration")


def seconds(text: str) -> float:
    return nanoseconds(text) / 1e9


def bits_per_second(text: str) -> int:
    rate = _number_and_unit(text, RATES, "rate")
    if rate == 0:
        raise ArgumentTypeError("a rate of 0 lets nothing through: --cut does that")
    return rate


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is no share: a number between 0 and 1")
    return value


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)
