"""The ``rdf`` exporter: N-Quads with a named graph for each result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal as OneOf
from urllib.parse import quote

import attrs

from srtk_framework.text import answer_line
from srtk_framework.values import Literal, Retrieval
from srtk_plugin_files.facts import Fact, facts
from srtk_plugin_files.file_exporter import FileExporter

TERM = "urn:srtk:"
"""Namespace of ids that are no IRIs, percent-encoded."""
RESULT = "urn:srtk-result:"
"""Namespace of the named graphs: the id of the question, percent-encoded."""
WORD = "urn:srtk-vocabulary:"
"""Namespace of the properties of results and of statements."""
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BODY = r"(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_IRI = re.compile(
    rf"(?!{TERM})(?:https?://[\w.-]+(?::\d+)?(?:[/?]{_BODY})?|(?:urn|tag|info|mailto):(?!//){_BODY})(?:#{_BODY})?"
)
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_ESCAPED = re.compile(r"[\x00-\x1f\"\\\x7f-\x9f\u2028\u2029]")


@attrs.define
class Rdf(FileExporter):
    """Write N-Quads: the triples of each result in a named graph, and what is known of them in the default graph.

    Ids that are no IRIs become IRIs below ``urn:srtk:``. Each triple has a statement with its rank, score, source,
    path, confidence and qualifiers.

    Attributes:
        version: ``1.1`` describes triples by ``rdf:Statement``; ``1.2`` by reifiers (``rdf:reifies``), which not every
            library reads.
    """

    version: OneOf["1.1", "1.2"] = "1.1"

    def format(self, retrieval: Retrieval) -> str:
        """Return the lines of a retrieval."""
        return "".join(f"{line} .\n" for line in self._lines(retrieval))

    def _lines(self, retrieval: Retrieval) -> Iterator[str]:
        graph = RESULT + quote(retrieval.question.id, safe="", errors="replace")
        yield f"<{graph}> <{_RDF}type> <{WORD}Result>"
        yield f"<{graph}> <{WORD}question> {_text(retrieval.question.text)}"
        if retrieval.error is not None:
            yield f"<{graph}> <{WORD}error> {_text(retrieval.error)}"
        if retrieval.answer is not None and retrieval.answer.enough:
            yield f"<{graph}> <{WORD}answer> {_text(answer_line(retrieval.answer, retrieval.subgraph))}"
        for id_, label in sorted(retrieval.labels.items()):
            yield f"{iri(id_)} {_LABEL} {_text(label)}"
        for fact in facts(retrieval):
            yield f"{_spo(fact)} <{graph}>"
            yield from (f"<{graph}:{fact.place + 1}> {said}" for said in self._statement(fact, graph))

    def _statement(self, fact: Fact, graph: str) -> Iterator[str]:
        if self.version == "1.2":
            yield f"<{_RDF}reifies> <<( {_spo(fact)} )>>"
        else:
            yield f"<{_RDF}type> <{_RDF}Statement>"
            for name, part in zip(("subject", "predicate", "object"), fact.triple, strict=True):
                yield f"<{_RDF}{name}> {iri(part) if name == 'predicate' else node(part)}"
        yield f"<{WORD}result> <{graph}>"
        yield f'<{WORD}rank> "{fact.place + 1}"^^<{_XSD}integer>'
        if fact.score is not None:
            yield f"<{WORD}score> {_double(fact.score)}"
        if fact.source:
            yield f"<{WORD}source> {_text(fact.source)}"
        if fact.path is not None:
            yield f"<{WORD}start> {iri(fact.path.entity)}"
            yield f"<{WORD}path> {_text(fact.steps or '')}"
            yield f"<{WORD}pathScore> {_double(fact.path.score)}"
        if fact.confidence < 1:
            yield f"<{WORD}confidence> {_double(fact.confidence)}"
        yield from (f"{iri(relation)} {node(value)}" for relation, value in fact.qualifiers)


def iri(id_: str) -> str:
    """Return an id as an IRI in brackets."""
    return f"<{id_}>" if _IRI.fullmatch(id_) else f"<{TERM}{quote(id_, safe='', errors='replace')}>"


def node(id_: str) -> str:
    """Return an entity as an IRI, or a literal with its datatype or language."""
    if not isinstance(id_, Literal):
        return iri(id_)
    if id_.language:
        # A tag that RDF refuses is kept as a datatype.
        if _LANGUAGE.fullmatch(id_.language):
            return f"{_text(id_.lexical)}@{id_.language}"
        return f"{_text(id_.lexical)}^^{iri('language:' + id_.language)}"
    datatype = id_.datatype
    if not datatype:
        return _text(id_.lexical)
    return f"{_text(id_.lexical)}^^{iri(_XSD + datatype[4:] if datatype.startswith('xsd:') else datatype)}"


def _spo(fact: Fact) -> str:
    subject, relation, object_ = fact.triple
    return f"{iri(subject)} {iri(relation)} {node(object_)}"


def _text(text: str) -> str:
    escaped = _ESCAPED.sub(lambda found: _escape(found[0]), text)
    return f'"{escaped}"'


def _escape(char: str) -> str:
    return "\\" + char if char in '"\\' else f"\\u{ord(char):04X}"


def _double(value: float) -> str:
    return f'"{value!r}"^^<{_XSD}double>'.replace("inf", "INF").replace("nan", "NaN")
