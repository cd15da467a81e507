"""Training on paths: questions with answers, and the relation paths to these that a supervision finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import attrs
from srtk_plugin_evaluation.metrics import row

from srtk_framework.graph import with_gold_triples
from srtk_framework.host import driver_of
from srtk_framework.recipe import Block, Composer
from srtk_framework.records import read_training_examples, write_training_examples
from srtk_framework.roles import GraphExamples, KnowledgeGraph, Supervision
from srtk_framework.text import link_topics
from srtk_framework.values import (
    END,
    InputError,
    Path,
    Question,
    RankedPath,
    RunError,
    TrainingExample,
    batched,
)
from srtk_plugin_training.material import (
    NO_HELD_OUT,
    NO_TEXTS,
    Context,
    Examples,
    Given,
    Material,
    TrainingData,
    held_by,
)
from srtk_plugin_training.question_sets import QuestionSets, data_of, hash_of, read, source_of, words
from srtk_plugin_training.train_key import QuestionSet

EXAMPLES = "training_examples.jsonl"  # File of the training examples in the folder of a training.
_LEAST_SEVERAL = 20  # Fewest validation questions of several topics that anything is chosen by.


@attrs.frozen
class GraphSet:
    """Questions about a graph of their own.

    Attributes:
        questions: A file or a dataset.
        graph: Their graph.
        supervision: Driver that finds their paths.
    """

    questions: Any
    graph: KnowledgeGraph
    supervision: Supervision


@attrs.frozen
class PathMaterial(Material):
    """Questions and the paths to their answers.

    Attributes:
        sets: Training and validation questions about the recipe's graph.
        supervision: Driver that finds the paths in the recipe's graph; None where all questions are about other graphs.
        elsewhere: Training questions about other graphs.
    """

    sets: QuestionSets
    supervision: Supervision | None
    elsewhere: tuple[GraphSet, ...] = ()
    names: ClassVar[Mapping[str, str]] = {**Material.names, "sets": "the questions of the sets"}
    refuses: ClassVar[Mapping[str, str]] = {**NO_TEXTS, **NO_HELD_OUT}

    summary = "{lessons} questions; {pathless} have no path between topic and answer"
    card = (
        "Trained on {lessons} of {questions} questions ({pathless} without a path between topic and answer);"
        " {validation} others chose the best weights."
    )

    @classmethod
    def of(cls, given: Given) -> PathMaterial:
        """Build the material that a recipe names."""
        recipe, train, block, expander, wrong = given.recipe, given.train, given.block, given.expander, given.wrong
        driver = given.driver.driver
        if expander is not None and not any(driver_of(one) is driver for one in held_by(expander)):
            wrong(block.where, f"the main expander does not use this {block.role}, so training it has no effect")
        if train.sets and not driver.several_graphs:
            wrong(("train", "sets"), f"the {block.role} {block.use!r} learns from one graph alone; omit sets")
        named = train.supervision or recipe.blocks.get("supervision")
        own = train.questions is not None or not train.sets
        if named is None and (own or not all(one.supervision for one in train.sets)):
            wrong(("train",), "train needs `supervision:`, such as {use: gold-path} or {use: shortest-path}")
        supervision = given.composer.build(named) if named and own else None
        sets = QuestionSets.of(given)
        searching = expander is not None or any(b.role == "expander" for b in recipe.blocks.values())
        if sets.given is not None and not searching:
            wrong(("train", "validation"), "validation needs an expander, but the recipe has none; add `expander: …`")
        return cls(sets, supervision, tuple(_graph_set(given.composer, one, named) for one in train.sets))

    @property
    def supervisions(self) -> Sequence[Supervision]:
        """The drivers that find the paths."""
        own = [] if self.supervision is None else [self.supervision]
        return [*own, *(one.supervision for one in self.elsewhere)]

    @property
    def described(self) -> str:
        """The fingerprints of the supervisions."""
        return ", ".join(one.fingerprint() for one in self.supervisions)

    def read(self, context: Context) -> TrainingData:
        """Read the questions, and link those without links; questions that cannot be linked stay as they are.

        Questions about other graphs bring their links: the recipe's linker knows the recipe's graph.
        """
        learning, validation = (_linked(some, context) for some in self.sets.read(context.seed))
        elsewhere = [list(read(one.questions)) for one in self.elsewhere]
        for number, some in enumerate(elsewhere, 1):
            if not some:
                raise InputError(f"set {number} has no question; check `part` and `limit` under `sets:`")
            texts = {words(question) for question in some}
            shared = [question for question in validation if words(question) in texts]
            if shared:
                raise RunError(
                    f"{len(shared)} of {len(validation)} validation questions are also in set {number}, by text (the"
                    f" first is {shared[0].id!r}); give other questions"
                )
            for before in range(number - 1):
                if self.elsewhere[before].graph is self.elsewhere[number - 1].graph and elsewhere[before] == some:
                    raise InputError(f"set {number} has the questions and the graph of set {before + 1}; name it once")
        data = data_of(learning, validation)
        others = [question for some in elsewhere for question in some]
        return attrs.evolve(
            data,
            hashes={**data.hashes, **({"sets": hash_of(others)} if elsewhere else {})},
            counts={**data.counts, "questions": len(learning) + len(others)},
            elsewhere=elsewhere,
        )

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Find paths for the questions, or read the training examples of an unfinished training."""
        own = [] if self.supervision is None else [(data.learning, self.supervision.supervise)]
        others = [(some, one.supervision.supervise) for some, one in zip(data.elsewhere, self.elsewhere, strict=True)]
        rows, counts = examples_of([*own, *others], context, goes_on, _is_trainable)
        counts["pathless"] = sum(not example.paths for found in rows for example in found)
        rows = [[example for example in found if _is_trainable(example)] for found in rows]
        for number, found in enumerate(rows, 1 - len(own)):
            if not found:
                whose = f"the questions of set {number}" if number else f"the {len(data.learning)} training questions"
                raise RunError(
                    f"none of {whose} has a path between topic and answer"
                    f" (without a link: {counts['unlinked']}); see {context.folder / EXAMPLES}"
                )
        elsewhere = [
            GraphExamples(one.graph, found) for one, found in zip(self.elsewhere, rows[len(own) :], strict=True)
        ]
        several = [one for one in data.validation if len(set(link_topics(one.links).values())) > 1]
        validate = (lambda: validate_retrieval(several, context)) if len(several) >= _LEAST_SEVERAL else None
        return Examples(rows[0] if own else [], elsewhere, counts, validate)

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return the mean metrics of the main expander's retrievals for the validation questions."""
        if not data.validation:
            return None
        right = self._right_paths(data.validation, context)
        return lambda: validate_retrieval(data.validation, context, right)

    def _right_paths(self, questions: Sequence[Question], context: Context) -> list[set[Path]]:
        """Return the gold paths of each question; without any, the best paths by the supervision."""
        right = [set(question.gold_paths or ()) for question in questions]
        if self.supervision is not None:
            for batch in batched([i for i, paths in enumerate(right) if not paths], context.batch):
                found = self.supervision.supervise([questions[i] for i in batch])
                for i, paths in zip(batch, found, strict=True):
                    right[i] = {path.steps for path in paths if path.score == paths[0].score}
        return right


def examples_of(
    parts: Sequence[tuple[Sequence[Question], Callable[[Sequence[Question]], Sequence[Any]]]],
    context: Context,
    goes_on: bool,
    is_trainable: Callable[[TrainingExample], bool],
) -> tuple[list[list[TrainingExample]], dict[str, int]]:
    """Make an example of each question and write them, or read the examples of an unfinished training.

    Args:
        parts: Rows of questions, each with the function that finds their paths.
        context: Where they are written to.
        goes_on: Whether the folder may have them from before.
        is_trainable: Whether a driver can learn from an example.

    Returns:
        All examples, one row for each part, and the numbers of those without a link and of those to train on.
    """
    file = context.folder / EXAMPLES
    if goes_on and file.exists():
        examples = read_training_examples(file)
    else:
        examples = []
        total = sum(len(questions) for questions, _ in parts)
        context.notify("method", {"name": "supervision", "total": total, "completed": 0, "failed": 0})
        for questions, supervise in parts:
            for batch in batched(questions, context.batch):
                found = supervise(batch)
                examples += [TrainingExample(q, tuple(paths)) for q, paths in zip(batch, found, strict=True)]
                failed = sum(not is_trainable(one) for one in examples)
                context.notify("batch", {"completed": len(examples), "failed": failed})
        write_training_examples(file, examples)
    rest = iter(examples)
    return [list(islice(rest, len(questions))) for questions, _ in parts], {
        "unlinked": sum(not example.question.links for example in examples),
        "pathless": 0,
        "lessons": sum(is_trainable(example) for example in examples),
    }


def _graph_set(composer: Composer, one: QuestionSet, named: Block | None) -> GraphSet:
    """Build a set; its dataset and supervision see its graph in the place of the recipe's."""
    block = one.supervision or named
    # A set without one has been told as a mistake of the recipe.
    supervision: Any = composer.build(block, one.knowledge_graph) if block else None
    return GraphSet(
        source_of(composer, one.questions, one.knowledge_graph),
        composer.build(one.knowledge_graph),
        supervision,
    )


def _is_trainable(example: TrainingExample) -> bool:
    return bool(example.paths or example.question.gold_triples)


def _linked(questions: Sequence[Question], context: Context) -> list[Question]:
    done: list[Question] = []
    for batch in batched(questions, context.batch):
        done += [item if isinstance(item, Question) else item.question for item in context.session.link(batch)]
    return done


def validate_retrieval(
    questions: Sequence[Question], context: Context, right: Sequence[Collection[Path]] = ()
) -> dict[str, float]:
    """Return the mean metrics of the main expander's retrievals for questions.

    The answers of few questions are soon complete, so the rank of the right path shows more. Where right paths are
    given and the expander returns paths, ``path_mrr`` is the mean reciprocal rank of the first right path, over the
    questions with right paths.

    Args:
        questions: The questions.
        context: Context with the session.
        right: The right paths of each question.
    """
    values: dict[str, list[float]] = {}
    ranked: list[Sequence[RankedPath]] = []
    graph = context.session.graph
    for batch in batched(questions, context.batch):
        done = context.session.retrieve(batch, None, False)
        ranked += [retrieval.subgraph.paths for retrieval in done]
        gold = [retrieval.question for retrieval in done]
        if graph is not None:
            gold = with_gold_triples(graph, gold)
        for retrieval, question in zip(done, gold, strict=True):
            for name, value in row(attrs.evolve(retrieval, question=question)).metrics.items():
                if value is not None:
                    values.setdefault(name, []).append(value)
    if any(ranked) and any(right):
        values["path_mrr"] = [_reciprocal(paths, of) for paths, of in zip(ranked, right, strict=True) if of]
    return {name: sum(some) / len(some) for name, some in values.items()}


def _reciprocal(paths: Sequence[RankedPath], right: Collection[Path]) -> float:
    """Return the reciprocal rank of the first right path; 0 without any."""
    walked = [path.steps[:-1] if path.steps[-1:] == (END,) else path.steps for path in paths]
    return next((1 / place for place, steps in enumerate(walked, 1) if steps in right), 0.0)
