"""What the dense scorer learns from, and whom it can teach."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any, Protocol

from srtk_framework.roles import Encoder, KnowledgeGraph
from srtk_framework.training import samples
from srtk_framework.values import DriverError, Lesson, Question, Sample, batched
from srtk_plugin_sr.fit_settings import Training
from srtk_plugin_sr.links import name_of, names_needed, without_mention

_BATCH = 512


class Teachable(Protocol):
    """What an encoder has in order to be trained."""

    def learner(self) -> Any:
        """Return a copy of its network: a torch module from token rows to vectors, with ``tokenize``."""

    def take(self, module: Any) -> None:
        """Encode with the weights of such a copy from now on, and change the fingerprint with them."""

    def save(self, folder: FilePath) -> None:
        """Write what ``load`` reads."""

    def load(self, folder: FilePath) -> None:
        """Encode as the one that was saved."""


def teachable(encoder: Encoder) -> Teachable:
    """Return the driver of an encoder, if it can be trained.

    Raises:
        DriverError: If it cannot.
    """
    driver: Any = getattr(encoder, "driver", encoder)
    lacking = [name for name in ("learner", "take", "save", "load") if not callable(getattr(driver, name, None))]
    if lacking:
        raise DriverError(
            f"the encoder {type(driver).__name__} cannot be trained (it has no {' and no '.join(lacking)});"
            " use one that can, such as transformers"
        )
    return driver  # type: ignore[no-any-return]


def decisions(graph: KnowledgeGraph, lessons: Sequence[Lesson], training: Training, seed: int) -> list[Sample]:
    """Make the samples of all lessons, with the questions' texts as the search shows them to the scorer."""
    made: list[Sample] = []
    for batch in batched(lessons, _BATCH):
        labels: dict[str, str] = {}
        if training.mention is not None and (nameless := names_needed([lesson.question for lesson in batch])):
            labels = dict(zip(nameless, graph.labels(nameless), strict=True))
        rows = samples(
            graph,
            batch,
            negatives=training.most_negatives,
            seed=seed,
            inverse=training.inverse is not False,
            text=lambda question, entity, names=labels: _text(question, entity, training.mention, names),  # type: ignore[misc]
        )
        made += [s for row in rows for s in row if training.depth is None or len(s.path) < training.depth]
    if training.loss != "nt-xent":
        # Where there is nothing to choose from, there is nothing to learn either.
        made = [sample for sample in made if min(sample.targets) == 0.0 or training.loss == "listwise"]
    return [sample for sample in made if len(sample.candidates) > 1 or training.loss == "nt-xent"]


def _text(question: Question, entity: str, mention: str | None, labels: dict[str, str]) -> str:
    if mention is None:
        return question.text
    link = next((link for link in question.links if link.entity == entity), None)
    return question.text if link is None else without_mention(question, link, name_of(link, labels), mention)
