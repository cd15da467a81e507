"""Conformance of corpora: entries with unique ids and something to search, which can be read repeatedly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from srtk_framework.roles import Corpus
from srtk_framework.testing.records import RecordConformance
from srtk_framework.values import EntityMention, Entry, InputError, Triple


class CorpusConformance(RecordConformance):
    """Checks a Corpus; its ``driver`` is opened over some data of the author's own."""

    role = Corpus

    def test_it_reads_entries(self, driver: Any) -> None:
        """``read`` yields at least one entry and nothing else."""
        entries = list(driver.read())
        assert entries, "the corpus reads no entry; give the driver some"
        for entry in entries:
            assert isinstance(entry, Entry), f"read yields {type(entry).__name__}, not Entry"

    def test_fields_have_their_types(self, driver: Any) -> None:
        """``text`` is a text, ``triples`` a tuple of triples, ``vector`` None or a float32 array of one dimension."""
        for entry in driver.read():
            assert isinstance(entry.text, str), f"{entry.id}: text is {entry.text!r}"
            assert isinstance(entry.triples, tuple), f"{entry.id}: triples must be a tuple, not {entry.triples!r}"
            wrong = [triple for triple in entry.triples if not isinstance(triple, Triple)]
            assert not wrong, f"{entry.id}: triples holds {wrong}"
            if entry.vector is not None:
                assert isinstance(entry.vector, np.ndarray), f"{entry.id}: vector is {type(entry.vector).__name__}"
                assert entry.vector.dtype == np.float32, f"{entry.id}: vector is {entry.vector.dtype}"
                assert entry.vector.ndim == 1, f"{entry.id}: vector has {entry.vector.ndim} dimensions"

    def test_mentions_lie_in_the_text_one_after_the_other(self, driver: Any) -> None:
        """``mentions`` is a tuple of spans of the text, each with an entity; they are in order and do not overlap."""
        for entry in driver.read():
            assert isinstance(entry.mentions, tuple), f"{entry.id}: mentions must be a tuple, not {entry.mentions!r}"
            end = 0
            for one in entry.mentions:
                assert isinstance(one, EntityMention), f"{entry.id}: mentions holds {one!r}"
                assert one.entity, f"{entry.id}: {one!r} names no entity"
                assert end <= one.start < one.end <= len(entry.text), f"{entry.id}: {one!r} after {end}"
                end = one.end

    def test_every_entry_has_something_to_search(self, driver: Any) -> None:
        """An entry has a text that is not blank, or a vector."""
        for entry in driver.read():
            assert entry.text.strip() or entry.vector is not None, f"{entry.id} has neither text nor vector"

    def test_what_limits_left_out_is_counted_with_each_entry(self, driver: Any) -> None:
        """``counted`` yields the entries of ``read``, each with numbers under the same names."""
        pairs = list(driver.counted())
        ids = [entry.id for entry, _ in pairs]
        assert ids == [entry.id for entry in driver.read()], "counted and read yield different entries"
        for entry, counts in pairs:
            assert list(counts) == list(pairs[0][1]), f"{entry.id}: counts are {dict(counts)}, others {pairs[0][1]}"
            for name, count in counts.items():
                assert type(count) is int, f"{entry.id}: {name} is {count!r}, which is no count"
                assert count >= 0, f"{entry.id}: {name} is {count}"


@attrs.define(eq=False)
class ToyCorpus(Corpus):
    """Read a document from each line: its id, a tab, its text.

    Attributes:
        path: The file, in UTF-8.
    """

    path: str
    _content: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Hash the file, so that the fingerprint of other documents differs."""
        try:
            content = Path(self.path).read_bytes()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}; name a file of documents") from error
        self._content = hashlib.sha256(content).hexdigest()

    def read(self) -> Iterator[Entry]:
        """Yield an entry for each line."""
        with Path(self.path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield self._entry(line.rstrip("\n"), number)

    def _entry(self, line: str, number: int) -> Entry:
        id_, tab, text = line.partition("\t")
        if not (id_ and tab and text.strip()):
            raise InputError(f"{self.path}:{number}: no id and text; write them with a tab between")
        return Entry(id_, text)

    def fingerprint(self) -> str:
        """Add the hash of the file."""
        return f"{super().fingerprint()} of {self._content}"


class ToyCorpusCase(CorpusConformance):
    """The toy corpus keeps the contract of a corpus."""

    name = "toy"

    def over(self, path: Path, *lines: str) -> ToyCorpus:
        """Write a file and open a corpus over it."""
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        corpus = ToyCorpus(path=str(path))
        corpus.open()
        return corpus

    @pytest.fixture
    def driver(self, tmp_path: Path) -> ToyCorpus:
        """Open a corpus of two documents."""
        return self.over(tmp_path / "documents.tsv", "riga\tRiga is the capital of Latvia.", 'echo\tEcho said "hi".')

    @pytest.fixture
    def broken(self, tmp_path: Path) -> ToyCorpus:
        """Open a corpus whose second line lacks its text."""
        return self.over(tmp_path / "broken.tsv", "riga\tRiga is the capital of Latvia.", "echo")

    @pytest.fixture
    def changed(self, driver: ToyCorpus, tmp_path: Path) -> ToyCorpus:
        """Write another document to the same file, and open a corpus with the same settings."""
        return self.over(tmp_path / "documents.tsv", "tallinn\tTallinn is the capital of Estonia.")

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> ToyCorpus:
        """Return a corpus over a file that does not exist."""
        return ToyCorpus(path=str(tmp_path / "missing.tsv"))

    def test_the_text_is_what_follows_the_tab(self, driver: ToyCorpus) -> None:
        """Quotes and blanks stay."""
        assert [entry.text for entry in driver.read()] == ["Riga is the capital of Latvia.", 'Echo said "hi".']


SUMMARY = "A corpus of one document in each line"

RECIPE = """\
corpus: {use: toy, path: documents.tsv}
"""
