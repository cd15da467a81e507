"""Training samples of the dense scorer: made from examples, with numbered texts, and dealt into batches."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import attrs
from srtk_plugin_training import samples

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import unnamed_entities, without_mentions
from srtk_framework.values import Path, Question, Sample, TrainingExample, batched
from srtk_plugin_sr.fit_settings import ScorerFitSettings

_LESSONS_AT_ONCE = 512
# Updates of a round by default: an epoch of a large set would leave too few validations to choose weights from.
_LONGEST_ROUND = 500

# Batches whose samples are sorted by length together; more would make batches alike, fewer would pad more.
_WINDOW = 16

_SPREAD = 1.4
"""In one forward pass, the longest text has at most this many times the tokens of the shortest, plus two."""


@attrs.frozen
class IndexedSample:
    """A query with its candidates, as numbers of texts.

    Attributes:
        query: Text of the question and, in some forms, of the steps so far.
        candidates: Texts to choose from.
        targets: Quality of each candidate, above 0 for some.
        costs: Number subtracted from the logit of each candidate; empty for none.
    """

    query: int
    candidates: tuple[int, ...]
    targets: tuple[float, ...]
    costs: tuple[float, ...] = ()


@attrs.frozen
class RankedPaths:
    """A question with paths to rank.

    Attributes:
        text: Text of the question as a scorer reads it.
        paths: Paths from its entity; first the path that it was made from.
        right: For each path, whether it leads to exactly the answers.
        costs: For each path, the number that a search subtracts from its logit.
    """

    text: str
    paths: tuple[Path, ...]
    right: tuple[bool, ...]
    costs: tuple[float, ...]


@attrs.frozen
class TrainingSet:
    """Samples in a fixed order, and the distinct texts that they refer to by number."""

    texts: Sequence[str]
    samples: Sequence[IndexedSample]


def make_samples(
    graph: KnowledgeGraph, examples: Sequence[TrainingExample], settings: ScorerFitSettings, seed: int
) -> list[Sample]:
    """Make the samples of examples, with the questions' texts as the search gives them to the scorer.

    Args:
        graph: Graph whose steps are the candidates.
        examples: Questions with their paths.
        settings: Their loss, depth, mention, inverse, variant and negatives apply.
        seed: Seed for drawing negatives.
    """
    made: list[Sample] = []
    for batch in batched(examples, _LESSONS_AT_ONCE):
        labels: dict[str, str] = {}
        if settings.mention is not None and (unnamed := unnamed_entities([example.question for example in batch])):
            labels = dict(zip(unnamed, graph.labels(unnamed), strict=True))
        rows = samples(
            graph,
            batch,
            negatives=settings.most_negatives,
            seed=seed,
            inverse=settings.inverse is not False,
            end_at_start=settings.variant == "srtk",
            text=lambda question, entity, labels=labels: _text(question, entity, settings.mention, labels),  # type: ignore[misc]
        )
        made += [
            sample for row in rows for sample in row if settings.depth is None or len(sample.path) < settings.depth
        ]
    if settings.loss != "nt-xent":
        # A sample without a negative has no gradient, except under nt-xent, which takes those of other samples.
        made = [sample for sample in made if min(sample.targets) == 0.0 or settings.loss == "listwise"]
    return [sample for sample in made if len(sample.candidates) > 1 or settings.loss == "nt-xent"]


def _text(question: Question, entity: str, mention: str | None, labels: Mapping[str, str]) -> str:
    if mention is None:
        return question.text
    link = next((link for link in question.links if link.entity == entity), None)
    return question.text if link is None else without_mentions(question, [link], labels, mention)


def deal_batches(samples: Sequence[IndexedSample], lengths: Sequence[int], size: int, seed: int) -> list[list[int]]:
    """Deal all samples into batches once, in an order that the seed decides.

    Samples with the same query stay together, so that it is encoded once, and the texts of a batch are of similar
    length.

    Args:
        samples: The samples.
        lengths: Tokens of each text.
        size: Samples of a batch; the last batches may have fewer.
        seed: Seed of the order.

    Returns:
        Positions of the samples of each batch.
    """
    generator = random.Random(seed)
    groups: dict[int, list[int]] = {}
    for i, sample in enumerate(samples):
        groups.setdefault(sample.query, []).append(i)
    order = list(groups.values())
    generator.shuffle(order)
    batches: list[list[int]] = []
    window: list[list[int]] = []
    held = 0
    for group in [*order, None]:
        if group is not None:
            window.append(group)
            held += len(group)
        if window and (group is None or held >= size * _WINDOW):
            window.sort(key=lambda members: lengths[samples[members[0]].query])
            flat = [i for members in window for i in members]
            batches += [flat[start : start + size] for start in range(0, len(flat), size)]
            window, held = [], 0
    generator.shuffle(batches)
    return batches


def forward_passes(lengths: Sequence[int]) -> list[list[int]]:
    """Group the texts of a batch by length into forward passes with little padding; return their positions."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    groups: list[list[int]] = []
    for i in order:
        if groups and lengths[i] <= lengths[groups[-1][0]] * _SPREAD + 2:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


class Schedule:
    """Batches of a whole training run, cut into rounds; a validation follows each round.

    Args:
        samples: The samples.
        lengths: Tokens of each text.
        settings: Settings of the training.
        ranks: Devices that train in parallel, each on its own batches.
        seed: Seed of the order.
    """

    def __init__(
        self,
        samples: Sequence[IndexedSample],
        lengths: Sequence[int],
        settings: ScorerFitSettings,
        ranks: int,
        seed: int,
    ) -> None:
        self._samples, self._lengths, self._ranks, self._seed = samples, lengths, ranks, seed
        self._size = settings.batch_size
        self.per_epoch = max(1, -(-len(samples) // self._size) // ranks)
        self.total = min(self.per_epoch * settings.epochs, settings.steps or self.per_epoch * settings.epochs)
        self.every = min(settings.validate_every or min(self.per_epoch, _LONGEST_ROUND), self.total)
        self.rounds = -(-self.total // self.every)
        self._epoch: tuple[int, list[list[int]]] = (-1, [])

    def round(self, number: int, rank: int) -> list[list[int]]:
        """Return the batches of one round for one device."""
        steps = range(number * self.every, min((number + 1) * self.every, self.total))
        return [self._batch(step, rank) for step in steps]

    def _batch(self, step: int, rank: int) -> list[int]:
        epoch, place = divmod(step, self.per_epoch)
        if self._epoch[0] != epoch:
            # A prime apart, so that no epochs of two small seeds share an order.
            seed = self._seed * 1_000_003 + epoch
            self._epoch = (epoch, deal_batches(self._samples, self._lengths, self._size, seed))
        batches = self._epoch[1]
        # With fewer batches than devices, several devices train on the same batch.
        return batches[(place * self._ranks + rank) % len(batches)]
