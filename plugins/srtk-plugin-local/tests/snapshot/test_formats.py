"""One table has the formats of input files."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.formats import FORMATS, RDF, Format
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_files import detect

from srtk_framework.values import InputError, Pattern, Triple

NOTATION3 = Format(RDF, (".notation3",), "Notation3", "N3", ("ntriples", "turtle"), ("notation",))


@pytest.mark.parametrize("kind", [kind for kind, form in FORMATS.items() if form.family == RDF])
def test_each_rdf_format_is_the_parsers_format_of_the_same_ending(kind: str) -> None:
    parsed = getattr(ox.RdfFormat, FORMATS[kind].parser)
    assert ox.RdfFormat.from_extension(FORMATS[kind].endings[0].lstrip(".")) == parsed
    assert FORMATS[kind].graphs == (parsed.supports_datasets or kind == "jsonld")


def test_no_ending_and_no_name_is_of_two_formats() -> None:
    words = [word for kind, form in FORMATS.items() for word in (kind, *form.synonyms, *form.endings)]
    assert len(words) == len(set(words))


def test_a_row_of_the_table_is_all_that_a_further_rdf_format_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.notation3"
    file.write_text("@prefix : <http://x/> .\n:a :b :c .\n")
    monkeypatch.setitem(FORMATS, "notation3", NOTATION3)
    assert detect(str(file), None) == ("notation3", None)
    assert detect(str(file), "Notation") == ("notation3", None)
    built = build(BuildSettings((str(file),)), tmp_path / "g")
    graph = LocalGraph(str(built.folder))
    graph.open()
    assert graph.match([Pattern()])[0] == [Triple("http://x/a", "http://x/b", "http://x/c")]
    with pytest.raises(InputError, match=r"use ntriples, .*, notation3"):
        detect(str(file), "nothing")


def test_the_last_ending_of_a_name_tells_the_format_of_a_pipe() -> None:
    assert detect("release.2.nt", None) == ("ntriples", None)
    assert detect("release.2.NT.GZ", None) == ("ntriples", None)
