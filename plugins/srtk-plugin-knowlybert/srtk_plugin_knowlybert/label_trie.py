"""Labels of entities as tokens of a mask filler, in a trie by their number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles import MaskFiller
from srtk_framework.values import batched

Tokens = tuple[str, ...]
_BATCH = 4096  # Names that the filler divides at once.


@attrs.frozen(eq=False)
class LabelTrie:
    """All labels of at most a number of tokens.

    Attributes:
        entities: By the tokens of a label, the entities that have it, sorted.
        names: By the tokens of a label, the label; of several with the same tokens, the first in order.
        labels: By entity, the tokens of its labels, in the order of its names.
        too_long: Number of labels with more tokens than the most.
        unwritten: Number of labels with no tokens: the filler cannot write them.
    """

    entities: Mapping[Tokens, tuple[str, ...]]
    names: Mapping[Tokens, str]
    labels: Mapping[str, tuple[Tokens, ...]]
    too_long: int
    unwritten: int
    _roots: Mapping[int, Any]

    @classmethod
    def of(cls, names: Mapping[str, Sequence[str]], filler: MaskFiller, most: int) -> LabelTrie:
        """Divide the names of entities into tokens.

        Args:
            names: Names by entity.
            filler: Whose tokens they are.
            most: Most tokens of a label.
        """
        texts = sorted({name for some in names.values() for name in some if name.strip()})
        tokens: dict[str, Tokens] = {}
        for part in batched(texts, _BATCH):
            tokens.update(zip(part, map(tuple, filler.tokens(part)), strict=True))
        entities: dict[Tokens, set[str]] = {}
        shown: dict[Tokens, str] = {}
        labels: dict[str, tuple[Tokens, ...]] = {}
        roots: dict[int, Any] = {}
        for text in texts:
            if 0 < len(tokens[text]) <= most:
                shown.setdefault(tokens[text], text)
                node = roots.setdefault(len(tokens[text]), {})
                for token in tokens[text]:
                    node = node.setdefault(token, {})
        for id_, some in names.items():
            found = dict.fromkeys(tokens[name] for name in some if name.strip() and 0 < len(tokens[name]) <= most)
            if found:
                labels[id_] = tuple(found)
            for one in found:
                entities.setdefault(one, set()).add(id_)
        return cls(
            {one: tuple(sorted(some)) for one, some in entities.items()},
            shown,
            labels,
            sum(len(one) > most for one in tokens.values()),
            sum(not one for one in tokens.values()),
            roots,
        )

    def of_length(self, length: int) -> list[Tokens]:
        """Return the labels with a number of tokens, sorted."""
        return sorted(one for one in self.entities if len(one) == length)

    def found(self, gaps: Sequence[Mapping[str, float]]) -> Iterator[tuple[Tokens, tuple[float, ...]]]:
        """Yield the labels that the tokens of consecutive gaps spell, with the score of each token.

        Args:
            gaps: Per gap the score of each token that was found there.
        """
        yield from _walk(self._roots.get(len(gaps), {}), gaps, (), ())


def _walk(
    node: Mapping[str, Any], gaps: Sequence[Mapping[str, float]], tokens: Tokens, scores: tuple[float, ...]
) -> Iterator[tuple[Tokens, tuple[float, ...]]]:
    if len(tokens) == len(gaps):
        yield tokens, scores
        return
    here = gaps[len(tokens)]
    for token in sorted(node.keys() & here.keys()):
        yield from _walk(node[token], gaps, (*tokens, token), (*scores, here[token]))
