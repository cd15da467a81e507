"""Near names: names of the graph that differ from words of a text by one slip or an ending, or that hold them.

They are sought only in texts without a sure name, so that texts that link keep their links and cost nothing more.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.values import Literal, Pattern, rounded
from srtk_plugin_local.dictionary import entity_context
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.dictionary.relation_phrases import RelationPhrases
from srtk_plugin_local.dictionary.word_spans import SENTENCE_START, Span, Words
from srtk_plugin_local.name_index import JOINING, LEAST_LETTERS, PART, is_one_edit, letters_of, likeness, words_of

# Minimum similarity without a setting: one slip in a name of four letters.
LEAST = 0.75

# Longer names are found by their parts; each more word costs a span per word of the text.
MOST_WORDS = 5
# Names of the graph that are compared with each span.
MOST_NAMES = 20

# A part of more entities' names than this says too little about which one is meant.
MOST_HOLDERS = 3

# A span whose words are all words of names is taken for a slip only if it is at least as long.
KNOWN_LETTERS = 7

# Words in small letters beside a capitalised name that may belong to it, as in Swedish krona.
MOST_BEYOND = 2

# Similarity of names that differ by blanks and marks alone.
SAME_LETTERS = 0.99

# Added to the logarithm of an entity's triples, so that the length of a name counts as well.
UNPOPULAR = 3.0

DEMONYM, DEMONYM_ID = "demonym", "P1549"
"""Label, and end of the id in Wikidata, of the relation from a place to what its people are called."""

# Factor for a single word that is a name, in small letters, beside an unknown word that is almost a name.
COMMON = 0.5

# Where a word of four small letters is one slip away from several names, an entity must have as many triples.
KNOWN_TRIPLES = 20

_NO_NAME_AFTER = frozenset(("a", "an", "he", "i", "my", "she", "they", "we", "who", "you", "your"))

# Endings and their replacements: Italian and Italy, Bulgarian and Bulgaria, Japanese and Japan.
_ENDINGS = (
    ("ians", ("", "ia", "y")), ("ian", ("", "ia", "y")), ("eans", ("", "e", "ea")), ("ean", ("", "e", "ea")),
    ("ans", ("", "a")), ("an", ("", "a")), ("ese", ("", "a")), ("ish", ("", "land")), ("'s", ("",)), ("es", ("",)),
)  # fmt: skip


def is_linked(words: Words, exact: Sequence[Mention]) -> bool:
    """Return whether an exact mention surely is a name.

    In a text that capitalises names, that is a capitalised one within a sentence that is no part of a longer name by
    form. In a text in small letters it has at least two words, since a single word may be a common word. In any other
    text without capitals in a sentence, each mention is a name.
    """
    # A year is an entity of some graphs, but no topic by itself.
    named = [mention for mention in exact if mention.looks > 0 and not mention.text.isdigit()]
    if not words.marked:
        return any(words.has_capitals or mention.length > 1 for mention in named)
    sure = [mention for mention in named if mention.looks > SENTENCE_START]
    covered = {word for mention in exact for word in range(mention.first, mention.last + 1)}
    return any(not _is_part(words, mention, covered) for mention in sure)


def _is_part(words: Words, mention: Mention, covered: Set[int]) -> bool:
    """Return whether a capitalised word that no mention covers is beside a mention, or beyond small joining words."""
    for step, at in ((-1, mention.first - 1), (1, mention.last + 1)):
        for _ in range(MOST_BEYOND + 1):
            if not 0 <= at < len(words.bounds):
                break
            left, right = (at, at + 1) if step < 0 else (at - 1, at)
            if words.text[words.bounds[left][1] : words.bounds[right][0]] != " ":
                break
            if words.capital[at]:
                if not (words.stop[at] or at in covered):
                    return True
                break
            if words.text[slice(*words.bounds[at])] not in JOINING:
                break
            at += step
    return False


@attrs.define
class _Open:
    """A text without a sure name, with all its spans and the spans that may be a name."""

    words: Words
    exact: list[Mention]
    every: Sequence[Span]
    spans: list[Span] = attrs.field(factory=list)


def add_near(
    graph: KnowledgeGraph, parsed: Sequence[Words], spans: Sequence[Sequence[Span]],
    found: Sequence[list[Mention]], known: dict[str, Sequence[str]], least: float,
    phrases: Callable[[], RelationPhrases],
) -> None:  # fmt: skip
    """Add mentions of near names to the texts without a sure name.

    Args:
        graph: Graph with the names.
        parsed: Words of each text.
        spans: Spans of each text.
        found: Exact mentions of each text; near names are added.
        known: Entities by folded name, to which the near names are added.
        least: Minimum similarity.
        phrases: Returns the phrases of the graph's relations.
    """
    rows = [
        _Open(words, exact, row)
        for words, row, exact in zip(parsed, spans, found, strict=True)
        if words.bounds and not is_linked(words, exact)
    ]
    if not rows:
        return
    unknown = _unknown_words(graph, rows)
    for row in rows:
        row.spans = _open_spans(row, unknown)
    names = list({span[0]: None for row in rows for span in row.spans})
    near = _near(graph, names, least, known)
    if not phrases().lack(DEMONYM, DEMONYM_ID):
        _add_peoples(graph, rows, known)
    for row in rows:
        has_exact = any(mention.looks > 0 for mention in row.exact)
        right = {name for mention in row.exact for name in mention.names}
        for name, start, end, first, last in row.spans:
            string, others = near[name]
            others = [other for other in others if other not in right]
            if others and (string > PART or not has_exact):
                row.exact.append(Mention(row.words, start, end, first, last, names=others, string=string))


def _add_peoples(graph: KnowledgeGraph, rows: Sequence[_Open], known: dict[str, Sequence[str]]) -> None:
    """Add mentions of names of peoples, such as Afghans, where the graph has a relation ``demonym``."""
    spans = [(row, span) for row in rows for span in _people_spans(row)]
    places = _places_of_peoples(graph, list({span[0]: None for _, span in spans}))
    for row, (_, start, end, first, last) in spans:
        name = fold(row.words.text[start:end])
        ids = places.get(name, [])
        if ids and all((mention.start, mention.end) != (start, end) for mention in row.exact):
            known[name] = ids
            row.exact.append(Mention(row.words, start, end, first, last, names=[name], string=SAME_LETTERS))
            row.spans = [span for span in row.spans if (span[1], span[2]) != (start, end)]


def _people_spans(row: _Open) -> list[Span]:
    """Return the single words of a text without exact mentions that may be the name of a people."""
    words = row.words
    if any(mention.looks > 0 for mention in row.exact):
        return []
    return [
        span
        for span in row.every
        if span[3] == span[4] and span[0].isalpha() and len(span[0]) >= LEAST_LETTERS
        if not words.stop[span[3]] and (words.capital[span[3]] or not words.marked)
    ]


def _places_of_peoples(graph: KnowledgeGraph, words: Sequence[str]) -> dict[str, list[str]]:
    """Return, of each word, the entities whose people it names."""
    # A demonym may be written in a graph with a capital, in the singular or in the plural.
    single = {word: word.removesuffix("'s") for word in words}
    written = {word: (one, one.removesuffix("s"), f"{one}s") for word, one in single.items()}
    forms = {
        word: [Literal(f'"{form}"{end}') for form in dict.fromkeys(map(str.capitalize, some)) for end in ("", "@en")]
        for word, some in written.items()
    }
    patterns = [Pattern(object=form) for row in forms.values() for form in row]
    found = dict(zip(patterns, graph.match(patterns), strict=True)) if patterns else {}
    relations = list({triple.relation: None for row in found.values() for triple in row})
    labels = zip(relations, graph.labels(relations), strict=True) if relations else ()
    demonyms = {relation for relation, label in labels if fold(label) == DEMONYM or relation.endswith(DEMONYM_ID)}
    triples = {word: [triple for form in row for triple in found[Pattern(object=form)]] for word, row in forms.items()}
    return {word: sorted({t.subject for t in row if t.relation in demonyms}) for word, row in triples.items()}


def keep_likeliest(graph: KnowledgeGraph, found: Sequence[list[Mention]]) -> None:
    """Of the near names in a text in small letters keep the likeliest, unless an exact name is likelier.

    Any word of such a text may be almost a name; one of them is. Likelihood grows with the letters of the name, its
    likeness and the triples of its entity. An exact name that is a word of a relation of that entity, as `director` is
    of a film's, is none. Beside a near name that is likelier, single words that are names count less.
    """
    rows = []
    for mentions in found:
        mentions[:] = [mention for mention in mentions if not _is_common(mention)]
        near = [mention for mention in mentions if _is_near(mention) and not mention.words.marked]
        if near:
            rows.append((mentions, max(near, key=lambda mention: (_weight(mention), -mention.start))))
    if not rows:
        return
    stems = entity_context.relation_stems(graph, [best.candidates[0].entity for _, best in rows])
    for (mentions, best), relations in zip(rows, stems, strict=True):
        exact = [mention for mention in mentions if not _is_near(mention)]
        weight = _weight(best)
        if any(
            _weight(m) > weight and m.looks > 0 and not entity_context.stems(m.names[0]) <= relations for m in exact
        ):
            mentions[:] = exact
        else:
            mentions[:] = [*exact, best]
            for mention in exact:
                mention.looks *= 1 if mention.short else COMMON


def _is_common(mention: Mention) -> bool:
    """Return whether a word of a text in small letters is likelier a common word than a slip in a little-known name.

    In a large graph most words of four letters are one slip away from several names, as *life* from Fife and Lice.
    """
    if mention.words.marked or not _is_near(mention) or len(letters_of(mention.text)) > LEAST_LETTERS:
        return False
    return len(mention.candidates) > 1 and max(one.degree for one in mention.candidates) < KNOWN_TRIPLES


def _is_near(mention: Mention) -> bool:
    return mention.string < 1 and not mention.short


def _weight(mention: Mention) -> float:
    most = max(candidate.degree for candidate in mention.candidates)
    likeness_ = mention.string if mention.string > PART else PART / 2
    return likeness_ * len(letters_of(mention.text)) * (UNPOPULAR + math.log1p(most))


def _unknown_words(graph: KnowledgeGraph, rows: Sequence[_Open]) -> frozenset[str]:
    """Return the words of texts in small letters that are words of no name."""
    small = [row.words for row in rows if not row.words.marked]
    return _unknown(graph, (some.text[start:end].lower() for some in small for start, end in some.bounds))


def _unknown(graph: KnowledgeGraph, words: Iterable[str]) -> frozenset[str]:
    """Return the words that are in no name."""
    some = list(dict.fromkeys(words))
    return frozenset(word for word, is_known in zip(some, graph.known_words(some), strict=True) if not is_known)


def _open_spans(row: _Open, unknown: frozenset[str]) -> list[Span]:
    """Choose the spans that may be a name with a slip.

    In a text that capitalises names, these are names by their form. In other texts they hold a word that is in no name;
    where there is no exact mention at all, long spans without such a word are tried too.
    """
    words = row.words
    exact = [mention for mention in row.exact if mention.looks > 0]
    taken = {(mention.start, mention.end) for mention in exact}
    spans = [
        span
        for span in row.every
        if (span[1], span[2]) not in taken and span[4] - span[3] < MOST_WORDS
        if span[0] and span[0][0].isalnum() and span[0][-1].isalnum()
    ]
    if words.marked:
        formed = sorted(words.formed())
        sure = sorted((mention.start, mention.end) for mention in exact if mention.looks > SENTENCE_START)
        return [span for span in spans if _is_formed(words, span, formed, sure, bool(exact))]
    odd = [words.text[start:end].lower() in unknown for start, end in words.bounds]
    return [span for span in spans if _is_odd(words, span, odd, bool(exact))]


def _is_formed(
    words: Words, span: Span, formed: Sequence[tuple[int, int]], sure: Sequence[tuple[int, int]], has_exact: bool
) -> bool:
    """Return whether a span is a name by its form, and holds a sure mention if the text has any.

    Args:
        words: Words of the text.
        span: The span.
        formed: Places of names by their form, sorted.
        sure: Places of sure mentions, sorted.
        has_exact: Whether the text has any exact mention.
    """
    name, start, end, first, last = span
    if (first == last and words.is_common_noun(first)) or not any(
        _widens(words, span, *place) for place in _inside(formed, start, end)
    ):
        return False
    if sure:
        return any(True for _ in _inside(sure, start, end))
    return not has_exact or len(letters_of(name)) >= KNOWN_LETTERS


def _inside(places: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sorted places that lie within another; a long text has thousands."""
    for at in range(bisect_left(places, (start,)), len(places)):
        if places[at][0] >= end:
            return
        if places[at][1] <= end:
            yield places[at]


def _is_odd(words: Words, span: Span, odd: Sequence[bool], has_exact: bool) -> bool:
    """Return whether a span holds a word that is in no name, or is long in a text without capitals or mentions."""
    name, _, _, first, last = span
    letters, small = len(letters_of(name)), not words.has_capitals
    if any(odd[first : last + 1]):
        long = letters >= (LEAST_LETTERS if small else KNOWN_LETTERS)
        return long and not words.stop[last] and not (first == last and _is_plain(words, first))
    return small and not (has_exact or words.stop[first] or words.stop[last]) and letters >= KNOWN_LETTERS


def _is_plain(words: Words, at: int) -> bool:
    """Return whether a word in small letters is no name by the words around it: the meaning of, who wrote."""
    before, after = (
        words.text[slice(*words.bounds[place])].lower() if 0 <= place < len(words.bounds) else ""
        for place in (at - 1, at + 1)
    )
    return before in _NO_NAME_AFTER or after == "of" or after.isdigit()


def _widens(words: Words, span: Span, start: int, end: int) -> bool:
    """Return whether a span is a name by its form, or such a name with words in small letters before or after it."""
    _, low, high, first, last = span
    if (low, high) == (start, end):
        return True
    beyond = sum(not (start <= words.bounds[word][0] < end) for word in range(first, last + 1))
    return low <= start and end <= high and beyond <= MOST_BEYOND and not (words.stop[first] or words.stop[last])


def _near(
    graph: KnowledgeGraph, names: Sequence[str], least: float, known: dict[str, Sequence[str]]
) -> Mapping[str, tuple[float, list[str]]]:
    """Find the most similar names of the graph, and add their entities to ``known``."""
    # No name holds a span with a word that is in none.
    words = {name: words_of(name) for name in names}
    unknown = _unknown(graph, (word for row in words.values() for word in row))
    odd = [name for name in names if not unknown.isdisjoint(words[name])]
    rows: dict[str, Sequence[str]] = {}
    for some, whole in ((odd, True), ([name for name in names if unknown.isdisjoint(words[name])], False)):
        rows.update(zip(some, graph.near_names(some, MOST_NAMES, whole), strict=True) if some else ())
    # Names that a folded name may be derived from: Italy for Italian, Japan for Japanese.
    derived = {
        name: list({name[: -len(end)] + new: None for end, others in _ENDINGS if name.endswith(end) for new in others})
        for name in names
    }
    others = list({other: None for some in (rows, derived) for row in some.values() for other in row})
    entities = {name: ids for name, ids in zip(others, graph.find(others), strict=True) if len(ids)} if others else {}
    known.update(entities)
    return {name: _most_similar(name, rows[name], derived[name], entities, least) for name in names}


def _most_similar(
    name: str, near: Sequence[str], derived: Sequence[str], entities: Mapping[str, Sequence[str]], least: float
) -> tuple[float, list[str]]:
    """Choose the names that are most similar; else those that hold the name, if they are of few entities."""
    alike: dict[str, float] = {}
    holders = []
    for other in near:
        if other in entities:
            letters, others = letters_of(name), letters_of(other)
            if letters == others or is_one_edit(letters, others):
                alike[other] = likeness(name, other)
            elif f" {name} " in f" {other} ":
                holders.append(other)
    alike.update((other, rounded(1 - 1 / len(name))) for other in derived if other in entities)
    best = max(alike.values(), default=0.0)
    if best == 1:
        return SAME_LETTERS, sorted(other for other, value in alike.items() if value == best)
    if best >= least:
        # One slip away, all of them: which is meant, the entities tell better than the number of letters does.
        return best, sorted(other for other, value in alike.items() if value >= least)
    if holders and len({id_ for other in holders for id_ in entities[other]}) <= MOST_HOLDERS:
        return PART, holders
    return 0.0, []
