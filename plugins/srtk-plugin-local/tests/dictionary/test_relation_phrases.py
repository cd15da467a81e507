"""Words of a relation are no name one slip away."""

from __future__ import annotations

import attrs
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Schema


class ListingGraph(MemoryGraph):
    """A graph that lists its relations, as snapshots do."""

    def schema(self) -> Schema:
        return attrs.evolve(super().schema(), relations=("code", "country", "iata code"))


GRAPH = ListingGraph(
    [["Inta", "iata code", "INA"], ["Inta", "country", "Russia"], ["Riga", "iata code", "RIX"], ["Perm", "code", "PEE"]]
)


def linked(text: str) -> list[str]:
    return [link.entity for link in DictionaryLinker(GRAPH).link([text])[0]]


def test_the_words_of_a_relation_name_nothing_almost_like_them() -> None:
    assert linked("Which airport has the Iata code 'RIG'?") == []


def test_a_slip_beside_other_words_is_still_found() -> None:
    assert linked("Which airport has Iata?") == ["Inta"]
    assert linked("Which airport has the Iata name?") == ["Inta"]


def test_an_exact_name_beside_a_word_of_a_relation_is_kept() -> None:
    assert linked("What is the code of Inta, and the Inta code?") == ["Inta", "Inta"]
