"""How many processes work at one run, so that each keeps to its part of the limits that hold for all."""

from __future__ import annotations

import os

_VARIABLE = "SRTK_WORKERS"


def part_of_run() -> float:
    """Return this process's part of a limit that holds for a run, such as requests a second or money; 1 if alone."""
    return 1 / int(os.environ.get(_VARIABLE, "1"))


def work_beside(workers: int) -> None:
    """Note that so many processes, this one included, work at the run of this process; call it before drivers open."""
    os.environ[_VARIABLE] = str(workers)
