"""Handler of questions whose words tell a relation with its direction: *narrower than X*, *what does X evolve from*."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.text import fold, spaced
from srtk_framework.values import RankedPath, Step, Triple
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.choices import is_term
from srtk_plugin_answers.definition_handlers import META, squeezed
from srtk_plugin_answers.directions import BOTH_WAYS
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.question_classes import word_set
from srtk_plugin_answers.question_kinds import Kind, marked_text

_ARTICLE = r"(?:the |an? )?"
_THINGS = r"(?:concept|term|class|categor|propert|notion|thing|item|individual|entit|object)(?:ies|es|s|y)?"
_ASK = (
    rf"(?:how many (?:{_THINGS} (?:is|are) )?|(?:what|which|who)(?: {_THINGS})?(?: (?:is|are|was|were)|['’]?s)? "
    r"|(?:list|name|give(?: me)?|show(?: me)?|find|tell me)"
    rf"(?: (?:all )?(?:the )?{_THINGS} (?:that|which) (?:is|are))? )?"
    r"(?:all )?(?:the |an? )?(?:direct )?"
)
_LINK = rf"{_ARTICLE}(?:{_THINGS} )?¤"


@attrs.frozen
class _Order:
    """The relations of an order, with the words for what is below or above in it, as patterns.

    Attributes:
        below: Words for what is below.
        above: Words for what is above.
        up: Names of relations from what is below to what is above, in one word.
        down: Names of relations in the other direction.
    """

    below: str
    above: str
    up: frozenset[str]
    down: frozenset[str]


_CONCEPTS = _Order(
    "narrower",
    "broader",
    word_set("broader broaderterm broaderconcept broaderthan broadergeneric broadertransitive"),
    word_set("narrower narrowerterm narrowerconcept narrowerthan narrowergeneric narrowertransitive"),
)
_CLASSES = _Order(
    "(?:sub[- ]?(?:class(?:es)?|types?)|kinds|types|sorts|(?<=\\ba )(?:kind|type|sort))",
    "(?:super|parent)[- ]?(?:class(?:es)?|types?)",
    word_set("subclassof subtypeof"),
    word_set("superclassof subclass"),
)
_PROPERTIES = _Order(
    "sub[- ]?propert(?:y|ies)",
    "(?:super|parent)[- ]?propert(?:y|ies)",
    word_set("subpropertyof"),
    word_set("superpropertyof subproperty"),
)
_INSTANCES = _Order("instances?", "(?!)", word_set("instanceof isinstanceof"), word_set("instance"))
_PARTS = _Order("parts?", "(?!)", word_set("partof ispartof"), word_set("part parts"))
_RELATED = _Order("related", "(?!)", *[word_set("related relatedto relatedterm relatedconcept")] * 2)
_ORDERS = (_CONCEPTS, _CLASSES, _PROPERTIES, _INSTANCES, _PARTS, _RELATED)
_SAME: tuple[_Order, ...] = (_CONCEPTS, _CLASSES)
"""Orders of which one is meant where a graph lacks the other."""


def _asking(term: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of questions for what has a term to a link, and for what a link has that term to."""
    term = rf"{term}(?: {_THINGS})?"
    own = rf"{_ASK}{term}(?: (?:of|than|for|to) {_LINK}(?: (?:are|is) there)?| (?:are|is) there (?:of|for) {_LINK})"
    has = rf"{_ASK}{term} (?:do|does|did) {_LINK} have|{_ASK}¤ ?['’]s {term}"
    other = rf"(?:what|which)(?: {_THINGS})? (?:is|are) {_LINK} (?:an? |the )?{term} (?:of|than|for|to)"
    return re.compile(rf"{own}|{has}"), re.compile(other)


_PATTERNS = [(order, _asking(order.below), _asking(order.above)) for order in _ORDERS]
_IS_A = re.compile(r"(?:is|are|was|were) (?:an? |the )?¤ (?:an? )?¤")
_OF_TWO = [
    (_IS_A, (_INSTANCES, *_SAME), True),
    *(
        (
            re.compile(rf"(?:is|are|was|were) (?:the )?¤ (?:an? |the )?{term}(?: {_THINGS})? (?:of|than) {_LINK}"),
            orders,
            way,
        )
        for orders, below, above in (
            (
                _SAME,
                f"(?:{_CONCEPTS.below}|{_CLASSES.below}|kind|type|sort)",
                f"(?:{_CONCEPTS.above}|{_CLASSES.above})",
            ),
            ((_PROPERTIES,), _PROPERTIES.below, _PROPERTIES.above),
            ((_INSTANCES, *_SAME), _INSTANCES.below, _INSTANCES.above),
        )
        for term, way in ((below, True), (above, False))
    ),
]
"""Questions for yes or no about the places of two things, with the orders that are read, and the lower one first."""
_VERB = r"(?P<verb>[^\W\d_]{3,})"
_PREPOSITION = r"(?P<at>from|to|on|in|into|of|by|with|for|at|under|upon|after|over|through)"
_AUX = "(?:is|are|was|were|do|does|did|has|have|had)"
_NOUN = r"(?: (?!(?:is|are|was|were|do|does|did|has|have|had)\b)(?P<noun>[\w-]+(?: [\w-]+)??))?"
_OF_SUBJECT = (
    re.compile(rf"(?:what|whom?|where|which){_NOUN} {_AUX} {_ARTICLE}¤ {_VERB} {_PREPOSITION}"),
    re.compile(rf"{_PREPOSITION} (?:what|whom|which){_NOUN} {_AUX} {_ARTICLE}¤ {_VERB}"),
)
"""Questions whose link is the subject of a verb: *what does X evolve from*."""
_OF_OBJECT = re.compile(rf"(?:what|who|which){_NOUN}(?: {_AUX})? {_VERB} {_PREPOSITION} {_ARTICLE}¤")
_TURNED = {"from": ("into", "to"), "into": ("from",), "to": ("from",)}
"""Prepositions by which a verb says the same in the other direction."""
_BE = word_set("is are was were be been being has have")
_NONE = "the graph has nothing of that order for {name!r}"
_OTHER_WAY = "the graph has {label!r} of {name!r} in the other direction alone"


@attrs.frozen
class _Told:
    """Steps that a question tells, the relations behind them, and whether they are less sure.

    Attributes:
        steps: The steps from the link.
        wrong: The same relations in the other direction.
        noun: Word of the class that the question asks for, or nothing.
        likened: Whether another word than the relation's tells it.
    """

    steps: frozenset[Step]
    wrong: frozenset[Step]
    noun: str = ""
    likened: bool = False


def by_phrase(sources: Sources, case: Case) -> Draft | None:
    """Answer by the relation and the direction that an order's word, or a verb with a preposition, tells.

    A path that goes the other way is no answer: refused, where nothing goes the way that is asked for.
    """
    links = case.question.links
    if len({(link.start, link.end) for link in links}) != 1:
        return None
    plain = marked_text(case.question).strip(" ?.!")
    order, verb = _order_asked(plain), _verb_asked(plain)
    if order is None and (verb is None or case.kind not in ("lookup", "count")):
        return None
    kind: Kind = "count" if plain.startswith("how many") else "lookup"
    entities = list(dict.fromkeys(link.entity for link in links))
    every = sources.graph.steps(sources.graph.frontiers([[one] for one in entities]), True)
    relations = {*sources.operations.schema.relations, *(step.relation for row in every for step in row)}
    labels = sources.operations.names.labels(sorted(relations))
    told = _order_told(sources, *order, labels) if order else _verb_told(*verb, labels) if verb else None
    if told is None or (order is None and _is_followed(sources, case, told)):
        return None
    read = [(one, row) for one in entities if (row := _triples(sources, one, told.steps))]
    if read:
        entity, rows = read[0]
        return _drafted(sources, kind, entity, rows, told.likened or len(read) > 1 or entity != entities[0])
    [name] = sources.graph.labels(entities[:1])
    if order is not None:
        return Draft(kind, missing=_NONE.format(name=name))
    if any(step in told.wrong for row in every for step in row):
        label = labels[min(told.wrong).relation]
        return Draft(kind, missing=_OTHER_WAY.format(label=label, name=name))
    return None


def _order_asked(plain: str) -> tuple[_Order, bool] | None:
    """Return the order that a question asks for, and whether it asks for what is below its link."""
    for order, below, above in _PATTERNS:
        if below[0].fullmatch(plain) or above[1].fullmatch(plain):
            return order, True
        if below[1].fullmatch(plain) or above[0].fullmatch(plain):
            return order, False
    return None


def by_place_in_order(sources: Sources, case: Case) -> Draft | None:
    """Answer whether one of two links is below the other in an order, over any number of steps: *is X a kind of Y*."""
    kept = tuple(link for link in case.question.links if not is_term(link.entity))  # a broader concept
    question = attrs.evolve(case.question, links=kept)
    links = sorted({(link.start, link.entity) for link in kept if link.start is not None})
    plain = marked_text(question).strip(" ?.!")
    told = next((one for one in _OF_TWO if one[0].fullmatch(plain)), None)
    if case.kind != "yes-no" or told is None or len(links) != 2 or len({start for start, _ in links}) != 2:
        return None
    pattern, orders, is_below = told
    below, above = (link for _, link in (links if is_below else reversed(links)))
    schema = sources.operations.schema
    labels = sources.operations.names.labels(schema.relations)
    up = {name for name, label in labels.items() if any(squeezed(label) in one.up for one in orders)}
    up |= {*schema.subclass_relations} | ({*schema.type_relations} if _INSTANCES in orders else set())
    down = {name for name, label in labels.items() if any(squeezed(label) in one.down for one in orders)}
    steps = sorted({Step(name) for name in up} | {Step(name, True) for name in down})
    if not steps:
        return None
    ways: dict[str, tuple[Triple, ...]] = {below: ()}
    level = [below]
    while level and above not in ways and len(ways) < sources.operations.members:
        [frontier] = sources.graph.frontiers([level])
        level = []
        for step, row in zip(steps, sources.graph.triples([frontier] * len(steps), steps, None), strict=True):
            for one in row:
                start, end = (one.object, one.subject) if step.inverse else (one.subject, one.object)
                if end not in ways and start in ways:
                    ways[end] = (*ways[start], one)
                    level.append(end)
    shown = ways.get(above) or [one for way in ways.values() for one in way[-1:]]
    shown = shown or _triples(sources, below, [Step(relation, not inverse) for relation, inverse in steps])
    if not shown or (pattern is _IS_A and above not in ways):
        return None  # nothing is known of its place, or it may be so by another relation
    path = RankedPath(below, (steps[0],), 0.0)
    return Draft(case.kind, truth=above in ways, proof=[(one, path) for one in shown], complete=True)


def _order_told(sources: Sources, order: _Order, is_down: bool, labels: Mapping[str, str]) -> _Told | None:
    """Return the steps of an order; None where the graph has no relation of it."""
    schema = sources.operations.schema
    known = {_CLASSES: schema.subclass_relations, _INSTANCES: schema.type_relations}
    for one in (order, *(other for other in _SAME if order in _SAME and other is not order)):
        up = {name for name, label in labels.items() if squeezed(label) in one.up} | {*known.get(one, ())}
        down = {name for name, label in labels.items() if squeezed(label) in one.down}
        if up or down:
            steps = {Step(name, is_down) for name in up} | {Step(name, not is_down) for name in down}
            return _Told(frozenset(steps), frozenset(), likened=one is not order)
    return None


def _verb_asked(plain: str) -> tuple[re.Match[str], bool] | None:
    """Return the verb, the preposition and the noun that a question has, and whether its link is their object."""
    if subject := next((found for one in _OF_SUBJECT if (found := one.fullmatch(plain))), None):
        return subject, False
    found = _OF_OBJECT.fullmatch(plain)
    return None if found is None else (found, True)


def _verb_told(found: re.Match[str], is_object: bool, labels: Mapping[str, str]) -> _Told | None:
    """Return the steps that a verb with its preposition tells, by relations that are called as both."""
    forms = {name: _verb_form(label) for name, label in labels.items()}
    for prepositions, is_turned in (((found["at"],), False), (_TURNED.get(found["at"], ()), True)):
        asked = {(_root(found["verb"]), one) for one in prepositions}
        told = [name for name, form in forms.items() if form in asked]
        if told and _root(found["verb"]) in _SAID_OF_BOTH:
            return _Told(frozenset(Step(name, way) for name in told for way in (False, True)), frozenset())
        if told:
            is_back = is_object != is_turned
            steps, wrong = (frozenset(Step(name, way) for name in told) for way in (is_back, not is_back))
            return _Told(steps, wrong, noun=found["noun"] or "", likened=is_turned)
    return None


def _verb_form(label: str) -> tuple[str, str] | None:
    """Return the root of the verb and the preposition that begin a relation's name: *evolves from species*."""
    first, at, *_ = [*(word for word in fold(spaced(label)).split() if word not in _BE), "", ""]
    # Who is head of a state has a head of state.
    is_verb = at != "of" or first.endswith(("ed", "en", "de", "s"))
    return (_root(first), at) if is_verb and re.fullmatch(_PREPOSITION, at) else None


def _root(verb: str) -> str:
    """Return a verb in small letters without its ending: *derives*, *derived* and *derive* give the same."""
    end = next(
        (one for one in ("ing", "ed", "es", "en", "s", "e", "n") if verb.endswith(one) and len(verb) > 2 + len(one)), ""
    )
    root = verb.removesuffix(end).removesuffix("e")
    return root[:-1] if root[-1:] == root[-2:-1] else root


_SAID_OF_BOTH = {_root(word) for word in BOTH_WAYS}


def _is_followed(sources: Sources, case: Case, told: _Told) -> bool:
    """Return whether the best path goes the way that is told already, and on to what a class or a table names."""
    first = [case.found[0].path, case.operated.lead.path] if case.found else [case.operated.lead.path]
    taken = [path.steps for path in first if path is not None and path.steps]
    if any(steps[0] in told.wrong for steps in taken):
        return False
    columns = {one for table in sources.operations.schema.tables.values() for one in table}
    is_crossed = any(len(steps) > 1 and steps[0] in told.steps and steps[0].relation in columns for steps in taken)
    return bool(told.noun) or is_crossed


def _triples(sources: Sources, entity: str, steps: Iterable[Step]) -> list[Triple]:
    """Return the triples of some steps from an entity, but those of blank nodes and of classes of classes."""
    ways = sorted(steps)
    [frontier] = sources.graph.frontiers([[entity]])
    read = sources.graph.triples([frontier] * len(ways), ways, sources.operations.members + 1)
    ends = sorted({_end(one, entity) for row in read for one in row})
    named = dict(zip(ends, sources.graph.labels(ends), strict=True)) if ends else {}
    types = sources.operations.schema.type_relations
    return [
        one
        for row in read
        for one in row
        for end in [_end(one, entity)]
        if not named[end].startswith("_:")
        and not (one.relation in types and one.subject == entity and squeezed(named[end]) in META)
    ]


def _end(triple: Triple, entity: str) -> str:
    return triple.object if triple.subject == entity else triple.subject


def _drafted(sources: Sources, kind: Kind, entity: str, rows: Sequence[Triple], likened: bool) -> Draft:
    path = RankedPath(entity, (Step(rows[0].relation, rows[0].subject != entity),), 0.0)
    ends = tuple(dict.fromkeys(_end(one, entity) for one in rows if _end(one, entity) != entity))
    return Draft(
        kind,
        ends,
        [(one, path) for one in rows],
        complete=len(rows) <= sources.operations.members,
        number=len(ends) if kind == "count" else None,
        path=path,
        likened=likened,
    )
