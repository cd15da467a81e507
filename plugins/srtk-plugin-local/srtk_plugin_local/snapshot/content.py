"""The format that the first bytes of a file show, whatever its name."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.formats import FORMATS

# Bytes that are looked at, after decompression.
HEAD = 1 << 16

# Patterns of the first bytes of compressed files, and the names of their compression.
COMPRESSED = ((rb"\x1f\x8b", "gzip"), (rb"BZh[1-9]1AY&SY", "bz2"), (rb"\x28\xb5\x2f\xfd", "zstd"))

_BINARY = ((b"PAR1", "parquet"), (b"SQLite format 3\x00", "sqlite"))
_FOREIGN = (
    (b"\xfd7zXZ\x00", "is compressed by xz, which is not read; unpack it with `xz -d`"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it, and give the files inside"),
    (b"ARROW1\x00\x00", "is an Arrow (Feather) file, which is not read; write it as Parquet"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel file (.xls), which is not read; save it as .xlsx or CSV"),
    (b"%PDF-", "is a PDF, which holds no table or graph that can be read; give the data behind it"),
    (b"$HDT", "is a file of HDT, which is not read; write it as N-Triples with hdt2rdf"),
    (b"version https://git-lfs", "is a pointer of Git LFS, not the data; fetch the data with `git lfs pull`"),
)
_AS_GRAPHML = "which is not read; write it as GraphML, as with networkx"
_AS_SQLITE = "which is not read; load it into SQLite, and give that"
_AS_APOC = "which is not read; run it, and give the graph as `apoc.export.json.all` writes it"
_AS_JSON = "which is not read; write it as JSON: a list of objects"
_FOREIGN_TEXT = (
    (r"BEGIN:VCARD", "is a vCard, which is not read; export the contacts as CSV"),
    (r"BEGIN:VCALENDAR", "is a calendar (iCalendar), which is not read; write its events as CSV"),
    (r"@[A-Za-z]+\s*\{(?:[^}]*$|.*=)", "is BibTeX, which is not read; export the references as CSV or CSL JSON"),
    (r"0 HEAD$", "is GEDCOM, which is not read; export the persons as CSV, as with Gramps"),
    (r"TY  - ", "is RIS, which is not read; export the references as CSV or CSL JSON"),
    (r"(?:strict\s+)?(?:di)?graph\b[^\[,;\t]*\{", f"is a graph of Graphviz (DOT), {_AS_GRAPHML}"),
    (r"graph\s*\[\s*(?:$|\w+\s)", f"is GML, {_AS_GRAPHML}"),
    (r"\*(?:Vertices|Network)\b", f"is a network of Pajek, {_AS_GRAPHML}"),
    (r"(?:CREATE TABLE|INSERT INTO)\s[^,;\t]*(?:\(|$)|PRAGMA\s.*;$", f"is a dump of SQL, {_AS_SQLITE}"),
    (r"-\s+[\w ]+:\s", f"is YAML, {_AS_JSON}"),
    (r"(?:CREATE|MERGE|UNWIND)\s[^,;\t]*[(\[]|:begin$", f"is a script of Cypher, {_AS_APOC}"),
    (
        r"Prefix\s*\(\s*[\w.-]*:\s*=|Ontology\s*\(\s*(?:<|$)",
        "is OWL in functional syntax, which is not read; save it as RDF/XML or Turtle",
    ),
    (
        r"(?:Prefix:\s+[\w.-]*:|Ontology:)\s*<",
        "is OWL in Manchester syntax, which is not read; save it as RDF/XML or Turtle",
    ),
    (r"format-version:\s", "is an OBO file, which is not read; convert it to RDF/XML, as with `robot convert`"),
)
# What the content alone does not tell.
_FOREIGN_ENDINGS = {
    **dict.fromkeys((".yaml", ".yml"), f"is YAML, {_AS_JSON}"),
    **dict.fromkeys((".cypher", ".cql"), f"is a script of Cypher, {_AS_APOC}"),
    ".toml": f"is TOML, {_AS_JSON}",
    ".sql": f"is a dump of SQL, {_AS_SQLITE}",
    ".ods": "is an OpenDocument spreadsheet, which is not read; save it as .xlsx or CSV",
    ".numbers": "is a spreadsheet of Apple, which is not read; export it as .xlsx or CSV",
    **dict.fromkeys((".gml", ".net", ".dot", ".gv"), f"is a graph, {_AS_GRAPHML}"),
}
_FOREIGN_ROOTS = {
    "html": "is a web page, not data; download the file that the page shows, or give its tables as CSV, as with"
    " pandas.read_html",
    "ontology": "is OWL/XML, which is not read; save it as RDF/XML or Turtle",
    "trix": "is TriX, which is not read; write it as N-Quads",
    "sparql": "is a result of SPARQL in XML, which is not read; ask the server for CSV, or for triples by CONSTRUCT",
}
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_RDF_NAMESPACE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_NO_ELEMENT = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!ENTITY\s[^\"']*(?:\"[^\"]*\"|'[^']*')[^>]*>", re.DOTALL)
_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_OF_WIKIDATA = (
    re.compile(r'"type"\s*:\s*"(?:item|property|lexeme)"'),
    re.compile(r'"(?:labels|lemmas)"\s*:\s*\{\s*"[a-z-]+"\s*:\s*\{\s*"language"'),
)
_JSON_LD = re.compile(r'"@(?:context|id|graph|type|value)"\s*:')
_DIRECTIVE = re.compile(
    r"@(?:prefix|base|version)\s|PREFIX\s+[^\s<>:]*:\s*<|BASE\s*<|VERSION\s+[\"']1\.2", re.IGNORECASE
)
_IRI, _BLANK = r"<[^\x00-\x20<>\"{}|^`]*:[^\x00-\x20<>\"{}|^`]*>", r"_:[^\s<>\"]+"
_TEXT = r'"(?:[^"\\]|\\.)*"(?:\s*@[A-Za-z0-9-]+|\s*\^\^\s*<[^<>\s]*>)?'
_LINE = re.compile(
    rf"(?:{_IRI}|{_BLANK})\s*{_IRI}\s*(?:{_IRI}|{_BLANK}|{_TEXT}|<<.*>>)\s*({_IRI}|{_BLANK})?\s*\.\s*(?:#.*)?"
)
_STATEMENT = re.compile(rf"{_IRI}\s+(?:{_IRI}|a\s|[A-Za-z][\w.-]*:)")
_QUOTED = re.compile(
    r'''("""|\'\'\')(?:\\.|(?!\1).)*(?:\1|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^<>\s]*>|#[^\n]*''', re.DOTALL
)
_LINES = 20


def compression_of(head: bytes) -> str | None:
    """Return the compression that the first bytes of a file show."""
    return next((kind for magic, kind in COMPRESSED if re.match(magic, head)), None)


def format_of(head: bytes, name: str) -> str | None:
    """Return the format that the first decompressed bytes show; None for a table, or an unknown format.

    Raises:
        InputError: If they show a format that is not read, with advice.
    """
    for magic, kind in _BINARY:
        if head.startswith(magic):
            return kind
    for magic, sentence in _FOREIGN:
        if head.startswith(magic):
            raise InputError(f"{name}: {sentence}")
    if head[257:262] == b"ustar":
        raise InputError(f"{name}: is a tar archive; unpack it, and give the files inside")
    if head.startswith(b"PK\x03\x04"):
        # The names of the members stand before their content.
        if b"word/" in head or b"ppt/" in head:
            raise InputError(f"{name}: is a document of Office, which holds no table that is read; write it as CSV")
        if b"xl/" in head or b"[Content_Types].xml" in head:
            return "xlsx"
        _refuse_ending(name)
        raise InputError(f"{name}: is a ZIP archive; unpack it, and give the files inside")
    return _text_format(text_of(head), name)


def begins_with_triple(head: bytes) -> bool:
    """Return whether the first line of a text is one of N-Triples or N-Quads."""
    lines = [line.strip() for line in _lines(text_of(head)) if line.strip() and not line.startswith("#")]
    return bool(lines) and _lines_of_triples(lines[:1]) is not None


def _lines(text: str) -> list[str]:
    """Split a text at its line ends alone, since literals may hold further marks that ``splitlines`` splits at."""
    return re.split(r"\r\n|\n|\r", text)


def is_text(head: bytes) -> bool:
    """Return whether bytes are text: a byte of zero occurs in none, UTF-16 apart."""
    return any(head.startswith(mark) for mark, _ in _MARKS) or b"\x00" not in head


def text_of(head: bytes) -> str:
    """Decode the first bytes of a text by its byte-order mark; other bytes than ASCII do not matter here."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace")
    return head.decode("latin-1")


# Text of Western Europe in Windows-1252: letters with accents, alone or in pairs among those of ASCII, and some signs.
_LETTER = "[äöüßéèêëàâáãåæçíìîïñóòôõøœúùûÄÖÜÉÈÊËÀÂÁÃÅÆÇÍÌÎÏÑÓÒÔÕØŒÚÙÛ]"
_WESTERN = re.compile(rf"(?:[\x00-\x7f]|{_LETTER}{{1,2}}(?!{_LETTER})|[€‚„“”‘’–—…§°·²½£«»®©\u00a0µ])*+")
# Signs where there are none in words, such as those that stand for the letters of other encodings.
_MISPLACED = re.compile(r"[A-Za-z](?:[„‚§£©µ€]|[“”«»…°½²®·][A-Za-z])")


def western_example(head: bytes) -> str:
    """Return a word of the text if it is in Windows-1252; empty for UTF-8, and for what may be another encoding."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return ""
    except UnicodeDecodeError as error:
        start = error.start
    text = head.decode("cp1252", "replace")
    in_utf8 = re.search(rb"[\xc2-\xf4][\x80-\xbf]", head)  # in a part of the text
    if in_utf8 or _MISPLACED.search(text) or not _WESTERN.fullmatch(text):
        return ""
    return next(word[0] for word in re.finditer(r"[^\s,;\"]+", text) if word.end() > start)


def _text_format(text: str, name: str) -> str | None:
    text = text.lstrip()
    if re.match(r"\{|\[\s*(?:\{|\Z)", text) or (text.startswith("[") and _JSON_LD.search(text)):
        if all(key.search(text) for key in _OF_WIKIDATA):
            raise InputError(f"{name}: is JSON of Wikidata; give --from wikidata-json")
        return "jsonld" if _JSON_LD.search(text) else "json"
    if text.startswith("<") and (root := _xml_root(text, name)) is not None:
        return root
    lines = [line for line in (line.strip() for line in _lines(text)) if line and not line.startswith("#")]
    if not lines:
        return None
    if (found := _lines_of_triples(lines)) is not None:
        return found
    if _DIRECTIVE.match(lines[0]) or (_STATEMENT.match(lines[0]) and not _is_row(lines[0])):
        return "trig" if _has_graphs(text) else "turtle"
    for start, sentence in _FOREIGN_TEXT:
        if re.match(start, lines[0]):
            raise InputError(f"{name}: {sentence}")
    _refuse_ending(name)
    return None


def _refuse_ending(name: str) -> None:
    """Refuse a file whose name has the ending of a format that is not read."""
    if (sentence := _FOREIGN_ENDINGS.get(PurePath(name).suffix.lower())) is not None:
        raise InputError(f"{name}: {sentence}")


def _xml_root(text: str, name: str) -> str | None:
    """Return the format of an XML document by its root element; None if the text is no XML, or of another kind."""
    bare = _NO_ELEMENT.sub("", text)
    if not re.match(r"\s*<(?:!DOCTYPE\b|[A-Za-z_][\w.:-]*[\s/>])", bare, re.IGNORECASE):
        return None
    if re.match(r"\s*<!DOCTYPE\s+html\b", bare, re.IGNORECASE):
        raise InputError(f"{name}: {_FOREIGN_ROOTS['html']}")
    found = _ROOT.search(re.sub(r"<!DOCTYPE[^\[>]*", "", bare))
    if found is None or re.match(r"\s*<[A-Za-z][\w+.-]*:[^\s>]*/", bare):  # an IRI, as of Turtle
        return None
    root = found[1].lower()
    if root in _FOREIGN_ROOTS:
        raise InputError(f"{name}: {_FOREIGN_ROOTS[root]}")
    known = next((kind for kind, form in FORMATS.items() if form.root == root), None)
    if known is None and _RDF_NAMESPACE not in text and "</" in text and PurePath(name).suffix.lower() == ".xml":
        raise InputError(f"{name}: is XML without RDF, which is not read; write it as CSV, as with pandas.read_xml")
    return known or ("rdfxml" if _RDF_NAMESPACE in text else None)


def _lines_of_triples(lines: list[str]) -> str | None:
    """Recognise N-Triples and N-Quads; a broken line among good lines does not matter."""
    looked = [line for line in lines[: _LINES + 1] if not line.startswith("VERSION")]
    looked = looked[:-1] or looked  # the last one may be cut off
    found = [match for match in map(_LINE.fullmatch, looked) if match]
    if 2 * len(found) <= len(looked):
        return None
    return "nquads" if any(match[1] for match in found) else "ntriples"


def _is_row(line: str) -> bool:
    """Return whether a line that begins with two IRIs is a row of a table."""
    return "\t" in line or ">," in line


def _has_graphs(text: str) -> bool:
    """Return whether Turtle has graphs in braces; annotations, which have bars too, are none."""
    return re.search(r"\{(?!\|)", _QUOTED.sub("", text)) is not None
