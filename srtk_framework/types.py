"""The values that travel between drivers: immutable, ordered, free of any graph's internals."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

import attrs
import numpy as np

T = TypeVar("T")

SCORE_DIGITS = 4
"""Scores are rounded to this many decimals before they are compared or written."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_LITERAL = re.compile(r'^"(?P<lexical>.*)"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^(?P<datatype>\S+))?$', re.DOTALL)


class Literal(str):
    """A typed value that stands where an object stands; shown and exported, never expanded.

    Its string form is that of N-Triples with ``xsd:`` for the XML Schema namespace:
    ``"1998-01-02"^^xsd:date``, ``"Riga"@lv``, ``"plain"``.
    """

    __slots__ = ()

    @classmethod
    def make(cls, lexical: str, datatype: str | None = None, language: str | None = None) -> Literal:
        """Build a literal from its lexical form and either a datatype IRI or a language tag."""
        if language:
            return cls(f'"{lexical}"@{language}')
        if datatype and datatype not in (_XSD + "string", "xsd:string"):
            short = "xsd:" + datatype[len(_XSD) :] if datatype.startswith(_XSD) else datatype
            return cls(f'"{lexical}"^^{short}')
        return cls(f'"{lexical}"')

    def _parts(self) -> dict[str, str | None]:
        found = _LITERAL.match(self)
        return found.groupdict() if found else {"lexical": str(self), "language": None, "datatype": None}

    @property
    def lexical(self) -> str:
        """The value as text, without quotes, type or language."""
        return self._parts()["lexical"] or ""

    @property
    def datatype(self) -> str | None:
        """The datatype (``xsd:date``, or a whole IRI), or None for plain and language-tagged text."""
        return self._parts()["datatype"]

    @property
    def language(self) -> str | None:
        """The language tag, or None."""
        return self._parts()["language"]


class Step(NamedTuple):
    """One relation walked with (forward) or against (inverse) its direction."""

    relation: str
    inverse: bool = False

    def __str__(self) -> str:
        if self == END:
            return "END"
        escaped = (
            "\\" + self.relation if self.relation.startswith(("^", "\\")) or self.relation == "END" else self.relation
        )
        return "^" + escaped if self.inverse else escaped

    @classmethod
    def parse(cls, text: str) -> Step:
        """Read the form that ``str`` writes: ``born_in`` forward, ``^born_in`` inverse, ``END``."""
        if text == "END":
            return END
        inverse = text.startswith("^")
        relation = text[1:] if inverse else text
        return cls(relation[1:] if relation.startswith("\\") else relation, inverse)


END = Step("")
"""The candidate that ends a path; no graph has a relation with an empty name."""

Path = tuple[Step, ...]


class Triple(NamedTuple):
    """A fact of the graph, in its own direction whatever way it was walked."""

    subject: str
    relation: str
    object: str


class Pattern(NamedTuple):
    """A triple with open places; None stands for anything."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None


@attrs.frozen
class Link:
    """An entity found in a text.

    Attributes:
        entity: Id in the graph.
        score: Between 0 and 1; 1 for links that were given.
        start: First character of the mention in the original text, or None when unknown.
        end: One past its last character, or None.
        name: Label of the entity, as the linker knows it.
        by: Name of the linker that found it; empty for links that were given. Not compared.
    """

    entity: str
    score: float = 1.0
    start: int | None = None
    end: int | None = None
    name: str = ""
    by: str = attrs.field(default="", eq=False)


LINKED_BY = "linked_by"
"""Field of a trace: the linkers whose links were taken; it stands only where a question was linked from its text."""

NIL = ""
"""Stands for the entity of a mention of something that the graph does not have, in gold links."""


class LinkList(list[Link]):
    """The links of one text, with what a linker may tell besides; compared as a list.

    Attributes:
        failed: Name of each linker that could not be asked about the text, and why.
        unmapped: Names of pages for which there is no id, or None where nothing had to be mapped.
    """

    def __init__(
        self,
        links: Iterable[Link] = (),
        failed: Mapping[str, str] | None = None,
        unmapped: Sequence[str] | None = None,
    ) -> None:
        super().__init__(links)
        self.failed: dict[str, str] = dict(failed or {})
        self.unmapped: tuple[str, ...] | None = None if unmapped is None else tuple(dict.fromkeys(unmapped))

    @classmethod
    def of(cls, links: Iterable[Link], *sources: Sequence[Link]) -> LinkList:
        """Make one of links that were made from others, keeping what those told."""
        failed: dict[str, str] = {}
        unmapped: list[str] | None = None
        for source in sources:
            if isinstance(source, LinkList):
                failed.update(source.failed)
                if source.unmapped is not None:
                    unmapped = [*(unmapped or ()), *source.unmapped]
        return cls(links, failed, unmapped)


@attrs.frozen
class Mention:
    """A place in a text that may name something.

    Attributes:
        start: First character in the original text.
        end: One past its last character.
        score: How sure it is, above 0 and up to 1.
        kind: What it looks like: ``name``, ``quote``, ``phrase``, or the entity type that a model gives; may be empty.
    """

    start: int
    end: int
    score: float = 1.0
    kind: str = ""


@attrs.frozen
class Question:
    """One question, with what is known about it.

    Attributes:
        id: Unique within a run.
        text: The words.
        links: Entities to start from; several may share a span (n-best).
        answers: Gold answer entities, or None when they are not known.
        gold_paths: Relation paths that lead from a linked entity to the answers, if known.
        gold_triples: The triples that answer the question, if known.
        options: Possible answers of a multiple-choice question.
        extra: Further fields of the input record, passed through to the output.
        gold_links: What the text should be linked to, to score linkers by; the entity is ``NIL`` where the graph of
            the annotation has none, and the score 0 where the mention need not be found. None when not known.
    """

    id: str
    text: str
    links: tuple[Link, ...] = ()
    answers: tuple[str, ...] | None = None
    gold_paths: tuple[Path, ...] | None = None
    gold_triples: tuple[Triple, ...] | None = None
    options: tuple[str, ...] = ()
    extra: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    gold_links: tuple[Link, ...] | None = None


@attrs.frozen
class RankedPath:
    """A path walked from one linked entity, with its score (higher is better)."""

    entity: str
    steps: Path
    score: float


Qualifier = tuple[str, str]
"""A relation and a value that belong to one triple, such as ``("start time", "\"2005\"^^xsd:gYear")``."""


@attrs.frozen
class Answer:
    """What a reader makes of a subgraph.

    Attributes:
        text: In words; empty where there is no answer.
        entities: Entities of the graph that are the answer, best first.
        support: Places in ``Subgraph.triples`` of the triples that the answer rests on, sorted.
        enough: False where the subgraph does not suffice; the rest is empty then.
        trace: What was asked and answered, as far as the reader keeps it; never times. It moves to ``reader`` in the
            trace of the subgraph.
    """

    text: str = ""
    entities: tuple[str, ...] = ()
    support: tuple[int, ...] = ()
    enough: bool = True
    trace: Mapping[str, Any] = attrs.field(factory=dict, hash=False)

    def moved(self, before: Sequence[Triple], after: Sequence[Triple]) -> Answer:
        """Find the support again where the triples were cut or stand in another order; what fell away is left out."""
        if before is after or not self.support:
            return self
        place = {triple: i for i, triple in enumerate(after)}
        named = (before[i] for i in self.support)
        return attrs.evolve(self, support=tuple(sorted({place[triple] for triple in named if triple in place})))


@attrs.frozen
class Subgraph:
    """The part of a graph retrieved for one question, best triples first.

    Attributes:
        triples: Distinct triples; every one is in the graph.
        scores: One per triple, rounded to four decimals.
        paths: The paths that led to them, best first; may be empty for methods that walk no paths.
        path_of: Per triple, index into ``paths`` of the best path that led to it, or -1.
        provenance: Per triple, where it was read (``local:<content hash>``, an endpoint, ...).
        qualifiers: Per triple, the qualifiers of its statement.
        trace: Counts of what was done and cut, and the reason of an empty result; never times.
        answer: What a reader already made of it on the way, or None.
    """

    triples: tuple[Triple, ...] = ()
    scores: tuple[float, ...] = ()
    paths: tuple[RankedPath, ...] = ()
    path_of: tuple[int, ...] = ()
    provenance: tuple[str, ...] = ()
    qualifiers: tuple[tuple[Qualifier, ...], ...] = ()
    trace: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    answer: Answer | None = None

    def first(self, count: int, cut_by: str = "triples") -> Subgraph:
        """Keep the first ``count`` triples; what falls away is counted in ``trace["cut"][cut_by]``."""
        dropped = len(self.triples) - count
        if dropped <= 0:
            return self
        cut = dict(self.trace.get("cut", {}))
        cut[cut_by] = cut.get(cut_by, 0) + dropped
        return attrs.evolve(
            self,
            triples=self.triples[:count],
            scores=self.scores[:count],
            path_of=self.path_of[:count],
            provenance=self.provenance[:count],
            qualifiers=self.qualifiers[:count],
            trace={**self.trace, "cut": cut},
            answer=self.answer and self.answer.moved(self.triples, self.triples[:count]),
        )


@attrs.frozen
class Retrieval:
    """The result for one question: a subgraph, or the error that stood in its way.

    Attributes:
        question: With the links that were used.
        subgraph: Empty when ``error`` is set.
        answer: What a Reader made of it, or None where none was asked.
        labels: Labels of the entities and relations that occur, where they differ from the id.
        error: One sentence, or None.
    """

    question: Question
    subgraph: Subgraph = Subgraph()
    answer: Answer | None = None
    labels: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    error: str | None = None


@attrs.frozen
class Lesson:
    """A question with what a method should find, to learn from.

    Attributes:
        question: With its links and gold.
        paths: Relation paths that lead to the answers, each with its quality between 0 and 1, best first.
    """

    question: Question
    paths: tuple[RankedPath, ...] = ()


@attrs.frozen
class Sample:
    """One decision of a search: the candidates after a path, and which of them are right.

    Attributes:
        question: Id of the question.
        text: Its words.
        path: Steps so far.
        candidates: Possible next steps, distinct; END among them stops the path here.
        targets: Per candidate how right it is, from 0 (wrong) to 1; at least one is above 0.
    """

    question: str
    text: str
    path: Path
    candidates: tuple[Step, ...]
    targets: tuple[float, ...]


@attrs.frozen
class FoundPaths(Sequence[Path]):
    """The relation paths between two sets of entities, ordered by length, then by text.

    Attributes:
        paths: Distinct, none empty.
        cut: What limits left unread where it may have hidden a path: ``hub`` neighbours, ``nodes`` of frontiers.
            Empty when the paths are complete.
    """

    paths: tuple[Path, ...] = ()
    cut: Mapping[str, int] = attrs.field(factory=dict, hash=False)

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Path: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Path, ...]: ...

    def __getitem__(self, index: int | slice) -> Path | tuple[Path, ...]:
        return self.paths[index]


@attrs.frozen
class Budget:
    """Limits per question; None means no limit. What a limit cuts is counted in the trace.

    Attributes:
        triples: Most triples in the subgraph.
        tokens: Most tokens of the subgraph's text form.
        nodes: Most nodes of one frontier; the rest, in order of id, is not walked further.
        hub: Most neighbours read for one node along one step, in order of id.
        seconds: No hop is begun after so many seconds on a batch, by expanders that go hop by hop; voids the
            promise of equal bytes.
        mass: Share of the score mass, above 0 and up to 1, at which reading stops. What was found, ``x_1`` to ``x_n``
            with falling scores ``s_i``, is read up to the first ``k`` for which ``sum(exp(s_i), i <= k)`` is at least
            ``mass * sum(exp(s_i), i <= n)``. The ``x_i`` are the paths with steps or, where a triple has another score
            than its path, the triples. 1 is no limit.
    """

    triples: int | None = None
    tokens: int | None = None
    nodes: int | None = 1000
    hub: int | None = 1000
    seconds: float | None = None
    mass: float | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and not value > 0:
                raise ValueError(f"budget {name} must be above 0, not {value}; leave it out for no limit")
        if self.mass is not None and self.mass > 1:
            raise ValueError(f"budget mass is a share up to 1, not {self.mass}; 0.9 stops at nine tenths of the scores")


@attrs.frozen
class Schema:
    """What a graph's relations and nodes mean to algorithms that care.

    Attributes:
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns (``fnmatch``) of ids of nodes that only hold a statement together.
        noise: Patterns of ids of relations that answer no question.
        prefixes: Short prefix to namespace IRI, for export as RDF.
    """

    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)


class Frontier(ABC):
    """A sorted set of nodes of one graph, made by ``KnowledgeGraph.frontiers`` and ``follow``.

    Attributes:
        cut: How many nodes a limit left out when the frontier was made.
    """

    __slots__ = ()

    cut: int = 0

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of nodes."""

    @abstractmethod
    def ids(self) -> Sequence[str]:
        """The nodes' ids in the graph's order, which is that of code points."""


class NodeSet(Frontier):
    """A frontier that holds its ids; enough for a graph without internal numbers."""

    __slots__ = ("_ids", "cut")

    def __init__(self, ids: Iterable[str], cut: int = 0) -> None:
        self._ids = tuple(sorted(set(ids)))
        self.cut = cut

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self._ids)

    def ids(self) -> Sequence[str]:
        """The ids, sorted by code point."""
        return self._ids


class Ragged(Sequence[Sequence[T]], Generic[T]):
    """A list of lists in two arrays: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    Args:
        offsets: int64 array of length rows + 1, starting at 0, never falling.
        values: Any sequence (a numpy array, a list) of length ``offsets[-1]``.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, offsets: np.ndarray[Any, Any], values: Any) -> None:
        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.values = values

    @classmethod
    def of(cls, rows: Iterable[Sequence[T]]) -> Ragged[T]:
        """Build from ordinary lists."""
        lists = [list(row) for row in rows]
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in lists], out=offsets[1:])
        return cls(offsets, [value for row in lists for value in row])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Sequence[T]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[T]]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Sequence[T]]:
        bounds = self.offsets.tolist()
        for start, end in itertools.pairwise(bounds):
            yield self.values[start:end]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(list(a) == list(b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ragged({[list(row) for row in self]!r})"


def rounded(score: float) -> float:
    """Round a score for comparison and output; -0.0 becomes 0.0."""
    return round(float(score), SCORE_DIGITS) + 0.0
