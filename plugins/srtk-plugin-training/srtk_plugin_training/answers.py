"""Training on answers: questions with gold answers, and the main expander's subgraphs for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import attrs
from srtk_plugin_evaluation.answers import answer_scores

from srtk_framework.records import read_retrievals, record_from_retrieval, write_jsonl
from srtk_framework.roles import Expander
from srtk_framework.values import Question, Retrieval, RunError, TrainingExample, batched
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
from srtk_plugin_training.paths import validate_retrieval
from srtk_plugin_training.question_sets import QuestionSets, data_of

# Files in the folder of a training: what was retrieved for the questions to train on, and to validate with.
RETRIEVALS, VALIDATION = "retrievals.jsonl", "validation_retrievals.jsonl"


@attrs.frozen
class AnswerMaterial(Material):
    """Questions with their answers, and their subgraphs.

    Attributes:
        role: Role of the driver to train.
        sets: Training and validation questions.
        expander: Retrieves the subgraphs.
    """

    role: str
    sets: QuestionSets
    expander: Expander | None
    refuses: ClassVar[Mapping[str, str]] = {
        **NO_TEXTS,
        **NO_SETS,
        **NO_HELD_OUT,
        "supervision": "the {role} is trained on answers, not on paths; omit supervision",
    }

    summary = "{lessons} questions with their subgraphs"

    @property
    def card(self) -> str:
        """Line on the training for the model card."""
        use = "validated it" if self.role == Expander.role else "chose the best weights"
        trained = "Trained on {lessons} of {questions} questions and what was retrieved for them;"
        return f"{trained} {{validation}} others {use}."

    @classmethod
    def of(cls, given: Given) -> AnswerMaterial:
        """Build the material that a recipe names."""
        role = given.block.role
        if given.expander is None:
            given.wrong(("train",), f"the {role} learns from what an expander retrieves; add `expander: {{use: …}}`")
        return cls(role, QuestionSets.of(given), given.expander)

    @property
    def pipeline_tag(self) -> str:
        """Kind of the model for model hubs."""
        return "feature-extraction" if self.role == Expander.role else "question-answering"

    @property
    def described(self) -> str:
        """The fingerprint of the expander."""
        assert self.expander is not None
        return self.expander.fingerprint()

    def read(self, context: Context) -> TrainingData:
        """Read the questions."""
        return data_of(*self.sets.read(context.seed))

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Retrieve a subgraph for each question, or read the subgraphs of an unfinished training."""
        done = _retrieved(data.learning, context, RETRIEVALS, goes_on)
        kept = [one for one in done if one.error is None and one.question.answers]
        if not kept:
            raise RunError(
                f"none of the {len(done)} training questions has both an answer and a subgraph; see"
                f" {context.folder / RETRIEVALS}"
            )
        counts = {"lessons": len(kept), "failed": sum(one.error is not None for one in done)}
        return Examples([TrainingExample(one.question, subgraph=one.subgraph) for one in kept], counts=counts)

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return the means of the answers' metrics for the validation questions, which are retrieved once.

        An expander is validated by the metrics of its retrievals.
        """
        if not data.validation:
            return None
        if self.role == Expander.role:
            return lambda: validate_retrieval(data.validation, context)
        done = [one for one in _retrieved(data.validation, context, VALIDATION, True) if one.error is None]
        return lambda: _validate(done, context)


def _retrieved(questions: Sequence[Question], context: Context, name: str, goes_on: bool) -> list[Retrieval]:
    """Retrieve by the main expander and write the results, or read those of an unfinished training."""
    file = context.folder / name
    if goes_on and file.exists():
        kept = list(read_retrievals(file))
        # A file that was cut, or is of other questions, is not taken for the whole.
        if [one.question.id for one in kept] == [question.id for question in questions]:
            return kept
    done: list[Retrieval] = []
    context.notify("method", {"name": "retrieval", "total": len(questions), "completed": 0, "failed": 0})
    for batch in batched(questions, context.batch):
        done += context.session.retrieve(batch, None, False)
        context.notify("batch", {"completed": len(done), "failed": sum(one.error is not None for one in done)})
    write_jsonl(file, map(record_from_retrieval, done))
    return done


def _validate(done: Sequence[Retrieval], context: Context) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for batch in batched(done, context.batch):
        answers = context.driver.read([one.question for one in batch], [one.subgraph for one in batch])
        for one, answer in zip(batch, answers, strict=True):
            for metric, value in answer_scores(attrs.evolve(one, answer=answer)).items():
                values.setdefault(metric, []).append(value)
    return {metric: sum(some) / len(some) for metric, some in values.items()}
