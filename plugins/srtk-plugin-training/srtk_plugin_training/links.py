"""Training on links: questions with gold links, else with links in the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import attrs
from srtk_plugin_evaluation.link_scores import counts as link_counts
from srtk_plugin_evaluation.link_scores import covered_by

from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.values import NIL, Link, Question, RunError, TrainingExample, batched
from srtk_plugin_training.material import (
    NO_HELD_OUT,
    NO_SETS,
    NO_TEXTS,
    Context,
    Examples,
    Given,
    Material,
    TrainingData,
)
from srtk_plugin_training.paths import examples_of, validate_retrieval
from srtk_plugin_training.question_sets import QuestionSets, data_of

SHOWN = ("strong_precision", "strong_recall", "strong_f1", "recall_at_1", "recall_at_5", "coverage", "covered_f1")


@attrs.frozen
class LinkMaterial(Material):
    """Questions and their gold links.

    Attributes:
        sets: Training and validation questions.
    """

    sets: QuestionSets
    refuses: ClassVar[Mapping[str, str]] = {
        **NO_TEXTS,
        **NO_SETS,
        **NO_HELD_OUT,
        "supervision": "a linker is trained on gold links, not on paths; omit supervision",
    }
    described = "gold links"

    card = "Trained on {lessons} of {questions} questions; {validation} others checked the weights."

    @classmethod
    def of(cls, given: Given) -> LinkMaterial:
        """Build the material that a recipe names."""
        return cls(QuestionSets.of(given))

    def read(self, context: Context) -> TrainingData:
        """Read the questions; they are not linked."""
        return data_of(*self.sets.read(context.seed))

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Make an example of each question."""
        unsupervised = [(data.learning, lambda batch: [()] * len(batch))]
        (examples,), counts = examples_of(unsupervised, context, goes_on, _is_trainable)
        if not counts["lessons"]:
            raise RunError(
                f"none of the {len(data.learning)} training questions has gold links; use a dataset with gold links"
            )
        return Examples([example for example in examples if _is_trainable(example)], counts=counts)

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return the metrics of linking the validation questions, and of the main expander's retrievals.

        Subgraphs are retrieved for the questions with answers, from their texts alone.
        """
        if not data.validation:
            return None
        texts = [attrs.evolve(question, links=()) for question in data.validation if question.answers]

        def validated() -> dict[str, float]:
            found = validate_links(context.driver, context.session.graph, data.validation, context.batch)
            return {**found, **(validate_retrieval(texts, context) if texts and context.session.methods else {})}

        return validated


def _is_trainable(example: TrainingExample) -> bool:
    return has_links_to_train_on(example.question)


def gold_links(question: Question) -> tuple[Link, ...]:
    """Return the gold links of a question, else the links of the input."""
    return question.links if question.gold_links is None else question.gold_links


def has_links_to_train_on(question: Question) -> bool:
    """Return whether a question has a link to train on."""
    return any(link.entity != NIL and link.score > 0 for link in gold_links(question))


def validate_links(
    linker: EntityLinker, graph: KnowledgeGraph | None, questions: Sequence[Question], batch: int
) -> dict[str, float]:
    """Link the texts of questions and return the micro-averaged linking metrics.

    Args:
        linker: The linker to validate.
        graph: Graph that decides which gold entities are covered, or None.
        questions: Questions; those without gold links or links in the input are ignored.
        batch: Number of texts per call of the linker.
    """
    known = [question for question in questions if question.gold_links is not None or question.links]
    covered = covered_by(graph, known) if graph is not None else None
    sums: dict[str, list[float]] = {}
    for some in batched(known, batch):
        for question, found in zip(some, linker.link([question.text for question in some]), strict=True):
            for name, (right, of) in link_counts(gold_links(question), found, covered).items():
                total = sums.setdefault(name, [0.0, 0.0])
                total[0] += right
                total[1] += of
    return {name: sums[name][0] / sums[name][1] for name in SHOWN if name in sums and sums[name][1]}
