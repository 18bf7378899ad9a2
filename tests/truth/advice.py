#!/usr/bin/env python3
"""Whether the advised placement saves what the report predicts, in a second run.

Usage: tests/truth/advice.py [--pairs 10] [--only WORD]... [--json FILE]

Ranks are dealt out over four hosts of a lab (deploy/lab; needs root), whose links are slow. The first run of a pair has the bad
placement; `mpiscope remap` writes a rankfile (Open MPI) or a machine file (MPICH) from its recording. The second run uses that file.
Both times are those of the program's own clock.
"""

import contextlib
import statistics

from cases import lab_cases
from run import (
    Hosts,
    Jobs,
    ROOT,
    checked,
    is_selected,
    measure,
    run,
    selecting_arguments,
    what_hosts_lack,
    write_figures,
)

FORMATS = {"openmpi": "rankfile", "mpich": "machinefile"}


class Advised(Hosts):
    """Hosts on which disturbed runs are placed badly, and others as advised."""

    file = None

    def launch(self, case, program, is_disturbed):
        if is_disturbed or self.file is None:
            return super().launch(case, program, is_disturbed)
        return [*self.launcher(case.family, case.ranks, "--placement", self.file), program, *case.arguments(is_disturbed)]


def pair(jobs, hosts, case, program, number):
    """A run with the bad placement and one as advised: seconds of both, and the predicted saving."""
    out = jobs.folder / f"advice-{case.family}-{case.pattern}-{number}"
    hosts.file = None
    before = measure(jobs, hosts, case, program, True, out)
    hosts.file = jobs.folder / f"{out.name}.{FORMATS[case.family]}"
    hosts.file.write_text(checked([jobs.mpiscope, "remap", out, "--format", FORMATS[case.family]]).stdout)
    after = measure(jobs, hosts, case, program, False, jobs.folder / f"{out.name}-advised")
    return before.length_s, after.length_s, before.saving_s if before.cause == "mapping" else 0.0


def main():
    options = selecting_arguments(__doc__, "--pairs", 10).parse_args()
    if (lacks := what_hosts_lack()) is not None:
        print(f"SKIPPED: {lacks}")
        return
    cases = [case for case in lab_cases() if case.beside == "cyclic" and is_selected(case, options)]
    figures = {}
    with Jobs(options.target) as jobs, contextlib.ExitStack() as stack:
        hosts = stack.enter_context(Advised(jobs))
        for case in cases:
            program = jobs.compile_program(case.family, ROOT / "tests" / "apps" / "patterns.c")
            name = f"{case.family} {case.name}"
            rows = []
            for number in range(options.pairs):
                before_s, after_s, predicted_s = pair(jobs, hosts, case, program, number)
                rows.append({"before_s": before_s, "after_s": after_s, "predicted_s": predicted_s})
            saved = [row["before_s"] - row["after_s"] for row in rows]
            ratios = sorted(row["predicted_s"] / max(of, 1e-9) for row, of in zip(rows, saved))
            print(
                f"{name}: saved {statistics.median(saved):.2f} s [{min(saved):.2f}..{max(saved):.2f}] of "
                f"{statistics.median(row['before_s'] for row in rows):.2f} s; predicted to saved "
                f"{statistics.median(ratios):.2f} [{ratios[0]:.2f}..{ratios[-1]:.2f}] in {len(rows)} pairs",
                flush=True,
            )
            figures[name] = rows
    write_figures(figures, options)


if __name__ == "__main__":
    run(main)
