"""The measures of Mintaka's evaluation script, for results on questions of Mintaka.

Exact match, F1 and hits@1 over the items of an answer, in their order, and over its words (Sen et al. 2022, section 5).
Texts are compared as the passage reader of DPR does: the predicted words must contain the gold words in a row.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from srtk_framework.values import Answer, Literal, Retrieval


def mintaka_scores(retrieval: Retrieval) -> dict[str, float]:
    """Score an answer to a question of Mintaka; empty for other questions and without an answer.

    Gold without an id in Wikidata is no list of items; a refusal is right there, as in the script.
    """
    kind, answer = retrieval.question.extra.get("answer_type"), retrieval.answer
    if not isinstance(kind, str) or answer is None:
        return {}
    predicted, wanted = _items(answer), _gold_items(retrieval, kind)
    text, gold = _text(answer), _gold_text(retrieval, kind)
    return {
        "mintaka_exact": float(predicted == wanted),
        "mintaka_f1": overlap(predicted, wanted),
        "mintaka_hits": float(bool({*predicted} & {*wanted}) if predicted and wanted else predicted == wanted),
        "mintaka_text_exact": float(contains(text, gold) if text and gold else text == gold),
        "mintaka_text_f1": overlap(None if text is None else text.split(), None if gold is None else gold.split()),
    }


def overlap(predicted: Sequence[str] | None, wanted: Sequence[str] | None) -> float:
    """Return the F1 of two lists with repetitions; 1 if both are empty, and 0 if only one of them is."""
    if not predicted or not wanted:
        return float(predicted == wanted)
    same = (Counter(predicted) & Counter(wanted)).total()
    return 2 * same / (len(predicted) + len(wanted))


def contains(text: str, wanted: str) -> bool:
    """Return whether the words of a text contain the words of another text in a row."""
    words, part = tokens(text), tokens(wanted)
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def tokens(text: str) -> list[str]:
    """Split a text into lower-case runs of letters, digits and accents, and other visible characters one by one."""
    found: list[str] = []
    inside = False
    for letter in unicodedata.normalize("NFD", text):
        category = unicodedata.category(letter)[0]
        if category in "LNM":
            found[len(found) - inside :] = [(found[-1] if inside else "") + letter]
        elif category not in "ZC":
            found.append(letter)
        inside = category in "LNM"
    return [token.lower() for token in found]


def _items(answer: Answer) -> list[str] | None:
    if not answer.enough:
        return None
    if answer.truth is not None:
        return [str(answer.truth)]
    if answer.number is not None:
        return [_plain(answer.number)]
    return [one.lexical if isinstance(one, Literal) else one for one in answer.entities] or None


def _text(answer: Answer) -> str | None:
    value = _items(answer) if answer.truth is not None or answer.number is not None else None
    return value[0] if value else answer.text or None


def _gold_items(retrieval: Retrieval, kind: str) -> list[str] | None:
    if kind == "entity":
        answers, items = retrieval.question.answers or (), retrieval.question.extra.get("answer_items")
        repeated = isinstance(items, list) and {*map(str, items)} == {*answers}
        return (list(map(str, items)) if repeated and isinstance(items, list) else list(answers)) or None
    return _values(retrieval, kind) or None


def _gold_text(retrieval: Retrieval, kind: str) -> str | None:
    extra = retrieval.question.extra
    if kind != "entity":
        return next(iter(_values(retrieval, kind)), None)
    names, mention = extra.get("answer_names"), extra.get("answer_mention")
    if isinstance(names, list) and names:
        return " ".join(map(str, names))
    return mention if isinstance(mention, str) else None


def _values(retrieval: Retrieval, kind: str) -> list[str]:
    values = retrieval.question.extra.get("answer_values")
    texts = [str(value) for value in values] if isinstance(values, list | tuple) else []
    if kind == "boolean":
        return [text.capitalize() for text in texts]
    return [_numeric(text) for text in texts] if kind == "numerical" else texts


def _numeric(text: str) -> str:
    try:
        return _plain(float(text))
    except ValueError:
        return text


def _plain(number: float) -> str:
    """Write a whole number without a fraction, so that 4 and 4.0 are one number."""
    return str(int(number)) if number == int(number) else str(number)
