"""Markdown list of the fixtures and checks of the conformance classes, for ``docs/reference/checks.md``.

``python docs/check_list.py docs/reference/checks.md`` updates the page.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework.roles import ROLES, Role
from srtk_framework.testing.base import Conformance, conformance_of
from srtk_framework.testing.batches import BatchConformance
from srtk_framework.testing.encoder import MatrixConformance
from srtk_framework.testing.records import RecordConformance
from srtk_framework.testing.spans import SpanConformance

START, END = "<!-- checks: written by docs/check_list.py -->", "<!-- end of checks -->"


def check_list(roles: Mapping[str, type[Role]] = ROLES) -> str:
    """Write a section for each conformance class: its fixtures and settings, then its checks, with a line on each."""
    shared = [
        ("Every driver", Conformance),
        ("Drivers that answer batches", BatchConformance),
        ("Corpora and datasets", RecordConformance),
        ("Linkers and mention detectors", SpanConformance),
        ("Encoders of texts and of subgraphs", MatrixConformance),
    ]
    own = [(f"`{name}`", conformance_of(role)) for name, role in roles.items()]
    return "\n\n".join(_section(title, kit) for title, kit in [*shared, *own]) + "\n"


def _section(title: str, kit: type[Conformance]) -> str:
    first = inspect.getdoc(kit)
    lines = [f"### {title}: `{kit.__name__}`", "", _first_line(first)]
    groups = {
        "Fixtures": [(name, value.__doc__) for name, value in vars(kit).items() if _is_fixture(value)],
        "Checks": [(name, value.__doc__) for name, value in vars(kit).items() if name.startswith("test_")],
    }
    for group, members in groups.items():
        if members:
            lines += ["", f"{group}:", "", *(f"- `{name}`: {_first_line(text)}" for name, text in members)]
    return "\n".join(lines)


def _is_fixture(value: Any) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition"


def _first_line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split()).replace("``", "`")


def updated(page: str) -> str:
    """Return a page with the current list between its two marks.

    Raises:
        ValueError: If the page lacks a mark.
    """
    before, found, rest = page.partition(START)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise ValueError(f"the page must have a line {START} and a line {END}")
    return f"{before}{START}\n\n{check_list()}\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")
