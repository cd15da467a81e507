from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

import srtk_framework
from srtk_framework import roles
from srtk_framework.cli import FAILED, main
from srtk_framework.host.discovery import RECIPE_KEYS, find, load, role_class, role_names
from srtk_framework.recipe.recipe import Options, parse
from srtk_framework.run import Runner, Session
from srtk_framework.values import DriverError, Link, PluginError, Question, RecipeError

RANKING = '''
"""A role of another party, with a driver."""
from __future__ import annotations
from abc import abstractmethod
from collections.abc import Sequence
import attrs
from srtk_framework.roles import Role, hook
from srtk_framework.values import DriverError, Question, Triple

def rearranged(answer, arguments, driver):
    for before, after in zip(arguments["rows"], answer, strict=True):
        if sorted(before) != sorted(after):
            raise DriverError("rank must return the same triples in another order")
    return answer

class Ranker(Role):
    """Puts triples into an order."""
    role = "ranker"
    kit = "srtk_ranking.conformance"

    @hook(batch=("questions", "rows"), answer=rearranged)
    @abstractmethod
    def rank(self, questions: Sequence[Question], rows: Sequence[Sequence[Triple]]) -> Sequence[Sequence[Triple]]:
        """Order the triples of each question."""

@attrs.define
class Alphabet(Ranker):
    """Ranks by the text of the relation.

    Attributes:
        down: Whether to start at Z.
    """
    down: bool = False
    def rank(self, questions, rows):
        assert all(question.answers is None for question in questions), "gold was shown"
        return [sorted(row, key=lambda triple: triple.relation, reverse=self.down) for row in rows]
'''

MORE = '''
"""A second driver of that role, and an expander that needs one."""
from __future__ import annotations
import attrs
from srtk_ranking import Ranker
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Subgraph

@attrs.define
class Backwards(Ranker):
    """Turns the order of another ranker around."""
    ranker: Ranker
    def rank(self, questions, rows):
        return [list(row)[::-1] for row in self.ranker.rank(questions, rows)]

@attrs.define
class Forgets(Ranker):
    """Loses a triple."""
    def rank(self, questions, rows):
        return [row[1:] for row in rows]

@attrs.define
class Ranked(Expander):
    """Reads one hop, and ranks it."""
    graph: KnowledgeGraph
    ranker: Ranker
    second: Ranker | None = None
    def expand(self, questions):
        starts = self.graph.frontiers([[link.entity for link in q.links] for q in questions])
        around = self.graph.neighbourhood(starts, 1, Budget())
        rows = self.ranker.rank(questions, around)
        return [Subgraph(tuple(row), (0.0,) * len(row)) for row in rows]
'''


@pytest.fixture
def ranking(install, toys):
    install(
        "acme-ranking",
        "srtk_ranking",
        RANKING,
        {"role": {"ranker": "Ranker"}, "ranker": {"alphabet": "Alphabet"}},
    )
    install(
        "acme-more",
        "srtk_more",
        MORE,
        {"ranker": {"backwards": "Backwards", "forgets": "Forgets"}, "expander": {"ranked": "Ranked"}},
        requires=("srtk-framework>=0.1,<1", "acme-ranking"),
    )
    yield
    for module in ("srtk_ranking", "srtk_more"):
        sys.modules.pop(module, None)


RECIPE = """
srtk: 1
knowledge_graph: toy
expander: {{use: ranked{inner}}}
{top}
"""


def ranked(top="", inner=""):
    recipe = parse(RECIPE.format(top=top, inner=inner))
    with Session(recipe) as session:
        question = Question("1", "x", (Link("france"),), answers=("paris",))
        (found,) = session.retrieve([question])
    assert found.question.answers == ("paris",)
    assert found.error is None, found.error
    return [triple.relation for triple in found.subgraph.triples]


@pytest.mark.parametrize(
    ("top", "inner", "order"),
    [
        ("ranker: alphabet", "", ["capital_of", "currency"]),
        ("ranker: {use: alphabet, down: true}", "", ["currency", "capital_of"]),
        ("ranker: {use: backwards, ranker: {use: alphabet}}", "", ["currency", "capital_of"]),
        ("", ", ranker: {use: backwards, ranker: {use: alphabet, down: true}}", ["capital_of", "currency"]),
        ("rankers: {mine: {use: alphabet, down: true}}", ", ranker: mine", ["currency", "capital_of"]),
    ],
)
def test_a_role_of_two_other_distributions_is_composed_by_a_recipe_and_run(ranking, top, inner, order):
    assert ranked(top, inner) == order


def test_a_whole_run_with_a_role_of_others_writes_its_name_into_the_fingerprint(ranking, tmp_path):
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "x", "question_entities": ["france"]}\n')
    recipe = parse(
        RECIPE.format(top="ranker: {use: alphabet, down: true}", inner="")
        + f"questions: {tmp_path / 'q.jsonl'}\noutput: {tmp_path / 'out'}\n"
        + f"exporters: [{{use: lines, path: {tmp_path / 'lines.txt'}}}]\n"
    )
    outcome = Runner(recipe).run()
    assert (outcome.finished, outcome.failed, outcome.exports) == (1, 0, [str(tmp_path / "lines.txt")])
    assert (tmp_path / "lines.txt").read_text() == "1 2 "
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    assert "expander:ranked(graph=knowledge_graph:toy(" in manifest
    assert "ranker=ranker:alphabet(down=True)" in manifest
    assert '"acme-ranking": "1.0"' in manifest


def test_the_port_of_the_role_checks_answers_by_its_own_rule_and_names_the_driver(ranking):
    with Session(parse(RECIPE.format(top="ranker: forgets", inner=""))) as session:
        (found,) = session.retrieve([Question("1", "x", (Link("france"),))])
    assert found.error == "forgets: rank must return the same triples in another order"


def test_the_role_is_listed_and_its_drivers_are_shown(ranking, capsys):
    assert "ranker" in role_names()
    assert role_class("ranker").plural == "rankers"
    assert role_class("ranker").kit == "srtk_ranking.conformance"
    assert [plugin.name for plugin in find("ranker")] == ["alphabet", "backwards", "forgets"]
    main(["plugins"])
    shown = capsys.readouterr().out
    assert "ranker\n  alphabet" in shown
    assert "acme-ranking 1.0" in shown
    assert main(["plugins", "show", "ranker", "alphabet"]) == 0
    assert "down" in capsys.readouterr().out


def test_a_recipe_without_the_need_is_told_how_to_give_it(ranking):
    with pytest.raises(RecipeError, match=r"expander 'ranked' needs a ranker; give one as `ranker:` in the recipe"):
        Session(parse(RECIPE.format(top="", inner="")))
    with pytest.raises(RecipeError, match=r"no ranker is named 'mine' under `rankers:`"):
        Session(parse(RECIPE.format(top="", inner=", ranker: mine")))


def test_several_drivers_of_a_role_that_says_so_stand_in_a_list(install, toys):
    code = RANKING.replace('role = "ranker"', 'role = "judge"\n    plural = "jury"\n    several = True').replace(
        "class Ranker", "class Judge"
    ).replace("(Ranker)", "(Judge)") + (
        "from srtk_framework.roles import Expander\n"
        "@attrs.define\nclass Judged(Expander):\n    jury: list[Judge]\n"
        "    def expand(self, questions): return []\n"
    )
    install(
        "acme-jury",
        "srtk_jury",
        code,
        {"role": {"judge": "Judge"}, "judge": {"a": "Alphabet"}, "expander": {"judged": "Judged"}},
    )
    recipe = parse("srtk: 1\nexpander: judged\njury: [a, {use: a, down: true}]\n")
    recipe.check()
    judges = Session(recipe).methods["judged"].settings()["jury"]
    assert [judge.settings()["down"] for judge in judges] == [False, True]
    assert "judge" not in parse("srtk: 1\nexpander: judged\njudge: a\n").blocks


IMPORT = "from srtk_framework.roles import Role\n"
HOOKED = "from srtk_framework.roles import Role, hook\n"
HOOK = "  @hook(batch='items')\n  def judge(self, items): ...\n"


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("judge", "class R: pass", "is not a subclass of srtk_framework.roles.base.Role"),
        (
            "judge",
            f"{IMPORT}class R(Role): role = 'judges'",
            "write `role = 'judge'` in R",
        ),
        ("judge", f"{IMPORT}class R(Role): role = 'judge'", "R has no hook"),
        ("judge", "import not_there", "cannot be loaded from srtk_odd:R: ModuleNotFoundError"),
        ("judge", "raise SystemExit(2)", "cannot be loaded from srtk_odd:R: SystemExit: 2; reinstall acme-odd"),
        ("command", "class R: pass", "no role can be called 'command'"),
        ("budget", "import not_there", "no role can be called 'budget', since `budget:` is another key of recipes"),
        ("encoders", "import not_there", "no role can be called 'encoders', since `encoders:` is another key"),
        ("limi", f"{HOOKED}class R(Role):\n  role = 'limi'\n  plural = 'limit'\n{HOOK}", "the plural 'limit' of R is"),
        ("reade", f"{HOOKED}class R(Role):\n  role = 'reade'\n  plural = 'reader'\n{HOOK}", "the plural 'reader' of R"),
    ],
)
def test_a_role_that_is_not_written_as_one_is_refused_with_what_to_change(install, name, code, text):
    install("acme-odd", "srtk_odd", code, {"role": {name: "R"}})
    with pytest.raises(PluginError, match=text):
        role_class(name)


def test_a_broken_role_is_reported_where_the_recipe_uses_it_and_disturbs_no_other(install, toys):
    install("acme-odd", "srtk_odd", "import not_there", {"role": {"judge": "R"}})
    parse("srtk: 1\nexpander: onehop\nknowledge_graph: toy\n").check()
    with pytest.raises(RecipeError, match=r"2:1: unknown key 'judge'[^\n]*\n.*role 'judge' of acme-odd 1.0 cannot"):
        parse("srtk: 1\njudge: a\n").check()


@pytest.mark.parametrize("name", ["budget", "reader"])
def test_a_role_whose_name_is_taken_is_listed_with_the_reason_and_disturbs_no_recipe(install, toys, name, capsys):
    install("acme-odd", "srtk_odd", RANKING.replace('"ranker"', repr(name)), {"role": {name: "Ranker"}})
    parse("srtk: 1\nexpander: onehop\nknowledge_graph: toy\nbudget: {triples: 3}\n").check()
    with pytest.raises(RecipeError, match=rf"unknown key 'judge'[^\n]*\n.*role '{name}' of acme-odd 1.0: "):
        parse("srtk: 1\njudge: a\n").check()
    assert main(["plugins", "--json"]) == FAILED
    rows = json.loads(capsys.readouterr().out)["role"]
    assert next(row["error"] for row in rows if row["name"] == name).startswith(f"role '{name}' of acme-odd 1.0: ")


def test_a_driver_of_a_role_that_has_the_name_of_the_frameworks_is_refused(install, toys):
    code = RANKING.replace('"ranker"', '"reader"')
    install("acme-odd", "srtk_odd", code, {"role": {"reader": "Ranker"}, "reader": {"alphabet": "Alphabet"}})
    text = r"its role srtk_odd\.Ranker has the name of srtk_framework\.roles\.Reader; rename that role"
    with pytest.raises(PluginError, match=text):
        load("reader", "alphabet")


def test_no_option_of_a_recipe_can_be_the_name_of_a_role():
    assert {field.name for field in attrs.fields(Options)} <= set(RECIPE_KEYS)


def test_a_driver_of_an_unknown_role_is_a_plugin_error_with_close_matches(toys):
    with pytest.raises(PluginError, match=r"no role is called 'expnder'; .* Did you mean 'expander' or"):
        load("expnder", "toy")


def test_a_need_of_a_role_that_no_distribution_registers_is_told_in_the_recipe(install, toys):
    code = RANKING.replace('"ranker"', '"unregistered"') + (
        "from srtk_framework.roles import Expander\n"
        "@attrs.define\nclass Needs(Expander):\n    ranker: Ranker\n    def expand(self, questions): return []\n"
    )
    install("acme-need", "srtk_need", code, {"expander": {"needs": "Needs"}})
    with pytest.raises(RecipeError, match="no role is called 'unregistered'"):
        Session(parse("srtk: 1\nexpander: {use: needs, ranker: {use: toy}}\n"))


def test_two_distributions_with_one_role_are_both_named(ranking, install):
    install("acme-again", "srtk_again", RANKING, {"role": {"ranker": "Ranker"}})
    with pytest.raises(PluginError, match=r"acme-again and from acme-ranking; uninstall"):
        role_class("ranker")


ROLE_FILE = '''
from __future__ import annotations
from abc import abstractmethod
from collections.abc import Sequence
from srtk_framework.roles.base import Role, by_value, hook

class Counter(Role):
    """Counts."""
    role = "counter"

    @hook(batch="texts", key=by_value)
    @abstractmethod
    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the letters of each text."""
'''


DRIVER_FILE = """
import attrs
from srtk_framework.roles import Counter

@attrs.define
class Letters(Counter):
    '''Counts letters.'''
    by: int = 1

    def count(self, texts):
        return [len(text) * self.by for text in texts]
"""

USE = """
from srtk_framework.cli import FAILED, main
from srtk_framework.recipe import Composer
from srtk_framework.recipe.recipe import parse

recipe = parse("{srtk: 1, counter: {use: letters, by: 2}}")
recipe.check()
print(Composer(recipe).of_role("counter").count(["aa", "b", "aa"]))
main(["plugins"])
"""


def test_a_new_role_of_the_framework_is_one_file_and_a_driver_one_more(tmp_path, install):
    """A copy of the package gets ``roles/counter.py``; no list and no other file knows it."""
    shutil.copytree(Path(srtk_framework.__file__).parent, tmp_path / "srtk_framework")
    (tmp_path / "srtk_framework" / "roles" / "counter.py").write_text(ROLE_FILE)
    folder = install("acme-letters", "srtk_letters", DRIVER_FILE, {"counter": {"letters": "Letters"}})
    environment = {"PYTHONPATH": f"{tmp_path}:{folder}"}
    done = subprocess.run(
        [sys.executable, "-c", USE], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.stdout.startswith("[4, 2, 4]\n"), done.stderr
    assert "counter\n  letters" in done.stdout
    assert "acme-letters 1.0" in done.stdout


def test_the_framework_finds_its_own_roles_without_a_list():
    assert all(vars(roles)[role.__name__] is role for role in roles.ROLES.values())
    assert {role.plural for role in roles.ROLES.values() if role.several} == {"exporters"}


def test_a_driver_that_is_not_open_is_named_by_its_role_and_name():
    from srtk_framework.roles import Encoder, not_open
    from srtk_framework.roles.base import set_name

    @attrs.define
    class Slow(Encoder):
        def encode(self, texts):
            raise not_open(self)

    with pytest.raises(DriverError, match=r"^the encoder Slow is not open; call open\(\) first$"):
        Slow().encode([])
    driver = Slow()
    set_name(driver, "slow")
    assert str(not_open(driver, "create()")) == "the encoder slow is not open; call create() first"
