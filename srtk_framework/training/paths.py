"""Training on paths: questions with answers, and the relation paths to these that a supervision finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.evaluation.metrics import row
from srtk_framework.graph.path_instances import with_gold_triples
from srtk_framework.host.ports import driver_of
from srtk_framework.recipe.recipe import Block, Recipe, Train
from srtk_framework.records.training_examples import read_training_examples, write_training_examples
from srtk_framework.roles import Expander, Supervision
from srtk_framework.training.material import Context, TrainingData, Wrong, held_by
from srtk_framework.training.question_sets import NAMES, QuestionSets, hash_of
from srtk_framework.values import Question, RunError, TrainingExample, batched

if TYPE_CHECKING:
    from srtk_framework.recipe.composer import Composer

EXAMPLES = "training_examples.jsonl"
"""File of the training examples in the folder of a training."""


@attrs.frozen
class PathMaterial:
    """Questions and the paths to their answers.

    Attributes:
        sets: Training and validation questions.
        supervision: Driver that finds the paths.
    """

    sets: QuestionSets
    supervision: Supervision | None
    names = NAMES
    pipeline_tag = "feature-extraction"
    hashed = "the questions"

    @classmethod
    def of(
        cls,
        composer: Composer,
        recipe: Recipe,
        train: Train,
        block: Block,
        driver: Any,
        expander: Expander | None,
        wrong: Wrong,
    ) -> PathMaterial:
        """Build the material that a recipe names."""
        if expander is not None and not any(driver_of(one) is driver.driver for one in held_by(expander)):
            wrong(block.where, f"the main expander does not use this {block.role}, so training it has no effect")
        named = train.supervision or recipe.blocks.get("supervision")
        if named is None:
            wrong(("train",), "train needs `supervision:`, such as {use: gold-path} or {use: shortest-path}")
        supervision = composer.build(named) if named else None
        sets = QuestionSets.of(composer, recipe, train, wrong)
        searching = expander is not None or any(b.role == "expander" for b in recipe.blocks.values())
        if sets.given is not None and not searching:
            wrong(("train", "validation"), "validation needs an expander, but the recipe has none; add `expander: …`")
        return cls(sets, supervision)

    @property
    def described(self) -> str:
        """The fingerprint of the supervision."""
        return self._supervision.fingerprint()

    @property
    def _supervision(self) -> Supervision:
        assert self.supervision is not None
        return self.supervision

    def read(self, context: Context) -> TrainingData:
        """Read the questions, and link those without links; questions that cannot be linked stay as they are."""
        learning, validation = (_linked(some, context) for some in self.sets.read(context.seed))
        hashes = {"questions": hash_of(learning), "validation": hash_of(validation)}
        return TrainingData(hashes, {"questions": len(learning), "validation": len(validation)}, learning, validation)

    def examples(
        self, data: TrainingData, context: Context, goes_on: bool
    ) -> tuple[list[TrainingExample], dict[str, int]]:
        """Find paths for the questions, or read the training examples of an unfinished training."""
        examples, counts = examples_of(data.learning, context, goes_on, self._supervision.supervise, _is_trainable)
        counts["pathless"] = sum(not example.paths for example in examples)
        if not counts["lessons"]:
            raise RunError(
                f"none of the {len(data.learning)} training questions has a path between topic and answer"
                f" ({counts['unlinked']} have no link in the graph); see {context.folder / EXAMPLES}"
            )
        return [example for example in examples if _is_trainable(example)], counts

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return the mean metrics of the main expander's retrievals for the validation questions."""
        return (lambda: _validate(data.validation, context)) if data.validation else None

    def summary(self, counts: Mapping[str, int]) -> str:
        """Say how many questions were trained on, and how many lack a path."""
        return f"{counts['lessons']} questions; {counts['pathless']} have no path between topic and answer"

    def card_line(self, counts: Mapping[str, int]) -> str:
        """Say how many questions were trained on and validated with."""
        lacking = f" ({counts['pathless']} without a path between topic and answer)"
        trained = f"Trained on {counts['lessons']} of {counts['questions']} questions{lacking};"
        return f"{trained} {counts['validation']} others chose the best weights."


def examples_of(
    questions: Sequence[Question],
    context: Context,
    goes_on: bool,
    supervise: Callable[[Sequence[Question]], Sequence[Any]],
    is_trainable: Callable[[TrainingExample], bool],
) -> tuple[list[TrainingExample], dict[str, int]]:
    """Make an example of each question and write them down, or read those of an unfinished training.

    Returns:
        All examples, and the numbers of those without a link and of those to train on.
    """
    file = context.folder / EXAMPLES
    if goes_on and file.exists():
        examples = read_training_examples(file)
    else:
        examples = []
        context.notify("method", {"name": "supervision", "total": len(questions), "completed": 0, "failed": 0})
        for batch in batched(questions, context.batch):
            rows = supervise(batch)
            examples += [TrainingExample(q, tuple(paths)) for q, paths in zip(batch, rows, strict=True)]
            failed = sum(not is_trainable(one) for one in examples)
            context.notify("batch", {"completed": len(examples), "failed": failed})
        write_training_examples(file, examples)
    return examples, {
        "unlinked": sum(not example.question.links for example in examples),
        "pathless": 0,
        "lessons": sum(is_trainable(example) for example in examples),
    }


def _is_trainable(example: TrainingExample) -> bool:
    return bool(example.paths or example.question.gold_triples)


def _linked(questions: Sequence[Question], context: Context) -> list[Question]:
    done: list[Question] = []
    for batch in batched(questions, context.batch):
        done += [item if isinstance(item, Question) else item.question for item in context.retriever.link(batch)]
    return done


def _validate(questions: Sequence[Question], context: Context) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    graph = context.retriever.graph
    for batch in batched(questions, context.batch):
        done = context.retriever.retrieve(batch, None, False)
        gold = [retrieval.question for retrieval in done]
        if graph is not None:
            gold = with_gold_triples(graph, gold)
        for retrieval, question in zip(done, gold, strict=True):
            for name, value in row(attrs.evolve(retrieval, question=question)).metrics.items():
                if value is not None:
                    values.setdefault(name, []).append(value)
    return {name: sum(some) / len(some) for name, some in values.items()}
