"""Writes a sample as N-Triples, for graphs that read RDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from srtk_framework.testing.sample import Sample
from srtk_framework.values import Literal

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}  # Characters that are escaped in a quoted text


def to_ntriples(
    sample: Sample,
    iri: Callable[[str], str | None],
    label: str = _LABEL,
    alias: str = _ALIAS,
    language: str = "",
) -> str:
    """Write the triples, labels and aliases of a sample; not its qualifiers, which plain RDF does not have.

    Args:
        sample: The sample.
        iri: Id of an entity or relation to its IRI.
        label: IRI of the relation to a label.
        alias: IRI of the relation to a further name.
        language: Language tag of labels and aliases; none when left out.
    """

    def node(id_: str) -> str:
        found = iri(id_)
        if found is None:
            raise ValueError(f"{id_!r} has no IRI")
        return f"<{found}>"

    def lines() -> Iterator[str]:
        for subject, relation, object_ in sample.triples:
            end = _literal(object_) if isinstance(object_, Literal) else node(object_)
            yield f"{node(subject)} {node(relation)} {end} .\n"
        for id_, name in sample.labels.items():
            yield f"{node(id_)} <{label}> {_text(name, language)} .\n"
        for id_, names in sample.aliases.items():
            for name in names:
                yield f"{node(id_)} <{alias}> {_text(name, language)} .\n"

    return "".join(lines())


def _literal(value: Literal) -> str:
    written, datatype = _text(value.lexical, value.language or ""), value.datatype
    if datatype is None:
        return written
    return f"{written}^^<{_XSD + datatype[4:] if datatype.startswith('xsd:') else datatype}>"


def _text(value: str, language: str) -> str:
    written = "".join(_ESCAPES.get(letter, letter) for letter in value)
    return f'"{written}"@{language}' if language else f'"{written}"'
