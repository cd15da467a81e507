"""Faults planted in drivers that the framework has never seen, and which of them are caught.

    PYTHONPATH=tests python -m kit.planted_faults [--json] [--how asked|run|kit]

Each fault is in one hook of one driver, a toy of the conformance kit with its answer spoilt. ``asked``: the port of the
driver is asked about three items, of which the middle one is answered wrongly; the error must name the driver and the
hook, and the other two answers must be kept. ``run``: the driver stands in a session that answers three questions; two
must get a result, and the error of the third must name the driver. ``kit``: the conformance class of the role must
fail, since only a test sees the fault.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.host.discovery import group
from srtk_framework.host.observers import Observer
from srtk_framework.host.ports import port
from srtk_framework.roles import ROLES, Role
from srtk_framework.run import Session
from srtk_framework.testing import SAMPLE, OracleGraph
from srtk_framework.testing.base import kit_of
from srtk_framework.values import (
    END,
    Alternative,
    Budget,
    Completion,
    DriverError,
    Entry,
    Frontier,
    Hit,
    Link,
    MaskedText,
    Mention,
    Message,
    NodeSet,
    Pattern,
    Prompt,
    Question,
    RankedPath,
    SrtkError,
    Step,
    Subgraph,
    Triple,
)

COUNTRIES = ("Latvia", "Estonia", "Lithuania")
BAD = "Estonia"
"""The item that is answered wrongly."""
NAME = "Planted"
"""Name of the class of each planted driver."""
CAPITAL = Step("capital")
ASKED = "What is the capital city of "
QUESTIONS = [
    Question(one, f"{ASKED}{one}, of {one.upper()}?", (Link(one, 1.0, len(ASKED), len(ASKED) + len(one)),))
    for one in COUNTRIES
]
TEXTS = [question.text for question in QUESTIONS]
MOVED = Completion(Triple("Poland", "borders", "Poland"), 0.5)
TRIPLES = [Triple("Latvia", "capital", "Riga"), Triple("Estonia", "capital", "Tallinn"), SAMPLE.triples[0]]


@attrs.frozen
class Fault:
    """A fault of one hook.

    Attributes:
        role: Role of the driver.
        hook: The hook that answers wrongly.
        what: What is wrong.
        spoil: Makes the wrong answer of the right one: for the bad item, or for the whole batch.
        whole: Whether it spoils the whole answer.
        how: ``asked``, ``run`` or ``kit``.
    """

    role: str
    hook: str
    what: str
    spoil: Callable[[Any], Any]
    whole: bool = False
    how: str = "asked"


@attrs.frozen
class Run:
    """What became of a fault.

    Attributes:
        caught: Whether it was refused by a sentence that names the driver and the hook.
        kept: Answers or results that were kept, of the two good ones; None where the batch has no items.
        said: The message, or what happened instead.
    """

    caught: bool
    kept: int | None
    said: str


def of(hook: str, role: str, *faults: tuple[str, Callable[[Any], Any]], whole: bool = False) -> list[Fault]:
    """List faults of one hook that are asked about."""
    return [Fault(role, hook, what, spoil, whole) for what, spoil in faults]


def _none(answer: Any) -> None:
    return None


def _with(**changes: Any) -> Callable[[Any], Any]:
    return lambda item: attrs.evolve(item, **changes)


def _scores(change: Callable[[tuple[float, ...]], Sequence[float]]) -> Callable[[Subgraph], Subgraph]:
    return lambda found: attrs.evolve(found, scores=tuple(change(found.scores)))


def _twice(found: Subgraph) -> Subgraph:
    places = [0, *range(len(found.triples))]
    return found.ordered(places)


def _nan_row(row: Any) -> Any:
    return np.full_like(row, np.nan)


GRAPH = [
    *of("frontiers", "knowledge_graph", ("None", _none), ("a list of ids", lambda f: list(f.ids()))),
    *of("frontiers", "knowledge_graph", ("more nodes than ids", lambda f: NodeSet([*f.ids(), "Riga", "Vilnius"]))),
    *of(
        "steps",
        "knowledge_graph",
        ("names instead of steps", lambda row: [step.relation for step in row]),
        ("a step twice", lambda row: [*row, row[-1]]),
        ("out of order", lambda row: row[::-1]),
        ("inverse steps", lambda row: [*row, Step("zzz", True)]),
        ("END", lambda row: [END, *row]),
    ),
    *of("follow", "knowledge_graph", ("a list of ids", lambda f: list(f.ids())), ("None", _none)),
    *of(
        "triples",
        "knowledge_graph",
        ("another relation", lambda row: [Triple(s, "borders", o) for s, _, o in row]),
        ("another subject", lambda row: [Triple("Poland", r, o) for _, r, o in row]),
        ("a triple twice", lambda row: [*row, *row]),
        ("tuples", lambda row: [tuple(triple) for triple in row]),
        ("None", _none),
    ),
    *of(
        "match",
        "knowledge_graph",
        ("another subject", lambda row: [Triple("Poland", r, o) for _, r, o in row]),
        ("a triple twice", lambda row: [*row, *row]),
        ("strings", lambda row: [" ".join(triple) for triple in row]),
    ),
    *of(
        "neighbourhood",
        "knowledge_graph",
        ("a triple twice", lambda row: [*row[:3], *row[:3]]),
        ("triples from elsewhere", lambda row: [*row[:3], Triple("Narcissus", "admires", "Narcissus")]),
        ("more than the budget", lambda row: [*row, *(t for t in SAMPLE.triples if t not in row)]),
    ),
    *of(
        "paths",
        "knowledge_graph",
        ("a path that is too long", lambda found: attrs.evolve(found, paths=((CAPITAL,) * 9,))),
        ("a path twice", lambda found: attrs.evolve(found, paths=((CAPITAL,),) * 2)),
        ("text", lambda found: "capital"),
    ),
    *of("labels", "knowledge_graph", ("None", _none), ("a list", lambda label: [label])),
    *of("labels", "knowledge_graph", ("one too few", lambda row: row[:-1]), whole=True),
    *of("other_names", "knowledge_graph", ("a text", lambda row: "Eesti"), ("out of order", lambda row: ["b", "a"])),
    *of("own_ids", "knowledge_graph", ("None", _none)),
    *of("find", "knowledge_graph", ("an id twice", lambda row: [*row, *row]), ("a number", lambda row: [7])),
    *of("near_names", "knowledge_graph", ("more than the limit", lambda row: ["a", "b", "c", "d"])),
    *of("known_words", "knowledge_graph", ("a text", lambda known: "yes")),
    *of("degrees", "knowledge_graph", ("below nought", lambda count: -1), ("half", lambda count: 0.5)),
    *of("qualifiers", "knowledge_graph", ("names alone", lambda row: ["since"]), ("None", _none)),
    *of("origins", "knowledge_graph", ("a text", lambda origin: "here")),
    *of("schema", "knowledge_graph", ("a mapping", lambda schema: {"noise": ()}), whole=True),
    *of("source", "knowledge_graph", ("nothing", lambda source: ""), whole=True),
]

SEARCH = [
    *of(
        "score",
        "path_scorer",
        ("scores missing", lambda row: row[:-1]),
        ("NaN", lambda row: [math.nan, *row[1:]]),
        ("infinite", lambda row: [math.inf, *row[1:]]),
        ("too long", lambda row: [*row, 0.0]),
        ("texts", lambda row: [str(one) for one in row]),
        ("None", _none),
        ("a column of scores", lambda row: np.array(row)[:, None]),
    ),
    *of(
        "score",
        "path_scorer",
        ("padded array", lambda rows: [[*row, *[0.0] * (3 - len(row))] for row in rows]),
        whole=True,
    ),
    *of("score", "path_scorer", ("one row too few", lambda rows: rows[:-1]), ("None", _none), whole=True),
    *of("scores_end", "path_scorer", ("a text", lambda yes: "no"), whole=True),
    *of("search_settings", "path_scorer", ("a list", lambda settings: ["margin"]), whole=True),
    *of(
        "expand",
        "expander",
        ("scores missing", _scores(lambda scores: scores[:-1])),
        ("too many scores", _scores(lambda scores: [*scores, 0.0])),
        ("NaN", _scores(lambda scores: [math.nan, *scores[1:]])),
        ("infinite", _scores(lambda scores: [math.inf, *scores[1:]])),
        ("scores that rise", _scores(lambda scores: [float(i) for i in range(len(scores))])),
        ("path_of 7 of 0 paths", lambda found: attrs.evolve(found, paths=(), path_of=(7,) * len(found.triples))),
        ("a triple twice", _twice),
        ("None", _none),
        ("a list of triples", lambda found: list(found.triples)),
        ("tuples for triples", lambda found: attrs.evolve(found, triples=tuple(map(tuple, found.triples)))),
        ("provenance missing", lambda found: attrs.evolve(found, provenance=found.provenance[:1])),
        ("paths that are none", lambda found: attrs.evolve(found, paths=tuple(p.steps for p in found.paths))),
    ),
    *of("expand", "expander", ("one too few", lambda answer: answer[:-1]), ("None", _none), whole=True),
    *of("needs_links", "expander", ("a text", lambda yes: "no"), whole=True),
    *of("supervise", "supervision", ("scores that rise", lambda row: [_path(0.1), _path(0.9)]), ("None", _none)),
    *of("supervise", "supervision", ("a quality above 1", lambda row: [_path(7.0)])),
]

WORDS = [
    *of(
        "link",
        "entity_linker",
        ("a span outside of the question", lambda row: [attrs.evolve(link, start=90, end=99) for link in row]),
        ("an end before its start", lambda row: [attrs.evolve(link, end=1) for link in row]),
        ("ids instead of links", lambda row: [link.entity for link in row]),
        ("a score of NaN", lambda row: [attrs.evolve(link, score=math.nan) for link in row]),
        ("a score below 0", lambda row: [attrs.evolve(link, score=-0.1) for link in row]),
        ("a score above 1", lambda row: [attrs.evolve(link, score=1.5) for link in row]),
        ("scores that rise", lambda row: [attrs.evolve(row[0], score=0.1), attrs.evolve(row[0], score=0.9)]),
        ("None", _none),
    ),
    *of("suggest", "entity_linker", ("more than the limit", lambda row: [Link(one) for one in "abcdef"])),
    *of("suggest", "entity_linker", ("a score above 1", lambda row: [Link("a", 1.5)])),
    *of(
        "detect",
        "mention_detector",
        ("a span outside of the text", lambda row: [Mention(80, 99)]),
        ("out of order", lambda row: [Mention(5, 7), Mention(0, 4)]),
        ("a span twice", lambda row: [Mention(0, 4), Mention(0, 4)]),
        ("pairs", lambda row: [(0, 4)]),
    ),
    *of("encode", "encoder", ("NaN", _nan_row), ("infinite", lambda row: np.full_like(row, np.inf))),
    *of("encode", "encoder", ("float64", lambda matrix: matrix.astype(np.float64)), whole=True),
    *of("encode", "subgraph_encoder", ("NaN", _nan_row)),
    *of("generate", "generator", ("a text", lambda reply: reply.text), ("None", _none)),
    *of("generate", "generator", ("half a token", _with(tokens_in=0.5)), ("a cost of NaN", _with(cost=math.nan))),
    *of("rate", "generator", ("NaN", lambda row: [math.nan, *row[1:]]), ("too few", lambda row: row[:-1])),
    *of("count_tokens", "generator", ("below nought", lambda count: -3), ("a text", str)),
    *of("tokens", "mask_filler", ("a text", lambda row: "estonia"), ("numbers", lambda row: [1, 2])),
    *of("fill", "mask_filler", ("out of order", lambda gaps: [row[::-1] for row in gaps])),
    *of("fill", "mask_filler", ("texts", lambda gaps: ["estonia"])),
    *of("rate", "mask_filler", ("above nought", lambda rows: np.abs(rows) + 1)),
    *of(
        "read",
        "reader",
        ("support that is not in the subgraph", _with(support=(77,))),
        ("support out of order", lambda answer: attrs.evolve(answer, support=(1, 0))),
        ("a refusal with an answer", _with(enough=False)),
        ("an alternative by path 5 of none", _with(alternatives=(Alternative("x", ("x",), 5),))),
        ("numbers for entities", _with(entities=(1, 2))),
        ("a number that is NaN", _with(number=math.nan)),
        ("a text", lambda answer: answer.text),
        ("None", _none),
    ),
    *of("refuses", "reader", ("a text", lambda yes: "no"), whole=True),
]

STORES = [
    *of("read", "corpus", ("texts", lambda entries: ["a text"]), whole=True),
    *of("read", "corpus", ("an id that is empty", lambda entries: [Entry("", "a text")]), whole=True),
    *of("read", "dataset", ("texts", lambda questions: ["Who?"]), whole=True),
    *of("entries", "index", ("another entry", lambda entry: Entry("other", "text")), ("a text", lambda entry: "text")),
    *of("search", "index", ("an entry twice", lambda hits: hits[:1] * 2), ("ids", lambda hits: ["Estonia"])),
    *of("search", "index", ("a score of NaN", lambda hits: [Hit(Entry("a", "b"), math.nan)])),
    *of("sources", "index", ("a text", lambda sources: "here"), whole=True),
    *of("size", "index", ("below nought", lambda size: -1), whole=True),
    *of("write", "exporter", ("one too few", lambda count: count - 1), ("None", _none), whole=True),
    *of("abort", "exporter", ("a text", lambda yes: "yes"), whole=True),
    *of("complete", "completer", ("another pattern's triple", lambda row: [MOVED]), ("None", _none)),
    *of("rate", "completer", ("a confidence of 1", lambda row: [1.0 for _ in row])),
    *of("offers", "completer", ("a step twice", lambda row: [*row, *row])),
]

RUNS = [
    attrs.evolve(fault, how="run")
    for fault in [*GRAPH, *SEARCH, *WORDS]
    if fault.hook in ("frontiers", "steps", "follow", "triples", "score", "expand", "link", "read")
    # A whole answer that is wrong fails every question, and beam asks for inverse steps.
    and not fault.whole
    and fault.what != "inverse steps"
]

KIT = [
    Fault("exporter", "write", "failed questions are dropped", lambda item: item, True, "kit"),
    Fault("path_scorer", "score", "the question is ignored", lambda rows: rows, True, "kit"),
    Fault("path_scorer", "score", "padded array", lambda rows: rows, True, "kit"),
    Fault("knowledge_graph", "triples", "in the order of the file", lambda rows: rows, True, "kit"),
]

OBSERVED = [
    Fault("observer", hook, f"raises in {hook}", _none, True, "run") for hook in ("before", "after", "event", "close")
]

FAULTS: list[Fault] = [*GRAPH, *SEARCH, *WORDS, *STORES, *RUNS, *KIT, *OBSERVED]


def _path(score: float) -> RankedPath:
    return RankedPath("Estonia", (CAPITAL,), score)


def planted(fault: Fault) -> type[Any]:
    """Make the class of a driver with the fault."""
    base: Any = OracleGraph if fault.role == "knowledge_graph" else _toy(fault.role)
    right = getattr(base, fault.hook)

    @functools.wraps(right)
    def wrong(self: Any, *arguments: Any) -> Any:
        answer = right(self, *arguments)
        if fault.whole:
            return fault.spoil(answer)
        rows = [
            fault.spoil(one) if BAD.lower() in _text(item).lower() else one
            for item, one in zip(arguments[0], answer, strict=True)
        ]
        return np.stack(rows) if isinstance(answer, np.ndarray) else rows

    return type(NAME, (base,), {fault.hook: wrong, "__doc__": base.__doc__})


def _toy(role: str) -> Any:
    return getattr(kit_of(ROLES[role]), f"Toy{ROLES[role].__name__}")


def _text(item: Any) -> str:
    # Other questions may pass through the bad node beside others.
    return BAD * (list(item.ids()) == [BAD]) if isinstance(item, Frontier) else repr(item)


def driver_with(fault: Fault, folder: Path) -> Role:
    """Make and open the driver with the fault."""
    cls = planted(fault)
    fields = {field.alias for field in attrs.fields(cls)}
    settings: dict[str, Any] = {}
    if "graph" in fields:
        settings["graph"] = _graph()
    if "path" in fields:
        settings["path"] = str(folder / fault.role)
        folder.joinpath(fault.role).write_text("Latvia\tLatvia\tRiga\n" if fault.role == "dataset" else "a\tb\n")
    driver: Role = cls(**settings)
    if fault.role == "index":
        driver.create()  # type: ignore[attr-defined]
        driver.add([Entry(one, one) for one in COUNTRIES])  # type: ignore[attr-defined]
        driver.commit()  # type: ignore[attr-defined]
    else:
        driver.open()
    return driver


def _graph() -> OracleGraph:
    graph = OracleGraph()
    graph.open()
    return graph


def arguments(role: str, hook: str) -> list[Any]:
    """Return arguments for a hook: three items of a batch, the middle one the bad one, and the rest."""
    graph = _graph()
    starts = graph.frontiers([[one] for one in COUNTRIES])
    subgraphs = [Subgraph((triple,), (1.0,)) for triple in TRIPLES]
    masked = [MaskedText(f"_ of {one}") for one in COUNTRIES]
    asked = [Prompt((Message("user", one),), ("capital", "borders"), query=one) for one in COUNTRIES]
    several: dict[tuple[str, str], list[Any]] = {
        ("knowledge_graph", "frontiers"): [[[one] for one in COUNTRIES]],
        ("knowledge_graph", "steps"): [starts, False],
        ("knowledge_graph", "follow"): [starts, [CAPITAL] * 3, None],
        ("knowledge_graph", "triples"): [starts, [CAPITAL] * 3, None],
        ("knowledge_graph", "match"): [[Pattern(one, "capital") for one in COUNTRIES]],
        ("knowledge_graph", "neighbourhood"): [starts, 1, Budget(triples=12)],
        ("knowledge_graph", "paths"): [
            [[one] for one in COUNTRIES],
            [["Riga"], ["Tallinn"], ["Vilnius"]],
            *(2, Budget(), False, False),
        ],
        ("knowledge_graph", "own_ids"): [COUNTRIES, False],
        ("knowledge_graph", "near_names"): [COUNTRIES, 3, False],
        ("knowledge_graph", "qualifiers"): [TRIPLES],
        ("knowledge_graph", "origins"): [TRIPLES],
        ("path_scorer", "score"): [TEXTS, [()] * 3, [[CAPITAL, Step("borders"), END], [CAPITAL, END], [CAPITAL]]],
        ("expander", "expand"): [QUESTIONS],
        ("supervision", "supervise"): [
            [attrs.evolve(q, answers=(t,)) for q, t in zip(QUESTIONS, ("Riga", "Tallinn", "Vilnius"), strict=True)]
        ],
        ("entity_linker", "link"): [TEXTS],
        ("entity_linker", "suggest"): [TEXTS, 5],
        ("mention_detector", "detect"): [TEXTS],
        ("encoder", "encode"): [TEXTS],
        ("subgraph_encoder", "encode"): [[[triple] for triple in TRIPLES], ["Latvia", "Estonia", "x"]],
        ("generator", "generate"): [asked],
        ("generator", "rate"): [asked],
        ("generator", "count_tokens"): [TEXTS],
        ("mask_filler", "tokens"): [list(COUNTRIES)],
        ("mask_filler", "fill"): [masked, 3],
        ("mask_filler", "rate"): [masked, [[("riga",), ("oslo",)]] * 3],
        ("reader", "read"): [QUESTIONS, subgraphs],
        ("index", "entries"): [list(COUNTRIES)],
        ("index", "search"): [list(COUNTRIES), 2],
        ("exporter", "write"): [[]],
        ("completer", "complete"): [[Pattern(None, "borders", one) for one in ("Latvia", BAD, "Poland")], None],
        ("completer", "rate"): [[Pattern(one, "borders") for one in COUNTRIES], [["Poland"]] * 3],
        ("completer", "offers"): [[["Poland"], ["Poland", BAD], ["Riga"]], True],
    }
    words = ("labels", "other_names", "find", "known_words", "degrees")
    return several.get((role, hook), [list(COUNTRIES)] if hook in words else [])


def asked(fault: Fault, folder: Path) -> Run:
    """Ask the port of the driver."""
    driver = driver_with(fault, folder)
    given = arguments(fault.role, fault.hook)
    try:
        answer = getattr(port(driver, fault.role, NAME), fault.hook)(*given)
        if isinstance(answer, Iterator):
            answer = list(answer)
    except Exception as error:  # noqa: BLE001 - whatever comes is the outcome
        said = str(error)
        kept = [one for one in getattr(error, "answers", ()) if not isinstance(one, DriverError)]
        whole = fault.whole or not given
        named = isinstance(error, DriverError) and error.driver == NAME and fault.hook in said
        return Run(named and not _raw(said), None if whole else len(kept), said)
    finally:
        driver.close()
    return Run(False, None, f"taken: {str(answer)[:80]}")


def _raw(said: str) -> bool:
    """Tell whether a message is a bare exception of Python."""
    return any(f"{kind.__name__}:" in said for kind in (AttributeError, TypeError, ValueError, IndexError, KeyError))


def run(fault: Fault, folder: Path) -> Run:
    """Answer three questions by a session that has the driver."""
    if fault.role == "observer":
        return observed(fault)
    drivers: dict[str, Any] = {"graph": OracleGraph(), "scorer": _toy("path_scorer")()}
    names = {"knowledge_graph": "graph", "path_scorer": "scorer", "entity_linker": "linker"}
    name = names.get(fault.role, fault.role)
    cls = planted(fault)
    drivers[name] = cls(graph=drivers["graph"]) if "graph" in {f.alias for f in attrs.fields(cls)} else cls()
    if fault.role == "expander":
        drivers.pop("scorer")
    drivers.setdefault("expander", {"use": "beam", "depth": 2 if fault.hook == "follow" else 1})
    asked = [attrs.evolve(one, links=()) if fault.role == "entity_linker" else one for one in QUESTIONS]
    try:
        with Session.of(**drivers) as session:
            results = session.retrieve(asked)
    except SrtkError as error:
        return Run(False, 0, f"no result: {error}")
    except Exception as error:  # noqa: BLE001 - whatever comes is the outcome
        return Run(False, 0, f"no result: {type(error).__name__}: {error}")
    failed = [result.error for result in results if result.error is not None]
    said = failed[0] if failed else "taken"
    fine = len(failed) == 1 and said.startswith(f"{NAME}: ") and fault.hook in said and not _raw(said)
    return Run(fine, len(results) - len(failed), said)


def observed(fault: Fault) -> Run:
    """Answer three questions while an observer raises."""

    def raises(self: Any, *arguments: Any) -> None:
        raise ZeroDivisionError("of the observer")

    observer: Any = type(NAME, (Observer,), {fault.hook: raises})()
    try:
        with Session.of(
            graph=OracleGraph(),
            scorer=_toy("path_scorer")(),
            expander={"use": "beam", "depth": 2},
            observers=[observer],
        ) as session:
            results = session.retrieve(QUESTIONS)
    except Exception as error:  # noqa: BLE001 - whatever comes is the outcome
        return Run(False, 0, f"no result: {type(error).__name__}: {error}")
    failed = [result.error for result in results if result.error is not None]
    return Run(not failed, len(results) - len(failed), failed[0] if failed else "the run goes on")


CASES = {
    "failed questions are dropped": """
class Planted(ToyExporter):
    def write(self, retrievals):
        super().write([one for one in retrievals if one.error is None])
        return len(retrievals)
""",
    "the question is ignored": """
class Planted(ToyPathScorer):
    def score(self, questions, paths, candidates):
        return super().score(["capital of"] * len(questions), paths, candidates)
""",
    "padded array": """
class Planted(ToyPathScorer):
    def score(self, questions, paths, candidates):
        rows = super().score(questions, paths, candidates)
        most = max(map(len, rows), default=0)
        return [[*row, *[0.0] * (most - len(row))] for row in rows]
""",
    "in the order of the file": """
class Planted(ToyKnowledgeGraph):
    def open(self):
        super().open()
        import csv

        with open(self.path, encoding="utf-8", newline="") as file:
            self.places = {line[0] + line[2]: i for i, line in enumerate(csv.reader(file))}

    def triples(self, frontiers, steps, limit):
        key = lambda t: self.places.get(t.subject + t.object, 0)
        return [sorted(row, key=key) for row in super().triples(frontiers, steps, limit)]
""",
}
"""Source of the drivers that the kit must catch."""


def kit(fault: Fault, folder: Path) -> Run:
    """Run the conformance class of the role on the driver; the toy's own case makes it."""
    import pytest

    role = ROLES[fault.role].__name__
    name = f"planted_{FAULTS.index(fault)}"
    test = f"""
import srtk_framework.testing.{fault.role} as kit
from srtk_framework.testing.{fault.role} import Toy{role}, Toy{role}Case
{CASES[fault.what]}
Planted.__module__ = __name__

class TestPlanted(Toy{role}Case):
    name = "planted"
    examples = 8

@__import__("pytest").fixture(autouse=True)
def planted(monkeypatch):
    monkeypatch.setattr(kit, "Toy{role}", Planted)
"""
    folder.joinpath(f"test_{name}.py").write_text(test, encoding="utf-8")
    info = folder / f"{name}-0.1.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    info.joinpath("entry_points.txt").write_text(f"[{group(fault.role)}]\nplanted = test_{name}:Planted\n")
    folder.joinpath("pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")

    class Failed:
        def __init__(self) -> None:
            self.checks: list[str] = []

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.checks.append(report.nodeid.split("::")[-1])

    failed = Failed()
    # What checks the class and its module is not about what the driver answers.
    apart = "not entry_point and not loads_nothing_heavy and not another_process and not documented"
    ini = ["-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "-p", "no:cacheprovider"]
    sys.path.insert(0, str(folder))
    try:
        pytest.main(["-q", "--no-header", "--tb=no", *ini, "-k", apart, str(folder / f"test_{name}.py")], [failed])
    finally:
        sys.path.remove(str(folder))
    return Run(bool(failed.checks), None, ", ".join(failed.checks) or "no check failed")


HOW: dict[str, Callable[[Fault, Path], Run]] = {"asked": asked, "run": run, "kit": kit}


def outcomes(faults: Sequence[Fault]) -> list[tuple[Fault, Run]]:
    """Try each fault, in a folder of its own."""
    found = []
    for fault in faults:
        folder = Path(tempfile.mkdtemp())
        try:
            found.append((fault, HOW[fault.how](fault, folder)))
        finally:
            shutil.rmtree(folder)
    return found


def fine(fault: Fault, outcome: Run) -> bool:
    """Tell whether a fault was caught and cost its own item alone."""
    return outcome.caught and (outcome.kept in (None, 2) or fault.role == "observer")


def main() -> int:
    """Try all faults, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print all messages as JSON")
    parser.add_argument("--how", choices=tuple(HOW), help="only faults that are caught in this way")
    args = parser.parse_args()
    found = outcomes([fault for fault in FAULTS if args.how in (None, fault.how)])
    if args.json:
        rows = [{"how": f.how, "role": f.role, "hook": f.hook, "what": f.what, **attrs.asdict(o)} for f, o in found]
        print(json.dumps(rows, indent=1))
    else:
        for fault, outcome in found:
            mark = "caught" if fine(fault, outcome) else "named" if outcome.caught else "MISSED"
            kept = "" if outcome.kept is None else f" ({outcome.kept} kept)"
            print(f"{mark:7}{fault.how:6}{fault.role}.{fault.hook}, {fault.what}: {outcome.said[:150]}{kept}")
    caught = sum(outcome.caught for _, outcome in found)
    alone = sum(fine(*pair) for pair in found)
    print(f"{len(found)} faults: {caught} caught and named, {alone} of them at the cost of their own item alone")
    return 0 if alone == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
