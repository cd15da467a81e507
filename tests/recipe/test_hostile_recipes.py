"""Recipes that nobody writes by intent: each is read, or refused with the place, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from srtk_framework.recipe.recipe import from_mapping, parse
from srtk_framework.values import RecipeError

BOMB = "srtk: 1\n" + "a: &a [" + ",".join(["x"] * 9) + "]\n"
for _previous, _name in zip("abcdefgh", "bcdefghi", strict=True):
    BOMB += f"{_name}: &{_name} [" + ",".join([f"*{_previous}"] * 9) + "]\n"
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 3000))

HOSTILE = {
    "alias bomb": (BOMB, r"r\.yaml:\d+:\d+: the recipe expands to more than 100,000 values"),
    "alias chain": (CHAIN, r"r\.yaml:\d+:\d+: the recipe nests deeper than 100 levels"),
    "self alias": ("srtk: 1\nvars: &a [*a]\n", r"r\.yaml:2:\d+: the recipe nests deeper than 100 levels"),
    "self key": ("srtk: 1\nvars: &a {x: *a}\n", r"r\.yaml:2:\d+: the recipe nests deeper than 100 levels"),
    "brackets": ("srtk: 1\nvars: " + "[" * 5000 + "]" * 5000, r"r\.yaml: the recipe nests deeper"),
    "braces": ("srtk: 1\nvars: " + "{a: " * 5000 + "}" * 5000, r"r\.yaml: the recipe nests deeper"),
    "NUL": ("srtk: 1\nvars: a\0b\n", r"r\.yaml:2:8: this is not YAML: the character U\+0000"),
}
_MEMORY = """
import resource, sys
from srtk_framework.recipe.recipe import from_mapping, parse
from srtk_framework.values import RecipeError
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    parse(open(sys.argv[1]).read(), "r.yaml")
except RecipeError as error:
    print(error)
"""


@pytest.mark.parametrize("case", sorted(HOSTILE))
def test_a_hostile_recipe_is_refused_within_200_mb(tmp_path: Path, case: str) -> None:
    text, message = HOSTILE[case]
    (tmp_path / "r.yaml").write_text(text)
    with pytest.raises(RecipeError, match=message):
        parse(text, "r.yaml")
    done = subprocess.run([sys.executable, "-c", _MEMORY, str(tmp_path / "r.yaml")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "r.yaml" in done.stdout
    assert len(done.stdout) < 1000


WRONG = {
    "env list": ("srtk: 1\noutput: {env: [1]}\n", r"r\.yaml:2:\d+: env is the name of a variable as text, not \[1\]"),
    "env number": ("srtk: 1\noutput: {env: 5}\n", r"r\.yaml:2:\d+: env is the name of a variable as text, not 5"),
    "env name": ('srtk: 1\noutput: {env: "\\ud800"}\n', r"r\.yaml:2:\d+: environment variable"),
    "budget key": ("srtk: 1\nbudget: {1: 5}\n", r"r\.yaml:2:\d+: unknown key 1"),
    "budget keys": ("srtk: 1\nbudget: {1: 5, x: 3}\n", r"r\.yaml:2:\d+: unknown key 'x'"),
    "top key": ("srtk: 1\n7: 5\n", r"r\.yaml:2:\d+: unknown key 7"),
    "list key": ("srtk: 1\n? [a]\n: 5\n", r"r\.yaml:2:\d+: key \['a'\] must be text"),
    "date key": ("srtk: 1\n2001-01-01: 5\n", r"r\.yaml:2:\d+: key datetime.* must be text"),
    "null key": ("srtk: 1\n~: 5\n", r"r\.yaml:2:\d+: key None must be text"),
    "date": ("srtk: 1\noutput: 2001-99-99\n", r"r\.yaml:2:\d+: '2001-99-99' is no timestamp"),
    "tag": ("srtk: 1\nbatch: !!bool maybe\n", r"r\.yaml:2:\d+: 'maybe' is no bool"),
    "python": ("srtk: 1\nbatch: !!python/name:os.system x\n", r"r\.yaml:2:\d+: "),
    "hexadecimal": (
        f"srtk: 1\nbatch: -0x{'f' * 9000}\n",
        r"r\.yaml:2:\d+: the number -0xfff.* has more than 1000 bits",
    ),
    "validation": (f"srtk: 1\ntrain: {{validation: {10**290}}}\n", r"r\.yaml:2:\d+: a share for validation"),
    "infinity": ("srtk: 1\nbudget: {seconds: .inf}\n", r"r\.yaml:2:\d+: .inf is no finite number; leave the key out"),
    "no number": ("srtk: 1\ntrain: {validation: .NaN}\n", r"r\.yaml:2:\d+: .NaN is no finite number"),
    "long key": (f"srtk: 1\n? {'k' * 300_000}\n: 5\n", r"r\.yaml:2:\d+: unknown key 'kkk"),
    "long inner key": (f"srtk: 1\nbudget:\n  ? {'k' * 300_000}\n  : 5\n", r"r\.yaml:3:\d+: unknown key 'kkk"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_an_odd_value_or_key_is_refused_with_its_place_in_few_words(case: str) -> None:
    text, message = WRONG[case]
    with pytest.raises(RecipeError, match=message) as caught:
        parse(text, "r.yaml").check()
    assert len(str(caught.value)) < 2000


def refused(read: Callable[[], object]) -> tuple[str, ...]:
    """Return the problems of a recipe; another error than a RecipeError passes through."""
    try:
        read()
    except RecipeError as error:
        return error.problems
    return ()


KEYS = ["srtk", "vars", "questions", "evaluate", "train", "observers", "output", "batch", "limit", "relink", "seed"]
KEYS += ["budget", "knowledge_graph", "entity_linker", "expander", "path_scorer", "encoders", "exporters", "use"]
KEYS += ["env", "default", "part", "between", "by", "against", "driver", "fit", "validation", "supervision", "triples"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["${x}", "${data}", "-", "beam", "bfs", 1, 0.5, 10**400, "\ud800", b"x"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=4), st.integers()), inner, max_size=4)
    ),
    max_leaves=10,
)
RECIPES = st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=4), st.integers()), TREES, max_size=6)


@settings(max_examples=150, deadline=None)
@given(data=RECIPES)
@example(data={"budget": {1: 5, None: 3, (1, 2): 4}, ("a",): 3, None: 1})
@example(data={"srtk": 1, "train": {"driver": [1], "validation": 10**400, "fit": 3}})
def test_any_mapping_is_a_recipe_or_a_recipe_error(data: dict) -> None:
    assert all(problem.startswith("recipe") for problem in refused(lambda: from_mapping({"srtk": 1, **data}).check()))


def test_a_mapping_that_holds_itself_is_refused() -> None:
    data: dict = {"srtk": 1}
    data["vars"] = data
    with pytest.raises(RecipeError, match="recipe: the recipe nests deeper than 100 levels"):
        from_mapping(data)


PIECES = st.sampled_from(
    [
        *KEYS,
        *[": ", "\n", "\n  ", "- ", "[", "]", "{", "}", ", ", "&a ", "*a", "? ", "!!int ", "!!float ", "!!set ", "!x "],
        *["<<: ", "'", '"', "|", ">", "%YAML 1.2\n", "---\n", "...\n", "#", "\t", "\0", "0x", "1e999", "2001-01-01"],
        *[
            "!!timestamp ",
            "!!binary ",
            "!!bool ",
            "!!null ",
            '"\\ud800"',
            "1:60:60",
            "srtk: 1\n",
            "${x}",
            "~",
            "\ufeff",
        ],
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=15).map("".join), st.text(max_size=40))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, head=st.sampled_from(["", "srtk: 1\n"]))
@example(text="output: !!float ''", head="srtk: 1\n")
@example(text='output: "\\U00110000"', head="srtk: 1\n")
def test_any_text_is_a_recipe_or_a_recipe_error_with_its_place(text: str, head: str) -> None:
    assert all(problem.startswith("r.yaml") for problem in refused(lambda: parse(head + text, "r.yaml").check()))


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(["vars.x", "budget", "a.0", "output"]), text=TEXTS)
@example(path="vars.x", text="&a [*a]")
@example(path="vars.x", text="[" * 5000)
@example(path="vars.x", text="\0")
def test_any_override_is_taken_or_a_recipe_error(path: str, text: str) -> None:
    assert all(refused(lambda: parse("srtk: 1\nvars: {}\n", "r.yaml", [f"{path}={text}"]).check()))
