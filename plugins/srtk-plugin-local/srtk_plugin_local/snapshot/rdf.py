"""RDF files as a stream of triples in pyarrow tables, parsed by pyoxigraph."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from srtk_framework.records import check_entities
from srtk_framework.values import InputError, Literal
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import EMPTY_FILES, FileReport
from srtk_plugin_local.snapshot.tables import ROWS, Meter

if TYPE_CHECKING:
    import pyarrow as pa

_FORMATS = {
    "ntriples": "N_TRIPLES",
    "nquads": "N_QUADS",
    "turtle": "TURTLE",
    "trig": "TRIG",
    "rdfxml": "RDF_XML",
    "jsonld": "JSON_LD",
}
_ANONYMOUS = re.compile(r"[0-9a-f]{20,32}")
_WHERE = re.compile(r"^Parser error (?:at line \d+ column \d+|between .*?): ")


def read_rdf(name: str, kind: str, report: FileReport, meter: Meter) -> Iterator[pa.Table]:
    """Yield tables with the columns ``c0``, ``c1``, ``c2`` (texts) and ``literal`` (whether the object is one).

    IRIs are unshortened, literals have the form of ``Literal``, and blank nodes start with ``_:``. A blank node of
    N-Triples keeps its label, since dumps in several parts share labels; in other formats its id includes a hash of
    the file.

    Raises:
        InputError: With file and line, if the file is not valid.
    """
    import pyarrow as pa
    import pyoxigraph as ox

    blank = _Blanks(name, kind)
    named, literal = ox.NamedNode, ox.Literal
    rows: list[tuple[str, str, str, bool]] = []

    def table() -> pa.Table:
        columns = list(zip(*rows, strict=True))
        rows.clear()
        return pa.table(dict(zip(("c0", "c1", "c2", "literal"), columns, strict=True)))

    if kind == "rdfxml":
        with Input(name) as source:
            check_entities(source, name)
    default = ox.DefaultGraph()
    named_graphs: set[str] = set()
    graphs = kind in ("nquads", "trig", "jsonld")
    with Input(name) as source:
        for triple in _parse(source, kind):
            if graphs and triple.graph_name != default:
                named_graphs.add(str(triple.graph_name))
            subject, object_ = triple.subject, triple.object
            start = subject.value if type(subject) is named else blank(subject)
            if type(object_) is named:
                rows.append((start, triple.predicate.value, object_.value, False))
            elif type(object_) is literal:
                text = Literal.make(object_.value, object_.datatype.value, object_.language)
                rows.append((start, triple.predicate.value, text, True))
            else:
                rows.append((start, triple.predicate.value, blank(object_), False))
            if len(rows) == ROWS:
                report.rows += ROWS
                yield table()
                meter(source.done)
        if rows:
            report.rows += len(rows)
            yield table()
    if named_graphs:
        report.note(f"{len(named_graphs):,} named graphs were merged into one; their names are not kept")
    if not report.rows:
        report.skip(EMPTY_FILES, 1, "there is no triple; leave the file out")
        report.note("has no triple")
    meter(source.size)


def _parse(source: Input, kind: str) -> Iterator[Any]:
    import pyoxigraph as ox

    try:
        yield from ox.parse(cast("IO[bytes]", source), format=getattr(ox.RdfFormat, _FORMATS[kind]))
    except SyntaxError as error:
        place = f"{source.name}:{error.lineno}" if error.lineno else source.name
        reason = _WHERE.sub("", error.msg or str(error))
        if "LoadDocumentCallback" in reason:
            raise InputError(
                f"{source.name}: refers to a context elsewhere, which is not fetched; write the context into the file"
            ) from error
        raise InputError(f"{place}: is not valid {kind}: {reason}; correct the file or --format") from error


class _Blanks:
    """Ids of the blank nodes of one file."""

    def __init__(self, name: str, kind: str) -> None:
        self._name = name
        self._shared = kind in ("ntriples", "nquads")
        self._scope = ""
        self._anonymous: dict[str, int] = {}

    def __call__(self, node: Any) -> str:
        import pyoxigraph as ox

        if not isinstance(node, ox.BlankNode):
            raise InputError(
                f"{self._name}: {node} is a quoted triple, which a snapshot cannot hold; "
                "give statements about triples as --qualifiers"
            )
        if self._shared:
            return f"_:{node.value}"
        label = node.value
        if _ANONYMOUS.fullmatch(label):
            # The parser makes up such labels at random; their order in the file is stable.
            label = f"-{self._anonymous.setdefault(label, len(self._anonymous))}"
        if not self._scope:
            self._scope = self._hash()
        return f"_:{self._scope}.{label}"

    def _hash(self) -> str:
        digest = hashlib.blake2b(digest_size=6)
        with Input(self._name) as source:
            while data := source.read():
                digest.update(data)
        return digest.hexdigest()
