"""Handlers of look-ups: dates, numbers, sets, and where the best path ends."""

from __future__ import annotations

import re
from itertools import permutations

import attrs

from srtk_framework.text import fold
from srtk_framework.values import Literal, Question, RankedPath, Step
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import (
    asked_relation,
    asks_for_age,
    asks_for_things,
    asks_how_long,
    measure_asked,
    value_kind,
)
from srtk_plugin_answers.choices import Choice, returns
from srtk_plugin_answers.directions import is_agent
from srtk_plugin_answers.drafts import NO_RELATION, NO_VALUE, Case, Draft, looked_up, margin_of
from srtk_plugin_answers.joined_topics import rows_between, triples_between
from srtk_plugin_answers.literal_values import fits, is_date, is_missing, is_time, value_of
from srtk_plugin_answers.node_sets import whole_set
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.order_handlers import asks_for_value
from srtk_plugin_answers.path_scores import LIKE
from srtk_plugin_answers.question_classes import (
    PEOPLE,
    name_of,
    shared_words,
    singular,
    stems_of,
    without_names,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_kinds import is_yes_no, marked_text, unnamed_text
from srtk_plugin_answers.question_orders import long_meant
from srtk_plugin_answers.statement_years import dates_of, ends
from srtk_plugin_answers.yes_no_handlers import no_value

_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_NOUN_OF = re.compile(r"\b(?P<noun>[^\W\d_]+) of (?:(?:an?|the) )? *¤")
_HOLDERS = (
    re.compile(r"^whose (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?) (?:is|are|was|were) (?:the )?¤$"),
    re.compile(r"^(?:who|whom) (?:do|does|did|has|have|had) (?:the )?¤ (?P<verb>[^\W\d_]{3,})$"),
    re.compile(r"^(?:who|what) (?:is|are|was|were|has been|have been) (?P<verb>[^\W\d_]{3,}) by (?:the )?¤$"),
)
_NO_HOLDER = "nothing of the graph has what the question names as its {name}"
_KIND = ("kind", "type", "sort")
_IS_A = ("is a", "isa", "kind of", "type of", "subclass of", "sub class of", "subtype of")
_ASKS = word_set(
    "what which who whos whats how many name list give show find tell count me all the a an is are was were there exist"
)
"""Words beside a noun that say no more than that it is asked for."""
_HAPPENED = re.compile(r"^(?:\w+ed|born|built|won|sold)\b")
"""Names of relations that say of what they are the date."""
_BEGUN = word_set(
    """
    begin began begun born build built create created discovered establish established found founded hire hired join
    joined launch launched married open opened plant planted since start started
    """
)
_ENDED = word_set(
    """
    abolish abolished close closed demolish demolished destroy destroyed die died dissolve dissolved divorced end ended
    finish finished fired leave left quit retire retired sank sink sunk
    """
)
"""Words for the beginning and for the end of something, which have different dates."""
_AGED = word_set("age old made")
_ORIGINS = stems_of("birth born built opened founded established created constructed inception")
"""Words and stems of the names of relations that say how old something is."""
_NOT_WITHIN = "nothing of the set has a value of {name!r} within {within}"
_NO_VERB = "no relation of the graph is called as {verb!r}; the answer is from {label!r}"
_OVER = "what the question names has no {noun} of its own; the answer goes over {over}"
_NO_YEAR = "the graph has a column for each of several years, and not a single one for {years}"


def by_year(sources: Sources, case: Case) -> Draft | None:
    """Answer with the column that is called as the year of a question: *the population of X in 2015*."""
    names, links = sources.operations.names, {link.entity for link in case.question.links}
    text = without_names(case.question)
    asked = dict.fromkeys(_YEAR.findall(text))
    if case.kind not in ("lookup", "time-bound", "count") or len(links) != 1 or not (asked and names.years()):
        return None
    if case.operated.bounds and not any(one.date for one in case.operated.bounds):
        return None
    noun = asked_relation(case.question.text)
    noun = noun or next((one for one in case.operated.phrases if one not in PEOPLE), "")
    told = names.of_year(text, noun)
    if asks_for_things(text) or (not told and (not noun or sources.likeness.is_name(noun))):
        return None
    if len(told) != 1:
        return Draft(case.kind, missing=_NO_YEAR.format(years=" and ".join(asked)))
    [link], [relation] = links, told
    [row] = sources.graph.triples(sources.graph.frontiers([[link]]), [Step(relation)], None)
    if not row:
        return Draft(case.kind, missing=NO_VALUE.format(noun=sources.likeness.label(relation)))
    path = RankedPath(link, (Step(relation),), 0.0)
    values = tuple(triple.object for triple in row)
    draft = Draft(case.kind, values, [(triple, path) for triple in row], True, path=path, operated=False)
    number = value_of(values[0]) if case.kind == "count" else None
    return attrs.evolve(draft, number=number, likened=not (noun and names.is_measure(noun, relation)))


def by_empty(sources: Sources, case: Case) -> Draft | None:
    """Answer none, or refuse, where nothing is within the bounds of a question, or nothing has such a value."""
    lead, bounds = case.operated.lead, case.operated.bounds
    if bounds and "bounds" not in lead.facts:
        is_asked = any(one.noun or one.date for one in bounds)
        return Draft(case.kind, missing=no_value(bounds)) if is_asked else None
    if lead.answers or not bounds:
        return None
    if case.kind == "count":
        return attrs.evolve(Draft.of_lead(case.kind, lead), number=0)
    label = sources.likeness.label(lead.facts["bounds"][-1]["relation"])
    return Draft(case.kind, missing=_NOT_WITHIN.format(name=label, within=lead.facts["bounds"][-1]["within"]))


def by_date(sources: Sources, case: Case) -> Draft | None:
    """Answer when: by the dates of a statement, or where a path ends in dates."""
    if value_kind(unnamed_text(case.question)) != "date":
        return None
    if (draft := _of_statement(sources, case.question) or _of_row(sources, case.question)) is not None:
        return draft
    dated = [choice for choice in case.found if all(fits(end, "date") or is_missing(end) for end in choice.ends)]
    # A price may look like a year.
    likely = {choice.path for choice in dated if _is_price(sources, case, choice)}
    dated = [choice for choice in dated if choice.path not in likely or len(choice.path.steps) == 1]
    if not dated:
        return Draft(case.kind, missing="the graph has no date of what the question names")
    relation = dated[0].path.steps[-1].relation
    called = sources.likeness.called_as(case.question, [*sources.operations.schema.relations, relation])
    if called and (relation not in called or returns(dated[0].path.steps)):
        frontiers = sources.graph.frontiers([[link.entity for link in case.question.links]] * len(called))
        # A column *born* of places is another one.
        if not any(sources.graph.triples(frontiers, [Step(one) for one in sorted(called)], 1)):
            return Draft(case.kind, missing=NO_VALUE.format(noun=sources.likeness.label(min(called))))
    is_named = bool(called) or sources.likeness.names_in(case.question, [relation])
    is_other = not is_named and bool(_HAPPENED.search(fold(sources.likeness.label(relation))))
    if not is_named and _is_opposite(without_names(case.question), sources.likeness.label(relation)):
        return Draft(case.kind, missing="the graph has no date of what the question names")
    return attrs.evolve(looked_up(case, "lookup", dated), likened=dated[0].path in likely or is_other)


def _is_opposite(text: str, label: str) -> bool:
    """Return whether a question asks for the end of what a date is the beginning of, or the other way round."""
    asked, told = words_of(text), words_of(label)
    return any(asked & one and told & other for one, other in ((_BEGUN, _ENDED), (_ENDED, _BEGUN)))


def _is_price(sources: Sources, case: Case, choice: Choice) -> bool:
    """Return whether a path ends in plain numbers of a relation that is neither named nor like a year."""
    plain = all(isinstance(end, Literal) and not is_date(end) for end in choice.ends)
    if not plain or _is_told(sources, case, choice, "year or date"):
        return False
    return not sources.likeness.is_like(case.operated, "year or date", choice.path.steps[-1], LIKE)


def by_set(sources: Sources, case: Case) -> Draft | None:
    """Answer with the result of the operation; refuse to count what neither a class nor a relation is called."""
    one = case.operated
    if not one.lead.answers or one.held > 0 or _goes_on(case):
        return None
    if case.kind == "count" and (noun := sources.likeness.uncounted(case)) is not None:
        return Draft(case.kind, missing=NO_RELATION.format(noun=noun))
    return _of_lead(sources, case.question, one)


def _goes_on(case: Case) -> bool:
    """Return whether a column is asked for of rows that two links or a year name: *the room of Maths on Tuesday*."""
    one = case.operated
    if not {"with", "bounds"} & one.lead.facts.keys() or not case.found or {*one.lead.answers} & {*one.fit, *one.roles}:
        return False
    last = case.found[0].path.steps[-1]
    over = {way[-1].subject for way in case.found[0].ends.values()}
    return not last.inverse and bool(over & {*one.lead.answers})


def by_value(sources: Sources, case: Case) -> Draft | None:
    """Refuse a number where no path ends in one, and an age without a date, a year or an *age* one step away."""
    if value_kind(unnamed_text(case.question)) != "number" or not case.found:
        return None
    if not asks_for_age(case.question.text):
        measure = measure_asked(unnamed_text(case.question))
        numbers = [choice for choice in case.found if any(fits(end, "number") for end in choice.ends)]
        if not numbers:
            return Draft(case.kind, missing="the graph has no number of what the question names")
        if measure is None or _is_told(sources, case, numbers[0], measure):
            return None
        if sources.likeness.is_like(case.operated, measure, numbers[0].path.steps[-1], LIKE):
            draft = by_path(sources, case)
            return draft if draft is None else attrs.evolve(draft, likened=True)
        return Draft(case.kind, missing=NO_RELATION.format(noun=measure.partition(" ")[2]))
    ages = [choice for choice in case.found if len(choice.path.steps) == 1 and _is_age(sources, case.operated, choice)]
    if not ages:
        return Draft(case.kind, missing="the graph has no age of what the question names")
    draft = looked_up(case, case.kind, [*ages, *(choice for choice in case.found if choice not in ages)])
    return attrs.evolve(draft, likened=not _tells_age(sources, ages[0]))


def _tells_age(sources: Sources, choice: Choice) -> bool:
    """Return whether a date or a number says by its name how old something is: *born*, and not *hired*."""
    label = sources.likeness.label(choice.path.steps[-1].relation)
    return bool(words_of(label) & _AGED or stems_of(label) & _ORIGINS)


def _is_told(sources: Sources, case: Case, choice: Choice, measure: str) -> bool:
    """Return whether the question names the relation of a path's number, or that is called as a measure."""
    step = choice.path.steps[-1]
    named = sources.likeness.names_in(case.question, [step.relation])
    return named or any(shared_words([word], sources.likeness.label(step.relation)) for word in measure.split())


def _is_age(sources: Sources, one: Operated, choice: Choice) -> bool:
    if all(fits(end, "date") for end in choice.ends):
        return True
    is_number = all(fits(end, "number") for end in choice.ends)
    return is_number and sources.likeness.is_like(one, "age", choice.path.steps[-1], LIKE)


def by_path(sources: Sources, case: Case) -> Draft | None:
    """Answer with where the best path ends."""
    if not case.found:
        return None
    if (noun := sources.likeness.unlike(case, case.found[0], margin_of(case.found))) is not None:
        return Draft(case.kind, missing=NO_RELATION.format(noun=noun))
    draft = looked_up(case, case.kind, case.found)
    over = sources.likeness.relations_between(case.question, case.found[0])
    asked = asked_relation(case.question.text) or sources.likeness.label(case.found[0].path.steps[-1].relation)
    notice = _OVER.format(noun=asked, over=", ".join(over)) if over else ""
    is_close = sources.likeness.is_close(case, case.found[0])
    if not (over or is_close) and (verb := sources.likeness.unnamed_verb(case.question, case.found[0])):
        notice = _NO_VERB.format(verb=verb, label=sources.likeness.label(case.found[0].path.steps[-1].relation))
    is_close = is_close and not (
        asks_how_long(case.question.text) and not long_meant(case.question.text, case.labels)[1]
    )
    return attrs.evolve(draft, likened=bool(over) or not is_close, notice=notice)


def by_noun_of(sources: Sources, case: Case) -> Draft | None:
    """Answer *the parts of X* by the relation *part of*, against its direction, where nothing else is asked."""
    text = fold(without_names(case.question))
    found = _NOUN_OF.search(text)
    link = case.question.links[0].entity
    if found is None or len({one.entity for one in case.question.links}) > 1:
        return None
    noun, rest = singular(found["noun"]), f"{text[: found.start()]} {text[found.end() :]}"
    if words_of(rest) - _ASKS:
        return None
    [frontier] = sources.graph.frontiers([[link]])
    [steps] = sources.graph.steps([frontier], True)
    back = [step for step in steps if step.inverse]
    labels = [fold(sources.likeness.label(step.relation)) for step in back]
    told = next((step for step, name in zip(back, labels, strict=True) if _says(noun, name)), None)
    if told is None:
        # Whose mother Ada is has her for a mother.
        is_other_way = any(fold(sources.likeness.label(step.relation)) == f"{noun} of" for step in steps)
        draft = by_path(sources, case) if is_other_way else None
        return draft if draft is None else attrs.evolve(draft, likened=True)
    sets = sources.operations.read_sets(case.operated.reads, case.question, [RankedPath(link, (told,), 0.0)])
    draft = Draft.of_lead(case.kind, whole_set(sets))
    return attrs.evolve(draft, number=len(draft.entities)) if case.kind == "count" else draft


def by_holder(sources: Sources, case: Case) -> Draft | None:
    """Answer whose *manager* X is, whom X *manages* and who is *managed* by X: what has X for a manager."""
    links = list(dict.fromkeys(link.entity for link in case.question.links))
    plain = marked_text(case.question).strip(" ?.!")
    found = next((one for form in _HOLDERS if (one := form.match(plain))), None)
    if found is None or len(links) != 1:
        return None
    noun, verb = found.groupdict().get("noun"), found.groupdict().get("verb")
    labels = sources.operations.names.labels(sources.operations.schema.relations)
    told = [
        one
        for one, label in labels.items()
        if (noun is not None and name_of(label) == noun)
        or (verb is not None and stems_of(verb) & stems_of(label) and is_agent(name_of(label)))
    ]
    if len(told) != 1:
        return None
    path = RankedPath(links[0], (Step(told[0], True),), 0.0)
    sets = sources.operations.read_sets(case.operated.reads, case.question, [path])
    if not sets:
        return Draft(case.kind, missing=_NO_HOLDER.format(name=labels[told[0]]))
    return Draft.of_lead(case.kind, whole_set(sets))


def _of_lead(sources: Sources, question: Question, one: Operated) -> Draft:
    """Answer with the result of the operation: a number, yes or no, values or nodes."""
    lead, kind = one.lead, one.kind.kind
    draft = Draft.of_lead(kind, lead)
    if kind == "count":
        return attrs.evolve(draft, number=len(lead.answers))
    if is_yes_no(unnamed_text(question)):
        first = next((link.entity for link in question.links), None)
        return attrs.evolve(draft, entities=(), truth=list(lead.answers) == [first])
    if (
        kind in ("superlative", "ordinal")
        and lead.values
        and "counts" not in lead.facts
        and asks_for_value(sources, question, one)
    ):
        # The highest temperature is a value.
        values = dict.fromkeys(lead.values[member].object for member in lead.answers)
        return attrs.evolve(draft, entities=tuple(values))
    return draft


def _of_statement(sources: Sources, question: Question) -> Draft | None:
    """Answer when a statement between two links began or ended, by the dates of its qualifiers."""
    dates = dates_of(sources.graph, triples_between(sources.graph, question), ends(question.text))
    if not dates:
        return None
    values = tuple(dict.fromkeys(date for _, date in dates))
    return Draft("lookup", values, [(triple, None) for triple, _ in dates], complete=True)


def _of_row(sources: Sources, question: Question) -> Draft | None:
    """Return when something happened that two links or more are cells of, by the key or the only date of its rows.

    Where the question names another column of these rows, that is no date, its time is not known: *returned*.
    """
    tables, graph = sources.operations.schema.tables, sources.graph
    rows = rows_between(graph, question, tables)
    if not rows:
        return None
    [frontier] = graph.frontiers([sorted(rows)])
    [steps] = graph.steps([frontier], False)
    dated, others = {}, []
    for step, row in zip(steps, graph.triples([frontier] * len(steps), steps, None), strict=True):
        if all((is_date(one.object) or is_time(one.object)) and fits(one.object, "date") for one in row):
            dated[step.relation] = row
        else:
            others.append(step.relation)
    cells = [triple for row in rows.values() for triple in row]
    asked = stems_of(without_names(question))
    told = stems_of(" ".join([*map(sources.likeness.label, {one.relation for one in cells} | {*dated}), *tables]))
    if asked & stems_of(" ".join(map(sources.likeness.label, others))) - told:
        return None
    keys = [row.partition(":")[2] if len(tables) > 1 else row for row in rows]
    if not dated and all(is_date(key) or is_time(key) for key in keys):
        days = [*rows]
    elif len(dated) == 1:
        [shown] = dated.values()
        days, cells = list(dict.fromkeys(one.object for one in shown)), [*shown, *cells]
    else:
        return None
    proof = [(triple, None) for triple in cells]
    # Who plays at home may play away, too.
    is_open = len({(one.relation, one.object) for row in rows.values() for one in row}) > len(
        {link.entity for link in question.links}
    )
    # Of *home team* and *away team* the words of a question may mean either.
    names = [stems_of(sources.likeness.label(one)) for one in sorted({one.relation for one in cells})]
    is_open = is_open or any(asked & one - other and one & other for one, other in permutations(names, 2))
    return Draft("lookup", tuple(days), proof, complete=True, likened=is_open or not asked & told)


def _says(noun: str, label: str) -> bool:
    """Return whether a relation calls its subject such a noun of its object."""
    return label == f"{noun} of" or (noun in _KIND and label in _IS_A)
