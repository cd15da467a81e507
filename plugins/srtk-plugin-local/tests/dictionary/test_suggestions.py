"""Suggestions of the dictionary linker."""

from __future__ import annotations

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

GRAPH = MemoryGraph(
    [[name, "in", "x"] for name in ("Amsterdam Airport Schiphol", "Netherlands", "Dutch language", "Riga")]
)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("what is the capital of the netherland", "netherland", "Netherlands"),
        ("Where is Schiphol?", "Schiphol", "Amsterdam Airport Schiphol"),
        ("who speaks the duhtc language", "language", "Dutch language"),
        ("who are you", "", ""),
        ("¸ \u0095", "", ""),
    ],
)
def test_the_entity_with_the_name_most_like_the_text_is_suggested(text: str, mention: str, entity: str) -> None:
    found = [(text[link.start : link.end], link.entity) for link in DictionaryLinker(GRAPH).suggest([text], 3)[0]]
    assert found[:1] == ([(mention, entity)] if entity else [])
