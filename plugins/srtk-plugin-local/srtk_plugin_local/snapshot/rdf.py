"""RDF files as a stream of triples in pyarrow tables, parsed by pyoxigraph."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError, Literal
from srtk_plugin_local.snapshot.formats import FORMATS
from srtk_plugin_local.snapshot.input_files import Input, blocks
from srtk_plugin_local.snapshot.input_report import DIRECTIONS, EMPTY_FILES, FileReport, Meter, counted
from srtk_plugin_local.snapshot.jsonld_keys import GROWTH, note_lost_keys, with_schema_org
from srtk_plugin_local.snapshot.limits import LONG_LITERAL, LONG_LITERALS, MAX_DEPTH, MAX_LITERAL, ROWS, amount
from srtk_plugin_local.snapshot.rdf_text import LONG_MARK, EndlessError, Utf8Input, base_of
from srtk_plugin_local.snapshot.xml_entities import check_entities

if TYPE_CHECKING:
    import pyarrow as pa

_HELD = 64 << 20
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*+"')
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_ANONYMOUS = re.compile(r"[0-9a-f]{20,32}")
_DOTS = r"^[A-Za-z][^?#\"\s]*/\.\.?(?:[/?#]|$)"
_WHERE = re.compile(r"^Parser error (?:at line|between) .*?: ")


def read_rdf(
    name: str, kind: str, report: FileReport, meter: Meter, base: str = "", memory: str = "1GB"
) -> Iterator[pa.Table]:
    """Yield tables with the columns ``c0``, ``c1``, ``c2`` (texts) and ``literal`` (whether the object is a literal).

    IRIs are unshortened, literals have the form of ``Literal``, and blank nodes start with ``_:``. A blank node of
    N-Triples keeps its label, since dumps in several parts share labels; in other formats its id includes a hash of
    the file. A triple that is a term becomes a node with ``rdf:subject``, ``rdf:predicate`` and ``rdf:object``.

    Args:
        name: Path of the file.
        kind: Its format.
        report: Counts skipped lines, and notes how relative IRIs were read.
        meter: Receives the bytes read.
        base: Base of relative IRIs, by default made of the name of the file. A base in the file goes before it.
        memory: Amount of memory for a format that is parsed as a whole.

    Raises:
        InputError: With file and line, if the file is not valid, or beyond the limits.
    """
    relative = of_file = ""
    may_be_relative = not FORMATS[kind].by_line
    default = base_of(name)
    with _opened(name, kind, report, memory) as source:
        for table in _all_tables(source, kind, base or default, report):
            table = _without_long(table, report)
            report.rows += table.num_rows
            if may_be_relative and not base and not relative:
                relative = _first_of(table, default)
                of_file = of_file or _first_of(table, "file:")
            if source.has_dots or (may_be_relative and "/." in base):
                _note_dots(table, report)
            yield table
            meter(source.done)
        size = source.size
        if of_file and not source.names_files:
            relative = relative or of_file
    if of_file and not relative:
        report.note(
            f"{of_file} was written so, or is relative and was resolved against {default}; give another base with "
            "--base"
        )
    _note_reading(report, default, relative)
    meter(size)


@contextmanager
def _opened(name: str, kind: str, report: FileReport, memory: str = "1GB") -> Iterator[Utf8Input]:
    """Open a file of RDF for ``_parse``: its entities are checked, and keys that JSON-LD loses are counted.

    Raises:
        InputError: If it cannot be read, its entities grow without bound, or it nests too deep.
    """
    is_xml = bool(FORMATS[kind].root)
    with Utf8Input(name, xml=is_xml, dots=not FORMATS[kind].by_line) as source:
        if is_xml and not source.empty:
            with Utf8Input(name, xml=True) as again:
                check_entities(again, name, depth=True)
        if kind == "jsonld" and not source.empty:
            source.put(with_schema_org(source.whole(amount(memory), GROWTH), report))
            note_lost_keys(source.whole(amount(memory), GROWTH), report)
        if source.encoding not in ("utf-8", "ascii"):
            report.note(f"was read as {source.encoding}")
        yield source


def _first_of(table: pa.Table, start: str) -> str:
    """Return the first IRI of a table that starts so; empty without any."""
    import pyarrow.compute as pc

    for column in table.columns[:3]:
        if found := column.filter(pc.starts_with(column, start)).slice(0, 1).to_pylist():
            return str(found[0])
    return ""


def _note_reading(report: FileReport, base: str, relative: str) -> None:
    """Note how a whole file was read.

    Args:
        report: Takes the notes; its number of rows is known.
        base: Base of the relative IRIs, unless it was given.
        relative: What a relative IRI became; empty without any.

    Raises:
        InputError: If all lines were skipped.
    """
    if relative:
        report.note(f"relative IRIs were resolved against {base}, such as {relative}; give another base with --base")
    if not report.rows:
        report.check()
        report.skip(EMPTY_FILES, 1, "there is no triple; leave the file out")
        report.note("has no triple")


def _note_dots(table: pa.Table, report: FileReport) -> None:
    """Note an IRI with ``/./`` or ``/../`` in its path, which the parser keeps where they come from a base."""
    import pyarrow.compute as pc

    for name in ("c0", "c1", "c2"):
        column = table.column(name)
        if not pc.any(pc.match_substring(column, "/.")).as_py():
            continue
        if found := column.filter(pc.match_substring_regex(column, _DOTS)).slice(0, 1).to_pylist():
            report.note(f"IRIs with dots as parts of their path, such as {found[0]}, are kept as they are")
            return


def _all_tables(source: Utf8Input, kind: str, base: str, report: FileReport) -> Iterator[pa.Table]:
    """Yield the tables of a file, which is read again from its start, but for what was yielded, if it must be short."""
    done = 0
    try:
        for table in _tables(source, kind, base, report):
            done += table.num_rows
            yield table
    except EndlessError:
        if not source.shorten(kind):
            raise
    else:
        return
    for table in _tables(source, kind, base, report):
        if table.num_rows > done:
            yield table.slice(done)
        done = max(0, done - table.num_rows)


def _tables(source: Utf8Input, kind: str, base: str, report: FileReport) -> Iterator[pa.Table]:
    """Yield the triples of a file in tables of up to ROWS rows."""
    import pyarrow as pa
    import pyoxigraph as ox

    blank = _Blanks(source.name, kind)
    named, literal, quoted = ox.NamedNode, ox.Literal, ox.Triple
    rows: list[tuple[str, str, str, bool]] = []

    def table() -> pa.Table:
        columns = list(zip(*rows, strict=True))
        rows.clear()
        return pa.table(dict(zip(("c0", "c1", "c2", "literal"), columns, strict=True)))

    default = ox.DefaultGraph()
    named_graphs: set[str] = set()
    graphs = FORMATS[kind].graphs
    done = 0
    source.found = lambda: done + len(rows)
    for triple in _parse(source, kind, base, report):
        if graphs and triple.graph_name != default:
            named_graphs.add(str(triple.graph_name))
        subject, object_ = triple.subject, triple.object
        start = subject.value if type(subject) is named else blank(subject)
        if type(object_) is named:
            rows.append((start, triple.predicate.value, object_.value, False))
        elif type(object_) is literal:
            rows.append((start, triple.predicate.value, _text(object_, report), True))
        elif type(object_) is quoted:
            rows += _statement(start, triple.predicate.value, object_, blank, report)
        else:
            rows.append((start, triple.predicate.value, blank(object_), False))
        if len(rows) >= ROWS or source.held > _HELD:
            done += len(rows)
            source.held = 0
            yield table()
    if rows:
        yield table()
    if named_graphs:
        report.note(counted(len(named_graphs), "named graphs were merged into one; their names are not kept"))


def _text(literal: Any, report: FileReport) -> str:
    """Return a literal as ``Literal``, which has no place for the direction of its text."""
    if literal.language and literal.direction is not None:
        report.note(DIRECTIONS)
    return Literal.make(literal.value, literal.datatype.value, literal.language)


def _without_long(table: pa.Table, report: FileReport) -> pa.Table:
    """Count and leave out the triples with a literal that is too long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = pc.binary_length(table.column("c2"))
    if pc.max(sizes).as_py() <= MAX_LITERAL:
        return table
    for row in pc.indices_nonzero(pc.greater(sizes, MAX_LITERAL)).to_pylist():
        report.skip(LONG_LITERALS, report.rows + row + 1, LONG_LITERAL, "triple ")
    return table.filter(pc.less_equal(sizes, pa.scalar(MAX_LITERAL, sizes.type)))


class _Lines:
    """A file of lines for the parser, which holds a line as a whole, and calls itself for triples within triples."""

    def __init__(self, source: Utf8Input, report: FileReport) -> None:
        self._blocks = blocks(source, report)
        self._report = report
        self._block, self._at = b"", 0

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""
        if self._at >= len(self._block):
            line, block = next(self._blocks, (0, b""))
            self._block, self._at = self._flat(line, block) if block.count(b"<<") > MAX_DEPTH else block, 0
        data = self._block[self._at : self._at + size]
        self._at += len(data)
        return data

    def _flat(self, first: int, block: bytes) -> bytes:
        """Count and empty the lines with too many triples within triples."""
        lines = block.split(b"\n")
        for place, line in enumerate(lines):
            if line.count(b"<<") > MAX_DEPTH and _QUOTED.sub(b"", line).count(b"<<") > MAX_DEPTH:
                sentence = f"triples nest deeper than {MAX_DEPTH} levels; name the inner ones"
                self._report.skip("lines with triples that nest too deep", first + place, sentence)
                lines[place] = b""
        return b"\n".join(lines)


def _statement(
    start: str, relation: str, triple: Any, blank: _Blanks, report: FileReport
) -> list[tuple[str, str, str, bool]]:
    """Return the rows of a triple that is a term: of the node that reifies it, else of a node of its own."""
    import pyoxigraph as ox

    rows = []
    if relation != RDF + "reifies":
        digest = hashlib.blake2b(str(triple).encode(), digest_size=8).hexdigest()
        node = f"{blank.scoped('statement')}.{digest}"
        rows.append((start, relation, node, False))
        start = node
    subject, object_ = triple.subject, triple.object
    rows.append((start, RDF + "subject", subject.value if isinstance(subject, ox.NamedNode) else blank(subject), False))
    rows.append((start, RDF + "predicate", triple.predicate.value, False))
    if isinstance(object_, ox.Triple):
        return rows + _statement(start, RDF + "object", object_, blank, report)
    if isinstance(object_, ox.Literal):
        return [*rows, (start, RDF + "object", _text(object_, report), True)]
    end = object_.value if isinstance(object_, ox.NamedNode) else blank(object_)
    return [*rows, (start, RDF + "object", end, False)]


def _parse(source: Utf8Input, kind: str, base: str, report: FileReport) -> Iterator[Any]:
    """Yield the quads of a file as pyoxigraph has them; nothing for an empty file.

    A wrong line of N-Triples or N-Quads is skipped and counted, after which the parser goes on.

    Args:
        source: The opened file.
        kind: Its format.
        base: Base of relative IRIs.
        report: Counts skipped lines, and receives the prefixes.

    Raises:
        InputError: With file and line, if the file is not valid.
    """
    import pyoxigraph as ox

    if source.empty:
        return
    lines = FORMATS[kind].by_line
    file: Any = _Lines(source, report) if lines else source
    form = getattr(ox.RdfFormat, FORMATS[kind].parser)
    try:
        triples = ox.parse(file, format=form, base_iri=None if lines else base)
    except ValueError as error:
        raise InputError(
            f"{base!r} is no IRI ({error}); give a whole one with --base, such as http://example.org/"
        ) from error
    while True:
        try:
            yield from _without_marks(triples, report) if source.is_short else triples
        except MemoryError as error:
            if "buffer maximal size" not in str(error):
                raise
            raise source.endless() from error
        except SyntaxError as error:
            reason = _WHERE.sub("", error.msg or str(error))
            if not lines or not error.lineno:
                raise _wrong(source.name, kind, error, reason) from error
            report.skip(
                f"lines that are not {kind}",
                error.lineno,
                f"is not valid {kind}: {reason}; correct the file or --format",
            )
            continue
        break
    report.prefixes = dict(triples.prefixes)


def _without_marks(triples: Iterator[Any], report: FileReport) -> Iterator[Any]:
    """Count and leave out the triples with a mark for a literal that is too long."""
    for number, triple in enumerate(triples, 1):
        if LONG_MARK in str(triple.object):
            report.skip(LONG_LITERALS, number, LONG_LITERAL, "triple ")
        else:
            yield triple


def _wrong(name: str, kind: str, error: SyntaxError, reason: str) -> InputError:
    if "LoadDocumentCallback" in reason:
        return InputError(
            f"{name}: refers to a context elsewhere, which is not fetched; write the context into the file"
        )
    place = f"{name}:{error.lineno}" if error.lineno else name
    return InputError(f"{place}: is not valid {kind}: {reason}; correct the file or --format")


class _Blanks:
    """Ids of the blank nodes of one file."""

    def __init__(self, name: str, kind: str) -> None:
        self._name = name
        self._shared = FORMATS[kind].by_line
        self._scope = ""
        self._anonymous: dict[str, int] = {}

    def __call__(self, node: Any) -> str:
        if self._shared:
            return f"_:{node.value}"
        label = node.value
        if _ANONYMOUS.fullmatch(label):
            # The parser makes up such labels at random; their order in the file is stable.
            label = f"-{self._anonymous.setdefault(label, len(self._anonymous))}"
        return self.scoped(label)

    def scoped(self, label: str) -> str:
        """Return the id of a node with this label in the file."""
        if not self._scope:
            self._scope = self._hash()
        return f"_:{self._scope}.{label}"

    def _hash(self) -> str:
        digest = hashlib.blake2b(digest_size=6)
        with Input(self._name) as source:
            while data := source.read():
                digest.update(data)
        return digest.hexdigest()
