"""Indexes that each break one rule of Index."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, publish
from srtk_framework.testing.index import QUERIES, RELATED, IndexConformance, ToyIndex
from srtk_framework.values import DriverError, Entry, Hit, Literal

GOOD = ToyIndex


class Checked(IndexConformance):
    """Tests one of the indexes."""

    under_test: ClassVar[type[ToyIndex]] = GOOD
    dimensions = 8

    @pytest.fixture
    def driver(self, tmp_path: Path, entries: list[Entry]) -> ToyIndex:
        """Open it over what a good index has written."""
        good = GOOD(path=str(tmp_path / "index.jsonl"))
        good.add(entries)
        good.commit()
        return opened(self.under_test(path=good.path))

    @pytest.fixture
    def empty(self, tmp_path: Path) -> ToyIndex:
        """Begin it at another place."""
        index = self.under_test(path=str(tmp_path / "empty.jsonl"))
        index.create()
        return index


def _each_hit(change: Any) -> Any:
    """Change every hit of a search."""

    def method(self: Any, call: Any, items: Any, k: int) -> Any:
        return [[change(hit) for hit in hits] for hits in call(items, k)]

    return method


def _hits(change: Any) -> Any:
    """Change the hits of a search as a whole; the change gets them with the number asked for."""

    def method(self: Any, call: Any, items: Any, k: int) -> Any:
        return [change(hits, k) for hits in call(items, k)]

    return method


def _entities_only(hit: Hit) -> Hit:
    plain = tuple(t._replace(object=str(t.object)) if isinstance(t.object, Literal) else t for t in hit.entry.triples)
    return attrs.evolve(hit, entry=attrs.evolve(hit.entry, triples=plain))


def _without_dated(hits: Any, k: int) -> Any:
    return [hit for hit in hits if hit.entry.id != "dated"]


def _ties_turned(self: Any, call: Any, items: Any, k: int) -> Any:
    by_id = [sorted(hits, key=lambda hit: hit.entry.id, reverse=True) for hits in call(items, 1000)]
    return [sorted(hits, key=lambda hit: -hit.score)[:k] for hits in by_id]


def _one_more(self: Any, call: Any, items: Any, k: int) -> Any:
    return call(items, k + 1 if k == 1 else k)


def _worse_two(self: Any, call: Any, items: Any, k: int) -> Any:
    return [hits[1:] for hits in call(items, 3)] if k == 2 else call(items, k)


def _twice(hits: Any, k: int) -> Any:
    return [hit for hit in hits for _ in range(2)] if k > 100 else hits


def _finds_all(self: Any, call: Any, texts: Any, k: int) -> Any:
    every = sorted(self._entries)[:k]
    some = call(texts, k)
    return [
        hits if text.strip() else [Hit(self._entries[i], 0.0) for i in every]
        for text, hits in zip(texts, some, strict=True)
    ]


def _refuses(refused: Any) -> Any:
    def method(self: Any, call: Any, texts: Any, k: int) -> Any:
        if any(refused(text) for text in texts):
            raise ValueError("this text is not searched")
        return call(texts, k)

    return method


def _any_length(self: Any, call: Any, vectors: Any, k: int) -> Any:
    return call([vector[:8] for vector in vectors], k)


def _needs_entries(self: Any, call: Any, texts: Any, k: int) -> Any:
    if not self._entries:
        raise ValueError("no entries")
    return call(texts, k)


def _claims(self: Any, call: Any) -> bool:
    return False


def _after_commit(self: Any, call: Any, items: Any, k: int) -> Any:
    return call(items, k) if Path(self.path).exists() or not self._entries else [[] for _ in items]


def _minds_order(self: Any, call: Any, items: Any, k: int) -> Any:
    turned = list(self._entries)[:2] == ["dated", "s3"]  # the last entries of the kit came first
    return [hits[:-1] if turned else hits for hits in call(items, k)]


def _forgets_vectors(self: Any, call: Any) -> int:
    kept = dict(self._entries)
    self._entries = {id_: attrs.evolve(entry, vector=None) for id_, entry in kept.items()}
    count = int(call())
    self._entries = kept
    return count


def _commits_at_close(self: Any, call: Any) -> None:
    call()
    if self._entries and Path(self.path).exists():
        self.commit()


def _adds_anew(self: Any, call: Any) -> None:
    call()
    self.reopened = True


def _drops_old(self: Any, call: Any, entries: Any) -> int:
    if vars(self).get("reopened"):
        self._entries = {}
    return int(call(entries))


def _replaces(self: Any, call: Any, entries: Any) -> int:
    for entry in entries:
        if not entry.id:
            raise DriverError("an id is empty")
        self._entries[entry.id] = entry
    return len(entries)


def _kept_under_last_word(self: Any, call: Any, texts: Any, k: int) -> Any:
    memory = vars(self).setdefault("memory", {})
    keys = [(text.split()[-1] if text in RELATED else text, k, len(self._entries)) for text in texts]
    return [memory.setdefault(key, hits) for key, hits in zip(keys, call(texts, k), strict=True)]


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "search"),
    changed(
        GOOD,
        "test_no_answer_depends_on_what_was_asked_before",
        search=_kept_under_last_word,
    ),
    changed(GOOD, "test_hits_are_the_entries_that_were_added", search=_each_hit(_entities_only)),
    changed(GOOD, "test_entries_are_read_by_id", entries=lambda self, call, ids: call(sorted(ids))),
    changed(GOOD, "test_an_entry_is_found_by_what_it_says", search=_hits(_without_dated)),
    changed(GOOD, "test_hits_come_best_first_and_ties_by_id", search=_ties_turned),
    changed(
        GOOD,
        "test_scores_are_finite_and_rounded",
        search=_each_hit(lambda hit: attrs.evolve(hit, score=hit.score / 7)),
    ),
    changed(GOOD, "test_there_are_no_more_hits_than_were_asked_for", search=_one_more),
    changed(GOOD, "test_fewer_hits_are_the_first_of_more", search=_worse_two),
    changed(GOOD, "test_more_hits_than_entries_may_be_asked_for", search=_hits(_twice)),
    changed(GOOD, "test_size_counts_the_entries", size=lambda self, call: call() - vars(self).get("first", False)),
    changed(GOOD, "test_a_text_without_a_word_finds_nothing", search=_finds_all),
    changed(GOOD, "test_a_long_text_is_searched", search=_refuses(lambda text: len(text) > 5000)),
    changed(GOOD, "test_quotes_and_other_scripts_are_searched", search=_refuses(lambda text: text in QUERIES)),
    changed(GOOD, "test_a_search_that_is_not_supported_is_refused", searches_vectors=_claims),
    changed(GOOD, "test_a_vector_of_another_length_is_refused", near=_any_length),
    changed(GOOD, "test_an_empty_index_finds_nothing", search=_needs_entries),
    changed(GOOD, "test_what_was_added_is_found_at_once", search=_after_commit, near=_after_commit),
    changed(GOOD, "test_the_order_of_adding_changes_nothing", search=_minds_order),
    changed(GOOD, "test_what_was_committed_is_found_by_another_driver", commit=_forgets_vectors),
    changed(GOOD, "test_what_was_not_committed_is_lost", close=_commits_at_close),
    changed(GOOD, "test_entries_can_be_added_to_what_was_committed", open=_adds_anew, add=_drops_old),
    changed(GOOD, "test_an_id_that_is_there_is_refused", add=_replaces),
]
publish(__name__, globals(), FAULTS)
