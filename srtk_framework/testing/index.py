"""Conformance of indexes: the best entries in order, found as they were added, and kept by a commit alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from srtk_framework.roles import Index
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.sample import SAMPLE
from srtk_framework.testing.values import plain
from srtk_framework.text import fold, words
from srtk_framework.values import DriverError, EntityMention, Entry, Hit, Literal, Triple, rounded

K = 5
SEVERAL = 24
RELATED = ("Riga", "capital", "Latvia Riga")
STRANGE = (
    Entry('s"1', 'Narcissus said "hello" to <b>Echo</b>'),
    Entry("s2", "столица Латвии Рига"),
    Entry("s3", "日本国 東京\n\u202ertl\u202c"),
)
# Texts in the words of ``STRANGE``, with the id that they find first.
QUERIES = {'to whom is "hello" <b>said</b>?': 's"1', "где столица Латвии?": "s2", "日本国 \u202ertl\u202c": "s3"}


def entries_of(dimensions: int) -> list[Entry]:
    """Make the kit's entries: triples of the sample in words, twins, and texts in other scripts, not in order of id.

    Their vectors have norm 1, if there are dimensions.
    """
    triples = [triple for triple in SAMPLE.triples if '"' not in triple.subject][:60]
    found = [Entry(f"t{99 - i}", " ".join(map(str, triple)), (triple,)) for i, triple in enumerate(triples)]
    found += [Entry(f"twin{i}", "Castor and Pollux are twins") for i in (3, 1, 2, 0)]
    founded = (Triple("Riga", "founded", Literal('"1201"')),)
    found += [*STRANGE, Entry("dated", "Riga was founded in 1201", founded, mentions=(EntityMention(0, 4, "Riga"),))]
    if not dimensions:
        return found
    drawn = np.random.default_rng(7).normal(size=(len(found), dimensions))
    rows = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return [attrs.evolve(entry, vector=row) for entry, row in zip(found, rows, strict=True)]


class IndexConformance(BatchConformance):
    """Checks an Index; its ``driver`` is opened over a committed index of ``entries``, ``empty`` over an empty index.

    Attributes:
        dimensions: Length of the vectors that the index takes; 0 where it searches texts only.
    """

    role = Index
    dimensions: ClassVar[int] = 0

    @pytest.fixture
    def entries(self) -> list[Entry]:
        """Return the entries of ``driver``; they have vectors if ``dimensions`` is set."""
        return entries_of(self.dimensions)

    @pytest.fixture
    def empty(self) -> Any:
        """Return a driver over another place, opened by ``create``; the kit closes it."""
        pytest.fail(f"{type(self).__name__} must override the fixture `empty` to return an index made by create()")

    @pytest.fixture
    def texts(self, entries: list[Entry]) -> list[str]:
        """Return texts to search for, all different."""
        own = [entry.text for entry in entries if "twin" not in entry.id]
        asked = ["Castor", "the capital of Latvia", "founded in 1201", "xyzzy", "Echo", "island", "lists letter"]
        return [*asked, *own[::3], *own[1::3], *own[2::3]]

    @pytest.fixture
    def vectors(self, entries: list[Entry]) -> list[npt.NDArray[np.float32]]:
        """Return vectors to search for; none for an index that searches texts only."""
        own = [entry.vector for entry in entries if entry.vector is not None]
        return [vector + np.float32(0.01) for vector in own] + [vector - np.float32(0.01) for vector in own[:8]]

    @pytest.fixture
    def probes(self, texts: list[str], vectors: list[npt.NDArray[np.float32]]) -> Probes:
        """Call ``search`` with ``texts`` and ``near`` with ``vectors``, as far as the index supports them."""

        def listed(driver: Any) -> list[Probe]:
            found = []
            if driver.searches_texts():
                related = [(text,) for text in RELATED]
                found.append(Probe("search", driver.search, [(text,) for text in texts], (K,), related=related))
            if driver.searches_vectors():
                found.append(Probe("near", driver.near, [(vector,) for vector in vectors], (K,)))
            return found

        return listed

    def use(self, driver: Any) -> None:
        """Search for a text."""
        driver.search(["Riga"], K)

    def searches(self, driver: Any, probes: Probes, k: int = K) -> list[tuple[str, Any, list[Hit]]]:
        """Search one by one; return the hook, the text or vector, and the hits."""
        return [
            (probe.name, item, list(probe.method([item], k)[0]))
            for probe in probes(driver)
            for (item,) in probe.items[:SEVERAL]
        ]

    def test_hits_are_the_entries_that_were_added(self, driver: Any, probes: Probes, entries: list[Entry]) -> None:
        """A hit has the id, text, triples and mentions of its entry, literals included."""
        known = {entry.id: entry for entry in entries}
        found = [hit.entry for _, _, hits in self.searches(driver, probes) for hit in hits]
        assert found, "no search finds anything"
        for entry in found:
            assert entry.id in known, f"{entry.id!r} was never added"
            wanted = known[entry.id]
            for part in ("text", "triples", "mentions"):
                assert getattr(entry, part) == getattr(wanted, part), f"{part} of {entry} is not that of {wanted}"
            kinds = [[type(part) for triple in one.triples for part in triple] for one in (entry, wanted)]
            assert kinds[0] == kinds[1], f"{entry.id!r}: a literal is no longer one, or an entity became one"

    def test_an_entry_is_found_by_what_it_says(self, driver: Any, entries: list[Entry]) -> None:
        """An entry is among the hits of its own text, and of its own vector."""
        for entry in entries:
            if "twin" in entry.id:
                continue
            if driver.searches_texts():
                ids = [hit.entry.id for hit in driver.search([entry.text], K)[0]]
                assert entry.id in ids, f"{entry.text!r} finds {ids}, not {entry.id}"
            if driver.searches_vectors() and entry.vector is not None:
                ids = [hit.entry.id for hit in driver.near([entry.vector], K)[0]]
                assert entry.id in ids, f"the vector of {entry.id} finds {ids}"

    def test_hits_come_best_first_and_ties_by_id(self, driver: Any, probes: Probes) -> None:
        """Scores fall; equal scores are ordered by id."""
        for name, item, hits in [*self.searches(driver, probes), *self.searches(driver, probes, 3)]:
            order = [(-hit.score, hit.entry.id) for hit in hits]
            assert order == sorted(order), f"{name} of {item!r} is out of order: {order}"
        if driver.searches_texts():
            ids = [hit.entry.id for hit in driver.search(["Castor and Pollux are twins"], 3)[0]]
            assert ids == ["twin0", "twin1", "twin2"], f"of four equal entries, three are found as {ids}"

    def test_scores_are_finite_and_rounded(self, driver: Any, probes: Probes) -> None:
        """A score is a float with four decimals."""
        for name, item, hits in self.searches(driver, probes):
            for hit in hits:
                assert np.isfinite(hit.score), f"{name} of {item!r}: score {hit.score}"
                assert hit.score == rounded(hit.score), f"{name} of {item!r}: score {hit.score} is not rounded"

    def test_there_are_no_more_hits_than_were_asked_for(self, driver: Any, probes: Probes) -> None:
        """``k`` is the most."""
        for k in (1, 3):
            for name, item, hits in self.searches(driver, probes, k):
                assert len(hits) <= k, f"{name} of {item!r} finds {len(hits)} entries, not {k}"

    def test_fewer_hits_are_the_first_of_more(self, driver: Any, probes: Probes) -> None:
        """The best two of five are the best two."""
        pairs = zip(self.searches(driver, probes, 2), self.searches(driver, probes), strict=True)
        for (name, item, few), (_, _, many) in pairs:
            assert few == many[:2], f"{name} of {item!r}: two hits are not the first of {K}"

    def test_more_hits_than_entries_may_be_asked_for(self, driver: Any, probes: Probes, entries: list[Entry]) -> None:
        """A ``k`` above the size is no error; the vectors of all entries are found, each once."""
        for name, item, hits in self.searches(driver, probes, 10 * len(entries)):
            ids = [hit.entry.id for hit in hits]
            assert len(set(ids)) == len(ids), f"{name} of {item!r} finds an entry twice"
            if name == "near":
                assert sorted(ids) == sorted(entry.id for entry in entries), f"near finds {len(ids)} entries"

    def test_entries_are_read_by_id(self, driver: Any, entries: list[Entry]) -> None:
        """``entries`` returns each entry as it was added, in the order of the ids, and None for an unknown id.

        An index that cannot read entries by id, such as a web search, refuses.
        """
        asked = [entry.id for entry in entries[::-3]]
        try:
            found = list(driver.entries([*asked, "never added"]))
        except DriverError:
            return
        assert found.pop() is None, "an id that was never added has an entry"
        known = {entry.id: entry for entry in entries}
        for id_, entry in zip(asked, found, strict=True):
            assert entry is not None, f"{id_!r} was added, and is not read"
            for part in ("id", "text", "triples", "mentions"):
                assert getattr(entry, part) == getattr(known[id_], part), f"{part} of {entry} is not that of {id_!r}"
            vector = known[id_].vector
            if driver.searches_vectors() and vector is not None:
                assert entry.vector is not None, f"{id_!r} is read without its vector"
                assert np.allclose(entry.vector, vector, atol=1e-6), f"{id_!r} has another vector"

    def test_size_counts_the_entries(self, driver: Any, entries: list[Entry]) -> None:
        """``size`` is the number of entries."""
        assert driver.size() == len(entries), f"size is {driver.size()}, there are {len(entries)} entries"

    def test_a_text_without_a_word_finds_nothing(self, driver: Any) -> None:
        """Empty texts, blanks and marks alone are no error."""
        if driver.searches_texts():
            for text in ("", " \n", "?!", "__"):
                assert not driver.search([text], K)[0], f"{text!r} finds something"

    def test_a_long_text_is_searched(self, driver: Any) -> None:
        """A text longer than any model reads at once is no error."""
        if driver.searches_texts():
            assert len(driver.search(["Castor and Pollux " * 2000], K)) == 1

    def test_quotes_and_other_scripts_are_searched(self, driver: Any) -> None:
        """Texts with quotes, tags and other scripts find the entry that has them."""
        if driver.searches_texts():
            for text, id_ in QUERIES.items():
                ids = [hit.entry.id for hit in driver.search([text], K)[0]]
                assert ids[:1] == [id_], f"{text!r} finds {ids}"

    def test_a_search_that_is_not_supported_is_refused(self, driver: Any) -> None:
        """An index that searches texts only refuses vectors by a sentence, and the other way round."""
        if not driver.searches_texts():
            with pytest.raises(DriverError):
                driver.search(["Riga"], K)
        if not driver.searches_vectors():
            with pytest.raises(DriverError):
                driver.near(np.ones((1, self.dimensions or 4), np.float32), K)
        assert driver.searches_texts() or driver.searches_vectors(), "the index searches neither texts nor vectors"

    def test_a_vector_of_another_length_is_refused(self, driver: Any) -> None:
        """A vector that is longer than the vectors of the index raises DriverError."""
        if driver.searches_vectors():
            with pytest.raises(DriverError):
                driver.near(np.ones((1, self.dimensions + 1), np.float32), K)

    def test_an_empty_index_finds_nothing(self, empty: Any, texts: list[str], vectors: list[Any]) -> None:
        """A search of an index without entries is no error."""
        assert empty.size() == 0, f"the size of an empty index is {empty.size()}"
        if empty.searches_texts():
            assert not any(empty.search(texts, K)), "an empty index finds something"
        if empty.searches_vectors():
            assert not any(empty.near(vectors, K)), "an empty index finds something"
        empty.close()

    def test_what_was_added_is_found_at_once(
        self, empty: Any, entries: list[Entry], driver: Any, probes: Probes
    ) -> None:
        """Entries are found before ``commit``, also between two calls of ``add``; ``add`` returns their number."""
        assert empty.add(entries[:20]) == 20, "add does not return how many it added"
        assert empty.size() == 20, f"after 20 entries were added, the size is {empty.size()}"
        assert any(hits for _, _, hits in self.searches(empty, probes)), "nothing is found before commit"
        empty.add(entries[20:])
        assert plain(self.searches(empty, probes)) == plain(self.searches(driver, probes)), (
            "before commit, searches find something else than after"
        )
        empty.close()

    def test_the_order_of_adding_changes_nothing(
        self, empty: Any, entries: list[Entry], driver: Any, probes: Probes
    ) -> None:
        """Entries that are added in another order, in several calls, are found alike."""
        for start in range(0, len(entries), 16):
            empty.add(entries[::-1][start : start + 16])
        empty.commit()
        assert plain(self.searches(empty, probes)) == plain(self.searches(driver, probes)), (
            "entries that were added in another order are found otherwise"
        )
        empty.close()

    def test_what_was_committed_is_found_by_another_driver(
        self, empty: Any, entries: list[Entry], driver: Any, probes: Probes
    ) -> None:
        """After ``commit`` and ``close``, a driver with the same settings finds all entries."""
        empty.add(entries)
        assert empty.commit() == len(entries), "commit does not return the number of entries"
        empty.close()
        with self.copy_of(empty) as again:
            assert plain(self.searches(again, probes)) == plain(self.searches(driver, probes)), (
                "after commit, another driver finds something else"
            )

    def test_what_was_not_committed_is_lost(self, driver: Any, entries: list[Entry]) -> None:
        """An index that was begun anew and closed before ``commit`` leaves the old one whole."""
        second = attrs.evolve(driver)
        second.create()
        second.add(entries[:3])
        second.close()
        with self.copy_of(driver) as again:
            assert again.size() == len(entries), "what was not committed took the place of what was"

    def test_entries_can_be_added_to_what_was_committed(self, empty: Any, entries: list[Entry]) -> None:
        """An index that was opened, added to and committed holds the old and the new entries."""
        empty.add(entries[:30])
        empty.commit()
        empty.close()
        with self.copy_of(empty) as again:
            again.add(entries[30:])
            again.commit()
        with self.copy_of(empty) as whole:
            assert whole.size() == len(entries), f"after 30 and then all others, the size is {whole.size()}"

    def test_an_id_that_is_there_is_refused(self, empty: Any, entries: list[Entry]) -> None:
        """An id that is in the index, comes twice in a call, or is empty raises DriverError; nothing is added."""
        empty.add(entries[:3])
        one = entries[3]
        for wrong in ([one, entries[0]], [one, one], [one, attrs.evolve(one, id="")]):
            with pytest.raises(DriverError) as caught:
                empty.add(wrong)
            assert str(caught.value).strip(), "an entry was refused without a sentence"
            assert empty.size() == 3, "of a call that was refused, an entry was added"
        empty.close()


@attrs.define(eq=False)
class ToyIndex(Index):
    """Score entries by the share of words that they have in common with a text, and by the product with a vector.

    Attributes:
        path: The JSON Lines file that holds the entries.
    """

    path: str
    _entries: dict[str, Entry] = attrs.field(init=False, factory=dict, repr=False)

    def create(self) -> None:
        """Begin without entries."""
        self._entries = {}

    def open(self) -> None:
        """Read the entries."""
        try:
            lines = Path(self.path).read_text(encoding="utf-8").split("\n")[:-1]
        except OSError as error:
            raise DriverError(f"there is no index at {self.path}; run `srtk index build` with the recipe") from error
        self._entries = {entry.id: entry for entry in map(_read, lines)}

    def add(self, entries: Sequence[Entry]) -> int:
        """Keep the entries in memory."""
        new = {entry.id: entry for entry in entries}
        wrong = [id_ for id_ in new if not id_ or id_ in self._entries]
        if wrong or len(new) < len(entries):
            raise DriverError(f"ids must be new, distinct and not empty; these are not: {wrong or 'one comes twice'}")
        self._entries |= new
        return len(entries)

    def commit(self) -> int:
        """Write the entries beside the file, and put them in its place."""
        part = Path(f"{self.path}.part")
        part.write_text("".join(_line(self._entries[id_]) for id_ in sorted(self._entries)), encoding="utf-8")
        part.replace(self.path)
        return len(self._entries)

    def size(self) -> int:
        """Count the entries."""
        return len(self._entries)

    def entries(self, ids: Sequence[str]) -> Sequence[Entry | None]:
        """Look the entries up."""
        return [self._entries.get(id_) for id_ in ids]

    def search(self, texts: Sequence[str], k: int) -> Sequence[Sequence[Hit]]:
        """Compare the words of texts and entries; entries without a common word are no hits."""
        known = {id_: _words(entry.text) for id_, entry in self._entries.items()}
        found = []
        for mine in map(_words, texts):
            scores = {id_: len(mine & its) / len(mine | its) for id_, its in known.items() if mine & its}
            found.append(self._best(scores, k))
        return found

    def near(self, vectors: npt.NDArray[np.float32] | Sequence[Any], k: int) -> Sequence[Sequence[Hit]]:
        """Multiply each vector with the vector of each entry; entries without a vector are left out."""
        known = {id_: entry.vector for id_, entry in self._entries.items() if entry.vector is not None}
        if any(len(vector) != len(its) for vector in vectors for its in known.values()):
            raise DriverError("the vectors have another length than those of the index; encode them as the entries")
        return [self._best({id_: float(np.sum(its * vector)) for id_, its in known.items()}, k) for vector in vectors]

    def _best(self, scores: dict[str, float], k: int) -> list[Hit]:
        ranked = sorted((-rounded(score), id_) for id_, score in scores.items())
        return [Hit(self._entries[id_], -score) for score, id_ in ranked[:k]]

    def fingerprint(self) -> str:
        """Add a hash of the entries."""
        content = "".join(_line(self._entries[id_]) for id_ in sorted(self._entries))
        return f"{super().fingerprint()} of {hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()}"


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {folded[start:end] for start, end in words(folded)}


def _line(entry: Entry) -> str:
    triples = [[*triple, isinstance(triple.object, Literal)] for triple in entry.triples]
    vector = None if entry.vector is None else entry.vector.tolist()
    return json.dumps([entry.id, entry.text, triples, vector, entry.mentions]) + "\n"


def _read(line: str) -> Entry:
    id_, text, triples, vector, mentions = json.loads(line)
    read = tuple(Triple(s, r, Literal(o) if literal else o) for s, r, o, literal in triples)
    row = None if vector is None else np.array(vector, dtype=np.float32)
    return Entry(id_, text, read, row, tuple(EntityMention(*one) for one in mentions))


class ToyIndexCase(IndexConformance):
    """The toy index keeps the contract of an index."""

    name = "toy"
    dimensions = 8

    def over(self, path: Path, entries: Sequence[Entry]) -> ToyIndex:
        """Fill and commit an index."""
        index = ToyIndex(path=str(path))
        index.create()
        index.add(entries)
        index.commit()
        return index

    @pytest.fixture
    def driver(self, tmp_path: Path, entries: list[Entry]) -> ToyIndex:
        """Fill an index."""
        return self.over(tmp_path / "index.jsonl", entries)

    @pytest.fixture
    def empty(self, tmp_path: Path) -> ToyIndex:
        """Begin an index at another place."""
        index = ToyIndex(path=str(tmp_path / "empty.jsonl"))
        index.create()
        return index

    @pytest.fixture
    def changed(self, driver: ToyIndex, tmp_path: Path, entries: list[Entry]) -> ToyIndex:
        """Fill the same index without its last entry."""
        return self.over(tmp_path / "index.jsonl", entries[:-1])

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> ToyIndex:
        """Return an index that was never filled."""
        return ToyIndex(path=str(tmp_path / "missing.jsonl"))

    def test_the_score_is_the_share_of_common_words(self, driver: ToyIndex) -> None:
        """Two of four different words are a half."""
        empty = ToyIndex(path=f"{driver.path}.other")
        empty.create()
        empty.add([Entry("1", "Riga Latvia")])
        assert empty.search(["Riga Latvia in Europe"], 1)[0][0].score == 0.5


SUMMARY = "An index by common words"

RECIPE = """\
index: {use: toy, path: build/index.jsonl}
"""
