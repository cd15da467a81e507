"""Corpora that each break one rule of Corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, changed, life_faults, publish, replaced
from srtk_framework.testing.corpus import CorpusConformance, ToyCorpus
from srtk_framework.values import EntityMention, Entry, InputError

GOOD = ToyCorpus


class Checked(CorpusConformance):
    """Tests one of the corpora."""

    under_test: ClassVar[type[ToyCorpus]] = GOOD

    @pytest.fixture
    def driver(self, tmp_path: Path) -> ToyCorpus:
        """Open it over three lines."""
        path = tmp_path / "good.tsv"
        path.write_text("riga\tRiga is the capital of Latvia.\necho\tEcho said no word.\nhub\tA catalogue lists.\n")
        return opened(self.under_test(path=str(path)))

    @pytest.fixture
    def broken(self, tmp_path: Path) -> ToyCorpus:
        """Open it over a line without a text."""
        path = tmp_path / "broken.tsv"
        path.write_text("riga\tRiga is the capital of Latvia.\necho\n")
        return opened(self.under_test(path=str(path)))


def _each(**values: Any) -> Any:
    def method(self: Any, call: Any) -> Any:
        for entry in call():
            yield attrs.evolve(entry, **values)

    return method


def _counted(self: Any, call: Any) -> Any:
    self.count = vars(self).get("count", 0) + 1
    for entry in call():
        yield attrs.evolve(entry, text=f"{entry.text} {self.count}")


def _numbered(self: Any, call: Any) -> Any:
    for entry in call():
        yield attrs.evolve(entry, text=f"{entry.text} {vars(self).get('first', False)}")


def _below_nought(self: Any, call: Any) -> Any:
    return ((entry, {"cut": -1}) for entry, _ in call())


def _hash_orders(self: Any, call: Any) -> Any:
    # The hash stands in the text too: a few entries may come in the same order under two seeds.
    ordered = sorted(call(), key=lambda entry: hash(entry.text))
    return (attrs.evolve(entry, text=f"{entry.text} {hash(entry.text)}") for entry in ordered)


def _without_line(self: Any, line: str, number: int) -> Entry:
    if not line.partition("\t")[2]:
        raise InputError("no id and text")
    return ToyCorpus._entry(self, line, number)


FAULTS: list[Fault] = [
    *life_faults(GOOD, "read"),
    changed(GOOD, "test_another_process_gets_the_same_answers", read=_hash_orders),
    changed(GOOD, "test_ids_are_unique_texts", read=_each(id="same")),
    changed(GOOD, "test_fields_have_their_types", read=_each(triples=[])),
    changed(
        GOOD, "test_mentions_lie_in_the_text_one_after_the_other", read=_each(mentions=(EntityMention(0, 999, "riga"),))
    ),
    changed(GOOD, "test_every_entry_has_something_to_search", read=_each(text=" ")),
    changed(GOOD, "test_it_may_be_read_again_and_side_by_side", read=_counted),
    changed(GOOD, "test_what_limits_left_out_is_counted_with_each_entry", counted=_below_nought),
    changed(GOOD, "test_a_second_instance_answers_the_same", read=_numbered),
    replaced(GOOD, "test_a_malformed_record_is_an_input_error_with_its_line", _entry=_without_line),
    changed(
        GOOD,
        "test_it_reads_entries",
        read=lambda self, call: iter(list(call()) if self.path.endswith("broken.tsv") else ()),
    ),
]
publish(__name__, globals(), FAULTS)
