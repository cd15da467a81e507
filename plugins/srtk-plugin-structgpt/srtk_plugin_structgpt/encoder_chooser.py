"""The ``encoder-chooser`` generator: chooses among options by the similarity of texts, without a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Encoder, Generator
from srtk_framework.values import Prompt, Reply, at_least, best_first, between, rounded

_MOST_VECTORS = 16384  # Number of vectors above which the cache of vectors is emptied


@attrs.define(eq=False)
class EncoderChooser(Generator):
    """Choose the options whose vectors have the greatest cosine with the vector of the question.

    For tests, as a baseline, and where no language model is available. It cannot write: a prompt without options gets
    a reply with an error.

    Attributes:
        encoder: Encodes the question and the options.
        floor: Least cosine; options below it are chosen only where the prompt demands more of them.
        margin: Greatest distance from the best cosine, applied like `floor`; null for no such limit.
    """

    encoder: Encoder
    floor: float = attrs.field(default=-1.0, validator=between(-1, 1))
    margin: float | None = attrs.field(default=None, validator=at_least(0))
    _vectors: dict[str, npt.NDArray[np.float64]] = attrs.field(init=False, factory=dict, repr=False)

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply with a JSON list of numbers, best first; ties go to the first option."""
        replies = []
        for prompt, row in zip(prompts, self.rate(prompts), strict=True):
            if not prompt.options:
                replies.append(Reply(error="encoder-chooser can only choose among options; use a language model"))
            else:
                replies.append(Reply(json.dumps([i + 1 for i in self._best(prompt, row)])))
        return replies

    def _best(self, prompt: Prompt, row: Sequence[float]) -> list[int]:
        order = best_first(range(len(row)), row.__getitem__)[: prompt.most]
        least = self.floor if self.margin is None else max(self.floor, rounded(row[order[0]] - self.margin))
        return [i for rank, i in enumerate(order) if rank < prompt.least or row[i] >= least]

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Rate options by their cosine with the query, or with the last message if there is no query."""
        queries = [prompt.query or prompt.messages[-1].content for prompt in prompts]
        asked = [i for i, prompt in enumerate(prompts) if prompt.options]
        vectors = self._unit_vectors([text for i in asked for text in (queries[i], *prompts[i].options)])
        return [
            [rounded(float(vectors[option] @ vectors[query])) for option in prompt.options]
            for prompt, query in zip(prompts, queries, strict=True)
        ]

    def _unit_vectors(self, texts: Sequence[str]) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return vectors of length 1 by text; texts that are not cached are encoded in one call."""
        if len(self._vectors) > _MOST_VECTORS:
            # A new dictionary, because another thread may be reading the old one.
            self._vectors = {}
        cached = self._vectors
        new = [text for text in dict.fromkeys(texts) if text not in cached]
        if new:
            vectors = np.asarray(self.encoder.encode(new), dtype=np.float64)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            cached.update(zip(new, vectors / np.where(lengths > 0, lengths, 1.0), strict=True))
        return cached

    def rates(self) -> bool:
        """Return True; the rating is the cosine."""
        return True
