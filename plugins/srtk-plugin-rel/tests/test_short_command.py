"""`srtk link` with SRTK's flags over a service of this plugin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from srtk_framework.cli import main

TOKEN = "not-to-be-seen"


def test_the_flags_of_srtk_reach_the_linker_and_the_token_reaches_no_file(
    service: Callable[[str], Any], index: Path, tmp_path: Path
) -> None:
    here = service("tagme")
    here.token = TOKEN
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"id": "1", "question": "Is Riga large?"}) + "\n", encoding="utf-8")
    out = tmp_path / "linked.jsonl"
    files = ["-i", str(questions), "-o", str(out), "--wikimapper-db", str(index)]
    assert main(["link", *files, "--service", "tagme", "-e", here.url, "--token", TOKEN, "--quiet"]) == 0
    [row] = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert row["question_entities"] == ["Q1773"]
    assert row["spans"] == [[3, 7]]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 3
    assert not [path for path in written if TOKEN.encode() in path.read_bytes()]
