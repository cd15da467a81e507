"""The ``encoder-chooser`` generator: chooses among options by likeness of texts, with no language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Encoder, Generator
from srtk_framework.values import DriverError, Prompt, Reply, rounded

_RECENT = 16384
"""Vectors of so many texts are kept: options come again and again."""


@attrs.define(eq=False)
class EncoderChooser(Generator):
    """Choose the options most like the question, by the cosine of their vectors.

    It needs no language model: for tests, as a baseline, and where none may be used. It cannot write: a prompt without
    options gets a reply with an error.

    Attributes:
        encoder: Gives the vectors.
        floor: Options with a smaller cosine are chosen only as far as the prompt demands.
        margin: The same for options whose cosine is so far below that of the best; no such limit by default.
    """

    encoder: Encoder
    floor: float = -1.0
    margin: float | None = None
    _recent: dict[str, npt.NDArray[np.float64]] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Check the settings."""
        if self.margin is not None and self.margin < 0:
            raise DriverError(f"margin is {self.margin}; it must not be below 0")

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply with a JSON list of numbers, best first; of equal options the first."""
        replies = []
        for prompt, row in zip(prompts, self.rate(prompts), strict=True):
            if not prompt.options:
                replies.append(Reply(error="the encoder-chooser only chooses among options; take a language model"))
            else:
                replies.append(Reply(json.dumps([i + 1 for i in self._chosen(prompt, row)])))
        return replies

    def _chosen(self, prompt: Prompt, row: Sequence[float]) -> list[int]:
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))[: prompt.most]
        least = self.floor if self.margin is None else max(self.floor, rounded(row[order[0]] - self.margin))
        return [i for place, i in enumerate(order) if place < prompt.least or row[i] >= least]

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Rate options by their cosine with the query, or with the last message where there is none."""
        queries = [prompt.query or prompt.messages[-1].content for prompt in prompts]
        asked = [i for i, prompt in enumerate(prompts) if prompt.options]
        vectors = self._unit([text for i in asked for text in (queries[i], *prompts[i].options)])
        return [
            [rounded(float(vectors[option] @ vectors[query])) for option in prompt.options]
            for prompt, query in zip(prompts, queries, strict=True)
        ]

    def _unit(self, texts: Sequence[str]) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return the vector of each text, of length 1; those not seen lately are encoded in one call."""
        if len(self._recent) > _RECENT:
            # A new one, not an emptied one: another thread may be reading it.
            self._recent = {}
        recent = self._recent
        new = [text for text in dict.fromkeys(texts) if text not in recent]
        if new:
            vectors = np.asarray(self.encoder.encode(new), dtype=np.float64)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            recent.update(zip(new, vectors / np.where(lengths > 0, lengths, 1.0), strict=True))
        return recent

    def rates(self) -> bool:
        """Return True: options are rated by cosine."""
        return True
