"""Handler of questions whose verb is the name of a table: who *ordered* it, by the rows of *orders*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from srtk_framework.text import spaced
from srtk_framework.values import Literal, RankedPath, Step, Triple
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import verb_of_who
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.literal_values import truth_of
from srtk_plugin_answers.question_classes import stems_of
from srtk_plugin_answers.question_kinds import marked_text

_WHAT_DOES = re.compile(r"^(?:what|whom?) (?:did|does|do|has|have|had) ¤ (?P<verb>[^\W\d_]{3,})$")


def by_row_verb(sources: Sources, case: Case) -> Draft | None:
    """Answer who did something to a thing, or what somebody did, where a table is called as the verb.

    Its rows with the link must have a single other column of names.
    """
    links = list(dict.fromkeys(link.entity for link in case.question.links))
    if len(links) != 1 or case.kind != "lookup":
        return None
    plain = marked_text(case.question).strip(" ?.!")
    found = _WHAT_DOES.match(plain)
    verb = found["verb"] if found else verb_of_who(plain)
    tables = sources.operations.schema.tables
    told = [name for name in tables if verb and stems_of(verb) & stems_of(spaced(name))]
    if not told and not (found and tables):
        return None
    read = _triples(sources, links, True)
    if found and not told:  # what did Ada read: of a table with a column reader
        labels = sources.operations.names.labels({row[0].relation for row in read if row})
        agents = {relation for relation, label in labels.items() if stems_of(verb or "") & stems_of(label)}
        told = [name for name, columns in tables.items() if agents & {*columns}]
    if len(told) != 1:
        return None
    # Of several tables each row's id begins with its table's name.
    rows = [row for row in read if row and (len(tables) < 2 or row[0].subject.partition(":")[0] == told[0])]
    if len(rows) != 1 or len(rows[0]) >= sources.operations.members:
        return None
    first = Step(rows[0][0].relation, True)
    cells = _triples(sources, [triple.subject for triple in rows[0]], False)
    named = [
        row
        for row in cells
        if row[0].relation != first.relation
        and not any(isinstance(one.object, Literal) or truth_of(one.object) is not None for one in row)
    ]
    if len(named) != 1:
        return None
    path = RankedPath(links[0], (first, Step(named[0][0].relation)), 0.0)
    ends = tuple(dict.fromkeys(triple.object for triple in named[0]))
    return Draft(case.kind, ends, [(triple, path) for triple in [*rows[0], *named[0]]], True, path=path)


def _triples(sources: Sources, nodes: Sequence[str], back: bool) -> list[Sequence[Triple]]:
    """Return the triples of each step from some nodes, against the relations' direction or along it."""
    [frontier] = sources.graph.frontiers([nodes])
    [steps] = sources.graph.steps([frontier], back)
    steps = [step for step in steps if step.inverse == back]
    most = sources.operations.members if back else None
    return [row for row in sources.graph.triples([frontier] * len(steps), steps, most) if row]
