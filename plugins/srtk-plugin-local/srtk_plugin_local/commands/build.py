"""``srtk graph build``: build a snapshot of a graph from files of triples."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, console, escaped, shortened
from srtk_plugin_local.snapshot.build_settings import BuildSettings

if TYPE_CHECKING:
    from srtk_plugin_local.snapshot.build import Built
    from srtk_plugin_local.snapshot.input_files import Progress

_PATHS = 20_000
_VECTORS = f"encode all relations and the N most frequent paths ({_PATHS:,}), so that the first questions are fast"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each field of ``BuildSettings``."""
    from srtk_plugin_local.snapshot.formats import FORMATS
    from srtk_plugin_local.snapshot.tools import TOOLS

    add = parser.add_argument

    def many(flag: str, metavar: str, text: str, field: str = "") -> None:
        add(flag, action="append", default=[], metavar=metavar, help=text, dest=field or flag.removeprefix("--"))

    add("files", nargs="+", metavar="FILE", help="files of triples, also .gz, .zst or .bz2")
    add("--out", required=True, metavar="DIR", help="folder of the snapshot")
    add("--format", metavar="F", help=f"one of {', '.join(FORMATS)}; by default guessed from the file names")
    add("--from", dest="made_by", metavar="TOOL", help=f"the tool that wrote the files: {', '.join(TOOLS)}")
    add("--base", default="", metavar="IRI", help="base of relative IRIs in RDF (file:/// and the name of the file)")
    add("--separator", metavar="S", help="column separator; by default found out; \\t is a tab")
    add("--columns", metavar="A,B,C", help="headings or numbers of the subject, relation and object columns")
    header = parser.add_mutually_exclusive_group()
    header.add_argument("--header", dest="header", action="store_true", default=None, help="the first line is a header")
    header.add_argument("--no-header", dest="header", action="store_false", help="the first line is no header")
    add("--id", metavar="A", help="heading of the entity's column: each row is one entity, other columns are relations")
    many("--key", "FILE=COL", "the same for one of several tables", "keys")
    many("--link", "COL=FILE", "values of this column are rows of that table", "links")
    add("--missing", metavar="W,...", help="words of missing values (NULL, NaN, None, ...), in facts, too, if given")
    add("--plan", metavar="FILE", help="plan of columns as YAML: followed if the file is there, else written")
    add("--split", metavar="S", help="separator of several values in one cell, such as ';'")
    add("--literal-columns", metavar="A,...", help="headings of columns whose values are literals, with --id")
    add("--keep", metavar="NAME,...", help="read these columns although they are layout or bookkeeping; 'all': any")
    add("--strict", action="store_true", help="make an error of what is otherwise counted and skipped")
    add(
        "--literals",
        choices=("typed", "numbers", "quoted", "none"),
        default="typed",
        help="which objects are literals (%(default)s)",
    )
    many("--labels", "FILE", "id and label in each line, or a JSON object")
    many("--aliases", "FILE", "id and alias in each line, or a JSON object")
    many("--redirects", "FILE", "page and what it redirects to, as RDF or in each line: its names become aliases")
    many("--descriptions", "FILE", "id and description in each line, or JSON")
    many("--qualifiers", "FILE", "subject, relation, object, relation, value")
    labels = "relation to a label (rdfs:label; in RDF also skos:prefLabel, foaf:name, ...)"
    aliases = "relation to an alias (skos:altLabel; in RDF also skos:hiddenLabel, foaf:nick, ...)"
    many("--label-relation", "REL", labels, "label_relations")
    many("--alias-relation", "REL", aliases, "alias_relations")
    add("--languages", metavar="L,...", help="languages of names to keep, in order of preference (all, English first)")
    many("--prefix", "NAME=IRI", "shorten ids that start with this IRI", "prefixes")
    add("--schema", metavar="FILE", help="YAML or JSON file with lists of the four kinds below")
    many("--type-relation", "REL", "relation to the class of an entity", "type_relations")
    many("--subclass-relation", "REL", "relation to a superclass", "subclass_relations")
    many("--mediator", "PATTERN", "pattern of the ids of mediator nodes", "mediators")
    many("--noise", "PATTERN", "pattern of relations that answer no question")
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--names", dest="names", action="store_true", default=None, help="ids are names")
    names.add_argument("--no-names", dest="names", action="store_false", help="ids are not names")
    add("--vectors", nargs="?", type=_count, const=_PATHS, metavar="N", help=_VECTORS)
    add("--encoder", default="", metavar="MODEL", help="model of the encoder of --vectors; by default minilm")
    add("--memory", default="1GB", metavar="SIZE", help="memory limit for sorting and joining (%(default)s)")
    add("--force", action="store_true", help="replace DIR even if it is no snapshot")
    add("-q", "--quiet", action="store_true", help="print warnings and errors only")


def run(args: argparse.Namespace) -> int:
    """Build the snapshot and print its counts."""
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.plan_file import plan_text

    keeper = None
    if args.vectors is not None:
        from srtk_plugin_local.commands.kept_vectors import KeptVectors, summary

        keeper = KeptVectors(Path(args.out), args.encoder)  # which fails before the build where a driver is missing
    with progress_bar(args.quiet) as progress:
        built = build(settings(args), Path(args.out), args.force, progress)
    if args.plan and not Path(args.plan).is_file():
        Path(args.plan).write_text(plan_text(built.meta.build["plan"]), encoding="utf-8")
        console(stderr=True).print(f"wrote {args.plan}; change it and give it again")
    tell(built, args.quiet)
    if keeper is not None:
        vectors = keeper.make(args.vectors)
        if not args.quiet:
            print(f"{built.folder}: {summary(vectors)}")
    return 0


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress]:
    """Show the progress of a build on stderr, unless it is quiet."""
    if quiet:
        yield lambda stage, done, total: None
    else:
        with _Bar(console(stderr=True)) as bar:
            yield bar


def tell(built: Built, quiet: bool) -> None:
    """Print how the files of a build were read, what was left out, and the counts."""
    from srtk_plugin_local.snapshot.column_table import column_tables
    from srtk_plugin_local.snapshot.input_report import counted, sentences

    screen = console(stderr=True)
    if not quiet:
        for table in column_tables(built.meta.build["reading"]):
            screen.print(table)
    for sentence in sentences(built.meta.build["reading"], quiet, columns=False):
        screen.print(escaped(sentence, lines=False), soft_wrap=True)
    for kind, count in built.ignored.items():
        screen.print(f"left out: {count:,} {kind}")
    if not quiet:
        counts = built.meta.counts
        shown = ", ".join(counted(counts[kind], kind) for kind in ("triples", "entities", "relations"))
        print(f"{built.folder}: {shown}, content {built.meta.content[:16]}")


def settings(args: argparse.Namespace) -> BuildSettings:
    """Return the settings of the flags.

    Raises:
        InputError: If the value of a flag is invalid.
    """
    # The names of the flags are fields; a list that is not given keeps its default.
    given = {field.name: getattr(args, field.name) for field in attrs.fields(BuildSettings)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    for name in ("columns", "missing", "literal_columns", "keep", "languages"):
        given[name] = None if given[name] is None else _listed(given[name])
    for name in ("separator", "split"):
        if given[name] == "":
            raise InputError(f"--{name} is empty; give the characters that separate")
        given[name] = given[name] and given[name].replace("\\t", "\t")
    for name, values in (_read_schema(args.schema) if args.schema else {}).items():
        given[name] = (*values, *given[name])
    given["keys"] = dict(_pair(text, "--key", "FILE=COLUMN") for text in args.keys)
    given["links"] = dict(_pair(text, "--link", "COLUMN=FILE") for text in args.links)
    given["prefixes"] = dict(_prefix(text) for text in args.prefixes)
    given["plan"] = args.plan if args.plan and Path(args.plan).is_file() else None
    # An empty list of missing words is a wish of its own: no word stands for a missing value.
    kept = {name: value for name, value in given.items() if value is not None and (value != () or name == "missing")}
    return BuildSettings(**kept)


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of paths; write --vectors alone after the files")
    return int(text)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pair(text: str, flag: str, form: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.strip() or not value.strip():
        raise InputError(f"{flag} {text!r}: write it as {form}")
    return name.strip(), value.strip()


def _prefix(text: str) -> tuple[str, str]:
    name, equals, namespace = text.partition("=")
    if not equals or ":" not in namespace:
        raise InputError(f"--prefix {text!r}: write it as NAME=IRI, such as wd=http://www.wikidata.org/entity/")
    return name.strip().removesuffix(":"), namespace.strip()


def _read_schema(name: str) -> dict[str, list[str]]:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check the path given to --schema") from error
    data = read_yaml(text, name)
    known = ("type_relations", "subclass_relations", "mediators", "noise")
    if not isinstance(data, dict) or any(key not in known for key in data):
        raise InputError(f"{name}: must be a mapping with the keys {', '.join(known)}")
    for key, values in data.items():
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise InputError(f"{name}: {key} must be a list of texts, not {shortened(repr(values))}")
    return data


class _Bar:
    """A progress bar on stderr, one line for each stage."""

    def __init__(self, console: Any) -> None:
        from rich import progress

        self._progress = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            console=console,
        )
        self._tasks: dict[str, Any] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self._tasks:
            self._finish()
            self._tasks[stage] = self._progress.add_task(stage, total=total or None)
        self._progress.update(self._tasks[stage], completed=done, total=total or None)

    def _finish(self) -> None:
        for task in self._progress.tasks:
            if not task.finished:
                self._progress.update(task.id, total=task.total or 1, completed=task.total or 1)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None:
            self._finish()
        self._progress.stop()
