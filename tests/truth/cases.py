"""The cases of tests/truth/run.py: programs, and what disturbs them."""

from dataclasses import dataclass

WORK_US = 5_000
HOSTS = 4
# Patterns whose ranks wait for each other otherwise than in sends, receives and collectives of all.
OTHER_CALLS = ("waits", "persistent", "started", "reduce", "pairs", "neighbors", "fence", "exposed", "polls", "sparse")


@dataclass
class Case:
    """A program and what disturbs it."""

    name: str
    family: str
    ranks: int
    expected: str
    pattern: str
    factor: int = 3
    size: int = 1_000
    slow: int = 1
    computes: bool = False
    steps: int = 400
    # Something beside the program: "loop" shares the first core, "stops" halts rank 1 by signals, "cyclic" deals the ranks out
    # over the hosts, "traffic" is foreign traffic from the first host to the second; other words are those of `lab link`.
    beside: str = ""
    # On the hosts of a lab: what all links are like, in the words of `lab link`, and whether criteria come from `calibrate`.
    links: str | None = None
    is_calibrated: bool = False

    def arguments(self, is_disturbed):
        """Of the test program. Without a disturbance all ranks together have as much work as with it, evenly."""
        work_us, factor = WORK_US, self.factor
        if self.pattern == "root":
            # Rank 0 itself does none of it: the others share what it did for them.
            more = factor / 100
        elif self.slow == -1:
            more = (factor - 1) / 2
        else:
            more = (factor - 1) / self.ranks
        if self.expected != "pattern":
            factor = 1
        elif not is_disturbed:
            work_us, factor = round(WORK_US * (1 + more)), 0 if self.pattern == "root" else 1
        return [self.pattern, self.steps, work_us, factor, self.size, self.slow, int(self.computes)]


def all_cases():
    """All that is run, by what disturbs it."""
    cases = []
    for pattern, ranks in (("ring", 4), ("ring", 16), ("pipeline", 4), ("halo", 8), ("wavefront", 4), ("allreduce", 8), ("groups", 8)):
        for size in (1_000, 100_000):
            cases.append(Case(f"{pattern} of {ranks}, {size} bytes, slow rank", "openmpi", ranks, "pattern", pattern, size=size))
    for pattern in OTHER_CALLS:
        cases.append(Case(f"{pattern} of 8, slow rank", "openmpi", 8, "pattern", pattern))
        cases.append(Case(f"{pattern} of 2, slow rank", "mpich", 2, "pattern", pattern))
    # In a wavefront neither costs anything: its ranks work one after the other.
    for pattern, ranks in (("ring", 8), ("pipeline", 4), ("halo", 8), ("allreduce", 8), ("groups", 8)):
        cases.append(Case(f"{pattern} of {ranks}, graded work", "openmpi", ranks, "pattern", pattern, slow=-1))
        cases.append(Case(f"{pattern} of {ranks}, moving slow rank", "openmpi", ranks, "pattern", pattern, slow=-2))
    for pattern in ("ring", "halo", "allreduce", "waits"):
        cases.append(Case(f"{pattern} of 8, any slow rank", "openmpi", 8, "pattern", pattern, slow=-3))
        cases.append(Case(f"{pattern} of 2, any slow rank", "mpich", 2, "pattern", pattern, slow=-3))
    cases.append(Case("root of 8, serialized", "openmpi", 8, "pattern", "root", factor=50))
    for pattern in ("ring", "pipeline", "halo", "wavefront", "allreduce", "groups"):
        cases.append(Case(f"{pattern} of 2, slow rank", "mpich", 2, "pattern", pattern))
    for pattern in ("ring", "pipeline", "halo", "allreduce"):
        cases.append(Case(f"{pattern} of 2, moving slow rank", "mpich", 2, "pattern", pattern, slow=-2))
    for family in ("openmpi", "mpich"):
        for pattern in ("ring", "pipeline", "halo", "wavefront", "allreduce"):
            cases.append(
                Case(f"{pattern} of 2, busy loop", family, 2, "cpu", pattern, computes=True, beside="loop")
            )
    for pattern in ("ring", "halo", "allreduce"):
        cases.append(Case(f"{pattern} of 4, stopped rank", "openmpi", 4, "cpu", pattern, beside="stops"))
        cases.append(Case(f"{pattern} of 2, stopped rank", "mpich", 2, "cpu", pattern, beside="stops"))
    return cases + lab_cases()


def lab_cases():
    """All that is run on several hosts."""
    slow_link, slow_while = "node1 node2 --both --delay 8ms", "node1 node2 --both --delay 20ms --after 2s --for 2s"
    cases = []
    for family in ("openmpi", "mpich"):
        for pattern in ("ring", "halo", "pipeline", "allreduce", "groups", "dealt"):
            of = f"{pattern} of {HOSTS} hosts"
            # Three workers are the fewest that a master deals to.
            ranks = 2 * HOSTS if pattern == "dealt" else HOSTS
            cases.append(
                Case(f"{of}, slow link", family, ranks, "background", pattern, beside=slow_link, links="", is_calibrated=True)
            )
            cases.append(Case(f"{of}, slow link for a while", family, ranks, "background", pattern, beside=slow_while, links=""))
            # Whoever is slow is dealt fewer tasks.
            if pattern != "dealt":
                cases.append(Case(f"{of}, slow rank", family, HOSTS, "pattern", pattern, links=""))
        for pattern in ("ring", "halo"):
            of = f"{pattern} of {2 * HOSTS} on {HOSTS} hosts"
            cases.append(
                Case(
                    f"{of}, bad placement",
                    family,
                    2 * HOSTS,
                    "mapping",
                    pattern,
                    beside="cyclic",
                    links="all all --delay 10ms",
                    is_calibrated=True,
                )
            )
        for pattern in ("ring", "halo", "pipeline", "wavefront", "allreduce", "dealt"):
            cases.append(
                Case(
                    f"{pattern} of {2 * HOSTS} on {HOSTS} hosts, foreign traffic",
                    family,
                    2 * HOSTS,
                    "background",
                    pattern,
                    size=20_000,
                    beside="traffic",
                    links="all all --rate 100mbit",
                    is_calibrated=True,
                )
            )
    return cases
