"""The ``patterns`` dataset: triple patterns with one open end, from records, tables of triples, or SPARQL queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any
from typing import Literal as OneOf

import attrs

from srtk_framework.records import base_suffix, read_lines, read_questions
from srtk_framework.values import InputError, Literal, Pattern, Question
from srtk_plugin_datasets.ids import shortened
from srtk_plugin_datasets.question_sets import SampledSet

_OPEN = "?"
_HEAD = re.compile(r"\s*(?:PREFIX|BASE|SELECT)\b", re.IGNORECASE)  # Keywords with which a query begins.
_KINDS = {".jsonl": "records", ".ndjson": "records", ".json": "records", ".rq": "sparql", ".sparql": "sparql"}


@attrs.define
class Patterns(SampledSet):
    """Questions that are triple patterns: a relation and one bound end.

    A file is one of three kinds, by its ending:

    - `.jsonl`, `.ndjson`, `.json`: question records with the field `pattern`.
    - `.rq`, `.sparql`: SELECT queries, each of one triple pattern with one variable.
    - others: tables of subject, relation and object, separated by tabs. A line with `?` as subject or object is a
      pattern. Other lines are facts, which become patterns with the entities of the facts as gold answers.

    Attributes:
        path: The file, also .gz, .bz2, .xz and .zst.
        ends: The ends of facts that become open: `object`, `subject` or `both`.
        prefixes: Namespace IRIs by prefix, as in the graph, for queries; for Wikidata and DBpedia by default,
            `{}` for whole IRIs.
    """

    path: str
    ends: OneOf["object", "subject", "both"] = "both"
    prefixes: Mapping[str, str] | None = None

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file; patterns of facts in the order of their first fact."""
        kind = _KINDS.get(base_suffix(FilePath(self.path)), "table")
        if kind == "records":
            questions = self._records()
        else:
            found = self._queries() if kind == "sparql" else self._table()
            questions = (Question(str(i), str(p), answers=a, pattern=p) for i, (p, a) in enumerate(found, start=1))
        return self._sampled(questions)

    def _records(self) -> Iterator[Question]:
        for question in read_questions(self.path):
            if question.pattern is None:
                raise InputError(f"{self.path}: question {question.id} has no pattern; write [subject, relation, null]")
            yield question

    def _table(self) -> Iterator[tuple[Pattern, tuple[str, ...] | None]]:
        """Yield the patterns of a table; those made of facts have gold answers."""
        gold: dict[Pattern, dict[str, None] | None] = {}
        for number, line in read_lines(self.path):
            if not line.strip():
                continue
            where = f"{self.path}:{number}"
            subject, relation, object_ = _parts(line, where)
            if _OPEN in (subject, object_):
                if subject == object_:
                    raise InputError(f"{where}: both ends are open; write `?` for one of subject and object")
                gold.setdefault(Pattern(None if subject == _OPEN else subject, relation, _ended(object_)), None)
                continue
            if self.ends != "subject":
                _add(gold, Pattern(subject, relation), object_)
            if self.ends != "object":
                _add(gold, Pattern(None, relation, _term(object_)), subject)
        return ((pattern, None if answers is None else tuple(answers)) for pattern, answers in gold.items())

    def _queries(self) -> Iterator[tuple[Pattern, None]]:
        for number, text in _split_queries(self.path):
            yield _pattern_of_query(text, f"{self.path}:{number}", self.prefixes), None


def _parts(line: str, where: str) -> list[str]:
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != 3 or not all(parts):
        raise InputError(
            f"{where}: expected subject, relation and object separated by tabs, with `?` for an open end, not {line!r}"
        )
    if parts[1] == _OPEN:
        raise InputError(f"{where}: the relation is open; a pattern has a relation, and one open end")
    return parts


def _term(text: str) -> str:
    return Literal(text) if text.startswith('"') else text


def _ended(object_: str) -> str | None:
    return None if object_ == _OPEN else _term(object_)


def _add(gold: dict[Pattern, dict[str, None] | None], pattern: Pattern, answer: str) -> None:
    answers = gold.setdefault(pattern, {})
    if answers is not None:
        answers[_term(answer)] = None


def _split_queries(path: str) -> Iterator[tuple[int, str]]:
    """Yield each query with its first line: a query begins after the closing brace of the one before."""
    lines: list[str] = []
    start, depth, closed = 1, 0, False
    for number, line in read_lines(path):
        if closed and _HEAD.match(line):
            yield start, "\n".join(lines)
            lines, closed = [], False
        if not lines:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            start = number
        lines.append(line)
        depth += line.count("{") - line.count("}")
        closed = closed or ("}" in line and depth <= 0)
    if lines:
        yield start, "\n".join(lines)


def _pattern_of_query(text: str, where: str, prefixes: Mapping[str, str] | None) -> Pattern:
    """Read a SELECT query of one triple pattern with one variable.

    Raises:
        InputError: If the text is no query, or a different query.
    """
    from pyparsing.exceptions import ParseBaseException
    from rdflib.plugins.sparql import prepareQuery
    from rdflib.term import Literal as Value
    from rdflib.term import URIRef, Variable

    try:
        algebra: Any = prepareQuery(text).algebra
    except ParseBaseException as error:
        raise InputError(f"{where}: this is no SPARQL query: {error}") from error
    except Exception as error:  # an undeclared prefix is a plain Exception there
        raise InputError(f"{where}: this query cannot be read: {error}") from error
    form = (
        f"{where}: expected SELECT of one triple pattern with one variable, such as SELECT ?x {{ wd:Q937 wdt:P19 ?x }}"
    )
    body = algebra
    for name in ("SelectQuery", "Project"):
        if body.name != name:
            raise InputError(f"{form}; this query has {body.name}")
        body = body.p
    if body.name != "BGP" or len(body.triples) != 1:
        had = f"{len(body.triples)} triple patterns" if body.name == "BGP" else body.name
        raise InputError(f"{form}; this query has {had}")
    parts = body.triples[0]
    variables = [isinstance(part, Variable) for part in parts]
    if variables not in ([True, False, False], [False, False, True]):
        raise InputError(f"{form}; this pattern has {sum(variables)} variables in other places")
    if not isinstance(parts[1], URIRef):
        raise InputError(f"{form}; this query has a property path")

    def term(part: Any) -> str | None:
        if isinstance(part, URIRef):
            return shortened(str(part), prefixes)
        if isinstance(part, Value):
            return Literal.make(str(part), part.datatype and str(part.datatype), part.language)
        return None

    subject, relation, object_ = (term(part) for part in parts)
    return Pattern(subject, relation, object_)
