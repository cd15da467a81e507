"""The page of checks has the fixtures and checks of today."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from srtk_framework.roles import ROLES
from srtk_framework.testing import conformance_of
from srtk_framework.testing.base import checks_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "checks.md"
_SCRIPT = run_path(str(DOCS / "check_list.py"))
check_list, updated = _SCRIPT["check_list"], _SCRIPT["updated"]


def test_the_page_lists_the_checks_of_today() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert updated(page) == page, f"run `python docs/check_list.py docs/{PAGE.name}`"


def test_every_check_of_every_role_has_a_line() -> None:
    text = check_list()
    checks = {check for role in ROLES.values() for check in checks_of(conformance_of(role))}
    for check in sorted(checks):
        assert f"- `{check}`: " in text
    assert ": \n" not in text


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="must have a line"):
        updated("# Testing\n")
