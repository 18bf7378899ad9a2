"""Settings of links: rules; later ones override earlier ones, now or for a while."""

from __future__ import annotations

import fcntl
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import network
from processes import in_background, must_run
from state import OWN_FOLDER, SWITCH, Lab, LabError, replace_text

SPINE = "spine"

# The parameters of the kernel's token bucket: enough for its timer, and as much queue as a switch may have.
BUCKET = "burst 128k latency 50ms"

Values = dict[str, Any]


@dataclass
class Request:
    """One `lab link`."""

    sources: str
    destinations: str
    both: bool
    values: Values
    after_s: float | None
    for_s: float | None


@contextmanager
def _rules(lab: Lab) -> Iterator[dict[str, Any]]:
    """The rules, for one command at a time; what was changed is applied and kept."""
    with (lab.folder / "links.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = lab.folder / "links.json"
        book: dict[str, Any] = {"next": 1, "cleared": 0, "rules": []}
        if path.exists():
            book = json.loads(path.read_text())
        before = json.loads(json.dumps(book["rules"]))
        yield book
        _apply(lab, before, book["rules"])
        replace_text(path, json.dumps(book))


def current(lab: Lab) -> list[dict[str, Any]]:
    """The rules that hold now."""
    path = lab.folder / "links.json"
    rules: list[dict[str, Any]] = json.loads(path.read_text())["rules"] if path.exists() else []
    return rules


def clear(lab: Lab) -> None:
    """Makes all links plain, and forgets what was to come."""
    with _rules(lab) as book:
        book["rules"] = []
        book["cleared"] += 1


def link(lab: Lab, request: Request) -> None:
    """Does what was asked for: at once when it is to begin now, the rest in the background."""
    if not request.values:
        raise LabError(
            "nothing is asked of the link: --delay, --jitter, --rate, --loss or --cut, or --clear for all links"
        )
    pairs = _pairs(lab, request)
    refused = _refused(lab, pairs, request.values)
    if refused:
        raise LabError(refused)
    rule = {"pairs": pairs, "values": request.values}
    now = time.time()
    begin = now + request.after_s if request.after_s is not None else None
    end = (begin or now) + request.for_s if request.for_s is not None else None
    with _rules(lab) as book:
        rule["id"] = book["next"]
        book["next"] += 1
        if begin is None:
            book["rules"].append(rule)
        cleared = book["cleared"]
    if begin is not None or end is not None:
        # It runs in the switch's namespaces, where the end of the lab finds it.
        plan = json.dumps({"rule": rule, "begin": begin, "end": end, "cleared": cleared})
        words = [sys.executable, str(OWN_FOLDER / "lab"), "follow-plan", "--name", lab.name, plan]
        in_background([*lab.enter(SWITCH), *words], lab.folder / "log/plans")


def follow_plan(lab: Lab, plan: dict[str, Any]) -> None:
    """What is left of a `lab link` with --after or --for."""
    if plan["begin"] is not None:
        _sleep_until(plan["begin"])
        with _rules(lab) as book:
            if book["cleared"] != plan["cleared"]:
                return
            book["rules"].append(plan["rule"])
    if plan["end"] is not None:
        _sleep_until(plan["end"])
        with _rules(lab) as book:
            book["rules"] = [rule for rule in book["rules"] if rule["id"] != plan["rule"]["id"]]


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


def _pairs(lab: Lab, request: Request) -> list[list[str]]:
    """The directed links that are meant. `all` stays one word where the kernel does it: it acts on a host's interface."""
    ends = [_ends(lab, words) for words in (request.sources, request.destinations)]
    pairs = [[source, destination] for source in ends[0] for destination in ends[1] if source != destination]
    if request.both:
        pairs += [[destination, source] for source, destination in pairs]
    if not pairs:
        raise LabError(f"there is no link from {request.sources} to {request.destinations}")
    return pairs


def _ends(lab: Lab, words: str) -> list[str]:
    if lab.options.shaped:
        return lab.hosts_of(words)
    racks = [f"rack{number}" for number in range(1, lab.options.racks + 1)] if lab.options.racks > 1 else []
    known = ["all", *racks, *([SPINE] if racks else [])]
    ends = words.split(",")
    for end in ends:
        if end not in known:
            lab.number_of(end)
    return ends


def _refused(lab: Lab, pairs: list[list[str]], values: Values) -> str | None:
    """Why the kernel's bridges cannot do it, as they can change one interface at a time."""
    if lab.options.shaped:
        return None
    beyond = [name for name in values if name not in ("cut", "rate_bits")]
    if beyond:
        return (
            f"{' and '.join(name.split('_')[0] for name in beyond)}: for this the lab must be started with --shaped"
        )
    interfaces = {_interface(source, destination) for source, destination in pairs}
    if None in interfaces:
        return (
            "without --shaped a link leads from a host to all, from all to a host, or between a rack and the spine; "
            "between two hosts the lab must be started with --shaped"
        )
    if "cut" in values and any([destination, source] not in pairs for source, destination in pairs):
        return "without --shaped a cut takes both directions: say --both, or start the lab with --shaped"
    return None


def _interface(source: str, destination: str) -> tuple[str, str] | None:
    """The namespace and the interface that a directed link leaves by."""
    if source.startswith("node") and destination == "all":
        return source, "eth0"
    if source == "all" and destination.startswith("node"):
        return SWITCH, f"port{destination.removeprefix('node')}"
    if source.startswith("rack") and destination == SPINE:
        return SWITCH, f"up{source.removeprefix('rack')}"
    if source == SPINE and destination.startswith("rack"):
        return SWITCH, f"down{destination.removeprefix('rack')}"
    return None


def _effective(rules: list[dict[str, Any]]) -> dict[tuple[str, str], Values]:
    """What each directed link does by all rules together."""
    effective: dict[tuple[str, str], Values] = {}
    for rule in rules:
        for source, destination in rule["pairs"]:
            effective.setdefault((source, destination), {}).update(rule["values"])
    return effective


def _apply(lab: Lab, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    if before == after:
        return
    if lab.options.shaped:
        _apply_by_switch(lab, _effective(after))
    else:
        _apply_by_kernel(lab, _effective(before), _effective(after))


def _apply_by_switch(lab: Lab, links: dict[tuple[str, str], Values]) -> None:
    table = ["links"]
    for (source, destination), values in links.items():
        words = [name if value is True else f"{name}={value}" for name, value in values.items()]
        table.append(" ".join([str(lab.number_of(source)), str(lab.number_of(destination)), *words]))
    network.ask_switch(lab, table)


def _apply_by_kernel(lab: Lab, before: dict[tuple[str, str], Values], after: dict[tuple[str, str], Values]) -> None:
    for ends in sorted(before.keys() | after.keys()):
        interface = _interface(*ends)
        assert interface is not None
        host, device = interface
        enter = lab.enter(host, network_only=True)
        was, becomes = before.get(ends, {}), after.get(ends, {})
        rate = becomes.get("rate_bits")
        if rate != was.get("rate_bits"):
            bucket = f"replace dev {device} root tbf rate {rate}bit {BUCKET}" if rate else f"del dev {device} root"
            must_run([*enter, "tc", "qdisc", *bucket.split()], f"change the rate from {ends[0]} to {ends[1]}")
        # Both directions are in the table, and the one on the switch's side stands for both: a cable without its plug.
        if becomes.get("cut") != was.get("cut") and host == SWITCH:
            direction = "down" if becomes.get("cut") else "up"
            must_run(
                [*enter, "ip", "link", "set", device, direction],
                f"set the link from {ends[0]} to {ends[1]} {direction}",
            )
