"""What the mutation run leaves alone, and which tests it chooses."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from benchmarks import mutants
from benchmarks.figures import KEPT_IN

ROOT = Path(__file__).resolve().parents[2]


SOURCE = '''\
"""Doc."""
SIZE: int | None = 3


def sizes(values: list[int | None], most: int = 4) -> int | str:
    if (
        values
        and most
    ):
        return sum(
            len(row)
            for row in zip(values, values, strict=True)
        )
    return 0
'''


def test_a_statement_is_chosen_whole_and_of_a_compound_one_its_head() -> None:
    spans = mutants.Spans(SOURCE)
    found = {line: spans.statement(line) for line in (2, 5, 8, 11, 14, 99)}
    assert {line: (span.start, span.stop - 1) for line, span in found.items()} == {
        2: (2, 2), 5: (5, 5), 8: (6, 9), 11: (10, 13), 14: (14, 14), 99: (99, 99),
    }  # fmt: skip


def test_what_an_import_runs_is_told_from_the_bodies_of_functions() -> None:
    spans = mutants.Spans(SOURCE)
    assert [line for line in range(1, 15) if spans.is_imported(line)] == [1, 2, 3, 4, 5]


def test_caches_and_imports_for_annotations_are_left_alone() -> None:
    spans = mutants.Spans("if TYPE_CHECKING:\n    import a\n\n\n@lru_cache(maxsize=3)\n@other\ndef f(): ...\n")
    assert [spans.is_inert(place) for place in ((1, 3), (5, 0), (5, 19), (6, 0))] == [True, True, True, False]


def test_fields_of_classes_and_what_a_repr_shows_are_left_alone() -> None:
    spans = mutants.Spans("class A:\n    most: int = 3\n    few = 4\n\n    def f(self):\n        n: int = 5\n")
    assert [spans.is_inert(place) for place in ((2, 16), (3, 10), (6, 17))] == [True, False, False]


def test_annotations_and_the_strict_of_zip_are_left_alone() -> None:
    spans = mutants.Spans(SOURCE)
    rows = SOURCE.splitlines()

    def inert(line: int, text: str) -> bool:
        return spans.is_inert((line, rows[line - 1].index(text)))

    assert inert(2, "|")
    assert inert(5, "|")
    assert inert(5, "int | str")
    assert inert(12, "True")
    assert not inert(2, "3")
    assert not inert(5, "4")
    assert not inert(12, "values")


@pytest.mark.parametrize(
    ("operator", "taken"),
    [
        ("core/ReplaceBinaryOperator_Add_Sub", True),
        ("core/ReplaceBinaryOperator_Add_BitOr", False),
        ("core/ReplaceComparisonOperator_Lt_LtE", True),
        ("core/ReplaceComparisonOperator_Lt_Is", False),
        ("core/ReplaceComparisonOperator_Is_IsNot", True),
        ("core/ReplaceUnaryOperator_USub_Invert", False),
        ("core/ReplaceUnaryOperator_USub_UAdd", True),
        ("core/NumberReplacer", True),
        ("core/ZeroIterationForLoop", True),
    ],
)
def test_operators_are_exchanged_for_their_nearest(operator: str, taken: bool) -> None:
    assert mutants.sensible(operator) is taken


def test_a_mutant_meets_the_tests_of_its_lines_quickest_first() -> None:
    chosen = mutants.Selection()
    seconds = {"slow": 2.0, "quick": 0.1, "other": 1.0, "slower": mutants.MOST - 3}
    chosen.add(seconds, {"a.py": {"1": [""], "2": ["slow", "quick"], "3": ["", "other"], "4": ["slow", "slower"]}})
    assert chosen.of("a.py", [2, 3]) == ["quick", "other", "slow"]
    assert chosen.of("a.py", [2]) == ["quick", "slow"]
    chosen.add({"constant": 0.5}, {"a.py": {"1": [""]}})
    assert chosen.of("a.py", None) == ["quick", "constant", "other", "slow"], "as long as there is time"
    assert chosen.of("a.py", [2, 3, 4]) == ["quick", "other", "slow"]
    assert chosen.of("a.py", [7, 8]) == chosen.of("b.py", [1]) == []
    chosen.add({}, {"settings.py": {"1": [""]}})
    assert chosen.of("settings.py", None) == ["quick", "constant", "other", "slow"], (
        "what is imported alone has all tests"
    )


def test_the_sample_is_the_same_for_a_seed_and_another_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cosmic_ray")
    (tmp_path / "module.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    room = mutants.Room(("module.py",), ())
    one, same, other = (mutants.sample(room, 3, seed) for seed in (0, 0, 1))
    assert len(one) == 3
    assert one == same != other
    assert {mutant.key for mutant in other} <= {mutant.key for mutant in mutants.sample(room, 0, 7)}


def test_changed_lines_are_read_from_the_heads_of_a_diff() -> None:
    diff = "@@ -3 +3,2 @@ def f():\n-a\n+b\n+c\n@@ -9,2 +10,0 @@\n-d\n-e\n@@ -20 +19 @@\n-f\n+g\n"
    assert mutants.changed_lines(diff) == {3, 4, 19}


def test_without_an_earlier_commit_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    assert mutants.since() == ""
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "two"], check=True)
    first = subprocess.run(["git", "rev-parse", "HEAD~1"], capture_output=True, check=True, text=True).stdout.strip()
    assert mutants.since() == first


def test_what_the_time_leaves_open_is_counted_and_no_survivor(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEPT_IN, str(tmp_path / "kept"))
    file = str(ROOT / "benchmarks" / "__init__.py")
    rows = [mutants.Mutant(file, (1,), str(i)) for i in range(4)]
    outcomes = {rows[0].key: "killed", rows[1].key: "timeout"}
    assert mutants.report({"graph": rows}, {"graph": outcomes}, "graph", "seed 0") == 0
    assert "| all | 2 | 1 | 1 | 0 | 0 | 0.0% | 2 |" in capsys.readouterr().out
    assert mutants.report({"graph": rows}, {"graph": {**outcomes, rows[2].key: "survived"}}, "graph", "seed 0") == 1
    assert "NO REASON" in capsys.readouterr().out
    kept = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    assert [(row["set"], row["method"], row["figure"], row["n"]) for row in kept] == [
        ("graph", "seed 0", 0, 2),
        ("graph", "seed 0", 1, 3),
    ]


def test_a_fork_returns_the_status_of_its_work_or_none_beyond_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path)
    assert mutants.forked(lambda: 3, 60) == 3
    assert mutants.forked(lambda: 1 // 0, 60) == 70
    assert mutants.forked(lambda: __import__("time").sleep(60), 0.2) is None


def test_a_mutant_ends_at_the_first_test_of_its_own_file_that_fails_with_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sizes.py").write_text("SIZE = 3\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sizes.py").write_text(
        "from sizes import SIZE\n\n\ndef test_some():\n    assert SIZE\n\n\ndef test_three():\n    assert SIZE < 4\n"
    )
    (tmp_path / "tests" / "test_other.py").write_text("def test_sizes():\n    assert False\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, value in (("ROOT", tmp_path), ("OUT", tmp_path)):
        monkeypatch.setattr(mutants, name, value)
    room = mutants.Room(("sizes.py",), ("tests",))
    [own] = room.namesakes("sizes.py")
    assert own == "tests/test_sizes.py"
    found = [mutants.first_failure(mutants.Mutant("sizes.py", (1,), f"SIZE = {size}\n"), [own]) for size in (4, 2, 0)]
    assert found == ["tests/test_sizes.py::test_three", "", "tests/test_sizes.py::test_some"]
    assert mutants.first_failure(mutants.Mutant("sizes.py", (1,), "SIZE = 2\n"), ["tests/test_other.py"]) == ""
    assert (tmp_path / "sizes.py").read_text() == "SIZE = 3\n"


def test_every_room_has_modules_and_tests() -> None:
    for room in mutants.ROOMS.values():
        assert all(any(ROOT.glob(pattern)) for pattern in (*room.files, *room.tests))
        assert room.modules
        assert room.test_files


def test_every_module_of_a_package_with_a_room_is_in_a_room() -> None:
    modules = {ROOT / module for room in mutants.ROOMS.values() for module in room.modules}
    packages = {ROOT.joinpath(*file.relative_to(ROOT).parts[: 2 + ("plugins" in file.parts)]) for file in modules}
    assert [
        file
        for package in packages
        for file in package.rglob("*.py")
        if file.stat().st_size > 200 and file not in modules
    ] == []


def test_a_named_module_is_tried_without_the_rest_of_its_room() -> None:
    file = "srtk_framework/graph/path_facts.py"
    found = mutants.rooms_of(["sparql", file])
    assert found["sparql"] == mutants.ROOMS["sparql"]
    assert found["graph"].modules == [file]
    assert found.keys() == {"graph", "sparql"}


def test_every_argued_mutant_is_of_whole_lines_of_a_module_of_a_room() -> None:
    modules = {module for room in mutants.ROOMS.values() for module in room.modules}
    entries = (ROOT / "benchmarks" / "mutants.yaml").read_text()
    listed = yaml.safe_load(entries)
    assert sorted(listed) == sorted(re.findall(r"^(\S+):$", entries, re.MULTILINE)), "a module stands twice"
    assert modules >= set(listed)
    stale = []
    for file, rows in listed.items():
        lines = [" ".join(line.split()) for line in (ROOT / file).read_text("utf-8").splitlines()]
        text = "\n".join(["", *filter(None, lines), ""])
        # The key of a decorator that is taken away begins with blanks.
        patterns = {row["line"]: re.escape(row["line"].strip()).replace(r"\ ", r"\s") for row in rows}
        stale += [(file, line) for line, pattern in patterns.items() if not re.search(f"\n{pattern}\n", text)]
    assert stale == []


def test_every_handmade_mutant_matches_its_module_of_a_room() -> None:
    by_hand = yaml.safe_load((ROOT / "benchmarks" / "hand_mutants.yaml").read_text())
    for heading, rows in by_hand.items():
        found = [mutant for room in mutants.ROOMS.values() for mutant in mutants.by_hand(room, heading)]
        assert len(found) == len(rows)
