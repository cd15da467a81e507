"""Vocabulary of a graph (prefixes, names, patterns of entities and relations), and ids made of IRIs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

import attrs

from srtk_framework.text import ALIAS_RELATIONS, LABEL_RELATIONS, displayed, has_word, iri_of, local_name, local_part
from srtk_framework.values import DriverError, Literal
from srtk_plugin_sparql.terms import ILLEGAL, KEPT, is_iri

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SKOS_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
BLANKS = "urn:srtk:blank:"  # Namespace of the IRIs that a loaded store has in the place of blank nodes

_ILLEGAL = re.compile(f"[{ILLEGAL}]")
_ESCAPED = re.compile(r"(?:%[0-9A-F]{2})+")
_LONE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


@attrs.frozen
class Vocabulary:
    """How to read a graph; everything may be left out.

    Attributes:
        prefixes: Short prefix to namespace IRI; an empty prefix shortens to the bare local name.
        decode: Whether ids show the characters that an IRI must write as %XX; a snapshot leaves them as they are.
        names: Whether ids are names, shown with blanks for underscores where there is no label.
        label_relations: IRIs (or ids) of relations whose objects are labels, the best first; they are no relations of
            the graph. By default the relations of RDFS, SKOS, SKOS-XL, FOAF, schema.org, Dublin Core, GeoNames, vCard
            and DOAP.
        alias_relations: The same for further names.
        languages: Languages of names to keep, most wanted first; all when empty, English first.
        label_namespaces: Namespace of relations to the namespace of their labels.
        entities: Starts of IRIs of entities; objects elsewhere are left out. All when empty.
        relations: Starts of IRIs of relations; all other relations are left out. All when empty.
        hidden: Patterns (``*`` and ``?``) of ids of relations that are left out.
        literals: Whether literals are objects of the graph.
        type_relations: Ids of relations from an entity to its class.
        subclass_relations: Ids of relations from a class to its superclass.
        mediators: Patterns of ids of nodes that only hold a statement together.
        noise: Patterns of ids of relations that answer no question.
    """

    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    decode: bool = False
    names: bool = False
    label_relations: tuple[str, ...] = LABEL_RELATIONS
    alias_relations: tuple[str, ...] = ALIAS_RELATIONS
    languages: tuple[str, ...] = ()
    label_namespaces: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    entities: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    literals: bool = True
    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()

    def over(self, other: Vocabulary) -> Vocabulary:
        """Return another vocabulary with the fields that are set here in the place of its own."""
        plain, names = Vocabulary(), [field.name for field in attrs.fields(Vocabulary)]
        return attrs.evolve(other, **{n: getattr(self, n) for n in names if getattr(self, n) != getattr(plain, n)})


class Ids:
    """Turns ids into IRIs and back; an id that does not come back as itself is the id of nothing.

    Of two namespaces that fit, the longer one wins, as in a snapshot.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.decodes = vocabulary.decode
        self._known: dict[str, str | None] = {}
        self._shortened: dict[str, str] = {}
        self._spaces = dict(vocabulary.prefixes)
        self._order = sorted(self._spaces.items(), key=lambda item: (-len(item[1]), item[0]))
        self._hidden = vocabulary.hidden
        self.hides = bool(vocabulary.hidden)
        for prefix, namespace in self._order:
            if (prefix and _PREFIX.fullmatch(prefix) is None) or not is_iri(namespace):
                raise DriverError(f"prefix {prefix!r}: {namespace!r} is not a prefix and an absolute IRI; correct it")
        self.named = self._iris(vocabulary.label_relations), self._iris(vocabulary.alias_relations)
        self.entities = self._starts(vocabulary.entities)
        self.relations = self._starts(vocabulary.relations)
        self.label_namespaces = {
            self._starts((source,))[0]: self._starts((target,))[0]
            for source, target in vocabulary.label_namespaces.items()
        }

    def short(self, iri: str) -> str:
        """Shorten an IRI; many rows of answers have the same ones."""
        found = self._shortened.get(iri)
        if found is None:
            found = self._shorten(iri)
            if len(self._shortened) >= KEPT:
                self._shortened = {}  # another thread may be reading the old one
            self._shortened[iri] = found
        return found

    def _shorten(self, iri: str) -> str:
        if iri.startswith(BLANKS):
            return f"_:{iri[len(BLANKS) :]}"
        for prefix, namespace in self._order:
            local = iri[len(namespace) :]
            if not iri.startswith(namespace) or not local or (not prefix and ":" in local):
                continue
            start = f"{prefix}:" if prefix else ""
            if self.decodes:
                plain = _ESCAPED.sub(_decoded, local) if "%" in local else local
                if _encoded(plain, namespace) == local:
                    return start + plain
            return start + local
        return iri

    def iri(self, id_: str) -> str | None:
        """Return the IRI of an id, or None where no IRI has this id."""
        if id_ in (known := self._known):
            return known[id_]
        found = self._expand(id_)
        own = found if found is not None and is_iri(found) and self.short(found) == id_ else None
        if len(known) >= KEPT:
            self._known = {}  # another thread may be reading the old one
        self._known[id_] = own
        return own

    def own(self, id_: str, relation: bool) -> str:
        """Return the id in the graph's spelling of an entity or relation in any spelling; unchanged if it has none."""
        if isinstance(id_, Literal) or id_.startswith("_:"):
            return id_
        text = id_[1:-1] if id_.startswith("<") and id_.endswith(">") else id_
        prefix, colon, _ = text.partition(":")
        if (prefix if colon else "") in self._spaces and self.iri(text) is not None:
            return text
        iri = iri_of(id_, self._spaces, relation)
        if iri is None:
            return id_
        # Of an address that no vocabulary of ours knows, the scheme is as it is written.
        return self.short(iri) if is_iri(iri) else id_

    def _expand(self, id_: str) -> str | None:
        prefix, colon, local = id_.partition(":")
        if not colon:
            return self._join("", id_) if "" in self._spaces else None
        if prefix == "_":
            return BLANKS + local
        return self._join(prefix, local) if prefix in self._spaces else id_

    def _join(self, prefix: str, name: str) -> str:
        namespace = self._spaces[prefix]
        return namespace + (_encoded(name, namespace) if self.decodes else name)

    def local_name(self, id_: str) -> str:
        """Return the name in the local part of an id; empty where it holds no word."""
        if "" in self._spaces and ":" not in id_:
            return local_name(f":{id_}", ("",))
        return local_name(id_, self._spaces)

    def displayed(self, id_: str) -> str:
        """Return the text for an id without a label: the name in its local part, else its shortest form.

        An id that begins with a small letter is mostly a relation, which snapshots leave whole: ``hasHabitat``, and
        without any prefix ``people.person.place_of_birth`` with its underscores.
        """
        if ":" not in id_ and id_[:1].islower():
            return id_
        local = local_part(id_, self._spaces)
        if local[:1].islower() and has_word(local):
            return local.replace("_", " ").strip()
        return self.local_name(id_) or (displayed(id_, self._spaces.items()) if "://" in id_ else id_)

    def is_hidden(self, relation: str) -> bool:
        """Return whether the settings leave a relation out, given its id."""
        return any(fnmatchcase(relation, pattern) for pattern in self._hidden)

    def label_source(self, iri: str) -> str:
        """Return the IRI at which the label of a relation stands."""
        for source, target in self.label_namespaces.items():
            if iri.startswith(source):
                return target + iri[len(source) :]
        return iri

    def _iris(self, names: tuple[str, ...]) -> tuple[str, ...]:
        found = [self.iri(name) or (name if is_iri(name) else None) for name in names]
        if None in found:
            raise DriverError(f"{names[found.index(None)]!r} is neither an IRI nor an id; write the whole IRI")
        return tuple(iri for iri in found if iri is not None)

    def _starts(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Read starts of IRIs, also written as a prefix alone (``wdt:``)."""
        found = []
        for name in names:
            prefix, _, local = name.partition(":")
            start = self._spaces[prefix] + local if prefix in self._spaces and ":" in name else name
            if not is_iri(start):
                raise DriverError(f"{name!r} is not the start of an IRI; write one, or a prefix with its colon")
            found.append(start)
        return tuple(found)


def _decoded(found: re.Match[str]) -> str:
    """Decode those characters of an escaped run that an IRI cannot show; leave the others escaped."""
    plain = bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        letter
        if letter in "%#" or (_ILLEGAL.match(letter) and not _is_surrogate(letter))
        else "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogateescape"))
        for letter in plain
    )


def _is_surrogate(letter: str) -> bool:
    return "\ud800" <= letter <= "\udfff"


@functools.lru_cache(maxsize=KEPT)
def _encoded(name: str, namespace: str) -> str:
    """Write illegal characters of an IRI as %XX, also a % that starts no such sequence, and a second #."""
    whole = _LONE.sub("%25", name)
    start, mark, end = whole.partition("#")
    if mark:
        whole = start + ("%23" if "#" in namespace else mark) + end.replace("#", "%23")
    return _ILLEGAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), whole)
