"""Forms of questions whose operation is not worked out: shares, a value for each of several groups, *are all*."""

from __future__ import annotations

import re

from srtk_framework.values import Question
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import arithmetic_of
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.question_classes import words_of
from srtk_plugin_answers.question_kinds import AUXILIARY, COMPARATIVES, is_yes_no, marked_text
from srtk_plugin_answers.question_orders import ORDERING

_GROUPS = "a value for each of several groups is not worked out; ask for each group alone"
_COMPARED = "the question compares the numbers of two sets, which is not worked out; ask how many there are of each"
_OTHER_VALUE = "a bound that is the value of another thing is not worked out; ask for that value and give it"
_WORDS = {
    word: reason
    for words, reason in (
        (
            "share percentage proportion fraction ratio percent",
            "the share of a set is not worked out; ask how many there are of each",
        ),
        (
            "median variance deviation",
            "of several values only the sum, the average and the ends of their order are read",
        ),
    )
    for word in words.split()
}
_STATISTIC = re.compile(
    r"(?:\b(?P<before>[^\W\d_]+) )?"
    rf"\b(?:(?P<of>{'|'.join(_WORDS)}) (?:of|for|in)|(?P<alone>median|variance|deviation))"
    r"\b(?: (?P<behind>[^\W\d_]+))?"
)
_EACH = re.compile(r"\b(?:per (?P<unit>[^\W\d_]+)|(?:for|in|of|by) (?:each|every) [^\W\d_]+)")
_BY = re.compile(r"\bby (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)\W*$")
_ORDERED_SUMS = re.compile(rf"\b(?:{'|'.join(sorted(ORDERING))}) (?P<noun>(?:average|mean|total|combined) [^\W\d_]+)")
_NUMBER_OF = re.compile(r"\b(?:how many|number of|count of)\b")
_MORE_THAN = re.compile(
    r"^(?:are|were|is|was) there (?:more|fewer|less) .* than\b|\bmore .* than (?:there are|of)\b"
    r"|^(?:are|were|is|was|do|does|did|has|have) (?:more|fewer|less) .* or\b"
)
_OF_A_SET = re.compile(r"\b(?:at least|at most|exactly|more than|fewer than|only) (?:one|two|three|four|five|\d+) of\b")
_TIMES_AS = re.compile(r"\b(?:twice|half|times) as\b|\bas [\w-]+ as (?:the )?¤")
_AGE_AT = re.compile(r"^how old .*\b(?:when|at|in)\b")
_QUANTIFIED = re.compile(
    rf"^(?:{'|'.join(sorted(AUXILIARY))}) (?P<all>all|every|each|any|most|some|no|none|half|many)\b(?! there\b)"
)
_THAN_NAME = re.compile(rf"\b(?P<word>{'|'.join(sorted(COMPARATIVES))})(?: [\w-]+){{0,2}} than (?:the |that of )?¤")


def by_unread_form(sources: Sources, case: Case) -> Draft | None:
    """Refuse a question whose operation is none of those that are worked out, unless a relation is called as it."""
    missing = _unread_form(case.question, sources)
    return Draft(case.kind, missing=missing) if missing else None


def _unread_form(question: Question, sources: Sources) -> str:
    """Return why the operation that a question in English asks for is not worked out; nothing where it may be."""
    text = marked_text(question)
    own, is_name = sources.relation_words, sources.likeness.is_name
    if (found := _STATISTIC.search(text)) and (word := found["of"] or found["alone"]) not in own:
        # The percentage of alcohol of a beer is its alcohol.
        of_column = question.links and {found["before"], found["behind"]} & own
        return "" if of_column else _WORDS[word]
    if (each := _EACH.search(text)) and not own & {"per", "each"} and not is_yes_no(text):
        # The price of a beer per bottle is its price.
        is_unit = each["unit"] and question.links and not words_of(each["unit"]) & own
        return "" if is_unit else _GROUPS
    if (by := _BY.search(text)) and (arithmetic_of(text) or _NUMBER_OF.search(text)) and is_name(by["noun"]):
        return _GROUPS
    if (sums := _ORDERED_SUMS.search(text)) and not is_name(sums["noun"]):
        return _GROUPS
    if _MORE_THAN.search(text):
        return _COMPARED
    if _OF_A_SET.search(text):
        return "how many of several things are so is not worked out"
    if found := _QUANTIFIED.search(text):
        quantity = {"every": "all", "each": "all", "no": "none"}.get(found["all"], found["all"])
        return f"whether {quantity} of a set are so is not worked out; ask which are"
    if _AGE_AT.search(text):
        return "an age at another time is not worked out; ask for both dates"
    if not question.links or " or " in text or is_yes_no(text) or arithmetic_of(text):
        return ""
    return _OTHER_VALUE if _THAN_NAME.search(text) or _TIMES_AS.search(text) else ""
