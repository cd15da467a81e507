"""Runs struck at each call that changes files, by a kill or a bad disk: the same command again, the same bytes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kit.kills import EVERY, Kills, restored

pytestmark = [
    pytest.mark.usefixtures("toys"),
    pytest.mark.skipif(sys.platform != "linux", reason="the harness needs os.fork and /proc"),
]

TEXTS = ["paris?", "rome?", "nowhere?", "lima?", "and paris, ô rome?"]
MODULES = (
    "srtk_framework.cli.run",
    "srtk_plugin_evaluation.metrics",
    "srtk_plugin_evaluation.tables",
    "filelock",
    "stevedore",
    "rich.progress",
    "srtk_plugin_evaluation.report",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
)
COMMAND = ["run", "r.yaml", "--quiet"]


def recipe(**changes):
    return {
        "srtk": 1,
        "questions": "q.jsonl",
        "output": "run",
        "knowledge_graph": "toy",
        "entity_linker": "words",
        "expander": "onehop",
        "batch": 2,
        "exporters": [{"use": "jsonl", "path": "out.jsonl"}],
        "evaluate": {"against": [{"use": "onehop", "name": "wide", "width": 9}]},
        **changes,
    }


def outcome(place: Path):
    """Return what a run leaves, except times."""
    scores = [json.loads(line) for line in (place / "run" / "scores.jsonl").read_text().splitlines()]
    manifest = json.loads((place / "run" / "manifest.json").read_text())
    return (
        {file.name: file.read_bytes() for file in (place / "run" / "journal").glob("*.jsonl")},
        (place / "out.jsonl").read_bytes(),
        [{key: value for key, value in row.items() if key != "seconds"} for row in scores],
        [manifest[key] for key in ("state", "fingerprint", "counts", "exports")],
    )


def left_over(place: Path) -> list[str]:
    """Name the parts and locks that lie about."""
    return [path.name for path in place.rglob("*") if path.suffix == ".part" or path.name.startswith(".")]


STATES = ("nothing", "a finished run of another recipe", "an unfinished run of another recipe")


@pytest.fixture(params=STATES)
def before(request, tmp_path):
    """A folder before the command, made by runs of their own, what the command makes of it unbroken, and what kills."""
    place = tmp_path / "place"
    place.mkdir()
    rows = [{"id": f"q{i}", "question": text, "answer_entities": ["italy"]} for i, text in enumerate(TEXTS)]
    (place / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = COMMAND
    with Kills(place, *MODULES) as kills:
        if request.param != "nothing":
            (place / "r.yaml").write_text(json.dumps(recipe(budget={"triples": 1})))
            assert kills.run(COMMAND).code == 0
            if request.param.startswith("an unfinished"):
                manifest = json.loads((place / "run" / "manifest.json").read_text())
                (place / "run" / "manifest.json").write_text(json.dumps({**manifest, "state": "running"}))
                command = [*COMMAND, "--fresh"]
        (place / "r.yaml").write_text(json.dumps(recipe()))
        saved = shutil.copytree(place, tmp_path / "saved")
        assert kills.run(command).code == 0
        yield place, saved, command, outcome(place), kills


def struck(before, how, every=1):
    """Strike a command at each of its calls, give it again, and count what became of it."""
    place, saved, command, expected, kills = before
    became: Counter[str] = Counter()
    for ended in kills.everywhere(command, restored(saved, place), how, EVERY, every):
        assert "Traceback" not in ended.stderr, (ended.calls[-1], ended.stderr)
        assert "has a fault" not in ended.stderr, (ended.calls[-1], ended.stderr)
        if ended.killed:
            became["killed"] += 1
        elif ended.code == 0:
            became["unharmed"] += 1
            assert outcome(place) == expected, ended.calls[-1]
            continue
        else:
            assert ended.stderr.startswith("srtk: error: "), (ended.calls[-1], ended.stderr)
            became["one sentence"] += 1
        again = kills.run(command)
        assert again.code == 0, (ended.calls[-1], again.stderr)
        assert outcome(place) == expected, ended.calls[-1]
        assert left_over(place) == [], ended.calls[-1]
    print(f"{how}: {sum(became.values())} calls struck: {dict(became)}; then the same command, the same bytes")
    return became


@pytest.mark.parametrize(
    ("before", "how"),
    [
        (STATES[0], "full"),
        (STATES[1], "kill"),
        (STATES[2], "kill"),
        pytest.param(STATES[0], "kill", marks=pytest.mark.slow),
        pytest.param(STATES[1], "full", marks=pytest.mark.slow),
        pytest.param(STATES[2], "full", marks=pytest.mark.slow),
    ],
    indirect=["before"],
)
def test_the_same_command_again_gives_the_bytes_of_an_unbroken_run(before, how):
    assert sum(struck(before, how, every=29).values()) >= 2


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("how", ["kill", "power", "full", "failed"])
def test_no_call_that_changes_files_is_a_bad_moment(before, how):
    became = struck(before, how)
    assert sum(became.values()) >= 50
    if how in ("kill", "power"):
        assert set(became) == {"killed"}


RUN = """
import sys, time
sys.path[:] = {path!r}
from srtk_framework.cli import main
import srtk_toys
plain = srtk_toys.OneHop.expand
def slow(self, questions):
    time.sleep(0.05)
    return plain(self, questions)
srtk_toys.OneHop.expand = slow
print("ready", flush=True)
sys.exit(main({command!r}))
"""


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_kills_at_random_moments_one_after_the_other_change_nothing(before, tmp_path):
    place, saved, command, expected, harness = before
    chance = random.Random(7)
    code = RUN.format(path=sys.path, command=COMMAND)
    kills = ends = 0
    restored(saved, place)()
    if command != COMMAND:
        shutil.rmtree(place / "run")
    while kills < 35:
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(chance.uniform(0, 2.5))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        _, said = process.communicate()
        if process.returncode == 0:
            ends += 1
            assert outcome(place) == expected
            restored(saved, place)()
            if command != COMMAND:
                shutil.rmtree(place / "run")
        else:
            assert process.returncode == -9, said
    assert harness.run(COMMAND).code == 0
    assert outcome(place) == expected
    print(f"{kills} kills at random moments, {ends} runs that ended in between: the same bytes")
