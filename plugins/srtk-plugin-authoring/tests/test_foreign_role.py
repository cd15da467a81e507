"""``srtk new`` writes drivers of roles that another distribution brings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from srtk_framework.cli import main

ROLE = '''
from abc import abstractmethod
from srtk_framework.roles import Role, hook

class Ranker(Role):
    """Puts texts into an order."""

    role = "ranker"
    kit = "acme_ranking_kit"

    @hook(batch="texts")
    @abstractmethod
    def rank(self, texts):
        """Give each text a number."""
'''

KIT = '''"""Checks of rankers."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from acme_ranking import Ranker


class RankerConformance:
    """Checks a ranker."""

    def test_each_text_gets_a_number(self, driver: Ranker) -> None:
        assert len(driver.rank(["a", "b"])) == 2


@attrs.define(eq=False)
class ToyRanker(Ranker):
    """Rank by length."""

    def rank(self, texts: Sequence[str]) -> list[int]:
        """Count letters."""
        return [len(text) for text in texts]


class ToyRankerCase(RankerConformance):
    """The toy ranker keeps the contract of a ranker."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> ToyRanker:
        """Make a ranker."""
        return ToyRanker()


SUMMARY = "A ranker by length"

RECIPE = """\\
ranker: {use: toy}
"""
'''


@pytest.fixture
def acme(install):
    folder = install("acme-ranking", "acme_ranking", ROLE, {"role": {"ranker": "Ranker"}})
    (folder / "acme_ranking_kit.py").write_text(KIT)
    (folder / "acme_ranking-1.0.dist-info" / "top_level.txt").write_text("acme_ranking\nacme_ranking_kit\n")
    yield folder
    sys.modules.pop("acme_ranking", None)


def test_a_driver_of_a_third_partys_role_is_written_and_passes_its_test(acme, tmp_path):
    assert main(["new", "ranker", "by-size", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "srtk-plugin-by-size"
    project = (folder / "pyproject.toml").read_text()
    assert 'by-size = "srtk_plugin_by_size.ranker:BySizeRanker"' in project
    assert 'dependencies = ["acme-ranking", "attrs>=25.1", "srtk-framework>=' in project
    assert (
        "from acme_ranking_kit import RankerConformance"
        in (folder / "tests" / "test_srtk_plugin_by_size.py").read_text()
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", folder / "pyproject.toml", folder]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": f"{acme}:{folder}", "PATH": ""}, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_an_unknown_role_names_those_of_third_parties(acme, tmp_path, capsys):
    assert main(["new", "rankr", "mine", "--in", str(tmp_path)]) == 2
    assert "Did you mean 'ranker'" in capsys.readouterr().err
