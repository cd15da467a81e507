"""Texts as a masked language model learns from them: rows of tokens, the tokens of names, hidden tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from srtk_framework.values import Entry, batched

_TOKENIZED = 1000  # Texts tokenized together, so that a corpus of any size fits into memory
_SORTED = 50  # Batches whose rows are sorted by length together

# Shares of the hidden tokens that become a mask, and another token; the rest stays (Devlin et al. 2019, 3.1).
_WHOLE, _RANDOM = 0.8, 0.1


@attrs.frozen
class TokenRow:
    """A text, or a part of a long text, between the special tokens of the model.

    ``words`` are the places of its own tokens, and ``mentions`` those of each mention.
    """

    ids: tuple[int, ...]
    words: tuple[int, ...]
    mentions: tuple[tuple[int, ...], ...]


@attrs.frozen
class Hidden:
    """A row with tokens hidden at some places, whose own ids are the targets."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    targets: tuple[int, ...]


def token_rows(tokenizer: Any, entries: Sequence[Entry], most: int) -> list[TokenRow]:
    """Divide texts into rows of at most ``most`` tokens, special ones included; no mention is divided."""
    before, after = _frame(tokenizer)
    room = most - len(before) - len(after)
    rows = []
    for part in batched(list(entries), _TOKENIZED):
        texts = [entry.text for entry in part]
        found = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        for entry, ids, offsets in zip(part, found["input_ids"], found["offset_mapping"], strict=True):
            spans = [
                [at for at, (start, end) in enumerate(offsets) if start < one.end and end > one.start and end > start]
                for one in entry.mentions
            ]
            for first, last in _windows(len(ids), room, spans):
                shift = len(before) - first
                rows.append(
                    TokenRow(
                        (*before, *ids[first:last], *after),
                        tuple(range(len(before), len(before) + last - first)),
                        tuple(
                            tuple(at + shift for at in span)
                            for span in spans
                            if span and first <= span[0] and span[-1] < last
                        ),
                    )
                )
    return rows


def _frame(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    inner = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    whole = list(tokenizer("a")["input_ids"])
    at = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
    return whole[:at], whole[at + len(inner) :]


def _windows(count: int, room: int, spans: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Divide tokens into parts that fit; a part ends before a mention that does not fit as a whole."""
    first = 0
    while first < count:
        last = min(first + room, count)
        cut = [span[0] for span in spans if span and first < span[0] < last <= span[-1]]
        last = min(cut, default=last)
        yield first, last
        first = last


def batches(rows: Sequence[TokenRow], size: int, random: np.random.Generator) -> list[list[int]]:
    """Return the places of the rows of each batch, in random order; rows of a batch have similar lengths."""
    order = random.permutation(len(rows)).tolist()
    found = []
    for first in range(0, len(order), size * _SORTED):
        part = sorted(order[first : first + size * _SORTED], key=lambda at: len(rows[at].ids))
        found += [part[start : start + size] for start in range(0, len(part), size)]
    return [found[at] for at in random.permutation(len(found)).tolist()]


def batch_count(rows: int, size: int) -> int:
    """Return the number of batches of one pass over some rows."""
    whole, rest = divmod(rows, size * _SORTED)
    return whole * _SORTED + -(-rest // size)


def hide(
    row: TokenRow, mask: int, vocabulary: int, mask_share: float, mention_share: float, random: np.random.Generator
) -> Hidden:
    """Hide one mention whole, with the probability ``mention_share``, or else random tokens.

    A share of the tokens is hidden, at least a single token.
    """
    ids = list(row.ids)
    if row.mentions and random.random() < mention_share:
        places = row.mentions[int(random.integers(len(row.mentions)))]
        for place in places:
            ids[place] = mask
    else:
        count = max(1, round(mask_share * len(row.words)))
        places = tuple(sorted(random.choice(row.words, min(count, len(row.words)), replace=False).tolist()))
        for place, drawn in zip(places, random.random(len(places)).tolist(), strict=True):
            if drawn < _WHOLE:
                ids[place] = mask
            elif drawn < _WHOLE + _RANDOM:
                ids[place] = int(random.integers(vocabulary))
    return Hidden(tuple(ids), tuple(places), tuple(row.ids[place] for place in places))
