from __future__ import annotations

import numpy as np

from srtk_framework.values import EntityMention, Entry, Hit, Triple

ROW = np.array([1.0, 2.0], np.float32)


def test_entries_are_equal_if_their_vectors_are():
    assert Entry("1", "a", vector=ROW) == Entry("1", "a", vector=ROW.copy())
    assert Entry("1", "a", vector=ROW) != Entry("1", "a", vector=ROW + 1)
    assert Entry("1", "a", vector=ROW) != Entry("1", "a")


def test_entries_and_hits_can_stand_in_sets():
    one = Hit(Entry("1", "a", (Triple("a", "r", "b"),), ROW), 0.5)
    assert len({one, Hit(Entry("1", "a", (Triple("a", "r", "b"),), ROW.copy()), 0.5)}) == 1


def test_an_entry_knows_where_its_text_names_entities():
    entry = Entry("1", "Riga is old", mentions=(EntityMention(0, 4, "Q1773"),))
    assert [entry.text[one.start : one.end] for one in entry.mentions] == ["Riga"]
    assert entry != Entry("1", "Riga is old")


def test_a_vector_is_not_printed():
    assert "vector" not in repr(Entry("1", "a", vector=np.zeros(1000, np.float32)))
