"""Suggestions of the dictionary linker and of the linkers around it."""

from __future__ import annotations

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.linker_views.fallback import FallbackLinker
from srtk_plugin_local.linker_views.union import UnionLinker
from srtk_plugin_local.memory import MemoryGraph

GRAPH = MemoryGraph(
    [[name, "in", "x"] for name in ("Amsterdam Airport Schiphol", "Netherlands", "Dutch language", "Riga")]
)
OTHER = MemoryGraph([["Rigas", "in", "x"]])


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("what is the capital of the netherland", "netherland", "Netherlands"),
        ("Where is Schiphol?", "Schiphol", "Amsterdam Airport Schiphol"),
        ("who speaks the duhtc language", "language", "Dutch language"),
        ("who are you", "", ""),
    ],
)
def test_the_entity_with_the_name_most_like_the_text_is_suggested(text: str, mention: str, entity: str) -> None:
    found = [(text[link.start : link.end], link.entity) for link in DictionaryLinker(GRAPH).suggest([text], 3)[0]]
    assert found[:1] == ([(mention, entity)] if entity else [])


def test_a_fallback_suggests_what_the_first_linker_with_suggestions_does() -> None:
    linker = FallbackLinker([DictionaryLinker(OTHER), DictionaryLinker(GRAPH)])
    rows = linker.suggest(["in Rigaa", "in Netherland"], 3)
    assert [[link.entity for link in row] for row in rows] == [["Rigas"], ["Netherlands"]]


def test_a_union_suggests_what_its_linkers_do() -> None:
    linker = UnionLinker([DictionaryLinker(OTHER), DictionaryLinker(GRAPH)])
    assert [link.entity for link in linker.suggest(["in Rigax"], 3)[0]] == ["Riga", "Rigas"]
    assert [link.entity for link in linker.suggest(["in Rigax"], 1)[0]] == ["Riga"]
