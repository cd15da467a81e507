"""Spellings of ids: one entity or relation as a whole IRI, a prefixed name, or a bare id of Wikidata or Freebase.

Question sets, graphs and results of other programs write the same id in different ways: ``Q42``, ``wd:Q42``,
``<http://www.wikidata.org/entity/Q42>``; ``m.02mjmr``, ``/m/02mjmr``, ``ns:m.02mjmr``; ``dbr:Riga``. They are compared
by the IRI that they stand for (``iri_of``), and a graph chooses its own spelling among ``spellings``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

from srtk_framework.text.local_names import PREFIXES
from srtk_framework.values import Literal

WIKIDATA = "http://www.wikidata.org/entity/"
WIKIDATA_DIRECT = "http://www.wikidata.org/prop/direct/"
FREEBASE = "http://rdf.freebase.com/ns/"
DBPEDIA = "http://dbpedia.org/resource/"
DBPEDIA_ONTOLOGY = "http://dbpedia.org/ontology/"
DBPEDIA_PROPERTY = "http://dbpedia.org/property/"

NAMESPACES: Mapping[str, str] = {
    **PREFIXES,
    "wd": WIKIDATA,
    "wdt": WIKIDATA_DIRECT,
    "dbr": DBPEDIA,
    "dbpedia": DBPEDIA,
    "res": DBPEDIA,
    "dbo": DBPEDIA_ONTOLOGY,
    "dbpedia-owl": DBPEDIA_ONTOLOGY,
    "dbp": DBPEDIA_PROPERTY,
    "dbpprop": DBPEDIA_PROPERTY,
    "dbc": DBPEDIA + "Category:",
    "ns": FREEBASE,
    "fb": FREEBASE,
    "freebase": FREEBASE,
}
"""Namespaces of the prefixes that public question sets write without declaring them."""

DBPEDIA_PAGES = (
    DBPEDIA,
    "https://dbpedia.org/resource/",
    "http://dbpedia.org/page/",
    "https://dbpedia.org/page/",
    "http://en.wikipedia.org/wiki/",
    "https://en.wikipedia.org/wiki/",
)
"""Prefixes of addresses of DBpedia's entities, which end in the title of their page of Wikipedia."""

_ADDRESSES = (
    *((start, DBPEDIA) for start in DBPEDIA_PAGES[1:]),
    ("https://dbpedia.org/ontology/", DBPEDIA_ONTOLOGY),
    ("https://dbpedia.org/property/", DBPEDIA_PROPERTY),
    *(
        (f"{scheme}://{host}wikidata.org/{part}", namespace)
        for scheme in ("http", "https")
        for host in ("www.", "")
        for part, namespace in (
            ("entity/", WIKIDATA),
            ("wiki/Property:", WIKIDATA),
            ("wiki/Lexeme:", WIKIDATA),
            ("wiki/", WIKIDATA),
            ("prop/direct/", WIKIDATA_DIRECT),
        )
    ),
    ("https://rdf.freebase.com/ns/", FREEBASE),
    ("http://www.freebase.com/", FREEBASE),
    ("https://www.freebase.com/", FREEBASE),
    ("www.freebase.com/", FREEBASE),
)
"""Starts of other addresses of the same ids, and the namespaces that they stand for."""

_STARTS = tuple(start for start, _ in _ADDRESSES)

_WHOLE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)\S")
_WIKIDATA_ID = re.compile(r"[QPL][1-9][0-9]*")
_MID = re.compile(r"/?[mg][./][0-9a-z_]+")
_SLASHED = re.compile(r"(?:/[0-9a-z_]+){2,}(?:\.(?:/[0-9a-z_]+){2,})?")
_DOTTED = re.compile(r"[0-9a-z_]+(?:\.[0-9a-z_]+){2,}(?:\.\.[0-9a-z_]+(?:\.[0-9a-z_]+)+)?")
"""Relations of Freebase, and two relations through a mediator: ``/people/person/gender``, ``people.person.gender``."""
_UNSAFE = re.compile(r'[\x00-\x20<>"{}|^`\\%?#]')
_KEPT = "!$&'()*+,-./:;=@_~"


def iri_of(id_: str, prefixes: Mapping[str, str] | None = None, relation: bool = False) -> str | None:
    """Return the IRI that an id stands for, the same for each of its spellings.

    Args:
        id_: Id of an entity or relation, in angle brackets or without.
        prefixes: Namespaces of the graph by prefix, which win over ``NAMESPACES``; an empty prefix is for bare ids.
        relation: Whether it is a relation: a property of Wikidata is then the relation, not the node.

    Returns:
        The IRI; None for a literal, and for a text in no known spelling, such as the name of an entity.
    """
    if isinstance(id_, Literal):
        return None
    return _iri(id_, prefixes, relation) if prefixes else _usual_iri(id_, relation)


def _iri(id_: str, prefixes: Mapping[str, str], relation: bool) -> str | None:
    text = id_[1:-1] if id_.startswith("<") and id_.endswith(">") else id_
    found = _expanded(text, prefixes, relation)
    return None if found is None else _canonical(found, relation)


@lru_cache(maxsize=1 << 16)
def _usual_iri(id_: str, relation: bool) -> str | None:
    """Return the IRI of an id without a graph's prefixes; evaluation asks about the same nodes again and again."""
    return _iri(id_, {}, relation)


def _expanded(text: str, prefixes: Mapping[str, str], relation: bool) -> str | None:
    if _WHOLE.match(text):
        return text
    prefix, colon, local = text.partition(":")
    if colon:
        namespace = prefixes.get(prefix, NAMESPACES.get(prefix)) if prefix else None
        return namespace + local if namespace and local and not local[0].isspace() else None
    if prefixes.get("") and text and not re.search(r"\s", text) and not text.startswith("/"):
        return prefixes[""] + text
    if _WIKIDATA_ID.fullmatch(text):
        return WIKIDATA + text
    # Names such as u.s.a look like relations of Freebase with dots.
    freebase = _MID.fullmatch(text) or _SLASHED.fullmatch(text) or (relation and _DOTTED.fullmatch(text))
    return FREEBASE + text if freebase else None


def _canonical(iri: str, relation: bool) -> str:
    if iri.startswith(_STARTS):
        start, namespace = next((s, n) for s, n in _ADDRESSES if iri.startswith(s))
        iri = namespace + iri[len(start) :] if len(iri) > len(start) else iri
    if iri.startswith(FREEBASE):
        return FREEBASE + iri[len(FREEBASE) :].strip("/").replace("./", "..").replace("/", ".")
    if iri.startswith(DBPEDIA):
        return _page(decoded(iri[len(DBPEDIA) :]))
    if relation and iri.startswith(WIKIDATA + "P"):
        return WIKIDATA_DIRECT + iri[len(WIKIDATA) :]
    return iri


def _page(title: str) -> str:
    """Return DBpedia's IRI of a title: letters of all scripts stay, characters that no IRI has become %XX."""
    name = title.replace(" ", "_")
    return DBPEDIA + _UNSAFE.sub(lambda found: quote(found[0].encode("utf-8", "replace"), safe=""), name)


def decoded(local: str) -> str:
    """Decode %XX; return the text unchanged if the result is not UTF-8."""
    try:
        return unquote_to_bytes(local.encode("utf-8", "surrogatepass")).decode("utf-8")
    except UnicodeDecodeError:
        return local


def spellings(id_: str, prefixes: Mapping[str, str] | None = None, relation: bool = False) -> list[str]:
    """Return the spellings of an id, the given one first; it alone where it is in no known spelling.

    Args:
        id_: Id of an entity or relation.
        prefixes: Namespaces of the graph by prefix.
        relation: Whether it is a relation.
    """
    if isinstance(id_, Literal):
        return [id_]
    own = dict(prefixes or {})
    text = id_[1:-1] if id_.startswith("<") and id_.endswith(">") else id_
    written, iri = _expanded(text, own, relation), iri_of(id_, own, relation)
    if written is None or iri is None:
        return [id_]
    whole = [*_whole(written), *_whole(iri)]
    found = [id_, text, *(short for one in whole for short in _short(one, own)), *whole]
    return list(dict.fromkeys([*found, *(short for one in whole for short in _usual(one))]))


def _whole(iri: str) -> list[str]:
    """Return an IRI, with the other scheme and in the forms of its characters that stand for the same."""
    found = [iri]
    if iri.startswith(DBPEDIA):
        title = decoded(iri[len(DBPEDIA) :])
        escaped = quote(title.replace(" ", "_").encode("utf-8", "replace"), safe=_KEPT)
        found += [_page(title), DBPEDIA + escaped, DBPEDIA + title.replace(" ", "_")]
    if iri.startswith(WIKIDATA_DIRECT):
        found.append(WIKIDATA + iri[len(WIKIDATA_DIRECT) :])
    scheme, mark, rest = iri.partition("://")
    if mark and scheme in ("http", "https"):
        found.append(f"{'https' if scheme == 'http' else 'http'}://{rest}")
    return found


def _short(iri: str, prefixes: Mapping[str, str]) -> list[str]:
    """Shorten an IRI by each namespace that it begins with, the longest first."""
    fitting = [(p, space) for p, space in prefixes.items() if space and iri.startswith(space) and len(iri) > len(space)]
    fitting.sort(key=lambda item: (-len(item[1]), item[0]))
    return [f"{prefix}:{iri[len(space) :]}" if prefix else iri[len(space) :] for prefix, space in fitting]


def _usual(iri: str) -> list[str]:
    """Return the usual short forms of an IRI of Wikidata, Freebase or DBpedia, whatever a graph declares."""
    for namespace, starts in ((WIKIDATA, ("", "wd:")), (WIKIDATA_DIRECT, ("", "wdt:", "wd:"))):
        if iri.startswith(namespace):
            return [start + iri[len(namespace) :] for start in starts]
    if iri.startswith(FREEBASE):
        local = iri[len(FREEBASE) :]
        slashed = "./".join("/" + half.replace(".", "/") for half in local.split("..", 1))
        return [local, slashed, f"ns:{local}", f"fb:{local}"]
    return _short(iri, {prefix: NAMESPACES[prefix] for prefix in ("dbr", "dbo", "dbp", "dbc", *PREFIXES)})


def own_spellings(
    ids: Sequence[str],
    prefixes: Mapping[str, str] | None,
    relations: bool,
    known: Callable[[Sequence[str]], Collection[str]],
) -> list[str]:
    """Return the graph's own spelling of each id; ids that it has, or has in no spelling, stay as they are.

    Args:
        ids: Ids of entities or relations.
        prefixes: Namespaces of the graph by prefix.
        relations: Whether they are relations.
        known: Returns which of some ids the graph has.
    """
    there = known(ids)
    others = {id_: spellings(id_, prefixes, relations)[1:] for id_ in ids if id_ not in there}
    asked = list(dict.fromkeys(one for row in others.values() for one in row))
    found = known(asked) if asked else ()
    return [next((one for one in others.get(id_, ()) if one in found), id_) for id_ in ids]


def shortened(id_: str, prefixes: Mapping[str, str], relation: bool) -> str:
    """Shorten an id in any spelling by the prefixes of a graph; unchanged where none fits."""
    iri = iri_of(id_, prefixes, relation)
    return id_ if iri is None else next(iter(_short(iri, prefixes)), id_)


def by_iri(ids: Iterable[str], relation: bool = False) -> dict[str, str]:
    """Map the IRI of each id to its first spelling; ids in no known spelling are left out."""
    found: dict[str, str] = {}
    for id_ in ids:
        iri = iri_of(id_, None, relation)
        if iri is not None:
            found.setdefault(iri, id_)
    return found
