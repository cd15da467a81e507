"""The corpus ``annotated``: texts whose mentions of entities are marked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from srtk_framework.records import content_hash, read_jsonl
from srtk_framework.roles import Corpus, absent
from srtk_framework.values import EntityMention, Entry, InputError, one_of

_WIKIDATA = "http://www.wikidata.org/entity/"


@attrs.define(eq=False)
class AnnotatedCorpus(Corpus):
    """Read texts with marked entities.

    Attributes:
        path: A file, or a folder whose files are read in order of their names.
        format: ``jsonl``: lines ``{"id": ..., "text": ..., "mentions": [[start, end, entity], ...]}``, with
            offsets in characters and no overlaps; the id may be missing, and other fields are passed over. `srtk
            datasets graph webnlg --texts` writes such a file. ``t-rex``: the JSON files of T-REx (Elsahar et al. 2018);
            of mentions that overlap the longest counts, ids of Wikidata lose their prefix, and dates and numbers, which
            are no entities, are left out.
    """

    path: str
    format: Literal["jsonl", "t-rex"] = attrs.field(default="jsonl", validator=one_of(("jsonl", "t-rex")))
    _content: str = attrs.field(init=False, default="", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the path exists."""
        return absent("path", self.path, "name a file or folder of annotated texts")

    def open(self) -> None:
        """Find the files and hash them, so that the fingerprint changes with them."""
        self._content = content_hash(self._files())

    def read(self) -> Iterator[Entry]:
        """Yield the texts, file by file."""
        for name, path in self._files():
            if self.format == "jsonl":
                for number, row in read_jsonl(path):
                    yield _of_row(row, f"{name}#{number}", f"{path}:{number}")
            else:
                yield from _of_trex(name, path)

    def fingerprint(self) -> str:
        """Identify the texts by their content and names."""
        if not self._content:
            self.open()
        return f"corpus:annotated({self.format}) of {self._content}"

    def _files(self) -> Sequence[tuple[str, Path]]:
        """Return the files, each with its name in ids."""
        root = Path(self.path).expanduser()
        if root.is_file():
            return [(root.name, root)]
        ending = ".jsonl" if self.format == "jsonl" else ".json"
        found = sorted((path.relative_to(root).as_posix(), path) for path in root.rglob(f"*{ending}"))
        if not found:
            raise InputError(f"{self.path}: there is no file here that ends in {ending}; name another, or set `format`")
        return found


def _of_row(row: dict[str, Any], id_: str, place: str) -> Entry:
    id_, text, mentions = row.get("id", id_), row.get("text"), row.get("mentions", [])
    if not isinstance(id_, str) or not id_:
        raise InputError(f"{place}: `id` must be a text that is not empty, not {id_!r}")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}: `text` must be a text that is not blank")
    if not isinstance(mentions, list):
        raise InputError(f"{place}: `mentions` must be a list of [start, end, entity]")
    found = sorted((_mention(one, text, place) for one in mentions), key=lambda one: (one.start, one.end))
    for one, other in itertools.pairwise(found):
        if other.start < one.end:
            raise InputError(f"{place}: the mentions {list(one)} and {list(other)} overlap; keep one of them")
    return Entry(id_, text, mentions=tuple(found))


def _mention(given: Any, text: str, place: str) -> EntityMention:
    match given:
        case [int(start), int(end), str(entity)] if 0 <= start < end <= len(text) and entity:
            return EntityMention(start, end, entity)
    raise InputError(
        f"{place}: {given!r} is no mention; write [start, end, entity] with offsets within the {len(text)} characters"
    )


def _of_trex(name: str, path: Path) -> Iterator[Entry]:
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is no JSON file of T-REx ({error})") from error
    if not isinstance(documents, list):
        raise InputError(f"{path}: a file of T-REx is a list of documents")
    for number, document in enumerate(documents, 1):
        place = f"{path}: document {number}"
        if not isinstance(document, dict) or not isinstance(text := document.get("text"), str):
            raise InputError(f"{place}: a document has a `text`")
        if not text.strip():
            continue
        try:
            spans = [
                (start, end, entity)
                for one in document.get("entities", [])
                for start, end in [one["boundaries"]]
                if (entity := _entity(one["uri"]))
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{place}: an entity has `uri` and `boundaries` ({error!r})") from error
        kept: list[EntityMention] = []
        for start, end, entity in sorted(spans, key=lambda one: (one[0] - one[1], one)):
            mention = _mention([start, end, entity], text, place)
            if all(end <= other.start or other.end <= start for other in kept):
                kept.append(mention)
        yield Entry(f"{name}#{number}", text, mentions=tuple(sorted(kept)))


def _entity(uri: str) -> str:
    """Return the id of an entity; empty for a date or a number, which T-REx writes as a typed literal."""
    return "" if "^^" in uri else uri.removeprefix(_WIKIDATA)
