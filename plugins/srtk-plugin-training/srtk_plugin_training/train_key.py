"""The key ``train`` of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from srtk_framework.recipe import Block, Blocks, Where
from srtk_framework.values import between, close_matches, shortened


@attrs.frozen
class HeldOut:
    """Facts of a graph that are held out of a training.

    Attributes:
        share: Share of the facts, above 0 and below 1.
    """

    share: float = attrs.field(validator=between(above=0, below=1))


@attrs.frozen
class QuestionSet:
    """Training questions with a graph of their own, as ``sets`` of ``train`` lists them.

    Attributes:
        questions: A file, or a dataset.
        knowledge_graph: Graph that the questions are about.
        supervision: Driver that finds their paths; None for the supervision of ``train`` or of the top level.
        where: Keys that lead to the set in the recipe.
    """

    questions: str | Block
    knowledge_graph: Block
    supervision: Block | None
    where: Where


@attrs.frozen
class Train:
    """The key ``train``: a driver of the recipe that learns before the run.

    Attributes:
        driver: Role of the driver, which is given at the top level.
        questions: Training questions: a file, or a dataset; None for a driver that learns from a graph.
        validation: A file, a dataset, or a share of the questions; None for no validation.
        supervision: Driver that finds the paths of the questions; None for the supervision at the top level.
        folder: For checkpoints, logs and the trained model; None for ``training`` in the run's folder.
        fit: Settings of the training, as written.
        held_out: Facts of its graph, or texts, on which the driver does not train; None for none.
        texts: Corpus that the driver learns from; None for a driver that does not learn from texts.
        sets: Training questions about other graphs than the recipe's.
    """

    driver: str
    questions: str | Block | None
    validation: str | Block | float | None
    supervision: Block | None
    folder: str | None
    fit: Mapping[str, Any] = attrs.field(hash=False)
    held_out: HeldOut | None = None
    texts: Block | None = None
    sets: tuple[QuestionSet, ...] = ()

    @property
    def share(self) -> float | None:
        """Share of the facts, or of the texts, that is held out; None for none."""
        return None if self.held_out is None else self.held_out.share


def read_train(data: Any, blocks: Blocks) -> Train | None:
    """Read the value of ``train``; None where it has a mistake."""
    known = [field.name for field in attrs.fields(Train)]
    if not isinstance(data, Mapping):
        blocks.wrong(("train",), f"train is a mapping with {', '.join(known)}")
        return None
    blocks.known(data, known, ("train",))
    count = len(blocks.problems)
    driver, folder, fit = data.get("driver", "path_scorer"), data.get("folder"), data.get("fit") or {}
    if driver not in blocks.roles:
        text = f"driver is the role of what learns, not {shortened(repr(driver))}.{close_matches(driver, blocks.roles)}"
        blocks.wrong(("train", "driver"), text)
    if folder is not None and not isinstance(folder, str):
        blocks.wrong(("train", "folder"), f"folder: expected text, got {shortened(repr(folder))}")
    if not isinstance(fit, Mapping):
        blocks.wrong(("train", "fit"), "fit is a mapping of the training's settings")
    questions = blocks.questions(data.get("questions"), ("train", "questions"))
    if data.get("questions") == "-":
        blocks.wrong(("train",), "train needs `questions:`, a file or a dataset to learn from")
    supervision = _optional(blocks, "supervision", data.get("supervision"), ("train", "supervision"))
    validation = _validation(data.get("validation"), blocks)
    held_out = _held_out(data.get("held_out"), blocks)
    texts = _optional(blocks, "corpus", data.get("texts"), ("train", "texts"))
    sets = _sets(data.get("sets"), blocks)
    if len(blocks.problems) > count:
        return None
    return Train(driver, questions, validation, supervision, folder, fit, held_out, texts, sets)


def _optional(blocks: Blocks, role: str, value: Any, where: Where) -> Block | None:
    return None if value is None else blocks.block(role, value, where)


def _sets(value: Any, blocks: Blocks) -> tuple[QuestionSet, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not value:
        blocks.wrong(
            ("train", "sets"), "sets is a list of {questions: …, knowledge_graph: {use: …}}, one for each graph"
        )
        return ()
    found = (_set(item, ("train", "sets", i), blocks) for i, item in enumerate(value))
    return tuple(one for one in found if one is not None)


def _set(value: Any, where: Where, blocks: Blocks) -> QuestionSet | None:
    known = ("questions", "knowledge_graph", "supervision")
    if not isinstance(value, Mapping):
        blocks.wrong(where, f"a set is a mapping with {', '.join(known)}")
        return None
    count = len(blocks.problems)
    blocks.known(value, known, where, " of a set")
    for key in ("questions", "knowledge_graph"):
        if value.get(key) is None or value[key] == "-":
            blocks.wrong(where, f"a set needs `{key}:`, since its questions are about its own graph")
    if len(blocks.problems) > count:
        return None
    questions = blocks.questions(value["questions"], (*where, "questions"))
    graph = blocks.block("knowledge_graph", value["knowledge_graph"], (*where, "knowledge_graph"))
    supervision = _optional(blocks, "supervision", value.get("supervision"), (*where, "supervision"))
    if questions is None or graph is None or len(blocks.problems) > count:
        return None
    return QuestionSet(questions, graph, supervision, where)


def _held_out(value: Any, blocks: Blocks) -> HeldOut | None:
    where: Where = ("train", "held_out")
    if value is None or isinstance(value, Mapping):
        return None if value is None else blocks.structured(value, HeldOut, where, "held_out")
    blocks.wrong(where, "held_out is written as {share: 0.05}")
    return None


def _validation(value: Any, blocks: Blocks) -> str | Block | float | None:
    where: Where = ("train", "validation")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if 0 < value < 1:
            return float(value)
        blocks.wrong(where, f"a share for validation lies between 0 and 1, not at {shortened(str(value))}")
        return None
    if value == "-" or isinstance(value, bool | list):
        blocks.wrong(where, "validation is a file name, a dataset, or a share such as 0.1")
        return None
    return blocks.questions(value, where)
