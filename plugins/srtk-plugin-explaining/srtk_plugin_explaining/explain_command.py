"""Find where the answers to questions were lost: in linking, in the graph, in the search, or by a limit.

Without --id or --question, all questions of the recipe that have answers are explained and counted by class, with the
setting to change. All are retrieved again, and the folder of a finished run is left alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import Any

from srtk_framework.cli import INTERRUPTED, OK, add_set_argument, say
from srtk_framework.graph import with_own_ids
from srtk_framework.host import Tracebacks
from srtk_framework.records import read_questions, write_jsonl
from srtk_framework.run import Session
from srtk_framework.values import InputError, Question, RunError, close_matches, console, escaped
from srtk_plugin_explaining.explainer import Explainer
from srtk_plugin_explaining.findings import FOUND, Explanation
from srtk_plugin_explaining.variants import trained_by

_INDENT = 23  # Where the text of a line begins: two blanks, the title in 20 letters, a blank.
_SHOWN = 5  # Up to this many questions, each is explained in full.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipe", metavar="RECIPE", help="YAML file")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--id", action="append", metavar="ID", help="only this question; repeatable")
    which.add_argument("--question", metavar="TEXT", help="this question, of the recipe or a new one with --answer")
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="ENTITY",
        help="id or name of an answer to --question; repeatable",
    )
    parser.add_argument("--method", metavar="NAME", help="an expander of `evaluate.against` in place of the main one")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--show", type=int, metavar="N", help="explain the first N questions with a loss in full")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write one JSON line for each question")
    parser.add_argument("--untried", action="store_true", help="do not try out settings that bring answers back")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    add_set_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from srtk_framework.recipe import load
    from srtk_plugin_explaining.advice import Advice
    from srtk_plugin_explaining.records import record_of

    faults = Tracebacks()
    session = Session(load(args.recipe, args.set), [faults])
    with session:
        _take_over_training(session)
        explainer = Explainer(session, args.method, not args.untried)
        questions, without = _questions(session, args)
        if session.graph is not None:
            questions = with_own_ids(session.graph, questions)
        done: list[Explanation] = []
        interrupted = False
        try:
            _collect(explainer.explain_all(questions), done, explainer.method, len(questions), args.quiet)
        except KeyboardInterrupt:
            interrupted = True
        if args.json is not None:
            write_jsonl(args.json, map(record_of, done))
        named = args.id is not None or args.question is not None
        _print(done, Advice(session, explainer.expander), args.show, named)
    if args.traceback:
        for driver, lines in faults.table.items():
            say(f"first exception of {driver}:", *lines)
    if without:
        say(f"skipped {without} questions, which have no answers to look for")
    if interrupted:
        say(f"interrupted; {len(done)} of {len(questions)} questions are explained")
    return INTERRUPTED if interrupted else OK


def _take_over_training(session: Session) -> None:
    """Load the model of the recipe's driver from an earlier training."""
    trained = trained_by(session)
    if trained is None:
        return
    driver, model = trained
    if not model.is_dir():
        raise RunError(f"the recipe trains, and {model} does not exist yet; run first: srtk run {session.recipe.file}")
    driver.load(model)


def _questions(session: Session, args: argparse.Namespace) -> tuple[list[Question], int]:
    """Choose the questions; also return how many were skipped for want of answers."""
    if args.answer and args.question is None:
        raise InputError("--answer goes with --question")
    if args.question is not None:
        return [asked(session, args.question, args.answer)], 0
    chosen = list(_all(session))
    if args.id is not None:
        known = {question.id: question for question in chosen}
        for wanted in args.id:
            if wanted not in known:
                raise InputError(f"the recipe has no question {wanted!r}.{close_matches(wanted, list(known))}")
        chosen = [known[wanted] for wanted in dict.fromkeys(args.id)]
    answered = [question for question in chosen if question.answers]
    if not answered:
        raise InputError("none of the questions has answers that could be lost; add `answer_entities` to them")
    return answered[: args.limit], len(chosen) - len(answered)


def _all(session: Session) -> Iterator[Question]:
    source: Any = session.dataset
    if source is None:
        raise InputError("the recipe has no questions; add `questions: FILE`, or use --question and --answer")
    if source == "-":
        raise InputError("the recipe reads its questions from standard input; write them to a file first")
    questions: Iterable[Question] = read_questions(source) if isinstance(source, str) else source.read()
    yield from islice(questions, session.recipe.options.limit)


def asked(session: Session, text: str, answers: Sequence[str]) -> Question:
    """Find a question of the recipe by its text, or make a new question."""
    words = " ".join(text.split()).casefold()
    same = None
    if session.dataset is not None and session.dataset != "-":
        same = next((q for q in _all(session) if " ".join(q.text.split()).casefold() == words), None)
    if answers:
        return Question(same.id if same else "question", text, same.links if same else (), _entities(session, answers))
    if same is None or not same.answers:
        raise InputError("the recipe has no such question with answers; name the answers with --answer")
    return same


def _entities(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    """Turn ids and names into ids; names that the graph does not know stay as they are."""
    assert session.graph is not None
    known = session.graph.frontiers([[name] for name in names])
    found = session.graph.find(list(names))
    rows = ([name] if at.size else list(ids) or [name] for name, at, ids in zip(names, known, found, strict=True))
    return tuple(dict.fromkeys(id_ for row in rows for id_ in row))


def _collect(
    explanations: Iterator[Explanation], done: list[Explanation], method: str, total: int, quiet: bool
) -> None:
    from srtk_framework.host import Observer, Progress

    bar = Observer() if quiet else Progress()
    bar.open()
    with closing(bar):
        bar.event("method", {"name": f"explain {method}", "total": total, "completed": 0})
        for one in explanations:
            done.append(one)
            bar.event("batch", {"completed": len(done), "failed": 0})


def _print(explanations: Sequence[Explanation], advice: Any, show: int | None, named: bool) -> None:
    from srtk_plugin_explaining.report import advice_lines, question_lines, table

    if not explanations:
        return
    screen = console()
    lost = [one for one in explanations if one.kind != FOUND]
    few = len(explanations) <= _SHOWN
    shown = explanations if named and few and show is None else lost[: show or 0]
    lines = [line for one in shown for line in [*question_lines(one, advice), ""]]
    if not (named and few):
        screen.print(table(explanations))
        lines = ["", *advice_lines(explanations, advice), "", *lines]
    _lines(screen, lines)


def _lines(screen: Any, lines: Sequence[str]) -> None:
    """Print lines; on a terminal, long lines are wrapped and indented below their text."""
    for text in lines:
        line = escaped(text, lines=False)
        indent = " " * (_INDENT if line.startswith("  ") else 2)
        whole = not screen.is_terminal or len(line) <= screen.width
        parts = [line] if whole else wrap(line, screen.width, subsequent_indent=indent, break_on_hyphens=False)
        for part in parts or [""]:
            screen.print(part, soft_wrap=True)
