"""Questions for the connections of things in a network, whatever joins them: *who is connected to X*."""

from __future__ import annotations

import re
from typing import Literal, get_args

import attrs

from srtk_plugin_answers.question_classes import PEOPLE, singular, word_set

Form = Literal["neighbours", "common", "between", "joined", "degree"]
FORMS: tuple[Form, ...] = get_args(Form)

_NOUN = r"[^\W\d_]+(?: [^\W\d_]+)?"
_CONNECTED = r"(?:connected|linked|related|tied|joined|adjacent|associated|in contact)"
_CONNECTIONS = r"(?:(?:direct )?(?:connection|link|tie|neighbou?r|relationship|contact|edge|acquaintance|associate)s?)"
_IS, _DOES = r"(?:is|are|was|were)", r"(?:does|do|did)"
_TO = r"(?:to|with|by)"
_WAY = r"(?:relationship|relation|connection|link|tie|(?:shortest )?(?:path|way)|association)"
# Who, how many people, all people that.
_ASKED = (
    rf"(?:who(?: all| else)?|what|(?:(?:what|which|how many)(?: other| different)?|(?:list|show|name|give|find)(?: me)?"
    rf"(?: all)?(?: the| of the)?) (?P<noun>(?!{_CONNECTIONS}\b){_NOUN}?)(?: that| who| which)?)"
)
_SIMPLE = r"(?:which|what|how many|list|show|name|(?:the |what is the )?(?:number|count) of)(?: all)?(?: the)?"
_MOST = r"(?P<most>most|fewest|least|(?:highest|largest|greatest|lowest|smallest) number of)"
_FORMS: dict[Form, tuple[str, ...]] = {
    "common": (
        rf"{_ASKED} {_IS} (?:both )?{_CONNECTED} {_TO} (?:both )?¤ and (?:to )?¤",
        rf"{_ASKED} {_DOES} (?:both )?¤ and ¤ (?:both )?know",
        rf"{_ASKED} knows? (?:both )?¤ and ¤",
        rf"(?:{_SIMPLE}|who are)(?: the)? (?:common|mutual|shared) {_CONNECTIONS} (?:of|between) ¤ and ¤",
        rf"{_SIMPLE}(?: common| mutual| shared)? {_CONNECTIONS} {_DOES} ¤ and ¤ (?:have in common|share|both have)",
    ),
    "neighbours": (
        rf"{_ASKED} (?:{_IS} )?(?:directly )?{_CONNECTED} {_TO} ¤",
        rf"{_ASKED} {_IS} ¤ (?:directly )?{_CONNECTED} {_TO}",
        rf"{_ASKED} {_DOES} ¤ know",
        rf"{_ASKED} knows? ¤",
        rf"{_SIMPLE} {_CONNECTIONS} {_DOES} ¤ have",
        rf"(?:{_SIMPLE}|(?:who|what) {_IS})(?: the)? {_CONNECTIONS} of ¤(?: are there)?",
        rf"(?:{_SIMPLE}|(?:who|what) {_IS}) ¤ ?['’]s {_CONNECTIONS}",
        r"(?:what is )?(?:the )?(?P<degree>degree) of ¤|what is ¤ ?['’]s (?P<degree_of>degree)",
    ),
    "between": (
        rf"how {_IS} ¤ (?:and ¤ )?{_CONNECTED}(?: {_TO})?(?: ¤| each other)?",
        rf"how {_DOES} ¤ (?:and ¤ )?(?:relate|connect|know)(?: to)?(?: ¤| each other)?",
        rf"what {_IS} (?:the )?{_WAY} (?:between|from) ¤ (?:and|to) ¤",
        rf"what {_IS} ¤ ?['’]s {_WAY} (?:to|with) ¤",
        r"what (?:connects|links|joins|relates|ties) ¤ (?:and|to|with) ¤",
    ),
    "joined": (
        rf"{_IS} ¤ (?:and ¤ )?(?P<direct>directly )?{_CONNECTED}(?: {_TO})?(?: ¤| each other)?",
        rf"{_DOES} ¤ (?:and ¤ )?(?P<know>know)(?: ¤| each other)?",
        rf"is there (?:an? )?{_WAY} (?:between|from) ¤ (?:and|to) ¤",
    ),
    "degree": (
        rf"{_ASKED} (?:has|have|had) (?:the )?{_MOST} {_CONNECTIONS}",
        rf"{_ASKED} knows? (?:the )?{_MOST} (?:people|persons|others|characters)",
        rf"{_ASKED} {_IS} {_CONNECTED} {_TO} (?:the )?{_MOST} (?:people|persons|others|characters|nodes|things)",
        rf"(?:{_ASKED} {_IS} (?:the )?|(?:who|what) {_IS} the (?:\w+ )?)(?P<best>most|best|least)[ -]connected"
        rf"(?: (?P<whom>{_NOUN}))?",
    ),
}
_COMPILED = [(form, re.compile(text)) for form in FORMS for text in _FORMS[form]]
_LEAST = word_set("fewest least lowest smallest")
# Nouns that mean whatever is in a network.
_ANY = word_set("one node vertex thing entity item member other all")
_PERSONS = word_set("person people individual character everyone everybody anyone")
_NUMBERS = word_set("two three four five six seven eight nine ten")
_COUNTED = re.compile(r"^how many\b|\b(?:number|count) of\b")


@attrs.frozen
class Asked:
    """What a question asks of a network.

    Attributes:
        form: The neighbours of a thing, those that two things share, what is between two things, whether two are
            joined, or which have the most neighbours.
        verb: The word of the question that says so, by which a relation may be called.
        noun: Class of the things that are asked for, in singular; empty for all.
        counted: Whether their number is asked for.
        greatest: Whether the most are asked for, rather than the fewest.
        direct: Whether the question speaks of a direct connection alone.
    """

    form: Form
    verb: str
    noun: str = ""
    counted: bool = False
    greatest: bool = True
    direct: bool = False


def asked_of_network(text: str) -> Asked | None:
    """Return what a question in English asks of a network; None where it asks for more, or for something else.

    Args:
        text: The question, folded, with ``¤`` in place of its mentions.
    """
    plain = " ".join(text.strip(" ?.!").split()).replace("the ¤", "¤")
    found = next(((form, match) for form, one in _COMPILED if (match := one.fullmatch(plain))), None)
    if found is None:
        return None
    form, match = found
    if form != "degree" and plain.count("¤") != (1 if form == "neighbours" else 2):
        return None
    groups = match.groupdict()
    words = [word for word in (groups.get("noun") or groups.get("whom") or "").split() if word not in _NUMBERS]
    noun = " ".join([*words[:-1], singular(words[-1])]) if words else ""
    order = groups.get("most") or groups.get("best") or ""
    said = re.search(rf"\bknows?\b|\b{_CONNECTED}\b|\b{_CONNECTIONS}|\b{_WAY}\b|\bdegree\b", plain)
    return Asked(
        form,
        verb=said.group() if said else "",
        noun=PEOPLE[0] if plain.startswith("who") or noun in _PERSONS else "" if noun in _ANY else noun,
        counted=bool(_COUNTED.search(plain) or groups.get("degree") or groups.get("degree_of")),
        greatest=not _LEAST & {*order.split()},
        direct=bool(groups.get("direct") or groups.get("know")),
    )
