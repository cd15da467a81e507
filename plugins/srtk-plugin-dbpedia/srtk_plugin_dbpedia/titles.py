"""Titles of Wikipedia pages in IRIs: the spellings of a page, and the words of an id."""

from __future__ import annotations

import re
from urllib.parse import quote

from srtk_plugin_sparql.terms import ILLEGAL, is_iri

from srtk_framework.text import DBPEDIA_PAGES, decoded

RESOURCE = "http://dbpedia.org/resource/"

_UNSAFE = re.compile(rf'[{ILLEGAL}%?#"`^\\]')
_KEPT = "!$&'()*+,-./:;=@_~"
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def page_iri(title: str) -> str:
    """Return the IRI of a title in DBpedia's form: letters of all scripts stay, ``% ? # "`` and the like become %XX."""
    name = title.replace(" ", "_")
    return RESOURCE + _UNSAFE.sub(lambda found: quote(found[0].encode("utf-8", "replace"), safe=""), name)


def named(name: str) -> str:
    """Return the IRI of the page with a name; the first letter of a title is always a capital."""
    plain = " ".join(name.replace("_", " ").split())
    return page_iri(plain[:1].upper() + plain[1:])


def spellings(text: str) -> list[str]:
    """Return the possible IRIs of a text: an IRI, ``dbr:`` and a title, or the address of a page."""
    found = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    whole = RESOURCE + found[4:] if found.startswith("dbr:") else found
    made = [whole]
    for start in DBPEDIA_PAGES:
        title = decoded(whole[len(start) :]) if whole.startswith(start) else ""
        if title:
            escaped = quote(title.replace(" ", "_").encode("utf-8", "replace"), safe=_KEPT)
            made += [RESOURCE + whole[len(start) :], page_iri(title), RESOURCE + escaped]
            break
    return [iri for iri in dict.fromkeys(made) if is_iri(iri)]


def words(id_: str) -> str:
    """Return the words of an id: the title of a page, or the parts of the name of a relation or class."""
    prefix, _, local = id_.partition(":")
    if prefix in ("dbr", "dbc"):
        return decoded(local).replace("_", " ").strip() or id_
    if prefix in ("dbo", "dbp"):
        parts = _HUMP.sub(" ", decoded(local).replace("_", " ")).split()
        return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts) or id_
    return id_
