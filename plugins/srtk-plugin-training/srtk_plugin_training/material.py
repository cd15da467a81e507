"""Materials of training: the kinds of data that drivers learn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs

from srtk_framework.recipe import Block, Composer, Recipe
from srtk_framework.roles import Expander, GraphExamples, Role
from srtk_framework.run import Session
from srtk_framework.values import Entry, Question, TrainingExample, Triple
from srtk_plugin_training.train_key import Train

# Notes a mistake of a recipe: the keys that lead to it, and a sentence.
Wrong = Callable[[tuple[str | int, ...], str], None]

# Refuses texts; see ``Material.refuses``.
NO_TEXTS = {"texts": "the {role} {use!r} does not learn from texts; omit texts"}
# Refuses questions about other graphs.
NO_SETS = {"sets": "the {role} {use!r} does not learn from questions' paths; omit sets"}
# Refuses facts or texts that are held out.
NO_HELD_OUT = {"held_out": "held_out is for drivers that learn from a graph; give `validation:` instead"}


def no_questions(source: str, parts: str) -> dict[str, str]:
    """Refuse questions, since a driver learns from, and is validated on, parts of another source."""
    text = f"the {{role}} learns from {source}, not from questions; omit "
    held = f"validation, and give `held_out: {{{{share: 0.05}}}}` to validate with {parts}"
    return {"questions": text + "questions", "validation": text + held, "supervision": text + "supervision"}


Notify = Callable[[str, Mapping[str, Any]], None]  # Tells the observers of a session of an event.


@attrs.frozen
class Context:
    """Context in which a material reads and validates.

    Attributes:
        driver: Port of the driver to train.
        session: Links and retrieves with open drivers.
        folder: Folder of the training.
        seed: Of everything random.
        batch: Number of questions in a batch.
        notify: Reports the progress to the observers.
    """

    driver: Any
    session: Session
    folder: Path
    seed: int
    batch: int
    notify: Notify


@attrs.frozen
class TrainingData:
    """Data that a training reads before it begins.

    Attributes:
        hashes: Name of a part of the data to its hash; any difference is another training.
        counts: Numbers for the record, the card and the report.
        learning: Training questions.
        validation: Validation questions.
        held_out: Facts held out, sorted.
        texts: Training texts.
        held_out_texts: Texts held out.
        elsewhere: Training questions about other graphs, one row for each set.
    """

    hashes: Mapping[str, str]
    counts: Mapping[str, int]
    learning: Sequence[Question] = ()
    validation: Sequence[Question] = ()
    held_out: Sequence[Triple] = ()
    texts: Sequence[Entry] = ()
    held_out_texts: Sequence[Entry] = ()
    elsewhere: Sequence[Sequence[Question]] = ()


@attrs.frozen
class Examples:
    """Training examples of a driver.

    Attributes:
        own: Examples about the driver's graph.
        elsewhere: Examples about other graphs.
        counts: Numbers of examples, and of questions that give none.
        validate_topics: Validates the driver on questions of several topics; None where there are too few.
    """

    own: Sequence[TrainingExample] = ()
    elsewhere: Sequence[GraphExamples] = ()
    counts: Mapping[str, int] = attrs.field(factory=dict)
    validate_topics: Callable[[], Mapping[str, float]] | None = None


@attrs.frozen
class Given:
    """Parts of a recipe from which a material is built.

    Attributes:
        composer: Builds the drivers.
        recipe: The recipe.
        train: Its key ``train``.
        block: Block of the driver to train.
        driver: Port of this driver.
        expander: The main expander, or None.
        wrong: Notes a mistake of the recipe.
    """

    composer: Composer
    recipe: Recipe
    train: Train
    block: Block
    driver: Any
    expander: Expander | None
    wrong: Wrong


class Material:
    """A kind of data that drivers learn from; there is a module for each.

    Attributes:
        refuses: Keys of ``train`` that are mistakes, with the reason: format strings of the driver's ``role`` and
            ``use``.
        names: Parts of the data in words, by their names in ``TrainingData.hashes``.
        hashed: Parts of the data that are hashed, for the model card.
        summary: Line on the training for the terminal: a format string of the counts.
    """

    refuses: ClassVar[Mapping[str, str]] = {}
    names: ClassVar[Mapping[str, str]] = {
        "questions": "the training questions",
        "validation": "the validation questions",
    }
    hashed: ClassVar[str] = "the questions"
    summary: ClassVar[str] = "{lessons} questions"

    @property
    def card(self) -> str:
        """Line on the training for the model card: a format string of the counts."""
        raise NotImplementedError

    @property
    def pipeline_tag(self) -> str:
        """Kind of the model for model hubs."""
        return "feature-extraction"

    @property
    def supervisions(self) -> Sequence[Any]:
        """Ports of the drivers that make the training examples."""
        return ()

    @property
    def described(self) -> str:
        """Origin of the examples, for the record of the training."""
        raise NotImplementedError

    def read(self, context: Context) -> TrainingData:
        """Read and check the data.

        Raises:
            RunError: If there is nothing to train on, or training and validation data overlap.
            InputError: If data cannot be read.
        """
        raise NotImplementedError

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Make and count the training examples, or read the examples of an unfinished training.

        Raises:
            RunError: If there is nothing to train on.
        """
        return Examples()

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return the function that validates the driver; None without data, or if the driver validates itself."""
        return None


def held_by(*drivers: Any) -> list[Any]:
    """List drivers (or ports) and all drivers within them, outer ones first."""
    found: list[Any] = []
    waiting = [one for one in drivers if one is not None]
    while waiting:
        one = waiting.pop(0)
        found.append(one)
        if isinstance(one, Role):
            lists = [value if isinstance(value, list | tuple) else [value] for value in one.settings().values()]
            waiting += [value for row in lists for value in row if isinstance(value, Role)]
    return found
