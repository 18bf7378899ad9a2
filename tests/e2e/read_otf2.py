"""read_otf2.py ANCHOR REPORT: reads an OTF2 archive with the format's own Python package, checks that regions nest, that
times rise and that messages have both ends, and compares its figures with the report's JSON. Prints "the same", or fails."""

import collections
import json
import pathlib
import sys

import otf2
from otf2.enums import GroupType, LocationGroupType, Paradigm
from otf2.events import Enter, Leave, MpiCollectiveBegin, MpiCollectiveEnd, MpiRecv, MpiSend

report = json.loads(pathlib.Path(sys.argv[2]).read_text())


def check(holds, what):
    if not holds:
        sys.exit(what)


def same(what, found, expected):
    check(found == expected, f"{what}: found {found!r}, expected {expected!r}")


functions, sends, receives = collections.Counter(), collections.Counter(), collections.Counter()
calls = sent_bytes = received_bytes = collectives = 0
open_regions, last, in_collective = collections.defaultdict(list), collections.defaultdict(int), set()
with otf2.reader.open(sys.argv[1]) as trace:
    definitions = trace.definitions
    same("ticks a second", trace.timer_resolution, 1_000_000_000)
    polls = [attribute for attribute in definitions.attributes if attribute.name == "mpiscope polls"][0]
    groups = [group for group in definitions.location_groups]
    for group in groups:
        check(group.location_group_type == LocationGroupType.PROCESS, f"{group} is no process")
    nodes = {(group.name, group.system_tree_parent.name) for group in groups}
    expected = {(f"MPI Rank {rank}", node["name"]) for node in report["job"]["nodes"] for rank in node["ranks"]}
    same("processes and nodes", nodes, expected)
    for region in definitions.regions:
        check(region.name.startswith("MPI_") and region.paradigm == Paradigm.MPI, f"{region} is not of MPI")
    world = [comm for comm in definitions.comms if comm.name == "MPI_COMM_WORLD"][0]
    same("the size of the world", len(world.group.members), report["job"]["ranks"])
    first_of = {}
    for location in definitions.locations:
        first_of.setdefault(location.group.name, location)
    rank_of = {location: int(location.group.name.split()[-1]) for location in definitions.locations}

    def world_rank(comm, place):
        """Members of groups are places among the locations that communicate, in order of ranks."""
        member = comm.group.members[place]
        return rank_of.get(member, member) if not isinstance(member, int) else member

    for location, event in trace.events:
        check(event.time >= last[location], f"time runs backwards: {location} {event}")
        last[location] = event.time
        inside = open_regions[location]
        if isinstance(event, Enter):
            check(not inside, f"a call within a call: {location} {event}")
            inside.append(event.region)
            calls += 1
            attributes = event.attributes or {}
            functions[event.region.name] += attributes.get(polls, 1)
        elif isinstance(event, Leave):
            check(inside and inside.pop() == event.region, f"left without being entered: {location} {event}")
        else:
            check(inside, f"outside of all calls: {location} {event}")
        if isinstance(event, MpiSend):
            key = (rank_of[location], world_rank(event.communicator, event.receiver), event.msg_tag, event.communicator.name)
            sends[key] += 1
            sent_bytes += event.msg_length
        elif isinstance(event, MpiRecv):
            key = (world_rank(event.communicator, event.sender), rank_of[location], event.msg_tag, event.communicator.name)
            receives[key] += 1
            received_bytes += event.msg_length
        elif isinstance(event, MpiCollectiveBegin):
            check(location not in in_collective, f"a collective within a collective: {location}")
            in_collective.add(location)
        elif isinstance(event, MpiCollectiveEnd):
            check(location in in_collective, f"a collective that did not begin: {location}")
            in_collective.remove(location)
            collectives += 1
check(not any(open_regions.values()) and not in_collective, "something is not left")
totals = report["totals"]
same("calls", calls, totals["calls"])
same("functions", dict(functions), {row["name"]: row["calls"] + row["polls"] for row in report["functions"]})
same("messages without both ends", sends - receives + (receives - sends), collections.Counter())
same("messages", sum(sends.values()), totals["messages"])
same("bytes", (sent_bytes, received_bytes), (totals["bytes"], totals["bytes"]))
print(f"the same, {collectives} collectives")
