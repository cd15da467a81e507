from __future__ import annotations

import attrs
import pytest

from srtk_framework.host import port
from srtk_framework.recipe.recipe import parse
from srtk_framework.roles import Encoder, EntityLinker, Expander, Exporter, KnowledgeGraph, Reader
from srtk_framework.run import Session
from srtk_framework.values import Budget, DriverError, NodeSet, Question, Subgraph

HERE = """
import attrs
from srtk_framework.roles import Encoder
@attrs.define
class Lengths(Encoder):
    scale: float = 1.0
    def encode(self, texts): return None
"""


@attrs.define
class Inner(Encoder):
    scale: float = 1.0
    key: str = attrs.field(default="", repr=False)

    def encode(self, texts):
        return None


@attrs.define
class Outer(EntityLinker):
    encoders: list[Encoder]
    best: Encoder | None = None

    def link(self, texts):
        return [[] for _ in texts]


def test_a_class_that_moves_to_another_module_keeps_its_fingerprint(install):
    prints = []
    for number in (1, 2):
        install(f"srtk-plugin-home{number}", f"srtk_home{number}", HERE, {"encoder": {f"lengths{number}": "Lengths"}})
        module = __import__(f"srtk_home{number}")
        prints.append(module.Lengths(2.0).fingerprint())
        prints.append(port(module.Lengths(2.0), "encoder", "lengths").fingerprint())
    assert prints == ["encoder:Lengths(scale=2.0)", "encoder:lengths(scale=2.0)"] * 2


def test_a_fingerprint_names_the_driver_as_the_recipe_does_with_settings_and_needs():
    inner = port(Inner(2.0, "secret"), "encoder", "inner")
    outer = port(Outer([inner, inner], inner), "entity_linker", "outer")
    name = "encoder:inner(scale=2.0)"
    assert outer.fingerprint() == f"entity_linker:outer(encoders=[{name}, {name}], best={name})"


def test_equal_drivers_have_equal_fingerprints_and_other_settings_another_one():
    assert Inner().fingerprint() == Inner(key="x").fingerprint() != Inner(2.0).fingerprint()
    assert port(Inner(), "encoder", "one").fingerprint() != port(Inner(), "encoder", "two").fingerprint()


@attrs.define
class Data(KnowledgeGraph):
    path: str
    content: str = attrs.field(default="v1", repr=False)

    def frontiers(self, node_sets):
        return [NodeSet(()) for _ in node_sets]

    def steps(self, frontiers, inverse):
        return [() for _ in frontiers]

    def follow(self, frontiers, steps, limit):
        return frontiers

    def triples(self, frontiers, steps, limit):
        return [() for _ in frontiers]

    def labels(self, ids):
        return ids

    def find(self, names):
        return [() for _ in names]

    def source(self):
        return f"data:{self.content}"


def test_the_fingerprint_of_a_graph_changes_with_its_data():
    assert Data("a.csv").fingerprint() == "knowledge_graph:Data(path='a.csv') of data:v1"
    assert Data("a.csv", "v2").fingerprint() != Data("a.csv").fingerprint()


@attrs.define
class Writer(Exporter):
    path: str

    def write(self, retrievals):
        return len(retrievals)


@attrs.define
class Sender(Exporter):
    url: str

    def write(self, retrievals):
        return len(retrievals)

    def target(self):
        return self.url


def test_an_exporter_names_its_target():
    assert port(Writer("out.csv"), "exporter", "w").target() == "out.csv"
    assert port(Sender("http://x"), "exporter", "s").target() == "http://x"


@attrs.define
class Refuser(Reader):
    def read(self, questions, subgraphs):
        return []

    def refuses(self):
        return True


@attrs.define
class Bounded(Expander):
    budget: Budget
    stop: str = "depth"
    reader: Reader | None = None

    def expand(self, questions):
        return [Subgraph() for _ in questions]


def test_an_expander_tells_its_limits_and_the_reader_that_ends_its_search():
    reader = Refuser()
    behind = port(Bounded(Budget(triples=3), "reader", reader), "expander", "bounded")
    assert behind.limits() == Budget(triples=3)
    assert behind.stop_reader() is reader
    assert port(Bounded(Budget()), "expander", "bounded").stop_reader() is None
    with pytest.raises(DriverError, match=r"^bounded: `stop: reader` needs a reader"):
        port(Bounded(Budget(), "reader"), "expander", "bounded").stop_reader()


LINKLESS = """
import attrs
from srtk_framework.roles import Expander
from srtk_framework.values import Subgraph, Triple
@attrs.define
class ByText(Expander):
    need: bool = False
    def needs_links(self): return self.need
    def expand(self, questions):
        return [Subgraph((Triple("a", "r", q.text),), (0.0,)) for q in questions]
"""


def test_an_expander_that_needs_no_links_gets_questions_without_any(install):
    install("srtk-plugin-linkless", "srtk_linkless", LINKLESS, {"expander": {"text": "ByText"}})
    with Session(parse("{srtk: 1, expander: text}")) as session:
        (found,) = session.retrieve([Question("1", "word")])
    assert (found.error, found.subgraph.triples[0].object) == (None, "word")
    with Session(parse("{srtk: 1, expander: {use: text, need: true}}")) as session:
        (found,) = session.retrieve([Question("1", "word")])
    assert "no entity of the graph was found in the question" in found.error
