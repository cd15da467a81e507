"""What a snapshot is built from: the flags of ``srtk graph build``, also a block in a recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.layout import VERSION

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
DESCRIPTION = "description"
"""Relation of the triples that files of descriptions become."""
SKOS_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"


@attrs.frozen
class BuildSettings:
    """The inputs of a snapshot and how to read them.

    Attributes:
        files: Files of triples; ``.gz``, ``.zst`` and ``.bz2`` are read directly.
        format: ntriples, nquads, turtle, trig, rdfxml, tsv, csv or parquet; guessed from each name when left out.
        separator: What stands between the columns of tsv (default: tab) and csv (default: comma) files.
        columns: Names of the subject, relation and object columns; the first line is then a header.
        literals: Which objects of tsv, csv and parquet files are literals: typed ("7"^^xsd:integer, "Riga"@lv),
            quoted (also mere "text"), or none.
        labels: Files of id and label, and optionally a language; or a JSON object of id to label.
        aliases: The same for further names.
        descriptions: Files of id and a description in words; they become triples of the relation `description`, for
            ids that are in some triple.
        qualifiers: Files of subject, relation, object, qualifier relation and value.
        label_relations: Relations whose objects are labels; rdfs:label unless given.
        alias_relations: Relations whose objects are aliases; skos:altLabel unless given.
        languages: Languages of labels and aliases to keep, most wanted first; all when empty, English first.
        prefixes: Short prefix to namespace IRI; an empty prefix shortens to the bare local name.
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns of ids of nodes that only hold a statement together.
        noise: Patterns of ids of relations that answer no question.
        names: Whether ids are names, to be shown with blanks for underscores; true unless there are labels or RDF.
        memory: Most memory that sorting and joining may take, such as 1GB.
        threads: Most threads; None for at most four.
    """

    files: tuple[str, ...]
    format: str | None = None
    separator: str | None = None
    columns: tuple[str, ...] = ()
    literals: str = "typed"
    labels: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    label_relations: tuple[str, ...] = (RDFS_LABEL, "rdfs:label")
    alias_relations: tuple[str, ...] = (SKOS_ALIAS, "skos:altLabel")
    languages: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    names: bool | None = None
    memory: str = "1GB"
    threads: int | None = None

    def every_file(self) -> tuple[str, ...]:
        """Return all input files."""
        return (*self.files, *self.labels, *self.aliases, *self.descriptions, *self.qualifiers)


def fingerprint(settings: BuildSettings) -> str:
    """Hash the settings with the name, size and time of change of every input file.

    Raises:
        InputError: If a file is missing.
    """
    described: dict[str, Any] = attrs.asdict(settings)
    del described["memory"], described["threads"]
    if not settings.descriptions:
        del described["descriptions"]  # snapshots without any stay as they are
    described["version"] = VERSION
    described["stat"] = [_stat(name) for name in settings.every_file()]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _stat(name: str) -> list[Any]:
    try:
        stat = Path(name).stat()
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check the path of this input file") from error
    return [Path(name).name, stat.st_size, stat.st_mtime_ns]
