"""``srtk graph load``: fill an embedded Oxigraph store from RDF files."""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote

from srtk_framework.records import check_entities, publication_error, publish, workplace
from srtk_framework.values import InputError, RunError, close_matches
from srtk_plugin_sparql.store import DATA, META, Meta, write_meta
from srtk_plugin_sparql.vocabulary import BLANKS

HELP = "load RDF files into an embedded Oxigraph store"

_FORMATS = {
    "ntriples": ("N_TRIPLES", (".nt",)),
    "nquads": ("N_QUADS", (".nq",)),
    "turtle": ("TURTLE", (".ttl",)),
    "trig": ("TRIG", (".trig",)),
    "rdfxml": ("RDF_XML", (".rdf", ".owl", ".xml")),
}
_PACKED = (".gz", ".bz2", ".zst")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="RDF files; .gz, .bz2 and .zst (with zstandard) are read directly")
    add("--out", required=True, metavar="DIR", help="folder of the store; `endpoint: DIR` then reads it")
    add("--format", metavar="F", help=f"one of {', '.join(_FORMATS)}; guessed from each file's name by default")
    add("--base", metavar="IRI", help="base of relative IRIs (file:/// and the name of each file)")
    add("--force", action="store_true", help="replace DIR even if it is no such store")


def run(args: argparse.Namespace) -> int:
    """Load the files and say what is in the store."""
    meta = load([Path(name) for name in args.files], Path(args.out), args.format, args.force, args.base)
    print(f"{args.out}: {meta.triples:,} triples, content {meta.content[:16]}")
    return 0


def load(
    files: list[Path], out: Path, format_: str | None = None, force: bool = False, base: str | None = None
) -> Meta:
    """Load files into the store ``out``, which appears in one step when it is whole; until then the old one stays.

    Graph names are dropped. A blank node becomes an IRI, since blank nodes cannot be asked about; one of
    N-Triples or N-Quads keeps its label, one of another format belongs to its file.

    Raises:
        InputError: If a file cannot be read.
        RunError: If something else stands at ``out``, or it cannot be written.
    """
    import pyoxigraph

    kinds = [_format_of(path, format_) for path in files]
    if out.exists() and not force and not (out / META).is_file() and not (out.is_dir() and not any(out.iterdir())):
        raise RunError(f"{out}: exists and is no store; choose another --out, or replace it by --force")
    try:
        with workplace(out, "choose another --out") as place:
            made = place / "made"
            made.mkdir()
            store = pyoxigraph.Store(str(made / DATA))
            for path, kind in zip(files, kinds, strict=True):
                store.bulk_extend(_quads(path, kind, base))
            store.optimize()
            meta = _describe(store)
            del store
            write_meta(made, meta)
            publish(made, Path(os.path.realpath(out)))
    except OSError as error:
        raise publication_error(error, out) from error
    return meta


def _describe(store: Any) -> Meta:
    """Hash the triples so that their order, and how often they were given, makes no difference."""
    total = triples = 0
    for quad in store:
        total += int.from_bytes(hashlib.blake2b(str(quad.triple).encode(), digest_size=16).digest(), "big")
        triples += 1
    return Meta(f"{total % (1 << 128):032x}", triples)


def _format_of(path: Path, wanted: str | None) -> str:
    if wanted is not None:
        if wanted not in _FORMATS:
            known = sorted(_FORMATS)
            raise InputError(f"--format {wanted}: choose {', '.join(known)}.{close_matches(wanted, known)}")
        return wanted
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in _PACKED:
        endings.pop()
    for kind, (_, known_endings) in _FORMATS.items():
        if endings and endings[-1] in known_endings:
            return kind
    raise InputError(f"{path}: the name does not tell the format; give --format {'|'.join(_FORMATS)}")


def _quads(path: Path, kind: str, base: str | None = None) -> Iterator[Any]:
    """Yield the triples of a file, for the default graph."""
    import pyoxigraph as ox

    shared = kind in ("ntriples", "nquads")
    scope = "" if shared else hashlib.blake2b(path.name.encode(), digest_size=6).hexdigest() + "."
    numbers: dict[str, int] = {}

    def named(node: Any) -> Any:
        if isinstance(node, ox.BlankNode):
            label = node.value if shared else str(numbers.setdefault(node.value, len(numbers)))
            return ox.NamedNode(f"{BLANKS}{scope}{label}")
        if isinstance(node, ox.Triple):
            raise InputError(f"{path}: {node} is a triple used as a term, which a graph of triples does not hold")
        return node

    with ExitStack() as stack:
        if kind == "rdfxml":
            _check_entities(path)
        file = stack.enter_context(_opened(path))
        try:
            resolved = None if shared else base or _base_of(path)
            for quad in ox.parse(file, format=getattr(ox.RdfFormat, _FORMATS[kind][0]), base_iri=resolved):
                yield ox.Quad(named(quad.subject), quad.predicate, named(quad.object))
        except SyntaxError as error:
            place = f"{path}:{error.lineno}" if error.lineno else str(path)
            raise InputError(f"{place}: is not {kind} ({error.msg}); correct the file, or give --format") from error
        except ValueError as error:
            raise InputError(f"--base {base}: is no IRI ({error}); give a whole one, such as http://ex.org/") from error
        except EOFError as error:
            raise InputError(f"{path}: breaks off ({error}); fetch it again") from error


def _base_of(path: Path) -> str:
    """Return the base IRI of a file: its name alone, so that the folder makes no difference."""
    return "file:///" + quote(path.stem if path.suffix.lower() in _PACKED else path.name)


def _check_entities(path: Path) -> None:
    with _opened(path) as file:
        try:
            check_entities(file, str(path))
        except EOFError as error:
            raise InputError(f"{path}: breaks off ({error}); fetch it again") from error


def _opened(path: Path) -> IO[bytes]:
    ending = path.suffix.lower()
    try:
        if ending == ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        if ending == ".bz2":
            return cast("IO[bytes]", bz2.open(path, "rb"))
        if ending == ".zst":
            import zstandard

            return cast("IO[bytes]", zstandard.open(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except ImportError as error:
        raise InputError(f"{path}: reading .zst needs zstandard; run `pip install zstandard`") from error
