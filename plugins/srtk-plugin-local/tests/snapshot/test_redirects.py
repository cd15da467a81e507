"""Redirects of a build: the names of pages become aliases of what they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.snapshot.build import Built, build
from srtk_plugin_local.snapshot.build_settings import BuildSettings, fingerprint
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.redirects import name_of

from srtk_framework.cli import main
from srtk_framework.values import InputError

DBR = "http://dbpedia.org/resource/"
LEADS_TO = "<http://dbpedia.org/ontology/wikiPageRedirects>"


def written(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def made(folder: Path, *redirects: str, name: str = "redirects.tsv", **settings: Any) -> tuple[Built, LocalGraph]:
    """Build a graph of two cities and a country with these lines of redirects, and open it."""
    triples = written(folder, "kb.tsv", "Riga\tcapital_of\tLatvia", "Liepāja\tin\tLatvia", "Riga\tfounded\t1201")
    given = BuildSettings((triples,), redirects=(written(folder, name, *redirects),), **settings)
    built = build(given, folder / "graph")
    graph = LocalGraph(str(folder / "graph"))
    graph.open()
    return built, graph


def test_a_page_that_redirects_is_an_alias_of_what_it_leads_to(tmp_path: Path) -> None:
    built, graph = made(tmp_path, "City_of_Riga\tRiga", "Libau\tLiepāja")
    assert graph.find(["city of riga", "Libau"]) == [["Riga"], ["Liepāja"]]
    assert graph.other_names(["Riga", "Liepāja"]) == [["City of Riga"], ["Libau"]]
    assert built.ignored == {}


def test_the_linker_finds_an_entity_by_the_page_that_redirects_to_it(tmp_path: Path) -> None:
    _, graph = made(tmp_path, "Libau\tLiepāja")
    (links,) = DictionaryLinker(graph, fuzzy=1.0).link(["Which country is Libau in?"])
    assert [link.entity for link in links] == ["Liepāja"]


def test_redirects_to_redirects_are_followed_to_the_end(tmp_path: Path) -> None:
    _, graph = made(tmp_path, "Libava\tLibau", "Libau\tLiepaja", "Liepaja\tLiepāja")
    assert graph.find(["Libava", "Libau"]) == [["Liepāja"], ["Liepāja"]]


def test_circles_and_unknown_targets_are_counted_and_told(tmp_path: Path) -> None:
    lines = ("A\tB", "B\tA", "C\tA", "D\tD", "E\tNowhere", "F\tE", "Rīga\tRiga", "Latvia\tRiga")
    built, graph = made(tmp_path, *lines)
    assert built.ignored == {
        "redirects in a circle": 4,
        "redirects of ids with triples": 1,
        "redirects to unknown ids": 2,
    }
    assert graph.find(["Rīga", "Latvia", "A"]) == [["Riga"], ["Latvia"], []]
    notes = [note for report in built.meta.build["reading"] for note in report["notes"]]
    assert notes == ["redirects lead in a circle, such as that of A"]


def test_32_redirects_are_followed_one_after_the_other(tmp_path: Path) -> None:
    lines = ["page 1\tRiga", *(f"page {n}\tpage {n - 1}" for n in range(2, 34))]
    built, graph = made(tmp_path, *lines)
    assert graph.find(["page 1", "page 32", "page 33"]) == [["Riga"], ["Riga"], []]
    assert built.ignored == {"redirects in a circle": 1}


def test_a_circle_is_told_of_the_first_file_of_redirects(tmp_path: Path) -> None:
    triples, first = written(tmp_path, "kb.tsv", "Riga\tin\tLatvia"), written(tmp_path, "1.tsv", "Rīga\tRiga")
    given = BuildSettings((triples,), redirects=(first, written(tmp_path, "2.tsv", "A\tA")))
    reports = build(given, tmp_path / "graph").meta.build["reading"]
    told = {Path(report["name"]).name: report["notes"] for report in reports}
    assert told == {"kb.tsv": [], "1.tsv": ["redirects lead in a circle, such as that of A"], "2.tsv": []}


@pytest.mark.parametrize("line", ["Libau", "Libau\tredirects to\tLiepāja\tnow"])
def test_a_table_of_redirects_has_two_columns_or_three(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"redirects\.tsv:1: "):
        made(tmp_path, line)


def test_names_of_a_page_go_before_what_its_id_spells(tmp_path: Path) -> None:
    labels = written(tmp_path, "labels.tsv", "Riga\tRiga\ten", "/m/0old\tthe old town\ten", "/m/0old\tvecpilsēta\tlv")
    built, graph = made(tmp_path, "/m/0old\tRiga", "/m/0bare\tRiga", labels=(labels,), languages=("en",))
    assert graph.other_names(["Riga"]) == [["the old town"]]
    assert graph.labels(["Riga"]) == ["Riga"]
    assert built.ignored == {}


def test_redirects_of_dbpedia_are_read_as_rdf(tmp_path: Path) -> None:
    lines = [
        f"<{DBR}{page}> {LEADS_TO} <{DBR}{target}> ."
        for page, target in (("Riga,_Latvia", "Riga"), ("AC/DC_(city)", "Riga"), ("L%C3%ADbau", "Libau"))
    ]
    lines.append(f"<{DBR}Libau> {LEADS_TO} <{DBR}Liepāja> .")
    _, graph = made(tmp_path, *lines, name="redirects.nt", prefixes={"": DBR})
    assert graph.other_names(["Riga", "Liepāja"]) == [["AC/DC (city)", "Riga, Latvia"], ["Libau", "Líbau"]]


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("United_States_of_America", "United States of America"),
        ("dbr:AC/DC", "AC/DC"),
        ("Alien:_Covenant", "Alien: Covenant"),
        (f"{DBR}AC/DC_(band)", "AC/DC (band)"),
        ("http://example.org/cities#New_York", "New York"),
        ("http://example.org/cities/New_York/", "New York"),
        ("zz:New_York", "zz:New York"),
        ("Q42", ""),
        ("/m/02mjmr", ""),
        ("m.02mjmr", ""),
        ("http://www.wikidata.org/entity/Q42", ""),
        ("_:b0", ""),
        ("1989", ""),
    ],
)
def test_the_id_of_a_page_spells_its_name(page: str, name: str) -> None:
    assert name_of(page, {"dbr": DBR}) == name


def test_tables_of_redirects_may_have_a_header_and_a_relation(tmp_path: Path) -> None:
    _, graph = made(tmp_path, "page,target", "Libau,Liepāja", name="redirects.csv")
    assert graph.find(["Libau", "page"]) == [["Liepāja"], []]
    (tmp_path / "other").mkdir()
    _, graph = made(tmp_path / "other", "Libau\tredirects to\tLiepāja")
    assert graph.find(["Libau"]) == [["Liepāja"]]


def test_redirects_in_json_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="redirects cannot be read from json"):
        made(tmp_path, "{}", name="redirects.json")


def test_the_command_takes_redirects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triples = written(tmp_path, "kb.tsv", "Riga\tcapital_of\tLatvia")
    redirects = written(tmp_path, "redirects.tsv", "Rīga\tRiga", "Libau\tLiepāja")
    out = str(tmp_path / "graph")
    assert main(["graph", "build", "--out", out, "--redirects", redirects, triples]) == 0
    assert "left out: 1 redirects to unknown ids" in capsys.readouterr().err


def test_a_changed_redirect_builds_the_snapshot_again(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Riga\tcapital_of\tLatvia")
    redirects = written(tmp_path, "redirects.tsv", "Libau\tRiga")
    settings = BuildSettings((triples,), redirects=(redirects,))
    before = fingerprint(settings)
    written(tmp_path, "redirects.tsv", "Libau\tLatvia and more")
    assert fingerprint(settings) != before
    assert fingerprint(BuildSettings((triples,))) != before
