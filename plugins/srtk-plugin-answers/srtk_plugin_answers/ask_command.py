"""Ask a graph questions, without a recipe.

Prints the answer and its proof. Without a question, a prompt; Ctrl-D ends it.

GRAPH is files of tables or triples (CSV, Turtle, GraphML, ...) or a folder of them, or the folder of a snapshot. It may
also be the address of a SPARQL endpoint, or the name of a graph, such as wikidata; `demo` is the graph of `srtk demo`.
The graph of files is built once, and kept in the user's cache.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.cli import FAILED, OK, add_set_argument, note, say
from srtk_framework.host import driver_of
from srtk_framework.recipe import Places, set_value
from srtk_framework.records import dumps
from srtk_framework.roles import GraphView
from srtk_framework.run import WIDTH, Graph, Result, Retriever, cache_folder, looks_like_file, write_page
from srtk_framework.values import InputError, RecipeError, SrtkError, console, escaped, redacted
from srtk_plugin_answers import demo_command

_PROMPT = "question> "
_MORE = ":more"
"""What a person writes at the prompt to see all triples of the last question."""
_HELP = ":help"
_HELP_TEXT = f"""A line is a question, in words, about what the graph names.
  {_MORE}   all paths and triples of the last question
  {_HELP}   this text
  Up, Down earlier questions, where there is a terminal
  Ctrl-C  drops the line, or stops the search
  Ctrl-D  ends
The answer comes first, then what proves it; behind {_MORE} each path has its score before it. -relation-> is followed
forwards, <-relation- backwards."""
_DEMO = "demo"
_PAIRS = {"--key": ("FILE", "COLUMN"), "--link": ("COLUMN", "FILE")}
_KEPT = 1000
"""Questions that the history keeps."""
_ROLES = {
    "entity_linker": "linker",
    "path_scorer": "scorer",
    "encoder": "encoder",
    "expander": "expander",
    "reader": "reader",
}
"""Roles of a recipe, and the arguments of ``Retriever`` for them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("graph", metavar="GRAPH", help="a snapshot, a file of triples, an address, or a name such as wikidata")
    add(
        "words",
        nargs="*",
        metavar="QUESTION",
        help="what to ask, one question for each text in quotation marks, after further files of the graph; without it,"
        " questions are read one by one",
    )
    add("--more", action="store_true", help="show all paths and triples")
    add("--json", action="store_true", help="print the record that `srtk run` writes, one line for each question")
    add("--page", metavar="FILE", help="write a page of HTML that shows the subgraphs too")
    add("--depth", type=int, metavar="N", help="longest path (3; 2 with trained weights, or on a server)")
    add("--triples", type=int, metavar="N", help="most triples for a question (50); 0 for no limit")
    add("--least", type=float, metavar="P", help="refuse answers less probable than this, from 0 to 1")
    add("--linker", metavar="NAME", help="entity_linker driver; by default the one that suits the graph")
    add(
        "--columns", metavar="A,B,C", help="of a table: headings or numbers of its subject, relation and object columns"
    )
    header = parser.add_mutually_exclusive_group()
    header.add_argument(
        "--header", dest="header", action="store_true", default=None, help="of a table: its first line is a header"
    )
    header.add_argument("--no-header", dest="header", action="store_false", help="of a table: it has no header")
    add("--id", metavar="A", help="of a table with one entity in each row: heading of the entity's column")
    add("--split", metavar="S", help="of a table: separator of several values in one cell")
    add(
        "--key",
        action="append",
        default=[],
        metavar="FILE=COLUMN",
        help="of several tables: heading of the column that names the rows of one; repeatable",
    )
    add(
        "--link",
        action="append",
        default=[],
        metavar="COLUMN=FILE",
        help="of several tables: the one whose rows a column refers to; repeatable",
    )
    add("--plan", metavar="FILE", help="of tables: read the columns as this plan says")
    add("--keep", metavar="A,...", help="columns or properties to read that are left out otherwise")
    add("--base", metavar="IRI", help="of RDF: what relative IRIs are relative to")
    add("--missing", metavar="W,...", help="of tables: words that mean a missing value")
    add("--from", dest="made_by", metavar="TOOL", help="the tool that wrote the files, such as graphrag")
    add_set_argument(
        parser,
        "change a value of the recipe that this stands for, such as expander.width=30 or"
        " knowledge_graph.build.labels=[names.tsv]",
    )
    add("--recipe", action="store_true", help="print the recipe that this stands for, and ask nothing")
    add("-q", "--quiet", action="store_true", help="print results and errors only")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    graphs, words = _told_apart([args.graph, *args.words])
    questions = _questions_of(words, args.quiet)
    retriever = _retriever(args, graphs)
    if args.recipe:
        print(retriever.to_yaml(), end="")
        return OK
    asked: list[Result] = []
    try:
        with _shown_while_opening(retriever, args.quiet):
            retriever.open()
        for number, question in enumerate(questions):
            if number and not args.json:
                print()
            asked.append(_answer(retriever, question, args))
        if not questions:
            _converse(retriever, args, asked)
    finally:
        retriever.close()
    if args.page is not None and asked:
        write_page(asked, Path(args.page))
        if not args.quiet:
            print(f"wrote {args.page}", file=sys.stderr)
    return FAILED if asked and all(result.error is not None for result in asked) else OK


def _told_apart(words: list[str]) -> tuple[list[str], list[str]]:
    """Split words into the graphs and the rest: further files stand directly after a first file.

    Raises:
        InputError: If a graph that looks like a file is missing.
    """
    if not _is_there(words[0]) and not looks_like_file(words[0]):
        return words[:1], words[1:]
    if words[0].startswith(("http://", "https://")):
        return words[:1], words[1:]
    count = next((n for n, word in enumerate(words) if n and not (_is_there(word) or looks_like_file(word))), None)
    graphs = words[:count]
    for name in graphs:
        if not _is_there(name):
            raise InputError(f"there is no file or folder {name!r}; check the path")
    return graphs, words[len(graphs) :]


def _is_there(name: str) -> bool:
    return bool(name) and os.path.exists(Path(name).expanduser())


def _questions_of(words: list[str], quiet: bool) -> list[str]:
    """Return the questions: words without a space in any are a question that was typed without quotation marks."""
    if len(words) < 2 or any(any(map(str.isspace, word)) for word in words):
        return words
    question = " ".join(words)
    if not quiet:
        note(f"read as one question: {question!r}; put each of several questions in quotation marks")
    return [question]


def _demo(settings: dict[str, Any], quiet: bool) -> Graph:
    """Take the graph of `srtk demo`, whose tables are written into the user's cache where they are missing.

    Raises:
        SrtkError: If data packages are missing, or the tables cannot be written.
    """
    folder = cache_folder() / "demo" / "world"
    if not folder.is_dir():
        demo_command.require_packages()
        if not quiet:
            note("writing the tables of the demo, once")
        made = folder.with_name(f".world-{os.getpid()}")
        demo_command.write_world(made, quiet=True)
        with suppress(OSError):  # another call was faster
            made.replace(folder)
        shutil.rmtree(made, ignore_errors=True)
    build = demo_command.world_build(folder) | settings
    return attrs.evolve(Graph.from_csv(*build.pop("files"), **build), name="demo")


def _pairs(flag: str, texts: list[str]) -> dict[str, str]:
    """Return the pairs in the values of a flag, such as FILE=COLUMN.

    Raises:
        InputError: If a value is not of that form.
    """
    left, right = _PAIRS[flag]
    pairs = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and name and value):
            raise InputError(f"{flag} {text!r}: write it as {left}={right}")
        pairs[name] = value
    return pairs


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _retriever(args: argparse.Namespace, graphs: list[str]) -> Retriever:
    """Make the retriever that the flags describe.

    Raises:
        SrtkError: If the graph is not there, drivers are not installed, or settings do not fit.
    """
    keys: dict[str, Any] = {}
    problems: list[str] = []
    for override in args.set:
        set_value(keys, override, Places("srtk ask"), problems)
    if problems:
        raise RecipeError([redacted(problem) for problem in problems])
    settings = _mapping("knowledge_graph", keys.pop("knowledge_graph", {}))
    build = _mapping("knowledge_graph.build", settings.pop("build", {}))
    build |= {name: value for name, value in _build_settings(args).items() if value is not None}
    roles = {"reader": "paths"} | {argument: keys.pop(role) for role, argument in _ROLES.items() if role in keys}
    if args.linker is not None:
        roles["linker"] = args.linker
    if args.least is not None:
        block = roles["reader"] if isinstance(roles["reader"], dict) else {"use": roles["reader"]}
        roles["reader"] = {**block, "least": args.least}
    given = {**settings, **build}
    if graphs == [_DEMO]:
        if Path(_DEMO).exists() and not args.quiet:
            note(f"asking the graph of `srtk demo`; for what is called {_DEMO} here, write ./{_DEMO}")
        graph = _demo(given, args.quiet)
    else:
        graph = Graph.open(graphs[0] if len(graphs) == 1 else graphs, **given)
    return Retriever(graph, depth=args.depth, triples=args.triples, **roles, **keys)


def _build_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of a build that flags give; None stands for a flag that is not given."""
    return {
        "columns": _list(args.columns),
        "header": args.header,
        "id": args.id,
        "split": args.split,
        "keys": _pairs("--key", args.key) or None,
        "links": _pairs("--link", args.link) or None,
        "plan": args.plan,
        "keep": _list(args.keep),
        "base": args.base,
        "missing": _list(args.missing),
        "made_by": args.made_by,
    }


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecipeError([f"--set {name}: it has settings, so name one of them: {name}.SETTING=VALUE"])
    return value


def _answer(retriever: Retriever, question: str, args: argparse.Namespace) -> Result:
    """Answer one question and print the result."""
    result = retriever.ask(question)
    if args.json:
        print(dumps(result.to_record()), flush=True)
    elif args.more:
        print(result.to_text(None, None, _width()), flush=True)
    else:
        print(result.to_text(width=_width()), flush=True)
    return result


def _converse(retriever: Retriever, args: argparse.Namespace, asked: list[Result]) -> None:
    """Answer the questions of the standard input; after a failed question the next may be asked."""
    for number, question in enumerate(_questions(sys.stdin.isatty())):
        if question == _HELP:
            print(_HELP_TEXT, flush=True)
            continue
        if question == _MORE:
            print(asked[-1].to_text(None, None, _width()) if asked else "nothing was asked yet", flush=True)
            continue
        if number and not args.json:
            print()
        try:
            asked.append(_answer(retriever, question, args))
        except KeyboardInterrupt:
            say("interrupted")
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad question does not end the others
            what = str(error) if isinstance(error, SrtkError) else f"{type(error).__name__}: {error}"
            say(f"error: {redacted(what)}")


def _width() -> int:
    return min(WIDTH, shutil.get_terminal_size().columns)


def _questions(is_terminal: bool) -> Iterator[str]:
    """Yield the questions of the standard input: of a prompt with a history on a terminal, else line by line."""
    if not is_terminal:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    print(f"Ask in words; {_MORE} shows all of the last result, {_HELP} the rest, Ctrl-D ends.", file=sys.stderr)
    with _history(cache_folder() / "ask-history"):
        while True:
            try:
                line = input(_PROMPT)
            except EOFError:
                print()
                return
            except KeyboardInterrupt:  # drops the line, as in a shell
                print()
                continue
            if line.strip():
                yield line.strip()


@contextmanager
def _history(file: Path) -> Iterator[None]:
    """Let a prompt go back to earlier lines, also of earlier calls, where Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    with suppress(OSError):  # there is none yet
        readline.read_history_file(file)
    readline.set_history_length(_KEPT)
    try:
        yield
    finally:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)
        except OSError as error:
            note(f"the history is not kept: {file} cannot be written ({error.strerror})")


@contextmanager
def _shown_while_opening(retriever: Retriever, quiet: bool) -> Iterator[None]:
    """Show why the first answer takes time: on a terminal as long as it lasts, elsewhere for a build alone.

    Log records of the graph's driver while it builds are shown too, such as how the first line of a table was read.
    """
    graph = retriever.graph
    package = type(_innermost(retriever.session.graph)).__module__.partition(".")[0]
    what = f"building the graph of {graph.name}, once" if graph.is_new else "loading graph and model"
    if quiet:
        yield
    elif not sys.stderr.isatty():
        if not graph.is_new:
            yield
            return
        note(what)
        with _logged(package, note):
            yield
    else:
        from rich.text import Text

        screen = console(stderr=True)

        def show(text: str) -> None:
            screen.print(escaped(redacted(text), lines=False))

        with screen.status(Text(what)), _logged(package, show) if graph.is_new else nullcontext():
            yield


def _innermost(graph: Any) -> Any:
    """Return the driver that reads the graph, behind ports and views."""
    driver = driver_of(graph)
    return _innermost(driver.graph) if isinstance(driver, GraphView) else driver


@contextmanager
def _logged(package: str, show: Callable[[str], None]) -> Iterator[None]:
    """Show log records of a package, with paths relative to the current folder."""
    here = f"{Path.cwd()}{os.sep}"

    class Shown(logging.Handler):
        """Shows the text of each record."""

        def emit(self, record: logging.LogRecord) -> None:
            """Show a record."""
            show(record.getMessage().replace(here, ""))

    handler, log = Shown(logging.INFO), logging.getLogger(package)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
