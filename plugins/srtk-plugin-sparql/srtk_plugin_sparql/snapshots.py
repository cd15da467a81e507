"""Local snapshots of a log of reads, made by the builder of srtk-plugin-local."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from srtk_plugin_views.read_log import Name, Reads

from srtk_framework.records import workplace
from srtk_framework.text import fold
from srtk_framework.values import InputError, Literal, PluginError


def require_local(work: str, module: str, package: str) -> None:
    """Raise a PluginError where srtk-plugin-local, which does the work, is not installed."""
    try:
        import_module(f"srtk_plugin_local.snapshot.{module}")
    except ImportError as error:
        raise PluginError(
            f"{work} by srtk-plugin-local, which is not installed ({error}); run: pip install {package}"
        ) from error


def build(reads: Reads, out: Path, origin: Mapping[str, Any], force: bool) -> Any:
    """Build the snapshot ``out``; the same reads give the same content, in whatever order they came."""
    from srtk_plugin_local.snapshot.build import build as build_local
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    if not reads.triples:
        raise InputError("no triple was read, so that there is nothing to make a snapshot of")
    schema = reads.graph["schema"]
    out.parent.mkdir(parents=True, exist_ok=True)
    with workplace(out.with_name(f"{out.name}.tables"), "choose another --out") as folder:
        names = list(_names(reads))
        settings = BuildSettings(
            files=(_table(folder / "triples.parquet", [_typed(row) for row in sorted(reads.triples)], 3),),
            labels=_some(folder / "labels.parquet", sorted(_named(name) for name in names if not name.further)),
            aliases=_some(folder / "aliases.parquet", sorted(_named(name) for name in names if name.further)),
            qualifiers=_some(folder / "qualifiers.parquet", sorted(_qualifiers(reads))),
            # What a graph calls labels is no relation of it, and came as names.
            label_relations=(),
            alias_relations=(),
            languages=tuple(reads.graph.get("languages", ())),
            prefixes=dict(schema["prefixes"]),
            type_relations=tuple(schema["type_relations"]),
            subclass_relations=tuple(schema["subclass_relations"]),
            mediators=tuple(schema["mediators"]),
            noise=tuple(schema["noise"]),
            names=bool(reads.graph["names"]),
        )
        return build_local(settings, out, force, origin=dict(origin))


def _names(reads: Reads) -> Iterator[Name]:
    """Yield the names of ids; a name by which an id was found is an alias where it differs from its label."""
    yield from reads.names
    for id_, label in reads.labels.items():
        if label != id_ or reads.graph["names"]:
            yield Name(id_, label)
    for name, ids in reads.found.items():
        for id_ in ids:
            if fold(name) != fold(reads.labels.get(id_, id_)):
                yield Name(id_, name, "", True)


def _named(name: Name) -> tuple[str, ...]:
    """Write a name as a literal, which it is even where it is in quotes itself."""
    return name.id, *_typed([Literal.make(name.text, language=name.language)])


def _qualifiers(reads: Reads) -> Iterator[tuple[str, ...]]:
    for triple, row in reads.qualifiers.items():
        for relation, value in row:
            yield (*_typed(triple), relation, *_typed((value,)))


def _typed(row: Sequence[str]) -> tuple[str, ...]:
    """Give plain literals their type, since ids may be in quotes."""
    return tuple(
        f"{cell}^^xsd:string" if isinstance(cell, Literal) and not (cell.language or cell.datatype) else str(cell)
        for cell in row
    )


def _some(path: Path, rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return (_table(path, rows, len(rows[0])),) if rows else ()


def _table(path: Path, rows: Sequence[Sequence[str]], width: int) -> str:
    import pyarrow as pa
    from pyarrow import parquet

    columns = zip(*rows, strict=True) if rows else [()] * width
    parquet.write_table(pa.table({f"c{n}": pa.array(column, pa.string()) for n, column in enumerate(columns)}), path)
    return str(path)
