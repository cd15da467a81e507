"""A graph to ask without a recipe: of files, of Python data, a snapshot, an endpoint, or a driver by its name."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import attrs

from srtk_framework.host.discovery import find, known_names, load
from srtk_framework.host.known_drivers import distribution_of
from srtk_framework.recipe.blocks import is_networkx
from srtk_framework.recipe.composer import needs_of
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.run.default_drivers import ENDPOINT, FOLDED, GRAPH, MEDIATED, NETWORKX
from srtk_framework.values import InputError, close_matches

if TYPE_CHECKING:
    import networkx

_ROLE = KnowledgeGraph.role
_FILE_ENDINGS = (
    *(".csv", ".tsv", ".parquet", ".nt", ".nq", ".ttl", ".trig", ".rdf", ".owl", ".jsonld", ".graphml", ".gexf"),
)
"""Endings of files of triples; an address that ends in one is not taken for an endpoint."""
_DATA_ENDINGS = (*_FILE_ENDINGS, ".tab", ".pq", ".n3", ".xlsx", ".xlsm", ".sqlite", ".sqlite3", ".db")
"""Endings of the files that are read of a folder."""
_PACKED_ENDINGS = (".gz", ".bz2", ".zst", ".zstd")
# File that each snapshot has; a folder with it is no folder of tables.
_SNAPSHOT = "meta.json"
_UNFOLDED = (".csv", ".tsv", ".parquet", ".graphml", ".gexf")
"""Endings of files without blank nodes."""
# Endings of tables for people and of property graphs, in which nobody writes Freebase's or Wikidata's statements.
_UNMEDIATED = tuple(ending for ending in _UNFOLDED if ending != ".tsv")


def cache_folder() -> Path:
    """Return the framework's folder in the user's cache, ``$XDG_CACHE_HOME/srtk-framework``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "srtk-framework"


@attrs.frozen(repr=False)
class Graph:
    """A graph that can be asked; holds the value of ``knowledge_graph`` in a recipe, and opens nothing.

    Attributes:
        block: Driver with its settings, as a recipe names it, or a driver object.
        name: Name of the graph for people: a file, an address or a driver.
        snapshot: Folder that keeps the graph of a file; None for other graphs.
    """

    block: Any = attrs.field(eq=False)
    name: str
    snapshot: Path | None = None

    @property
    def is_new(self) -> bool:
        """Whether the graph of a file is yet to be built, when it is first asked."""
        return self.snapshot is not None and not self.snapshot.exists()

    @contextmanager
    def built_alone(self) -> Iterator[None]:
        """Keep the first opening of a file's graph, which builds it, to one process; others wait, and find it built.

        Raises:
            InputError: If the cache folder cannot be written.
        """
        if not self.is_new or self.snapshot is None:
            yield
            return
        from filelock import FileLock  # its import warns on a platform without locks

        file = self.snapshot.with_name(f".{self.snapshot.name}.first")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(file.parent, error) from error
        with FileLock(file, thread_local=False):
            yield
            # Windows refuses to delete an open file; a process that waits for a deleted one tries again.
            with suppress(OSError):
                file.unlink()

    def __repr__(self) -> str:
        driver = self.block["use"] if isinstance(self.block, Mapping) else type(self.block).__name__
        return f"<Graph {self.name}>" if driver == self.name else f"<Graph {self.name}: {driver}>"

    @classmethod
    def from_csv(cls, *files: str | Path, **settings: Any) -> Graph:
        """Take the graph in tables, with one triple or one entity in a row: CSV, TSV or Parquet files, also compressed.

        The graph is built when it is first asked, and kept in the user's cache folder by content and settings.

        Args:
            files: The tables.
            settings: Settings of the build, such as ``columns``, ``header``, ``id`` or ``labels``; ``srtk plugins show
                local`` lists them under ``build``.

        Raises:
            InputError: If a file cannot be read.
        """
        return cls._from_files(files, settings)

    @classmethod
    def from_rdf(cls, *files: str | Path, **settings: Any) -> Graph:
        """Take the graph in files of RDF: N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD; see ``from_csv``."""
        return cls._from_files(files, settings)

    @classmethod
    def from_pandas(cls, frame: Any, **settings: Any) -> Graph:
        """Take the graph in a data frame of pandas or polars, or a table of Arrow; it is kept as a file, and read so.

        Args:
            frame: One triple in a row, or one entity; its columns are the header of a table, which has none
                where they are numbers. An index of pandas that is more than row numbers is its first column.
            settings: See ``from_csv``; ``id`` names the column, or the index, of the key.

        Raises:
            InputError: If it is no data frame.
        """
        frame = _with_index(frame)
        if hasattr(frame, "columns") and not any(isinstance(name, str) for name in _names(frame)):
            content, ending, header = frame.to_csv(index=False, header=False).encode(), "csv", {"header": False}
        elif (packed := _parquet(frame)) is not None:
            content, ending, header = packed, "parquet", {}
        elif callable(getattr(frame, "to_csv", None)):
            content, ending, header = frame.to_csv(index=False, header=True).encode(), "csv", {"header": True}
        else:
            raise InputError(f"from_pandas takes a data frame, not {type(frame).__name__}")
        # By content, so that the same frame is the same graph in another process.
        file = cache_folder() / "tables" / hashlib.sha256(content).hexdigest()[:24] / f"table.{ending}"
        if not file.is_file() or file.read_bytes() != content:
            _write(file, content)
        return attrs.evolve(cls._from_files([file], {**header, **settings}), name="a data frame")

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any], relation: str | None = None, **settings: Any) -> Graph:
        """Take a networkx graph, which is read like the GraphML file of it.

        Names of nodes, types, relations and qualifiers are found by the names and values of the attributes; edges
        without direction are read from their first to their second node. Guesses and omissions are
        logged.

        Args:
            graph: Ids are the texts of its nodes.
            relation: Edge attribute with the relation; the key of a multigraph's edge where it is missing. By default
                found: ``relation``, ``label``, ``type`` or the like, or the key.
            settings: ``keep``, names of attributes that are read although they are layout or bookkeeping; further
                settings of the graph in memory, such as ``aliases``.

        Raises:
            InputError: If it is no networkx graph, an edge lacks the relation, or two nodes have the same text.
            PluginError: If the graph in memory is not installed.
        """
        if not is_networkx(graph):
            raise InputError(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
        driver = load(_ROLE, NETWORKX)
        try:
            made = driver.from_networkx(graph, relation, **settings)
        except ValueError as error:
            raise InputError(str(error)) from error
        return cls(made, "a networkx graph")

    @classmethod
    def open(cls, what: Any, **settings: Any) -> Graph:
        """Take any kind of graph.

        Args:
            what: A file, a list of files, or a folder of files; the folder of a snapshot. Also an http or https address
                of a SPARQL endpoint, the name of an installed driver (``wikidata``, ``dbpedia``), a networkx graph, a
                driver object, or the block of a recipe.
            settings: Settings of the build for a file, else of the driver; none for a ``Graph``, which has its own.
                ``mediated=True`` makes one step of the two relations over a mediator in any graph.

        Raises:
            InputError: If there is no such thing, it is the address of a file, the driver needs further settings, or a
                ``Graph`` is given settings.
        """
        if isinstance(what, Graph):
            if settings:
                raise InputError(f"{what!r} has its settings; give {', '.join(settings)} where it is first opened")
            return what
        mediated = settings.pop("mediated", None)
        if mediated is None:
            return cls._opened(what, settings, settings)
        if not isinstance(mediated, bool):
            raise InputError(f"mediated: {mediated!r} is neither true nor false; write one of them")
        opened = cls._opened(what, settings, {**settings, "mediated": mediated})
        if not mediated or opened.snapshot is not None:
            return opened
        return attrs.evolve(opened, block={"use": MEDIATED, "graph": opened.block})

    @classmethod
    def _opened(cls, what: Any, settings: Mapping[str, Any], of_files: Mapping[str, Any]) -> Graph:
        """Take any kind of graph, with settings of a driver, or settings of files, which include ``mediated``."""
        if isinstance(what, KnowledgeGraph):
            return cls(what, type(what).__name__)
        if isinstance(what, Mapping):
            return cls({**what, **settings}, str(what.get("path") or what.get("endpoint") or what.get("use")))
        if is_networkx(what):
            return cls.from_networkx(what, **settings)
        if hasattr(what, "to_csv") or hasattr(what, "__arrow_c_stream__"):
            return cls.from_pandas(what, **of_files)
        if isinstance(what, list | tuple):
            return cls._from_files([_file_or_folder(item) for item in what], of_files)
        text = os.fspath(what)
        if text.startswith(("http://", "https://")):
            _refuse_file_at(text)
            return cls({"use": ENDPOINT, "endpoint": text, **settings}, text)
        path = Path(text).expanduser()
        if not text or not os.path.exists(path):  # false for a text that no file can have as its name
            return cls._named(text, settings)
        if path.is_dir():
            if data_files(path):
                return cls._from_files([text], of_files)
            some = min((file for file in path.iterdir() if file.is_file()), default=None)
            if some is not None and not (path / _SNAPSHOT).is_file():
                raise InputError(f"{text}: no ending of its files tells data; give them by name, such as {some}")
            return cls({"use": GRAPH, "path": str(path), **settings}, text)
        return cls._from_files([text], of_files)

    @classmethod
    def _named(cls, name: str, settings: Mapping[str, Any]) -> Graph:
        """Take the graph of a driver.

        Raises:
            InputError: If there is none of that name, or it needs a setting that is not given.
        """
        installed = [plugin.name for plugin in find(_ROLE)]
        if name not in installed:
            distribution = distribution_of(_ROLE, name)
            if distribution is not None:
                raise InputError(f"the graph {name} is not installed; run: pip install {distribution}")
            known = sorted({*installed, *known_names(_ROLE)})
            hint = close_matches(name, known)
            raise InputError(
                f"there is no file or folder {name!r}, and no graph of that name.{hint} Give a file of triples, a"
                " snapshot, an address or the name of a graph"
            )
        driver = load(_ROLE, name)
        optional = {need.field for need in needs_of(driver) if need.role != _ROLE}
        lacking = [
            field.alias
            for field in attrs.fields(driver)
            if field.init and field.default is attrs.NOTHING and field.alias not in {*settings, *optional}
        ]
        if lacking:
            raise InputError(
                f"the graph {name} needs {' and '.join(lacking)}; give it as a setting: Graph.open({name!r},"
                f" {lacking[0]}=…), or srtk ask {name} --set knowledge_graph.{lacking[0]}=…"
            )
        return cls({"use": name, **settings}, name)

    @classmethod
    def _from_files(cls, files: Sequence[str | Path], settings: Mapping[str, Any]) -> Graph:
        """Take the graph of files, which the default graph builds in the user's cache folder.

        Lists, restrictions and blank nodes of RDF are one step where the view ``folded`` is installed, but for a
        setting ``folded`` that is false. In files of triples, the two relations over a mediator of Freebase or Wikidata
        are one step where the view ``mediated`` is installed and the build notices some. The setting ``mediated``
        extends this to any mediator if it is true, and prevents it if it is false.
        """
        folded, mediated = settings.get("folded", True), settings.get("mediated")
        settings = {key: value for key, value in settings.items() if key not in ("folded", "mediated")}
        if not files:
            raise InputError("there is no file to take a graph from; name at least one")
        given = [Path(file).expanduser() for file in files]
        for file in given:
            if file.exists() and not (file.is_file() or file.is_dir()):
                raise InputError(f"{file}: is a pipe or a device, and no file; write what is to be read to a file")
        given = [file.resolve() for file in given]
        paths = [path for one in given for path in (data_files(one) or [one] if one.is_dir() else [one])]
        named = [[str(path) for path in paths], settings, *([list(map(str, given))] if given != paths else [])]
        digest = hashlib.sha256(json.dumps(named, default=str).encode())
        place = digest.hexdigest()[:12]  # the same for a file that grew, whose table is then read as before
        # By content: copies and tools may leave the time of change as it was.
        for path in [*paths, *_files_in(list(settings.values()))]:
            digest.update(_content(path))
        folder = cache_folder() / "graphs" / f"{place}-{digest.hexdigest()[:24]}"
        build = {"files": [str(path) for path in given], **settings}
        name = ", ".join(str(file) for file in files)
        block: dict[str, Any] = {"use": GRAPH, "path": str(folder), "build": build}
        installed = {plugin.name for plugin in find(_ROLE)}
        if folded and not all(_ends_in(path, _UNFOLDED) for path in paths) and FOLDED in installed:
            block = {"use": FOLDED, "graph": block}
        if mediated:
            block = {"use": MEDIATED, "graph": block}
        elif mediated is None and not all(_ends_in(path, _UNMEDIATED) for path in paths) and MEDIATED in installed:
            block = {"use": MEDIATED, "known": True, "graph": block}
        return cls(block, name, folder)


def _with_index(frame: Any) -> Any:
    """Make a column of the index of a data frame of pandas, unless it only numbers the rows."""
    index = getattr(frame, "index", None)
    if index is None or not callable(getattr(frame, "reset_index", None)):
        return frame
    if index.name is not None or getattr(index, "nlevels", 1) > 1:
        return frame.reset_index()
    if list(index[:100]) == list(range(min(100, len(index)))):
        return frame
    return frame.reset_index(names="index" if "id" in frame.columns else "id")


def _names(frame: Any) -> Sequence[Any]:
    return list(frame.columns) if not hasattr(frame, "column_names") else list(frame.column_names)


def _parquet(frame: Any) -> bytes | None:
    """Return a table of Arrow, or a frame as such a table, in Parquet; None for a frame that fits no table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    try:
        is_pandas = callable(getattr(frame, "to_csv", None))
        table = pa.Table.from_pandas(frame, preserve_index=False) if is_pandas else pa.table(frame)
        sink = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata(None), sink)
    except (pa.ArrowException, AttributeError, TypeError, ValueError):  # columns of several types, or no table
        return None
    return bytes(sink.getvalue())


def _ends_in(path: Path, endings: Sequence[str]) -> bool:
    """Return whether a file has one of some endings, also before the ending of a packed file."""
    return any(ending.lower() in endings for ending in path.suffixes[-2:])


def looks_like_file(text: str) -> bool:
    """Return whether a text is the name of a file by its looks: a known ending, or a path."""
    endings = [ending.lower() for ending in PurePosixPath(text).suffixes]
    if endings and endings[-1] in _PACKED_ENDINGS:
        return True
    known = bool(endings) and endings[-1] in (*_DATA_ENDINGS, ".json", ".jsonl", ".ndjson", ".xml", ".txt")
    return known or (not any(map(str.isspace, text)) and ("/" in text or os.sep in text))


def data_files(folder: Path) -> list[Path]:
    """List the data files of a folder, sorted; none if the folder is a snapshot."""
    if (folder / _SNAPSHOT).is_file():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_file() and _is_data(path.name)]


def _is_data(name: str) -> bool:
    endings = [ending.lower() for ending in PurePosixPath(name).suffixes]
    if endings and endings[-1] in _PACKED_ENDINGS:
        endings.pop()
    return not name.startswith(".") and bool(endings) and endings[-1] in _DATA_ENDINGS


def _file_or_folder(what: str | Path) -> Path:
    """Return a file, or a folder with data files.

    Raises:
        InputError: If it is an address, a snapshot, is missing, or has no data files.
    """
    text = os.fspath(what)
    if text.startswith(("http://", "https://")):
        raise InputError(f"{text}: an address is a graph of its own; ask it alone, or give files only")
    path = Path(text).expanduser()
    if not os.path.exists(path):
        raise InputError(f"there is no file or folder {text!r}; check the path")
    if not path.is_dir() or data_files(path):
        return Path(text)
    what_is = "is a snapshot, a graph of its own" if (path / _SNAPSHOT).is_file() else "holds no data file"
    raise InputError(f"{text}: {what_is}; several graphs are given as files, or folders of files")


def _files_in(value: Any) -> list[Path]:
    """List the files that settings name, whose content belongs to the graph."""
    if isinstance(value, list | tuple):
        return [file for item in value for file in _files_in(item)]
    return [Path(value)] if isinstance(value, str | Path) and Path(value).is_file() else []


def _content(path: Path) -> bytes:
    """Hash a file; raises InputError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _write(file: Path, content: bytes) -> None:
    """Write a file of the cache, which is complete as soon as it has its name.

    Raises:
        InputError: If it cannot be written.
    """
    temporary = file.with_name(f".{uuid.uuid4().hex}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _not_written(file, error) from error


def _not_written(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written ({error.strerror}); set XDG_CACHE_HOME to a folder of yours")


def _refuse_file_at(address: str) -> None:
    """Refuse the address of a file of triples, which is no endpoint."""
    name = PurePosixPath(unquote(urlsplit(address).path)).name
    endings = PurePosixPath(name).suffixes
    if any(ending.lower() in _FILE_ENDINGS for ending in endings[-2:]):
        raise InputError(
            f"{address} is a file, not a SPARQL endpoint; download it and give the file, such as: curl -O {address} &&"
            f" srtk ask {name} ..."
        )
