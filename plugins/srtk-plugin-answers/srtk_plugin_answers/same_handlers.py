"""Handler of questions whether things have the same value: *do X and Y use the same currency*."""

from __future__ import annotations

import re

from srtk_framework.values import Step
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.question_classes import name_of, singular
from srtk_plugin_answers.question_kinds import is_yes_no, marked_text, unnamed_text

_SAME = re.compile(r"\bsame (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)\W*$")
_NO_VALUE = "not each of the things that the question names has a value called {noun!r}"


def by_same(sources: Sources, case: Case) -> Draft | None:
    """Answer whether all linked things have a common value of the relation that is called as the noun behind *same*."""
    links = sorted({link.entity for link in case.question.links})
    found = _SAME.search(marked_text(case.question))
    if found is None or len(links) < 2 or not is_yes_no(unnamed_text(case.question)):
        return None
    labels = sources.operations.names.labels(sources.operations.schema.relations)
    steps = [Step(one) for one, label in labels.items() if name_of(label) in (found["noun"], singular(found["noun"]))]
    [frontier] = sources.graph.frontiers([links])
    shown = [one for row in sources.graph.triples([frontier] * len(steps), steps, None) for one in row] if steps else []
    values = [{one.object for one in shown if one.subject == link} for link in links]
    if not all(values):
        return Draft(case.kind, missing=_NO_VALUE.format(noun=found["noun"]))
    return Draft(case.kind, truth=bool(set.intersection(*values)), proof=[(one, None) for one in shown], complete=True)
