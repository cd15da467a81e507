"""Results of a search: ranked paths, subgraphs, answers and retrievals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import attrs

from srtk_framework.values.origins import Evidence
from srtk_framework.values.questions import Question
from srtk_framework.values.triples import Literal, Path, Qualifier, Triple

if TYPE_CHECKING:
    import networkx


@attrs.frozen
class RankedPath:
    """A relation path from a linked entity, with its score (higher is better)."""

    entity: str
    steps: Path
    score: float


class Neighbourhood(list[Triple]):
    """The triples around a frontier, nearest first, with counts of the cuts; compared as a list.

    Attributes:
        cut: Limit (``hub``, ``nodes``, ``triples``) to how much it left out; limits that cut nothing are missing.
    """

    def __init__(self, triples: Iterable[Triple] = (), cut: Mapping[str, int] | None = None) -> None:
        super().__init__(triples)
        self.cut: dict[str, int] = {limit: count for limit, count in (cut or {}).items() if count}

    @staticmethod
    def cut_of(triples: Sequence[Triple]) -> Mapping[str, int]:
        """Return the cuts of an answer of ``neighbourhood``; none for a plain list."""
        return triples.cut if isinstance(triples, Neighbourhood) else {}


class RatedTriples(list[Triple]):
    """Triples that may be uncertain; compared as a list.

    Attributes:
        confidences: Confidences below 1, by triple in the direction of reading.
    """

    def __init__(self, triples: Iterable[Triple] = (), confidences: Mapping[Triple, float] | None = None) -> None:
        super().__init__(triples)
        self.confidences: dict[Triple, float] = dict(confidences or {})

    @staticmethod
    def confidences_of(triples: Sequence[Triple]) -> Mapping[Triple, float]:
        """Return the confidences below 1 of an answer of ``triples``; all of a plain list are certain."""
        return triples.confidences if isinstance(triples, RatedTriples) else {}


CERTAINTIES = ("sure", "likely", "unsure")
"""How far the first choice of a reader stands before the others, the farthest first."""
_optional_certainty: Any = attrs.validators.optional(attrs.validators.in_(CERTAINTIES))


@attrs.frozen
class Alternative:
    """Another answer that a reader found, less likely than its first.

    Attributes:
        text: The answer in words.
        entities: Its entities or literals of the graph.
        path: Index into ``Subgraph.paths`` of the path that led to it, or -1.
    """

    text: str
    entities: tuple[str, ...] = ()
    path: int = -1


@attrs.frozen
class Answer:
    """A reader's answer to a question from its subgraph.

    Attributes:
        text: The answer in words; empty if there is none.
        entities: Answer entities or literals of the graph, best first; those that are counted, where a number is asked.
        support: Indexes into ``Subgraph.triples`` of the triples that support the answer, sorted.
        enough: False if the subgraph does not suffice (a refusal); the other fields, except ``missing``, are empty
            then.
        trace: The reader's prompts, replies and counts, never times; copied to ``reader`` in the subgraph's trace.
        operation: The operation on the facts, such as ``count``; empty if unknown.
        number: The number that is asked for: a count, a sum, a difference; None for another kind of answer.
        unit: Unit of the number, in words.
        truth: The answer to a yes/no question, or None.
        complete: Whether the whole set that the question means was read: False where a limit stopped it, None if
            unknown.
        certainty: One of ``CERTAINTIES``, or None if unknown.
        missing: Why a reader refuses, in one sentence.
        alternatives: Other answers, the likeliest first.
        subgraph: The subgraph with the triples that the reader read besides, which ``support`` and ``path`` refer to;
            None if it read nothing. Whoever asks the reader takes it in place of the subgraph.
    """

    text: str = ""
    entities: tuple[str, ...] = ()
    support: tuple[int, ...] = ()
    enough: bool = True
    trace: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    operation: str = ""
    number: float | None = None
    unit: str = ""
    truth: bool | None = None
    complete: bool | None = None
    certainty: str | None = attrs.field(default=None, validator=_optional_certainty)
    missing: str = ""
    alternatives: tuple[Alternative, ...] = ()
    subgraph: Subgraph | None = attrs.field(default=None, repr=False)

    def moved(self, before: Sequence[Triple], after: Sequence[Triple]) -> Answer:
        """Renumber the support after triples were cut or reordered; support that was cut is dropped."""
        if before is after or not self.support:
            return self
        place = {triple: i for i, triple in enumerate(after)}
        named = (before[i] for i in self.support)
        return attrs.evolve(self, support=tuple(sorted({place[triple] for triple in named if triple in place})))


@attrs.frozen
class Join:
    """Paths from different topics of a question that meet: a branch of its query graph.

    Attributes:
        paths: Indices into the subgraph's ``paths``.
        nodes: Nodes where they meet, best first.
    """

    paths: tuple[int, ...]
    nodes: tuple[str, ...]


@attrs.frozen
class Search:
    """A search of an index for a question.

    Attributes:
        text: The searched text: the question, perhaps with one of its options and with triples in words.
        hits: Ids of the entries that were found, each with its score, best first.
    """

    text: str
    hits: tuple[tuple[str, float], ...] = ()


def _joins_among(joins: Sequence[Join], triples: Sequence[Triple]) -> tuple[Join, ...]:
    """Keep the nodes of joins that some triple has."""
    left = {end for triple in triples for end in (triple.subject, triple.object)} if joins else set()
    kept = (attrs.evolve(join, nodes=tuple(node for node in join.nodes if node in left)) for join in joins)
    return tuple(join for join in kept if join.nodes)


@attrs.frozen
class Subgraph:
    """The part of a graph retrieved for one question, best triples first.

    Attributes:
        triples: Distinct triples of the graph.
        scores: Score of each triple, rounded to four decimals.
        paths: Paths that lead to the triples, best first; may be empty for methods without paths.
        path_of: For each triple, index into ``paths`` of its best path, or -1.
        provenance: For each triple, the source it was read from (``local:<content hash>``, an endpoint, ...).
        qualifiers: For each triple, the qualifiers of its statement.
        trace: Counts of the work done and of the cuts, and the reason for an empty result; never times.
        answer: Answer of a reader that ended the search, or None.
        confidences: For each triple, 1 if the graph holds it, else the confidence of its completer; empty where all
            are 1.
        evidence: For each triple, the reasons for a completed triple, best first; empty without reasons.
        joins: Paths that meet, with their nodes, where the question has several topics; best first.
        expected_recall: Share of the answers that is expected to be among the triples; None if unknown.
        searches: The searches of an index that found the triples: for each option of the question in their order,
            perhaps then for the question alone and for each option alone; or for the whole question. Empty without an
            index.
    """

    triples: tuple[Triple, ...] = ()
    scores: tuple[float, ...] = ()
    paths: tuple[RankedPath, ...] = ()
    path_of: tuple[int, ...] = ()
    provenance: tuple[str, ...] = ()
    qualifiers: tuple[tuple[Qualifier, ...], ...] = ()
    trace: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    answer: Answer | None = None
    confidences: tuple[float, ...] = ()
    evidence: tuple[tuple[Evidence, ...], ...] = ()
    joins: tuple[Join, ...] = ()
    expected_recall: float | None = None
    searches: tuple[Search, ...] = ()

    COLUMNS: ClassVar[tuple[str, ...]] = (
        *("triples", "scores", "path_of", "provenance", "qualifiers", "confidences", "evidence"),
    )
    """The fields that have one value for each triple, or are empty."""

    @property
    def hits(self) -> tuple[tuple[str, float], ...]:
        """The entries that any of the searches found, each with its best score; best first, ties by id."""
        scores: dict[str, float] = {}
        for search in self.searches:
            for entry, score in search.hits:
                scores[entry] = max(score, scores.get(entry, score))
        return tuple(sorted(scores.items(), key=lambda hit: (-hit[1], hit[0])))

    def ordered(self, places: Sequence[int]) -> Subgraph:
        """Keep the triples at some places, in the order of the places, with their values in all columns."""
        columns: dict[str, Any] = {
            name: tuple(column[i] for i in places) for name in self.COLUMNS if (column := getattr(self, name))
        }
        kept = columns.get("triples", ())
        if len(kept) < len(self.triples):
            # What is left out was counted in the expectation, and topics may have met there.
            columns.update(joins=_joins_among(self.joins, kept), expected_recall=None)
        return attrs.evolve(self, answer=self.answer and self.answer.moved(self.triples, kept), **columns)

    def first(self, count: int, cut_by: str = "triples") -> Subgraph:
        """Keep the first ``count`` triples, and add the number of dropped triples to ``trace["cut"][cut_by]``."""
        dropped = len(self.triples) - count
        if dropped <= 0:
            return self
        cut = dict(self.trace.get("cut", {}))
        cut[cut_by] = cut.get(cut_by, 0) + dropped
        return attrs.evolve(self.ordered(range(count)), trace={**self.trace, "cut": cut})

    def to_networkx(self, labels: Mapping[str, str] | None = None) -> networkx.MultiDiGraph[str]:
        """Make a networkx graph of the triples.

        Args:
            labels: Labels of entities and relations, such as ``Retrieval.labels``.

        Returns:
            One edge per triple from subject to object, with the relation as its key. Its attributes are plain: texts,
            numbers and truth values, so that networkx can write them in any format. They are ``relation`` and, where
            there is one, ``label`` (of the relation), ``score``, ``path`` (the steps that led to it), ``provenance``,
            ``qualifiers`` (pairs of relation and value, as JSON) and the ``confidence`` and ``evidence`` (texts of the
            reasons, as JSON) of a triple that the graph lacks. Nodes are ids in the order of the triples, with the
            attributes ``literal`` and, where there is one, ``label``: the value of a literal.
        """
        import networkx

        labels = labels or {}
        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        for triple in self.triples:
            for id_ in (triple.subject, triple.object):
                literal = isinstance(id_, Literal)
                label = id_.lexical if isinstance(id_, Literal) else labels.get(id_)
                graph.add_node(id_, literal=literal, **({} if label is None else {"label": label}))
        for i, triple in enumerate(self.triples):
            columns = {name: column[i] for name in self.COLUMNS if i < len(column := getattr(self, name))}
            at, label = columns.get("path_of", -1), labels.get(triple.relation)
            values = {
                "label": label,
                "score": columns.get("scores"),
                "path": " ".join(str(step) for step in self.paths[at].steps) if at >= 0 else None,
                "provenance": columns.get("provenance"),
                "qualifiers": _json(columns.get("qualifiers", ())),
            }
            if columns.get("confidences", 1) < 1:
                values["confidence"] = columns["confidences"]
                values["evidence"] = _json([reason.text for reason in columns.get("evidence", ())])
            plain = {name: value for name, value in values.items() if value is not None}
            relation = triple.relation
            graph.add_edge(triple.subject, triple.object, key=relation, relation=relation, **plain)
        return graph


def _json(value: Sequence[Any]) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


@attrs.frozen
class Retrieval:
    """The result for one question: a subgraph, or an error.

    Attributes:
        question: The question with the links that were used.
        subgraph: Empty if ``error`` is set.
        answer: The reader's answer, or None without a reader.
        labels: Labels that differ from their id, of the entities and relations in the subgraph.
        error: One sentence, or None.
    """

    question: Question
    subgraph: Subgraph = Subgraph()
    answer: Answer | None = None
    labels: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    error: str | None = None


@attrs.frozen
class FoundPaths(Sequence[Path]):
    """The relation paths between two sets of entities, ordered by length, then by text.

    Attributes:
        paths: Distinct non-empty paths.
        cut: Numbers of unread neighbours (``hub``) and frontier nodes (``nodes``) that may hide further paths; empty
            if the paths are complete.
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
