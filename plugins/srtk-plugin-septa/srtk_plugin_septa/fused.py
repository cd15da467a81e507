"""The corpus ``fused``: subgraphs with a vector of both their triples and their text."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from srtk_framework.roles import Corpus, Encoder, SubgraphEncoder
from srtk_framework.values import DriverError, Entry, batched
from srtk_plugin_septa.shape import Vectors

_AT_ONCE = 256


@attrs.define(eq=False)
class FusedCorpus(Corpus):
    """Give each entry of another corpus the vector g = (|h|/|e| e + h) / 2 of its triples (e) and its text (h).

    The entry's id is the centre of its triples. The vector of the text alone stands where the triples' is 0.

    Attributes:
        corpus: The entries, such as `subgraphs`.
        subgraph_encoder: Encodes the triples.
        encoder: Encodes the texts into the same space; a search encodes its query with it.
    """

    corpus: Corpus
    subgraph_encoder: SubgraphEncoder
    encoder: Encoder

    def read(self) -> Iterator[Entry]:
        """Yield the entries of the corpus in their order.

        Raises:
            DriverError: If the two encoders have different numbers of dimensions.
        """
        for entries in batched(self.corpus.read(), _AT_ONCE):
            graphs = self.subgraph_encoder.encode([e.triples for e in entries], [e.id for e in entries])
            texts = self.encoder.encode([e.text for e in entries])
            if graphs.shape != texts.shape:
                raise DriverError(
                    f"the subgraph encoder has {graphs.shape[1]} dimensions and the encoder {texts.shape[1]}; name two"
                    " that were trained together"
                )
            for entry, vector in zip(entries, fused(graphs, texts), strict=True):
                yield attrs.evolve(entry, vector=vector)

    def fingerprint(self) -> str:
        """Identify the entries and the weights of both encoders."""
        parts = (self.corpus, self.subgraph_encoder, self.encoder)
        return f"corpus:fused({', '.join(part.fingerprint() for part in parts)})"


def fused(graphs: Vectors, texts: Vectors) -> Vectors:
    """Return the mean of each subgraph's and text's vector, the first brought to the second's length; float32 [n, d].

    Where the vector of a subgraph is 0, the text's stands alone.
    """
    e, h = graphs.astype(np.float64), texts.astype(np.float64)
    of_e, of_h = (np.linalg.norm(one, axis=1, keepdims=True) for one in (e, h))
    scaled = e * np.divide(of_h, of_e, out=np.zeros_like(of_h), where=of_e > 0)
    found: Vectors = np.where(of_e > 0, (scaled + h) / 2, h).astype(np.float32)
    return found
