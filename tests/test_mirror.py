"""Each module of the core has a test file of its name, in the folder of its room."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
MODULES = sorted(
    f"{file.parent.name}/{file.stem}" for file in (ROOT / "srtk_framework").glob("*/*.py") if file.stem != "__init__"
)

TYPES = {
    *("values/hop_state", "values/protocols", "values/schema", "values/training_data"),
    *("roles/explainable", "roles/trainable", "graph/instance"),
}
"""Modules that hold types without behaviour, which have nothing to test."""

ELSEWHERE = {
    # The parts of the kit are tested by good drivers that pass and broken ones that do not.
    "test_conformance_kit.py": "testing/base testing/batches testing/choices testing/oracle testing/sample"
    " testing/records testing/scripted testing/second_process testing/spans testing/values",
    "test_kit_rdf.py": "testing/ntriples testing/oxigraph",
    "test_every_entry_point_has_conformance.py": "testing/registered",
    # A command is tested through `srtk`, with its arguments; some share a file.
    "cli/test_main.py": "cli/check",
    "cli/test_plugins_list.py": "cli/plugins",
    "cli/test_run_and_evaluate.py": "cli/options cli/run",
    "recipe/test_recipe.py": "recipe/blocks",
    # Parts of one whole, tested through it.
    "test_one_spelling.py": "graph/question_ids text/id_spellings",
    "run/test_result.py": "run/result_text text/answers",
    "roles/test_hook_contract.py": "roles/base",
    "run/test_preflight.py": "roles/preflight",
}
"""Test files with the modules that they test besides the one of their name."""


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_a_test_file_of_its_name(module: str) -> None:
    room, name = module.split("/")
    own = [TESTS / room / f"test_{name}.py"]
    if room in ("roles", "testing"):
        own.append(TESTS / "kit" / f"{name}.py")  # drivers that each break one rule of the role
    own += [TESTS / file for file, modules in ELSEWHERE.items() if module in modules.split()]
    assert module in TYPES or any(file.is_file() for file in own), (
        f"write tests/{room}/test_{name}.py, or say in ELSEWHERE which file tests {module}"
    )


def test_no_exception_outlives_its_module() -> None:
    named = {*TYPES, *" ".join(ELSEWHERE.values()).split()}
    assert named <= set(MODULES)
