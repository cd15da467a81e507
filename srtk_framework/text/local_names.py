"""Names of RDF: the relations that give them, and the name in the local part of an IRI where none does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_FOAF = "http://xmlns.com/foaf/0.1/"
_SCHEMA = ("http://schema.org/", "https://schema.org/")
_DCTERMS = "http://purl.org/dc/terms/"
_DC = "http://purl.org/dc/elements/1.1/"
_GEONAMES = "http://www.geonames.org/ontology#"
_VCARD = "http://www.w3.org/2006/vcard/ns#"
_VCARD_2001 = "http://www.w3.org/2001/vcard-rdf/3.0#"
_DOAP = "http://usefulinc.com/ns/doap#"

LABEL_RELATIONS = (
    _RDFS + "label",
    _SKOS + "prefLabel",
    _SKOSXL + "prefLabel",
    _FOAF + "name",
    *(schema + "name" for schema in _SCHEMA),
    _DCTERMS + "title",
    _DC + "title",
    _GEONAMES + "name",
    _VCARD + "fn",
    _VCARD_2001 + "FN",
    _DOAP + "name",
)
"""Relations whose objects name their subject, best first."""

ALIAS_RELATIONS = (
    _SKOS + "altLabel",
    _SKOS + "hiddenLabel",
    _SKOSXL + "altLabel",
    _SKOSXL + "hiddenLabel",
    _FOAF + "nick",
    *(schema + "alternateName" for schema in _SCHEMA),
    _DCTERMS + "alternative",
    _GEONAMES + "alternateName",
    _GEONAMES + "officialName",
    _GEONAMES + "shortName",
    _VCARD + "nickname",
    _DOAP + "shortname",
)
"""Relations whose objects are further names of their subject."""

LITERAL_FORM = _SKOSXL + "literalForm"
"""Relation from a label of SKOS-XL, which is a node of its own, to its text."""

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": _RDFS,
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": _SKOS,
    "skosxl": _SKOSXL,
    "foaf": _FOAF,
    "schema": _SCHEMA[0],
    "schemas": _SCHEMA[1],
    "dcterms": _DCTERMS,
    "dc": _DC,
    "geonames": _GEONAMES,
    "vcard": _VCARD,
    "doap": _DOAP,
    "prov": "http://www.w3.org/ns/prov#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "yago": "http://yago-knowledge.org/resource/",
}
"""Namespaces that a reader knows by their prefix: for display, and for prefixed ids of question sets."""

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//)?")
# Names in these namespaces may hold slashes, such as AC/DC.
_PAGES = re.compile(r"https?://[a-z.-]*(?:dbpedia\.org/resource|yago-knowledge\.org/resource|wikipedia\.org/wiki)/")
_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΫА-Я"
_LOWER = "a-zß-öø-ÿά-ώа-я"
# Two letters before a capital, so that iPhone stays whole; the last capital of HTMLParser begins a word.
_CAMEL = re.compile(
    rf"(?<=[{_UPPER}{_LOWER}][{_LOWER}])(?<!\bMc)(?<!\bPh)(?=[{_UPPER}])"
    rf"|(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}])"
    rf"|(?<=[0-9])(?=[{_UPPER}][{_LOWER}])"
)
_GAPS = re.compile(r"[\s_]+")
_LOWER_START = re.compile(rf"[{_LOWER}]")
# GO_0008150, CHEBI:15377, Q42, P31, ENSG00000139618: a short code and its number.
_CODE = re.compile(r"[A-Z]{1,8}[_:.-]?[0-9]{3,}|[A-Za-z]{1,2}[_:.-]?[0-9]+|ark:.*", re.DOTALL)
_HEX = re.compile(r"(?=.*[0-9])[0-9A-Fa-f_-]{6,}", re.DOTALL)
_UUID = re.compile(r"(?:[QPL][0-9]+[-$])?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_MID = re.compile(r"[mg]\.[01][0-9a-z_]+")
_TOKEN = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_]{3,}[^\W_]*|[0-9]*[^\x00-\x7f\W\d_]+[0-9]*")
# A word of three letters that no code and no hexadecimal number has: most local parts need no closer look.
_PLAIN_WORD = re.compile(r"(?<![^\W_])(?=[A-Za-z]*[g-z])[A-Za-z]{3,}(?![^\W_])")
# Most IRIs of large graphs are as simple; one look at them is a third of the time of all the steps.
_SIMPLE = re.compile(r"https?://[^?=%]*[/#]((?=[a-z0-9_]*[g-z])[a-z]{3,}(?:_[a-z0-9]+)*)")
_LONGEST = 2000


def local_part(id_: str, prefixes: Iterable[str] = ()) -> str:
    """Return the decoded local part of an IRI or of an id with one of the graph's prefixes.

    It follows the last ``#`` or ``/`` of an IRI, the last colon of a URN, and the colon of a prefix. It is empty where
    the id is neither, as for blank nodes, and where the IRI is only a host or has a query.
    """
    prefix, colon, rest = id_.partition(":")
    if not colon or len(id_) > _LONGEST:
        return ""
    if prefix in prefixes and not rest.startswith("//"):
        return unquote(rest)
    scheme = _IRI.match(id_)
    if scheme is None or prefix == "_":
        return ""
    if not scheme[1]:
        # Without the graph's word for it, a prefix cannot be told from a scheme; URNs and a few schemes are known.
        return unquote(rest.rpartition(":")[2].rpartition("/")[2]) if prefix.lower() in ("urn", "tag", "info") else ""
    page = _PAGES.match(id_) if "/resource/" in id_ or "/wiki/" in id_ else None
    if page is not None:
        return unquote(id_[page.end() :])
    path = id_[scheme.end() :].rstrip("/#")
    cut = max(path.rfind("/"), path.rfind("#"))
    local = path[cut + 1 :]
    return "" if cut < 0 or "?" in local or "=" in local else unquote(local)


def local_name(id_: str, prefixes: Iterable[str] = ()) -> str:
    """Return the name in the local part of an IRI or prefixed id; empty where it holds no word.

    The part is split at underscores, hyphens and camel case: ``ChairLeg`` is "Chair Leg", ``BBC_HD`` is "BBC HD".
    Digits, hexadecimal numbers, UUIDs and codes such as ``Q42``, ``m.02mj`` or ``GO_0008150`` are no names.

    Args:
        id_: The id.
        prefixes: Prefixes of the graph's ids.
    """
    simple = _SIMPLE.fullmatch(id_) if len(id_) <= _LONGEST else None
    if simple and "/resource/" not in id_ and "/wiki/" not in id_:
        return simple[1].replace("_", " ")
    local = local_part(id_, prefixes)
    return spaced(local) if has_word(local) else ""


def has_word(local: str) -> bool:
    """Return whether a local part holds a word, rather than digits or a code."""
    if local.startswith(("m.", "g.")) and _MID.fullmatch(local):
        return False
    if _PLAIN_WORD.search(local) and not local.startswith("ark:"):
        return True
    if not local or _CODE.fullmatch(local) or _HEX.fullmatch(local) or _UUID.fullmatch(local):
        return False
    return any(_WORD.fullmatch(token) for token in _TOKEN.findall(local))


def spaced(local: str) -> str:
    """Split a local part into words with blanks between them."""
    words = _GAPS.sub(" ", local).strip()
    if " " not in words:
        # Without any gap, hyphens and capitals are what separates words.
        return " ".join(_parted(words.replace("-", " ")).split())
    if words.islower():
        return words
    # With gaps, a word such as MySpace is whole, while hasPart is still a name of two words.
    return " ".join([_parted(word) if _LOWER_START.match(word) else word for word in words.split(" ")])


def _parted(words: str) -> str:
    """Split words at capitals; only a capital after the first character parts a word."""
    return words if words[1:].islower() else _CAMEL.sub(" ", words)


def displayed(iri: str, prefixes: Iterable[tuple[str, str]]) -> str:
    """Return an IRI in its shortest form by (prefix, namespace) pairs, else by well-known prefixes, else itself."""
    for pairs in (prefixes, PREFIXES.items()):
        fitting = [(namespace, prefix) for prefix, namespace in pairs if namespace and iri.startswith(namespace)]
        for namespace, prefix in sorted(fitting, key=lambda pair: (-len(pair[0]), pair[1])):
            if len(iri) > len(namespace):
                return f"{prefix}:{iri[len(namespace) :]}"
    return iri
