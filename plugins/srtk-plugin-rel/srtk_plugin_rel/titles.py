"""Wikipedia titles, normalised to the form of their page."""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import unquote

# MediaWiki takes direction marks out of titles, and any of these blanks for an underscore.
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")
_BLANKS = re.compile("[ _\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_URL = re.compile(
    r"^(?:https?:)?//(?P<language>[a-z][a-z-]*)(?:\.m)?\.wikipedia\.org/"
    r"(?:wiki/|w/index\.php\?(?:.*&)?title=)(?P<title>[^?&#]+)",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"^:?(?P<language>[a-z]{2,3}(?:-[a-z]+)*):(?P<title>.+)$", re.DOTALL)


def canonical(title: str) -> str:
    """Write a title as a page does: composed, underscores for blanks, no direction marks."""
    return _BLANKS.sub("_", _MARKS.sub("", unicodedata.normalize("NFC", title))).strip("_")


def capital(title: str) -> str:
    """Write the first letter large, as Wikipedia does; letters without one large letter stay."""
    first = title[:1].upper()
    return first + title[1:] if len(first) == 1 else title


def variants(title: str) -> list[str]:
    """List the titles that a text may mean, the likeliest first.

    Titles with percent signs or HTML entities are also read decoded, and ``#`` begins a section.
    """
    unescaped = html.unescape(title)
    forms = [title, unescaped, unquote(title), unquote(unescaped)]
    forms += [form.partition("#")[0] for form in forms]
    known: dict[str, None] = {}
    for form in forms:
        name = canonical(form)
        if name and ("\ufffd" not in name or "\ufffd" in title):
            known[name] = None
            known[capital(name)] = None
    return list(known)


def edition(title: str, languages: frozenset[str]) -> tuple[str | None, str]:
    """Split a page's address, or a title with a language before it, into language (None for none) and title."""
    found = _URL.match(title)
    if found:
        return found["language"].lower(), unquote(found["title"])
    prefixed = _PREFIXED.match(title)
    if prefixed and prefixed["language"] in languages:
        return prefixed["language"], prefixed["title"]
    return None, title


def shown(title: str) -> str:
    """Write a title as a reader would."""
    return html.unescape(title).replace("_", " ").strip()
