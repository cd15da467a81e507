"""The commands of the page on many machines, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from srtk_framework.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "many-machines.md"
RECIPE = """\
srtk: 1
questions: {use: jsonl, path: questions.jsonl}
knowledge_graph: {use: local, path: graph}
entity_linker: {use: dictionary}
expander: {use: bfs, depth: 1}
exporters: [{use: jsonl, path: whole.jsonl}]
output: whole
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a Unix shell")
def test_the_jobs_of_a_cluster_make_the_results_of_one_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("facts.tsv").write_text("".join(f"town{i}\tlies in\tcountry{i % 3}\n" for i in range(12)))
    rows = [{"id": f"q{i}", "question": f"Where does town{i} lie?"} for i in range(12)]
    Path("questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("recipe.yaml").write_text(RECIPE)
    assert main(["graph", "build", "facts.tsv", "--out", "graph"]) == 0
    assert main(["run", "recipe.yaml", "--quiet"]) == 0
    job, joined, pod = re.findall(r"```shell\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    Path("job.sh").write_text(job)
    # `srtk` as a command of the shell, wherever this Python has it.
    Path("bin").mkdir()
    Path("bin/srtk").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m srtk_framework "$@"\n')
    Path("bin/srtk").chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    slurm = {"SLURM_ARRAY_TASK_COUNT": "4"}
    for number in range(3):
        subprocess.run(["sh", "job.sh"], check=True, env={**path, **slurm, "SLURM_ARRAY_TASK_ID": str(number)})
    subprocess.run(["sh", "-c", pod], check=True, env={**path, "JOB_COMPLETION_INDEX": "3"})
    subprocess.run(["sh", "-c", joined], check=True, env=path)
    whole, parts = (Path(name).read_text().splitlines() for name in ("whole.jsonl", "out/results.jsonl"))
    assert len(whole) == 12
    assert sorted(parts) == sorted(whole)
