"""The settings of a build: the flags of ``srtk graph build`` and the ``build`` block of a recipe."""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

import attrs

from srtk_framework.text import ALIAS_RELATIONS, LABEL_RELATIONS
from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.layout import VERSION

# Relation of an edge that names none.
EDGE = "edge"
# Stands between the path of a file and the name of a table in it.
WITHIN = "::"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
# Relation of the triples made from files of descriptions.
DESCRIPTION = "description"
SKOS_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
LABELS = (RDFS_LABEL, "rdfs:label")
ALIASES = (SKOS_ALIAS, "skos:altLabel")


# Counts up when the same files and settings may give another graph, so that snapshots are built again.
_READER = 6


def matched_files(names: Iterable[str]) -> tuple[str, ...]:
    """Replace each pattern by the files that match it, sorted.

    A name of a file or a folder, and a pattern without matches, stay as they are.
    """
    found: list[str] = []
    for name in names:
        matches = sorted(glob.glob(name)) if glob.has_magic(name) and not Path(name).exists() else []
        found += matches or [name]
    return tuple(found)


def files_of(name: str) -> list[str]:
    """Return the data files of a folder, sorted; the name itself of a file, and of a folder without data."""
    from srtk_framework.run import data_files  # which imports what runs a recipe

    return [str(path) for path in data_files(Path(name))] or [name] if Path(name).is_dir() else [name]


def same_file(name: str, file: str) -> bool:
    """Return whether a file is meant by a name: its path, its file name, or that without endings."""
    outer, _, inner = file.rpartition(WITHIN)
    if outer and name == inner:
        return True
    path = Path(outer or file)
    return name in (file, path.name, path.name.split(".")[0]) or Path(name).resolve() == path.resolve()


@attrs.frozen
class BuildSettings:
    """The inputs of a snapshot and how to read them.

    Attributes:
        files: Files of triples, folders of such, or patterns such as ``part-*.nt.gz``; ``.gz``, ``.zst`` and ``.bz2``
            are read directly.
        format: ntriples, nquads, turtle, trig, rdfxml, jsonld, graphml, gexf, tsv, csv or parquet; by default guessed
            from the file names.
        separator: Column separator of tables; by default found out: tab, comma, semicolon or ``|``.
        columns: Headings, or numbers from 1, of the subject, relation and object columns; with ``id``, of those to
            read. By default they are found by the words of the header, else they are the first three.
        header: Whether the first line of tables is a header; by default its words decide.
        id: Heading of the column of the entity, in tables with one entity in each row; each other column is a relation.
        keys: Heading of the column of the key, by file, where tables have different keys.
        links: Table of the rows that the values of a column name, by heading.
        missing: Words of missing values in tables of entities, whatever their case; by default NULL, NaN, None, N/A and
            the like. Facts with such a word as subject or object are left out where words are given.
        plan: File of a plan of columns, as ``srtk graph build --plan`` writes it; it goes before all that is found.
        split: Separator of several values in one cell.
        literal_columns: Headings of the columns of such tables whose values are literals.
        keep: Names of columns or properties that are read although they are layout (x, y, color) or bookkeeping
            (created_at, file_path); ``all`` for every name.
        literals: Objects of tsv, csv and parquet files, and qualifier values, that are literals. typed:
            "7"^^xsd:integer, "Riga"@lv; in tables with one entity in each row also plain numbers, dates and truth
            values. numbers: plain numbers, dates and truth values in all tables. quoted: also "text". Or none.
        strict: Refuse rows that are otherwise counted and skipped: empty cells, rows with another number of columns,
            comment lines, empty files, first lines that may be a header.
        labels: Files of id, label and, optionally, language; or JSON objects of labels by id.
        aliases: The same for further names.
        redirects: Files of pages and the ids that they redirect to, as RDF or with two columns (or three, a relation
            between them): the names of a page become aliases of the entity.
        descriptions: Files of id and description; each becomes a triple of the relation `description` if its id
            occurs in a triple.
        qualifiers: Files of subject, relation, object, qualifier relation and value.
        label_relations: Relations whose objects are labels; by default rdfs:label. In RDF files by default also the
            relations of ``srtk_framework.text.LABEL_RELATIONS``; the first that an entity has gives its label.
        alias_relations: Relations whose objects are aliases; skos:altLabel by default, and in RDF files the other
            relations of ``srtk_framework.text.ALIAS_RELATIONS``.
        languages: Languages of labels and aliases to keep, in order of preference; by default all, English first.
        prefixes: Namespace IRIs by prefix; an empty prefix shortens to the bare local name.
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns of ids of mediator nodes, which only join the parts of a statement.
        noise: Patterns of ids of relations that answer no question.
        base: Base of the relative IRIs of RDF files that declare none; by default ``file:///`` and the name of the
            file, wherever it lies.
        names: Whether ids are names, shown with spaces for underscores; by default true without labels and RDF.
        memory: Memory limit for sorting and joining, such as 1GB.
        made_by: Tool that wrote the files: graphrag, kgtk, gephi or wikidata-json; by default they are read by format.
    """

    files: tuple[str, ...] = attrs.field(converter=matched_files)
    format: str | None = None
    separator: str | None = None
    columns: tuple[str | int, ...] = ()
    header: bool | None = None
    id: str | None = None
    keys: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    links: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    missing: tuple[str, ...] | None = None
    plan: str | None = None
    split: str | None = None
    literal_columns: tuple[str, ...] = ()
    strict: bool = False
    keep: tuple[str, ...] = ()
    literals: str = "typed"
    labels: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    redirects: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    label_relations: tuple[str, ...] = LABELS
    alias_relations: tuple[str, ...] = ALIASES
    languages: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    names: bool | None = None
    base: str = ""
    memory: str = "1GB"
    made_by: str | None = None

    def chosen_columns(self) -> tuple[str, ...]:
        """Return ``columns`` as texts."""
        return tuple(str(column) for column in self.columns)

    def key_of(self, file: str) -> str | None:
        """Return the heading of the key of a file that is given; None if none is."""
        return next((key for name, key in self.keys.items() if same_file(name, file)), self.id)

    def read_files(self) -> tuple[str, ...]:
        """Return ``files`` with the data files of a folder in its place."""
        return tuple(file for name in self.files for file in files_of(name))

    def every_file(self) -> tuple[str, ...]:
        """Return all input files."""
        named = (*self.read_files(), *self.labels, *self.aliases, *self.redirects, *((self.plan,) if self.plan else ()))
        return (*named, *self.descriptions, *self.qualifiers)


def names_of_rdf(settings: BuildSettings) -> list[tuple[str, bool]]:
    """Return the naming relations of RDF, best first, and whether each gives aliases; none where a person chose some.

    Where labels are chosen and aliases are not, or the other way round, the choice holds for its kind alone.
    """
    labels = LABEL_RELATIONS if settings.label_relations == LABELS else ()
    aliases = ALIAS_RELATIONS if settings.alias_relations == ALIASES else ()
    return [*((relation, False) for relation in labels), *((relation, True) for relation in aliases)]


def fingerprint(settings: BuildSettings) -> str:
    """Hash the settings with the name, size and modification time of every input file.

    Raises:
        InputError: If a file is missing.
    """
    described: dict[str, Any] = attrs.asdict(settings)
    del described["memory"]
    described["version"] = VERSION
    described["reader"] = _READER
    described["stat"] = [_stat(name) for name in settings.every_file()]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _stat(name: str) -> list[Any]:
    try:
        stat = Path(name).stat()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check the path of this input file") from error
    if not S_ISREG(stat.st_mode):
        what = "a folder without data files" if S_ISDIR(stat.st_mode) else "a pipe or a device"
        raise InputError(f"{name}: is {what}, and no file; write what is to be read to a file")
    return [Path(name).name, stat.st_size, stat.st_mtime_ns]
