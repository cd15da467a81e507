"""Disjoint parts of a dataset, selected by a seeded hash and thus equal on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import attrs

from srtk_framework.values import Question, SettingsError, at_least

By = Literal["text", "id", "relation-path"]


@attrs.frozen
class Part:
    """A part of a dataset.

    Attributes:
        between: Interval of hash values, within 0 and 1.
        seed: Seed of the hash.
        by: Value to hash: `text` (equal texts are in the same part), `id`, or `relation-path` (questions with equal
            gold paths are in the same part).
        outside: Whether to select the complement of the interval.
        limit: Maximum number of questions, selected by another hash of ids; a smaller limit selects a subset.
    """

    between: tuple[float, float]
    seed: int = 0
    by: By = "text"
    outside: bool = False
    limit: int | None = attrs.field(default=None, validator=at_least(1, "omit it for the whole part"))

    def __attrs_post_init__(self) -> None:
        if not 0.0 <= self.between[0] < self.between[1] <= 1.0:
            text = f"a part lies between two ascending numbers from 0 to 1, not {list(self.between)}"
            raise SettingsError([(("between",), text)])

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
    """Hash a text to a number in [0, 1)."""
    data = hashlib.blake2b(f"{seed}\0{key}".encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(data, "big") / 2.0**56


def _paths(question: Question) -> str:
    return "\n".join(sorted(" ".join(str(step) for step in path) for path in question.gold_paths or ()))


def _group_places(keys: Sequence[str], seed: int) -> dict[str, float]:
    """Divide [0, 1) among groups of equal keys, in order of their hash and in proportion to their size."""
    sizes: dict[str, int] = {}
    for key in keys:
        sizes[key] = sizes.get(key, 0) + 1
    places: dict[str, float] = {}
    before = 0
    for key in sorted(sizes, key=lambda key: (place(key, seed), key)):
        # The middle of a group decides its part, so that parts have nearly their share of the questions.
        places[key] = (before + sizes[key] / 2) / len(keys)
        before += sizes[key]
    return places


class Readable(Protocol):
    """A source of questions, such as the port of a dataset."""

    def read(self) -> Iterable[Question]:
        """Yield the questions."""


class PartOf:
    """A part of a dataset."""

    def __init__(self, whole: Readable, part: Part) -> None:
        self._whole, self._part = whole, part

    def read(self) -> Iterator[Question]:
        """Yield the questions of the part."""
        return self._part.choose(self._whole.read())


def part_of(whole: Any, part: Part | None) -> Any:
    """Return the part of a dataset, or the whole if ``part`` is None; None remains None."""
    return whole if part is None or whole is None else PartOf(whole, part)
