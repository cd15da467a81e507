"""The handlers of each kind of question: the first with an answer or a refusal counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from srtk_framework.values import Question
from srtk_plugin_answers.answer_choices import held_first, things_first, with_held, with_things
from srtk_plugin_answers.answer_conditions import complement, either, modified, within_rows
from srtk_plugin_answers.answer_doubts import doubted
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.choices import choices
from srtk_plugin_answers.connections import by_connection, of_unnamed
from srtk_plugin_answers.definition_handlers import by_definition
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.joined_parts import parts_of, together
from srtk_plugin_answers.lookup_handlers import (
    by_date,
    by_empty,
    by_holder,
    by_noun_of,
    by_path,
    by_set,
    by_value,
    by_year,
)
from srtk_plugin_answers.number_handlers import by_arithmetic, by_name, by_number
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.order_handlers import (
    by_comparison,
    by_count,
    by_counted_noun,
    by_order_noun,
    by_ordering_relation,
    by_place,
)
from srtk_plugin_answers.phrase_handlers import by_phrase, by_place_in_order
from srtk_plugin_answers.question_kinds import Kind
from srtk_plugin_answers.row_handlers import by_row_verb
from srtk_plugin_answers.unlinked_handlers import by_class, by_linked_class, by_text
from srtk_plugin_answers.unread_forms import by_unread_form
from srtk_plugin_answers.yes_no_handlers import by_bound, by_choice, by_join, by_same, polar

Handler = Callable[[Sources, Case], Draft | None]

_NAMES: Sequence[Handler] = (by_unread_form, by_count, by_text, by_year)
_LINKED: Sequence[Handler] = (by_definition, by_phrase, by_place_in_order)
"""Handlers of questions of a fixed form, which read all words of it."""
_UNLINKED: Sequence[Handler] = (by_class,)
_LOOKUP: Sequence[Handler] = (
    by_noun_of,
    by_holder,
    by_row_verb,
    by_arithmetic,
    by_date,
    by_set,
    by_value,
    by_path,
)
_OF_KIND: Mapping[Kind, Sequence[Handler]] = {
    "yes-no": (by_same, by_choice, by_join, by_bound, *_LOOKUP),
    "difference": (by_empty, *_LOOKUP),
    "lookup": (by_empty, *_LOOKUP),
    "time-bound": (by_empty, *_LOOKUP),
    "comparison": (
        by_bound,
        by_arithmetic,
        by_comparison,
        *_LOOKUP[3:],
    ),
    "superlative": (
        by_arithmetic,
        by_ordering_relation,
        by_counted_noun,
        by_empty,
        by_order_noun,
        *_LOOKUP[3:],
    ),
    "ordinal": (
        by_empty,
        by_arithmetic,
        by_place,
        by_counted_noun,
        *_LOOKUP[3:],
    ),
    "count": (
        by_empty,
        by_name,
        by_noun_of,
        by_arithmetic,
        by_date,
        by_number,
        *_LOOKUP[4:],
    ),
}
"""The handlers of each kind of question in order; kinds that are not listed have the handlers of look-ups."""


def draft_of(sources: Sources, question: Question, operated: Operated, names: Mapping[str, str]) -> Draft:
    """Answer in ids, by the first handler of the question's kind that does not pass.

    ``names`` are the labels of the subgraph's nodes.
    """
    known = Case(question, operated)
    if (connected := by_connection(sources, known)) is not None:
        return connected
    is_joined = operated.kind.kind == "yes-no" and not operated.bounds and by_same(sources, known) is None
    if parts := parts_of(sources.graph, question) if is_joined else ():
        each = sources.operations.of_parts(operated, parts)
        read = [draft_of(sources, part, one, names) for part, one in zip(parts, each, strict=True)]
        if (whole := together(question, read)) is not None:
            return whole
    of_kind = (*_LINKED, *_OF_KIND.get(operated.kind.kind, _LOOKUP)) if question.links else _UNLINKED
    handlers = (*_NAMES, *of_kind)
    if question.links:
        paths = operated.found.paths
        labels = sources.operations.names.labels({path.steps[-1].relation for path in paths if path.steps})
        things = things_first(sources, question, operated, choices(question, operated, {**names, **labels}))
        found = held_first(sources, operated, things, names)
        known = Case(question, with_held(sources, with_things(sources, question, operated), names), found, labels)
    drafts = ((handler, handler(sources, known)) for handler in handlers)
    first, draft = next(((by, one) for by, one in drafts if one is not None), (None, None))
    if draft is None:
        draft = Draft(operated.kind.kind, missing="no path leads to an answer")
    elif first in _LINKED:  # all words of the question are read
        return doubted(sources, known, draft)
    draft = modified(sources, question, known, complement(sources, question, operated, polar(question, draft)))
    draft = either(sources, question, known, within_rows(sources, question, known, draft))
    draft = doubted(sources, known, attrs.evolve(draft, likened=draft.likened or bool(parts)))
    draft = draft if not draft.missing else by_linked_class(sources, known) or draft
    return of_unnamed(sources, question, draft)
