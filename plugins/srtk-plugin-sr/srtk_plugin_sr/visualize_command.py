"""Draw retrieved subgraphs on a page.

The page is self-contained, for all questions of a results file, or of two side by side.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_evaluation import method_names

from srtk_framework.cli import OK, graph_block, note
from srtk_framework.records import read_json, read_retrievals
from srtk_framework.run import journal_file
from srtk_framework.values import InputError
from srtk_plugin_sr.short_commands import add_file_arguments, run_folder, run_short, set_graph, set_output

_DRAWN = 60
"""Triples that the page draws of a question; its table lists all."""


@attrs.frozen
class _Asked:
    """A question of a results file.

    Attributes:
        text: Its text.
        triples: Number of its triples.
    """

    text: str
    triples: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="JSONL file of results, or two of the same questions to see side by side; or the folder of a run",
    )
    add_file_arguments(parser, "--output-dir", ".pages", required=False)
    parser.add_argument("--name", action="append", metavar="NAME", help="name of each of two methods; repeatable")
    parser.add_argument("-e", "--sparql-endpoint", metavar="URL", help="where to read labels that the file lacks")
    parser.add_argument(
        "--max-output", type=int, default=1000, metavar="N", help="most questions of the first file (%(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    given = [*([args.input] if args.input is not None else []), *args.files]
    files, names = _methods(given, args.name)
    args.input = files[0]
    if args.output is None and given[0] != "-":
        args.output = "-".join([str(Path(given[0]).with_suffix("")), *names[1:]]) + ".pages"
    set_output(args, ".pages")
    if args.sparql_endpoint is not None:
        set_graph(args)
    page = Path(args.output) / "page.html"
    exporter: dict[str, Any] = {"use": "html", "path": str(page), "max_triples": _DRAWN}
    # The standard input can be read once, by the run, which keeps a copy of it.
    asked = [] if args.input == "-" else [_asked(file) for file in files]
    if asked:
        exporter["total"] = len(asked[0])
    if len(files) == 2:
        _check_common(files, asked)
        exporter |= {"title": " and ".join(names), "names": names, "against": files[1]}
        if args.knowledge_graph is not None:
            exporter["against"] = str(Path(args.output) / "second.jsonl")
            if (code := _label_second(args, files[1], asked, exporter["against"])) != OK:
                return code
    data = {
        "questions": args.input,
        **graph_block(args, args.sparql_endpoint),
        "limit": args.max_output,
        "exporters": [exporter],
    }
    code = run_short(args, data)
    if code == OK:
        asked = asked or [_asked(str(run_folder(args) / "questions.in"))]
        drawn = [{question: one[question] for question in list(one)[: args.max_output]} for one in asked[:1]]
        if len(asked[0]) > args.max_output:
            most = len(asked[0])
            note(f"{page} has the first {args.max_output} of {most} questions; draw all with --max-output {most}")
            drawn += [{question: one[question] for question in one if question in drawn[0]} for one in asked[1:]]
        else:
            drawn += asked[1:]
        for number, one in enumerate(drawn):
            _tell_omissions(list(one.values()), page, names[number] if names else "")
    return code


def _methods(given: Sequence[str], names: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the files of results to draw, at most two, and the names of two methods.

    Raises:
        InputError: If there is no file or are too many, or the standard input is one of two.
    """
    if not given:
        raise InputError("there are no results to draw; name a JSONL file, or two of the same questions")
    if len(given) > 2:
        raise InputError(
            f"{len(given)} files are given, and a page shows one or two side by side; name two of them, and draw the"
            " others on pages of their own"
        )
    found = [_results_of(one) for one in given]
    if len(found) == 1:
        files = found[0]
        if len(files) > 2:
            raise InputError(
                f"{given[0]} has the results of {len(files)} methods, and a page shows one or two side by side; name"
                f" one or two of {', '.join(files)}"
            )
        own: Sequence[str] = [Path(file).stem for file in files]
    else:
        files = [one[0] for one in found]
        own = given
    if len(files) == 1:
        if names:
            raise InputError("--name names each of two methods; omit it for one file")
        return files, []
    if "-" in files:
        raise InputError("two methods are drawn from two files; write the standard input to a file, and name it")
    return files, method_names(own, names)


def _results_of(given: str) -> list[str]:
    """Return the files of results at a path: itself, or the journals of a run's methods, the main method first."""
    if given == "-" or not Path(given).is_dir():
        return [given]
    manifest = Path(given) / "manifest.json"
    run = read_json(manifest) if manifest.exists() else {}
    found = [journal_file(Path(given), method) for method in run.get("timing", {})]
    if not found or not all(file.exists() for file in found):
        raise InputError(f"{given} is no folder of a finished run; name a JSONL file of results")
    return [str(file) for file in found]


def _asked(file: str) -> dict[str, _Asked]:
    return {
        found.question.id: _Asked(found.question.text, len(found.subgraph.triples)) for found in read_retrievals(file)
    }


def _check_common(files: Sequence[str], asked: Sequence[dict[str, _Asked]]) -> None:
    """Refuse two files that do not answer the same questions.

    Raises:
        InputError: If no id, or no id with the same text, is in both.
    """
    first, second = asked
    common = [question for question in first if question in second]
    if not common:
        ids = [next(iter(one), "no question") for one in asked]
        raise InputError(
            f"no question of {files[0]} is in {files[1]} (their first ids: {ids[0]} and {ids[1]}); give results for the"
            " same questions, with the same ids"
        )
    if all(first[question].text != second[question].text for question in common):
        one = common[0]
        raise InputError(
            f"{files[0]} and {files[1]} have the same ids for other questions ({one}: {first[one].text!r} and"
            f" {second[one].text!r}); give results for the same questions, with the same ids"
        )


def _label_second(args: argparse.Namespace, file: str, asked: Sequence[dict[str, _Asked]], target: str) -> int:
    """Write the results of the second method with labels from the graph, as far as the page shows them."""
    last = len(asked[1])
    if len(asked[0]) > args.max_output:
        shown = set(list(asked[0])[: args.max_output])
        last = max((number for number, question in enumerate(asked[1], start=1) if question in shown), default=1)
    data = {
        "questions": file,
        **graph_block(args, args.sparql_endpoint),
        "limit": last,
        "exporters": [{"use": "jsonl", "path": target}],
    }
    return run_short(argparse.Namespace(**{**vars(args), "output": target}), data)


def _tell_omissions(asked: Sequence[_Asked], page: Path, method: str) -> None:
    """Print for how many questions of a results file the page draws nothing, or not all triples."""
    of = f" of {method}" if method else ""
    triples = [one.triples for one in asked]
    empty, large = triples.count(0), sum(count > _DRAWN for count in triples)
    if empty:
        note(f"{empty} of the {len(triples)} questions{of} on {page} have no triples, so nothing is drawn of them")
    if large:
        note(
            f"{page} draws {_DRAWN} triples of each of {large} questions{of} that have more, those on routes to"
            " answers first; its tables list all"
        )
