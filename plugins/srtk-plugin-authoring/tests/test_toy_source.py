"""A toy driver is cut out of the kit of its role, of a third party's role too."""

from __future__ import annotations

import subprocess
import sys

import pytest
from srtk_plugin_authoring.toy_source import toy_of

from srtk_framework.values import SrtkError

KIT = '''"""Checks of rankers; importing this fails."""

from __future__ import annotations

import json
import zlib as packing
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from srtk_framework.values import DriverError
from srtk_framework.values.questions import Question
from srtk_framework.text.folding import fold

from .contract import Ranker

if TYPE_CHECKING:
    from collections.abc import Sequence

raise ImportError("the kit must not be imported")


class RankerConformance:
    """Checks a ranker."""

    def test_it(self, driver):
        assert unused(json)


def unused(value):
    return value


# More than this is refused.
MOST = 3
"""Longest text, in toy words."""
LEAST = 1


def _words(text: str) -> list[str]:
    return fold(text).split()[:MOST]


@attrs.define
class ToyRanker(Ranker):
    """Rank by length."""

    def rank(self, questions: Sequence[Question]) -> list[int]:
        """Count words; "toy" and toys stay apart."""
        if LEAST > MOST:
            raise DriverError("toy: nothing fits")  # a toy says so
        toys = [len(_words(question.text)) for question in questions]
        return [packing.crc32(b"%d" % size) for size in toys]


def asked(text: str) -> Question:
    return Question("1", text)


class ToyRankerCase(RankerConformance):
    """The toy ranker keeps the contract of a ranker."""

    name = "toy"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> ToyRanker:
        return ToyRanker()

    def test_more(self, driver: ToyRanker) -> None:
        assert driver.rank([asked("a b")]) == driver.rank([asked("c d")])
        assert MOST == 3


SUMMARY = "A ranker by length"

RECIPE = """\\
ranker: toy
expander: {use: bfs, ranker: {use: toy, most: 2}}
"""
'''

DRIVER = '''"""A ranker by length."""

from __future__ import annotations

import zlib as packing
from collections.abc import Sequence

import attrs
from acme_ranking.contract import Ranker
from srtk_framework import DriverError, Question
from srtk_framework.text import fold

# More than this is refused.
MOST = 3
"""Longest text, in my-own words."""

LEAST = 1


def _words(text: str) -> list[str]:
    return fold(text).split()[:MOST]


@attrs.define
class MyOwn(Ranker):
    """Rank by length."""

    def rank(self, questions: Sequence[Question]) -> list[int]:
        """Count words; "my-own" and toys stay apart."""
        if LEAST > MOST:
            raise DriverError("my-own: nothing fits")  # a my-own says so
        toys = [len(_words(question.text)) for question in questions]
        return [packing.crc32(b"%d" % size) for size in toys]
'''

TEST = '''"""MyOwn, checked by the conformance test of its role."""

from __future__ import annotations

from pathlib import Path

import pytest
from acme_ranking.kit import RankerConformance
from srtk_framework import Question

from srtk_plugin_my_own.own import MOST, MyOwn


def asked(text: str) -> Question:
    return Question("1", text)


class TestMyOwn(RankerConformance):
    """MyOwn keeps the contract of a ranker."""

    name = "my-own"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> MyOwn:
        return MyOwn()

    def test_more(self, driver: MyOwn) -> None:
        assert driver.rank([asked("a b")]) == driver.rank([asked("c d")])
        assert MOST == 3
'''


@pytest.fixture
def kit(tmp_path, monkeypatch):
    package = tmp_path / "acme_ranking"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('the package must not be imported')\n")
    (package / "kit.py").write_text(KIT)
    monkeypatch.syspath_prepend(tmp_path)
    return package / "kit.py"


def cut():
    return toy_of("acme_ranking.kit", "Ranker", "my-own", "MyOwn", "srtk_plugin_my_own.own")


def test_the_driver_takes_along_all_that_it_uses_and_nothing_else(kit):
    assert cut().driver == DRIVER


def test_the_test_imports_what_the_driver_has(kit):
    assert cut().test == TEST


def test_the_rest_of_the_toy_is_read_too(kit):
    toy = cut()
    assert toy.summary == "A ranker by length"
    assert toy.recipe == "ranker: my-own\nexpander: {use: bfs, ranker: {use: my-own, most: 2}}"
    assert toy.packages == ("acme_ranking", "attrs")


def test_what_is_written_is_formatted(kit, tmp_path):
    (tmp_path / "driver.py").write_text(cut().driver)
    (tmp_path / "test_driver.py").write_text(cut().test)
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "120", "--no-cache", "--check"]
    done = subprocess.run(
        [*command, tmp_path / "driver.py", tmp_path / "test_driver.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_kit_without_a_toy_is_refused(kit):
    kit.write_text("class ToyRanker: pass\nSUMMARY = 'x'\n")
    with pytest.raises(SrtkError, match=r"acme_ranking\.kit has no ToyRankerCase and no RECIPE"):
        cut()


def test_a_kit_that_is_not_installed_is_refused(tmp_path):
    with pytest.raises(SrtkError, match=r"acme_ranking\.kit is not installed"):
        cut()
