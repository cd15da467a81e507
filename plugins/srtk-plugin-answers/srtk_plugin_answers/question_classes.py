"""The class of a question's answer: the phrase that names it, and the labels of classes that it fits."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import zip_longest

from srtk_framework.text import fold, without_mentions
from srtk_framework.values import Question

MENTION = " ¤ "
"""Stands for the mention of a linked entity, which is no part of a phrase."""
# Several parts of a reader ask for the reading of the same question.
KEPT_TEXTS = 256


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_ASK = word_set("which what what's whats whose")
_ORDER = word_set("name list give show find identify state mention tell count enumerate")
_BE = word_set("is are was were 's be")
_SKIPPED = word_set(
    """
    a an the all any some each every other of one two three four five six seven eight nine ten me us another both
    names name number examples example many much total following you your please is are was were 's 're
    """
)
"""Words before a phrase that are no part of it."""
_FORM = word_set("type kind sort genre form style")
_DETERMINERS = word_set("a an the his her its their this that these those my your our each every any some no")
_VERBS = word_set(
    """
    bear bore won win wins wrote write writes made make makes sang sing sings ran run runs led lead leads held hold
    holds took take takes began begin begins spoke speak speaks gave give gives come comes came go goes went
    lie lies lay stand stands stood use uses play plays live lives die dies belong belongs border borders
    share shares produce produces contain contains include includes touch touches cross crosses flow flows
    pay pays cover covers cost costs direct directs
    """
)
_BOUNDS = (
    _DETERMINERS
    | _VERBS
    | word_set(
        """
    of in on at by for from to with without within into onto over under above below between among near about around
    before after since until during through next across along against as than like and or but nor not never both either
    neither except excluding besides apart whose which who whom what where when why how there here it he she they you i
    we is are was were am be been being do does did has have had can could will would shall should may might must 's
    isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't
    """
    )
)
STOP_WORDS = (
    _ASK
    | _ORDER
    | _BE
    | _SKIPPED
    | _FORM
    | _BOUNDS
    | word_set("how many much there s does do did any ever also just only world all")
)
"""Words that carry nothing that could be named."""
_PLAIN_WORD = re.compile(r"[^\W_]+")
# Enough to tell most words apart, few enough that *direct* and *director* are alike.
_STEM = 4
ASKING = _ASK | _ORDER | _BE | _SKIPPED
"""Words before the noun that names what is asked for."""
_PREPOSITIONS = word_set("of in on at by for from to with within during before after since under")
_WHITHER = word_set("to into through across against over under")
"""Prepositions that follow a verb rather than a noun."""
_KEYS = word_set("id ids key")
_WHO = word_set("who whom who's whos")
_PARTICIPLES = ("ed", "en", "ing", "born", "made", "won")
_SOMEONE = word_set("someone somebody anyone anybody")
PEOPLE = ("person", "human")
_OF_SEX = frozenset(("sex", "gender"))
_YOUNG = {"girl", "boy"}
_CHILDREN = frozenset(("child", "kid", "baby", "infant", "toddler", "minor"))
_KINDS = (
    _OF_SEX | {"woman", "girl", "lady", "female", "f"},
    _OF_SEX | {"man", "boy", "gentleman", "male", "m"},
    _CHILDREN,
    frozenset(("adult", "grownup")),
    frozenset(("teenager", "teen", "adolescent")),
)
"""Nouns that mean some of the people in a table, as its values may say, with the columns of one-letter values."""
_WORD = re.compile(r"¤|'s\b|[^\W_]+(?:['.&-][^\W_]+)*|[^\w\s]")
_PARENTHESES = re.compile(r"\s*\([^()]*\)")
_SAME = word_set("species series news physics means always as his this is was us gas bus")
_IRREGULAR = {
    **{f"{word}s": word for word in ("movie", "cookie", "calorie", "zombie", "rookie", "genie", "tie", "pie", "lie")},
    **{
        f"{word}es": word
        for word in ("alias", "atlas", "bias", "bonus", "bus", "campus", "canvas", "census", "gas", "lens", "virus")
    },
    "men": "man",
    "women": "woman",
    "people": "person",
    "children": "child",
    "wives": "wife",
    "lives": "life",
}


def kinds_of_people(words: Set[str]) -> list[frozenset[str]]:
    """Return, for each kind of people that a noun among some words means, all words that may name it in a table.

    The last kind may be that of children: girls are the female ones where a table tells children from others.
    """
    kinds = [kind for kind in _KINDS if (kind - _OF_SEX) & words]
    return [*kinds, _CHILDREN] if words & _YOUNG and _CHILDREN not in kinds else kinds


def is_told(label: str, words: Set[str], relation: str) -> bool:
    """Return whether some words name a value: by its own words, or as people of its kind, *a woman* for *female*.

    A single letter is one only of a relation that is called *sex* or *gender*.
    """
    own = words_of(label)
    kinds = kinds_of_people(own) if len("".join(own)) > 1 or words_of(relation) & _OF_SEX else []
    return bool(own) and (own <= words or any(own <= kind and (kind - _OF_SEX) & words for kind in kinds))


def singular(word: str) -> str:
    """Fold the plural of an English noun, in small letters, for comparison; `cities` and `city` give the same."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("men") and len(word) > 5:
        return f"{word.removesuffix('men')}man"
    if word.endswith(("ss", "us", "is")) or len(word) < 4 or word in _SAME:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def words_of(text: str) -> set[str]:
    """Return the words of a text, folded and in singular."""
    return {singular(word) for word in _PLAIN_WORD.findall(fold(text))}


def name_of(label: str) -> str:
    """Return the label of a relation, folded and without brackets, such as the unit of *price (€)*."""
    return _PARENTHESES.sub("", fold(label)).strip()


def stems_of(text: str) -> set[str]:
    """Return the first letters of the words of a text, which *direct* and *directed* share."""
    return {word[:_STEM] for word in words_of(text) if len(word) >= _STEM}


def is_of_agent(relation: str) -> bool:
    """Return whether a relation has its object do something, by its name: *directed by*."""
    words = fold(relation).split()
    return len(words) > 1 and words[-1] == "by"


def without_names(question: Question, labels: Mapping[str, str] | None = None) -> str:
    """Return the text of a question with ``MENTION`` in place of its mentions; see ``without_mentions``."""
    return without_mentions(question, question.links, labels or {}, MENTION)


def asked_classes(text: str) -> tuple[str, ...]:
    """Return the phrases that may name the class of the answer to a question in English, in singular.

    They are the noun phrase after *which*, *how many*, *name the* and the like, the most likely first, since a verb may
    belong to the words that are found. *Which kind of music* gives *music genre* and similar phrases, *who* *person*.

    Args:
        text: The question, with ``MENTION`` in the place of its links' mentions.

    Returns:
        Phrases for ``shared_words``; none if the question names no class.
    """
    tokens = _WORD.findall(fold(text))
    people = PEOPLE if _WHO.intersection(tokens[:1]) else ()
    start = _start(tokens)
    run, bound = ([], "") if start is None else _run(tokens, start)
    if start is None or not run:
        return people
    if run[0] in _SOMEONE:
        return PEOPLE
    if singular(run[-1]) in _FORM and bound == "of":
        after, _ = _run(tokens, tokens.index("of", start) + 1)
        if after:
            noun = _joined(after)
            forms = dict.fromkeys([singular(run[-1]), "genre", "type", "style"])
            return (*(f"{noun} {form}" for form in forms), *(f"{form} of {noun}" for form in forms))
    if len(run) == 1 and bound in ("a", "an") and tokens[start - 1] in _ASK:
        return people  # what treats | a headache
    found = [run]
    verbal = len(run) > 1 and bound in _WHITHER and singular(run[-1]) != run[-1] and singular(run[-2]) == run[-2]
    if len(run) > 1 and (bound == "¤" or bound in _DETERMINERS or verbal):
        found.insert(0, run[:-1])  # which city | borders the sea, exports to
    plural = next((i for i, word in enumerate(run) if singular(word) != word), len(run))
    found.append(run[: plural + 1])  # which artists | perform folk music
    return tuple(dict.fromkeys([*map(_joined, found), *people]))


def shared_words(phrases: Sequence[str], label: str) -> int:
    """Return how many words a phrase and the label of a class share, if the shorter is the end of the longer.

    The head of a label is the word before its first preposition: *city* fits *big city* and *city in Japan*, *female
    singer* fits *singer*, and neither fits *city council*.

    Returns:
        Of several phrases the most; 0 if none fits.
    """
    plain = name_of(label)
    words = plain.split()
    if not words:
        return 0
    if " of " in plain and _joined(words) in phrases:
        return len(words)
    # A preposition that begins a label ends no head.
    stop = next((i for i, word in enumerate(words) if i and word in _PREPOSITIONS), len(words))
    own = _joined(words[:stop]).split()
    best = 0
    for phrase in phrases:
        other = phrase.split()
        size = min(len(own), len(other))
        if own[-size:] == other[-size:]:
            best = max(best, size)
    return best


def role_words(phrases: Sequence[str], relation: str, of_object: bool) -> int:
    """Return how many words a phrase shares with the class that a relation's name gives to its object or subject.

    The last words name the object: *official language* leads to a language, *customer ID* and *customer name* to a
    customer. The first words of several name the subject: *city country* and *city in country* lead from a city.
    """
    words = fold(relation).split()
    if len(words) > 1 and words[-1] in (*_KEYS, "name", "names"):
        return shared_words(phrases, " ".join(words[:-1])) if of_object else 0
    if not words or words[-1] in _PREPOSITIONS:
        return 0  # directed by
    if of_object:
        # City in country leads to a country; province of country may be said of either end.
        own = relation if "in" not in words[1:-1] else " ".join(words[words.index("in", 1) + 1 :])
        heads = {phrase.split()[-1] for phrase in phrases}
        return shared_words(phrases, own) or int(singular(words[-1]) in heads)
    if words[-1] in _BOUNDS or words[-1].endswith(_PARTICIPLES):
        return 0  # language spoken
    return max((shared_words(phrases, " ".join(words[:size])) for size in range(1, len(words))), default=0)


@functools.lru_cache(maxsize=KEPT_TEXTS)
def asks_for_several(text: str) -> bool:
    """Return whether the noun of *which*, *name the* or *how many* is a plural."""
    tokens = _WORD.findall(fold(text))
    start = _start(tokens)
    run = [] if start is None else _run(tokens, start)[0]
    return any(singular(word) != word for word in run)


def _joined(words: Iterable[str]) -> str:
    *first, last = words
    return " ".join([*first, singular(last)])


def _start(tokens: Sequence[str]) -> int | None:
    """Return where the phrase may begin, or None if no word asks for a class."""
    for place, (token, after) in enumerate(zip_longest(tokens, tokens[1:], fillvalue="")):
        if token == "how" and after in ("many", "much"):
            return _beyond(tokens, place + 2)
        if token in _ASK:
            begin = _beyond(tokens, place + 1)
            # What Riga is, is not called Riga.
            return None if begin is None or _bare(tokens, begin) else begin
        if place == 0 and (token in _ORDER or (token == "of" and after in ("the", "all"))):
            return _beyond(tokens, 1)
        if place == 0 and token in _WHO:
            begin = _beyond(tokens, 1)
            return begin if begin is not None and tokens[begin - 1] in ("a", "an", "the") else None
    return None


def _bare(tokens: Sequence[str], place: int) -> bool:
    """Return whether a phrase follows a form of *be* without an article or a possessive."""
    last = tokens[place - 1]
    owned = last == "'s" and tokens[place - 2] == "¤"
    return (last in _BE or last in ("what's", "whats")) and not owned and not _possessive(tokens, place)


def _possessive(tokens: Sequence[str], place: int) -> bool:
    """Return whether the words from a place on have a possessive before the end of their phrase."""
    for token in tokens[place:]:
        if token.endswith("'s"):
            return True
        if token in _BOUNDS or not (token[0].isalnum() or token == "."):
            return False
    return False


def _beyond(tokens: Sequence[str], place: int) -> int | None:
    """Return the place of the first word of a phrase from a place on.

    Mentions with a possessive are passed over, and a mention before a noun: *which blue films*.
    """
    while place < len(tokens):
        after = next(iter(tokens[place + 1 : place + 2]), "")
        if tokens[place] == "¤" and after == "'s":
            place += 2
        elif tokens[place] in _SKIPPED or tokens[place].isdigit() or (tokens[place] == "¤" and _is_noun(after)):
            place += 1
        else:
            return place
    return None


def _is_noun(token: str) -> bool:
    return token[:1].isalpha() and token not in _BOUNDS and not token.endswith(_PARTICIPLES)


def _run(tokens: Sequence[str], start: int) -> tuple[list[str], str]:
    """Return the words of a noun phrase from a place on, and the word behind them."""
    run: list[str] = []
    for place, token in enumerate(tokens[start:], start):
        verb = run and token.endswith(("ed", "ing")) and len(token) > 4
        # What is counted has a noun: how many makes there are.
        counted = place == start and tokens[start - 1 : start] == ["many"] and token in _VERBS
        if counted:
            run.append(token)
        elif token.endswith("'s") and token != "'s":
            run = []
        elif token in _BOUNDS or verb or not token[0].isalpha():
            # The full stop of an initial ends no phrase that has a possessive behind it.
            if token == "." and _possessive(tokens, place + 1):
                continue
            return run, token
        else:
            run.append(token)
    return run, ""
