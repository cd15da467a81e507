"""Mentions of entities in text: rule-based detection and division, shares of links, removal of mentions."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

from srtk_framework.text.folding import words
from srtk_framework.values import Link, Mention, Question

Span = tuple[int, int]
"""Offsets of a mention's first character and after its last."""

MOST_WORDS = 12
"""Maximum number of words of a mention."""

NAME, QUOTE = 0.9, 1.0
"""Scores of capitalised and of quoted mentions; a name detected by a model may have a score between them."""


def _small_words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


OPENERS = _small_words(
    "who whom whose what which when where why how is are was were am be been do does did has have had can could will",
    "would shall should may might must name give list tell show find count in on at of for from by with to as and or",
    "if let please i it its he she they we you his her their there this that these those all any both each every many",
    "wer wen wem wessen welche welcher welches welchem welchen wann wo wohin woher warum wie ist sind war waren hat",
    "haben hatte kann im an am auf aus vom zu nenne gib zeige liste und oder",
    "qui que quoi quel quelle quels quelles quand où comment combien pourquoi est sont était ont dans en sur et ou",
    "quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuántos quien cual es son fue fueron y",
    "chi che cosa quale quali quando dove come quanto quanti è sono era e",
    "wat welke wanneer waar hoe zijn quem qual quais onde como foi são em",
    "кто что какой какая какое какие где когда почему как сколько в на и с из",
)
"""Words that are capitalised at the start of a question without being part of a name."""

WEAK = _small_words("and und et y e en и & :")
"""Conjunctions, which occur between names as often as within one."""

INNER = _small_words(
    "of the for on to de la le les du des l d del della di da do dos das los las el al von vom van der den dem zu zum",
    "zur af av a à ibn bin",
)
"""Lower-case words within names, as in Lord of the Rings."""

# More small words in a row are a sentence that goes on rather than a name.
_MOST_INNER = 3
_INITIAL = re.compile(r"(?:^|[\s.])\w$")
_ABBREVIATION = re.compile(r"^(?:\w\.)+\w$")
_POSSESSIVE = re.compile(r"['’]s$")
_ELIDED = re.compile(r"^[^\W\d_]{1,4}['’](?=\w)")
_QUOTED = re.compile(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》"
    r"|(?<![^\W_])\"([^\"]+)\"(?![^\W_])|(?<![^\W_])[‘]([^‘’]+)’(?![^\W_])|(?<![^\W_])'([^']+)'(?![^\W_])"
)


def by_form(texts: Sequence[str]) -> list[list[Mention]]:
    """Find the mentions of each text, in any language, by ``capitals`` and by ``quotes``.

    Returns:
        Mentions of the kinds ``name`` and ``quote``, sorted by span; a mention found by both rules is a quote.
    """
    return [_by_form(text) for text in texts]


def _by_form(text: str) -> list[Mention]:
    found = {**dict.fromkeys(capitals(text), "name"), **dict.fromkeys(quotes(text), "quote")}
    return [Mention(*span, QUOTE if found[span] == "quote" else NAME, found[span]) for span in sorted(found)]


def best_apart(mentions: Sequence[Mention]) -> list[Mention]:
    """Resolve overlaps in favour of the best score, then the longest mention, then the first."""
    kept: list[Mention] = []
    # By score before length: long noun phrases would swallow names.
    for mention in sorted(mentions, key=lambda m: (-m.score, m.start - m.end, m.start)):
        if all(mention.end <= other.start or mention.start >= other.end for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: (m.start, m.end))


def quotes(text: str) -> list[Span]:
    """Find quoted text of 1 to ``MOST_WORDS`` words."""
    found = []
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        start, end = trimmed(text, *match.span(group))
        if start < end and 0 < len(words(text[start:end])) <= MOST_WORDS:
            found.append((start, end))
    return found


def capitals(text: str) -> list[Span]:
    """Find runs of at most ``MOST_WORDS`` capitalised words, with numbers and lower-case words between them.

    Question words start none.
    """
    runs: list[list[Span]] = [[]]
    small: list[Span] = []
    last = 0
    for start, end in (_core(text, *span) for span in words(text)):
        if runs[-1] and not _joined(text, last, start):
            runs.append([])
        if not runs[-1]:
            small = []
        last = end
        word = text[start:end]
        if word[0].isdigit() or (_is_capital(word) and not _opens(text, start, word.lower())):
            runs[-1] += [*small, (start, end)]
            small = []
        elif word in INNER | WEAK and len(small) < _MOST_INNER:
            small.append((start, end))
        else:
            runs.append([])
    runs = [run[:MOST_WORDS] for run in runs]
    cut = [run for run in runs if any(_is_capital(text[start:end]) for start, end in run)]
    spans = [(run[0][0], _end(text, *_last(text, run))) for run in cut]
    return [span for span in spans if span[0] < span[1]]


def name_parts(text: str, span: Span) -> list[Span]:
    """Divide a mention that matches no entity as a whole.

    Returns:
        The parts between conjunctions, else before and after possessives, else between other lower-case words; else
        the mention without its first word and without its last. Empty for a single word; without bare numbers.
    """
    pieces = [(span[0] + start, span[0] + end) for start, end in words(text[span[0] : span[1]])]
    if len(pieces) < 2:
        return []
    divided = [_between(text, pieces, WEAK), _after_possessives(text, pieces), _between(text, pieces, INNER)]
    groups = next((groups for groups in divided if len(groups) > 1), [pieces[1:], pieces[:-1]])
    found = [(group[0][0], _without_possessive(text, *group[-1])) for group in groups]
    return [span for span in found if not text[span[0] : span[1]].isdigit()]


def _between(text: str, pieces: Sequence[Span], joints: Collection[str]) -> list[list[Span]]:
    """Group the words between ``joints``; an ampersand surrounded by blanks is one too."""
    groups: list[list[Span]] = [[]]
    last = pieces[0][0]
    for start, end in pieces:
        if text[start:end] in joints:
            groups.append([])
        else:
            if text[last:start].strip() in joints:
                groups.append([])
            groups[-1].append((start, end))
        last = end
    return [group for group in groups if group]


def _after_possessives(text: str, pieces: Sequence[Span]) -> list[list[Span]]:
    groups: list[list[Span]] = [[]]
    for start, end in pieces:
        groups[-1].append((start, end))
        if _POSSESSIVE.search(text[start:end]):
            groups.append([])
    return [group for group in groups if group]


def trimmed(text: str, start: int, end: int) -> Span:
    """Trim whitespace at both ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def tidied(text: str, start: int, end: int) -> Span:
    """Trim whitespace at both ends, and extend the span by combining marks of its first and last letters."""
    start, end = trimmed(text, start, end)
    while 0 < start < end and unicodedata.combining(text[start]):
        start -= 1
    while start < end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return start, end


def _core(text: str, start: int, end: int) -> Span:
    """Trim an elided article, as in ``l'Italie``."""
    elided = _ELIDED.match(text[start:end])
    if elided and elided[0].islower():
        return start + elided.end(), end
    return start, end


def _is_capital(word: str) -> bool:
    return any(letter.isupper() or letter.istitle() for letter in word)


def _opens(text: str, start: int, small: str) -> bool:
    """Return whether a word is a question word at the start of a sentence or in a text all in capitals."""
    if small not in OPENERS:
        return False
    while start and text[start - 1] in "\"'“„«‘([¿¡ \t\n":
        start -= 1
    return not start or text[start - 1] in ".?!:;…" or not _has_small(text)


@functools.lru_cache(maxsize=1)
def _has_small(text: str) -> bool:
    return any(letter.islower() for letter in text)


def _joined(text: str, end: int, start: int) -> bool:
    """Return whether the text between two consecutive words allows them to belong to one name."""
    between = text[end:start]
    if between.isspace() or between in ("/", ": ") or between.strip() == "&":
        return True
    return between == ". " and _INITIAL.search(text, max(end - 3, 0), end) is not None


def _last(text: str, run: Sequence[Span]) -> Span:
    """Return the last capitalised word of a run; a truncated run may end in lower-case words."""
    return next(span for span in reversed(run) if text[span[0] : span[1]] not in INNER | WEAK)


def _end(text: str, start: int, end: int) -> int:
    """Return the end without a possessive, or with the full stop of an abbreviation such as U.S."""
    if _ABBREVIATION.search(text[start:end]) and text[end : end + 1] == ".":
        return end + 1
    return _without_possessive(text, start, end)


def _without_possessive(text: str, start: int, end: int) -> int:
    found = _POSSESSIVE.search(text[start:end])
    return start + found.start() if found else end


def link_shares(links: Sequence[Link]) -> list[float]:
    """Return the share of each link among the alternatives for its span.

    Links of one span are alternatives. The share of an entity is its score divided by the sum over the entities of
    the span; where that sum is 0, all have the same share. A link without a span has no alternatives.

    Args:
        links: The links of one question.

    Returns:
        One share per link, between 0 and 1.
    """
    spans: dict[Span, dict[str, float]] = {}
    for link in links:
        if link.start is not None and link.end is not None:
            scores = spans.setdefault((link.start, link.end), {})
            scores[link.entity] = max(link.score, scores.get(link.entity, 0.0))
    shares = []
    for link in links:
        share = 1.0
        if link.start is not None and link.end is not None:
            scores = spans[link.start, link.end]
            total = sum(scores.values())
            share = link.score / total if total > 0 else 1.0 / len(scores)
        shares.append(share)
    return shares


def link_topics(links: Sequence[Link]) -> dict[str, int]:
    """Number the topics of a question: linked entities of the same topic are alternatives.

    Links whose spans overlap are alternatives of one topic. A link without a span is a topic of its own. An entity that
    is linked in several places belongs to the first.

    Args:
        links: The links of one question.

    Returns:
        For each entity the number of its topic, in order of the spans, then of the links.
    """
    spans = sorted({(link.start, link.end) for link in links if link.start is not None and link.end is not None})
    number: dict[Span, int] = {}
    reached, last = -1, -1
    for start, end in spans:
        if start >= reached:
            last += 1
        number[start, end] = last
        reached = max(reached, end)
    found: dict[str, int] = {}
    for link in links:
        if link.entity in found:
            continue
        if link.start is not None and link.end is not None:
            found[link.entity] = number[link.start, link.end]
        else:
            last += 1
            found[link.entity] = last
    return found


def unnamed_entities(questions: Sequence[Question]) -> list[str]:
    """Return the linked entities without span and name, whose mentions are found by their label; sorted."""
    return sorted(
        {link.entity for question in questions for link in question.links if link.start is None and not link.name}
    )


def without_mentions(question: Question, links: Sequence[Link], labels: Mapping[str, str], stand_in: str) -> str:
    """Replace the mentions of linked entities in the text of a question.

    Mentions with a span are replaced by position; of overlapping spans, only the last one is replaced. Mentions without
    a span are searched by name, as whole words, ignoring case and treating underscores as blanks.

    Args:
        question: The question.
        links: The links whose mentions are replaced.
        labels: Labels of the entities in ``unnamed_entities``.
        stand_in: Replacement; may be empty.

    Returns:
        The text with runs of blanks collapsed; the original text if no letter or digit would be left.
    """
    text = question.text
    spans = sorted({(link.start, link.end) for link in links if link.start is not None and link.end is not None})
    last = len(text)
    for start, end in reversed(spans):
        if end <= last:
            text = text[:start] + stand_in + text[end:]
            last = start
    for link in links:
        name = (link.name or labels.get(link.entity, "")).strip()
        escaped = [re.escape(word) for word in re.split(r"[\s_]+", name)]
        if link.start is None and any(escaped):
            pattern = r"[\s_]+".join(escaped)
            text = re.sub(rf"(?<!\w){pattern}(?!\w)", lambda _: stand_in, text, flags=re.IGNORECASE)
    shorter = " ".join(text.split())
    return shorter if any(char.isalnum() for char in shorter) else question.text
