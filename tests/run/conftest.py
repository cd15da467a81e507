"""Questions that runs of the toy drivers are made on."""

from __future__ import annotations

import json

import pytest
from kit.toy_runs import TEXTS


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "q.jsonl"
    lines = [{"id": f"q{i}", "question": t, "answer_entities": ["france", "italy"]} for i, t in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
