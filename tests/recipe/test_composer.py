from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

from srtk_framework.host import Observer, Port, driver_of
from srtk_framework.recipe.recipe import from_data, load
from srtk_framework.roles import Encoder, EntityLinker
from srtk_framework.run.session import Session
from srtk_framework.values import InputError, Link, Question, RecipeError, deprecation

pytestmark = pytest.mark.usefixtures("toys")


def session(**data) -> Session:
    return Session(from_data({"srtk": 1, **data}))


def problems(**data) -> str:
    with pytest.raises(RecipeError) as caught:
        session(**data)
    return "\n".join(caught.value.problems)


def test_a_need_is_filled_from_the_top_level():
    s = session(knowledge_graph={"use": "toy"}, expander={"use": "onehop"})
    assert s.methods["onehop"].driver.graph is s.graph


def test_a_need_is_filled_from_the_drivers_own_block_first():
    s = session(knowledge_graph="toy", expander={"use": "onehop", "graph": {"use": "toy", "facts": [["a", "b", "c"]]}})
    assert s.methods["onehop"].driver.graph.driver.facts == [["a", "b", "c"]]
    assert s.graph is not s.methods["onehop"].driver.graph


def test_a_role_named_in_a_block_serves_what_stands_inside_it():
    s = session(
        encoder={"use": "vectors", "scale": 1.0},
        knowledge_graph="toy",
        entity_linker={"use": "words", "knowledge_graph": {"use": "toy", "facts": [["x", "y", "z"]]}},
        expander="onehop",
    )
    assert s.linker.driver.graph.driver.facts == [["x", "y", "z"]]


def test_equal_blocks_share_one_instance_and_different_ones_do_not():
    s = session(
        knowledge_graph="toy",
        expander={"use": "many", "linkers": [{"use": "words"}, {"use": "words"}]},
        entity_linker={"use": "words", "graph": {"use": "toy"}},
    )
    first, second = s.methods["many"].driver.linkers
    assert first is second
    assert first is s.linker


def test_a_view_holds_an_inner_graph_and_never_itself():
    s = session(knowledge_graph={"use": "view", "graph": {"use": "toy"}}, expander="onehop")
    assert s.graph.source() == "view of toy"
    assert "needs a knowledge_graph" in problems(knowledge_graph={"use": "view"}, expander="onehop")


def test_what_only_a_driver_around_it_could_fill_is_shown_how_to_name_the_inner_one():
    text = problems(knowledge_graph={"use": "view", "name": "outer"})
    assert "needs a knowledge_graph other than 'view', which contains it; name the inner one:" in text
    assert "`knowledge_graphs: {stored: {use: ...}}`, `knowledge_graph: {use: view, graph: stored}`" in text


def test_what_stands_inside_of_a_driver_sees_the_named_graph_that_the_driver_is_given():
    s = session(
        knowledge_graphs={"stored": {"use": "toy"}},
        knowledge_graph={"use": "view", "graph": "stored"},
        expander={"use": "many", "graph": "stored", "linkers": [{"use": "words"}]},
    )
    [linker] = s.methods["many"].driver.linkers
    assert linker.driver.graph.source() == "toy"
    assert linker.driver.graph is s.methods["many"].driver.graph


def test_a_named_driver_in_itself_is_refused():
    inside = {"use": "many", "linkers": [{"use": "words", "graph": "loop"}]}
    graphs = {"loop": {"use": "view", "graph": "loop"}}
    assert "loop holds this" in problems(knowledge_graphs=graphs, expander=inside)


def test_what_stands_inside_a_view_sees_the_views_inner_graph():
    s = session(
        knowledge_graph="toy",
        expander={
            "use": "many",
            "graph": {"use": "toy", "facts": [["in", "side", "view"]]},
            "linkers": [{"use": "words"}],
        },
    )
    assert s.methods["many"].driver.linkers[0].driver.graph.driver.facts == [["in", "side", "view"]]


def test_an_optional_need_is_filled_only_when_named():
    inner = {"use": "toy"}
    s = session(encoder="vectors", knowledge_graph={"use": "view", "graph": inner})
    assert s.graph.driver.helper is None
    s = session(encoders={"one": {"use": "vectors"}}, knowledge_graph={"use": "view", "graph": inner, "helper": "one"})
    assert s.graph.driver.helper.driver.scale == 1.0


@attrs.define(eq=False)
class TwoEncoders(EntityLinker):
    """Needs an encoder, and takes another one."""

    encoder: Encoder
    plain: Encoder | None = None

    def link(self, texts):
        return [[] for _ in texts]


@pytest.mark.parametrize("plain", [{"use": "vectors", "scale": 2.0}, "large"])
def test_what_an_optional_need_is_given_fills_no_other(plain):
    s = session(
        encoder={"use": "vectors", "scale": 1.0},
        encoders={"large": {"use": "vectors", "scale": 2.0}},
        entity_linker={"use": TwoEncoders, "plain": plain},
    )
    assert s.linker.driver.plain.driver.scale == 2.0
    assert s.linker.driver.encoder.driver.scale == 1.0


def test_several_drivers_of_a_role_are_referenced_by_name():
    s = session(
        encoders={"small": {"use": "vectors", "scale": 1.0}, "large": {"use": "vectors", "scale": 2.0}},
        path_scorer={"use": "lengths", "encoder": "large"},
    )
    scorer = s._composer.of_role("path_scorer")
    assert scorer.driver.encoder.driver.scale == 2.0
    assert "Did you mean 'large'" in problems(
        encoders={"large": {"use": "vectors"}}, path_scorer={"use": "lengths", "encoder": "larg"}
    )


def test_a_need_that_nothing_fills_is_told():
    assert "path_scorer 'lengths' needs an encoder; give one as `encoder:`" in problems(path_scorer={"use": "lengths"})


def test_wrong_settings_of_several_drivers_are_told_at_once():
    text = problems(
        knowledge_graph={"use": "toy", "fact": []}, expander={"use": "onehop", "width": "3"}, encoder={"use": "vectrs"}
    )
    assert "no setting 'fact'" in text
    assert "Did you mean 'facts'" in text
    assert "expected whole number, got '3'" in text
    assert "Did you mean 'vectors'" in text


@pytest.mark.parametrize(
    ("budget", "most"), [({}, 50), ({"tokens": 9}, 50), ({"triples": 5}, 5), ({"triples": None}, None)]
)
def test_fifty_triples_are_the_budget_unless_a_number_is_given(budget, most):
    given = {"budget": budget} if budget else {}
    s = session(knowledge_graph="toy", expander="onehop", **given)
    assert s.methods["onehop"].driver.budget.triples == most


def test_the_budget_reaches_drivers_that_ask_for_it():
    s = session(knowledge_graph="toy", expander="onehop", budget={"triples": 5})
    assert s.methods["onehop"].driver.budget.triples == 5


def test_two_methods_with_one_name_are_refused():
    text = problems(knowledge_graph="toy", expander="onehop", evaluate={"against": [{"use": "onehop", "width": 4}]})
    assert "two methods are called 'onehop'" in text


def test_drivers_are_opened_once_and_closed_in_the_end():
    s = session(knowledge_graph="toy", entity_linker="words", expander="onehop")
    with s:
        assert s.graph.driver.opened == ["open"]
    assert s.graph.driver.opened == ["open", "close"]


def test_a_session_answers_from_python_and_says_what_failed():
    with session(knowledge_graph="toy", entity_linker="words", expander="onehop") as s:
        good, empty, unknown = s.retrieve(["paris?", " ", "nowhere"])
    assert ("paris", "capital_of", "france") in good.subgraph.triples
    assert good.labels["paris"] == "Paris"
    assert "empty" in empty.error
    assert "no entity" in unknown.error


def test_one_bad_question_does_not_spoil_its_batch():
    with session(knowledge_graph="toy", entity_linker="words", expander={"use": "onehop", "poison": "rome"}) as s:
        good, bad, other = s.retrieve(["paris?", "rome?", "lima?"])
    assert good.error is None
    assert other.error is None
    assert bad.error == "onehop: poisoned; drink milk"


def test_a_session_may_be_used_from_several_threads_and_from_asyncio():
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with session(knowledge_graph="toy", entity_linker="words", expander="onehop") as s:
        one = s.retrieve(["paris?"])
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda _: s.retrieve(["paris?"]), range(8))) == [one] * 8
        assert asyncio.run(s.aretrieve(["paris?"])) == one


# Drivers in the fields of driver objects


@attrs.define(eq=False)
class Lengths(Encoder):
    """Encodes the length of each text, or of the first alone."""

    lacking: int = 0
    seen: list[list[str]] = attrs.field(init=False, factory=list)

    def encode(self, texts):
        self.seen.append(list(texts))
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)[: len(texts) - self.lacking]


@attrs.define(eq=False)
class Encoding(EntityLinker):
    """Links each text to its length, encoding it twice."""

    encoder: Encoder

    def link(self, texts):
        matrix = self.encoder.encode([text for text in texts for _ in range(2)])
        return [[Link(str(int(row[0])))] for row in matrix[::2]]


@attrs.frozen(eq=False)
class Joined(EntityLinker):
    """Takes the links of all its linkers."""

    linkers: tuple[EntityLinker, ...]

    def link(self, texts):
        rows = [linker.link(texts) for linker in self.linkers]
        return [[link for row in found for link in row] for found in zip(*rows, strict=True)]


class Watch(Observer):
    def __init__(self):
        self.calls = []

    def before(self, call):
        self.calls.append((call.driver, call.method, call.items))


def linked(open_session: Session, text: str) -> list[str]:
    [found] = open_session.link([Question("1", text)])
    return [link.entity for link in found.links] if isinstance(found, Question) else found.error


def test_a_driver_inside_a_driver_object_is_asked_once_about_equal_items_and_observed():
    encoder, watch = Lengths(), Watch()
    with Session.of(linker=Encoding(encoder), observers=[watch]) as open_session:
        assert linked(open_session, "abc") == ["3"]
    assert encoder.seen == [["abc"]]
    assert watch.calls == [("Encoding", "link", 1), ("Lengths", "encode", 1)]


def test_a_driver_inside_a_driver_object_is_checked_and_named_in_errors():
    with Session.of(linker=Encoding(Lengths(lacking=1))) as open_session:
        assert linked(open_session, "abc") == "Lengths: encode got 1 items and returned 0; return one for each"


def test_a_driver_object_holds_its_own_drivers_again_after_the_session():
    first, second = Lengths(), Lengths(lacking=1)
    inner = [Encoding(first), Encoding(second)]
    outer = Joined(tuple(inner))
    with Session.of(linker=outer):
        assert [driver_of(one) for one in outer.linkers] == inner
        assert all(isinstance(one, Port) for one in (*outer.linkers, inner[0].encoder, inner[1].encoder))
    assert outer.linkers == tuple(inner)
    assert (inner[0].encoder, inner[1].encoder) == (first, second)


@pytest.mark.parametrize("first_closed", [0, 1])
def test_two_open_sessions_may_share_a_driver_object(first_closed):
    linker = Encoding(Lengths())
    both = [Session.of(linker=linker), Session.of(linker=linker)]
    for one in both:
        one.open()
    both.pop(first_closed).close()
    assert linked(both[0], "abc") == ["3"]
    assert isinstance(linker.encoder, Port)
    both[0].close()
    with Session.of(linker=linker) as open_session:
        assert linked(open_session, "ab") == ["2"]
        assert not isinstance(driver_of(linker.encoder), Port)


def test_a_driver_inside_a_driver_object_that_breaks_its_contract_is_refused():
    class Undecorated(Encoder):
        def encode(self, texts):
            return None

    with pytest.raises(RecipeError, match=r"encoder Undecorated: decorate the class with attrs\.define"):
        Session.of(linker=Encoding(Undecorated()))
    with pytest.raises(RecipeError, match=r"encoder Encoding: .* is not a subclass of .*Encoder"):
        Session.of(linker=Encoding(Encoding(Lengths())))


@attrs.define(eq=False)
class Ending(Encoder):
    """Fails while it is made."""

    error: ClassVar[type[BaseException]]

    def __attrs_post_init__(self):
        raise self.error("no licence")

    def encode(self, texts):
        return None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (SystemExit, "recipe: encoder 'Ending' cannot be made: SystemExit: no licence"),
        (OSError, "recipe: encoder 'Ending' cannot be made: OSError: no licence"),
        (InputError, "recipe: encoder 'Ending': no licence"),
    ],
)
def test_a_driver_that_fails_or_exits_while_it_is_made_is_told_among_all_mistakes(monkeypatch, error, sentence):
    monkeypatch.setattr(Ending, "error", error, raising=False)
    told = problems(encoder={"use": Ending}, expander={"use": "onehop", "depht": 1}, knowledge_graph={"use": "toy"})
    assert sentence in told.splitlines()
    assert "'depht'" in told


LATE = """
from __future__ import annotations
import attrs
from srtk_framework import Encoder, deprecated
@attrs.frozen
class Limits:
    seconds: float = attrs.field(
        default=1.0, metadata={"deprecated": deprecated(since="0.3", instead="`deadline`", until="0.5")}
    )
@attrs.define
class Late(Encoder):
    width: int = attrs.field(
        default=3, metadata={"deprecated": deprecated(since="0.2", instead="`size`", until="0.4")}
    )
    limits: Limits | None = None
    size: int = 3
    def encode(self, texts): return None
"""


def test_a_deprecated_setting_is_told_with_its_place_where_a_recipe_names_it(install, monkeypatch, tmp_path):
    monkeypatch.setattr(deprecation, "_told", set())
    install("srtk-plugin-late", "srtk_late", LATE, {"encoder": {"late": "Late"}})
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("srtk: 1\nencoder:\n  use: late\n  width: 4\n  size: 2\n  limits: {seconds: 2.0}\n")
    with pytest.warns(FutureWarning) as told:
        _ = [Session(load(recipe)) for _ in range(2)]
    assert [str(one.message) for one in told] == [
        f"{recipe}:4:3: the setting 'width' of encoder 'late' is deprecated since 0.2 and goes with 0.4; use `size`",
        f"{recipe}:6:12: the setting 'seconds' of encoder 'late', limits is deprecated since 0.3 and goes with 0.5;"
        " use `deadline`",
    ]


def test_a_deprecated_setting_that_no_recipe_names_is_not_told(install):
    install("srtk-plugin-late", "srtk_late", LATE, {"encoder": {"late": "Late"}})
    session(encoder={"use": "late", "size": 2, "limits": {}})
