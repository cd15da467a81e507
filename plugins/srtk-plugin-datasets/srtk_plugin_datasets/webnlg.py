"""WebNLG: sets of triples of DBpedia, each with texts that people wrote of it (Gardent et al. 2017).

The ``webnlg`` dataset asks for triples between entities that are hidden by a hash, and that the texts state.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import xml.parsers.expat as expat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from srtk_framework.values import EntityMention, InputError, Literal, Question, Triple, best_first, between, one_of
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.hidden_facts import Ends, hidden_facts, questions_of
from srtk_plugin_datasets.question_sets import SampledSet

HIDDEN = 0.3  # Share of the triples between entities that is hidden, if nothing else is given.

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_BRACKETS = re.compile(r"(?<=.)[\s_]+\([^()]*\)$")  # What DBpedia adds to ambiguous titles, such as (film).


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


@attrs.define
class WebNLG(SampledSet):
    """Patterns of triples of WebNLG that are hidden: those between entities with the lowest hashes.

    `srtk datasets graph webnlg` writes the graph without the triples that the same splits, share and seed hide, or
    their list. The gold answers of a pattern are all its hidden answers, without those in the graph.

    Attributes:
        path: Folder with `en`, or with a folder of each split; by default the folder of the set under `SRTK_DATA` or
            `data`.
        splits: `train`, `dev`, `test`, as far as they are there.
        hidden: Share of the triples between entities that is hidden.
        seed: Seed of the hashes, and of the sample that a limit takes.
        ends: The ends of triples that become open.
    """

    path: str | None = None
    splits: Sequence[str] = ("train", "dev")
    hidden: float = attrs.field(default=HIDDEN, validator=between(above=0, most=1))
    seed: int = 0
    ends: Ends = attrs.field(default="both", validator=one_of(("object", "subject", "both")))

    def read(self) -> Iterable[Question]:
        """Yield the patterns, sorted by their first triple."""
        folder = Path(located(self.path, "webnlg"))
        hidden = hidden_facts(webnlg_facts(folder, self.splits), self.hidden, self.seed)
        return self._sampled(questions_of(hidden, self.ends))


def webnlg_facts(folder: Path, splits: Sequence[str]) -> list[Triple]:
    """Return the distinct triples between entities of splits, sorted.

    Raises:
        InputError: If there is no file of these splits, or a file has a broken triple.
    """
    files = webnlg_files(folder, tuple(splits))
    if not files:
        raise InputError(
            f"{folder}: no XML of the splits {', '.join(splits)} here; name the folder of WebNLG as `path`"
        )
    triples = {triple for file in files for entry in read_webnlg(file) for triple in entry.triples}
    return sorted(triple for triple in triples if not isinstance(triple.object, Literal))


def webnlg_files(folder: Path, splits: tuple[str, ...]) -> list[Path]:
    """Return the files of splits (``train``, ``dev``, ``test``), sorted; the folder may hold them, or ``en`` does."""
    root = folder / "en" if (folder / "en").is_dir() else folder
    found = [path for split in splits for path in sorted((root / split).rglob("*.xml"))]
    return found or sorted(folder.glob("*.xml"))


def read_webnlg(file: Path) -> Iterator[WebnlgEntry]:
    """Read the entries of a file.

    Raises:
        InputError: If it is no such file; with the entry, for a broken triple.
    """
    root, lines = _parsed(file)
    # Files of different folders have the same name.
    name = "/".join([*file.parts[-3:-1], file.stem])
    for number, entry in enumerate(root.iter("entry"), 1):
        rows = entry.iterfind("modifiedtripleset/mtriple")
        triples = [read_triple(one.text or "", f"{file}:{lines[one]}") for one in rows]
        texts = [" ".join(one.text.split()) for one in entry.iterfind("lex") if one.text and one.text.strip()]
        yield WebnlgEntry(
            f"{name}#{entry.get('eid', number)}", entry.get("category", ""), tuple(dict.fromkeys(triples)), tuple(texts)
        )


def _parsed(file: Path) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Parse a file; return its root, and the line of each element, which ElementTree alone does not keep."""
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()
    lines: dict[ET.Element, int] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(file.read_bytes(), True)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error}); check the path") from error
    except expat.ExpatError as error:
        raise InputError(f"{file}: is no XML of WebNLG ({error}); download it again") from error
    return builder.close(), lines


def read_triple(text: str, place: str) -> Triple:
    """Read ``Subject | relation | object``; objects in quotes or with blanks, dates and numbers are literals.

    Raises:
        InputError: If it has not three parts.
    """
    parts = [part.strip() for part in text.split(" | ")]
    if len(parts) != 3 or not all(part.strip('" ') for part in parts):
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


def mentions(text: str, triples: Iterable[Triple]) -> list[EntityMention]:
    """Find the names of entities of triples in a text that states them: whole words, longer names first.

    A name that two entities share is left out. Mentions are in order and do not overlap.
    """
    ends = sorted({end for triple in triples for end in triple[::2] if not isinstance(end, Literal)})
    owners: dict[str, list[str]] = {}
    for id_ in ends:
        for name in names(id_):
            owners.setdefault(name, []).append(id_)
    found: list[EntityMention] = []
    for name in best_first(owners, len):
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            whole = not (text[start - 1 : start] or " ").isalnum() and not (text[end : end + 1] or " ").isalnum()
            if whole and all(end <= one.start or one.end <= start for one in found):
                found.append(EntityMention(start, end, owners[name][0] if len(owners[name]) == 1 else ""))
            start = text.find(name, end)
    return sorted(one for one in found if one.entity)
