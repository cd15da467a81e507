"""Mutate the modules that results and runs rest on, and list the mutants that no test notices.

    python -m pip install -e ".[mutation]"
    python benchmarks/mutants.py                    # all modules; stopped at any time, it goes on where it was
    python benchmarks/mutants.py metrics beam       # these modules
    python benchmarks/mutants.py --again            # also try the survivors again, after a change of the tests

Cosmic Ray makes the mutants, one small change each, and keeps the results in ``build/mutants`` (its ``cr-report`` and
``cr-html`` read them too). Each mutant meets the tests that cover its statement, quickest first, until one fails: this
file adds that choice, which Cosmic Ray lacks, and a fork of a warm process in place of a new interpreter. A changed
module starts afresh. All of Cosmic Ray's kinds of mutants are made, but operators are exchanged for their nearest
ones only (``NEAREST``), and two things are left alone: annotations, which are never evaluated, and the ``strict`` of
``zip``, an assertion that can only fail through a fault of the module itself.

Survivors that change no behaviour stand in ``mutants.yaml`` with the reason. The exit status is 1 if there are others.
A mutant is written into the module for the time of its tests, so the modules must be committed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs
import yaml

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "mutants"
NEAREST = {
    "Add": ("Sub", "Mul"), "Sub": ("Add", "Mul"), "Mul": ("Div", "Add"), "Div": ("Mul", "FloorDiv"),
    "FloorDiv": ("Div", "Mul"), "Mod": ("Mul", "FloorDiv"), "Pow": ("Mul",), "BitOr": ("BitAnd", "BitXor"),
    "BitAnd": ("BitOr",), "BitXor": ("BitOr",), "RShift": ("LShift",), "LShift": ("RShift",),
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",), "In": ("NotIn",), "NotIn": ("In",),
    "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt"),
}  # fmt: skip
"""What an operator is exchanged for: arithmetic for its nearest, order for its boundary and its negation, equality and
identity for their negations. All of the eleven or seven others would mostly end in a ``TypeError``, or be dead."""


@attrs.frozen
class Module:
    """A module and the tests that it must convince."""

    file: str
    tests: tuple[str, ...]


EVALUATION = "plugins/srtk-plugin-evaluation/tests"
SPARQL, SR, PATTERNS = (f"plugins/srtk-plugin-{name}" for name in ("sparql", "sr", "patterns"))
MODULES = {
    "metrics": Module(
        "plugins/srtk-plugin-evaluation/srtk_plugin_evaluation/metrics.py",
        tuple(f"{EVALUATION}/test_{file}.py" for file in ("metrics", "answers", "curves", "slices")),
    ),
    "intervals": Module(
        "plugins/srtk-plugin-evaluation/srtk_plugin_evaluation/intervals.py",
        (f"{EVALUATION}/test_intervals.py", f"{EVALUATION}/test_significance.py"),
    ),
    "journal": Module("srtk_framework/run/journal.py", ("tests/run/test_journal.py",)),
    "runner": Module("srtk_framework/run/runner.py", ("tests/run/test_runner.py", "tests/run/test_pipeline.py")),
    "beam": Module(
        f"{SR}/srtk_plugin_sr/beam.py",
        (f"{SR}/tests/test_beam.py", "plugins/srtk-plugin-explaining/tests/test_pruning.py"),
    ),
    "sparql": Module(
        f"{SPARQL}/srtk_plugin_sparql/client.py",
        (f"{SPARQL}/tests/test_client.py",),
    ),
    "path_pattern_scorer": Module(
        f"{PATTERNS}/srtk_plugin_patterns/path_scorer.py",
        tuple(f"{PATTERNS}/tests/test_{file}.py" for file in ("path_scorer", "path_shares")),
    ),
}


@attrs.frozen
class Selection:
    """The tests that ran each line of a module, and their seconds."""

    lines: dict[int, set[str]]
    seconds: dict[str, float]

    def of(self, lines: range) -> list[str]:
        """Return the tests of some lines, quickest first; what only an import ran belongs to all tests."""
        tests = set().union(*(self.lines.get(line, set()) for line in lines))
        if tests == {""}:
            tests = set(self.seconds)
        return sorted(tests - {""}, key=lambda test: (self.seconds.get(test, 0.0), test))


def main() -> int:
    """Run the mutants of the named modules and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(MODULES))
    parser.add_argument("--again", action="store_true", help="also try the survivors again")
    parser.add_argument("--report", action="store_true", help="only print the results so far")
    args = parser.parse_args()
    if unknown := set(args.modules) - set(MODULES):
        parser.error(f"no module {', '.join(sorted(unknown))}; choose from {', '.join(MODULES)}")
    os.chdir(ROOT)
    # What is written into a module is taken back when the process is asked to end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; the same command goes on"))
    names = args.modules or list(MODULES)
    if not args.report:
        for name in names:
            run(name, args.again)
    return report(names)


def run(name: str, again: bool) -> None:
    """Test the mutants of a module that have no result yet."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    module = MODULES[name]
    path = Path(module.file)
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", module.file]).returncode:
        raise SystemExit(f"{module.file} has changes that are not committed; commit them first")
    warm_up()
    found = selection(name, module)
    freeze_caches(path)
    spans = Spans(path.read_text(encoding="utf-8"))
    OUT.mkdir(parents=True, exist_ok=True)
    with use_db(session(name)) as db:
        if not db.num_work_items:
            init([path], db, {})
        results = dict(db.results)
        items = sorted(db.work_items, key=lambda item: (item.mutations[0].start_pos, item.mutations[0].operator_name))
        for number, item in enumerate(items, 1):
            old, mutation = results.get(item.job_id), item.mutations[0]
            if not sensible(mutation.operator_name) or spans.is_inert(mutation.start_pos):
                if old is None or old.worker_outcome != WorkerOutcome.SKIPPED:
                    db.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
                continue
            if old is not None and not (again and old.test_outcome == TestOutcome.SURVIVED):
                continue
            result = tried(mutation, found.of(spans.statement(mutation.start_pos[0])), found.seconds)
            db.set_result(item.job_id, result)
            if result.test_outcome == TestOutcome.SURVIVED:
                print(f"{name} {number} of {len(items)}: line {mutation.start_pos[0]} survived", flush=True)


def tried(mutation, tests: Sequence[str], seconds: dict[str, float]):
    """Apply a mutation, run its tests and take it back."""
    from cosmic_ray.mutating import _make_diff, use_mutation
    from cosmic_ray.plugins import get_operator
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (before, after):
        if after is None or not compiles(after):
            return WorkResult(worker_outcome=WorkerOutcome.NO_TEST, test_outcome=TestOutcome.INCOMPETENT)
        # A loop without an end is a test of too many seconds, which pytest-timeout ends.
        one, whole = (10 + 5 * limit(seconds.get(test, 0.0) for test in tests) for limit in (longest, sum))
        status = forked(lambda: pytest_status(["-x", f"--timeout={one:.0f}", *tests]), whole) if tests else 0
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        output="timeout" if status is None else f"{len(tests)} tests",
        test_outcome=TestOutcome.KILLED if status != 0 else TestOutcome.SURVIVED,
        diff="\n".join(_make_diff(before, after, mutation.module_path)),
    )


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
    return kind not in ("ReplaceBinaryOperator", "ReplaceComparisonOperator") or ends[1] in NEAREST[ends[0]]


class Spans:
    """The statements of a module, and the expressions that are no behaviour."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        self._inert: list[ast.expr] = []
        for node in ast.walk(tree):
            for field in ("annotation", "returns"):
                if (found := getattr(node, field, None)) is not None:
                    self._inert.append(found)
            if isinstance(node, ast.keyword) and node.arg == "strict":
                self._inert.append(node.value)

    def statement(self, line: int) -> range:
        """Return the lines of the innermost statement at a line; of a compound one its head."""
        inside = [node for node in self._statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        if not inside:
            return range(line, line + 1)
        node = max(inside, key=lambda node: node.lineno)
        body = getattr(node, "body", None)
        end = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
        return range(node.lineno, max(end, line) + 1)

    def is_inert(self, position: tuple[int, int]) -> bool:
        """Tell whether a position (line, column) is within an annotation or an assertion of equal lengths."""
        return any(
            (node.lineno, node.col_offset) <= tuple(position) < (node.end_lineno, node.end_col_offset)
            for node in self._inert
        )


def selection(name: str, module: Module) -> Selection:
    """Run the tests of a module unchanged, and note which of them runs which line."""
    from coverage import CoverageData

    OUT.mkdir(parents=True, exist_ok=True)
    data, times = OUT / f"{name}.coverage", OUT / f"{name}.seconds.json"
    if forked(lambda: covered(module, data, times), 1200) != 0:
        raise SystemExit(f"the tests of {name} fail without any mutant: python -m pytest {' '.join(module.tests)}")
    read = CoverageData(str(data))
    read.read()
    lines = read.contexts_by_lineno(str(ROOT / module.file))
    return Selection({line: set(tests) for line, tests in lines.items()}, json.loads(times.read_text()))


def covered(module: Module, data: Path, times: Path) -> int:
    """Run tests under coverage with one context per test."""
    import coverage
    import pytest

    cover = coverage.Coverage(data_file=str(data), include=[str(ROOT / module.file)], config_file=False)
    seconds: Counter[str] = Counter()

    class Contexts:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
            begin = time.perf_counter()
            cover.switch_context(item.nodeid)
            result = yield
            cover.switch_context("")
            seconds[item.nodeid] = round(time.perf_counter() - begin, 4)  # type: ignore[assignment]
            return result

    sys.dont_write_bytecode = False
    cover.erase()
    cover.start()
    status = pytest_status(["-m", "not slow", *module.tests], Contexts())
    cover.stop()
    cover.save()
    times.write_text(json.dumps(seconds))
    return status


def warm_up() -> None:
    """Import what tests need and no module under test does, so that forks need not."""
    for name in ("attrs", "cattrs", "networkx", "numpy", "pluggy", "rich.table", "scipy.stats", "stevedore"):
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


def session(name: str) -> Path:
    """Return the session of a module as it is committed."""
    committed = subprocess.run(["git", "rev-parse", f"HEAD:{MODULES[name].file}"], capture_output=True, check=True)
    return OUT / f"{name}-{committed.stdout.decode()[:12]}.sqlite"


def change(diff: str) -> tuple[str, str]:
    """Return what a diff takes away and what it puts there."""
    rows = [row for row in diff.split("\n")[3:] if row[:1] in "+-"]
    taken = [" ".join(row[1:].split()) for row in rows if row[0] == "-"]
    put = [" ".join(row[1:].split()) for row in rows if row[0] == "+"]
    return " ".join(taken), " ".join(put)


def report(names: Sequence[str]) -> int:
    """Print the counts of each module, and each survivor with its reason; return 1 if one has none."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome

    listed = yaml.safe_load((ROOT / "benchmarks" / "mutants.yaml").read_text(encoding="utf-8")) or {}
    table, survivors, unexplained = [], [], 0
    for name in names:
        if not session(name).exists():
            table.append(f"| {name} | not run | | | | |")
            continue
        reasons = {(entry["line"], entry["mutant"]): entry["reason"] for entry in listed.get(name) or ()}
        counts: Counter[str] = Counter()
        with use_db(session(name)) as db:
            left = db.num_work_items - db.num_results
            for item, result in sorted(db.completed_work_items, key=lambda pair: pair[0].mutations[0].start_pos):
                if result.worker_outcome != WorkerOutcome.NORMAL:
                    continue
                counts["mutants"] += 1
                if result.test_outcome != TestOutcome.SURVIVED:
                    counts["timeout" if result.output == "timeout" else "killed"] += 1
                    continue
                counts["survived"] += 1
                before, after = change(result.diff or "")
                reason = reasons.get((before, after))
                counts["argued"] += reason is not None
                unexplained += reason is None
                place = f"{name}:{item.mutations[0].start_pos[0]} ({result.output})"
                survivors.append(f"{place}\n  - {before}\n  + {after}\n  {reason or 'NO REASON'}")
        share = counts["survived"] / max(1, counts["mutants"])
        shown = [counts["mutants"], counts["killed"], counts["timeout"], counts["survived"], counts["argued"]]
        table.append(f"| {name} | {' | '.join(map(str, shown))} | {share:.1%} |" + (f" {left} left" if left else ""))
    print("\n".join(survivors))
    print("| module | mutants | killed | by time limit | survived | of these argued | survived share |")
    print("\n".join(["|---|---|---|---|---|---|---|", *table]))
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
