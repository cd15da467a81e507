"""A small graph with all that trips graph code up: hubs, loops, literals, quotes, other scripts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property

import attrs

from srtk_framework.values import Literal, Qualifier, Triple

_PLAIN = re.compile(r"[A-Za-z0-9_]+")


@attrs.frozen(eq=False)
class Sample:
    """Content of a graph under test.

    Attributes:
        triples: All facts; objects that are ``Literal`` are literals.
        labels: Entity or relation to its label; other ids have no label.
        aliases: Entity to its further names.
        qualifiers: Triple to the qualifiers of its statement, sorted.
    """

    triples: tuple[Triple, ...]
    labels: Mapping[str, str] = attrs.field(factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    qualifiers: Mapping[Triple, tuple[Qualifier, ...]] = attrs.field(factory=dict)

    @cached_property
    def entities(self) -> list[str]:
        """The ids of all entities, sorted."""
        ends = {end for triple in self.triples for end in (triple.subject, triple.object)}
        return sorted(end for end in ends if not isinstance(end, Literal))

    @property
    def relations(self) -> list[str]:
        """The ids of all relations, sorted."""
        return sorted({triple.relation for triple in self.triples})

    @property
    def literals(self) -> list[str]:
        """All literals, sorted."""
        return sorted({triple.object for triple in self.triples if isinstance(triple.object, Literal)})

    @cached_property
    def widest(self) -> Triple:
        """The first triple of the subject and relation with most objects."""
        return min(self.triples, key=lambda t: (-self._fans[t.subject, t.relation], t))

    @cached_property
    def _fans(self) -> Counter[tuple[str, str]]:
        return Counter((triple.subject, triple.relation) for triple in self.triples)

    def strange(self) -> list[str]:
        """List the entities whose id or label has more than letters, digits and blanks of ASCII."""
        return [id_ for id_ in self.entities if not is_plain(id_) or not is_plain(self.labels.get(id_, id_))]

    def without_literals(self) -> Sample:
        """Leave out the triples whose object is a literal, for a graph that holds none."""
        kept = tuple(triple for triple in self.triples if not isinstance(triple.object, Literal))
        return attrs.evolve(
            self, triples=kept, qualifiers={t: found for t, found in self.qualifiers.items() if t in set(kept)}
        )

    def without_qualifiers(self) -> Sample:
        """Leave out the qualifiers, for a graph that holds none."""
        return attrs.evolve(self, qualifiers={})

    def without_aliases(self) -> Sample:
        """Leave out the aliases, for a graph that holds none."""
        return attrs.evolve(self, aliases={})

    def renamed(self, entity: Callable[[str], str], relation: Callable[[str], str]) -> Sample:
        """Give all ids another form, for a graph whose ids have a form of their own (``Q1``, ``P1``)."""

        def end(id_: str) -> str:
            return id_ if isinstance(id_, Literal) else entity(id_)

        def fact(triple: Triple) -> Triple:
            return Triple(entity(triple.subject), relation(triple.relation), end(triple.object))

        relations = set(self.relations)
        return Sample(
            triples=tuple(fact(triple) for triple in self.triples),
            labels={(relation if id_ in relations else entity)(id_): text for id_, text in self.labels.items()},
            aliases={entity(id_): names for id_, names in self.aliases.items()},
            qualifiers={
                fact(triple): tuple(sorted((relation(name), end(value)) for name, value in found))
                for triple, found in self.qualifiers.items()
            },
        )


def is_plain(text: str) -> bool:
    """Return whether a text has nothing but letters, digits, blanks and underscores of ASCII."""
    return _PLAIN.fullmatch(text.replace(" ", "_")) is not None


_QUOTED = 'Say "Hi" & <b>bye</b>'
_JAPAN = "日本 (国)"
_ARABIC = "العربية"
_PERCENT = "Ωmega 100%"
_BACKSLASH = "O'Brien, \\ and sons"
# By code point the second is first; by UTF-16 unit the other way round.
_ASTRAL, _FULLWIDTH = "𝔊amma", "Ａlpha"

# A node with more neighbours than a page of most servers, and how the ids of these begin.
CHOIR, SINGER = "Choir", "Singer_"


def _facts() -> list[tuple[str, str, str]]:
    made = Literal.make
    facts = [
        ("Latvia", "capital", "Riga"),
        ("Estonia", "capital", "Tallinn"),
        ("Lithuania", "capital", "Vilnius"),
        ("Georgia_country", "capital", "Tbilisi"),
        ("Georgia_state", "capital", "Atlanta"),
        ("Latvia", "part_of", "Europe"),
        ("Estonia", "part_of", "Europe"),
        ("Lithuania", "part_of", "Europe"),
        ("Latvia", "borders", "Estonia"),
        ("Latvia", "borders", "Lithuania"),
        ("Estonia", "borders", "Latvia"),
        ("Lithuania", "borders", "Latvia"),
        ("Lithuania", "borders", "Poland"),
        ("Riga", "twin_town", "Vilnius"),
        ("Vilnius", "twin_town", "Tallinn"),
        ("Tallinn", "twin_town", "Riga"),
        ("Narcissus", "admires", "Narcissus"),
        ("Echo", "admires", "Narcissus"),
        ("Latvia", "president", "Egils_Levits"),
        ("Cote_d_Ivoire", "trades_with", "Sao_Paulo"),
        ("Latvia", "population", made("1842000", "xsd:integer")),
        ("Estonia", "population", made("1366000", "xsd:integer")),
        ("Latvia", "motto", made("Tēvzemei un Brīvībai", language="lv")),
        ("Latvia", "code", made("LV")),
        ("Riga", "founded", made("1201", "xsd:gYear")),
        ("Riga", "nickname", made('The "Paris" of the North', language="en")),
        ("Riga", "nickname", made("Pērle", language="lv")),
        (_QUOTED, 'said "hello" to', _JAPAN),
        (_ARABIC, "родился в", _QUOTED),
        (_PERCENT, "^odd", _BACKSLASH),
        ("Alphabet", "has_letter", _FULLWIDTH),
        ("Alphabet", "has_letter", _ASTRAL),
        ("Alphabet", "has_letter", "Z"),
        (_ASTRAL, "next", _FULLWIDTH),
        (_FULLWIDTH, "next", _ASTRAL),
    ]
    for number in range(1, 7):
        facts += [("Archipelago", "has_island", f"Island_{number}"), (f"Island_{number}", "harbour", f"Port_{number}")]
    facts += [(CHOIR, "has_singer", f"{SINGER}{number:03}") for number in range(120)]
    for number in range(40):
        facts += [("Catalogue", "lists", f"Item_{number:02}"), (f"Item_{number:02}", "kept_in", "Museum")]
    return facts


_TERM = Triple("Latvia", "president", "Egils_Levits")

SAMPLE = Sample(
    # Not sorted, so that a graph that answers in the order of its storage is noticed.
    triples=tuple(sorted((Triple(*fact) for fact in _facts()), key=lambda fact: fact.object[::-1])),
    labels={
        "Latvia": "Latvia",
        "Estonia": "Estonia",
        "Lithuania": "Lithuania",
        "Riga": "Riga",
        "Tallinn": "Tallinn",
        "Vilnius": "Vilnius",
        "Tbilisi": "Tbilisi",
        "Europe": "Europe",
        "Georgia_country": "Georgia",
        "Georgia_state": "Georgia",
        "Egils_Levits": "Egils Levits",
        "Cote_d_Ivoire": "Côte d'Ivoire",
        "Sao_Paulo": "São Paulo",
        "Museum": "National Museum",
        _ARABIC: f'Arabic "language" <{_ARABIC}>',
        _JAPAN: "日本国",
        "capital": "capital city",
        "borders": "shares a border with",
        "part_of": "is part of",
        "родился в": 'born "in"',
    },
    aliases={
        "Latvia": ("Republic of Latvia", "Lettland"),
        "Tbilisi": ("Tiflis",),
        "Cote_d_Ivoire": ("Ivory Coast",),
    },
    qualifiers={
        _TERM: (("end", Literal.make("2023", "xsd:gYear")), ("start", Literal.make("2019", "xsd:gYear"))),
        Triple("Latvia", "borders", "Estonia"): (("length", Literal.make("343", "xsd:integer")),),
        Triple("Latvia", "borders", "Lithuania"): (("length", Literal.make("longer")),),
    },
)
"""The graph of the kit; every check of a graph runs on it."""
