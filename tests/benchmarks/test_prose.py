"""The script that counts habits of style."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import prose


def test_a_pronoun_counts_and_a_numeral_does_not() -> None:
    text = "The first one is kept. One path of two stays. The others are dropped; each other, one by one."
    assert len(re.findall(prose.PRONOUN, text, re.I)) == 2


def test_prose_comes_from_docstrings_and_comments_from_code(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        '"""What is read."""\n# Ten was too few: half of the paths were lost.\nWIDTH = 20  # noqa: X\n',
        encoding="utf-8",
    )
    text, remarks, code = prose.count(tmp_path)
    assert text == "What is read."
    # The docstring and the assignment are lines of code; a directive is no comment.
    assert (remarks, code) == (1, 2)


def test_code_and_tables_of_a_page_are_no_prose() -> None:
    page = "A sentence.\n\n```\nwhat\n```\n\n| what | of which |\n\nSee [this](what.md)."
    assert "what" not in prose.plain(page)
    assert "sentence" in prose.plain(page)
