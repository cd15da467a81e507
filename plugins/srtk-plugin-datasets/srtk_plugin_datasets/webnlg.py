"""WebNLG: sets of triples of DBpedia, each with texts that people wrote of it (Gardent et al. 2017)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import attrs

from srtk_framework.values import InputError, Literal, Triple

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_BRACKETS = re.compile(r"(?<=.)[\s_]+\([^()]*\)$")


@attrs.frozen
class WebnlgEntry:
    """A set of triples and the texts that state it.

    Attributes:
        id: File and number of the entry.
        category: Kind of its subject, such as ``Airport``.
        triples: As modified for the challenge, one name for each relation.
        texts: Each states all triples.
    """

    id: str
    category: str
    triples: tuple[Triple, ...]
    texts: tuple[str, ...]


def webnlg_files(folder: Path, splits: tuple[str, ...]) -> list[Path]:
    """Return the files of splits (``train``, ``dev``, ``test``), sorted; the folder may hold them, or ``en`` does."""
    root = folder / "en" if (folder / "en").is_dir() else folder
    found = [path for split in splits for path in sorted((root / split).rglob("*.xml"))]
    return found or sorted(folder.glob("*.xml"))


def read_webnlg(file: Path) -> Iterator[WebnlgEntry]:
    """Read the entries of a file.

    Raises:
        InputError: If it is no such file.
    """
    try:
        root = ET.parse(file).getroot()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error}); check the path") from error
    except ET.ParseError as error:
        raise InputError(f"{file}: is no XML of WebNLG ({error}); download it again") from error
    # Files of different folders have the same name.
    name = "/".join([*file.parts[-3:-1], file.stem])
    for number, entry in enumerate(root.iter("entry"), 1):
        place = f"{file}: entry {number}"
        triples = [read_triple(one.text or "", place) for one in entry.iterfind("modifiedtripleset/mtriple")]
        texts = [" ".join(one.text.split()) for one in entry.iterfind("lex") if one.text and one.text.strip()]
        yield WebnlgEntry(
            f"{name}#{entry.get('eid', number)}", entry.get("category", ""), tuple(dict.fromkeys(triples)), tuple(texts)
        )


def read_triple(text: str, place: str) -> Triple:
    """Read ``Subject | relation | object``; objects in quotes or with blanks, dates and numbers are literals.

    Raises:
        InputError: If it has not three parts.
    """
    parts = [part.strip() for part in text.split(" | ")]
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{place}: {text!r} is no triple; write subject, relation and object with ` | ` between them")
    subject, relation, value = parts
    subject = _id(subject)
    if value[:1] == '"' or _DATE.fullmatch(value) or _NUMBER.fullmatch(value) or re.search(r"\s", value):
        return Triple(subject, relation, Literal(_typed(value)))
    return Triple(subject, relation, value)


def _id(name: str) -> str:
    # A few subjects have blanks or quotes that the same subject lacks elsewhere.
    return "_".join(name.strip('"').split())


def _typed(value: str) -> str:
    plain = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value.strip('"')
    kind = "date" if _DATE.fullmatch(plain) else "decimal" if _NUMBER.fullmatch(plain) else "string"
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"^^xsd:{kind}'


def names(id_: str) -> list[str]:
    """Return the names of an entity: without brackets at the end, as it stands, and up to a comma."""
    whole = id_.replace("_", " ")
    plain = _BRACKETS.sub("", id_).replace("_", " ")
    short = plain.partition(", ")[0]
    return list(dict.fromkeys(name for name in (plain, whole, short) if name))
