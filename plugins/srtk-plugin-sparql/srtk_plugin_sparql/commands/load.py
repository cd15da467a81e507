"""``srtk graph load``: fill an embedded Oxigraph store from RDF files."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srtk_framework.records import publication_error, publish, workplace
from srtk_framework.values import InputError, RunError, close_matches
from srtk_plugin_sparql.snapshots import require_local
from srtk_plugin_sparql.store import DATA, META, Meta, write_meta
from srtk_plugin_sparql.terms import XSD
from srtk_plugin_sparql.vocabulary import BLANKS

if TYPE_CHECKING:
    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="RDF files, also .gz, .zst or .bz2")
    add("--out", required=True, metavar="DIR", help="folder of the store; `endpoint: DIR` then reads it")
    add("--format", metavar="F", help="format of RDF, as of `srtk graph build`; by default found from content and name")
    add("--base", metavar="IRI", help="base of relative IRIs (file:/// and the name of each file)")
    add("--memory", default="1GB", metavar="SIZE", help="memory for a file that is parsed as a whole (1GB)")
    add("--strict", action="store_true", help="make an error of what is otherwise counted and skipped")
    add("--force", action="store_true", help="replace DIR even if it is no such store")


def run(args: argparse.Namespace) -> int:
    """Load the files, and print the notes on their reading and the size of the store."""
    require_local("RDF files are read", "rdf", "srtk-plugin-sparql[load]")
    from srtk_plugin_local.snapshot.input_report import sentences

    files = [Path(name) for name in args.files]
    meta = load(files, Path(args.out), args.format, args.force, args.base, args.strict, args.memory)
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
    memory: str = "1GB",
) -> Meta:
    """Load files into the store ``out``, which appears in one step when it is whole; until then the old one stays.

    Files are read as ``srtk graph build`` reads them, within the same bounds. Graph names are dropped. A blank node
    becomes an IRI, since blank nodes cannot be asked about. In N-Triples and N-Quads it keeps its label; in other
    formats it belongs to its file.
    """
    import pyoxigraph

    require_local("RDF files are read", "rdf", "srtk-plugin-sparql[load]")
    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.limits import amount

    amount(memory)
    settings = BuildSettings((), base=base or "", strict=strict, memory=memory)
    reports = [_report_of(path, format_, strict) for path in files]
    if out.exists() and not force and not (out / META).is_file() and not (out.is_dir() and not any(out.iterdir())):
        raise RunError(f"{out}: exists and is no store; choose another --out, or replace it by --force")
    try:
        with workplace(out, "choose another --out") as place:
            made = place / "made"
            made.mkdir()
            store = pyoxigraph.Store(str(made / DATA))
            for report in reports:
                store.bulk_extend(_quads(report, settings))
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


def _quads(report: FileReport, settings: BuildSettings) -> Iterator[Any]:
    """Yield the triples of a file, for the default graph."""
    import pyoxigraph as ox
    from srtk_plugin_local.snapshot.parser_process import is_apart, read_apart
    from srtk_plugin_local.snapshot.rdf import read_rdf

    def nothing(done: int) -> None:
        pass

    @lru_cache(1 << 16)
    def node(id_: str) -> Any:
        return ox.NamedNode(BLANKS + id_[2:] if id_.startswith("_:") else id_)

    name, kind = report.name, report.format
    if is_apart(name, kind):
        tables = read_apart(name, kind, settings, report, nothing)
    else:
        tables = read_rdf(name, kind, report, nothing, settings.base, settings.memory)
    for table in tables:
        for subject, relation, object_, is_literal in zip(*(column.to_pylist() for column in table), strict=True):
            yield ox.Quad(node(subject), node(relation), _literal(object_) if is_literal else node(object_))


def _literal(text: str) -> Any:
    import pyoxigraph as ox

    # Neither a language nor an IRI has a quotation mark.
    lexical, _, kind = text[1:].rpartition('"')
    if kind.startswith("@"):
        return ox.Literal(lexical, language=kind[1:])
    datatype = ox.NamedNode(re.sub("^xsd:", XSD, kind.removeprefix("^^"))) if kind else None
    return ox.Literal(lexical, datatype=datatype)
