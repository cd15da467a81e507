"""Handler of questions for what something is: its description, else a class that says something of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.text import fold
from srtk_framework.values import Literal, RankedPath, Step, Triple
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.literal_values import fits, is_missing, truth_of
from srtk_plugin_answers.question_classes import word_set
from srtk_plugin_answers.question_kinds import marked_text

_CODE = re.compile(r"\b(?P<code>[a-z]+\d+[a-z]*) ¤")
_QUOTED = re.compile(r"(['\"“‘]) ?¤ ?['\"”’]")
_THING = r"(?:(?:an?|the) )?(?:(?:term|word|concept|notion|class|property|relation|abbreviation) )?(?:an? )?¤"
_NOUN = r"(?P<noun{0}>definition|meaning|description|explanation|summary|abstract|gloss)"
_ASKED = re.compile(
    rf"(?:(?:please|(?:can|could|would) you(?: please)?) )?(?:"
    rf"(?:what|who)(?: exactly)?(?:['’]?s| is| are| was| were) (?:exactly )?{_THING}"
    rf"|(?:define|describe|explain|tell me (?:more )?about|tell me (?:what|who)) {_THING}(?: (?:is|are|was|means))?"
    rf"|what (?:do|does|did) {_THING} (?:mean|stand for)"
    rf"|what (?:is|are) meant by {_THING}"
    rf"|how (?:is|are) {_THING} (?:defined|described)"
    rf"|how (?:do|does|would|can) (?:you|one|we) (?:define|describe) {_THING}"
    rf"|(?:what(?:['’]s| is| was) |give (?:me )?|show (?:me )?|find |tell me )?(?:the |an? )?{_NOUN.format(1)}"
    rf" (?:of|for) {_THING}"
    rf"|(?:what(?:['’]s| is) )?(?:the )?¤ ?(?:['’]s )?{_NOUN.format(2)}"
    r")"
)
_COMMENT = "http://www.w3.org/2000/01/rdf-schema#comment"
_NAMES = (
    "definition", "meaning", "gloss", "comment", "description", "abstract", "summary", "explanation", "biography",
    "bio", "scopenote", "note", "notes",
)  # fmt: skip
"""Names of relations with a text that says what something is, the most telling first; *comment* is that of RDF."""
_DOUBTED = ("comment", "note", "notes")
"""Such names that a column may have for anything."""
_HEADS = ("definition", "description", "abstract", "summary")
_SHORTER = ("summary", "abstract")
_WORK = ("occupation", "profession", "jobtitle", "job", "role", "position")
_ABOVE = ("subclassof", "subpropertyof", "subtypeof", "kindof", "isa", "broader", "hasbroader", "broaderterm")
_TYPES = ("type", "instanceof", "entitytype", "kind", "category")
META = word_set(
    """
    class property resource concept thing entity item object node individual namedindividual objectproperty
    datatypeproperty annotationproperty functionalproperty transitiveproperty symmetricproperty datatype ontology
    conceptscheme collection restriction statement list
    """
)
"""Classes of a vocabulary itself, which say nothing of what they have."""
_SHOWN = 4
"""Relations that a refusal names."""
_CLASS_ALONE = "the graph has no description of it; the answer is what it is a kind of"
_NO_DESCRIPTION = "the graph has no description of {name!r}, and no class that says what it is"


def squeezed(label: str) -> str:
    """Return the small letters of a relation's or a class's name alone: *has broader* and *subClassOf* in one word."""
    return re.sub(r"[^a-z]", "", fold(label).removeprefix("has "))


def is_named(node: str, label: str) -> bool:
    """Return whether a node is called by words: neither a blank node nor an IRI alone."""
    return not label.startswith(("_:", "http://", "https://", "urn:")) and bool(label.strip())


def by_definition(sources: Sources, case: Case) -> Draft | None:
    """Answer what something is: by its description, else by a class of it that is none of every vocabulary.

    Of *who* and *what is X* neither *Class* nor a further column is an answer: refused, with what the graph has of it.
    """
    links = case.question.links
    plain = _QUOTED.sub("¤", marked_text(case.question).strip(" ?.!"))
    if (code := _CODE.search(plain)) and all(code["code"] in fold(link.entity) for link in links):
        plain = _CODE.sub("¤", plain)  # E21 Person is called Person
    found = _ASKED.fullmatch(plain)
    if found is None or len({(link.start, link.end) for link in links}) != 1:
        return None
    noun = found["noun1"] or found["noun2"]
    entities = list(dict.fromkeys(link.entity for link in links))
    told = [(one, _of_entity(sources, one)) for one in entities]
    described = [(one, text) for one, rows in told if (text := _described(sources, rows, noun))]
    if described:
        entity, (texts, is_doubted) = described[0]
        is_other = entity != entities[0] or len(described) > 1
        return _drafted(entity, texts, is_doubted or is_other)
    is_who = case.question.text.casefold().lstrip().startswith("who")
    for entity, rows in told:
        if noun is None and (classes := _classes(sources, rows, is_who)):
            return attrs.evolve(_drafted(entity, classes, True), notice=_CLASS_ALONE)
    [name] = sources.graph.labels(entities[:1])
    kept = list(sources.operations.names.labels(told[0][1]).values())[:_SHOWN]
    missing = _NO_DESCRIPTION.format(name=name)
    return Draft("lookup", missing=f"{missing}; ask for what it has: {', '.join(kept)}" if kept else missing)


def _of_entity(sources: Sources, entity: str) -> Mapping[str, Sequence[Triple]]:
    """Return the triples of an entity, by relation."""
    [frontier] = sources.graph.frontiers([[entity]])
    [steps] = sources.graph.steps([frontier], False)
    read = sources.graph.triples([frontier] * len(steps), steps, None)
    return {step.relation: row for step, row in zip(steps, read, strict=True) if row}


def _described(
    sources: Sources, rows: Mapping[str, Sequence[Triple]], noun: str | None
) -> tuple[Sequence[Triple], bool] | None:
    """Return the triples of the description, and whether that is doubted."""
    ranked = []
    for relation, row in rows.items():
        name = squeezed(sources.likeness.label(relation))
        is_exact = name in _NAMES
        name = name if is_exact else next((head for head in _HEADS if name.endswith(head)), "")
        is_column = name in _DOUBTED and not relation.startswith("http")
        if name and (texts := _texts(sources, row)):
            is_other = bool(noun and noun != name) and (noun in _SHORTER or sources.likeness.is_name(noun or ""))
            is_doubted = not is_exact or is_column or is_other
            rank = (noun != name, relation != _COMMENT and name in _DOUBTED, not is_exact, _NAMES.index(name))
            ranked.append((rank, relation, texts, is_doubted))
    return min(ranked)[2:] if ranked else None


def _texts(sources: Sources, row: Sequence[Triple]) -> list[Triple]:
    """Return the triples with a text: in English where some are, and of a node with a value that value."""
    texts = [one for one in row if isinstance(one.object, Literal) and _is_text(one.object)]
    if not texts:
        nodes = [one for one in row if not isinstance(one.object, Literal)]
        labels = sources.graph.labels([one.object for one in nodes])
        onward = [
            [one, *of_value]
            for one in nodes
            for relation, of_value in _of_entity(sources, one.object).items()
            if squeezed(sources.likeness.label(relation)) == "value"
        ]
        if onward:
            return onward[0]
        return [one for one, label in zip(nodes, labels, strict=True) if is_named(one.object, label)]
    by_language: dict[str, list[Triple]] = {}
    for one in texts:
        language = one.object.language if isinstance(one.object, Literal) else None
        by_language.setdefault((language or "").partition("-")[0], []).append(one)
    return by_language.get("en") or by_language.get("") or texts


def _is_text(value: Literal) -> bool:
    is_value = fits(value, "date") or fits(value, "number") or truth_of(value) is not None or is_missing(value.lexical)
    return not is_value


def _classes(sources: Sources, rows: Mapping[str, Sequence[Triple]], is_who: bool) -> Sequence[Triple]:
    """Return the triples that join an entity to what it is a kind of, without classes that say nothing."""
    schema = sources.operations.schema
    names = {relation: squeezed(sources.likeness.label(relation)) for relation in rows}
    for wanted, known in (
        (_WORK if is_who else (), ()),
        (_ABOVE, schema.subclass_relations),
        (_TYPES, schema.type_relations),
    ):
        for relation in sorted(rows, key=lambda one: (one not in known, one)):
            if relation in known or names[relation] in wanted:
                labels = sources.graph.labels([one.object for one in rows[relation]])
                told = [
                    one
                    for one, label in zip(rows[relation], labels, strict=True)
                    if is_named(one.object, label) and squeezed(label) not in META
                ]
                if told:
                    return told
    return ()


def _drafted(entity: str, rows: Sequence[Triple], likened: bool) -> Draft:
    """Answer with the objects of the last of one relation, or of two in a row."""
    path = RankedPath(entity, tuple(dict.fromkeys(Step(one.relation) for one in rows)), 0.0)
    last = [one for one in rows if one.relation == rows[-1].relation]
    values = tuple(dict.fromkeys(one.object for one in last))
    return Draft("lookup", values, [(one, path) for one in rows], path=path, likened=likened)
