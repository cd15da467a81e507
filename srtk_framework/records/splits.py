"""Parts of a dataset, drawn by a seeded hash: the same questions on every machine, none in two parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import attrs

from srtk_framework.values import Question

By = Literal["text", "id", "relation-path"]


@attrs.frozen
class Part:
    """Which questions of a dataset belong to a part.

    Attributes:
        between: Where the part begins and ends, from 0 to 1.
        seed: Of the hash.
        by: What is hashed: `text` (equal texts stay together), `id`, or `relation-path` (questions with the same
            gold paths stay together, so that no relation path is in two parts).
        outside: Take what is not in between.
        limit: Take only so many of the part, by another hash of ids; a smaller limit takes a part of a larger one.
    """

    between: tuple[float, float]
    seed: int = 0
    by: By = "text"
    outside: bool = False
    limit: int | None = None

    def __attrs_post_init__(self) -> None:
        if not 0.0 <= self.between[0] < self.between[1] <= 1.0:
            raise ValueError(f"a part lies between two rising numbers from 0 to 1, not {list(self.between)}")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"the limit of a part is above 0, not {self.limit}; leave it out for the whole part")

    def choose(self, questions: Iterable[Question]) -> Iterator[Question]:
        """Yield the questions of the part, in order."""
        if self.limit is None:
            yield from self._whole(questions)
            return
        rows = list(self._whole(questions))
        ranks = sorted(range(len(rows)), key=lambda i: (place(f"limit {rows[i].id}", self.seed), i))
        yield from (rows[i] for i in sorted(ranks[: self.limit]))

    def _whole(self, questions: Iterable[Question]) -> Iterator[Question]:
        if self.by == "relation-path":
            rows = list(questions)
            places = _group_places([_paths(question) for question in rows], self.seed)
            yield from (question for question in rows if self._holds(places[_paths(question)]))
            return
        for question in questions:
            key = question.id if self.by == "id" else " ".join(question.text.split())
            if self._holds(place(key, self.seed)):
                yield question

    def _holds(self, where: float) -> bool:
        return (self.between[0] <= where < self.between[1]) != self.outside


def place(key: str, seed: int) -> float:
    """Hash a text to a number from 0 up to 1, without 1."""
    data = hashlib.blake2b(f"{seed}\0{key}".encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(data, "big") / 2.0**56


def _paths(question: Question) -> str:
    return "\n".join(sorted(" ".join(str(step) for step in path) for path in question.gold_paths or ()))


def _group_places(keys: Sequence[str], seed: int) -> dict[str, float]:
    """Lay groups of questions side by side in the order of their hash, each as wide as it has questions."""
    sizes: dict[str, int] = {}
    for key in keys:
        sizes[key] = sizes.get(key, 0) + 1
    places: dict[str, float] = {}
    before = 0
    for key in sorted(sizes, key=lambda key: (place(key, seed), key)):
        # A group belongs where its middle lies: parts get their share as nearly as whole groups allow.
        places[key] = (before + sizes[key] / 2) / len(keys)
        before += sizes[key]
    return places


class Readable(Protocol):
    """What gives questions, such as a dataset behind its port."""

    def read(self) -> Iterable[Question]:
        """Yield the questions."""


class PartOf:
    """A dataset of which only a part is read."""

    def __init__(self, whole: Readable, part: Part) -> None:
        self._whole, self._part = whole, part

    def read(self) -> Iterator[Question]:
        """Yield the questions of the part."""
        return self._part.choose(self._whole.read())


def part_of(whole: Any, part: Part | None) -> Any:
    """Return a dataset, or a part of it where one is named; None stays None."""
    return whole if part is None or whole is None else PartOf(whole, part)
