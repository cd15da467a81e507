"""The recipe of SRTK's example, offline: REL on loopback, titles by an index, Wikidata from a record.

``SRTK_RECORD=1 pytest plugins/srtk-plugin-rel/tests/test_recipe.py`` writes the record anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main
from srtk_framework.recipe import load
from srtk_framework.records import checked_lines, with_checksum
from srtk_framework.run import Runner, open_session
from srtk_framework.values import Question

ROOT = Path(__file__).parents[3]
FILES = ROOT / "recipes" / "files"
REPLAY = Path(__file__).parent / "replay"
SOURCE = "http://127.0.0.1/query"
TURTLE = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q1330839 wdt:P131 wd:Q26600 ; wdt:P17 wd:Q17 ; rdfs:label "Hakata-ku"@en .
wd:Q26600 wdt:P17 wd:Q17 ; rdfs:label "Fukuoka"@en .
wd:Q17 rdfs:label "Japan"@en .
wd:P131 rdfs:label "located in the administrative territorial entity"@en .
wd:P17 rdfs:label "country"@en .
"""


def run(out: Path, rel: str, **graph: object) -> list[dict[str, Any]]:
    """Run the recipe, and return its records."""
    assert main(["map", "build", "--out", str(out / "titles.db"), str(FILES / "link-rel-titles.tsv")]) == 0
    changes = [
        f"vars.questions={FILES / 'link-rel-questions.jsonl'}", f"vars.rel={rel}", f"vars.titles={out / 'titles.db'}",
        f"vars.out={out}", "path_scorer.cache=", *(f"knowledge_graph.{name}={value}" for name, value in graph.items()),
    ]  # fmt: skip
    outcome = Runner(load(ROOT / "recipes" / "link-rel.yaml", changes)).run()
    assert outcome.failed == 0
    return [json.loads(line) for line in (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_run_leaves_the_record_that_is_kept_here(service: Callable[[str], Any], tmp_path: Path) -> None:
    load_command = pytest.importorskip("srtk_plugin_sparql.commands.load")
    (tmp_path / "data.ttl").write_text(TURTLE, encoding="utf-8")
    load_command.load([tmp_path / "data.ttl"], tmp_path / "store")
    run(tmp_path, service("rel-lists").url, endpoint=tmp_path / "store", record=tmp_path / "record", names="exact")
    lines = [dict(line) for _, line, _ in checked_lines(tmp_path / "record" / "answers.jsonl", "")]
    lines = [{"source": SOURCE}, *(line for line in lines[1:] if "closed" not in line), {"closed": "then"}]
    if os.environ.get("SRTK_RECORD"):
        written, checksum = "", 0
        for line in lines:
            text, checksum = with_checksum(json.dumps(line, ensure_ascii=False), checksum)
            written += text
        (REPLAY / "answers.jsonl").write_text(written, encoding="utf-8")
    kept = [line for _, line, _ in checked_lines(REPLAY / "answers.jsonl", "")]
    assert sorted(map(repr, kept)) == sorted(map(repr, lines)), "write the record anew with SRTK_RECORD=1"


@pytest.mark.parametrize("form", ["rel-lists", "rel-objects"])
def test_the_example_goes_from_words_to_a_page(service: Callable[[str], Any], tmp_path: Path, form: str) -> None:
    pytest.importorskip("srtk_plugin_wikidata.graph")
    here = service(form)
    (record,) = run(tmp_path, here.url, replay=REPLAY)
    assert here.seen[0][3] == "Where is Hakata Ward?"
    assert record["question_entities"] == ["Q1330839"]
    assert record["spans"] == [[9, 20]]
    assert record["entity_names"] == ["Hakata-ku, Fukuoka"]
    facts = {tuple(triple) for triple in record["triplets"]}
    assert {("Q1330839", "P131", "Q26600"), ("Q1330839", "P17", "Q17")} <= facts
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Hakata" in page
    assert "located in the administrative territorial entity" in page


def test_a_recipe_composes_the_view_over_a_linker_with_a_token_from_the_environment(
    service: Callable[[str], Any], index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = service("wat")
    here.token = "s3cret"
    monkeypatch.setenv("GCUBE_TOKEN", "s3cret")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "srtk: 1\nknowledge_graph: {use: memory, triples: [[Q1773, in, Q211]]}\nexpander: {use: bfs}\nentity_linker:\n"
        f"  use: wikipedia-map\n  index: {{en: {index}}}\n  linker:\n"
        f"    use: wat\n    endpoint: {here.url}\n    token: {{env: GCUBE_TOKEN}}\n    limits: {{per_second: 100}}\n"
    )
    with open_session(str(recipe)) as session:
        (done,) = session.link([Question("1", "Is Riga large?")])
        assert isinstance(done, Question)
        assert [(link.entity, link.start, link.end) for link in done.links] == [("Q1773", 3, 7)]
