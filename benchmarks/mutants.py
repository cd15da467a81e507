"""Mutate the modules that results and runs rest on, and list the mutants that no test notices.

    python -m pip install -e ".[mutation]"
    python -m benchmarks.mutants                     # a sample of all rooms; stopped at any time, it goes on
    python -m benchmarks.mutants graph sr --sample 0 # all mutants of these rooms; a module can be named as well
    python -m benchmarks.mutants --hand compound     # the mutants in hand_mutants.yaml
    python -m benchmarks.mutants --again             # also try the survivors again, after a change of the tests
    python -m benchmarks.mutants --changed           # the lines that changed since upstream, for 120 seconds

Cosmic Ray makes the mutants, one small change each. Each meets the test file of its module's name as a whole, at which
most end, so that no coverage is measured. The others meet the tests that cover their statement, quickest first, until
one fails or ``MOST`` seconds of tests are over; the test files nearest to the module come first (``REACHES``). This
file adds that choice, which Cosmic Ray lacks, and a fork of a warm process in place of a new interpreter. What is
measured and found is kept in ``build/mutants``, and holds until the module or the test file changes. All of Cosmic
Ray's kinds of mutants are made, but operators are exchanged for their nearest ones only (``NEAREST``), and what is no
behaviour is left alone: annotations and the imports for them, caches, what a ``repr`` shows, how objects of drivers are
equal (``eq``), and the ``strict`` of ``zip``, an assertion that can only fail through a fault of the module itself. The
fields of classes are left alone too: the generated reference, which tests/docs compares, has the defaults of settings.

Survivors that change no behaviour stand in ``mutants.yaml`` with the reason. The exit status is 1 if there are others.
A mutant is written into the module for the time of its tests, so the modules must be committed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import hashlib
import importlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import attrs
import yaml

from benchmarks.figures import record_figure

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "mutants"
SAMPLE = 4
"""Mutants of each module, where no number is given."""

MOST = 20.0
"""Seconds of tests that a mutant meets at most, as they take unchanged; the quickest test runs in any case."""

REACHES = ("namesake", "importers", "room")
"""Test files that a mutant meets, nearest first: the namesake of its module, what imports it, all of its room."""

WHOLE = 600.0
"""Seconds after which the namesakes of a module that have not failed are given up, for the tests of the statement."""

NEAREST = {
    "Add": ("Sub", "Mul"), "Sub": ("Add", "Mul"), "Mul": ("Div", "Add"), "Div": ("Mul", "FloorDiv"),
    "FloorDiv": ("Div", "Mul"), "Mod": ("Mul", "FloorDiv"), "Pow": ("Mul",), "BitOr": ("BitAnd", "BitXor"),
    "BitAnd": ("BitOr",), "BitXor": ("BitOr",), "RShift": ("LShift",), "LShift": ("RShift",),
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",), "In": ("NotIn",), "NotIn": ("In",),
    "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt"),
}  # fmt: skip
"""What an operator is exchanged for: arithmetic for its nearest, order for its boundary and its negation, equality and
identity for their negations. All of the eleven or seven others would mostly end in a ``TypeError``, or be dead."""


def plugin(name: str, *files: str, tests: Sequence[str] = ("tests",)) -> Room:
    """Return the room of a plugin: the files and tests that match, below its folder."""
    folder = f"plugins/srtk-plugin-{name}"
    package = f"{folder}/srtk_plugin_{name}"
    return Room(
        tuple(f"{package}/{file}" for file in files or ["**/*.py"]), tuple(f"{folder}/{test}" for test in tests)
    )


@attrs.frozen
class Room:
    """Modules, and the tests that their mutants must convince.

    Attributes:
        files: Patterns of the modules.
        tests: Patterns of the test files, or their folders.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]

    @cached_property
    def modules(self) -> list[str]:
        """The modules that hold more than a docstring."""
        found = sorted({file for pattern in self.files for file in ROOT.glob(pattern)})
        return [str(file.relative_to(ROOT)) for file in found if file.stat().st_size > 200]

    @cached_property
    def test_files(self) -> list[str]:
        """The test files."""
        found = {file for test in self.tests for file in (ROOT / test).rglob("test_*.py")}
        found |= {file for test in self.tests for file in ROOT.glob(test) if file.is_file()}
        return sorted(str(file.relative_to(ROOT)) for file in found)

    def namesakes(self, module: str) -> list[str]:
        """Return the test files of a module by their name."""
        return [test for test in self.test_files if Path(test).stem == f"test_{Path(module).stem}"]


SR = "plugins/srtk-plugin-sr/tests"
ROOMS = {
    "graph": Room(
        ("srtk_framework/graph/*.py",),
        (
            "tests/graph",
            "tests/test_one_spelling.py",
            f"{SR}/test_beam.py",
            f"{SR}/test_node_mass.py",
            f"{SR}/test_topic_*.py",
        ),
    ),
    "run": Room(("srtk_framework/run/*.py",), ("tests/run",)),
    "evaluation": plugin("evaluation"),
    "files": plugin("files"),
    "sparql": plugin("sparql"),
    "views": plugin("views"),
    "completers": plugin("completers"),
    "answers": plugin("answers"),
    "index": plugin("index"),
    "septa": plugin("septa"),
    "knowlybert": plugin("knowlybert"),
    "patterns": plugin("patterns"),
    "local": plugin(
        "local",
        *("snapshot/**/*.py", "commands/*.py", "memory.py"),
        tests=("tests/snapshot", "tests/commands", "tests/test_memory.py"),
    ),
    "names": plugin(
        "local",
        *("name_index.py", "detectors/*.py", "dictionary/*.py"),
        tests=("tests/test_name_index.py", "tests/detectors", "tests/dictionary"),
    ),
    "sr": Room(
        ("plugins/srtk-plugin-sr/srtk_plugin_sr/**/*.py",),
        (SR, "plugins/srtk-plugin-explaining/tests/test_pruning.py", "tests/test_srtk_commands.py"),
    ),
}
"""Whole packages, so that no new module is forgotten."""


@attrs.frozen
class Mutant:
    """A module with one or several changes.

    Attributes:
        file: The module.
        lines: Line of each change, from 1.
        source: Text of the changed module.
    """

    file: str
    lines: tuple[int, ...]
    source: str

    @cached_property
    def change(self) -> tuple[str, str]:
        """What the mutant takes away and what it puts there, with single blanks."""
        rows = list(difflib.ndiff(Path(self.file).read_text("utf-8").splitlines(), self.source.splitlines()))
        taken, put = (" ".join(" ".join(row[2:].split()) for row in rows if row.startswith(mark)) for mark in "-+")
        return taken, put

    @property
    def key(self) -> str:
        """What tells the mutant from every other."""
        return hashed(self.file, self.source)


class Selection:
    """The tests that ran each line of the modules of a room, and their seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.whole = True
        self._lines: dict[str, dict[int, set[str]]] = {}
        self._beside: dict[str, set[str]] = {}

    def add(self, seconds: Mapping[str, float], lines: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Add the tests of a file: the seconds of each, and by module and line the tests that ran it."""
        self.seconds.update(seconds)
        for file, rows in lines.items():
            self._beside.setdefault(file, set()).update(seconds)
            for line, tests in rows.items():
                self._lines.setdefault(file, {}).setdefault(int(line), set()).update(tests)

    def of(self, file: str, lines: Iterable[int] | None) -> list[str]:
        """Return the tests of some lines, quickest first, of ``MOST`` seconds.

        Without lines these are all tests beside which the module was imported: a test of a constant runs no line of it.
        """
        known = self._lines.get(file, {})
        # Of a module that is imported alone, such as one of settings, any test may tell.
        beside = self._beside.get(file) or set(self.seconds)
        tests = beside if lines is None else set().union(*(known.get(line, set()) for line in lines))
        order = sorted(tests - {""}, key=lambda test: (self.seconds.get(test, 0.0), test))
        total, chosen = 0.0, []
        for test in order:
            total += self.seconds.get(test, 0.0)
            if chosen and total > MOST:
                break
            chosen.append(test)
        return chosen


def hashed(*texts: str) -> str:
    """Return a short name of texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def main() -> int:
    """Run the mutants of the named rooms and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"{', '.join(ROOMS)}, or a module")
    parser.add_argument("--sample", type=int, default=SAMPLE, help=f"mutants of each module; 0 for all ({SAMPLE})")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    parser.add_argument("--hand", choices=("single", "compound"), help="mutants of hand_mutants.yaml, no sample")
    parser.add_argument("--again", action="store_true", help="also try the survivors again")
    parser.add_argument("--report", action="store_true", help="only print the results so far")
    parser.add_argument("--changed", nargs="?", const="", metavar="REV", help="only lines changed since REV (upstream)")
    parser.add_argument("--seconds", type=float, default=120, help="time limit of --changed (120)")
    args = parser.parse_args()
    os.chdir(ROOT)
    chosen = rooms_of(args.rooms)
    if unknown := set(args.rooms) - set(ROOMS) - {file for room in chosen.values() for file in room.modules}:
        parser.error(f"no room and no module of one: {', '.join(sorted(unknown))}; choose from {', '.join(ROOMS)}")
    # What is written into a module is taken back when the process is asked to end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; the same command goes on"))
    end = None
    if args.changed is not None:
        revision = args.changed or since()
        if not revision:
            print("mutants: skipped, for there is no earlier commit to compare with (a shallow clone, or the first)")
            return 0
        mutants = {name: changed(room, revision, args.seed) for name, room in chosen.items()}
        end = time.monotonic() + args.seconds
    elif args.hand:
        mutants = {name: by_hand(room, args.hand) for name, room in chosen.items()}
    else:
        mutants = {name: sample(room, args.sample, args.seed) for name, room in chosen.items()}
    found = {
        name: run(name, chosen[name], rows, args.again, args.report, end) for name, rows in mutants.items() if rows
    }
    where = ", ".join(Path(name).stem for name in args.rooms) or "all rooms"
    if args.hand:
        return report(mutants, found, f"{sum(map(len, mutants.values()))} {args.hand} slips", "after")
    return report(mutants, found, where, "changed lines" if args.changed is not None else f"seed {args.seed}")


def rooms_of(names: Sequence[str]) -> dict[str, Room]:
    """Return the named rooms, all if none is named, and the rooms of the named modules with these alone."""
    found = {}
    for name, room in ROOMS.items():
        if not names or name in names:
            found[name] = room
        elif files := tuple(file for file in room.modules if file in names):
            found[name] = attrs.evolve(room, files=files)
    return found


def run(
    name: str, room: Room, mutants: Sequence[Mutant], again: bool, known: bool, end: float | None
) -> dict[str, str]:
    """Return the outcomes of mutants by their keys, after those that have none were tried.

    Args:
        name: Name of the room.
        room: The room.
        mutants: What to try.
        again: Whether survivors are tried again.
        known: Whether nothing is tried.
        end: When to stop, by the monotonic clock.
    """
    kept = OUT / f"{name}.jsonl"
    outcomes = dict(map(json.loads, kept.read_text().splitlines())) if kept.exists() else {}
    left = [mutant for mutant in mutants if again and outcomes.get(mutant.key) == "survived"]
    left += [mutant for mutant in mutants if mutant.key not in outcomes]
    if known or not left:
        return outcomes
    files = sorted({mutant.file for mutant in left})
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *files]).returncode:
        raise SystemExit(f"{', '.join(files)} must be committed first: git stash, or git commit")
    OUT.mkdir(parents=True, exist_ok=True)
    warm_up(room)
    spans = {file: Spans(Path(file).read_text("utf-8")) for file in files}
    met: dict[str, set[str]] = {mutant.key: set() for mutant in left}
    with kept.open("a") as log:

        def note(mutant: Mutant, outcome: str) -> None:
            del met[mutant.key]
            outcomes[mutant.key] = outcome
            log.write(json.dumps([mutant.key, outcome]) + "\n")
            log.flush()
            if outcome == "survived":
                print(f"{mutant.file}:{mutant.lines[0]} survived: {' -> '.join(mutant.change)}", flush=True)

        for mutant in left if end is None else ():
            if first_failure(mutant, room.namesakes(mutant.file)):
                note(mutant, "killed")
        # What the namesake of its module does not notice meets the importers, and unless it is argued the rest.
        for reach in REACHES:
            last = reach == REACHES[-1]
            left = [mutant for mutant in left if mutant.key in met]
            if not left:
                break
            files = sorted({mutant.file for mutant in left})
            # Half of the time at most for the tests without a mutant; what they leave open is no survivor.
            tests = selection(room, files, None if end is None else (time.monotonic() + end) / 2, reach)
            for file in files:
                freeze_caches(Path(file))
            for mutant in left:
                if end is not None and time.monotonic() > end:
                    break
                own = spans[mutant.file]
                lines = {line for start in mutant.lines for line in own.statement(start)}
                # What an import runs belongs to all tests, whichever of them was the first to import the module.
                chosen = tests.of(mutant.file, None if any(map(own.is_imported, mutant.lines)) else lines)
                outcome = tried(mutant, [test for test in chosen if test not in met[mutant.key]], tests.seconds)
                met[mutant.key].update(chosen)
                if outcome == "survived" and not (tests.whole and (last or reason_of(mutant))):
                    continue
                note(mutant, outcome)
    return outcomes


def mutants_of(file: str) -> list[tuple[str, int, int]]:
    """Return the mutants of a module: operator, occurrence and line."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.plugins import get_operator, operator_names

    spans, tree = Spans(Path(file).read_text("utf-8")), get_ast_from_path(Path(file))
    found = []
    for name in filter(sensible, operator_names()):
        operator = get_operator(name)
        if operator.arguments():
            continue
        places = [start for node in ast_nodes(tree) for start, _ in operator().mutation_positions(node)]
        found += [(name, i, place[0]) for i, place in enumerate(places) if not spans.is_inert(place)]
    return sorted(found, key=lambda row: (row[2], row[0], row[1]))


def made(file: str, operator: str, occurrence: int, line: int) -> Mutant | None:
    """Return a mutant of Cosmic Ray; None if it is no Python, or none at all."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    try:
        source = mutate_code(Path(file).read_text("utf-8"), get_operator(operator)(), occurrence)
    except AttributeError:  # Cosmic Ray cannot exchange one of several exceptions with a dot, such as csv.Error
        return None
    return Mutant(file, (line,), source) if source and compiles(source) else None


def sample(room: Room, most: int, seed: int) -> list[Mutant]:
    """Return some mutants of each module of a room, or all if ``most`` is 0."""
    found = []
    for file in room.modules:
        rows = mutants_of(file)
        random.Random(f"{seed} {file}").shuffle(rows)
        mutants = filter(None, (made(file, *row) for row in rows))
        found += [mutant for mutant, _ in zip(mutants, range(most or len(rows)), strict=False)]
    return found


def changed(room: Room, revision: str, seed: int) -> list[Mutant]:
    """Return the mutants of the lines that changed since a revision, in an order of chance."""
    found = []
    for file in room.modules:
        command = ["git", "diff", "-U0", "--no-color", "--no-ext-diff", revision, "--", file]
        diff = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        lines = changed_lines(diff)
        found += [(file, *row) for row in (mutants_of(file) if lines else ()) if row[2] in lines]
    random.Random(seed).shuffle(found)
    return list(filter(None, (made(*row) for row in found)))


def changed_lines(diff: str) -> set[int]:
    """Return the numbers of the lines that a diff without context puts there."""
    hunks = re.findall(r"^@@ [^+]*\+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE)
    return {line for start, size in hunks for line in range(int(start), int(start) + int(size or 1))}


def since() -> str:
    """Return the commit where this branch left its upstream, or the one before the last; empty if there is none."""

    def commit(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()

    base = commit("merge-base", "HEAD", "@{upstream}")
    return base if base and base != commit("rev-parse", "HEAD") else commit("rev-parse", "--verify", "-q", "HEAD~1")


def by_hand(room: Room, heading: str) -> list[Mutant]:
    """Return the mutants under a heading of ``hand_mutants.yaml`` that are in a room."""
    listed = yaml.safe_load((ROOT / "benchmarks" / "hand_mutants.yaml").read_text("utf-8"))
    found = []
    for row in listed[heading]:
        if row["file"] in room.modules:
            source = Path(row["file"]).read_text("utf-8")
            lines = []
            for old in row["changes"]:
                if source.count(old) != 1:
                    raise SystemExit(f"hand_mutants.yaml: {row['file']} has this text {source.count(old)} times: {old}")
                lines.append(source[: source.index(old)].count("\n") + 1)
            for old, new in row["changes"].items():
                source = source.replace(old, new)
            found.append(Mutant(row["file"], tuple(lines), source))
    return found


@contextmanager
def written(mutant: Mutant) -> Iterator[None]:
    """Write a mutant into its module, and take it back."""
    path = Path(mutant.file)
    before = path.read_bytes()
    try:
        path.write_text(mutant.source, "utf-8")
        yield
    finally:
        path.write_bytes(before)


def tried(mutant: Mutant, tests: Sequence[str], seconds: Mapping[str, float]) -> str:
    """Run the tests of a mutant: "killed", "timeout" or "survived"."""
    # A loop without an end is a test of too many seconds, which pytest-timeout ends.
    one, whole = (10 + 5 * limit(seconds.get(test, 0.0) for test in tests) for limit in (longest, sum))
    with written(mutant):
        status = forked(lambda: pytest_status(["-x", f"--timeout={one:.0f}", *tests]), whole) if tests else 0
    return "survived" if status == 0 else "timeout" if status is None else "killed"


class _Failures:
    """Writes which test failed, or which file cannot be imported."""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            (OUT / "failed.txt").write_text(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def first_failure(mutant: Mutant, files: Sequence[str]) -> str:
    """Return the first test of whole files that fails with a mutant and not without it; empty if there is none."""
    failed = OUT / "failed.txt"
    failed.unlink(missing_ok=True)
    freeze_caches(Path(mutant.file))
    for file in files:
        with written(mutant):
            forked(lambda file=file: pytest_status(["-x", "-m", "not slow", file], _Failures()), WHOLE)
        if failed.exists():
            test = failed.read_text()
            return test if forked(lambda test=test: pytest_status([test]), WHOLE) == 0 else ""
    return ""


def longest(seconds: Iterable[float]) -> float:
    """Return the most seconds of any test."""
    return max(seconds, default=0.0)


def compiles(source: str) -> bool:
    """Tell whether a mutant is Python at all."""
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(source, "mutant", "exec")
        except SyntaxError:
            return False
    return True


def sensible(operator: str) -> bool:
    """Tell whether an operator makes a mutant that resembles a slip of the pen."""
    kind, *ends = operator.split("/")[1].split("_")
    nearest = kind not in ("ReplaceBinaryOperator", "ReplaceComparisonOperator") or ends[1] in NEAREST[ends[0]]
    # Of whole numbers ~x is -x - 1, in the same order; of others it is an error.
    return nearest and ends[-1:] != ["Invert"]


class Spans:
    """The statements of a module, and the expressions that are no behaviour."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        inert: list[ast.expr] = []
        for node in ast.walk(tree):
            inert += [found for field in ("annotation", "returns") if (found := getattr(node, field, None)) is not None]
            inert += [found for found in getattr(node, "decorator_list", ()) if "cache(" in f"{ast.unparse(found)}("]
            if isinstance(node, ast.ClassDef):
                inert += [field.value for field in node.body if isinstance(field, ast.AnnAssign) and field.value]
            if isinstance(node, ast.keyword) and node.arg in ("strict", "repr", "eq"):
                inert.append(node.value)
            if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "not TYPE_CHECKING"):
                inert.append(node.test)
        # From the sign before a decorator on.
        self._inert = [((node.lineno, node.col_offset - 1), (node.end_lineno, node.end_col_offset)) for node in inert]

    def statement(self, line: int) -> range:
        """Return the lines of the innermost statement at a line; of a compound one its head."""
        inside = [node for node in self._statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        if not inside:
            return range(line, line + 1)
        node = max(inside, key=lambda node: node.lineno)
        body = getattr(node, "body", None)
        end = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        return range(node.lineno, max(end, line) + 1)

    def is_imported(self, line: int) -> bool:
        """Tell whether a line runs when its module is imported: in the body of no function."""
        functions = [node for node in self._statements if isinstance(node, ast.FunctionDef)]
        return not any(node.body[0].lineno <= line <= (node.end_lineno or line) for node in functions)

    def is_inert(self, position: tuple[int, int]) -> bool:
        """Tell whether a position (line, column) is no behaviour: an annotation, a cache, or the strict of zip."""
        return any(start <= tuple(position) < end for start, end in self._inert)


def selection(room: Room, files: Sequence[str], end: float | None, reach: str) -> Selection:
    """Run the tests of a room unchanged, the namesakes of some modules first, and note which of them runs which line.

    Args:
        room: The room.
        files: The modules.
        end: What is left of the tests at this time is not run.
        reach: Which test files are run, one of ``REACHES``.
    """
    found, names = Selection(), {Path(file).stem for file in files}
    imported = re.compile(rf"(?:from|import) .*\b(?:{'|'.join(map(re.escape, names))})\b")
    sources = [Path(file).read_text("utf-8") for file in room.modules]
    for test in sorted(room.test_files, key=lambda test: Path(test).stem[5:] not in names):
        far = 0 if Path(test).stem[5:] in names else 1 if imported.search(Path(test).read_text("utf-8")) else 2
        if far > REACHES.index(reach):
            continue
        kept = OUT / f"{Path(test).stem}-{hashed(test, Path(test).read_text('utf-8'), *sources)}.json"
        if not kept.exists():
            limit = 1200 if end is None else end - time.monotonic()
            status = forked(lambda test=test, kept=kept: covered(room, test, kept), limit) if limit > 0 else None
            if status is None and end is not None:
                found.whole = False
                continue
            if status not in (0, 5):
                raise SystemExit(f"a test fails without any mutant: python -m pytest {test}")
        found.add(*json.loads(kept.read_text()))
    return found


def covered(room: Room, test: str, kept: Path) -> int:
    """Run the tests of a file under coverage with one context per test, and keep their seconds and lines."""
    import coverage
    import pytest

    cover = coverage.Coverage(data_file=None, include=room.modules, config_file=False)
    seconds: dict[str, float] = {}

    class Contexts:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
            begin = time.perf_counter()
            cover.switch_context(item.nodeid)
            result = yield
            cover.switch_context("")
            seconds[item.nodeid] = round(time.perf_counter() - begin, 4)
            return result

    sys.dont_write_bytecode = False
    cover.start()
    status = pytest_status(["-m", "not slow", test], Contexts())
    cover.stop()
    data = cover.get_data()
    lines = {str(Path(file).relative_to(ROOT)): data.contexts_by_lineno(file) for file in data.measured_files()}
    if status in (0, 5):
        kept.write_text(json.dumps([seconds, lines]))
    return status


def warm_up(room: Room) -> None:
    """Import what the tests of a room need and no module under test does, so that forks need not."""
    sources = "".join(Path(file).read_text("utf-8") for file in room.modules)
    for name in ("torch", "transformers", "lightning"):
        if f"import {name}" in sources or f"from {name}" in sources:
            importlib.import_module(name)
    for name in ("attrs", "cattrs", "networkx", "numpy", "pluggy", "rich.table", "scipy.stats", "stevedore"):
        importlib.import_module(name)
    for name in ("duckdb", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "pyoxigraph"):
        if f"import {name.partition('.')[0]}" in sources:
            importlib.import_module(name)
    for name in ("hypothesis.strategies", "pytest", "pytest_timeout"):
        importlib.import_module(name)
    os.environ["HF_HUB_OFFLINE"] = "1"
    # Looking up the plugins of every distribution takes longer than most tests.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def freeze_caches(path: Path) -> None:
    """Keep the compiled modules that the unchanged tests have left, except that of the module under test."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        cached.unlink()


def forked(work: Callable[[], int], limit: float) -> int | None:
    """Return the status of a function that runs in a fork; None if it took longer than the limit in seconds."""
    gc.freeze()
    child = os.fork()
    if not child:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        log = os.open(OUT / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = 70
        try:
            status = work()
        except BaseException:  # noqa: BLE001 -- a fork must never return into its parent's code
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    done, end = 0, time.monotonic() + limit
    try:
        while not done and time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
    finally:
        if not done:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if done else None


def pytest_status(arguments: Sequence[str], *plugins: object) -> int:
    """Run pytest in this process; property tests try the same examples each time and do not shrink them."""
    import pytest
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate]
    )
    settings.load_profile("mutants")
    # The warm process has imported modules that pytest would rewrite; their asserts are not those of the tests.
    quiet = [
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_timeout",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    return int(pytest.main([*quiet, *arguments], plugins=list(plugins)))


def report(
    mutants: Mapping[str, Sequence[Mutant]], found: Mapping[str, Mapping[str, str]], where: str, drawn: str
) -> int:
    """Print the counts of each room, and each survivor with its reason; return 1 if one has none.

    Args:
        mutants: What was to be tried, by room.
        found: The outcomes by room and key.
        where: Rooms or modules, for the records of `make bench`.
        drawn: How the mutants were chosen, for these records.
    """
    table: list[str] = []
    total: Counter[str] = Counter()
    for name, rows in mutants.items():
        counts: Counter[str] = Counter()
        for mutant in rows:
            outcome = found[name].get(mutant.key, "left")
            counts[outcome] += 1
            if outcome == "survived":
                reason = reason_of(mutant)
                counts["argued"] += reason is not None
                lines = "\n".join(f"  {mark} {text}" for mark, text in zip("-+", mutant.change, strict=True))
                print(f"{mutant.file}:{mutant.lines[0]}\n{lines}\n  {reason or 'NO REASON'}")
        if rows:
            table.append(row_of(name, counts))
        total += counts
    print("| room | tried | killed | by time limit | survived | of these argued | share without | not tried |")
    print("\n".join(["|---|--:|--:|--:|--:|--:|--:|--:|", *table, row_of("all", total)]))
    alive = total["survived"] - total["argued"]
    record_figure(where, drawn, "survive", alive, total["killed"] + total["timeout"] + alive)
    return int(alive > 0)


@cache
def argued() -> dict[str, dict[tuple[str, str], str]]:
    """Return the reasons in ``mutants.yaml`` by module and change."""
    listed = yaml.safe_load((ROOT / "benchmarks" / "mutants.yaml").read_text("utf-8"))
    return {file: {(row["line"], row["mutant"]): row["reason"] for row in rows} for file, rows in listed.items()}


def reason_of(mutant: Mutant) -> str | None:
    """Return why a mutant changes no behaviour, if that is argued."""
    return argued().get(mutant.file, {}).get(mutant.change)


def row_of(name: str, counts: Mapping[str, int]) -> str:
    """Return a row of the report; what is argued is no mutant, so that the share is without it."""
    killed, timeout, survived, argued, left = (
        counts.get(key, 0) for key in ("killed", "timeout", "survived", "argued", "left")
    )
    tried = killed + timeout + survived
    share = (survived - argued) / max(1, tried - argued)
    return f"| {name} | {tried} | {killed} | {timeout} | {survived} | {argued} | {share:.1%} | {left} |"


if __name__ == "__main__":
    sys.exit(main())
