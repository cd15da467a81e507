"""The roles: one abstract class each, whose methods are the hook specifications.

A driver is an ``attrs.define`` class that derives from a role. Its fields are its settings, and fields
annotated with a role are its needs. Every method takes a batch and returns a list aligned with it; no
method changes its arguments or keeps state between questions. Drivers raise ``DriverError`` with a
sentence that says what to do. Hook arguments have no defaults: callers name every one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import attrs
import pluggy

from srtk_framework.dialogue import Prompt, Reply
from srtk_framework.errors import DriverError
from srtk_framework.types import (
    Answer,
    Budget,
    FoundPaths,
    Frontier,
    Lesson,
    Link,
    Mention,
    NodeSet,
    Path,
    Pattern,
    Qualifier,
    Question,
    RankedPath,
    Retrieval,
    Schema,
    Step,
    Subgraph,
    Triple,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PROJECT = "srtk"

_spec = pluggy.HookspecMarker(PROJECT)
hook = _spec(firstresult=True)


class Role(ABC):  # noqa: B024 - its subclasses have the abstract methods
    """What all roles share: a life cycle and a fingerprint.

    Attributes:
        role: Name of the role in recipes; the entry-point group is ``srtk.<role>``.
    """

    role: ClassVar[str] = ""

    def open(self) -> None:  # noqa: B027 - most drivers have nothing to open
        """Load what is heavy (a model, a file, a connection); called once before the first hook."""

    def close(self) -> None:  # noqa: B027 - nor to close
        """Let go of what ``open`` took; called once, also after an error."""

    def fingerprint(self) -> str:
        """Identify what the driver computes: equal fingerprints, equal results.

        The default names the class and its settings, without those that are kept out of its ``repr``, such as a key;
        a driver over data or weights adds their hash.
        """
        cls: type[Any] = type(self)
        fields = attrs.fields(cls) if attrs.has(cls) else ()
        parts = []
        for field in fields:
            value = getattr(self, field.name)
            if field.init and field.repr:
                parts.append(f"{field.name}={value.fingerprint() if isinstance(value, Role) else value!r}")
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"


class KnowledgeGraph(Role):
    """A graph of triples, read in batches of frontiers (sorted node sets).

    Required: ``frontiers``, ``steps``, ``follow``, ``triples``, ``labels``, ``find``, ``source``. The others have
    defaults that work on any graph, and should be replaced where the graph can do better. Order of nodes,
    everywhere, is that of their ids by code point, so that a limit cuts the same nodes on every graph.
    """

    role = "knowledge_graph"

    @hook
    @abstractmethod
    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids; ids that the graph lacks, and literals, are left out."""

    @hook
    @abstractmethod
    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted; forward only unless ``inverse``."""

    @hook
    @abstractmethod
    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Walk ``steps[i]`` from every node of ``frontiers[i]``.

        Args:
            frontiers: Where to start.
            steps: One for each frontier.
            limit: Most neighbours read for one node, first in order of id; None for all.

        Returns:
            The entities reached, without literals; ``cut`` counts the neighbours that ``limit`` left out.
        """

    @hook
    @abstractmethod
    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples that ``follow`` walks, literals included.

        Returns:
            Per pair, distinct triples in their own direction, sorted by the node they were walked from,
            then by the node reached.
        """

    @hook
    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples that fit each pattern, sorted; at least one end must be bound.

        Raises:
            DriverError: If a pattern binds neither subject nor object and the graph cannot enumerate.
        """
        from srtk_framework.reading import match

        return match(self, patterns)

    @hook
    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier, nearest first, both directions.

        Stops at ``budget.triples`` triples; each node gives at most ``budget.hub`` neighbours a step,
        and each hop goes on from at most ``budget.nodes`` nodes.
        """
        from srtk_framework.reading import neighbourhood

        return neighbourhood(self, frontiers, hops, budget)

    @hook
    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths that lead from some entity of ``starts[i]`` to some entity of ``ends[i]``.

        What it finds and counts is said at ``paths.find_paths``, the default. A graph that can search by itself may
        find paths that the limits hide from the default, and then counts nothing as cut.
        """
        from srtk_framework.paths import find_paths

        return find_paths(self, starts, ends, hops, budget, shortest, inverse)

    @hook
    @abstractmethod
    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Name each entity, relation or literal in words; the id itself where there is no label."""

    @hook
    @abstractmethod
    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities whose label or alias equals each name after ``text.fold``, sorted by id."""

    @hook
    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples in which each id is subject or object; 0 for unknown ids."""
        from srtk_framework.reading import degrees

        return degrees(self, ids)

    @hook
    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple's statement, sorted; none by default."""
        return [() for _ in triples]

    @hook
    def schema(self) -> Schema:
        """Name the relations and nodes with a special meaning."""
        return Schema()

    @hook
    @abstractmethod
    def source(self) -> str:
        """Say where triples are read from, as ``provenance`` shows it: stable for the same data."""


class MentionDetector(Role):
    """Finds where a text may name something, without saying what."""

    role = "mention_detector"

    @hook
    @abstractmethod
    def detect(self, texts: Sequence[str]) -> Sequence[Sequence[Mention]]:
        """Find the mentions of each text.

        Returns:
            Per text, mentions ordered by start, then by end. Each span comes once; spans may overlap, as that of a name
            within a longer name. They count characters of the original text, with no blanks at their ends.
        """


class EntityLinker(Role):
    """Finds entities of the graph in text."""

    role = "entity_linker"

    @hook
    @abstractmethod
    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        """Link each text.

        Returns:
            Per text, links ordered by start of span, then by falling score, then by entity. Links that
            share a span are alternatives (n-best). Spans count characters of the original text. A ``LinkList``
            in place of a list says besides which linkers failed on the text, and which titles have no id.
        """


class PathScorer(Role):
    """Scores the next step of a path against a question."""

    role = "path_scorer"

    @hook
    @abstractmethod
    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Score each candidate as continuation of its path.

        Args:
            questions: Text of the question, one for each path.
            paths: Steps taken so far; may be empty.
            candidates: Possible next steps of each path; may contain END.

        Returns:
            Per path one number for each candidate, which the caller adds up along the path; higher is better.
        """

    @hook
    def scores_end(self) -> bool:
        """Tell whether END is scored when the depth forces it (False: it is free then)."""
        return False


class HopState:
    """Base of what a hop-wise expander carries for one question between hops.

    Attributes:
        done: True when no further hop is wanted.
        answer: What the reader made of the last hop's subgraph, where a reader ends the search (``stop: reader``).
    """

    done: bool = False
    answer: Answer | None = None


class Expander(Role):
    """Turns questions with links into subgraphs.

    A one-shot expander writes ``expand``. A hop-wise one writes ``start``, ``step`` and ``result``; the
    core's loop (``expansion.run_hops``) then runs it, so that it has no stop rule of its own.
    """

    role = "expander"

    @hook
    def expand(self, questions: Sequence[Question]) -> Sequence[Subgraph]:
        """Retrieve a subgraph for each question, best triples first, within the budget.

        A question without links, or whose links are not in the graph, gives an empty subgraph whose
        trace has a ``reason``.
        """
        from srtk_framework.expansion import run_hops

        budget = getattr(self, "budget", None)
        return run_hops(self, questions, budget.seconds if isinstance(budget, Budget) else None)

    @hook
    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question before the first hop."""
        raise NotImplementedError

    @hook
    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Go one hop further with states that are not done."""
        raise NotImplementedError

    @hook
    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        """Make the subgraph of each state."""
        raise NotImplementedError


class Exporter(Role):
    """Writes retrievals; ``open`` starts the output, ``close`` completes it.

    What stood at the target before stays whole until ``close`` replaces it.
    """

    role = "exporter"

    @hook
    @abstractmethod
    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Add retrievals to the output, in order; return how many were written."""

    @hook
    def abort(self) -> bool:
        """Drop what was written since ``open``: the run failed. Called before ``close``; returns True."""
        return True


class Encoder(Role):
    """Turns texts into vectors."""

    role = "encoder"

    @hook
    @abstractmethod
    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]; a text's row depends on the text alone."""


class Generator(Role):
    """Replies to prompts, as a language model does."""

    role = "generator"

    @hook
    @abstractmethod
    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """Reply to each prompt by itself.

        Returns:
            Per prompt a reply, or one whose ``error`` says why there is none: too long for the model, refused, over
            the budget. A DriverError is for what stops them all: no server, a wrong key.
        """

    @hook
    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        """Rate the options of each prompt, one number each, higher is better; log-likelihoods for language models.

        Raises:
            DriverError: If the driver cannot (``rates`` is False).
        """
        raise DriverError("this generator does not rate options; let it choose by `generate`")

    @hook
    def rates(self) -> bool:
        """Tell whether ``rate`` works."""
        return False

    @hook
    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens of each text; an estimate by words and marks where the driver has no tokenizer."""
        from srtk_framework.text import count_tokens

        return [count_tokens(text) for text in texts]


class Reader(Role):
    """Answers questions from subgraphs."""

    role = "reader"

    @hook
    @abstractmethod
    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer]:
        """Answer each question from its subgraph alone; ``Answer.enough`` is False where that does not suffice."""

    @hook
    def refuses(self) -> bool:
        """Tell whether the reader can say that a subgraph does not suffice; only then may it end a search."""
        return False


class Dataset(Role):
    """Reads a public question format."""

    role = "dataset"

    @hook
    @abstractmethod
    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file; raises InputError with file and line."""


class Supervision(Role):
    """Finds what a method should have found for questions whose answers are known."""

    role = "supervision"

    @hook
    @abstractmethod
    def supervise(self, questions: Sequence[Question]) -> Sequence[Sequence[RankedPath]]:
        """Find the relation paths that lead from each question's linked entities to its answers.

        Returns:
            Per question, paths without END, their scores the quality between 0 and 1, best first, ties in the order of
            ``expansion.path_order``; none where the question has no links, no gold, or no path. What a limit hid is
            never taken for absent: such a question is told by a warning of the driver's logger.
        """


@attrs.frozen
class Course:
    """What a driver is trained with.

    Attributes:
        lessons: To learn from, in a fixed order.
        validate: Runs the recipe's retrieval on the validation questions with the driver as it is at this moment, and
            returns its metrics by name; None without validation questions.
        folder: For checkpoints, logs, and whatever else is needed to go on after an interruption.
        seed: Of everything random.
    """

    lessons: Sequence[Lesson]
    validate: Callable[[], Mapping[str, float]] | None
    folder: FilePath
    seed: int = 0


@runtime_checkable
class Trainable(Protocol):
    """What a driver of any role has in order to be trained by a recipe.

    The annotation of ``fit``'s second argument is an attrs class: the settings of the training, which the recipe
    gives below ``train.fit``.
    """

    def fit(self, course: Course, training: Any) -> Mapping[str, float]:
        """Learn, going on from ``course.folder`` where an earlier call was interrupted; return the final figures."""

    def save(self, folder: FilePath) -> None:
        """Write all that was learnt, so that ``load`` in a new process computes the same."""

    def load(self, folder: FilePath) -> None:
        """Take over what ``save`` wrote; called after ``open``."""

    def fingerprint(self) -> str:
        """Identify what the driver computes, learnt weights included."""


ROLES: dict[str, type[Role]] = {
    role.role: role
    for role in (
        KnowledgeGraph,
        MentionDetector,
        EntityLinker,
        PathScorer,
        Expander,
        Exporter,
        Encoder,
        Generator,
        Reader,
        Dataset,
        Supervision,
    )
}


def hook_names(role: type[Role]) -> dict[str, Any]:
    """Return the hook specifications of a role: method name to function."""
    marker = f"{PROJECT}_spec"
    return {name: getattr(role, name) for name in dir(role) if hasattr(getattr(role, name), marker)}


__all__ = [
    "ROLES",
    "Course",
    "Dataset",
    "Encoder",
    "EntityLinker",
    "Expander",
    "Exporter",
    "Generator",
    "HopState",
    "KnowledgeGraph",
    "MentionDetector",
    "NodeSet",
    "PathScorer",
    "Reader",
    "Role",
    "Supervision",
    "Trainable",
]
