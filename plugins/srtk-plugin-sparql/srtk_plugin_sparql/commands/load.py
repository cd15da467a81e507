"""``srtk graph load``: fill an embedded Oxigraph store from RDF files."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.records import publication_error, publish, workplace
from srtk_framework.values import InputError, RunError, close_matches
from srtk_plugin_sparql.snapshots import require_local
from srtk_plugin_sparql.store import DATA, META, Meta, write_meta
from srtk_plugin_sparql.vocabulary import BLANKS

if TYPE_CHECKING:
    from srtk_plugin_local.snapshot.input_report import FileReport

HELP = "load RDF files into an embedded Oxigraph store"

_REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="RDF files, also .gz, .zst or .bz2")
    add("--out", required=True, metavar="DIR", help="folder of the store; `endpoint: DIR` then reads it")
    add("--format", metavar="F", help="format of RDF, as of `srtk graph build`; by default found from content and name")
    add("--base", metavar="IRI", help="base of relative IRIs (file:/// and the name of each file)")
    add("--strict", action="store_true", help="make an error of what is otherwise counted and skipped")
    add("--force", action="store_true", help="replace DIR even if it is no such store")


def run(args: argparse.Namespace) -> int:
    """Load the files, and print the notes on their reading and the size of the store."""
    require_local("RDF files are read", "rdf", "srtk-plugin-sparql[load]")
    from srtk_plugin_local.snapshot.input_report import sentences

    files = [Path(name) for name in args.files]
    meta = load(files, Path(args.out), args.format, args.force, args.base, args.strict)
    for sentence in sentences(meta.reading):
        print(sentence, file=sys.stderr)
    print(f"{args.out}: {meta.triples:,} triples, content {meta.content[:16]}")
    return 0


def load(
    files: list[Path],
    out: Path,
    format_: str | None = None,
    force: bool = False,
    base: str | None = None,
    strict: bool = False,
) -> Meta:
    """Load files into the store ``out``, which appears in one step when it is whole; until then the old one stays.

    Files are read as ``srtk graph build`` reads them. Graph names are dropped. A blank node becomes an IRI, since blank
    nodes cannot be asked about. In N-Triples and N-Quads it keeps its label; in other formats it belongs to its file.
    """
    import pyoxigraph

    require_local("RDF files are read", "rdf", "srtk-plugin-sparql[load]")
    reports = [_report_of(path, format_, strict) for path in files]
    if out.exists() and not force and not (out / META).is_file() and not (out.is_dir() and not any(out.iterdir())):
        raise RunError(f"{out}: exists and is no store; choose another --out, or replace it by --force")
    try:
        with workplace(out, "choose another --out") as place:
            made = place / "made"
            made.mkdir()
            store = pyoxigraph.Store(str(made / DATA))
            for report in reports:
                store.bulk_extend(_quads(report, base))
            store.optimize()
            meta = _describe(store, reports)
            del store
            write_meta(made, meta)
            publish(made, Path(os.path.realpath(out)))
    except OSError as error:
        raise publication_error(error, out) from error
    return meta


def _describe(store: Any, reports: Sequence[FileReport]) -> Meta:
    """Hash the triples so that their order, and how often they were given, makes no difference."""
    total = triples = 0
    for quad in store:
        total += int.from_bytes(hashlib.blake2b(str(quad.triple).encode(), digest_size=16).digest(), "big")
        triples += 1
    return Meta(f"{total % (1 << 128):032x}", triples, [report.data() for report in reports])


def _report_of(path: Path, wanted: str | None, strict: bool) -> FileReport:
    """Find the format of a file, and begin its report."""
    from srtk_plugin_local.snapshot.formats import FORMATS, RDF
    from srtk_plugin_local.snapshot.input_files import detect
    from srtk_plugin_local.snapshot.input_report import FileReport

    known = [name for name, form in FORMATS.items() if form.family == RDF]
    if not path.exists():
        raise InputError(f"{path}: cannot be read (there is no such file); check the path")
    kind, note = detect(str(path), wanted)
    if kind not in known and wanted is not None:
        raise InputError(f"--format {wanted}: choose {', '.join(known)}.{close_matches(wanted, known)}")
    if kind not in known:
        raise InputError(
            f"{path}: is {kind}, which is no RDF; make a snapshot of it with `srtk graph build`, or give --format"
        )
    report = FileReport(str(path), kind, strict)
    if note:
        report.note(note)
    return report


def _quads(report: FileReport, base: str | None = None) -> Iterator[Any]:
    """Yield the triples of a file, for the default graph."""
    import pyoxigraph as ox
    from srtk_plugin_local.snapshot.formats import FORMATS
    from srtk_plugin_local.snapshot.rdf import note_reading, opened_rdf, parse
    from srtk_plugin_local.snapshot.rdf_text import EndlessError, base_of

    name, kind = report.name, report.format
    default = base_of(name)
    may_be_relative = not base and not FORMATS[kind].by_line
    relative = False
    graphs = set()
    plain = ox.DefaultGraph()
    with opened_rdf(name, kind, report) as source:
        while True:
            # If the file is read again, without its long literals, the same blank nodes get the same numbers.
            report.rows, terms = 0, _Terms(name, FORMATS[kind].by_line)
            try:
                for quad in parse(source, kind, base or default, report):
                    report.rows += 1
                    if quad.graph_name != plain:
                        graphs.add(str(quad.graph_name))
                    for made in terms.quads(quad):
                        relative = relative or (may_be_relative and _has(made, default))
                        yield made
            except EndlessError:
                if not source.shorten(kind):
                    raise
            else:
                break
    note_reading(report, default if relative else "", len(graphs))


def _has(quad: Any, start: str) -> bool:
    """Return whether a term of a quad is an IRI with this start."""
    ends = (quad.subject, quad.predicate, quad.object)
    return any(term.value.startswith(start) for term in ends if not hasattr(term, "datatype"))


@attrs.define
class _Terms:
    """The terms of a file as a store holds them: blank nodes are IRIs, and triples that are terms are nodes.

    ``shared`` says whether blank nodes keep their labels, which other files may share.
    """

    name: str
    shared: bool
    _scope: str = attrs.field(init=False)
    _numbers: dict[str, int] = attrs.field(init=False, factory=dict)

    @_scope.default
    def _scope_of_file(self) -> str:
        digest = hashlib.blake2b(Path(self.name).name.encode(), digest_size=6).hexdigest()
        return "" if self.shared else f"{digest}."

    def quads(self, quad: Any) -> Iterator[Any]:
        """Yield the quads that stand for a quad."""
        import pyoxigraph as ox

        subject = self._named(quad.subject)
        if isinstance(quad.object, ox.Triple):
            yield from self._statement(subject, quad.predicate, quad.object)
        else:
            yield ox.Quad(subject, quad.predicate, self._named(quad.object))

    def _named(self, node: Any) -> Any:
        import pyoxigraph as ox

        if not isinstance(node, ox.BlankNode):
            return node
        label = node.value if self.shared else str(self._numbers.setdefault(node.value, len(self._numbers)))
        return ox.NamedNode(f"{BLANKS}{self._scope}{label}")

    def _statement(self, start: Any, relation: Any, triple: Any) -> Iterator[Any]:
        """Yield the parts of a triple that is a term, at the node that reifies it, else at one of its own."""
        import pyoxigraph as ox

        if relation.value != _REIFIES:
            digest = hashlib.blake2b(str(triple).encode(), digest_size=8).hexdigest()
            node = ox.NamedNode(f"{BLANKS}{self._scope}statement.{digest}")
            yield ox.Quad(start, relation, node)
            start = node
        rdf = _REIFIES.removesuffix("reifies")
        yield ox.Quad(start, ox.NamedNode(f"{rdf}subject"), self._named(triple.subject))
        yield ox.Quad(start, ox.NamedNode(f"{rdf}predicate"), triple.predicate)
        yield from self.quads(ox.Quad(start, ox.NamedNode(f"{rdf}object"), triple.object))
