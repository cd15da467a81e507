"""The ``text-search`` completer: queries for the open end of a pattern, and the entities in the found texts."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Signatures, TripleTable
from srtk_framework.host import driver_of
from srtk_framework.records import place, read_model, write_model
from srtk_framework.roles import Completer, EntityLinker, Index, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.text import link_shares
from srtk_framework.values import (
    Completion,
    DriverError,
    Evidence,
    Hit,
    Link,
    Pattern,
    Step,
    Triple,
    at_least,
    batched,
    between,
    completion_order,
    confidence,
    one_of,
    open_end,
    rounded,
)
from srtk_plugin_patterns.instances import ends_of
from srtk_plugin_patterns.lexical_forms import LexicalForms, read_forms
from srtk_plugin_patterns.mining import given_or_mined
from srtk_plugin_patterns.path_patterns import LONGEST, MiningSettings
from srtk_plugin_patterns.snippet_search import TextQuestion, ranked_hits, table_ways, text_questions
from srtk_plugin_patterns.text_model import TextModel, chosen_paths
from srtk_plugin_patterns.text_queries import VARIANTS, Variant, tells
from srtk_plugin_patterns.twins import OVERLAP, said, without_held_out

logger = logging.getLogger(__name__)

FILE = "text-search.json"
_FORMAT = "srtk-text-search-2"
_BATCH = 64  # Patterns whose snippets are linked by one call.
_REASONS = 3  # Most snippets that are named as evidence of a completion.

_Reasons = list[tuple[float, Hit]]  # Snippets that mention an entity, each with what it adds to the entity's score.


@attrs.frozen
class TextSearchFitSettings:
    """Settings for training the ``text-search`` completer.

    Attributes:
        length: Most steps of a path.
        hub: Most edges of a step by which mining leaves a node; null for no bound.
        least: Least number of pairs that a path joins.
        paths: Paths of a relation that queries are made of.
        productive: Paths that join most of a relation's pairs, among which the most exclusive are chosen.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: no query is made of a path that
            begins or ends with a twin. null allows such paths.
        facts: Most held-out facts of a relation and end from which its kind of query is learnt, drawn by hashes: the
            kind wins whose first snippets name most of the held-out entities.
    """

    length: int = attrs.field(default=3, validator=between(1, LONGEST))
    hub: int | None = attrs.field(default=100, validator=at_least(1))
    least: int = attrs.field(default=2, validator=at_least(1))
    paths: int = attrs.field(default=1, validator=at_least(1))
    productive: int = attrs.field(default=20, validator=at_least(1))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))
    facts: int = attrs.field(default=200, validator=at_least(1))


@attrs.define(eq=False)
class TextSearchCompleter(Completer):
    """Search texts for the open end of a pattern, and propose the entities that they mention.

    Queries have the name of the known entity (s) and the relation in words (r). They may have the relations of a path
    that joins the relation's pairs (p), and the names of its nodes (n) near the known entity. The
    found snippets are linked. Entities that cannot fill the open end, or that the query named, are dropped. An entity
    scores the sum of 1 / rank over the snippets that mention it; its confidence is its share of all scores, with 1
    added to their sum. Without training, queries have entity and relation alone.

    Attributes:
        graph: Graph to complete; it must be able to list its triples.
        index: Index that searches texts; snippets are its passages, or whole texts if it points out none.
        linker: Finds the entities that a snippet mentions.
        path: Folder of a trained model; not needed in a recipe that trains it.
        patterns: Folder of patterns that `srtk patterns mine` wrote; by default training mines them.
        forms: File with words for relations; those that it lacks go by their labels.
        variant: Kind of queries: ``learnt``, by relation and end (``s+r`` where nothing was learnt); ``all``, the
            sum over all four; or the same kind for all relations.
        snippets: Most snippets of a query.
        ways: Most instances of a path, all steps but the last, whose nodes queries name.
        types: ``signatures`` leaves out entities whose classes or other triples differ from the known fillers of the
            open end; entities without a triple stay. ``none`` leaves out nothing.
        about: Only count snippets with a link to the known entity.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "completer: {use: text-search, path: FOLDER}"

    graph: KnowledgeGraph
    index: Index
    linker: EntityLinker
    path: str | None = None
    patterns: str | None = None
    forms: str | None = None
    variant: Literal["learnt", "all", "s+r", "s+r+p", "s+r+n", "s+r+p+n"] = attrs.field(
        default="learnt", validator=one_of(("learnt", "all", *VARIANTS))
    )
    snippets: int = attrs.field(default=10, validator=at_least(1))
    ways: int = attrs.field(default=3, validator=at_least(1))
    types: Literal["signatures", "none"] = attrs.field(default="signatures", validator=one_of(("signatures", "none")))
    about: bool = True
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _signatures: Signatures | None = attrs.field(init=False, default=None, repr=False)
    _forms: LexicalForms | None = attrs.field(init=False, default=None, repr=False)
    _model: TextModel = attrs.field(init=False, factory=TextModel, repr=False)
    _content: str = attrs.field(init=False, default="", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folders and the file exist."""
        return [
            *absent("path", self.path, "train a model, or correct the path"),
            *absent("patterns", self.patterns, "mine them with `srtk patterns mine`, or correct the path"),
            *absent("forms", self.forms, "name a file of relations and words"),
        ]

    def open(self) -> None:
        """Read the graph, the forms, and the model in ``path``.

        Raises:
            DriverError: If the graph cannot list its triples, the index searches no texts or has none, or the model
                cannot be read or is of another graph.
            InputError: If the forms cannot be read.
        """
        if not self.index.searches_texts():
            raise DriverError("the index searches vectors, not texts; name one that searches texts, such as `bm25`")
        # An index that others fill, such as a search engine, inherits ``add`` and does not know its size.
        if not self.index.size() and type(driver_of(self.index)).add is not Index.add:
            raise DriverError(
                "the index has no documents; fill it with `srtk index build RECIPE` before it is searched"
            )
        self._table = TripleTable.of(self.graph)
        self._signatures = Signatures.of(self._table, self.graph.schema())
        given = {} if self.forms is None else read_forms(FilePath(self.forms).expanduser())
        self._forms = LexicalForms(self.graph, given)
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Release graph and model."""
        self._table = self._signatures = self._forms = None
        self._model = TextModel()

    def fingerprint(self) -> str:
        """Identify the graph, the texts, the linker, the settings and the model."""
        parts = [self.graph.fingerprint(), self.index.fingerprint(), self.linker.fingerprint()]
        parts += [self.variant, str(self.snippets), str(self.ways), self.types, str(self.about)]
        given = {} if self._forms is None else dict(self._forms.given)
        learnt = json.dumps([given, self._model.to_json()], sort_keys=True)
        return f"text-search({', '.join(parts)}, {hashlib.sha256(learnt.encode()).hexdigest()[:16]})"

    # Hooks

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Propose the entities that the snippets of each pattern mention."""
        table, _ = self._opened()
        answers = []
        for pattern, mentioned in zip(patterns, self._mentioned(patterns), strict=True):
            held = set(ends_of(table, *open_end(pattern)))
            found = [
                Completion(pattern.filled(id_), share, _evidence(reasons))
                for id_, (share, reasons) in mentioned.items()
                if id_ not in held
            ]
            answers.append(sorted(found, key=completion_order)[:limit])
        return answers

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the confidence of each candidate, in the graph or not; 0 where no snippet mentions it."""
        nothing: tuple[float, Any] = (0.0, ())
        return [
            [mentioned.get(id_, nothing)[0] for id_ in ids]
            for mentioned, ids in zip(self._mentioned(patterns), candidates, strict=True)
        ]

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps that entities of the same classes, or with a step in common, have."""
        if self._signatures is None:
            raise not_open(self)
        return self._signatures.offers(node_sets, inverse)

    def _variants(self, question: TextQuestion) -> list[Variant]:
        """Return the kinds of queries to ask; entity and relation alone where the chosen kind has no query."""
        if self.variant == "all":
            return [variant for variant in VARIANTS if question.queries[variant]]
        chosen = self._model.variants.get(question.step, "s+r") if self.variant == "learnt" else self.variant
        return [chosen if question.queries[chosen] else "s+r"]

    def _answered(self, questions: Sequence[TextQuestion]) -> list[dict[str, _Reasons]]:
        """Return for each question the mentioned entities, each with its snippets and their parts of its score."""
        lists = [(at, variant) for at, question in enumerate(questions) for variant in self._variants(question)]
        rows = ranked_hits(self.index, [questions[at].queries[variant] for at, variant in lists], self.snippets)
        texts = sorted({hit.snippet for hits in rows for hit in hits})
        linked = dict(zip(texts, map(_shares, self.linker.link(texts)), strict=True)) if texts else {}
        found: list[dict[str, _Reasons]] = [{} for _ in questions]
        for (at, variant), hits in zip(lists, rows, strict=True):
            question = questions[at]
            dropped = {question.entity, *(question.nodes if "n" in variant else ())}
            for rank, hit in enumerate(hits, 1):
                entities = linked[hit.snippet]
                if self.about and question.entity not in entities:
                    continue
                for entity in sorted(entities.keys() - dropped):
                    found[at].setdefault(entity, []).append((entities[entity] / rank, hit))
        return found

    def _mentioned(self, patterns: Sequence[Pattern]) -> list[dict[str, tuple[float, _Reasons]]]:
        """Return for each pattern the entities that can fill it, each with its confidence and the snippets."""
        table, forms = self._opened()
        answers: list[dict[str, tuple[float, _Reasons]]] = [{} for _ in patterns]
        asked = []
        for at, pattern in enumerate(patterns):
            end, step = open_end(pattern)
            if end in table.entity_numbers and step.relation in table.relation_numbers:
                asked.append(at)
        ways = table_ways(table, self.ways)
        for places in batched(asked, _BATCH):
            questions = text_questions(self.graph, forms, self._model, ways, [patterns[at] for at in places])
            for at, question, reasons in zip(places, questions, self._answered(questions), strict=True):
                answers[at] = self._confident(question.step, reasons)
        return answers

    def _confident(self, step: Step, reasons: Mapping[str, _Reasons]) -> dict[str, tuple[float, _Reasons]]:
        """Leave out entities that cannot fill the open end of a step, and divide the scores by their sum plus 1."""
        if self.types == "signatures":
            known, fits = self._opened()[0].entity_numbers, self._fits(step)
            reasons = {id_: some for id_, some in reasons.items() if id_ not in known or fits[known[id_]]}
        scores = {id_: math.fsum(part for part, _ in some) for id_, some in reasons.items()}
        total = 1.0 + math.fsum(scores.values())
        return {id_: (confidence(scores[id_] / total), some) for id_, some in reasons.items()}

    def _fits(self, step: Step) -> npt.NDArray[np.bool_]:
        """Return which entities of the table can fill the open end of a step."""
        if self._signatures is None:
            raise not_open(self)
        return self._signatures.can_have(Step(step.relation, not step.inverse))

    # Training

    def fit(self, task: TrainingTask, training: TextSearchFitSettings) -> Mapping[str, float]:
        """Mine paths from the graph without the held-out facts, and learn from these which kind of query finds most.

        Raises:
            DriverError: If the graph has no pair, or the patterns are of another graph.
        """
        table, forms = self._opened()
        left, _ = without_held_out(table, task.held_out, training.twins)
        self._content = left.content_hash()
        bounds = MiningSettings(training.length, training.hub, None, training.least, twins=training.twins)
        patterns = given_or_mined(self.patterns, left, bounds, executor=task.executor)
        model = TextModel(chosen_paths(patterns, training.paths, training.productive), twins=patterns.twins)
        facts = _drawn(task.held_out, training.facts, task.seed)
        counts = self._told(forms, model, table_ways(left, self.ways), facts)
        variants = {}
        for step in sorted(facts):
            # The sums are of the same facts; the first kind wins a tie, which is the simplest.
            variants[step] = max(VARIANTS, key=lambda variant: counts[step][variant])
        self._model = attrs.evolve(model, variants=variants)
        asked = sum(map(len, facts.values()))
        found = {
            "relations": float(len(model.paths)),
            "held_out": float(len(task.held_out)),
            "facts": float(asked),
            "twins": said(patterns.twins),
            **{f"chosen {variant}": float(list(variants.values()).count(variant)) for variant in VARIANTS},
        }
        if asked:
            plain = sum(counts[step]["s+r"] for step in variants)
            found["s+r P@1"] = plain / asked
            found["learnt P@1"] = sum(counts[step][variants[step]] for step in variants) / asked
        else:
            logger.warning("no fact was held out, so all queries are of entity and relation alone; give `held_out`")
        if task.validate is not None:
            found.update(task.validate())
        return found

    def _told(
        self, forms: LexicalForms, model: TextModel, ways: Any, facts: Mapping[Step, Sequence[Triple]]
    ) -> dict[Step, dict[Variant, float]]:
        """Return the number of facts whose first snippet names the entity, by step and kind of query."""
        rows = [(step, fact) for step, some in sorted(facts.items()) for fact in some]
        sums: dict[Step, dict[Variant, float]] = {step: dict.fromkeys(VARIANTS, 0.0) for step in facts}
        for part in batched(rows, _BATCH):
            patterns = [_pattern(step, fact) for step, fact in part]
            questions = text_questions(self.graph, forms, model, ways, patterns)
            ends = [fact.subject if step.inverse else fact.object for step, fact in part]
            names = [
                [label, *others]
                for label, others in zip(self.graph.labels(ends), self.graph.other_names(ends), strict=True)
            ]
            for variant in VARIANTS:
                found = ranked_hits(self.index, [question.queries[variant] for question in questions], 1)
                for (step, _), hits, called in zip(part, found, names, strict=True):
                    sums[step][variant] += sum(tells(hit.snippet, called) for hit in hits)
        return sums

    def save(self, folder: FilePath) -> None:
        """Write ``text-search.json``."""
        data = {"format": _FORMAT, "content": self._content, "graph": self._hash(), **self._model.to_json()}
        write_model(folder / FILE, data)

    def load(self, folder: FilePath) -> None:
        """Read a saved model."""

        def parse(data: Any) -> tuple[str, str, TextModel]:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']!r}")
            return data["content"], data["graph"], TextModel.from_json(data)

        content, graph, model = read_model(folder / FILE, "text-search", parse)
        if self._hash() not in (content, graph):
            raise DriverError(
                f"the model in {folder} was learnt from another graph than {self.graph.source()}: their triples differ;"
                " use it with its graph, or train one on this graph"
            )
        self._model, self._content = model, content

    def _hash(self) -> str:
        return self._opened()[0].content_hash()

    def _opened(self) -> tuple[TripleTable, LexicalForms]:
        if self._table is None or self._forms is None:
            raise not_open(self)
        return self._table, self._forms


def _shares(links: Sequence[Link]) -> dict[str, float]:
    """Return for each linked entity the greatest share that it has of a mention."""
    found: dict[str, float] = {}
    for link, share in zip(links, link_shares(links), strict=True):
        found[link.entity] = max(share, found.get(link.entity, 0.0))
    return found


def _evidence(reasons: _Reasons) -> tuple[Evidence, ...]:
    """Return the snippets that count most, each once."""
    best: dict[str, tuple[float, Hit]] = {}
    for part, hit in sorted(reasons, key=lambda one: (-one[0], one[1].entry.id)):
        best.setdefault(hit.entry.id, (part, hit))
    return tuple(
        Evidence("snippet", hit.snippet, hit.entry.id, rounded(part)) for part, hit in list(best.values())[:_REASONS]
    )


def _drawn(facts: Sequence[Triple], most: int, seed: int) -> dict[Step, list[Triple]]:
    """Return the facts to learn from by relation and end, chosen by the smallest hashes."""
    by_relation: dict[str, list[Triple]] = {}
    for fact in sorted(set(facts)):
        by_relation.setdefault(fact.relation, []).append(fact)
    drawn = {}
    for relation, some in by_relation.items():
        kept = sorted(some, key=lambda fact: (place("\t".join(fact), seed), fact))[:most]
        drawn[Step(relation)] = drawn[Step(relation, True)] = sorted(kept)
    return drawn


def _pattern(step: Step, fact: Triple) -> Pattern:
    return Pattern(None, fact.relation, fact.object) if step.inverse else Pattern(fact.subject, fact.relation)
