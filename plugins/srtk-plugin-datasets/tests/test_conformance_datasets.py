"""The drivers of this plugin keep the contract of a Dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_datasets.pathquestion import PathQuestion
from srtk_plugin_datasets.records import Records

from srtk_framework.testing.dataset import DatasetConformance


def lines(path: Path, *texts: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")


class TestMetaQA(DatasetConformance):
    name = "metaqa"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "1-hop/qa_dev.txt", "who made [Dusk]\tAnn", 'what did [Ann "A"] make\tDawn|Dusk')
        lines(tmp_path / "1-hop/qa_dev_qtype.txt", "movie_to_director", "director_to_movie")
        lines(tmp_path / "kb.txt", "Dusk|directed_by|Ann", 'Dawn|directed_by|Ann "A"')
        return MetaQA(path=str(tmp_path), hops=1)

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return MetaQA(path=str(tmp_path / "none"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "1-hop/qa_dev.txt", "who made Dusk\tAnn", "who made [Dusk]\tAnn")
        return driver


class TestPathQuestion(DatasetConformance):
    name = "pathquestion"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "PQ-2H.txt", "nation of ann 's mate ?\tperu(peru/)\tann#spouse#bob#nation#peru#<end>#peru")
        lines(tmp_path / "2H-kb.txt", "ann\tspouse\tbob", "bob\tnation\tperu")
        return PathQuestion(path=str(tmp_path))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return PathQuestion(path=str(tmp_path / "none"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "PQ-2H.txt", "a question")
        return driver


class TestRecords(DatasetConformance):
    name = "jsonl"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "q.jsonl", '{"id": "a", "question": "Who?", "question_entities": ["X"], "level": [1]}')
        return Records(path=str(tmp_path / "q.jsonl"))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return Records(path=str(tmp_path / "none.jsonl"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "q.jsonl", '{"id": "a", "question": "Who?"}', '{"id": "b"')
        return driver
