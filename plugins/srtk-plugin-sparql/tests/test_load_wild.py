"""``srtk graph load`` of RDF as it is in the wild: encodings, entities, wrong lines, JSON-LD and relative IRIs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.store import META, read_meta

from srtk_framework.values import InputError, Pattern

pytest.importorskip("srtk_plugin_local", reason="srtk-plugin-local reads the files; it is not installed")

XML = (
    '<?xml version="1.0" encoding="{0}"?>\n<!DOCTYPE r [<!ENTITY e \'http://e.org/\'>]>\n'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
    '<rdf:Description rdf:about="&e;a"><e:r>é</e:r></rdf:Description></rdf:RDF>'
)
LINE = '<http://e.org/a> <http://e.org/r> "é" .\n'
KEYS = '{"@context": {"r": "http://e.org/r"}, "@id": "a", "r": "é", "lost": 1}'


@pytest.mark.parametrize(
    ("name", "data", "base"),
    [
        ("mark.nt", b"\xef\xbb\xbf" + LINE.encode(), None),
        ("two_bytes.nt", LINE.encode("utf-16"), None),
        ("latin.rdf", XML.format("ISO-8859-1").encode("latin-1"), None),
        ("two_bytes.rdf", XML.format("UTF-16").encode("utf-16"), None),
        ("wrong_line.nt", f"{LINE}wrong\n".encode(), None),
        ("keys.jsonld", KEYS.encode(), "http://e.org/"),
        ("named_otherwise.csv", f"@prefix e: <http://e.org/> .\n{LINE}".encode(), None),
    ],
)
def test_the_triple_is_read_however_it_is_written(tmp_path: Path, name: str, data: bytes, base: str | None) -> None:
    (tmp_path / name).write_bytes(data)
    load([tmp_path / name], tmp_path / "store", base=base)
    graph = SparqlGraph(str(tmp_path / "store"))
    graph.open()
    with closing(graph):
        [[found]] = graph.match([Pattern("http://e.org/a")])
    assert (found.relation, found.object) == ("http://e.org/r", '"é"')


def test_what_was_skipped_is_kept_in_the_store_and_an_error_where_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(f"{LINE}wrong\n", encoding="utf-8")
    load([tmp_path / "a.nt"], tmp_path / "store")
    assert (tmp_path / "store" / META).is_file()
    [report] = read_meta(tmp_path / "store").reading
    assert report["skipped"]["lines that are not ntriples"][0] == 1
    with pytest.raises(InputError, match=r"a\.nt:2"):
        load([tmp_path / "a.nt"], tmp_path / "store", strict=True)
