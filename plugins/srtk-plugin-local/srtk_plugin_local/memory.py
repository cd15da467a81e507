"""The ``memory`` graph: Python triples in dictionaries, for embedding, tests and experiments."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, own_spellings
from srtk_framework.values import Frontier, Literal, NodeSet, Pattern, Qualifier, Schema, Step, Triple
from srtk_plugin_local.name_index import NameIndex, keyed
from srtk_plugin_local.snapshot.headings import TYPE
from srtk_plugin_local.snapshot.input_report import FileReport, sentences
from srtk_plugin_local.snapshot.name_table import NameTable
from srtk_plugin_local.snapshot.property_graphs.facts import Wishes, facts, value_of
from srtk_plugin_local.snapshot.property_graphs.networkx_graph import property_graph

if TYPE_CHECKING:
    import networkx

_log = logging.getLogger(__name__)

Neighbours = dict[str, dict[str, list[str]]]
"""Neighbours by node and relation, sorted."""


@attrs.define(eq=False)
class MemoryGraph(KnowledgeGraph):
    """A graph of Python triples, held in dictionaries; it needs no opening.

    The entities are the subjects and objects of the triples. Objects and qualifier values are literals if they are
    ``Literal`` values, or texts with a type or a language: "1998"^^xsd:gYear, "Riga"@lv, "Riga"^^xsd:string.

    Attributes:
        triples: Rows [subject, relation, object].
        labels: Labels by id of an entity or relation.
        aliases: Further names by id of an entity.
        qualifiers: Rows [subject, relation, object, qualifier, value] about triples of this graph.
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns of ids of mediator nodes, which only join the parts of a statement.
        noise: Patterns of ids of relations that answer no question.
        symmetric: Relations whose triples have no direction; each is given once.
        prefixes: Namespace IRIs by prefix.
    """

    # Three settings have the name of a hook; attrs drops the leading underscore from the name of a setting.
    _triples: Sequence[Sequence[str]] = attrs.field(default=(), repr=False)
    _labels: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    aliases: Mapping[str, Sequence[str]] = attrs.field(factory=dict, repr=False)
    _qualifiers: Sequence[Sequence[str]] = attrs.field(default=(), repr=False)
    type_relations: Sequence[str] = ()
    subclass_relations: Sequence[str] = ()
    mediators: Sequence[str] = ()
    noise: Sequence[str] = ()
    symmetric: Sequence[str] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict)
    _all: tuple[Triple, ...] = attrs.field(init=False, repr=False)
    _at: dict[str, list[Triple]] = attrs.field(init=False, repr=False)
    _out: Neighbours = attrs.field(init=False, repr=False)
    _in: Neighbours = attrs.field(init=False, repr=False)
    _literals: dict[str, str] = attrs.field(init=False, repr=False)
    _named: dict[str, list[str]] = attrs.field(init=False, repr=False)
    _names: NameIndex | None = attrs.field(init=False, default=None, repr=False)
    _statements: dict[Triple, list[Qualifier]] = attrs.field(init=False, repr=False)
    _hash: str = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._all = _read_triples(self._triples)
        self._at = {}
        for triple in self._all:
            for id_ in {triple.subject: None, triple.object: None}:
                self._at.setdefault(id_, []).append(triple)
        self._out = _neighbours((t.subject, t.relation, t.object) for t in self._all)
        self._in = _neighbours((t.object, t.relation, t.subject) for t in self._all)
        self._literals = {t.object: t.object for t in self._all if isinstance(t.object, Literal)}
        self._named = {}
        for id_ in sorted(self._at.keys() - self._literals.keys()):
            names = (self._labels.get(id_, id_), *self.aliases.get(id_, ()))
            for name in {fold(name): None for name in names}:
                self._named.setdefault(name, []).append(id_)
        self._named.pop("", None)
        self._statements = _read_qualifiers(self._qualifiers, self._all, self._literals)
        content = [
            [(*triple, isinstance(triple.object, Literal)) for triple in self._all],
            sorted(self._labels.items()),
            sorted((id_, list(names)) for id_, names in self.aliases.items()),
            sorted(self._statements.items()),
            attrs.asdict(self.schema()),
        ]
        self._hash = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph[Any], relation_key: str | None = None, keep: Sequence[str] = (), **settings: Any
    ) -> MemoryGraph:
        """Build the graph from a networkx graph, as ``srtk graph build`` reads the GraphML file of it.

        A node is named by its attribute ``name``, ``label`` or ``title``; a type such as ``entity_type`` is an entity,
        and other numbers and texts are literals. The relation of an edge is its attribute ``relation``, ``label``,
        ``type`` or the like, or the key of a multigraph's edge, else ``edge``; other attributes are qualifiers. The
        relations of edges without direction are ``symmetric``. Layout (x, y, color) and bookkeeping (created_at) are
        left out. Attributes that are read against their name are logged.

        Args:
            graph: Ids are the ``str`` of its nodes.
            relation_key: Edge attribute with the relation; the key of a multigraph's edge where it is missing.
            keep: Names of attributes that are read although they are layout or bookkeeping; ``all`` for every name.
            settings: Further settings of this class.

        Raises:
            ValueError: For an edge without the relation that ``relation_key`` names, or two nodes with the same text.
        """
        report = FileReport("the networkx graph", "networkx")
        found = property_graph(graph, relation_key, report)
        relation = relation_key if found.edges else None
        keep = (keep,) if isinstance(keep, str) else tuple(keep)
        wishes = Wishes(relation, keep, "relation=NAME", "keep=[NAME, ...]")
        made: dict[str, list[Any]] = {"triples": [], "labels": [], "aliases": [], "qualifiers": []}
        for row in facts(found, wishes, report):
            if len(row) == 5:
                made["qualifiers"].append(row)
            elif row[3] in ("label", "alias"):
                made["labels" if row[3] == "label" else "aliases"].append((row[0], row[2]))
            else:
                made["triples"].append((*row[:2], row[2] if row[3] == "entity" else value_of(row[2])))
        for sentence in sentences([report.data()], doubts_only=True):
            _log.warning("%s", sentence)
        aliases: dict[str, list[str]] = {}
        for id_, alias in made["aliases"]:
            aliases.setdefault(id_, []).append(alias)
        settings["labels"] = {**dict(made["labels"]), **settings.get("labels", {})}
        settings["aliases"] = {**aliases, **settings.get("aliases", {})}
        settings["qualifiers"] = [*made["qualifiers"], *settings.get("qualifiers", ())]
        if any(row[1] == TYPE for row in made["triples"]):
            settings.setdefault("type_relations", (TYPE,))
        settings.setdefault("symmetric", tuple(report.symmetric))
        return cls(triples=made["triples"], **settings)

    def fingerprint(self) -> str:
        """Return ``source()``: the hash covers triples, names, qualifiers and schema."""
        return self.source()

    def source(self) -> str:
        """Return ``memory:`` and a hash of the content."""
        return f"memory:{self._hash}"

    def schema(self) -> Schema:
        """Return the schema of the settings."""
        return Schema(
            type_relations=tuple(self.type_relations),
            subclass_relations=tuple(self.subclass_relations),
            mediators=tuple(self.mediators),
            noise=tuple(self.noise),
            symmetric=tuple(self.symmetric),
            prefixes=dict(self.prefixes),
        )

    def has_blank_nodes(self) -> bool:
        """Return whether a node has the id of a blank node; the view `folded` asks it once."""
        return any(id_.startswith("_:") for id_ in self._at)

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of the entities of each set."""
        return [NodeSet(id_ for id_ in ids if self._is_entity(id_)) for ids in node_sets]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        answers = []
        for frontier in frontiers:
            found = {Step(relation) for id_ in frontier.ids() for relation in self._out.get(id_, ())}
            if inverse:
                found |= {Step(relation, True) for id_ in frontier.ids() for relation in self._in.get(id_, ())}
            answers.append(sorted(found))
        return answers

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Follow each step to the first ``limit`` neighbours of each node; literals count, but are not reached."""
        answers: list[Frontier] = []
        for frontier, step in zip(frontiers, steps, strict=True):
            rows = [ends for _, ends in self._walk(frontier, step)]
            reached = (end for ends in rows for end in ends[:limit] if self._is_entity(end))
            answers.append(NodeSet(reached, cut=sum(len(ends[limit:]) for ends in rows) if limit is not None else 0))
        return answers

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Read the triples to the first ``limit`` neighbours of each node."""
        answers = []
        for frontier, step in zip(frontiers, steps, strict=True):
            pairs = [(start, end) for start, ends in self._walk(frontier, step) for end in ends[:limit]]
            answers.append(
                [Triple(e, step.relation, s) if step.inverse else Triple(s, step.relation, e) for s, e in pairs]
            )
        return answers

    def _walk(self, frontier: Frontier, step: Step) -> list[tuple[str, Sequence[str]]]:
        """Return each node of the frontier with all its neighbours along the step."""
        neighbours = self._in if step.inverse else self._out
        return [(id_, neighbours.get(id_, {}).get(step.relation, ())) for id_ in frontier.ids()]

    def _is_entity(self, id_: str) -> bool:
        return id_ in self._at and id_ not in self._literals

    def own_ids(self, ids: Sequence[str], relations: bool) -> list[str]:
        """Return the spelling of each id that the triples have."""
        there = {t.relation for t in self._all} if relations else self._at.keys() - self._literals.keys()
        return own_spellings(ids, self.prefixes, relations, there.intersection)

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples of each pattern, sorted."""
        answers = []
        for pattern in patterns:
            ends = [self._at.get(end, ()) for end in (pattern.subject, pattern.object) if end is not None]
            # Through the end with fewer triples: the other may be a hub.
            triples = min(ends, key=len, default=self._all)
            answers.append([t for t in triples if all(w in (None, part) for w, part in zip(pattern, t, strict=True))])
        return answers

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Return the label of each id; the label of a literal is its lexical form."""
        answers = []
        for id_ in ids:
            own = self._labels.get(id_) or (id_ if self._is_entity(id_) else self._literals.get(id_, _value(id_)))
            answers.append(own.lexical if isinstance(own, Literal) else own)
        return answers

    def other_names(self, ids: Sequence[str]) -> list[list[str]]:
        """Return the aliases of each id."""
        return [sorted(set(self.aliases.get(id_, ())) if self._is_entity(id_) else ()) for id_ in ids]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities with each name, after folding."""
        return [list(self._named.get(fold(name), ())) for name in names]

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> list[list[str]]:
        """Find names that are written almost like each name; the first call makes an index."""
        return self._index().near([fold(name) for name in names], limit, whole)

    def known_words(self, words: Sequence[str]) -> list[bool]:
        """Return whether each word is a word of a name; the first call makes an index."""
        return self._index().knows([fold(word) for word in words])

    def _index(self) -> NameIndex:
        if self._names is None:
            every = sorted(self._named)
            table = NameTable.of([keyed(every, np.arange(len(every)))])
            self._names = NameIndex(table, lambda numbers: [[every[number]] for number in numbers.tolist()])
        return self._names

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count the triples of each entity."""
        return [len(self._at[id_]) if self._is_entity(id_) else 0 for id_ in ids]

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Return the qualifiers of each triple, sorted."""
        return [tuple(self._statements.get(triple, ())) for triple in triples]


def _read_triples(rows: Iterable[Sequence[str]]) -> tuple[Triple, ...]:
    """Check the rows, sort them and drop duplicates."""
    found = set()
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or len(row) != 3 or not all(isinstance(part, str) and part for part in row):
            raise ValueError(f"triple {number} is {row!r}; write [subject, relation, object], three texts, none empty")
        found.add(Triple(row[0], row[1], _value(row[2])))
    # A text that is a literal in one triple is a literal in all of them.
    literals: dict[str, str] = {triple.object: triple.object for triple in found if isinstance(triple.object, Literal)}
    for triple in sorted(found):
        if triple.subject in literals or isinstance(_value(triple.subject), Literal):
            raise ValueError(f"the literal {triple.subject} is the subject of {list(triple)}; it can only be an object")
    return tuple(sorted(Triple(s, r, literals.get(o, o)) for s, r, o in found))


def _value(text: str) -> str:
    """Make a text with a type or a language a literal; quotation marks alone may belong to a name."""
    if not text.startswith('"') or isinstance(text, Literal):
        return text
    literal = Literal(text)
    typed = literal.datatype or literal.language
    return Literal.make(literal.lexical, literal.datatype, literal.language) if typed else text


def _neighbours(edges: Iterable[tuple[str, str, str]]) -> Neighbours:
    found: Neighbours = {}
    for start, relation, end in edges:
        found.setdefault(start, {}).setdefault(relation, []).append(end)
    return found


def _read_qualifiers(
    rows: Iterable[Sequence[str]], triples: Iterable[Triple], literals: Mapping[str, str]
) -> dict[Triple, list[Qualifier]]:
    known = set(triples)
    found: dict[Triple, set[Qualifier]] = {}
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or len(row) != 5 or not all(isinstance(part, str) and part for part in row):
            raise ValueError(f"qualifier {number} is {row!r}; write [subject, relation, object, qualifier, value]")
        triple = Triple(row[0], row[1], _value(row[2]))
        if triple not in known:
            raise ValueError(f"qualifier {number} is about {list(triple)}, which the graph lacks; add the triple")
        value = _value(row[4])
        found.setdefault(triple, set()).add((row[3], literals.get(value, value)))
    return {triple: sorted(pairs) for triple, pairs in found.items()}
