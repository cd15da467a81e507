"""Freebase ids in all their forms: ``m.02mjmr``, ``/m/02mjmr``, ``ns:m.02mjmr`` and IRIs."""

from __future__ import annotations

import re

from srtk_plugin_sparql.terms import is_iri
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary
from srtk_plugin_views import composites

from srtk_framework.text import iri_of
from srtk_framework.values import DriverError, Literal

_DOTTED = re.compile(r"[^./:]+(?:\.[^./:]+)*")
_SLASHED = re.compile(r"(?:/[^./:]+)+")
_JOINED = re.compile(r"(?P<first>(?:/[^./:]+){2,})\.(?P<second>(?:/[^./:]+){2,})")  # The composite relations of FB15k
_NS = "ns:"


class FreebaseIds(Ids):
    """Conversion of ids to IRIs and back; it writes one form and accepts all of them.

    With ``slashes``, ids are written as ``/m/02mjmr`` instead of ``m.02mjmr``; with ``joins``, relations may be
    composites.
    """

    def __init__(self, vocabulary: Vocabulary, slashes: bool, joins: bool) -> None:
        self.slashes = slashes
        self.joins = joins
        self._space = vocabulary.prefixes[""]
        self._has_ns = "ns" in vocabulary.prefixes
        super().__init__(vocabulary)

    def short(self, iri: str) -> str:
        """Shorten an IRI; with slashes, an IRI whose local name cannot have them stays whole."""
        found = super().short(iri)
        if not self.slashes or not iri.startswith(self._space) or found != iri[len(self._space) :]:
            return found
        return self._slashed(found) or iri

    def _slashed(self, local: str) -> str | None:
        if _DOTTED.fullmatch(local):
            return "/" + local.replace(".", "/")
        first, _, second = local.partition("..")
        joined = f"/{first.replace('.', '/')}./{second.replace('.', '/')}"
        return joined if not self.joins and _JOINED.fullmatch(joined) and _dotted(joined) == local else None

    def _expand(self, id_: str) -> str | None:
        if not self.slashes or not id_.startswith("/"):
            return super()._expand(id_)
        return super()._expand(_dotted(id_)) if _SLASHED.fullmatch(id_) or _JOINED.fullmatch(id_) else None

    def displayed(self, id_: str) -> str:
        """Return an id as it is where it has no label: relations such as ``people.person.gender`` stay whole."""
        return id_ if ":" not in id_ else super().displayed(id_)

    # Other forms

    def entity(self, text: str) -> str:
        """Return the id of an entity or relation in any form."""
        if isinstance(text, Literal):
            return text
        local = self._local(text)
        return text if local is None else self.short(self._space + local)

    def own(self, id_: str, relation: bool) -> str:
        """Return the id in the written form; also of a topic's page and of the prefix ``fb:``."""
        if relation and self.joins and (composites.JOINT in id_ or _JOINED.fullmatch(id_)):
            return self.relation(id_)
        named = {prefix: space for prefix, space in self._spaces.items() if prefix}
        iri = iri_of(id_, named, relation)
        if iri is None or not iri.startswith(self._space):
            return id_ if iri is None else super().own(id_, relation)
        return self.relation(iri) if relation else self.entity(iri)

    def _local(self, text: str) -> str | None:
        if text.startswith(self._space) and len(text) > len(self._space):
            return text[len(self._space) :]
        if text.startswith(_NS) and not self._has_ns:
            return text[len(_NS) :]
        if _SLASHED.fullmatch(text) or (not self.joins and _JOINED.fullmatch(text)):
            return _dotted(text)
        return text if self.slashes and _DOTTED.fullmatch(text) else None

    def relation(self, text: str) -> str:
        """Return the id of a relation in any form; FB15k's ``/a/b/c./d/e/f`` is a composite."""
        if not self.joins:
            return self.entity(text)
        joined = _JOINED.fullmatch(text)
        halves = (joined["first"], joined["second"]) if joined else composites.split(text)
        if not halves:
            return text
        names = [self.entity(half) for half in halves]
        return composites.join(*names) if len(names) == 2 else composites.escape(names[0])

    def legs(self, relation: str) -> tuple[str, ...]:
        """Return the IRIs of the relation of an id, or of both halves of a composite; none if it is not valid."""
        names = composites.split(relation) if self.joins else (relation,)
        iris = [self.iri(name) for name in names]
        return () if None in iris else tuple(iri for iri in iris if iri is not None)

    # Patterns

    def is_hidden(self, relation: str) -> bool:
        """Return False: the queries leave hidden relations out."""
        return False

    def pattern(self, pattern: str) -> str:
        """Return a pattern in the written form of ids."""
        shown = self.slashes and "/" not in pattern and ":" not in pattern
        return "/" + pattern.replace(".", "/") if shown else pattern

    def starts_of(self, patterns: tuple[str, ...], setting: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Convert patterns of ids to prefixes of IRIs and whole IRIs.

        Raises:
            DriverError: If a pattern has another wildcard than a star at its end.
        """
        starts: list[str] = []
        wholes: list[str] = []
        for pattern in patterns:
            text = pattern.removesuffix("*")
            found = self._start(text) if text and not re.search(r"[*?\[]", text) else None
            if found is None or not is_iri(found):
                raise DriverError(f"{setting} {pattern!r} is not supported; write an id, or a prefix with a star")
            (wholes if text == pattern else starts).append(found)
        return tuple(starts), tuple(wholes)

    def _start(self, text: str) -> str | None:
        if text.startswith("/"):
            text = _dotted(text)
        elif text.startswith(_NS) and not self._has_ns:
            text = text[len(_NS) :]
        return super()._expand(text)


def _dotted(text: str) -> str:
    return text[1:].replace("./", "..").replace("/", ".")
