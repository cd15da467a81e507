"""The corpus ``fused``: subgraphs with a vector of both their triples and their text."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from srtk_plugin_index.indexes.entry_file import entry_line
from srtk_plugin_index.indexes.vector_journal import VectorJournal

from srtk_framework.records import locked
from srtk_framework.roles import Corpus, Encoder, SubgraphEncoder
from srtk_framework.values import DriverError, Entry, batched
from srtk_plugin_septa.shape import Vectors

_AT_ONCE = 256  # Entries that are read and encoded together, so that memory does not grow with the corpus
_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class FusedCorpus(Corpus):
    """Give each entry of another corpus the vector g = (|h|/|e| e + h) / 2 of its triples (e) and its text (h).

    The entry's id is the centre of its triples. The vector of the text alone stands where the triples' is 0.

    With ``journal``, each vector is on the disk as soon as it is encoded: an index whose build was broken off, at
    whatever point, is built again without encoding its entries a second time.

    Attributes:
        corpus: The entries, such as `subgraphs`.
        subgraph_encoder: Encodes the triples.
        encoder: Encodes the texts into the same space; a search encodes its query with it.
        journal: Folder for the vectors, of this corpus alone; it may be deleted when the index is built.
    """

    corpus: Corpus
    subgraph_encoder: SubgraphEncoder
    encoder: Encoder
    journal: str | None = None

    def read(self) -> Iterator[Entry]:
        """Yield the entries of the corpus in their order.

        Raises:
            DriverError: If the two encoders have different numbers of dimensions.
        """
        return (entry for entry, _ in self.counted())

    def counted(self) -> Iterator[tuple[Entry, Mapping[str, int]]]:
        """Yield the entries, each with the counts of the corpus."""
        if self.journal is None:
            for pairs in batched(self.corpus.counted(), _AT_ONCE):
                yield from _with_vectors(pairs, self._encoded([entry for entry, _ in pairs]))
            return
        folder = Path(self.journal).resolve()
        with locked(folder.with_name(f".{folder.name}.lock"), folder, "give each corpus a `journal:` of its own"):
            made_by = (self.subgraph_encoder.fingerprint(), self.encoder.fingerprint())
            journal = VectorJournal(folder, repr(made_by))
            if len(journal):
                _log.warning("%s vectors of the corpus fused are in %s already", f"{len(journal):,}", self.journal)
            for pairs in batched(self.corpus.counted(), _AT_ONCE):
                yield from _with_vectors(pairs, self._journalled(journal, [entry for entry, _ in pairs]))

    def _journalled(self, journal: VectorJournal, entries: Sequence[Entry]) -> Vectors:
        """Encode the entries that are not in the journal."""
        parts = [entry_line(entry) for entry in entries]
        return journal.rows(parts, lambda places: self._encoded([entries[at] for at in places]))

    def _encoded(self, entries: Sequence[Entry]) -> Vectors:
        graphs = self.subgraph_encoder.encode([e.triples for e in entries], [e.id for e in entries])
        texts = self.encoder.encode([e.text for e in entries])
        if graphs.shape != texts.shape:
            raise DriverError(
                f"the subgraph encoder has {graphs.shape[1]} dimensions and the encoder {texts.shape[1]}; name two"
                " that were trained together"
            )
        return fused(graphs, texts)

    def fingerprint(self) -> str:
        """Identify the entries and the weights of both encoders."""
        parts = (self.corpus, self.subgraph_encoder, self.encoder)
        return f"corpus:fused({', '.join(part.fingerprint() for part in parts)})"


def _with_vectors(
    pairs: Sequence[tuple[Entry, Mapping[str, int]]], rows: Vectors
) -> Iterator[tuple[Entry, Mapping[str, int]]]:
    for (entry, counts), row in zip(pairs, rows, strict=True):
        yield attrs.evolve(entry, vector=row), counts


def fused(graphs: Vectors, texts: Vectors) -> Vectors:
    """Return the mean of each subgraph's and text's vector, the first brought to the second's length; float32 [n, d].

    Where the vector of a subgraph is 0, the text's stands alone.
    """
    e, h = graphs.astype(np.float64), texts.astype(np.float64)
    of_e, of_h = (np.linalg.norm(one, axis=1, keepdims=True) for one in (e, h))
    scaled = e * np.divide(of_h, of_e, out=np.zeros_like(of_h), where=of_e > 0)
    found: Vectors = np.where(of_e > 0, (scaled + h) / 2, h).astype(np.float32)
    return found
