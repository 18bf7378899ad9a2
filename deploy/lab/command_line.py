"""The words of `lab`."""

from __future__ import annotations

import argparse

import units

DESCRIPTION = """\
Several hosts on one machine, as MPI programs see a cluster. Each host has its own network, host name, System V shared
memory, /tmp, /run and /dev/shm; all other folders are those of the machine, like homes that a cluster shares. Hosts are
called node1, node2, ... and have the addresses 10.77.0.1, 10.77.0.2, ...; their network reaches nothing else.
Needs root (`lab check` says what else)."""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lab", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str, more: str = "", named: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=about,
            description=about[0].upper() + about[1:] + "." + more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if named:
            added.add_argument("--name", default="lab", help="which lab (default: lab)")
        return added

    _up(command("up", "start a lab", " Whole or not at all; says what is missing."))
    command("down", "end a lab and everything that runs on its hosts", " One that is not up needs no end.")
    _exec(
        command(
            "exec", "run a command on a host", " Environment, input, output, exit status and folder are passed on."
        )
    )
    _agent(
        command(
            "agent",
            "start a command on a host as ssh would",
            " With a fresh environment, by a shell, at home.",
            False,
        )
    )
    _launcher(command("launcher", "print the words that start a program over the hosts, one a line"))
    _link(command("link", "change what links do, from now on or for a while", LINK_MORE))
    command("counters", "print what became of the frames of each link (JSON; shaped labs)")
    _traffic(command("traffic", "send foreign traffic between hosts (iperf3)"))
    command("clocks", "print how far each host's clocks are ahead of the machine's (JSON)")
    status = command("status", "say what is up")
    status.add_argument("--json", action="store_true", help="everything, for programs")
    check = command("check", "say what is missing on this machine", " Exit status 0 when nothing is.", False)
    _features(check)
    plan = commands.add_parser("follow-plan")
    plan.add_argument("--name", required=True)
    plan.add_argument("plan")
    return top


def _features(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--clocks", choices=["skewed"], help="each host's monotonic clock is 1000 s ahead of the one before"
    )
    command.add_argument("--slurm", action="store_true", help="a Slurm cluster on the hosts")
    command.add_argument("--sshd", action="store_true", help="sshd on each host, with keys of the lab")
    command.add_argument(
        "--pids", choices=["own"], help="process numbers of its own on each host; brings --sshd along"
    )
    command.add_argument("--shaped", action="store_true", help="a switch that can delay and lose frames (see link)")


def _up(command: argparse.ArgumentParser) -> None:
    command.add_argument("hosts", metavar="N", type=units.positive, help="how many hosts")
    command.add_argument(
        "--racks", metavar="R", type=units.positive, default=1, help="bridges with hosts, below a spine"
    )
    _features(command)
    command.add_argument(
        "--share",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder below /tmp or /run that all hosts see (repeatable)",
    )


def _exec(command: argparse.ArgumentParser) -> None:
    command.add_argument("--user", help="as this user and not as root")
    command.add_argument("host", metavar="HOST")
    command.add_argument("words", metavar="COMMAND", nargs=argparse.REMAINDER)


def _agent(command: argparse.ArgumentParser) -> None:
    command.usage = "lab agent [--name NAME] [OPTIONS OF ssh OR rsh] [USER@]HOST COMMAND..."
    command.epilog = "Launchers are given the file `agent` of the lab's state folder, which does the same."


def words_of_agent(words: list[str]) -> tuple[str, list[str]]:
    """The lab's name and what is left for its agent: options that this program does not know may come first."""
    if words[:1] == ["--name"] and len(words) > 1:
        return words[1], words[2:]
    return "lab", words


def _launcher(command: argparse.ArgumentParser) -> None:
    command.add_argument("family", choices=["openmpi", "mpich"])
    command.add_argument("-n", dest="ranks", metavar="RANKS", type=units.positive, required=True)
    command.add_argument("--hosts", default="all", metavar="LIST", help="hosts with commas (default: all)")
    command.add_argument("--slots", type=units.positive, metavar="S", help="ranks of a host (default: evenly spread)")
    command.add_argument(
        "--placement",
        default="block",
        metavar="block|cyclic|FILE",
        help="fill a host before the next, deal out in turn, or a file of the launcher's kind (rankfile, machinefile, SLURM_HOSTFILE)",
    )
    command.add_argument("--ssh", action="store_true", help="start by ssh and not by the lab's agent")
    command.add_argument("--slurm", action="store_true", help="by srun (pmix for Open MPI, pmi2 for MPICH)")
    command.add_argument("--program", metavar="FILE", help="the launcher (default: as Debian names the family's)")
    command.add_argument("--preload", metavar="FILE", help="a library for LD_PRELOAD of the ranks")


LINK_MORE = """
FROM and TO are hosts, lists of hosts with commas, or `all`. A later command changes what it names and leaves the
rest of a link as it was. Without --shaped, --rate and --cut of one host (`node2 all`) are all there is, and those of
a rack's uplink (`rack1 spine`)."""


def _link(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="FROM", nargs="?")
    command.add_argument("destination", metavar="TO", nargs="?")
    command.add_argument("--both", action="store_true", help="both directions and not only from FROM to TO")
    command.add_argument("--delay", metavar="2ms", type=units.nanoseconds)
    command.add_argument("--jitter", metavar="1ms", type=units.nanoseconds, help="how much the delay varies")
    command.add_argument(
        "--distribution",
        choices=["uniform", "normal", "pareto"],
        help="how: evenly between less and more, with this deviation, or with a long tail above",
    )
    command.add_argument("--rate", metavar="100mbit", type=units.bits_per_second)
    command.add_argument("--loss", metavar="0.01", type=units.share, help="the share of frames that get lost")
    command.add_argument("--cut", action="store_true", help="nothing passes")
    command.add_argument("--after", metavar="2s", type=units.seconds, help="begin then; the lab does it by itself")
    command.add_argument("--for", dest="during", metavar="5s", type=units.seconds, help="end after this time")
    command.add_argument("--clear", action="store_true", help="make all links plain and forget what was to come")


def _traffic(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="FROM", nargs="?")
    command.add_argument("destination", metavar="TO", nargs="?")
    command.add_argument("--rate", metavar="500mbit", type=units.bits_per_second, help="of all streams together")
    command.add_argument("--seconds", type=units.positive, default=5)
    command.add_argument("--streams", type=units.positive, default=1)
    command.add_argument(
        "--wait", action="store_true", help="until all flows are over; print what they transferred (JSON)"
    )
    command.add_argument("--stop", action="store_true", help="end all flows")
