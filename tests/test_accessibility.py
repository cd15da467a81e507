"""The pages that the framework makes, by the rules of axe-core, in light and dark, at a desk and on a phone.

npm install --prefix build/axe axe-core
SRTK_AXE=build/axe/node_modules/axe-core/axe.min.js pytest tests/test_accessibility.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromium import BROWSER, browse
from kit.placed import rows
from service import served
from srtk_plugin_evaluation.metrics import compare
from srtk_plugin_evaluation.report import write_report

from srtk_framework.records import dumps, record_from_retrieval
from srtk_framework.values import Link, Question, Retrieval, Subgraph, Triple

AXE = Path(os.environ.get("SRTK_AXE", "axe.min.js"))
RUN = "axe.run(document).then((found) => [found.passes.length, found.violations.map((v) => [v.id, v.nodes[0].html])])"
LOOKS = [(1280, 900, False), (390, 844, True), (360, 780, True)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not AXE.is_file(), reason="SRTK_AXE names no axe.min.js; npm install axe-core brings it"),
]


def found_by_axe(address: str, tmp_path: Path, ready: Callable[[Any], None] = lambda tab: None) -> list[Any]:
    """Return what axe finds on a page in every look, with its sections open and, on a phone, with its list."""
    found = []
    with browse(address, tmp_path / "profile") as tab:
        for width, height, phone in LOOKS:
            for dark in (False, True):
                tab.look(width, height, dark=dark, phone=phone)
                tab.go(address)
                ready(tab)
                tab.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
                tab.value(f"{AXE.read_text(encoding='utf-8')};0")
                passed, faults = tab.value(RUN)
                assert passed > 20
                found += faults
    return found


def retrieval(number: int, *triples: tuple[str, str, str]) -> Retrieval:
    question = Question(f"q{number}", "Where is a?", (Link("a", 0.9, 9, 10),), answers=("c", "z"))
    graph = Subgraph(tuple(Triple(*t) for t in triples), tuple(1 / n for n in range(1, len(triples) + 1)))
    return Retrieval(question, graph, labels={"a": "Anna"})


ONE = [retrieval(1, ("a", "r", "b"), ("b", "s", "c")), retrieval(2)]
TWO = [retrieval(1, ("a", "r", "b"), ("a", "r", "d")), retrieval(3, ("a", "r", "b"))]


@pytest.mark.parametrize("methods", [1, 2])
def test_axe_finds_nothing_on_the_page_of_subgraphs(tmp_path: Path, methods: int) -> None:
    html = pytest.importorskip("srtk_plugin_files.html")
    other = tmp_path / "other.jsonl"
    other.write_text("".join(dumps(record_from_retrieval(one)) + "\n" for one in TWO), encoding="utf-8")
    page = html.Page(path=str(tmp_path / "page.html"), against=str(other) if methods == 2 else "")
    page.open()
    page.write(ONE)
    page.close()
    assert found_by_axe((tmp_path / "page.html").as_uri(), tmp_path) == []


def test_axe_finds_nothing_on_the_report_of_a_comparison(tmp_path: Path) -> None:
    write_report(compare({"beam": rows(0), "bfs": rows(6)}, fields=["kind"]), tmp_path)
    assert found_by_axe((tmp_path / "report.html").as_uri(), tmp_path) == []


def test_axe_finds_nothing_on_the_page_to_ask(tmp_path: Path) -> None:
    pytest.importorskip("srtk_plugin_serve")
    table = tmp_path / "films.csv"
    rows = "".join(f"Part {i},Ridley Scott,space,2002\n" for i in range(30))
    table.write_text(f"film,directed by,about,year\nAlien,Ridley Scott,space,1979\n{rows}", encoding="utf-8")

    def corrected(tab: Any) -> None:
        tab.wait("document.querySelector('.answer') !== null")
        tab.click("button", "Change what Alien is")
        tab.wait("document.querySelector('.offers button') !== null")
        tab.click("button", "Add an entity")
        tab.click("button", "space")
        tab.wait("document.getElementById('drawn').textContent.includes('added')")

    def refused(tab: Any) -> None:
        tab.wait("document.querySelector('.notice') !== null")
        tab.value("document.getElementById('guard').hidden = false")

    with served(tmp_path, str(table)) as (address, _):
        assert found_by_axe(f"{address}/?q=Who+directed+Alien%3F", tmp_path, corrected) == []
        assert found_by_axe(f"{address}/?q=Who+directed+Zzyzx%3F", tmp_path, refused) == []
        assert found_by_axe(f"{address}/", tmp_path) == []
