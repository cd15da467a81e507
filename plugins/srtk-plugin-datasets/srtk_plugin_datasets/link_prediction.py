"""Datasets of link prediction: facts that were held out of a graph, as patterns with one open end.

``fb15k237`` (Toutanova and Chen 2015), ``codex`` (Safavi and Koutra 2020), ``wn18rr`` (Dettmers et al. 2018) and
``kinship`` (Kemp et al. 2006) have one layout: `train.txt`, `valid.txt` and `test.txt`, of tab-separated triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import ClassVar, Literal

import attrs

from srtk_framework.values import Pattern, Question, one_of
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.facts import read_triples
from srtk_plugin_datasets.hidden_facts import Ends, patterns_of
from srtk_plugin_datasets.question_sets import SampledSet

Part = Literal["train", "valid", "test"]
_PARTS: tuple[Part, ...] = ("train", "valid", "test")


@attrs.define
class LinkPrediction(SampledSet):
    """Patterns of held-out facts.

    The gold answers of a pattern are all entities in held-out facts, of validation or test: a graph of `train.txt`
    holds none of them, and right entities are no competitors. Patterns of training facts have the training entities.

    Attributes:
        path: Folder with `train.txt`, `valid.txt` and `test.txt`; by default the folder of the set under `SRTK_DATA` or
            `data`.
        part: Facts that become patterns.
        ends: The ends of facts that become open.
    """

    data_set: ClassVar[str] = ""

    path: str | None = None
    part: Part = attrs.field(default="test", validator=one_of(_PARTS))
    ends: Ends = attrs.field(default="both", validator=one_of(("object", "subject", "both")))

    def read(self) -> Iterable[Question]:
        """Yield the patterns in the order of their first fact."""
        return self._sampled(self._questions(self._place()))

    def _place(self) -> FilePath:
        return FilePath(located(self.path, self.data_set))

    def _questions(self, folder: FilePath) -> Iterator[Question]:
        # The facts of the part come first among the answers.
        gold: dict[Pattern, dict[str, None]] = {}
        for fact in read_triples(folder / f"{self.part}.txt"):
            for pattern, answer in patterns_of(fact, self.ends):
                gold.setdefault(pattern, {})[answer] = None
        others = [] if self.part == "train" else [part for part in ("valid", "test", "train") if part != self.part]
        for part in others:
            for fact in read_triples(folder / f"{part}.txt"):
                for pattern, answer in patterns_of(fact):
                    if pattern in gold and part == "train":
                        gold[pattern].pop(answer, None)
                    elif pattern in gold:
                        gold[pattern][answer] = None
        for pattern, answers in gold.items():
            if answers:
                yield Question(str(pattern), str(pattern), answers=tuple(answers), pattern=pattern)


@attrs.define
class FB15k237(LinkPrediction):
    """Patterns of FB15k-237, a slice of Freebase (Toutanova and Chen 2015), with Freebase ids (`/m/027rn`)."""

    data_set: ClassVar[str] = "fb15k237"


@attrs.define
class WN18RR(LinkPrediction):
    """Patterns of WN18RR, a slice of WordNet without inverse relations (Dettmers et al. 2018)."""

    data_set: ClassVar[str] = "wn18rr"


@attrs.define
class Kinship(LinkPrediction):
    """Patterns of Kinship, relations in a tribe (Kemp et al. 2006)."""

    data_set: ClassVar[str] = "kinship"


@attrs.define
class CoDEx(LinkPrediction):
    """Patterns of CoDEx, slices of Wikidata (Safavi and Koutra 2020), with Wikidata ids.

    Attributes:
        path: Folder with `codex-s`, `codex-m` or `codex-l`; by default the folder of the set under `SRTK_DATA` or
            `data`.
        size: `s`, `m` or `l`.
        negatives: Make patterns only of facts that have hard negatives (`test_negatives.txt`: plausible, and wrong as
            people judged); these and the right entities are then the candidates.
    """

    size: Literal["s", "m", "l"] = attrs.field(default="m", validator=one_of(("s", "m", "l")))
    negatives: bool = False

    def _place(self) -> FilePath:
        return FilePath(located(self.path, "codex")) / f"codex-{self.size}"

    def _questions(self, folder: FilePath) -> Iterator[Question]:
        questions = super()._questions(folder)
        if not self.negatives:
            yield from questions
            return
        wrong: dict[Pattern, dict[str, None]] = {}
        for fact in read_triples(folder / f"{self.part}_negatives.txt"):
            for pattern, answer in patterns_of(fact):
                wrong.setdefault(pattern, {})[answer] = None
        for question in questions:
            right = question.answers or ()
            others = [one for one in wrong.get(question.pattern, {}) if one not in right] if question.pattern else []
            if others:
                yield attrs.evolve(question, candidates=tuple(sorted({*right, *others})))
